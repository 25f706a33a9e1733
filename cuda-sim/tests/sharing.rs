//! Memory and pools that pass between real processes as file descriptors, and what outlives whom.

mod common;
mod descriptors;
mod mapped;
mod stream_memory;

use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use common::*;
use cuda_sim::{Config, FindingKind, isolated, on_every_scheduler};
use cuda_sys::*;
use descriptors::*;
use mapped::{PAGE, create, wanted};
use stream_memory::{alloc_from, free_on};

#[test]
fn memory_by_a_message() {
    two_processes!(|| {
        start();
        let (memory, file) = make(2 * PAGE, 7);
        let other = Other::start();
        let there = other.map(&file, 2 * PAGE);
        assert_eq!(other.number(&format!("read {there}")), 7);
        // Both see one memory.
        other.number(&format!("fill {there} 8 {}", 2 * PAGE));
        assert_eq!(read(at(memory, 2 * PAGE as u64 - 1), 1), [8]);
        ok!(cuMemsetD8_v2(memory, 9, PAGE));
        ok!(cuCtxSynchronize());
        assert_eq!(other.number(&format!("read {there}")), 9);
        // The exporter lets go first.
        unmap(memory, 2 * PAGE);
        drop(file);
        assert_eq!(other.number(&format!("read {there}")), 9);
        other.number(&format!("unmap {there} {}", 2 * PAGE));
        other.end();
        end();
    });
}

#[test]
fn memory_taken_out_of_a_process() {
    two_processes!(|| {
        start();
        let (memory, file) = make(PAGE, 7);
        let other = Other::start();
        let order = format!("take {} {} {PAGE}", std::process::id(), file.as_raw_fd());
        let there = other.number(&order);
        // A system may forbid it.
        if there == 0 {
            cuda_sim::not_run("memory_taken_out_of_a_process", "pidfd_getfd is refused");
        } else {
            assert_eq!(other.number(&format!("read {there}")), 7);
            other.number(&format!("unmap {there} {PAGE}"));
        }
        other.end();
        unmap(memory, PAGE);
        end();
    });
}

#[test]
fn a_descriptor_keeps_the_memory_of_a_process_that_was_killed() {
    two_processes!(|| {
        start();
        let other = Other::start();
        let (_, file) = other.ask(&format!("make {PAGE} 5"), None);
        other.kill();
        let memory = map_file(&file.unwrap(), PAGE);
        assert_eq!(read(memory, PAGE), vec![5; PAGE]);
        unmap(memory, PAGE);
        end();
    });
}

#[test]
fn an_exporter_killed_while_its_memory_is_used() {
    two_processes!(|| {
        start();
        let other = Other::start();
        let (theirs, file) = other.ask(&format!("make {PAGE} 5"), None);
        let memory = map_file(&file.unwrap(), PAGE);
        let stream = stream(1);
        ok!(cuMemsetD8Async(memory, 6, PAGE, stream));
        other.kill();
        ok!(cuStreamSynchronize(stream));
        assert_eq!((read(memory, 64), theirs.len()), (vec![6; 64], 1));
        ok!(cuMemsetD8Async(memory, 7, PAGE, stream));
        ok!(cuStreamSynchronize(stream));
        assert_eq!(read(memory, 64), [7; 64]);
        ok!(cuStreamDestroy_v2(stream));
        unmap(memory, PAGE);
        end();
    });
}

#[test]
fn an_importer_killed_while_it_has_memory() {
    two_processes!(|| {
        start();
        let (memory, file) = make(PAGE, 7);
        let pool = stream_memory::create(1, 0);
        let pooled = alloc_from(pool, 4096, LEGACY);
        let other = Other::start();
        let there = other.map(&file, PAGE);
        other.ask("pool", Some(&export_pool(pool)));
        let (answer, theirs) = other.pointer(&export_pointer(pooled).1);
        assert_eq!(answer, 0);
        other.number(&format!("fill {there} 1 {PAGE}"));
        other.number(&format!("fill {theirs} 2 4096"));
        other.kill();
        assert_eq!((read(memory, 64), read(pooled, 64)), (vec![1; 64], vec![2; 64]));
        // Nobody has it any more.
        free_on(pooled, LEGACY);
        ok!(cuMemPoolDestroy(pool));
        unmap(memory, PAGE);
        end();
    });
}

