//! Calls of: context, coredump, device, error, green_context, initialization, peer, primary_context, profiler, version.

use cuda_safe::call;
use cuda_sys::{CUdevice, CUgreenCtx, CUmemoryPool};

use crate::objects::{Objects, Tally, empty, nil, nothing, zero};

pub(crate) fn all(on: &mut Objects, tally: &mut Tally) {
    context(on, tally);
    coredump(on, tally);
    device(on, tally);
    error(on, tally);
    green_context(on, tally);
    initialization(on, tally);
    peer(on, tally);
    primary_context(on, tally);
    profiler(on, tally);
    version(on, tally);
}

fn context(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuCtxGetCurrent", call::ctx_get_current());
    unchecked!(tally, "cuCtxSetCurrent", call::ctx_set_current(nil()));
    unchecked!(tally, "cuCtxGetId", call::ctx_get_id(nil()));
    run!(tally, "cuCtxSynchronize", call::ctx_synchronize(&on.context));
    unchecked!(tally, "cuCtxCreate_v4", call::ctx_create(nil(), zero(), &on.device));
    run!(tally, "cuCtxCreate_v2", call::ctx_create_v2(zero(), &on.device));
    unchecked!(tally, "cuCtxDestroy_v2", call::ctx_destroy(nil()));
    run!(tally, "cuCtxGetApiVersion", call::ctx_get_api_version(&on.context));
    run!(tally, "cuCtxGetCacheConfig", call::ctx_get_cache_config(&on.context));
    run!(tally, "cuCtxSetCacheConfig", call::ctx_set_cache_config(&on.context, zero()));
    run!(tally, "cuCtxGetDevice_v2", call::ctx_get_device(&on.context));
    run!(tally, "cuCtxGetDevice", call::ctx_get_device_v1(&on.context));
    run!(tally, "cuCtxGetExecAffinity", call::ctx_get_exec_affinity(&on.context, zero()));
    run!(tally, "cuCtxGetFlags", call::ctx_get_flags(&on.context));
    run!(tally, "cuCtxSetFlags", call::ctx_set_flags(&on.context, zero()));
    run!(tally, "cuCtxGetLimit", call::ctx_get_limit(&on.context, zero()));
    run!(tally, "cuCtxSetLimit", call::ctx_set_limit(&on.context, zero(), zero()));
    run!(tally, "cuCtxGetStreamPriorityRange", call::ctx_get_stream_priority_range(&on.context));
    run!(tally, "cuCtxPopCurrent_v2", call::ctx_pop_current());
    unchecked!(tally, "cuCtxPushCurrent_v2", call::ctx_push_current(nil()));
    run!(tally, "cuCtxRecordEvent", call::ctx_record_event(&on.context, &on.event));
    run!(tally, "cuCtxWaitEvent", call::ctx_wait_event(&on.context, &on.event));
    run!(tally, "cuCtxResetPersistingL2Cache", call::ctx_reset_persisting_l2_cache(&on.context));
    run!(tally, "cuCtxSynchronize_v2", call::ctx_synchronize_v2(&on.context));
}

fn coredump(on: &mut Objects, tally: &mut Tally) {
    run!(
        tally,
        "cuCoredumpGetAttribute",
        call::coredump_get_attribute(&on.context, zero(), &mut on.pinned)
    );
    run!(
        tally,
        "cuCoredumpGetAttributeGlobal",
        call::coredump_get_attribute_global(zero(), &mut on.pinned)
    );
    run!(
        tally,
        "cuCoredumpSetAttribute",
        call::coredump_set_attribute(&on.context, zero(), &on.pinned)
    );
    run!(
        tally,
        "cuCoredumpSetAttributeGlobal",
        call::coredump_set_attribute_global(zero(), &on.pinned)
    );
}

fn device(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuDeviceGet", call::device_get(zero()));
    run!(tally, "cuDeviceGetCount", call::device_get_count());
    run!(tally, "cuDeviceGetName", call::device_get_name(&on.device));
    run!(tally, "cuDeviceGetUuid_v2", call::device_get_uuid(&on.device));
    run!(tally, "cuDeviceTotalMem_v2", call::device_total_mem(&on.device));
    run!(tally, "cuDeviceGetAttribute", call::device_get_attribute(zero(), &on.device));
    run!(tally, "cuDeviceGetLuid", call::device_get_luid(&mut [empty(); 8], &on.device));
    run!(
        tally,
        "cuDeviceGetTexture1DLinearMaxWidth",
        call::device_get_texture_1d_linear_max_width(zero(), zero(), &on.device)
    );
    run!(tally, "cuDeviceGetDefaultMemPool", call::device_get_default_mem_pool(&on.device));
    run!(tally, "cuDeviceGetMemPool", call::device_get_mem_pool(&on.device));
    run!(
        tally,
        "cuDeviceSetMemPool",
        call::device_set_mem_pool(&on.device, &nothing::<CUmemoryPool>(&on.context))
    );
    run!(
        tally,
        "cuDeviceGetExecAffinitySupport",
        call::device_get_exec_affinity_support(zero(), &on.device)
    );
    run!(
        tally,
        "cuDeviceGetHostAtomicCapabilities",
        call::device_get_host_atomic_capabilities(&mut [empty()], &[zero()], &on.device)
    );
    unchecked!(
        tally,
        "cuDeviceGetNvSciSyncAttributes",
        call::device_get_nv_sci_sync_attributes(nil(), &on.device, zero())
    );
    run!(
        tally,
        "cuFlushGPUDirectRDMAWrites",
        call::flush_gpu_direct_rdma_writes(&on.context, zero(), zero())
    );
}

