//! Calls of: memory.

use cuda_safe::call;
use cuda_safe::shim::{Extent, Volume};
use cuda_sys::{CUarray, CUmipmappedArray};

use crate::objects::{Objects, Tally, nil, nothing, zero};

pub(crate) fn all(on: &mut Objects, tally: &mut Tally) {
    memory(on, tally);
}

fn memory(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuMemAllocHost_v2", call::mem_alloc_host(&on.context, zero()));
    run!(tally, "cuMemAllocManaged", call::mem_alloc_managed(&on.context, zero(), zero()));
    unchecked!(
        tally,
        "cuMemHostRegister_v2",
        call::mem_host_register(&on.context, nil(), zero(), zero())
    );
    unchecked!(tally, "cuMemHostUnregister", call::mem_host_unregister(&on.context, nil()));
    run!(
        tally,
        "cuMemHostGetDevicePointer_v2",
        call::mem_host_get_device_pointer(&on.context, &on.pinned)
    );
    run!(tally, "cuMemHostGetFlags", call::mem_host_get_flags(&on.context, &on.pinned));
    unchecked!(
        tally,
        "cuMemGetHandleForAddressRange",
        call::mem_get_handle_for_address_range(&on.context, nil(), &on.source, zero(), zero())
    );
    run!(tally, "cuDeviceGetByPCIBusId", call::device_get_by_pci_bus_id(c"name"));
    run!(tally, "cuDeviceGetPCIBusId", call::device_get_pci_bus_id(&on.device));
    unchecked!(
        tally,
        "cuDeviceRegisterAsyncNotification",
        call::device_register_async_notification(&on.device, nil(), nil())
    );
    unchecked!(
        tally,
        "cuDeviceUnregisterAsyncNotification",
        call::device_unregister_async_notification(&on.device, nil())
    );
    run!(tally, "cuIpcGetEventHandle", call::ipc_get_event_handle(&on.event));
    run!(tally, "cuIpcOpenEventHandle", call::ipc_open_event_handle(&on.context, zero()));
    run!(tally, "cuArrayCreate_v2", call::array_create(&on.context, &zero()));
    run!(tally, "cuArray3DCreate_v2", call::array_3d_create(&on.context, &zero()));
    unchecked!(tally, "cuArrayDestroy", call::array_destroy(&on.context, nil()));
    run!(
        tally,
        "cuArrayGetDescriptor_v2",
        call::array_get_descriptor(&nothing::<CUarray>(&on.context))
    );
    run!(
        tally,
        "cuArray3DGetDescriptor_v2",
        call::array_3d_get_descriptor(&nothing::<CUarray>(&on.context))
    );
    run!(
        tally,
        "cuArrayGetMemoryRequirements",
        call::array_get_memory_requirements(&nothing::<CUarray>(&on.context), &on.device)
    );
    run!(tally, "cuArrayGetPlane", call::array_get_plane(&nothing::<CUarray>(&on.context), zero()));
    run!(
        tally,
        "cuArrayGetSparseProperties",
        call::array_get_sparse_properties(&nothing::<CUarray>(&on.context))
    );
    run!(
        tally,
        "cuMipmappedArrayCreate",
        call::mipmapped_array_create(&on.context, &zero(), zero())
    );
    unchecked!(tally, "cuMipmappedArrayDestroy", call::mipmapped_array_destroy(&on.context, nil()));
    run!(
        tally,
        "cuMipmappedArrayGetLevel",
        call::mipmapped_array_get_level(&nothing::<CUmipmappedArray>(&on.context), zero())
    );
    run!(
        tally,
        "cuMipmappedArrayGetMemoryRequirements",
        call::mipmapped_array_get_memory_requirements(
            &nothing::<CUmipmappedArray>(&on.context),
            &on.device
        )
    );
    run!(
        tally,
        "cuMipmappedArrayGetSparseProperties",
        call::mipmapped_array_get_sparse_properties(&nothing::<CUmipmappedArray>(&on.context))
    );
    unchecked!(
        tally,
        "cuMemcpyAtoA_v2",
        call::memcpy_atoa(
            &nothing::<CUarray>(&on.context),
            nil(),
            &nothing::<CUarray>(&on.context),
            zero(),
            zero()
        )
    );
    unchecked!(
        tally,
        "cuMemcpyAtoD_v2",
        call::memcpy_atod(&mut on.target, &nothing::<CUarray>(&on.context), nil())
    );
    unchecked!(
        tally,
        "cuMemcpyDtoA_v2",
        call::memcpy_dtoa(&nothing::<CUarray>(&on.context), nil(), &on.source)
    );
    unchecked!(
        tally,
        "cuMemcpyAtoH_v2",
        call::memcpy_atoh(&mut on.pinned, &nothing::<CUarray>(&on.context), nil())
    );
    unchecked!(
        tally,
        "cuMemcpyAtoHAsync_v2",
        call::memcpy_atoh_async(
            &mut on.pinned,
            &nothing::<CUarray>(&on.context),
            nil(),
            &on.stream
        )
    );
    unchecked!(
        tally,
        "cuMemcpyHtoA_v2",
        call::memcpy_htoa(&nothing::<CUarray>(&on.context), nil(), &on.pinned)
    );
    unchecked!(
        tally,
        "cuMemcpyHtoAAsync_v2",
        call::memcpy_htoa_async(&nothing::<CUarray>(&on.context), nil(), &on.pinned, &on.stream)
    );
    run!(tally, "cuMemsetD16_v2", call::memset_d16(&mut on.target, zero()));
    run!(tally, "cuMemsetD16Async", call::memset_d16_async(&mut on.target, zero(), &on.stream));
    run!(tally, "cuMemsetD2D16_v2", call::memset_d2d16(&mut on.target, zero()));
    run!(tally, "cuMemsetD2D16Async", call::memset_d2d16_async(&mut on.target, zero(), &on.stream));
    run!(tally, "cuIpcGetMemHandle", call::ipc_get_mem_handle(&on.source));
    run!(tally, "cuIpcOpenMemHandle_v2", call::ipc_open_mem_handle(&on.context, zero(), zero()));
    unchecked!(tally, "cuIpcCloseMemHandle", call::ipc_close_mem_handle(&on.context, nil()));
    run!(tally, "cuMemsetD2D8_v2", call::memset_d2d8(&mut on.target, zero()));
    run!(tally, "cuMemsetD2D8Async", call::memset_d2d8_async(&mut on.target, zero(), &on.stream));
    run!(tally, "cuMemsetD2D32_v2", call::memset_d2d32(&mut on.target, zero()));
    run!(tally, "cuMemsetD2D32Async", call::memset_d2d32_async(&mut on.target, zero(), &on.stream));
    run!(
        tally,
        "cuMemcpy2D_v2",
        call::memcpy_2d(&on.source, &mut on.target, Extent { width: 4, height: 1 })
    );
    run!(
        tally,
        "cuMemcpy2DAsync_v2",
        call::memcpy_2d_async(
            &on.source,
            &mut on.target,
            Extent { width: 4, height: 1 },
            &on.stream
        )
    );
    run!(tally, "cuMemAlloc_v2", call::mem_alloc(&on.context, zero()));
    run!(tally, "cuMemAllocPitch_v2", call::mem_alloc_pitch(&on.context, zero(), zero(), zero()));
    unchecked!(tally, "cuMemFree_v2", call::mem_free(&on.context, nil()));
    run!(tally, "cuMemHostAlloc", call::mem_host_alloc(&on.context, zero(), zero()));
    unchecked!(tally, "cuMemFreeHost", call::mem_free_host(&on.context, nil()));
    run!(tally, "cuMemGetInfo_v2", call::mem_get_info(&on.context));
    run!(tally, "cuMemGetAddressRange_v2", call::mem_get_address_range(&on.source));
    run!(tally, "cuMemsetD8_v2", call::memset_d8(&mut on.target, zero()));
    run!(tally, "cuMemsetD8Async", call::memset_d8_async(&mut on.target, zero(), &on.stream));
    run!(tally, "cuMemsetD32_v2", call::memset_d32(&mut on.target, zero()));
    run!(tally, "cuMemsetD32Async", call::memset_d32_async(&mut on.target, zero(), &on.stream));
    run!(tally, "cuMemcpyHtoD_v2", call::memcpy_htod(&mut on.target, &on.pinned));
    run!(
        tally,
        "cuMemcpyHtoDAsync_v2",
        call::memcpy_htod_async(&mut on.target, &on.pinned, &on.stream)
    );
    run!(tally, "cuMemcpyDtoH_v2", call::memcpy_dtoh(&mut on.pinned, &on.source));
    run!(
        tally,
        "cuMemcpyDtoHAsync_v2",
        call::memcpy_dtoh_async(&mut on.pinned, &on.source, &on.stream)
    );
    run!(tally, "cuMemcpyDtoD_v2", call::memcpy_dtod(&mut on.target, &on.source));
    run!(
        tally,
        "cuMemcpyDtoDAsync_v2",
        call::memcpy_dtod_async(&mut on.target, &on.source, &on.stream)
    );
    run!(tally, "cuMemcpy", call::memcpy(&mut on.target, &on.source));
    run!(tally, "cuMemcpyAsync", call::memcpy_async(&mut on.target, &on.source, &on.stream));
    run!(
        tally,
        "cuMemcpyWithAttributesAsync",
        call::memcpy_with_attributes_async(&mut on.target, &on.source, &zero(), &on.stream)
    );
    run!(tally, "cuMemcpyPeer", call::memcpy_peer(&on.context, &mut on.target, &on.source));
    run!(
        tally,
        "cuMemcpyPeerAsync",
        call::memcpy_peer_async(&mut on.target, &on.source, &on.stream)
    );
    run!(
        tally,
        "cuMemcpyBatchAsync_v2",
        call::memcpy_batch_async(
            &mut [&mut on.target],
            &[&on.source],
            &[zero()],
            &[zero()],
            &on.stream
        )
    );
    unchecked!(
        tally,
        "cuMemcpy3DBatchAsync_v2",
        call::memcpy_3d_batch_async(zero(), nil(), zero(), &on.stream)
    );
    unchecked!(
        tally,
        "cuMemcpy3DWithAttributesAsync",
        call::memcpy_3d_with_attributes_async(nil(), zero(), &on.stream)
    );
    unchecked!(tally, "cuMemcpy3DPeer", call::memcpy_3d_peer(&on.context, nil()));
    unchecked!(tally, "cuMemcpy3DPeerAsync", call::memcpy_3d_peer_async(nil(), &on.stream));
    unchecked!(
        tally,
        "cuMemBatchDecompressAsync",
        call::mem_batch_decompress_async(nil(), zero(), zero(), nil(), &on.stream)
    );
    run!(
        tally,
        "cuMemcpy2DUnaligned_v2",
        call::memcpy_2d_unaligned(&on.source, &mut on.target, Extent { width: 4, height: 1 })
    );
    run!(
        tally,
        "cuMemcpy3D_v2",
        call::memcpy_3d(&on.source, &mut on.target, Volume { width: 4, height: 1, depth: 1 })
    );
    run!(
        tally,
        "cuMemcpy3DAsync_v2",
        call::memcpy_3d_async(
            &on.source,
            &mut on.target,
            Volume { width: 4, height: 1, depth: 1 },
            &on.stream
        )
    );
}
