//! Memory shared between two real processes; the answers are measured.

#![expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "bodies that several tests run are tests too"
)]

mod common;
mod remote;

use common::*;
use cuda_sim::{Config, FindingKind, isolated};
use cuda_sys::*;
use remote::*;

#[test]
fn the_life_cycle() {
    two_processes!(|| {
        start();
        let (memory, neighbour) = (alloc(4096), alloc(4096));
        ok!(cuMemsetD8_v2(memory, 7, 4096));
        ok!(cuMemsetD8_v2(neighbour, 8, 4096));
        ok!(cuCtxSynchronize());
        let (_, handle) = handle_of(memory);
        // An address inside, and a neighbour.
        assert_eq!(handle_of(at(memory, 100)), (0, handle));
        let (_, beside) = handle_of(neighbour);
        let differing: Vec<_> = (0..64).filter(|&at| beside[at] != handle[at]).collect();
        assert_eq!(differing, [29]);
        assert_eq!(open(handle, 1).0, 201);
        assert_eq!(open(handle, 0).0, 1);

        let mut remote = Remote::start();
        assert_eq!(remote.open_with(handle, 0).0, 1);
        let (answer, address) = remote.open(handle);
        assert_eq!(answer, 0);
        assert_eq!(remote.open(handle), (0, address));
        assert_eq!(remote.read(address), 7);
        assert_eq!(remote.ask(&format!("range {address}")), ["0", &address.to_string(), "4096"]);
        assert_eq!(remote.code(&format!("capable {address}")), 0);
        assert_eq!(remote.code(&format!("read {address} 4097")), 1);
        assert_eq!(remote.code(&format!("handle {address}")), 1);
        assert_eq!(remote.code(&format!("free {address}")), 1);
        // What it writes is here.
        assert_eq!(remote.code(&format!("fill {address} 9 4096")), 0);
        assert_eq!(read(memory, 4096), [9; 4096]);
        assert_eq!(read(neighbour, 4096), [8; 4096]);
        let (_, other) = remote.open(beside);
        assert_eq!((other - address, remote.read(other)), (4096, 8));
        assert_eq!(remote.code(&format!("close {other}")), 0);
        assert_eq!(remote.code(&format!("close {address}")), 0);
        assert_eq!(remote.code(&format!("close {address}")), 0);
        assert_eq!(remote.code(&format!("close {address}")), 1);
        remote.end();
        free(memory);
        free(neighbour);
        end();
        assert!(cuda_sim::finish().is_clean());
    });
}

#[test]
fn freed_and_allocated_again_beside_a_neighbour() {
    two_processes!(|| {
        start();
        let (_neighbour, memory) = (alloc(4096), alloc(65536));
        ok!(cuMemsetD8_v2(memory, 1, 65536));
        let (_, handle) = handle_of(memory);
        let mut remote = Remote::start();
        let (_, address) = remote.open(handle);
        free(memory);
        assert_eq!(remote.read(address), 1);
        assert_eq!(alloc(65536), memory);
        ok!(cuMemsetD8_v2(memory, 2, 65536));
        ok!(cuCtxSynchronize());
        // The handle doesn't name a lifetime.
        assert_eq!(handle_of(memory).1, handle);
        assert_eq!(remote.read(address), 2);
        assert_eq!(remote.open(handle), (0, address));
        for code in [0, 0, 1] {
            assert_eq!(remote.code(&format!("close {address}")), code);
        }
        // Its last handle reads what was freed, as long as the block lives.
        free(memory);
        let (answer, address) = remote.open(handle);
        assert_eq!((answer, remote.read(address)), (0, 2));
        remote.kill();
    });
}

#[test]
fn freed_and_allocated_again_alone_in_its_block() {
    two_processes!(|| for_size(4096));
}

#[test]
fn freed_and_allocated_again_over_many_blocks() {
    two_processes!(|| for_size(3 << 20));
}

fn for_size(size: usize) {
    start();
    let memory = alloc(size);
    ok!(cuMemsetD8_v2(memory, 1, size));
    let (_, old) = handle_of(memory);
    let mut remote = Remote::start();
    let (_, first) = remote.open(old);
    free(memory);
    assert_eq!(alloc(size), memory);
    ok!(cuMemsetD8_v2(memory, 2, size));
    ok!(cuCtxSynchronize());
    let (_, new) = handle_of(memory);
    let differing: Vec<_> = (0..64).filter(|&at| old[at] != new[at]).collect();
    assert_eq!((differing, new[40]), (vec![40], old[40] + 1));
    // The old mapping keeps the old bytes, and so does the old handle while it is open.
    assert_eq!(remote.read(first), 1);
    let (answer, second) = remote.open(new);
    assert_eq!((answer, remote.read(second)), (0, 2));
    assert_ne!(first, second);
    assert_eq!(remote.open(old), (0, first));
    assert_eq!(remote.code(&format!("fill {first} 5 {size}")), 0);
    assert_eq!(read(memory, 1), [2]);
    for address in [second, first, first] {
        assert_eq!(remote.code(&format!("close {address}")), 0);
    }
    assert_eq!(remote.code(&format!("close {first}")), 1);
    // Nobody checks the generation.
    let (answer, again) = remote.open(old);
    assert_eq!((answer, remote.read(again)), (0, 2));
    assert_eq!(remote.code(&format!("close {again}")), 0);
    free(memory);
    assert_eq!(remote.open(new).0, 1);
    remote.end();
    end();
    // The first free was under the other's mapping, the second was not.
    let report = cuda_sim::finish();
    assert_eq!(report.count(FindingKind::FreedWhileShared), 1, "{report}");
}

