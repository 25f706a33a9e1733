//! Fake drivers: shared libraries that export what a test wants, built by the Rust compiler.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Is a shared library to be built: functions in Rust, by symbol.
#[derive(Clone, Default)]
pub(crate) struct FakeDriver {
    source: String,
}

impl FakeDriver {
    /// Starts with a library that exports nothing.
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    /// Starts with `cuInit` and `cuDriverGetVersion`, which answers `version`.
    pub(crate) fn of_version(version: i32) -> Self {
        Self::empty().returning("cuInit", 0).with(&format!(
            "fn cuDriverGetVersion(version: *mut i32) -> u32 {{
                unsafe {{ *version = {version} }};
                0
            }}"
        ))
    }

    /// Adds a function: its text from `fn` on.
    pub(crate) fn with(mut self, function: &str) -> Self {
        let _ = writeln!(self.source, "#[unsafe(no_mangle)] pub unsafe extern \"C\" {function}");
        self
    }

    /// Adds a function that takes anything and returns `status`.
    pub(crate) fn returning(self, symbol: &str, status: u32) -> Self {
        self.with(&format!("fn {symbol}() -> u32 {{ {status} }}"))
    }

    /// Builds the library under that file name; it may link to those built there before.
    pub(crate) fn build(&self, folder: &Path, name: &str) -> PathBuf {
        let source = folder.join(format!("{name}.rs"));
        let library = folder.join(name);
        std::fs::write(&source, format!("#![allow(non_snake_case)]\n{}", self.source)).unwrap();
        let output = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--crate-type=cdylib", "--crate-name=fake", "--edition=2024", "-Cpanic=abort"])
            .arg(format!("-Clink-arg=-Wl,-soname,{name}"))
            .arg("-L")
            .arg(folder)
            .arg("-o")
            .args([&library, &source])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        library
    }
}
