use std::time::{Duration, Instant};

use cuda_sys::*;

use crate::common::*;
use crate::remote::*;
use crate::table;

#[test]
fn answers() {
    table!("events between processes", |rows| {
        start();
        let mut plain = std::ptr::null_mut();
        rows.is("INTERPROCESS with timing", code!(cuEventCreate(&mut plain, 4)), 1);
        ok!(cuEventCreate(&mut plain, 2));
        let answer = code!(cuIpcGetEventHandle(&mut CUipcEventHandle::zeroed(), plain));
        rows.is("handle of a plain event", answer, 400);
        let (event, handle) = shared_event();
        rows.is("open in the same process", open_event(handle).0, 201);
        let mut remote = Remote::start();
        let imported = remote.open_event(handle);
        for order in ["event-query", "event-wait", "event-record", "event-synchronize"] {
            rows.is(&format!("imported: {order}"), remote.code(&format!("{order} {imported}")), 0);
        }
        rows.is("imported: handle", remote.code(&format!("event-handle {imported}")), 400);
        rows.is("imported: elapsed", remote.code(&format!("event-elapsed {imported}")), 400);
        ok!(cuEventDestroy_v2(event));
        let after = remote.code(&format!("event-query {imported}"));
        rows.is("query after the exporter destroyed it", after, 0);
        let after = remote.code(&format!("event-record {imported}"));
        rows.is("record after the exporter destroyed it", after, 0);
        remote.end();
        ok!(cuEventDestroy_v2(plain));
        end();
    });
}

#[test]
fn at_once() {
    table!("events between processes: how many", |rows| {
        start();
        let mut events = Vec::new();
        let answer = loop {
            let mut event = std::ptr::null_mut();
            match code!(cuEventCreate(&mut event, 6)) {
                0 => events.push(event),
                code => break code,
            }
        };
        rows.is("so many live, and the next answers", (events.len(), answer), (4096, 2));
        for event in events {
            ok!(cuEventDestroy_v2(event));
        }
        end();
    });
}

/// Waits until an event is done, or the time is over.
fn is_done_within(event: CUevent, limit: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < limit {
        if code!(cuEventQuery(event)) == 0 {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

#[test]
fn no_one_dies() {
    table!("death beside a recorded event: no one dies", |rows| {
        start();
        let (waiting, behind) = (stream(1), event());
        let mut remote = Remote::start();
        let handle = remote.record_behind_work(700);
        let (answer, imported) = open_event(handle);
        assert_eq!(answer, 0);
        rows.is("query while pending", code!(cuEventQuery(imported)), 600);
        rows.is("cuStreamWaitEvent", code!(cuStreamWaitEvent(waiting, imported, 0)), 0);
        ok!(cuEventRecord(behind, waiting));
        let limit = Duration::from_secs(5);
        rows.is("fires, and the wait ends", is_done_within(behind, limit), true);
        ok!(cuEventDestroy_v2(imported));
        ok!(cuEventDestroy_v2(behind));
        ok!(cuStreamDestroy_v2(waiting));
        remote.end();
        end();
    });
}

#[test]
fn exporter_killed() {
    table!("death beside a recorded event: exporter killed", |rows| {
        start();
        let (waiting, other, behind) = (stream(1), stream(1), event());
        let mut remote = Remote::start();
        let handle = remote.record_behind_work(700);
        let (answer, imported) = open_event(handle);
        assert_eq!(answer, 0);
        ok!(cuStreamWaitEvent(waiting, imported, 0));
        ok!(cuEventRecord(behind, waiting));
        remote.kill();
        let limit = Duration::from_secs(2);
        rows.is("the waiting stream ends", is_done_within(behind, limit), false);
        rows.is("the event", code!(cuEventQuery(imported)), 600);
        rows.is("a new record of it", code!(cuEventRecord(imported, other)), 0);
        rows.is("that stream", code!(cuStreamQuery(other)), 600);
        let third = stream(1);
        let mut address = CUdeviceptr(0);
        ok!(cuMemAllocAsync(&mut address, 4096, third));
        ok!(cuMemsetD8Async(address, 1, 4096, third));
        ok!(cuMemFreeAsync(address, third));
        rows.is("other streams work", code!(cuStreamSynchronize(third)), 0);
        let mut plain = CUdeviceptr(0);
        rows.is("cuMemAlloc", code!(cuMemAlloc_v2(&mut plain, 4096)), 0);
        rows.is("cuEventDestroy of it", code!(cuEventDestroy_v2(imported)), 0);
        rows.is("cuStreamDestroy of the stuck", code!(cuStreamDestroy_v2(waiting)), 0);
        rows.is("own event behind the wait", code!(cuEventQuery(behind)), 600);
        // Freeing memory or ending the context hangs now: the only way out is to end.
    });
}

#[test]
fn importer_that_recorded_is_killed() {
    table!("death beside a recorded event: importer recorded, killed", |rows| {
        start();
        let waiting = stream(1);
        let (event, handle) = shared_event();
        let mut remote = Remote::start();
        assert_eq!(remote.record_imported_behind_work(handle, 700), 0);
        rows.is("query while pending", code!(cuEventQuery(event)), 600);
        remote.kill();
        ok!(cuStreamWaitEvent(waiting, event, 0));
        let limit = Duration::from_secs(2);
        rows.is("the event fires", is_done_within(event, limit), false);
        rows.is("the waiting stream", code!(cuStreamQuery(waiting)), 600);
    });
}
