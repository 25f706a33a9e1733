//! Faults on demand, and the helpers that run a test in other processes.

#![expect(clippy::unwrap_used, reason = "what several tests use is a test too")]

mod common;

use std::ptr;
use std::time::Duration;

use common::*;
use cuda_sim::{Config, FindingKind, isolated};
use cuda_sys::*;

#[test]
fn the_third_allocation_fails() {
    let config = Config::new().fail("cuMemAlloc_v2", 3, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    isolated!(config, || {
        start();
        let (first, second) = (alloc(4), alloc(4));
        let mut third = CUdeviceptr(0);
        assert_eq!(code!(cuMemAlloc_v2(&mut third, 4)), 2);
        assert_eq!(third, CUdeviceptr(0));
        for memory in [first, second, alloc(4)] {
            free(memory);
        }
        end();
    });
}

#[test]
fn any_call_may_fail_and_what_frees_still_frees() {
    let config = Config::new().fail("cuMemFree_v2", 1, CUresult::CUDA_ERROR_LAUNCH_FAILED);
    isolated!(config.fail_any(1, CUresult::CUDA_ERROR_UNKNOWN), || {
        assert_eq!(code!(cuInit(0)), 999);
        start();
        assert_eq!(code!(cuMemFree_v2(alloc(4))), 719);
        end();
    });
}

/// Copies a byte to the device and back, and cleans up whatever happens.
fn careful() -> Result<(), String> {
    fn check(call: &str, code: u32) -> Result<(), String> {
        if code == 0 { Ok(()) } else { Err(format!("{call}: {code}")) }
    }
    check("cuInit", code!(cuInit(0)))?;
    let mut context = ptr::null_mut();
    check("retain", code!(cuDevicePrimaryCtxRetain(&mut context, CUdevice(0))))?;
    let inner = || {
        check("set", code!(cuCtxSetCurrent(context)))?;
        let mut memory = CUdeviceptr(0);
        check("alloc", code!(cuMemAlloc_v2(&mut memory, 1)))?;
        let mut byte = 7_u8;
        let copied = check("up", code!(cuMemcpyHtoD_v2(memory, ptr::from_ref(&byte).cast(), 1)))
            .and_then(|()| {
                let host = ptr::from_mut(&mut byte).cast();
                check("down", code!(cuMemcpyDtoH_v2(host, memory, 1)))
            });
        copied.and(check("free", code!(cuMemFree_v2(memory))))?;
        assert_eq!(byte, 7);
        Ok(())
    };
    // The free of an early return's memory must not be skipped.
    let outcome = inner();
    outcome.and(check("release", code!(cuDevicePrimaryCtxRelease_v2(CUdevice(0)))))
}

#[test]
fn each_call_fails_in_turn() {
    cuda_sim::for_each_failure!(Config::new(), CUresult::CUDA_ERROR_UNKNOWN, || {
        let outcome = careful();
        if let Err(error) = &outcome {
            assert!(error.contains("999"), "{error}");
        }
        outcome
    });
}

/// Leaks if its third call fails.
fn careless() -> Result<(), String> {
    start_quietly()?;
    let mut memory = CUdeviceptr(0);
    ok!(cuMemAlloc_v2(&mut memory, 1));
    match code!(cuCtxSynchronize()) {
        0 => {}
        error => return Err(error.to_string()),
    }
    free(memory);
    end();
    Ok(())
}

fn start_quietly() -> Result<(), String> {
    start();
    Ok(())
}

/// Runs a test that must fail, and returns what it said.
fn failing(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(test).unwrap_err();
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_leak_behind_a_failure_is_found() {
    let child = std::env::var_os("CUDA_SIM_TEST").is_some();
    let run = || {
        let config = Config::new().fail("cuCtxSynchronize", 1, CUresult::CUDA_ERROR_UNKNOWN);
        isolated!(config).run(|| {
            let _ = careless();
        });
    };
    if child {
        return run();
    }
    let text = failing(run);
    assert!(text.contains("leak: 1 bytes at"), "{text}");
}

#[test]
fn a_body_that_hangs_is_ended() {
    let run = || {
        isolated!(Config::new()).limit(Duration::from_millis(500)).run(|| {
            std::thread::sleep(Duration::from_secs(60));
        });
    };
    if std::env::var_os("CUDA_SIM_TEST").is_some() {
        return run();
    }
    let text = failing(run);
    assert!(text.contains("it did not end in 500ms"), "{text}");
}

#[test]
fn a_test_of_another_name_is_not_taken_for_one_that_passed() {
    let text = failing(|| {
        cuda_sim::Isolated::new("no_such_test", Config::new()).run(|| {});
    });
    assert!(text.contains("its body did not come to its end"), "{text}");
}

#[test]
fn visible_devices_are_honoured() {
    let variable = "CUDA_VISIBLE_DEVICES";
    isolated!(Config::new().devices(3)).unchecked().run(|| {
        if let Some(role) = cuda_sim::role() {
            let mut count = 0;
            if role == "none" {
                assert_eq!(code!(cuInit(0)), 100);
                return;
            }
            ok!(cuInit(0));
            ok!(cuDeviceGetCount(&mut count));
            let mut uuid = CUuuid::zeroed();
            ok!(cuDeviceGetUuid_v2(&mut uuid, CUdevice(0)));
            assert_eq!(format!("{count}{}", uuid.bytes[15]), role);
            return;
        }
        for (list, role) in [
            ("0,1,2", "31"),
            ("2,0", "23"),
            ("1", "12"),
            ("1,7,2", "12"),
            ("GPU-63756461-2d73-696d-4000-800000000003", "13"),
            ("", "none"),
            ("-1", "none"),
            ("1,1", "none"),
        ] {
            let mut peer = cuda_sim::peer(role).unwrap();
            assert!(peer.env(variable, list).status().unwrap().success(), "{list}");
        }
    });
}

#[test]
fn a_real_driver_and_the_simulator_never_swap() {
    isolated!(Config::new(), || {
        let again = cuda_sim::install(Config::new()).unwrap_err();
        assert!(again.to_string().contains("already"));
        assert_eq!(cuda_sim::report().count(FindingKind::Leak), 0);
        let origin = LIBRARY.opened().unwrap().origin().to_string();
        assert!(origin.starts_with("cuda-sim "), "{origin}");
        assert_eq!(LIBRARY.opened().unwrap().version(), Some(Version::new(13, 0)));
    });
}

#[test]
fn memory_is_out_at_a_byte_count() {
    isolated!(Config::new().out_of_memory_at(3000).host_out_of_memory_at(100), || {
        start();
        let (mut third, mut page) = (CUdeviceptr(0), ptr::null_mut());
        let (first, second) = (alloc(1000), alloc(2000));
        assert_eq!(code!(cuMemAlloc_v2(&mut third, 1)), 2);
        assert_eq!(code!(cuMemAllocAsync(&mut third, 1, LEGACY)), 2);
        free(first);
        ok!(cuMemAllocAsync(&mut third, 1000, LEGACY));
        assert_eq!(code!(cuMemAlloc_v2(&mut CUdeviceptr(0), usize::MAX)), 2);
        ok!(cuMemFreeAsync(third, LEGACY));
        free(second);
        // The host's memory is counted by itself.
        assert_eq!(code!(cuMemHostAlloc(&mut page, 101, 0)), 2);
        let page = pinned(100);
        assert_eq!(code!(cuMemAllocHost_v2(&mut ptr::null_mut(), 1)), 2);
        ok!(cuMemFreeHost(page.cast()));
        end();
    });
}

#[test]
fn an_old_driver_lacks_what_came_later() {
    isolated!(Config::new().version(Version::new(11, 8)), || {
        start();
        let missing = CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER.0;
        let mut id = 0;
        // Of CUDA 12.0, and of 11.8's own time.
        assert_eq!(code!(cuStreamGetId(LEGACY, &mut id)), missing);
        assert_eq!(code!(cuCtxGetId(ptr::null_mut(), &mut id)), missing);
        assert_eq!(LIBRARY.opened().unwrap().version(), Some(Version::new(11, 8)));
        free(alloc(1));
        end();
    });
}
