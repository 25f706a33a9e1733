//! What the driver tells of an address, by who allocated it; the answers are measured.

mod common;
mod mapped;
mod remote;
mod stream_memory;

use std::ffi::c_void;

use common::*;
use cuda_sim::{Config, isolated};
use cuda_sys::*;
use mapped::PAGE;
use remote::*;

use CUpointer_attribute as A;

/// Reads an attribute, whatever its type: all are little-endian and start as zero.
fn number(attribute: A, address: CUdeviceptr) -> u64 {
    let mut value = 0_u64;
    let out: *mut u64 = &mut value;
    ok!(cuPointerGetAttribute(out.cast(), attribute, address));
    value
}

/// Is a row of the table.
struct Row {
    name: &'static str,
    address: CUdeviceptr,
    size: u64,
    /// 1 is the host's, 2 a device's.
    memory_type: u64,
    is_legacy_capable: u64,
    /// None where nothing was measured.
    handle_types: Option<u64>,
    has_pool: bool,
    is_managed: u64,
}

impl Row {
    /// Makes a row of device memory that can be exported by no means.
    const fn new(name: &'static str, address: CUdeviceptr) -> Self {
        Self {
            name,
            address,
            size: 4096,
            memory_type: 2,
            is_legacy_capable: 0,
            handle_types: Some(0),
            has_pool: false,
            is_managed: 0,
        }
    }

    fn check(&self) {
        let Self { name, address, .. } = *self;
        let told = |attribute| number(attribute, address);
        assert_eq!(told(A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE), self.memory_type, "{name}");
        assert_eq!(told(A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL), 0, "{name}");
        let capable = told(A::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
        assert_eq!(capable, self.is_legacy_capable, "{name}");
        if let Some(types) = self.handle_types {
            assert_eq!(told(A::CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES), types, "{name}");
        }
        let pool = told(A::CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
        assert_eq!(pool != 0, self.has_pool, "{name}");
        assert_eq!(told(A::CU_POINTER_ATTRIBUTE_IS_MANAGED), self.is_managed, "{name}");
        // The exact allocation, from wherever in it one asks.
        let inside = at(address, 9);
        assert_eq!(number(A::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside), address.0, "{name}");
        assert_eq!(number(A::CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside), self.size, "{name}");
    }
}

fn stream_ordered() -> CUdeviceptr {
    let mut address = CUdeviceptr(0);
    ok!(cuMemAllocAsync(&mut address, 4096, LEGACY));
    address
}

fn managed() -> CUdeviceptr {
    let mut address = CUdeviceptr(0);
    ok!(cuMemAllocManaged(&mut address, 4096, 1));
    address
}

fn virtual_memory(handle_types: u32) -> CUdeviceptr {
    let (handle, base) = (mapped::create(PAGE, handle_types), mapped::reserve(PAGE));
    mapped::map(base, PAGE, 0, handle);
    ok!(cuMemRelease(handle));
    base
}

#[test]
fn by_allocator() {
    isolated!(Config::new(), || {
        if cuda_sim::role().is_some() {
            return serve();
        }
        start();
        let mut registered = vec![0_u8; 3 * 4096];
        let page = registered.as_mut_ptr();
        let page = page.wrapping_add(page.align_offset(4096));
        ok!(cuMemHostRegister_v2(page.cast(), 4096, 0));
        let host = pinned(4096);
        let pool = stream_memory::create(1, 0);
        let mut other = Remote::start();
        let theirs = other.alloc(4096);
        let (answer, imported) = open(other.handle(theirs), 1);
        assert_eq!(answer, 0);
        let (handles, capable) = (Some(1), 1);
        let size = PAGE as u64;
        let rows = [
            Row { is_legacy_capable: capable, ..Row::new("cuMemAlloc", alloc(4096)) },
            Row { has_pool: true, ..Row::new("cuMemAllocAsync", stream_ordered()) },
            Row { is_managed: 1, ..Row::new("managed", managed()) },
            Row { memory_type: 1, ..Row::new("cuMemHostAlloc", CUdeviceptr(host as u64)) },
            Row { memory_type: 1, ..Row::new("registered", CUdeviceptr(page as u64)) },
            Row { size, ..Row::new("mapped, without handles", virtual_memory(0)) },
            Row { size, handle_types: handles, ..Row::new("mapped, files", virtual_memory(1)) },
            Row {
                handle_types: handles,
                has_pool: true,
                ..Row::new("pool of files", stream_memory::alloc_from(pool, 4096, LEGACY))
            },
            Row { handle_types: None, ..Row::new("imported", CUdeviceptr(imported)) },
        ];
        for row in &rows {
            row.check();
        }
        // Each has an identity of its own, and later ones have greater ones.
        let mut identities: Vec<_> =
            rows.iter().map(|row| number(A::CU_POINTER_ATTRIBUTE_BUFFER_ID, row.address)).collect();
        identities.sort_unstable();
        identities.dedup();
        assert_eq!(identities.len(), rows.len());
        let newest = alloc(64);
        assert!(Some(number(A::CU_POINTER_ATTRIBUTE_BUFFER_ID, newest)) > identities.pop());
        free(newest);

        let [plain, ordered, managed, _, _, first, second, pooled, imported] =
            rows.map(|row| row.address);
        ok!(cuIpcCloseMemHandle(imported));
        other.end();
        for memory in [plain, managed] {
            free(memory);
        }
        for memory in [ordered, pooled] {
            ok!(cuMemFreeAsync(memory, LEGACY));
        }
        for base in [first, second] {
            ok!(cuMemUnmap(base, PAGE));
            ok!(cuMemAddressFree(base, PAGE));
        }
        ok!(cuMemPoolDestroy(pool));
        ok!(cuMemFreeHost(host.cast()));
        ok!(cuMemHostUnregister(page.cast()));
        end();
    });
}

#[test]
fn of_memory_that_is_not_the_drivers() {
    isolated!(Config::new(), || {
        start();
        let mut value = 0x77_u64;
        let out: *mut u64 = &mut value;
        let stray = CUdeviceptr(&raw const value as u64);
        for address in [stray, CUdeviceptr(0)] {
            let kind = A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
            assert_eq!(code!(cuPointerGetAttribute(out.cast(), kind, address)), 1);
            assert_eq!(value, 0x77);
            let (mut kind, mut ordinal, mut managed) = (9_u32, 9_i32, 9_u8);
            let mut data: [*mut c_void; 3] =
                [(&raw mut kind).cast(), (&raw mut ordinal).cast(), (&raw mut managed).cast()];
            let mut wanted = [
                A::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                A::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                A::CU_POINTER_ATTRIBUTE_IS_MANAGED,
            ];
            ok!(cuPointerGetAttributes(3, wanted.as_mut_ptr(), data.as_mut_ptr(), address));
            assert_eq!((kind, ordinal, managed), (0, -2, 0));
        }
        end();
    });
}
