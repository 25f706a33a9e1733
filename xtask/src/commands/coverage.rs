//! `cargo xtask coverage`: nothing that the headers declare is missing in `cuda-sys`, and each call
//! of the driver is annotated in `cuda-safe`, or excused.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::coverage;
use crate::fetch::{self, Cache, Wheel};
use crate::manifest::{self, Library};
use crate::workspace;

/// Compare what the headers declare with what the compiled cuda-sys binds
#[derive(Debug, Args)]
pub(crate) struct Coverage {
    /// Print the data of every symbol as JSON
    #[arg(long)]
    json: bool,
    /// Also the libraries whose header wheels are large
    #[arg(long)]
    long: bool,
    /// Look at the copy of cuda-sys in DIR
    #[arg(long = "crate", value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Look at the annotated calls in DIR
    #[arg(long, value_name = "DIR")]
    calls: Option<PathBuf>,
}

impl Coverage {
    pub(super) fn run(self) -> Result<ExitCode> {
        let cache = Cache::open()?;
        let wheels = fetch::wheels()?;
        let is_chosen = |library: &Library| {
            let mut own = wheels.iter().filter(|wheel| wheel.is_headers_of(&library.name, None));
            self.long || !own.any(Wheel::is_large)
        };
        let libraries: Vec<Library> =
            manifest::libraries()?.into_iter().filter(is_chosen).collect();
        coverage::prepare(&cache, &wheels, &libraries)?;
        let surveys = coverage::surveys(&cache, &wheels, &libraries)?;
        let declared = coverage::declared(&cache, &wheels, &surveys)?;
        let folder = self.folder.unwrap_or_else(|| workspace::root().join("cuda-sys"));
        let calls = self.calls.unwrap_or_else(|| workspace::root().join("cuda-safe/src/call"));
        let report = declared.look(&folder, &calls)?;
        if self.json {
            println!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            report.problems.iter().for_each(|problem| println!("{problem}"));
            print!("{}", report.table());
            println!("{}", simulated()?);
        }
        Ok(if report.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Returns how many of the driver's functions are simulated, as `cuda-sim`'s table says, which a test
/// there compares with the code.
fn simulated() -> Result<String> {
    let path = workspace::root().join("cuda-sim/SYMBOLS.md");
    let table = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let line = table.lines().find(|line| line.starts_with("simulated: "));
    let line = line.with_context(|| format!("{} has no line of how many", path.display()))?;
    Ok(line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::simulated;

    #[test]
    fn the_line_tells_how_many_are_simulated() {
        let line = simulated().unwrap();
        let numbers: Vec<u32> = line
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|part| part.parse().ok())
            .collect();
        let [simulated, all, partly] = numbers[..] else { panic!("{line}") };
        assert!(simulated >= 300 && partly < simulated && simulated < all, "{line}");
    }
}
