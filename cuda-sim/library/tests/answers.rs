//! What a real driver was measured to answer, line by line.
//!
//! `answers/` has a program in C that asks many questions, `answers/h200.txt` what it printed on two
//! H200s (driver 580.159.04, CUDA 13.0). Here it runs on the simulator, which must answer the same
//! but for `answers/differs.txt`. That the program still prints `h200.txt` on such a machine, one
//! sees there:
//!
//! ```text
//! gcc -I/usr/local/cuda/include *.c -lcuda -o answers && ./answers | diff h200.txt -
//! ```
//!
//! `cargo xtask test` brings the header and names its folder. Without it, or without a C compiler,
//! the test is listed as ignored, and says so: what could not run has not passed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use support::{Place, errors};

/// Names the folder that holds `cuda.h` of CUDA 13.0.
const HEADERS: &str = "CUDA_SIM_HEADERS";

/// Is the machine that the answers are of. Kernels run no instructions, so that those that fail are
/// told to.
const MACHINE: &str =
    "devices=2;kernel=*:0;kernel=store:700;kernel=store_askew:716;kernel=trapped:719";

fn main() -> ExitCode {
    let trial = Trial::ignorable_test("the_simulator_answers_as_an_h200_does", run);
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers")
}

fn run() -> Result<Completion, Failed> {
    let Some(headers) = std::env::var_os(HEADERS).filter(|folder| !folder.is_empty()) else {
        let reason = format!("not run: {HEADERS} names no folder; `cargo xtask test` does");
        return Ok(Completion::ignored_with(reason));
    };
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        return Ok(Completion::ignored_with("not run: there is no C compiler"));
    }
    let place = Place::new();
    let program = compile(&place, &compiler, &headers)?;
    let mut command = Command::new(program);
    command.env("CUDA_SIM", MACHINE).env("CUDA_SIM_REPORT", "none");
    command.env_remove("CUDA_SIM_EXIT_STATUS").env_remove("CUDA_VISIBLE_DEVICES");
    place.search(&mut command);
    let output = command.output()?;
    let answers = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("{}: {}\n{answers}", output.status, errors(&output)).into());
    }
    compare(&answers)?;
    Ok(Completion::Completed)
}

/// Compiles the program into the place, and links it to the library there.
fn compile(place: &Place, compiler: &OsString, headers: &OsString) -> Result<PathBuf, Failed> {
    let mut include = OsString::from("-I");
    include.push(headers);
    let program = place.path().join("answers");
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-Wall", "-Wextra", "-Wno-deprecated-declarations", "-Werror"]);
    command.arg(include);
    let mut sources: Vec<_> = std::fs::read_dir(folder())?.flatten().map(|it| it.path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    command.args(sources).arg("-L").arg(place.path()).args(["-lcuda", "-o"]).arg(&program);
    let output = command.output()?;
    if !output.status.success() {
        return Err(errors(&output).into());
    }
    Ok(program)
}

/// Is a line of the device's, and the simulator's in its place.
type Difference = (String, String);

/// Compares topic by topic, line by line.
fn compare(answers: &str) -> Result<(), Failed> {
    let measured = std::fs::read_to_string(folder().join("h200.txt"))?;
    let mut found = Vec::new();
    for topic in topics(&measured).union(&topics(answers)) {
        let (theirs, ours) = (lines_of(&measured, topic), lines_of(answers, topic));
        if theirs.len() != ours.len() {
            let (theirs, ours) = (theirs.join("\n"), ours.join("\n"));
            return Err(format!("{topic}: not line by line\n{theirs}\n\n{ours}").into());
        }
        found.extend(theirs.into_iter().zip(ours).filter(|(their, our)| their != our));
    }
    let text = std::fs::read_to_string(folder().join("differs.txt"))?;
    let known = known(&text)?;
    let surplus = |of: &[Difference], beside: &[Difference]| -> String {
        let count =
            |of: &[Difference], one: &Difference| of.iter().filter(|&other| other == one).count();
        let more = of.iter().filter(|one| count(of, one) > count(beside, one));
        more.map(|(device, simulator)| format!("- {device}\n+ {simulator}\n")).collect()
    };
    let (new, gone) = (surplus(&found, &known), surplus(&known, &found));
    if !new.is_empty() || !gone.is_empty() {
        let text = format!("not in differs.txt:\n{new}\nin differs.txt, but not so:\n{gone}");
        return Err(text.into());
    }
    Ok(())
}

/// Returns what the lines are about.
fn topics(answers: &str) -> BTreeSet<&str> {
    answers.lines().filter_map(|line| line.split_once(": ")).map(|(topic, _)| topic).collect()
}

fn lines_of(answers: &str, topic: &str) -> Vec<String> {
    let is_its = |line: &&str| line.split_once(": ").is_some_and(|(its, _)| its == topic);
    answers.lines().filter(is_its).map(str::to_owned).collect()
}

/// Reads the known differences: paragraphs of a reason, in lines that begin with `#`, and of pairs of
/// lines, the device's with `-` and the simulator's with `+`.
fn known(text: &str) -> Result<Vec<Difference>, Failed> {
    let mut known = Vec::new();
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let (reason, lines): (Vec<_>, Vec<_>) =
            paragraph.lines().partition(|line| line.starts_with('#'));
        if reason.is_empty() || lines.len() % 2 != 0 {
            return Err(format!("differs.txt: no reason, or no pairs:\n{paragraph}").into());
        }
        for pair in lines.chunks_exact(2) {
            let [device, simulator] = pair else { continue };
            let pair = device.strip_prefix("- ").zip(simulator.strip_prefix("+ "));
            let (device, simulator) = pair.ok_or_else(|| format!("differs.txt: {pair:?}"))?;
            known.push((device.to_owned(), simulator.to_owned()));
        }
    }
    Ok(known)
}
