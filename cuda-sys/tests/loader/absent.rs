//! What is not there: no library, no function, a file that is none.

use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;
use std::path::Path;

use cuda_sys::*;
use libtest_mimic::Trial;
use proptest::test_runner::{Config, TestRunner};

use crate::support::FakeDriver;
use crate::{Case, run_with};

fn named_driver(file: std::path::PathBuf) -> Vec<(&'static str, String)> {
    vec![("CUDA_SYS_DRIVER", file.display().to_string())]
}

/// Prepares a driver of CUDA 11.8 with nothing but what the loader itself asks.
fn bare(folder: &Path) -> Vec<(&'static str, String)> {
    named_driver(FakeDriver::of_version(11080).build(folder, "libcuda.so.1"))
}

pub(crate) fn cases() -> Vec<Case> {
    let case = |name, prepare, body| Case { name, prepare, body, is_watched: false };
    vec![
        case("reports_01_opening_needs_two_functions", bare, || {
            let driver = LIBRARY.open().unwrap();
            assert_eq!(driver.version(), Some(Version::new(11, 8)));
            // SAFETY: the fake takes anything.
            assert_eq!(unsafe { cuInit(0) }, CUresult::CUDA_SUCCESS);
            // SAFETY: nothing is called.
            let absent = unsafe { cuCtxGetId(core::ptr::null_mut(), core::ptr::null_mut()) };
            assert_eq!(absent, CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
            let Unavailable::Missing(missing) = TABLE.cuCtxGetId.get().unwrap_err() else {
                panic!("a missing function is no load error");
            };
            assert_eq!(missing.symbol, c"cuCtxGetId");
            assert_eq!(missing.since, Version::new(12, 0));
            assert_eq!(missing.version, Some(Version::new(11, 8)));
        }),
        case("reports_02_the_text_names_symbol_file_and_versions", bare, || {
            let text = TABLE.cuLogsCurrent.get().unwrap_err().to_string();
            let path = LIBRARY.open().unwrap().path().unwrap().display().to_string();
            assert!(text.is_ascii(), "{text}");
            for part in ["cuLogsCurrent", path.as_str(), "came with CUDA 12.9", "for CUDA 11.8"] {
                assert!(text.contains(part), "`{part}` is not in: {text}");
            }
        }),
        case(
            "reports_03_no_function_must_be_there",
            |folder| named_driver(FakeDriver::empty().build(folder, "libcuda.so.1")),
            || {
                assert_eq!(LIBRARY.open().unwrap().version(), None);
                // SAFETY: nothing is called.
                let status = unsafe { cuInit(0) };
                assert_eq!(status, CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
            },
        ),
        case(
            "reports_04_an_old_function_that_is_gone_is_absent_too",
            |folder| {
                let driver = FakeDriver::of_version(14000).returning("cuCtxGetCurrent", 0);
                named_driver(driver.build(folder, "libcuda.so.1"))
            },
            || {
                assert!(TABLE.cuCtxGetCurrent.get().is_ok());
                let Unavailable::Missing(missing) = TABLE.cuGLInit.get().unwrap_err() else {
                    panic!("a missing function is no load error");
                };
                assert_eq!(missing.version, Some(Version::new(14, 0)));
            },
        ),
        case("a_missing_file_has_its_own_error", no_file, || {
            let error = LIBRARY.open().unwrap_err();
            assert!(matches!(error, LoadError::OverrideNotFound { .. }), "{error:?}");
            assert!(error.to_string().starts_with("CUDA_SYS_DRIVER names /"), "{error}");
        }),
        case("a_file_that_is_no_library_has_its_own_error", text_file, || {
            let error = LIBRARY.open().unwrap_err();
            assert!(matches!(error, LoadError::NotALibrary { .. }), "{error:?}");
        }),
        case("a_library_for_another_machine_is_no_library", foreign_file, || {
            let error = LIBRARY.open().unwrap_err();
            assert!(error.to_string().ends_with("another kind of machine"), "{error}");
        }),
        case("an_unresolvable_dependency_has_its_own_error", broken_library, || {
            let LoadError::Unloadable { path, reason } = LIBRARY.open().unwrap_err() else {
                panic!("another error");
            };
            assert!(path.ends_with("libcuda.so.1"));
            assert!(reason.contains("libneeded.so"), "{reason}");
        }),
        case(
            "reports_05_no_library_is_an_answer_not_a_panic",
            |_| Vec::new(),
            || {
                if Path::new("/dev/nvidiactl").exists() {
                    return;
                }
                let LoadError::NotFound { tried, .. } = LIBRARY.open().unwrap_err() else {
                    panic!("another error");
                };
                assert_eq!(tried.first().unwrap().candidate, "libcuda.so.1");
                assert_eq!(tried.last().unwrap().candidate, "libcuda.so");
                // SAFETY: nothing is called.
                let status = unsafe { cuInit(0) };
                assert_eq!(status, CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
                assert!(matches!(TABLE.cuInit.get(), Err(Unavailable::Load(_))));
                assert_eq!(CUresult::CUDA_SUCCESS.name(), None);
            },
        ),
        case("a_failed_load_is_tried_again", no_file, || {
            LIBRARY.open().unwrap_err();
            LIBRARY.install(Box::new(Filtered { seed: 0, share: 0 })).unwrap();
            // SAFETY: the fake takes anything.
            assert_eq!(unsafe { cuInit(0) }, CUresult::CUDA_SUCCESS);
        }),
        case("subset_of_symbols", |_| Vec::new(), call_everything),
        #[cfg(feature = "nvml")]
        case("nvml_without_a_driver_says_so", |_| Vec::new(), nvml_absent),
    ]
}

fn no_file(folder: &Path) -> Vec<(&'static str, String)> {
    named_driver(folder.join("libcuda.so.1"))
}

fn text_file(folder: &Path) -> Vec<(&'static str, String)> {
    let file = folder.join("libcuda.so.1");
    std::fs::write(&file, "This file only has the name of a driver.").unwrap();
    named_driver(file)
}

/// Prepares a library whose header says that it is for a 32-bit machine.
fn foreign_file(folder: &Path) -> Vec<(&'static str, String)> {
    let file = FakeDriver::of_version(12000).build(folder, "libcuda.so.1");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[4] = 1;
    std::fs::write(&file, bytes).unwrap();
    named_driver(file)
}

/// Prepares a library that needs another one, which is gone.
fn broken_library(folder: &Path) -> Vec<(&'static str, String)> {
    let needed = FakeDriver::empty().returning("needed", 0).build(folder, "libneeded.so");
    let library = FakeDriver::of_version(12000)
        .with(
            "fn cuUses() -> u32 {
                #[link(name = \"needed\")] unsafe extern \"C\" { fn needed() -> u32; }
                unsafe { needed() }
            }",
        )
        .build(folder, "libcuda.so.1");
    std::fs::remove_file(needed).unwrap();
    named_driver(library)
}

/// Is a driver with a random share of the functions; each takes anything and returns 0.
struct Filtered {
    seed: u64,
    /// How many of 100 functions are absent.
    share: u64,
}

extern "C" fn success() -> c_int {
    0
}

// SAFETY: the function ignores its parameters, which this machine's calling convention allows.
unsafe impl SymbolSource for Filtered {
    fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let hash = name.to_bytes().iter().fold(self.seed, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
        });
        let function = success as extern "C" fn() -> c_int;
        (hash % 100 >= self.share).then(|| NonNull::new(function as *mut c_void)).flatten()
    }

    fn describe(&self) -> String {
        "a driver with gaps".to_owned()
    }
}

