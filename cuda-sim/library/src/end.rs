//! Writes the report when the process ends.
//!
//! It runs among the library's own finalisers: after everything that the program has registered for
//! its end, and after the finalisers of whatever needs the driver. What those free is no leak.
//!
//! Unsafe, because the loader calls it and because the process is ended by C's functions.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use cuda_sim::Report;

use crate::settings::{Destination, Settings};
use crate::start::already_started;

// SAFETY: the loader calls each entry of this section once, without arguments, before it unmaps the
// library.
#[unsafe(link_section = ".fini_array")]
#[used]
static END: extern "C" fn() = end;

extern "C" fn end() {
    let Some(started) = already_started() else {
        // That nothing was called is a report too, if one was asked for.
        if let Ok(settings) = Settings::from_environment() {
            write(&settings, &cuda_sim::report());
        }
        return;
    };
    // What a forked child inherits is its parent's, and reported there.
    if started.process != std::process::id() {
        return;
    }
    let report = cuda_sim::finish();
    write(&started.settings, &report);
    if let Some(status) = started.settings.exit_status.filter(|_| !report.is_clean()) {
        end_with(status);
    }
}

/// Ends the process, which is ending, with another status.
fn end_with(status: u8) {
    // SAFETY: null means every stream of C's library, which writes them after the finalisers only.
    let _ = unsafe { libc::fflush(std::ptr::null_mut()) };
    // SAFETY: the process is at its end: all that remains is to leave.
    unsafe { libc::_exit(status.into()) }
}

fn write(settings: &Settings, report: &Report) {
    match &settings.destination {
        Destination::Nowhere => {}
        Destination::IfFound if report.is_clean() => {}
        Destination::IfFound | Destination::StandardError => say(&text(report)),
        Destination::File(path) => {
            let is_for_programs = path.extension().is_some_and(|end| end == "jsonl");
            let whole = if is_for_programs { objects(report) } else { lines(&text(report)) };
            if let Err(error) = append(path, &whole) {
                say(&format!("{}: {error}\n{}", path.display(), text(report)));
            }
        }
    }
}

/// Writes the report as lines of JSON, before which one names the process, and one each call of the log.
fn objects(report: &Report) -> String {
    let calls: String = cuda_sim::calls().iter().map(cuda_sim::Call::to_json_line).collect();
    format!(
        "{{\"type\":\"process\",\"process\":{},\"calls\":{}}}\n{calls}{}",
        std::process::id(),
        cuda_sim::call_count(),
        report.to_json_lines()
    )
}

/// Writes the report with what it is about.
fn text(report: &Report) -> String {
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(Path::file_name).unwrap_or_default();
    let count = report.findings.len();
    let mut text = format!(
        "{} (process {}): {count} {} after {} driver calls\n",
        program.display(),
        std::process::id(),
        if count == 1 { "finding" } else { "findings" },
        cuda_sim::call_count(),
    );
    for call in cuda_sim::calls() {
        // Several processes may write to one place. Writing to a string does not fail.
        let _ = writeln!(text, "process {}: {call}", std::process::id());
    }
    let _ = write!(text, "{report}");
    text
}

/// Marks each line as the simulator's, among those of the program.
fn lines(text: &str) -> String {
    text.lines().fold(String::new(), |lines, line| lines + "cuda-sim: " + line + "\n")
}

/// Writes a text to the standard error.
pub(crate) fn say(text: &str) {
    // Without a standard error there is nobody to tell.
    let _ = io::stderr().write_all(lines(text).as_bytes());
}

/// Adds to a file that several processes may write to, in one piece.
fn append(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}
