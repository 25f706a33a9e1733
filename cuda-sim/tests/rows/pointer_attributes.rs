use std::ffi::c_void;
use std::ptr;

use cuda_sys::*;

use crate::common::*;
use crate::recorder::Rows;
use crate::table;

/// Returns the code and the value of an attribute, of whatever width up to eight bytes.
pub(crate) fn attribute(address: CUdeviceptr, attribute: CUpointer_attribute) -> (u32, u64) {
    let mut value = 0_u64;
    let out: *mut c_void = ptr::from_mut(&mut value).cast();
    (code!(cuPointerGetAttribute(out, attribute, address)), value)
}

/// Makes virtual memory that device 0 may use, and returns what it takes to undo it.
pub(crate) struct Virtual {
    pub(crate) address: CUdeviceptr,
    handle: CUmemGenericAllocationHandle,
    size: usize,
}

impl Virtual {
    pub(crate) fn new(size: usize, handle_types: CUmemAllocationHandleType) -> Self {
        let mut properties = CUmemAllocationProp::zeroed();
        properties.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = CUmemLocation::device(0);
        properties.requestedHandleTypes = handle_types;
        let mut handle = CUmemGenericAllocationHandle::default();
        ok!(cuMemCreate(&mut handle, size, &properties, 0));
        let mut address = CUdeviceptr(0);
        ok!(cuMemAddressReserve(&mut address, size, 0, CUdeviceptr(0), 0));
        ok!(cuMemMap(address, size, 0, handle, 0));
        let mut access = CUmemAccessDesc::zeroed();
        access.location = CUmemLocation::device(0);
        access.flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        ok!(cuMemSetAccess(address, size, &access, 1));
        Self { address, handle, size }
    }

    pub(crate) fn end(self) {
        ok!(cuMemUnmap(self.address, self.size));
        ok!(cuMemAddressFree(self.address, self.size));
        ok!(cuMemRelease(self.handle));
    }
}

/// Makes a pool whose memory can be shared by file descriptors, and memory of it.
pub(crate) fn shareable_pool() -> (CUmemoryPool, CUdeviceptr) {
    let mut properties = CUmemPoolProps::zeroed();
    properties.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = CUmemLocation::device(0);
    properties.handleTypes = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let (mut pool, mut address) = (ptr::null_mut(), CUdeviceptr(0));
    ok!(cuMemPoolCreate(&mut pool, &properties));
    ok!(cuMemAllocFromPoolAsync(&mut address, 4096, pool, LEGACY));
    (pool, address)
}

/// Is what an allocator's memory answers: type, capable of legacy handles, handle types, of a pool,
/// managed.
type Answers = (u64, u64, u64, bool, u64);

fn check(rows: &mut Rows, allocator: &str, address: CUdeviceptr, size: u64, measured: Answers) {
    use CUpointer_attribute as A;
    let of = |kind| attribute(address, kind).1;
    let (code, pool) = attribute(address, A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
    let have = (
        of(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE),
        of(A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE),
        of(A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES),
        code == 0 && pool != 0,
        of(A::CU_POINTER_ATTRIBUTE_IS_MANAGED),
    );
    rows.is(&format!("{allocator}: type, legacy, handle types, pool, managed"), have, measured);
    rows.is(&format!("{allocator}: ordinal"), of(A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), 0);
    let range = (
        of(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR) == address.0,
        of(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE),
    );
    rows.is(&format!("{allocator}: range"), range, (true, size));
}

#[test]
fn by_allocator() {
    table!("pointer attributes, by allocator", |rows| {
        start();
        let fd = CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        let plain = alloc(4096);
        check(rows, "cuMemAlloc", plain, 4096, (2, 1, 0, false, 0));
        free(plain);
        let mut ordered = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut ordered, 4096, LEGACY));
        check(rows, "cuMemAllocAsync", ordered, 4096, (2, 0, 0, true, 0));
        ok!(cuMemFreeAsync(ordered, LEGACY));
        let mut managed = CUdeviceptr(0);
        ok!(cuMemAllocManaged(&mut managed, 4096, 1));
        check(rows, "managed", managed, 4096, (2, 0, 0, false, 1));
        free(managed);
        let page = pinned(4096);
        check(rows, "cuMemHostAlloc", CUdeviceptr(page as u64), 4096, (1, 0, 0, false, 0));
        ok!(cuMemFreeHost(page.cast()));
        let none = Virtual::new(2 << 20, CUmemAllocationHandleType(0));
        check(rows, "VMM, no handle type", none.address, 2 << 20, (2, 0, 0, false, 0));
        none.end();
        let shared = Virtual::new(2 << 20, fd);
        check(rows, "VMM, fd", shared.address, 2 << 20, (2, 0, 1, false, 0));
        shared.end();
        let (pool, address) = shareable_pool();
        check(rows, "pool with fd", address, 4096, (2, 0, 1, true, 0));
        ok!(cuMemFreeAsync(address, LEGACY));
        ok!(cuMemPoolDestroy(pool));
        end();
    });
}

#[test]
fn buffer_ids() {
    table!("pointer attributes: BUFFER_ID", |rows| {
        start();
        let id =
            |address| attribute(address, CUpointer_attribute::CU_POINTER_ATTRIBUTE_BUFFER_ID).1;
        let (first, second) = (alloc(4096), alloc(4096));
        let before = id(second);
        rows.is("is unique and grows", id(first) < before, true);
        free(second);
        let again = alloc(4096);
        rows.is("the address comes again", again == second, true);
        rows.is("the id grows by one", id(again) - before, 1);
        rows.is("inside of the allocation", id(at(again, 100)) == id(again), true);
        free(first);
        free(again);
        end();
    });
}

#[test]
fn of_what_is_not_the_drivers() {
    table!("pointer attributes of pageable memory and null", |rows| {
        use CUpointer_attribute as A;
        start();
        let host = [0_u8; 64];
        let addresses = [("pageable", host.as_ptr() as u64), ("null", 0)];
        for (name, address) in addresses {
            let mut value = 7_u64;
            let out: *mut c_void = ptr::from_mut(&mut value).cast();
            let kind = A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
            let answer = code!(cuPointerGetAttribute(out, kind, CUdeviceptr(address)));
            rows.is(&format!("{name}: one attribute"), (answer, value), (1, 7));
            let (mut kind, mut ordinal, mut managed) = (7_u32, 7_i32, 7_u8);
            let mut attributes = [
                A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                A::CU_POINTER_ATTRIBUTE_IS_MANAGED,
            ];
            let mut data: [*mut c_void; 3] = [
                ptr::from_mut(&mut kind).cast(),
                ptr::from_mut(&mut ordinal).cast(),
                ptr::from_mut(&mut managed).cast(),
            ];
            let answer = code!(cuPointerGetAttributes(
                3,
                attributes.as_mut_ptr(),
                data.as_mut_ptr(),
                CUdeviceptr(address)
            ));
            let have = (answer, kind, ordinal, managed);
            rows.is(&format!("{name}: several attributes"), have, (0, 0, -2, 0));
        }
        end();
    });
}