/// Declares a function that calls every function of the driver with zeros.
macro_rules! call_all {
    ($([$header:literal $since:literal $deprecated:literal]
        $name:ident($($parameter:ident: $ty:ty),*) -> $output:ty;)*) => {
        fn call_all(mut each: impl FnMut(&Symbol, CUresult, Result<(), Unavailable>)) {
            $(
                // SAFETY: the fake ignores its parameters, and each may be zero.
                let status: CUresult = unsafe { $name($(core::mem::zeroed::<$ty>()),*) };
                each(TABLE.$name.symbol(), status, TABLE.$name.get().map(|_| ()));
            )*
        }
    };
}

mod every_function {
    use core::ffi::*;
    use cuda_sys::*;

    for_each_driver_function!(call_all);

    pub(super) fn run(each: impl FnMut(&Symbol, CUresult, Result<(), Unavailable>)) {
        call_all(each);
    }
}

/// Runs in the child of the property below: whatever is absent, the answer is typed.
fn call_everything() {
    let number = |variable| std::env::var(variable).ok().and_then(|text| text.parse().ok());
    let source =
        Filtered { seed: number("SEED").unwrap_or(1), share: number("SHARE").unwrap_or(50) };
    let there = Filtered { seed: source.seed, share: source.share };
    LIBRARY.install(Box::new(source)).unwrap();
    let mut calls = 0;
    every_function::run(|symbol, status, typed| {
        calls += 1;
        if there.symbol(symbol.name).is_some() {
            assert_eq!((status, typed), (CUresult::CUDA_SUCCESS, Ok(())), "{symbol:?}");
        } else {
            assert_eq!(status, CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "{symbol:?}");
            assert!(matches!(typed, Err(Unavailable::Missing(_))), "{symbol:?}");
        }
    });
    assert_eq!(calls, SYMBOLS.len());
}

/// The second half of row 1: random subsets of functions.
pub(crate) fn properties() -> Vec<Trial> {
    vec![Trial::test("reports_01_random_subsets_never_panic", || {
        let mut runner =
            TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
        runner
            .run(&(0..u64::MAX, 0..=100_u64), |(seed, share)| {
                let environment = vec![("SEED", seed.to_string()), ("SHARE", share.to_string())];
                run_with("subset_of_symbols", environment, &[]).map_err(|failed| {
                    let text = failed.message().unwrap_or("the child failed").to_owned();
                    proptest::test_runner::TestCaseError::fail(text)
                })
            })
            .map_err(|error| error.to_string().into())
    })]
}

#[cfg(feature = "nvml")]
fn nvml_absent() {
    use cuda_sys::nvml;

    if Path::new("/dev/nvidiactl").exists() {
        return;
    }
    assert!(matches!(nvml::LIBRARY.open(), Err(LoadError::NotFound { .. })));
    // SAFETY: nothing is called.
    let status = unsafe { nvml::nvmlInit_v2() };
    assert_eq!(status, nvml::nvmlReturn_t::NVML_ERROR_LIBRARY_NOT_FOUND);
    // SAFETY: nothing is called.
    let text = unsafe { nvml::nvmlErrorString(status) };
    // SAFETY: the text is the crate's own, and ends in a zero.
    let text = unsafe { CStr::from_ptr(text) };
    assert_eq!(text, c"the library was not found");
}
