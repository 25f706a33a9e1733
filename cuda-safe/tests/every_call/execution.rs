//! Calls of: execution, library, module, occupancy.

use cuda_safe::call;
use cuda_sys::{CUfunction, CUkernel, CUlibrary, CUmodule};

use crate::objects::{Objects, Tally, empty, nil, nothing, zero};

pub(crate) fn all(on: &mut Objects, tally: &mut Tally) {
    execution(on, tally);
    library(on, tally);
    module(on, tally);
    occupancy(on, tally);
}

fn execution(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuLaunchHostFunc", call::launch_host_func(&on.stream, || ()));
    run!(
        tally,
        "cuFuncGetParamInfo",
        call::func_get_param_info(&nothing::<CUfunction>(&on.context), zero())
    );
    run!(
        tally,
        "cuFuncGetAttribute",
        call::func_get_attribute(zero(), &nothing::<CUfunction>(&on.context))
    );
    run!(
        tally,
        "cuFuncSetAttribute",
        call::func_set_attribute(&nothing::<CUfunction>(&on.context), zero(), zero())
    );
    run!(
        tally,
        "cuFuncSetCacheConfig",
        call::func_set_cache_config(&nothing::<CUfunction>(&on.context), zero())
    );
    run!(tally, "cuFuncGetModule", call::func_get_module(&nothing::<CUfunction>(&on.context)));
    run!(tally, "cuFuncGetName", call::func_get_name(&nothing::<CUfunction>(&on.context)));
    run!(
        tally,
        "cuFuncGetParamCount",
        call::func_get_param_count(&nothing::<CUfunction>(&on.context))
    );
    run!(tally, "cuFuncIsLoaded", call::func_is_loaded(&nothing::<CUfunction>(&on.context)));
    run!(tally, "cuFuncLoad", call::func_load(&nothing::<CUfunction>(&on.context)));
    unchecked!(
        tally,
        "cuLaunchKernel",
        call::launch_kernel(
            &nothing::<CUfunction>(&on.context),
            zero(),
            zero(),
            zero(),
            zero(),
            zero(),
            zero(),
            zero(),
            &on.stream,
            ()
        )
    );
    unchecked!(
        tally,
        "cuLaunchKernelEx",
        call::launch_kernel_ex(nil(), &nothing::<CUfunction>(&on.context), nil())
    );
    unchecked!(
        tally,
        "cuLaunchCooperativeKernel",
        call::launch_cooperative_kernel(
            &nothing::<CUfunction>(&on.context),
            zero(),
            zero(),
            zero(),
            zero(),
            zero(),
            zero(),
            zero(),
            &on.stream,
            ()
        )
    );
    run!(tally, "cuLaunchHostFunc_v2", call::launch_host_func_v2(&on.stream, || (), zero()));
}

fn library(on: &mut Objects, tally: &mut Tally) {
    unchecked!(
        tally,
        "cuLibraryLoadData",
        call::library_load_data(&on.pinned, &[zero()], nil(), &[zero()], nil())
    );
    unchecked!(
        tally,
        "cuLibraryLoadFromFile",
        call::library_load_from_file(c"name", &[zero()], nil(), &[zero()], nil())
    );
    unchecked!(tally, "cuLibraryUnload", call::library_unload(nil()));
    run!(
        tally,
        "cuLibraryGetKernel",
        call::library_get_kernel(&nothing::<CUlibrary>(&on.context), c"name")
    );
    run!(
        tally,
        "cuLibraryGetKernelCount",
        call::library_get_kernel_count(&nothing::<CUlibrary>(&on.context))
    );
    run!(
        tally,
        "cuLibraryEnumerateKernels",
        call::library_enumerate_kernels(&mut [empty()], &nothing::<CUlibrary>(&on.context))
    );
    run!(
        tally,
        "cuLibraryGetGlobal",
        call::library_get_global(&on.context, &nothing::<CUlibrary>(&on.context), c"name")
    );
    run!(
        tally,
        "cuLibraryGetManaged",
        call::library_get_managed(&nothing::<CUlibrary>(&on.context), c"name")
    );
    run!(
        tally,
        "cuLibraryGetModule",
        call::library_get_module(&on.context, &nothing::<CUlibrary>(&on.context))
    );
    run!(
        tally,
        "cuLibraryGetUnifiedFunction",
        call::library_get_unified_function(&nothing::<CUlibrary>(&on.context), c"name")
    );
    run!(
        tally,
        "cuKernelGetAttribute",
        call::kernel_get_attribute(zero(), &nothing::<CUkernel>(&on.context), &on.device)
    );
    run!(
        tally,
        "cuKernelSetAttribute",
        call::kernel_set_attribute(zero(), zero(), &nothing::<CUkernel>(&on.context), &on.device)
    );
    run!(
        tally,
        "cuKernelSetCacheConfig",
        call::kernel_set_cache_config(&nothing::<CUkernel>(&on.context), zero(), &on.device)
    );
    run!(
        tally,
        "cuKernelGetFunction",
        call::kernel_get_function(&on.context, &nothing::<CUkernel>(&on.context))
    );
    run!(tally, "cuKernelGetLibrary", call::kernel_get_library(&nothing::<CUkernel>(&on.context)));
    run!(tally, "cuKernelGetName", call::kernel_get_name(&nothing::<CUkernel>(&on.context)));
    run!(
        tally,
        "cuKernelGetParamCount",
        call::kernel_get_param_count(&nothing::<CUkernel>(&on.context))
    );
    run!(
        tally,
        "cuKernelGetParamInfo",
        call::kernel_get_param_info(&nothing::<CUkernel>(&on.context), zero())
    );
}