#[test]
fn a_pool_and_its_pointers() {
    two_processes!(|| {
        start();
        let pool = stream_memory::create(1, 0);
        let (first, second) = (alloc_from(pool, 4096, LEGACY), alloc_from(pool, 3 << 20, LEGACY));
        ok!(cuMemsetD8_v2(first, 7, 4096));
        ok!(cuMemsetD8_v2(second, 8, 3 << 20));
        ok!(cuCtxSynchronize());
        // Measured: not until the pool itself was.
        assert_eq!(export_pointer(first).0, 1);
        let file = export_pool(pool);
        let told = [first, second].map(export_pointer);
        assert_eq!(told.map(|(answer, _)| answer), [0, 0]);
        let other = Other::start();
        other.ask("pool", Some(&file));
        let theirs = told.map(|(_, told)| other.pointer(&told));
        assert_eq!(theirs.map(|(answer, _)| answer), [0, 0]);
        let [there, large] = theirs.map(|(_, address)| address);
        assert_eq!(other.number(&format!("read {there}")), 7);
        assert_eq!(other.number(&format!("read {}", large + (3 << 20) - 1)), 8);
        other.number(&format!("fill {there} 9 4096"));
        assert_eq!(read(first, 4096), [9; 4096]);
        // An imported pool gives no memory.
        assert_eq!(other.number("alloc"), 1);
        // The importer frees first.
        for address in [there, large] {
            assert_eq!(other.number(&format!("free {address}")), 0);
        }
        assert_eq!(other.number("destroy"), 0);
        other.end();
        free_on(first, LEGACY);
        free_on(second, LEGACY);
        ok!(cuMemPoolDestroy(pool));
        end();
    });
}

#[test]
fn the_owner_of_a_pool_is_killed() {
    two_processes!(|| {
        start();
        let other = Other::start();
        let (told, file) = other.ask("make-pool 5", None);
        let told = std::array::from_fn(|at| u8::try_from(told[at]).unwrap_or(0));
        let pool = import_pool(&file.unwrap());
        let (answer, memory) = import_pointer(pool, &told);
        assert_eq!((answer, read(memory, 4096)), (0, vec![5; 4096]));
        other.kill();
        ok!(cuMemsetD8_v2(memory, 6, 4096));
        assert_eq!(read(memory, 4096), [6; 4096]);
        free_on(memory, LEGACY);
        ok!(cuCtxSynchronize());
        // What is imported only now is another matter.
        let again = import_pointer(pool, &told);
        if again.0 == 0 {
            free_on(again.1, LEGACY);
        }
        assert!(again.0 == 400 || cuda_sim::is_on_device());
        ok!(cuMemPoolDestroy(pool));
        end();
    });
}

#[test]
fn a_pointer_that_is_imported_twice() {
    two_processes!(unchecked, || {
        start();
        let pool = stream_memory::create(1, 0);
        let memory = alloc_from(pool, 4096, LEGACY);
        ok!(cuMemsetD8_v2(memory, 7, 4096));
        ok!(cuCtxSynchronize());
        let file = export_pool(pool);
        let (_, told) = export_pointer(memory);
        let other = Other::start();
        other.ask("pool", Some(&file));
        let (_, there) = other.pointer(&told);
        assert_eq!(other.pointer(&told), (0, there));
        // One free ends both.
        assert_eq!(other.number(&format!("free {there}")), 0);
        assert_eq!(other.number(&format!("free {there}")), 1);
        // And it can be imported anew.
        let (answer, there) = other.pointer(&told);
        assert_eq!((answer, other.number(&format!("read {there}"))), (0, 7));
        assert_eq!(other.number(&format!("free {there}")), 0);
        drop(file);
        other.end();
        free_on(memory, LEGACY);
        ok!(cuMemPoolDestroy(pool));
        end();
        assert!(cuda_sim::finish().is_clean());
    });
}

#[test]
fn frees_beside_the_mapping_of_another_process() {
    two_processes!(unchecked, || {
        start();
        let pool = stream_memory::create(1, 0);
        let [first, second, third] = [0; 3].map(|_| alloc_from(pool, 4096, LEGACY));
        ok!(cuCtxSynchronize());
        let file = export_pool(pool);
        let other = Other::start();
        other.ask("pool", Some(&file));
        let [one, two] = [first, second].map(|memory| other.pointer(&export_pointer(memory).1).1);
        // Given back before, and never had.
        assert_eq!(other.number(&format!("free {one}")), 0);
        free_on(first, LEGACY);
        free_on(third, LEGACY);
        assert_eq!(cuda_sim::report().findings.len(), 0, "{}", cuda_sim::report());
        free_on(second, LEGACY);
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::FreedWhileShared), 1, "{report}");
        assert_eq!(report.findings.len(), 1, "{report}");
        assert_eq!(other.number(&format!("free {two}")), 0);
        assert_eq!(other.number("destroy"), 0);
        other.end();
    });
}

