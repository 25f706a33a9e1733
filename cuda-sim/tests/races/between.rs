//! The race between two real processes: one touches memory that work of the other still writes.

use std::ffi::c_void;
use std::ptr;
use std::sync::mpsc::{self, Sender};

use cuda_sim::{FindingKind, Report, role};

use crate::common::*;
use crate::kinds::BYTES;
use crate::remote::*;

/// Is what orders the write of this process and the read of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Nothing,
    /// The handle is made when the write is queued.
    NothingAndALateHandle,
    /// Nothing, but the other process reads other bytes.
    OtherBytes,
    AnEventRecordedTooEarly,
    AnEvent,
    AnEventThatTheHostWaitsFor,
    ThisHost,
    AHostFunction,
}

impl Order {
    pub(crate) const RACES: [Self; 3] =
        [Self::Nothing, Self::NothingAndALateHandle, Self::AnEventRecordedTooEarly];
    pub(crate) const TWINS: [Self; 5] = [
        Self::OtherBytes,
        Self::AnEvent,
        Self::AnEventThatTheHostWaitsFor,
        Self::ThisHost,
        Self::AHostFunction,
    ];
}

/// Is how a program went.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) is_right: bool,
    /// How many races the other process found, and its report.
    pub(crate) races: u64,
    pub(crate) text: String,
}

/// Serves in the second process, and runs `body` in all others.
pub(crate) fn beside_another(body: impl FnOnce()) {
    if role().as_deref() == Some("remote") { serve() } else { body() }
}

extern "system" fn tell(data: *mut c_void) {
    let sender: *const Sender<()> = data.cast();
    // SAFETY: the program keeps the sender until the context has no more work.
    unsafe { &*sender }.send(()).unwrap();
}

/// Writes new bytes here, and reads them in another process.
pub(crate) fn written_here_and_read_there(order: Order) -> Outcome {
    start();
    let (memory, writer) = (alloc(2 * BYTES), stream(1));
    write(memory, &[1; 2 * BYTES]);
    ok!(cuCtxSynchronize());
    let (done, handle) = shared_event();
    let early = (order != Order::NothingAndALateHandle).then(|| handle_of(memory).1);
    let (sender, told) = mpsc::channel::<()>();
    let mut remote = Remote::start();
    let theirs = remote.open_event(handle);
    let mut there = early.map(|handle| remote.open(handle).1);
    if order == Order::AnEventRecordedTooEarly {
        ok!(cuEventRecord(done, writer));
    }
    ok!(cuMemsetD8Async(memory, 2, BYTES, writer));
    match order {
        Order::Nothing | Order::OtherBytes => {}
        Order::NothingAndALateHandle => there = Some(remote.open(handle_of(memory).1).1),
        Order::AnEventRecordedTooEarly => {
            assert_eq!(remote.code(&format!("event-wait {theirs}")), 0);
        }
        Order::AnEvent | Order::AnEventThatTheHostWaitsFor => {
            ok!(cuEventRecord(done, writer));
            let waits = if order == Order::AnEvent { "event-wait" } else { "event-synchronize" };
            assert_eq!(remote.code(&format!("{waits} {theirs}")), 0);
        }
        Order::ThisHost => ok!(cuStreamSynchronize(writer)),
        Order::AHostFunction => {
            ok!(cuLaunchHostFunc(writer, Some(tell), ptr::from_ref(&sender).cast_mut().cast()));
            told.recv().unwrap();
        }
    }
    let there = there.unwrap();
    let (from, expected) =
        if order == Order::OtherBytes { (there + BYTES as u64, 1) } else { (there, 2) };
    let is_right = remote.ask(&format!("read {from} {BYTES}"))[1] == expected.to_string();
    let report = remote.ask("races");
    ok!(cuCtxSynchronize());
    assert_eq!(remote.code(&format!("close {there}")), 0);
    remote.end();
    let here = cuda_sim::report();
    assert!(here.findings.is_empty(), "{here}");
    Outcome { is_right, races: report[0].parse().unwrap(), text: report[1..].join(" ") }
}

/// Writes in the other process, and reads here, where the report is looked at.
pub(crate) fn written_there_and_read_here(corrected: bool) -> Report {
    start();
    let memory = alloc(BYTES);
    let mut remote = Remote::start();
    let (_, there) = remote.open(handle_of(memory).1);
    assert_eq!(remote.code(&format!("fill-later {there} 2 {BYTES}")), 0);
    if corrected {
        assert_eq!(remote.code("synchronize"), 0);
    }
    read(memory, BYTES);
    let report = cuda_sim::report();
    assert_eq!(remote.code(&format!("close {there}")), 0);
    remote.end();
    report
}

/// Checks a race as the other process reports it.
pub(crate) fn check_race(order: Order, must_be_wrong: bool) {
    let outcome = written_here_and_read_there(order);
    assert!(outcome.races > 0, "{outcome:?}");
    assert!(!(must_be_wrong && outcome.is_right), "{outcome:?}");
    let process = std::process::id();
    for part in [
        "earlier: cuMemsetD8Async's dstDevice on non-blocking stream #".to_owned(),
        format!("of process {process} writes {BYTES} bytes at 0x"),
        format!("the work of process {process} and of this one, "),
        "cuMemcpyDtoH_v2's srcDevice on ".to_owned(),
    ] {
        assert!(outcome.text.contains(&part), "{part}: {outcome:?}");
    }
}

/// Checks a twin.
pub(crate) fn check_twin(order: Order) {
    let outcome = written_here_and_read_there(order);
    assert!(outcome.is_right && outcome.races == 0, "{outcome:?}");
    assert!(outcome.text.starts_with("nothing was found"), "{outcome:?}");
}

/// Checks what this process finds of another's writes.
pub(crate) fn check_here(corrected: bool) {
    let report = written_there_and_read_here(corrected);
    assert_eq!(report.count(FindingKind::Race), usize::from(!corrected), "{report}");
    assert_eq!(report.findings.len(), usize::from(!corrected), "{report}");
}
