//! Puts the library where a loader finds it, and runs tests in processes that load it.

#![allow(dead_code, unused_macros, unused_imports, reason = "not every test uses all of it")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Names the test whose body a process is started for.
const INSIDE: &str = "CUDA_SIM_LIBRARY_TEST";

/// Returns the library that cargo built for this test.
pub(crate) fn library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let name = "libcuda_sim_library.so";
    let places = [folder.join(name), folder.parent().unwrap().join(name)];
    places.into_iter().find(|path| path.is_file()).unwrap()
}

/// Is a folder with the library by the names of the driver.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        symlink(library(), folder.path().join("libcuda.so.1")).unwrap();
        symlink("libcuda.so.1", folder.path().join("libcuda.so")).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Lets a program find the library as the system's loader does.
    pub(crate) fn search(&self, command: &mut Command) {
        command.env("LD_LIBRARY_PATH", self.path());
    }

    /// Lets the process write its report into a file of this place.
    pub(crate) fn report_to_file(&self, command: &mut Command) {
        command.env("CUDA_SIM_REPORT", self.report());
    }

    /// Returns the file with the reports of all processes that were asked for one.
    pub(crate) fn report(&self) -> PathBuf {
        self.path().join("report.txt")
    }
}

/// Carries what a second process of a test is told.
pub(crate) const INSIDE_PEER: &str = "CUDA_SIM_LIBRARY_PEER";

/// Tells whether this process was started to run the body of that test.
pub(crate) fn is_inside(test: &str) -> bool {
    std::env::var(INSIDE).is_ok_and(|name| name == test)
}

/// Returns the command that runs the body of a test in a process of its own, with nothing of what
/// steers the simulator or cuda-sys in its environment.
pub(crate) fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(INSIDE, test);
    for name in ["CUDA_SIM", "CUDA_SIM_REPORT", "CUDA_SIM_EXIT_STATUS", "CUDA_SYS_DRIVER"] {
        command.env_remove(name);
    }
    command.env_remove("LD_LIBRARY_PATH").env_remove("CUDA_VISIBLE_DEVICES");
    command
}

/// Returns what a process wrote to its standard error.
pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the body in a process that finds the library on its search path: in order and with
/// nothing found at its end.
pub(crate) fn run_on_library(test: &str, body: impl FnOnce()) {
    if is_inside(test) {
        return body();
    }
    let place = Place::new();
    let mut command = again(test);
    place.search(&mut command);
    place.report_to_file(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, errors(&output));
    let report = std::fs::read_to_string(place.report()).unwrap();
    assert!(report.contains("cuda-sim: nothing was found"), "{report}");
    assert!(!report.contains(" after 0 driver calls"), "{report}");
}

/// Runs the rest of a test in a process that loads the library.
macro_rules! on_library {
    ($body:expr) => {
        $crate::support::run_on_library(&$crate::support::name!(), $body)
    };
}

/// Is the name of the test that it stands in, as `cargo test` has it.
macro_rules! name {
    () => {{
        fn inside() {}
        let path = std::any::type_name_of_val(&inside);
        let path = path.split_once("::").map_or(path, |(_, path)| path);
        path.strip_suffix("::inside").unwrap().trim_end_matches("::{{closure}}").to_owned()
    }};
}

pub(crate) use {name, on_library};
