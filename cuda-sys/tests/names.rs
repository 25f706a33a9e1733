//! Enums, records and constants as a program uses them.

use cuda_sys::*;

#[test]
fn constants_print_by_name_and_unknown_numbers_as_numbers() {
    assert_eq!(format!("{:?}", CUresult::CUDA_ERROR_OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
    assert_eq!(format!("{:?}", CUresult(9999)), "CUresult(9999)");
    assert_eq!(format!("{:?}", CUctx_flags(0)), "CU_CTX_SCHED_AUTO");
    assert_eq!(format!("{:?}", CUctx_flags(1 | 8)), "CU_CTX_SCHED_SPIN | CU_CTX_MAP_HOST");
    assert_eq!(
        format!("{:?}", CUevent_flags(2 | 64)),
        "CU_EVENT_DISABLE_TIMING | CUevent_flags(0x40)"
    );
    assert_eq!(format!("{:?}", CUdeviceptr(0x7f00)), "CUdeviceptr(0x7f00)");
}

#[test]
fn negative_constants_stand_as_bits() {
    assert_eq!(CUCoredumpGenerationFlags::CU_COREDUMP_LOG_ONLY.0, 0x8000_0000);
}

#[test]
fn macros_that_are_casts_are_typed() {
    assert_eq!(CU_DEVICE_INVALID, CUdevice(-2));
    assert_eq!(CU_STREAM_PER_THREAD.addr(), 2);
    assert_eq!(CU_LAUNCH_PARAM_BUFFER_SIZE.addr(), 2);
    assert_eq!(CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID_ANY, u32::MAX);
    assert_eq!(CU_STREAM_ATTRIBUTE_PRIORITY, CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY);
}

#[test]
fn end_markers_are_listed_instead_of_exposed() {
    let is_listed = |name| UNEXPOSED.iter().any(|unexposed| unexposed.name == name);
    assert!(is_listed("CU_DEVICE_ATTRIBUTE_MAX"));
    assert!(!is_listed("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT"));
    assert!(UNEXPOSED.iter().all(|unexposed| !unexposed.reason.is_empty()));
}

#[test]
fn moved_constants_stand_with_every_value() {
    let moved = |name| MOVED.iter().find(|moved| moved.name == name).unwrap().values;
    assert_eq!(
        moved("CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS"),
        [(Version::new(11, 7), 93), (Version::new(12, 0), 122)]
    );
    assert_eq!(moved("CU_CTX_FLAGS_MASK").last(), Some(&(Version::new(12, 1), 255)));
    let newest = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS;
    assert_eq!(newest.0, 122);
    assert_eq!(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1.0, 93);
}

#[test]
fn records_start_as_zeros() {
    let copy = CUDA_MEMCPY3D::zeroed();
    assert_eq!((copy.srcMemoryType, copy.Depth), (CUmemorytype(0), 0));
    assert!(copy.reserved0.is_null());
}

#[test]
fn anonymous_members_are_reached_by_name() {
    let mut location = CUmemLocation::host_numa(1);
    assert_eq!(location.type_, CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST_NUMA);
    location.set_id(7);
    // SAFETY: it was set.
    assert_eq!(unsafe { location.id() }, 7);
    // SAFETY: the record was zeroed.
    assert_eq!(unsafe { CUmemLocation::host_numa_current().id() }, 0);
    assert_eq!(CUmemLocation::host().type_, CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST);
}

#[test]
fn releases_are_ordered() {
    assert!(since::cuMemAlloc_v2 < since::cuMemAllocAsync);
    assert_eq!(since::cuMemAllocAsync.to_string(), "11.2");
    assert_eq!(TABLE.cuCtxAttach.symbol().deprecated.map(|release| release.number()), Some(11070));
    assert_eq!(SYMBOLS.len(), 723);
}