fn error(_on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuGetErrorName", call::get_error_name(zero()));
    run!(tally, "cuGetErrorString", call::get_error_string(zero()));
}

fn green_context(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuDeviceGetDevResource", call::device_get_dev_resource(&on.device, zero()));
    run!(tally, "cuCtxGetDevResource", call::ctx_get_dev_resource(&on.context, zero()));
    run!(
        tally,
        "cuGreenCtxGetDevResource",
        call::green_ctx_get_dev_resource(&nothing::<CUgreenCtx>(&on.context), zero())
    );
    run!(tally, "cuStreamGetDevResource", call::stream_get_dev_resource(&on.stream, zero()));
    run!(tally, "cuStreamGetGreenCtx", call::stream_get_green_ctx(&on.stream));
    unchecked!(tally, "cuGreenCtxCreate", call::green_ctx_create(nil(), &on.device, zero()));
    unchecked!(tally, "cuGreenCtxDestroy", call::green_ctx_destroy(nil()));
    run!(tally, "cuGreenCtxGetId", call::green_ctx_get_id(&nothing::<CUgreenCtx>(&on.context)));
    run!(
        tally,
        "cuGreenCtxRecordEvent",
        call::green_ctx_record_event(&nothing::<CUgreenCtx>(&on.context), &on.event)
    );
    run!(
        tally,
        "cuGreenCtxWaitEvent",
        call::green_ctx_wait_event(&nothing::<CUgreenCtx>(&on.context), &on.event)
    );
    run!(
        tally,
        "cuGreenCtxStreamCreate",
        call::green_ctx_stream_create(&nothing::<CUgreenCtx>(&on.context), zero(), zero())
    );
    run!(tally, "cuCtxFromGreenCtx", call::ctx_from_green_ctx(&nothing::<CUgreenCtx>(&on.context)));
    unchecked!(tally, "cuDevResourceGenerateDesc", call::dev_resource_generate_desc(nil(), zero()));
    unchecked!(
        tally,
        "cuDevSmResourceSplitByCount",
        call::dev_sm_resource_split_by_count(&mut [empty()], nil(), nil(), zero(), zero())
    );
}

fn initialization(_on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuInit", call::init());
}

fn peer(on: &mut Objects, tally: &mut Tally) {
    run!(
        tally,
        "cuCtxEnablePeerAccess",
        call::ctx_enable_peer_access(&on.context, &on.context, zero())
    );
    unchecked!(tally, "cuCtxDisablePeerAccess", call::ctx_disable_peer_access(&on.context, nil()));
    run!(tally, "cuDeviceCanAccessPeer", call::device_can_access_peer(&on.device, &on.device));
    run!(
        tally,
        "cuDeviceGetP2PAttribute",
        call::device_get_p2p_attribute(zero(), &on.device, &on.device)
    );
    run!(
        tally,
        "cuDeviceGetP2PAtomicCapabilities",
        call::device_get_p2p_atomic_capabilities(&mut [empty()], &[zero()], &on.device, &on.device)
    );
}

fn primary_context(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuDevicePrimaryCtxRetain", call::device_primary_ctx_retain(&on.device));
    unchecked!(
        tally,
        "cuDevicePrimaryCtxRelease_v2",
        call::device_primary_ctx_release(CUdevice(99))
    );
    run!(tally, "cuDevicePrimaryCtxGetState", call::device_primary_ctx_get_state(&on.device));
    run!(
        tally,
        "cuDevicePrimaryCtxSetFlags_v2",
        call::device_primary_ctx_set_flags(&on.device, zero())
    );
    unchecked!(tally, "cuDevicePrimaryCtxReset_v2", call::device_primary_ctx_reset(CUdevice(99)));
}

fn profiler(on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuProfilerStart", call::profiler_start(&on.context));
    run!(tally, "cuProfilerStop", call::profiler_stop(&on.context));
}

fn version(_on: &mut Objects, tally: &mut Tally) {
    run!(tally, "cuDriverGetVersion", call::driver_get_version());
}
