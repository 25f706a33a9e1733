//! The workspace's chores. This crate depends on no other member, so that it builds when they don't.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks")]

mod api;
mod commands;
mod coverage;
mod emit;
mod fetch;
mod libclang;
mod manifest;
mod operations;
mod release;
mod reports;
mod test_programs;
#[cfg(test)]
mod tests;
mod workspace;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match commands::Chore::parse().run() {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("error: {failure:#}");
            ExitCode::FAILURE
        }
    }
}
