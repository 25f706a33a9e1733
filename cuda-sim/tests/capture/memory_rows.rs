//! The rows of pools and virtual memory.

use std::os::fd::{FromRawFd, OwnedFd};

use cuda_sys::*;

use super::rows::{Row, SAFE, row};
use super::scene::{Handle, Scene};
use crate::Class;
use crate::common::*;
use crate::mapped::{self, PAGE, map, reserve};
use crate::stream_memory::{self, alloc_from, free_on};

const FILE: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

fn export(scene: &mut Scene) -> u32 {
    let mut file = -1;
    let place: *mut i32 = &mut file;
    let answer = code!(cuMemPoolExportToShareableHandle(place.cast(), scene.pool.0, FILE, 0));
    if answer == 0 {
        // SAFETY: the driver made the descriptor, for the caller to close.
        drop(unsafe { OwnedFd::from_raw_fd(file) });
    }
    answer
}

fn mapping(scene: &mut Scene) {
    scene.made = reserve(PAGE);
    map(scene.made, PAGE, 0, scene.physical);
}

fn unmap(scene: &mut Scene) -> u32 {
    code!(cuMemUnmap(scene.made, PAGE))
}

fn release_addresses(scene: &mut Scene, _: u32) {
    ok!(cuMemAddressFree(scene.made, PAGE));
}

/// Has the rows of pools and virtual memory.
pub(crate) const ROWS: &[Row] = &[
    row("cuMemPoolCreate", Class::Unsafe, |scene| {
        code!(cuMemPoolCreate(&mut scene.made_pool.0, &stream_memory::wanted(0, 0)))
    })
    .after(|scene, answer| {
        if answer == 0 {
            ok!(cuMemPoolDestroy(scene.made_pool.0))
        }
    }),
    row("cuMemPoolTrimTo", Class::Unsafe, |scene| code!(cuMemPoolTrimTo(scene.pool.0, 0))),
    row("cuMemAllocFromPoolAsync, other stream", Class::Unsafe, |scene| {
        let (pool, on) = (scene.pool.0, scene.other.0);
        code!(cuMemAllocFromPoolAsync(&mut scene.made, 4096, pool, on))
    })
    .after(|scene, answer| {
        if answer == 0 {
            free_on(scene.made, scene.other.0)
        }
    }),
    row("cuMemPoolExportToShareableHandle", Class::Unsafe, export),
    row("cuMemPoolExportPointer", Class::Unsafe, |scene| {
        let mut told = CUmemPoolPtrExportData::zeroed();
        code!(cuMemPoolExportPointer(&mut told, scene.made))
    })
    .before(|scene| {
        assert_eq!(export(scene), 0);
        scene.made = alloc_from(scene.pool.0, 4096, scene.other.0);
    })
    .after(|scene, _| free_on(scene.made, scene.other.0)),
    row("cuMemCreate and cuMemRelease", SAFE, |_| {
        let mut handle = CUmemGenericAllocationHandle(0);
        let made = code!(cuMemCreate(&mut handle, PAGE, &mapped::wanted(0), 0));
        made + code!(cuMemRelease(handle))
    }),
    row("cuMemAddressReserve", SAFE, |scene| {
        code!(cuMemAddressReserve(&mut scene.made, PAGE, 0, CUdeviceptr(0), 0))
    })
    .after(release_addresses),
    row("cuMemMap", SAFE, |scene| code!(cuMemMap(scene.made, PAGE, 0, scene.physical, 0)))
        .before(|scene| scene.made = reserve(PAGE))
        .after(|scene, answer| {
            assert_eq!(unmap(scene), 0);
            release_addresses(scene, answer);
        }),
    row("cuMemSetAccess", SAFE, |scene| {
        let flags = CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let said = CUmemAccessDesc { location: CUmemLocation::device(0), flags };
        code!(cuMemSetAccess(scene.made, PAGE, &said, 1))
    })
    .before(mapping)
    .after(|scene, answer| {
        assert_eq!(unmap(scene), 0);
        release_addresses(scene, answer);
    }),
    row("cuMemUnmap", SAFE, unmap).before(mapping).after(release_addresses),
];

/// Makes the pool and the physical memory of the rows.
pub(crate) fn make() -> (Handle<CUmemoryPool>, CUmemGenericAllocationHandle) {
    (Handle(stream_memory::create(FILE.0, 0)), mapped::create(PAGE, 0))
}
