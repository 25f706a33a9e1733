use cuda_sys::*;

use crate::common::*;
use crate::table;

#[test]
fn attributes_of_the_device() {
    table!("attributes of the device", |rows| {
        use CUdevice_attribute as A;
        start();
        let attributes = [
            (A::CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1),
            (A::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1),
            (A::CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 9),
            (A::CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1),
            (A::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 0),
            (A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1),
            (A::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1),
            (A::CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2_147_483_647),
            (A::CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 1),
        ];
        for (attribute, measured) in attributes {
            let mut value = -1;
            ok!(cuDeviceGetAttribute(&mut value, attribute, CUdevice(0)));
            rows.is(&format!("{attribute:?}"), value, measured);
        }
        let mut value = -1;
        let attribute = A::CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED;
        ok!(cuDeviceGetAttribute(&mut value, attribute, CUdevice(0)));
        let reason = "the simulator has no DMA-BUF to give to another driver";
        rows.differs(&format!("{attribute:?}"), value, 1, 0, reason);
        let mut properties = CUmemAllocationProp::zeroed();
        properties.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = CUmemLocation::device(0);
        let mut granularity = 0;
        let minimum = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        ok!(cuMemGetAllocationGranularity(&mut granularity, &properties, minimum));
        rows.is("granularity of virtual memory", granularity, 2 << 20);
        properties.requestedHandleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_FABRIC;
        let mut handle = CUmemGenericAllocationHandle::default();
        let answer = code!(cuMemCreate(&mut handle, 2 << 20, &properties, 0));
        rows.is("cuMemCreate with FABRIC, without IMEX", answer, 800);
        end();
    });
}
