//! What each call answers while a stream is captured, and whether the capture lives on: the table
//! that was measured, row by row, in each mode, from both threads, exchanged or not, and with a
//! blocking and a non-blocking stream.
//!
//! A row that differs is named with all its cells; the rest of the table runs all the same.

#![expect(clippy::unwrap_used, reason = "bodies that several tests run are tests too")]

mod capture;
mod common;
mod mapped;
mod stream_memory;

use std::fmt::Write as _;

use capture::rows::Row;
use capture::scene::{Handle, Scene};
use capture::{kernel_rows, memory_rows, rows};
use common::*;
use cuda_sim::{Config, isolated, on_every_scheduler};
use cuda_sys::*;

/// Returns all rows.
fn all_rows() -> Vec<&'static Row> {
    rows::ROWS.iter().chain(kernel_rows::ROWS).chain(memory_rows::ROWS).collect()
}

/// Is what a call's answer does to the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The call succeeds.
    Fine,
    /// It answers the code, and the capture goes on.
    Refused(u32),
    /// It answers the code, and the capture is dead.
    Fatal(u32),
}

/// Is how a row's call is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Refused as unsafe.
    Unsafe,
    /// Always the same answer.
    Always(Expected),
    /// On the legacy stream; what it is where the captured stream is non-blocking.
    Legacy(&'static Class),
    /// As that, but it only asks.
    AsksLegacy,
}

/// Is a cell of the table.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mode: u32,
    is_own: bool,
    is_exchanged: bool,
    is_blocking: bool,
}

impl Class {
    fn expected(self, cell: Cell) -> Expected {
        match self {
            Self::Always(expected) => expected,
            Self::Unsafe => {
                let is_hit = match cell.mode {
                    0 => true,
                    1 => cell.is_own,
                    _ => false,
                };
                if is_hit && !cell.is_exchanged { Expected::Fatal(900) } else { Expected::Fine }
            }
            Self::Legacy(_) if cell.is_blocking => Expected::Fatal(906),
            Self::Legacy(class) => class.expected(cell),
            Self::AsksLegacy if cell.is_blocking => Expected::Refused(906),
            Self::AsksLegacy => Expected::Fine,
        }
    }
}

/// Makes a row's call, from the thread and with the mode that the cell says.
fn call(row: &Row, scene: &mut Scene, cell: Cell) -> u32 {
    let run = move |scene: &mut Scene| {
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        if cell.is_exchanged {
            ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
        }
        let answer = (row.call)(scene);
        if cell.is_exchanged {
            ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
        }
        answer
    };
    if cell.is_own {
        return run(scene);
    }
    std::thread::scope(|threads| {
        threads
            .spawn(|| {
                ok!(cuCtxSetCurrent(scene.context.0));
                run(scene)
            })
            .join()
            .unwrap()
    })
}

/// Runs one cell, and returns what happened if it is not what was expected.
fn differs(row: &Row, scene: &mut Scene, cell: Cell) -> Option<String> {
    (row.before)(scene);
    let captured = scene.captured.0;
    ok!(cuStreamBeginCapture_v2(captured, CUstreamCaptureMode(cell.mode)));
    ok!(cuMemsetD8Async(scene.memory, 0, 16, captured));
    let answer = call(row, scene, cell);
    let mut status = CUstreamCaptureStatus(9);
    ok!(cuStreamIsCapturing(captured, &mut status));
    let mut graph = std::ptr::null_mut();
    let end = code!(cuStreamEndCapture(captured, &mut graph));
    if !graph.is_null() {
        ok!(cuGraphDestroy(graph));
    }
    (row.after)(scene, answer);
    ok!(cuCtxSynchronize());
    let found = (answer, status.0, end, !graph.is_null());
    let wanted = match row.class.expected(cell) {
        Expected::Fine => (0, 1, 0, true),
        Expected::Refused(code) => (code, 1, 0, true),
        Expected::Fatal(code) => (code, 2, 901, false),
    };
    (found != wanted).then(|| format!("{cell:?}: {found:?} instead of {wanted:?}"))
}

fn table(is_blocking: bool) {
    let mut scene = Scene::new(is_blocking);
    let (mut wrong, mut cells) = (String::new(), 0);
    for row in all_rows() {
        let mut rows = String::new();
        for mode in 0..3 {
            for (is_own, is_exchanged) in
                [(true, false), (false, false), (true, true), (false, true)]
            {
                let cell = Cell { mode, is_own, is_exchanged, is_blocking };
                cells += 1;
                if let Some(text) = differs(row, &mut scene, cell) {
                    writeln!(rows, "    {text}").unwrap();
                }
            }
        }
        if !rows.is_empty() {
            write!(wrong, "  {}\n{rows}", row.name).unwrap();
        }
    }
    assert_eq!(cells, all_rows().len() * 12);
    assert!(wrong.is_empty(), "rows that differ:\n{wrong}");
    scene.end();
}

#[test]
fn a_non_blocking_stream() {
    on_every_scheduler!(Config::new(), || table(false));
}

#[test]
fn a_blocking_stream() {
    on_every_scheduler!(Config::new(), || table(true));
}

#[test]
fn every_row_stands_once() {
    for row in all_rows() {
        assert_eq!(
            all_rows().iter().filter(|other| other.name == row.name).count(),
            1,
            "{}",
            row.name
        );
    }
}

#[test]
fn two_captures_are_hit_as_their_modes_say() {
    isolated!(Config::new(), || {
        start();
        let streams = [stream(1), stream(1), stream(1)];
        for (mode, &stream) in (0..).zip(&streams) {
            ok!(cuStreamBeginCapture_v2(stream, CUstreamCaptureMode(mode)));
        }
        let hit = |threads: &[CUstream]| {
            let mut statuses = Vec::new();
            for &stream in threads {
                let mut status = CUstreamCaptureStatus(9);
                ok!(cuStreamIsCapturing(stream, &mut status));
                statuses.push(status.0);
            }
            statuses
        };
        let context = Handle(current());
        // A thread that exchanged its mode for THREAD_LOCAL minds its own captures only.
        std::thread::scope(|threads| {
            threads.spawn(|| {
                ok!(cuCtxSetCurrent({ &context }.0));
                let mut mode = CUstreamCaptureMode(1);
                ok!(cuThreadExchangeStreamCaptureMode(&mut mode));
                free(alloc(64));
            });
        });
        assert_eq!(hit(&streams), [1, 1, 1]);
        let mut memory = CUdeviceptr(0);
        assert_eq!(code!(cuMemAlloc_v2(&mut memory, 64)), 900);
        assert_eq!(hit(&streams), [2, 2, 1]);
        for (stream, answer) in streams.into_iter().zip([901, 901, 0]) {
            let mut graph = std::ptr::null_mut();
            assert_eq!(code!(cuStreamEndCapture(stream, &mut graph)), answer);
            assert_eq!(graph.is_null(), answer != 0);
            if !graph.is_null() {
                ok!(cuGraphDestroy(graph));
            }
            ok!(cuStreamDestroy_v2(stream));
        }
        end();
    });
}

fn current() -> CUcontext {
    let mut context = std::ptr::null_mut();
    ok!(cuCtxGetCurrent(&mut context));
    context
}