fn module(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuModuleLoad", call::module_load(&on.context, c"name"));
    unchecked!(tally, "cuModuleLoadData", call::module_load_data(&on.context, &on.pinned));
    unchecked!(
        tally,
        "cuModuleLoadDataEx",
        call::module_load_data_ex(&on.context, &on.pinned, &[zero()], nil())
    );
    unchecked!(
        tally,
        "cuModuleLoadFatBinary",
        call::module_load_fat_binary(&on.context, &on.pinned)
    );
    unchecked!(tally, "cuModuleUnload", call::module_unload(&on.context, nil()));
    run!(
        tally,
        "cuModuleGetFunction",
        call::module_get_function(&nothing::<CUmodule>(&on.context), c"name")
    );
    run!(
        tally,
        "cuModuleGetFunctionCount",
        call::module_get_function_count(&nothing::<CUmodule>(&on.context))
    );
    run!(
        tally,
        "cuModuleEnumerateFunctions",
        call::module_enumerate_functions(&mut [empty()], &nothing::<CUmodule>(&on.context))
    );
    run!(
        tally,
        "cuModuleGetGlobal_v2",
        call::module_get_global(&nothing::<CUmodule>(&on.context), c"name")
    );
    run!(tally, "cuModuleGetLoadingMode", call::module_get_loading_mode());
    unchecked!(tally, "cuLinkCreate_v2", call::link_create(&on.context, &[zero()], nil()));
    unchecked!(
        tally,
        "cuLinkAddData_v2",
        call::link_add_data(&on.context, nil(), zero(), &on.pinned, c"name", &[zero()], nil())
    );
    unchecked!(
        tally,
        "cuLinkAddFile_v2",
        call::link_add_file(&on.context, nil(), zero(), c"name", &[zero()], nil())
    );
    unchecked!(tally, "cuLinkComplete", call::link_complete(&on.context, nil()));
    unchecked!(tally, "cuLinkDestroy", call::link_destroy(&on.context, nil()));
}

fn occupancy(on: &mut Objects, tally: &mut Tally) {
    run!(
        tally,
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        call::occupancy_max_active_blocks_per_multiprocessor(
            &nothing::<CUfunction>(&on.context),
            zero(),
            zero()
        )
    );
    run!(
        tally,
        "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        call::occupancy_max_active_blocks_per_multiprocessor_with_flags(
            &nothing::<CUfunction>(&on.context),
            zero(),
            zero(),
            zero()
        )
    );
    run!(
        tally,
        "cuOccupancyAvailableDynamicSMemPerBlock",
        call::occupancy_available_dynamic_smem_per_block(
            &nothing::<CUfunction>(&on.context),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuOccupancyMaxPotentialBlockSize",
        call::occupancy_max_potential_block_size(
            &nothing::<CUfunction>(&on.context),
            nil(),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuOccupancyMaxPotentialBlockSizeWithFlags",
        call::occupancy_max_potential_block_size_with_flags(
            &nothing::<CUfunction>(&on.context),
            nil(),
            zero(),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuOccupancyMaxActiveClusters",
        call::occupancy_max_active_clusters(&nothing::<CUfunction>(&on.context), nil())
    );
    unchecked!(
        tally,
        "cuOccupancyMaxPotentialClusterSize",
        call::occupancy_max_potential_cluster_size(&nothing::<CUfunction>(&on.context), nil())
    );
}
