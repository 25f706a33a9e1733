//! Calls of: multicast, pool, unified, virtual_memory.

use cuda_safe::call;
use cuda_safe::shim::attribute::{BufferId, ReadMostly, SyncMemops, UsedNow};
use cuda_sys::{CUmemGenericAllocationHandle, CUmemoryPool};

use crate::objects::{Objects, Tally, nil, nothing, zero};

pub(crate) fn all(on: &mut Objects, tally: &mut Tally) {
    multicast(on, tally);
    pool(on, tally);
    unified(on, tally);
    virtual_memory(on, tally);
}

fn multicast(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuMulticastCreate", call::multicast_create(&zero()));
    run!(
        tally,
        "cuMulticastAddDevice",
        call::multicast_add_device(
            &nothing::<CUmemGenericAllocationHandle>(&on.context),
            &on.device
        )
    );
    run!(
        tally,
        "cuMulticastBindMem_v2",
        call::multicast_bind_mem(
            &nothing::<CUmemGenericAllocationHandle>(&on.context),
            &on.device,
            zero(),
            &nothing::<CUmemGenericAllocationHandle>(&on.context),
            zero(),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuMulticastBindAddr_v2",
        call::multicast_bind_addr(
            &nothing::<CUmemGenericAllocationHandle>(&on.context),
            &on.device,
            zero(),
            nil(),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuMulticastUnbind",
        call::multicast_unbind(
            &nothing::<CUmemGenericAllocationHandle>(&on.context),
            &on.device,
            nil(),
            zero()
        )
    );
    run!(tally, "cuMulticastGetGranularity", call::multicast_get_granularity(&zero(), zero()));
}

fn pool(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuMemAllocAsync", call::mem_alloc_async(zero(), &on.stream));
    run!(
        tally,
        "cuMemAllocFromPoolAsync",
        call::mem_alloc_from_pool_async(zero(), &nothing::<CUmemoryPool>(&on.context), &on.stream)
    );
    unchecked!(tally, "cuMemFreeAsync", call::mem_free_async(nil(), &on.stream));
    run!(tally, "cuMemPoolCreate", call::mem_pool_create(&zero()));
    unchecked!(tally, "cuMemPoolDestroy", call::mem_pool_destroy(nil()));
    run!(
        tally,
        "cuMemPoolTrimTo",
        call::mem_pool_trim_to(&nothing::<CUmemoryPool>(&on.context), zero())
    );
    run!(
        tally,
        "cuMemPoolGetAttribute",
        call::mem_pool_get_attribute::<UsedNow>(&nothing::<CUmemoryPool>(&on.context))
    );
    run!(
        tally,
        "cuMemPoolSetAttribute",
        call::mem_pool_set_attribute::<UsedNow>(&nothing::<CUmemoryPool>(&on.context), zero())
    );
    run!(
        tally,
        "cuMemPoolGetAccess",
        call::mem_pool_get_access(&nothing::<CUmemoryPool>(&on.context), &zero())
    );
    run!(
        tally,
        "cuMemPoolSetAccess",
        call::mem_pool_set_access(&nothing::<CUmemoryPool>(&on.context), &[zero()])
    );
    unchecked!(
        tally,
        "cuMemPoolExportToShareableHandle",
        call::mem_pool_export_to_shareable_handle(
            nil(),
            &nothing::<CUmemoryPool>(&on.context),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuMemPoolImportFromShareableHandle",
        call::mem_pool_import_from_shareable_handle(nil(), zero(), zero())
    );
    run!(tally, "cuMemPoolExportPointer", call::mem_pool_export_pointer(&on.shared));
    run!(
        tally,
        "cuMemPoolImportPointer",
        call::mem_pool_import_pointer(&nothing::<CUmemoryPool>(&on.context), &zero())
    );
    run!(tally, "cuMemGetDefaultMemPool", call::mem_get_default_mem_pool(&zero(), zero()));
    run!(tally, "cuMemGetMemPool", call::mem_get_mem_pool(&zero(), zero()));
    run!(
        tally,
        "cuMemSetMemPool",
        call::mem_set_mem_pool(&zero(), zero(), &nothing::<CUmemoryPool>(&on.context))
    );
}

fn unified(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuPointerGetAttribute", call::pointer_get_attribute::<BufferId>(&on.source));
    run!(tally, "cuMemAdvise_v2", call::mem_advise(&on.source, zero(), zero()));
    run!(tally, "cuMemAdvise", call::mem_advise_v1(&on.source, zero(), &on.device));
    run!(
        tally,
        "cuMemPrefetchAsync_v2",
        call::mem_prefetch_async(&on.source, zero(), zero(), &on.stream)
    );
    run!(
        tally,
        "cuMemPrefetchAsync",
        call::mem_prefetch_async_v1(&on.source, &on.device, &on.stream)
    );
    run!(
        tally,
        "cuMemPrefetchBatchAsync",
        call::mem_prefetch_batch_async(&[&on.source], &[zero()], &[zero()], zero(), &on.stream)
    );
    run!(
        tally,
        "cuMemDiscardBatchAsync",
        call::mem_discard_batch_async(&mut [&mut on.target], zero(), &on.stream)
    );
    run!(
        tally,
        "cuMemDiscardAndPrefetchBatchAsync",
        call::mem_discard_and_prefetch_batch_async(
            &mut [&mut on.target],
            &[zero()],
            &[zero()],
            zero(),
            &on.stream
        )
    );
    unchecked!(
        tally,
        "cuMemGetLocationInfo",
        call::mem_get_location_info(&on.source, zero(), zero(), nil())
    );
    run!(tally, "cuMemRangeGetAttribute", call::mem_range_get_attribute::<ReadMostly>(&on.source));
    unchecked!(
        tally,
        "cuMemRangeGetAttributes",
        call::mem_range_get_attributes(nil(), nil(), &[zero()], &on.source)
    );
    unchecked!(
        tally,
        "cuPointerGetAttributes",
        call::pointer_get_attributes(&[zero()], nil(), &on.source)
    );
    run!(
        tally,
        "cuPointerSetAttribute",
        call::pointer_set_attribute::<SyncMemops>(zero(), &on.source)
    );
}

fn virtual_memory(on: &mut Objects, tally: &mut Tally) {
    run!(
        tally,
        "cuMemAddressReserve",
        call::mem_address_reserve(&on.context, zero(), zero(), zero())
    );
    unchecked!(tally, "cuMemAddressFree", call::mem_address_free(&on.context, nil(), zero()));
    run!(tally, "cuMemCreate", call::mem_create(&on.context, zero(), &zero(), zero()));
    unchecked!(tally, "cuMemRelease", call::mem_release(&on.context, nil()));
    unchecked!(
        tally,
        "cuMemMap",
        call::mem_map(
            &on.context,
            nil(),
            zero(),
            zero(),
            &nothing::<CUmemGenericAllocationHandle>(&on.context),
            zero()
        )
    );
    unchecked!(tally, "cuMemMapArrayAsync", call::mem_map_array_async(nil(), zero(), &on.stream));
    unchecked!(tally, "cuMemUnmap", call::mem_unmap(&on.context, nil(), zero()));
    unchecked!(
        tally,
        "cuMemSetAccess",
        call::mem_set_access(&on.context, nil(), zero(), &[zero()])
    );
    run!(tally, "cuMemGetAccess", call::mem_get_access(&zero(), &on.source));
    run!(
        tally,
        "cuMemGetAllocationGranularity",
        call::mem_get_allocation_granularity(&zero(), zero())
    );
    run!(
        tally,
        "cuMemGetAllocationPropertiesFromHandle",
        call::mem_get_allocation_properties_from_handle(&nothing::<CUmemGenericAllocationHandle>(
            &on.context
        ))
    );
    unchecked!(
        tally,
        "cuMemRetainAllocationHandle",
        call::mem_retain_allocation_handle(&on.context, nil())
    );
    unchecked!(
        tally,
        "cuMemExportToShareableHandle",
        call::mem_export_to_shareable_handle(
            &on.context,
            nil(),
            &nothing::<CUmemGenericAllocationHandle>(&on.context),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuMemImportFromShareableHandle",
        call::mem_import_from_shareable_handle(&on.context, nil(), zero())
    );
}
