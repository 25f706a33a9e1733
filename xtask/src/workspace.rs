//! Where the workspace keeps what the chores read and write.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the root of the workspace that this tool was built in.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Returns the folder that only `cargo xtask regen` writes.
pub(crate) fn generated() -> PathBuf {
    root().join("cuda-sys/src/generated")
}

/// Returns the folder of stand-ins for the C headers that CUDA's headers include.
pub(crate) fn stubs() -> PathBuf {
    root().join("xtask/stubs")
}

/// Returns the folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(chosen.unwrap_or_else(|| PathBuf::from("target")))
}

/// Starts a command of the cargo that runs this tool, in the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}
