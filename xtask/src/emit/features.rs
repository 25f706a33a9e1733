//! The features of `cuda-sys`, one a library but the driver.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::Difference;
use crate::manifest::Library;
use crate::workspace;

const START: &str =
    "# One feature a library of xtask/libraries.toml; `cargo xtask regen` writes them.\n";
const END: &str = "# End of the features.\n";

/// Is `cuda-sys/Cargo.toml` as it should be.
pub(crate) struct Features {
    file: PathBuf,
    have: String,
    want: String,
}

/// Returns the manifest of `cuda-sys` with a feature for each library.
pub(crate) fn features(libraries: &[Library]) -> Result<Features> {
    let file = workspace::root().join("cuda-sys/Cargo.toml");
    let have = std::fs::read_to_string(&file)?;
    let marks = "cuda-sys/Cargo.toml has lost the lines around its features";
    let (before, rest) = have.split_once(START).context(marks)?;
    let (_, after) = rest.split_once(END).context(marks)?;
    let lines = libraries.iter().filter(|library| !library.is_driver());
    let lines: String = lines.map(|library| format!("{} = []\n", library.name)).collect();
    let want = format!("{before}{START}{lines}{END}{after}");
    Ok(Features { file, have, want })
}

impl Features {
    pub(crate) fn compare(&self) -> Result<Option<Difference>> {
        let name = PathBuf::from("../../Cargo.toml");
        Ok((self.have != self.want).then_some(Difference::Stale(name)))
    }

    pub(crate) fn write(&self) -> Result<Option<Difference>> {
        let difference = self.compare()?;
        if difference.is_some() {
            std::fs::write(&self.file, &self.want)?;
        }
        Ok(difference)
    }
}