#[test]
fn frees_beside_the_mapping_of_another_process() {
    two_processes!(|| {
        start();
        let (memory, neighbour) = (alloc(4096), alloc(4096));
        let mut remote = Remote::start();
        let (_, address) = remote.open(handle_of(memory).1);
        // What it has not mapped is nobody's but ours.
        free(neighbour);
        assert!(cuda_sim::report().findings.is_empty());
        free(memory);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::FreedWhileShared), 1, "{report}");
        assert_eq!(remote.code(&format!("close {address}")), 0);
        let again = alloc(4096);
        let (_, address) = remote.open(handle_of(again).1);
        assert_eq!(remote.code(&format!("close {address}")), 0);
        free(again);
        assert_eq!(cuda_sim::report().findings.len(), 1);
        remote.end();
    });
}

#[test]
fn more_memory_than_a_process_may_have_files_open() {
    two_processes!(Config::new().junk(false), || {
        start();
        let buffers: Vec<_> = (0..2000).map(|_| alloc(2 << 20)).collect();
        let open = std::fs::read_dir("/proc/self/fd").unwrap().count();
        assert!(open < 32, "{open}");
        let mut remote = Remote::start();
        let last = buffers[1999];
        write(last, &[7; 64]);
        let (answer, address) = remote.open(handle_of(last).1);
        assert_eq!((answer, remote.read(address)), (0, 7));
        assert_eq!(remote.code(&format!("close {address}")), 0);
        remote.end();
        for buffer in buffers {
            free(buffer);
        }
        end();
        assert!(cuda_sim::finish().is_clean());
    });
}

#[test]
fn an_exporter_that_is_killed() {
    two_processes!(|| {
        start();
        let mut exporter = Remote::start();
        let theirs = exporter.alloc(4096);
        exporter.code(&format!("fill {theirs} 6 4096"));
        let handle = exporter.handle(theirs);
        let (answer, address) = open(handle, 1);
        assert_eq!(answer, 0);
        exporter.kill();
        let memory = CUdeviceptr(address);
        assert_eq!(read(memory, 4096), [6; 4096]);
        ok!(cuMemsetD8_v2(memory, 7, 4096));
        assert_eq!(read(memory, 4096), [7; 4096]);
        ok!(cuIpcCloseMemHandle(memory));
        assert_eq!(open(handle, 1).0, 400);
        end();
        assert!(cuda_sim::finish().is_clean());
    });
}

#[test]
fn an_importer_that_is_killed() {
    two_processes!(|| {
        start();
        let memory = alloc(4096);
        let mut importer = Remote::start();
        let (_, address) = importer.open(handle_of(memory).1);
        importer.code(&format!("fill {address} 4 4096"));
        importer.kill();
        assert_eq!(read(memory, 4096), [4; 4096]);
        free(memory);
        end();
        assert!(cuda_sim::finish().is_clean());
    });
}

#[test]
fn what_is_no_handle() {
    two_processes!(|| {
        start();
        let memory = alloc(4096);
        let (_, handle) = handle_of(memory);
        let mut remote = Remote::start();
        for byte in [0, 0xff] {
            assert_eq!(remote.open([byte; 64]).0, 1);
        }
        let mut random = 88_u64;
        for _ in 0..200 {
            let bytes = std::array::from_fn(|_| {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(99);
                (random >> 33) as u8
            });
            assert_eq!(remote.open(bytes).0, 1);
        }
        for at in 0..64 {
            let mut flipped = handle;
            flipped[at] ^= 1;
            let (answer, address) = remote.open(flipped);
            let expected: &[u32] = match at {
                24..=27 | 32..=36 | 52..=55 => &[1],
                31 => &[208, 0],
                48..=51 => &[400],
                // A different offset: memory, but the wrong.
                _ => &[0],
            };
            assert!(expected.contains(&answer), "byte {at}: {answer}");
            if answer == 0 {
                assert_eq!(remote.code(&format!("close {address}")), 0);
            }
        }
        remote.end();
        free(memory);
        end();
    });
}

#[test]
fn memory_that_has_no_handle() {
    isolated!(Config::new(), || {
        start();
        let page = pinned(4096);
        let mut pool = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut pool, 4096, LEGACY));
        for address in [CUdeviceptr(page as u64), pool, CUdeviceptr(0), CUdeviceptr(4096)] {
            assert_eq!(handle_of(address).0, 1);
        }
        ok!(cuMemFreeAsync(pool, LEGACY));
        ok!(cuMemFreeHost(page.cast()));
        end();
    });
}
