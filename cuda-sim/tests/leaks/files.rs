//! File descriptors of memory and pools: the program closes those that it made, and those that it was
//! sent.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};

use cuda_sim::{Config, isolated};
use cuda_sys::*;
use rustix::io::fcntl_dupfd_cloexec;

use crate::common::*;
use crate::descriptors::{FILE, Other, as_pointer, export, export_pool, import_pool};
use crate::mapped::{PAGE, create};
use crate::{check, forgotten, leaks, stream_memory};

/// Makes physical memory that only a descriptor has.
fn memory() -> OwnedFd {
    let handle = create(PAGE, 1);
    let file = export(handle);
    ok!(cuMemRelease(handle));
    file
}

/// Makes a descriptor of a pool that is gone.
fn pool() -> OwnedFd {
    let pool = stream_memory::create(1, 0);
    let file = export_pool(pool);
    ok!(cuMemPoolDestroy(pool));
    file
}

/// Imports physical memory, and gives its handle back at once.
fn import(file: &OwnedFd) {
    let mut handle = CUmemGenericAllocationHandle(0);
    ok!(cuMemImportFromShareableHandle(&mut handle, as_pointer(file), FILE));
    ok!(cuMemRelease(handle));
}

/// Returns another descriptor of the same file, in the place of the first.
fn moved(file: OwnedFd) -> OwnedFd {
    file.try_clone().unwrap()
}

forgotten! {
    of_physical_memory: ["cuMemExportToShareableHandle"], || {
        let file = memory();
        Box::new(move || drop(file))
    };
    of_a_pool: ["cuMemPoolExportToShareableHandle"], || {
        let file = pool();
        Box::new(move || drop(file))
    };
    each_of_several: [
        "cuMemExportToShareableHandle",
        "cuMemExportToShareableHandle",
        "cuMemPoolExportToShareableHandle",
    ], || {
        let handle = create(PAGE, 1);
        let files = [export(handle), export(handle), pool()];
        ok!(cuMemRelease(handle));
        Box::new(move || drop(files))
    };
    of_imported_memory: ["cuMemImportFromShareableHandle"], || {
        let file = moved(memory());
        import(&file);
        Box::new(move || drop(file))
    };
    of_an_imported_pool: ["cuMemPoolImportFromShareableHandle"], || {
        let file = moved(pool());
        ok!(cuMemPoolDestroy(import_pool(&file)));
        Box::new(move || drop(file))
    };
    sent_by_another_process: ["cuMemImportFromShareableHandle"], || {
        let other = Other::start();
        let (_, file) = other.ask(&format!("make {PAGE} 5"), None);
        let file = file.unwrap();
        import(&file);
        Box::new(move || {
            drop(file);
            other.kill();
        })
    };
    imported_where_it_was_made: ["cuMemExportToShareableHandle"], || {
        let file = memory();
        import(&file);
        Box::new(move || drop(file))
    };
}

#[test]
fn a_leak_names_the_descriptor() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let (memory, pool) = (memory(), pool());
        let text = cuda_sim::finish().to_string();
        for (file, what) in [(&memory, "physical memory"), (&pool, "a memory pool")] {
            let part = format!("leak: file descriptor {} of {what}: cuMem", file.as_raw_fd());
            assert!(text.contains(&part), "{part}: {text}");
        }
        end();
    });
}

#[test]
fn a_number_that_stands_for_another_file_is_no_leak() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let file = memory();
        let number = file.as_raw_fd();
        drop(file);
        let other = File::open("/dev/null").unwrap();
        let taken = fcntl_dupfd_cloexec(&other, number).unwrap();
        assert_eq!((taken.as_raw_fd(), leaks()), (number, vec![]));
        // Nor is one that was made anew, and closed.
        drop(taken);
        drop(memory());
        assert_eq!(leaks(), [""; 0]);
        end();
    });
}

#[test]
fn a_descriptor_of_the_simulator_s_own_is_no_leak() {
    isolated!(Config::new()).unchecked().run(|| {
        start();
        let first = pool();
        let second = first.try_clone().unwrap();
        let number = first.as_raw_fd();
        // From here on the lowest free number is that of a descriptor that was a pool's.
        drop(first);
        let pool = import_pool(&second);
        let own = std::fs::read_link(format!("/proc/self/fd/{number}")).unwrap();
        assert!(own.to_string_lossy().contains("cuda-sim:pool"), "{}", own.display());
        drop(second);
        assert_eq!(leaks(), ["cuMemPoolImportFromShareableHandle"]);
        ok!(cuMemPoolDestroy(pool));
        end();
    });
}
