//! Pinned memory that a queued copy uses, closed to the host: a touch ends the process.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "what several tests use is a test too"
)]

mod common;

use std::os::unix::process::ExitStatusExt as _;

use common::*;
use cuda_sim::{Config, FindingKind, Scheduler, isolated, peer, role};
use cuda_sys::*;

const PAGE: usize = 4096;
const FAULT: Option<i32> = Some(11);

/// Is what the host does, in a process of its own; the order is that of the roles.
const TOUCHES: [(&str, fn(), bool); 11] = [
    ("reads a destination", || _ = get(to_host(), 2 * PAGE), false),
    ("writes a destination", || put(to_host(), 2 * PAGE), false),
    ("writes a source", || put(to_device(), 2 * PAGE), false),
    ("writes the last byte of a source", || put(to_device(), 4 * PAGE - 1), false),
    ("reads a source", || assert_eq!(get(to_device(), 2 * PAGE), 0), true),
    ("reads before a destination", || _ = get(to_host(), PAGE - 1), true),
    ("writes behind a source", || put(to_device(), 4 * PAGE), true),
    ("touches both when the copies have run", after_both, true),
    ("touches a part of a page", part_of_a_page, true),
    ("writes a source when one of two copies has run", between_two_readers, false),
    ("lets the device use what it may not touch", the_device_goes_on, true),
];

fn get(page: *mut u8, offset: usize) -> u8 {
    // SAFETY: it lies in pinned memory of five pages; that the page may be closed is the test.
    unsafe { page.wrapping_add(offset).read_volatile() }
}

fn put(page: *mut u8, offset: usize) {
    // SAFETY: it lies in pinned memory of five pages; that the page may be closed is the test.
    unsafe { page.wrapping_add(offset).write_volatile(9) }
}

/// Queues a copy into the second to fourth page of pinned memory.
fn to_host() -> *mut u8 {
    let (page, memory) = (pinned(5 * PAGE), alloc(3 * PAGE));
    write(memory, &[7; 3 * PAGE]);
    ok!(cuMemcpyDtoHAsync_v2(page.wrapping_add(PAGE).cast(), memory, 3 * PAGE, stream(1)));
    page
}

/// Queues a copy out of the second to fourth page of pinned memory.
fn to_device() -> *mut u8 {
    let (page, memory) = (pinned(5 * PAGE), alloc(3 * PAGE));
    ok!(cuMemcpyHtoDAsync_v2(memory, page.wrapping_add(PAGE).cast(), 3 * PAGE, stream(1)));
    page
}

fn after_both() {
    let (to, from) = (to_host(), to_device());
    ok!(cuCtxSynchronize());
    assert_eq!((get(to, PAGE), get(to, 4 * PAGE - 1)), (7, 7));
    put(to, PAGE);
    put(from, 2 * PAGE);
    // Freed memory is mapped nowhere, and the next one is open.
    ok!(cuMemFreeHost(to.cast()));
    put(pinned(5 * PAGE), PAGE);
}

fn part_of_a_page() {
    let (page, memory) = (pinned(5 * PAGE), alloc(PAGE));
    ok!(cuMemcpyDtoHAsync_v2(page.wrapping_add(100).cast(), memory, PAGE, stream(1)));
    put(page, 99);
    put(page, PAGE + 100);
}

fn between_two_readers() {
    let (page, memory) = (pinned(5 * PAGE), alloc(2 * PAGE));
    let (first, second) = (stream(1), stream(1));
    ok!(cuMemcpyHtoDAsync_v2(memory, page.cast(), PAGE, first));
    ok!(cuMemcpyHtoDAsync_v2(at(memory, PAGE as u64), page.cast(), PAGE, second));
    ok!(cuStreamSynchronize(first));
    put(page, 0);
}

fn the_device_goes_on() {
    let (page, memory, work) = (pinned(5 * PAGE), alloc(PAGE), stream(1));
    ok!(cuMemsetD8Async(memory, 3, PAGE, work));
    ok!(cuMemcpyDtoHAsync_v2(page.cast(), memory, PAGE, work));
    // The same bytes once more, behind the first copy.
    ok!(cuMemcpyHtoDAsync_v2(memory, page.cast(), PAGE, work));
    ok!(cuMemsetD8Async(CUdeviceptr(page.expose_provenance() as u64), 4, PAGE, work));
    ok!(cuStreamSynchronize(work));
    assert_eq!((read(memory, PAGE), get(page, 0)), (vec![3; PAGE], 4));
}

/// Runs each touch in a process of its own, with this configuration.
fn run_all(config: &Config, may_fault: bool) {
    if let Some(number) = role() {
        start();
        (TOUCHES[number.parse::<usize>().unwrap()].1)();
        return;
    }
    for (number, (name, _, is_allowed)) in TOUCHES.into_iter().enumerate() {
        let mut peer = peer(&number.to_string()).unwrap();
        let output = peer.env(cuda_sim::ENVIRONMENT, config.to_text()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let signal = output.status.signal();
        if is_allowed || !may_fault {
            assert!(output.status.success(), "{name}: {}: {text}", output.status);
        } else {
            assert_eq!(signal, FAULT, "{name}: {text}");
        }
    }
}

#[test]
fn a_touch_ends_the_process() {
    isolated!(Config::new()).unchecked().run(|| {
        run_all(&Config::new().scheduler(Scheduler::Lazy).protect_pages(true), true);
    });
}

#[test]
fn unasked_nothing_is_closed() {
    isolated!(Config::new()).unchecked().run(|| {
        run_all(&Config::new().scheduler(Scheduler::Lazy), false);
    });
}

#[test]
fn what_has_run_is_open() {
    isolated!(Config::new()).unchecked().run(|| {
        run_all(&Config::new().protect_pages(true), false);
    });
}

#[test]
fn the_failure_of_a_test_says_what_a_fault_may_mean() {
    let config = Config::new().scheduler(Scheduler::Lazy).protect_pages(true);
    let run = || {
        isolated!(config).unchecked().run(|| {
            start();
            put(to_device(), 2 * PAGE);
        });
    };
    if std::env::var_os("CUDA_SIM_TEST").is_some() {
        return run();
    }
    let payload = std::panic::catch_unwind(run).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.contains("a touch of pinned memory under a queued copy"), "{text}");
}

#[test]
fn what_a_page_can_t_show_is_reported_all_the_same() {
    let config = Config::new().scheduler(Scheduler::Lazy).protect_pages(true);
    isolated!(config).unchecked().run(|| {
        start();
        let (page, memory) = (pinned(PAGE), alloc(PAGE));
        ok!(cuMemcpyHtoDAsync_v2(memory, page.wrapping_add(1).cast(), 100, stream(1)));
        put(page, 50);
        ok!(cuCtxSynchronize());
        let report = cuda_sim::report();
        assert_eq!(report.count(FindingKind::HostSourceChanged), 1, "{report}");
    });
}