#[test]
fn what_is_freed_stays_with_who_has_it() {
    two_processes!(unchecked, || {
        start();
        let pool = stream_memory::create(1, 0);
        let memory = alloc_from(pool, 2 << 20, LEGACY);
        ok!(cuMemsetD8_v2(memory, 7, 2 << 20));
        ok!(cuCtxSynchronize());
        let other = Other::start();
        other.ask("pool", Some(&export_pool(pool)));
        let (_, there) = other.pointer(&export_pointer(memory).1);
        free_on(memory, LEGACY);
        ok!(cuCtxSynchronize());
        // The pool has given it up; its bytes are there until the other lets go.
        let again = alloc_from(pool, 2 << 20, LEGACY);
        ok!(cuMemsetD8_v2(again, 8, 2 << 20));
        ok!(cuCtxSynchronize());
        assert_eq!(other.number(&format!("read {there}")), 7);
        assert_eq!(other.number(&format!("free {there}")), 0);
        assert_eq!(read(again, 64), [8; 64]);
        other.end();
    });
}

#[test]
fn memory_is_known_again() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (memory, file) = make(PAGE, 7);
        let alias = map_file(&file, PAGE);
        assert_eq!(read(alias, 64), [7; 64]);
        // One memory, however it came here.
        ok!(cuMemsetD8Async(memory, 1, 64, stream(1)));
        ok!(cuMemsetD8Async(alias, 2, 64, stream(1)));
        assert_eq!(cuda_sim::report().count(FindingKind::Race), 1);
    });
}

#[test]
fn more_handles_than_a_process_may_have_files_open() {
    isolated!(Config::new().junk(false), || {
        start();
        let handles: Vec<_> = (0..1500).map(|_| create(PAGE, 1)).collect();
        let open = std::fs::read_dir("/proc/self/fd").map(Iterator::count);
        assert!(open.is_ok_and(|open| open < 32));
        drop(export(handles[1499]));
        for handle in handles {
            ok!(cuMemRelease(handle));
        }
        end();
    });
}

#[test]
fn what_is_refused() {
    isolated!(Config::new(), || {
        start();
        let (memory, file) = make(PAGE, 7);
        let pool = stream_memory::create(1, 0);
        let pool_file = export_pool(pool);
        let (ordinary, _) = std::os::unix::net::UnixStream::pair().unwrap();
        let ordinary = OwnedFd::from(ordinary);
        let kinds = |kind| CUmemAllocationHandleType(kind);
        let import = |file: *mut std::ffi::c_void, kind| {
            let mut handle = CUmemGenericAllocationHandle(0);
            code!(cuMemImportFromShareableHandle(&mut handle, file, kinds(kind)))
        };
        let nothing = ptr::without_provenance_mut(9999);
        assert_eq!(import(nothing, 1), 999);
        for wrong in [as_pointer(&ordinary), as_pointer(&pool_file)] {
            assert_eq!(import(wrong, 1), 1);
        }
        assert_eq!([import(as_pointer(&file), 0), import(as_pointer(&file), 3)], [1, 1]);
        let import = |file: *mut std::ffi::c_void, kind, flags| {
            let mut pool = ptr::null_mut();
            code!(cuMemPoolImportFromShareableHandle(&mut pool, file, kinds(kind), flags))
        };
        for wrong in [nothing, as_pointer(&ordinary), as_pointer(&file)] {
            assert_eq!(import(wrong, 1, 0), 1);
        }
        assert_eq!(import(as_pointer(&pool_file), 1, 1), 1);
        // A pool that was not made for it, memory of it, and memory of no pool.
        let own = stream_memory::create(0, 0);
        let (pooled, plain) = (alloc_from(own, 64, LEGACY), alloc(64));
        let mut number = -1;
        let out: *mut i32 = &mut number;
        assert_eq!(code!(cuMemPoolExportToShareableHandle(out.cast(), own, FILE, 0)), 1);
        assert_eq!([pooled, plain, memory, CUdeviceptr(0)].map(|of| export_pointer(of).0), [1; 4]);
        // What tells no pointer, or one of a pool that was not imported.
        assert_eq!(import_pointer(own, &[0; 64]).0, 1);
        let shared = alloc_from(pool, 64, LEGACY);
        let (answer, told) = export_pointer(shared);
        assert_eq!((answer, import_pointer(own, &told).0), (0, 1));
        assert_eq!(
            code!(cuMemExportToShareableHandle(
                out.cast(),
                CUmemGenericAllocationHandle(0),
                FILE,
                0
            )),
            1
        );
        let mut handle = CUmemGenericAllocationHandle(0);
        ok!(cuMemCreate(&mut handle, PAGE, &wanted(1), 0));
        assert_eq!(code!(cuMemExportToShareableHandle(out.cast(), handle, FILE, 1)), 1);
        ok!(cuMemRelease(handle));
        for address in [pooled, shared] {
            free_on(address, LEGACY);
        }
        free(plain);
        for pool in [own, pool] {
            ok!(cuMemPoolDestroy(pool));
        }
        unmap(memory, PAGE);
        end();
    });
}
