//! Which file answers, and why.

use core::ffi::{CStr, c_void};
use core::ptr::NonNull;
use std::path::Path;

use cuda_sys::*;

use crate::Case;
use crate::support::FakeDriver;

pub(crate) fn cases() -> Vec<Case> {
    let case = |name, prepare, body| Case { name, prepare, body, is_watched: false };
    vec![
        case("reports_06_the_override_goes_before_the_search_path", two_drivers, || {
            let driver = LIBRARY.open().unwrap();
            assert_eq!(driver.version(), Some(Version::new(12, 4)));
            let Origin::File { path, reason } = driver.origin() else { panic!("no file") };
            assert!(path.ends_with("override/libcuda.so.1"), "{path:?}");
            assert_eq!(reason, "CUDA_SYS_DRIVER names it");
        }),
        case(
            "reports_06_the_failure_lists_all_that_was_tried",
            |_| Vec::new(),
            || {
                if let Err(error) = LIBRARY.open() {
                    let text = error.to_string();
                    for part in ["libcuda.so.1", "/usr/lib/wsl/lib", "CUDA_SYS_DRIVER"] {
                        assert!(text.contains(part), "`{part}` is not in: {text}");
                    }
                    assert!(text.is_ascii());
                }
            },
        ),
        case("reports_07_the_versioned_name_alone_is_enough", on_search_path, || {
            let driver = LIBRARY.open().unwrap();
            assert_eq!(driver.version(), Some(Version::new(12, 2)));
            let Origin::File { path, reason } = driver.origin() else { panic!("no file") };
            assert!(path.is_absolute() && path.ends_with("libcuda.so.1"), "{path:?}");
            assert_eq!(reason, "the loader finds libcuda.so.1");
        }),
        case("reports_08_a_stub_is_called_a_stub", stub, || {
            match LIBRARY.open() {
                Err(LoadError::Stub { path, .. }) => {
                    assert!(path.ends_with("stubs/libcuda.so.1"), "{path:?}");
                }
                // With a real driver in a known place, that one is taken.
                Ok(driver) => assert!(!driver.path().unwrap().ends_with("stubs/libcuda.so.1")),
                Err(other) => panic!("{other:?}"),
            }
        }),
        case("reports_10_functions_are_looked_up_by_exact_name", records_lookups, || {
            let library = LIBRARY.open().unwrap();
            assert!(TABLE.cuCtxCreate_v4.get().is_err());
            assert!(TABLE.cuCtxCreate_v2.get().is_ok());
            let count = library.symbol(c"lookups").unwrap();
            // SAFETY: the fake declares it so.
            let count: extern "C" fn() -> u32 = unsafe { core::mem::transmute(count) };
            assert_eq!(count(), 0, "cuGetProcAddress chooses a version by a number");
        }),
        case(
            "reports_20_calls_use_the_system_convention",
            |_| Vec::new(),
            || {
                let _: fn() -> Result<unsafe extern "system" fn(u32) -> CUresult, Unavailable> =
                    || TABLE.cuInit.get();
                let callback: CUhostFn = None;
                let _: Option<unsafe extern "system" fn(*mut c_void)> = callback;
            },
        ),
        case("another_driver_in_the_process_is_named", two_drivers, || {
            let folder = std::env::var("OTHER").unwrap();
            let other = Path::new(&folder).join("libcuda.so.1");
            // SAFETY: the fake has no initialiser.
            let library = unsafe { libloading::Library::new(&other) }.unwrap();
            core::mem::forget(library);
            let LoadError::AnotherMapped { mapped, requested, .. } = LIBRARY.open().unwrap_err()
            else {
                panic!("two drivers in one process");
            };
            assert_eq!(mapped, other.canonicalize().unwrap());
            assert!(requested.ends_with("override/libcuda.so.1"));
        }),
        case("a_source_is_installed_before_the_first_use_only", on_search_path, || {
            let by = LIBRARY.open().unwrap().path().unwrap().display().to_string();
            assert_eq!(LIBRARY.install(Box::new(Nothing)).unwrap_err(), AlreadyLoaded { by });
        }),
        case("a_source_answers_instead_of_the_file", on_search_path, || {
            LIBRARY.install(Box::new(Nothing)).unwrap();
            assert_eq!(LIBRARY.open().unwrap().path(), None);
            let text = TABLE.cuInit.get().unwrap_err().to_string();
            assert!(text.contains("(a driver with nothing in it)"), "{text}");
            LIBRARY.install(Box::new(Nothing)).unwrap_err();
        }),
        case("threads_agree_on_one_library", on_search_path, || {
            let open = || LIBRARY.open().map(|opened| core::ptr::from_ref(opened).addr());
            let found: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
            });
            assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
        }),
    ]
}

/// Is a source without functions.
struct Nothing;

// SAFETY: it gives no pointer.
unsafe impl SymbolSource for Nothing {
    fn symbol(&self, _name: &CStr) -> Option<NonNull<c_void>> {
        None
    }

    fn describe(&self) -> String {
        "a driver with nothing in it".to_owned()
    }
}

fn build(folder: &Path, name: &str, driver: &FakeDriver) -> String {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    driver.build(&folder, "libcuda.so.1");
    folder.display().to_string()
}

/// Prepares one driver on the search path and another for the override.
fn two_drivers(folder: &Path) -> Vec<(&'static str, String)> {
    let other = build(folder, "search", &FakeDriver::of_version(12020));
    let named = build(folder, "override", &FakeDriver::of_version(12040));
    vec![
        ("LD_LIBRARY_PATH", other.clone()),
        ("OTHER", other),
        ("CUDA_SYS_DRIVER", format!("{named}/libcuda.so.1")),
    ]
}

fn on_search_path(folder: &Path) -> Vec<(&'static str, String)> {
    vec![("LD_LIBRARY_PATH", build(folder, "search", &FakeDriver::of_version(12020)))]
}

fn stub(folder: &Path) -> Vec<(&'static str, String)> {
    let stub = FakeDriver::empty().returning("cuInit", 34).returning("cuDriverGetVersion", 34);
    vec![("LD_LIBRARY_PATH", build(folder, "stubs", &stub))]
}

fn records_lookups(folder: &Path) -> Vec<(&'static str, String)> {
    let driver = FakeDriver::of_version(13000)
        .returning("cuCtxCreate_v2", 0)
        .with("fn cuGetProcAddress_v2() -> u32 { unsafe { COUNT += 1 }; 0 }")
        .with("fn lookups() -> u32 { unsafe { COUNT } }")
        .with(
            "fn cuGetProcAddress() -> u32 { unsafe { COUNT += 1 }; 0 } static mut COUNT: u32 = 0;",
        );
    vec![("LD_LIBRARY_PATH", build(folder, "search", &driver))]
}
