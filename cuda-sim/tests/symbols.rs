//! What the test binaries export, and what a call costs.

#![expect(clippy::indexing_slicing, reason = "a file that is cut short fails the test")]

mod common;

use std::collections::HashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use common::*;
use cuda_sim::{Config, isolated};
use cuda_sys::*;

/// Reads a number of `bytes` bytes.
fn number(file: &[u8], at: usize, bytes: usize) -> usize {
    file[at..at + bytes].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// Returns the names that the symbol tables of a 64-bit little-endian ELF file define: what
/// `nm --defined-only` and `nm -D --defined-only` print.
fn defined(file: &[u8]) -> HashSet<&[u8]> {
    assert_eq!(file[..6], *b"\x7fELF\x02\x01");
    let (table, size, count) = (number(file, 40, 8), number(file, 58, 2), number(file, 60, 2));
    let section = |index: usize| table + index * size;
    let mut names = HashSet::new();
    for index in 0..count {
        let header = section(index);
        // SHT_SYMTAB and SHT_DYNSYM
        if ![2, 11].contains(&number(file, header + 4, 4)) {
            continue;
        }
        let (start, length) = (number(file, header + 24, 8), number(file, header + 32, 8));
        let strings = number(file, section(number(file, header + 40, 4)) + 24, 8);
        for symbol in (start..start + length).step_by(24) {
            if number(file, symbol + 6, 2) != 0 {
                let name = &file[strings + number(file, symbol, 4)..];
                names.insert(name.split(|&byte| byte == 0).next().unwrap_or_default());
            }
        }
    }
    names
}

#[test]
fn no_binary_defines_a_symbol_of_the_driver() {
    let binary = std::env::current_exe().unwrap();
    let folder = binary.parent().unwrap();
    let mut looked_at = 0;
    // Every test of this package that is built.
    for name in std::fs::read_dir(folder).unwrap() {
        let path = name.unwrap().path();
        let stem = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_test = path.extension().is_none()
            && TESTS
                .iter()
                .any(|test| stem.strip_prefix(test).is_some_and(|rest| rest.len() == 17));
        let Ok(file) = std::fs::read(&path) else { continue };
        if !is_test || file.get(..4) != Some(b"\x7fELF") {
            continue;
        }
        let names = defined(&file);
        assert!(names.contains(&b"main"[..]), "{}", path.display());
        for symbol in SYMBOLS {
            assert!(!names.contains(symbol.name.to_bytes()), "{}: {symbol:?}", path.display());
        }
        looked_at += 1;
    }
    assert!(looked_at > 0);
}

/// The test binaries of this package.
const TESTS: &[&str] = &[
    "cuda_sim",
    "answers",
    "copies",
    "failures",
    "ipc",
    "ipc_events",
    "lives",
    "random",
    "reports",
    "schedule",
    "symbols",
    "threads",
    "waiting",
];

/// Returns the least time of a call over several rounds.
fn least(mut call: impl FnMut()) -> Duration {
    const CALLS: u32 = 2000;
    (0..20)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..CALLS {
                call();
            }
            start.elapsed() / CALLS
        })
        .min()
        .unwrap_or(Duration::MAX)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are looked at")]
fn an_empty_call_costs_well_under_a_microsecond() {
    isolated!(Config::new(), || {
        start();
        let mut context = std::ptr::null_mut();
        let current = least(|| ok!(cuCtxGetCurrent(black_box(&mut context))));
        let (mine, done, memory, other) = (stream(1), event(), alloc(4096), alloc(4096));
        let query = least(|| ok!(cuStreamQuery(black_box(mine))));
        let fill = least(|| ok!(cuMemsetD8Async(memory, 0, 256, mine)));
        let copy = least(|| ok!(cuMemcpyDtoDAsync_v2(other, memory, 256, mine)));
        let record = least(|| ok!(cuEventRecord(done, mine)));
        let allocate = least(|| free(alloc(4096)));
        println!(
            "cuCtxGetCurrent {current:?}, cuStreamQuery {query:?}, cuMemsetD8Async {fill:?}, \
             cuMemcpyDtoDAsync {copy:?}, cuEventRecord {record:?}, cuMemAlloc + Free {allocate:?}"
        );
        // Debug builds are slower, and a busy machine is too.
        assert!(current < Duration::from_micros(5), "{current:?}");
        ok!(cuStreamDestroy_v2(mine));
        ok!(cuEventDestroy_v2(done));
        free(memory);
        free(other);
        end();
    });
}
