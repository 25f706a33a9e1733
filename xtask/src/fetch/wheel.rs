//! Verifies a wheel by its hash and unpacks it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};
use zip::ZipArchive;

use super::lock::{Provides, Wheel};

/// Returns the file's SHA-256 in hexadecimal digits.
pub(super) fn sha256(file: &Path) -> Result<String> {
    let mut hasher = Sha256::new();
    let mut opened = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    io::copy(&mut opened, &mut HashWriter(&mut hasher))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Lets `io::copy` feed a hash.
struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses a file whose hash is not the locked one.
pub(super) fn verify(wheel: &Wheel, file: &Path) -> Result<()> {
    let have = sha256(file)?;
    if have != wheel.sha256 {
        bail!(
            "{}: bad hash: xtask/headers.lock has sha256 {}, the file has {have}",
            wheel.file,
            wheel.sha256
        );
    }
    Ok(())
}

/// Unpacks what is needed of a wheel: all of a package that Python runs, else the headers,
/// declarations and shared libraries.
pub(super) fn unpack(wheel: &Wheel, file: &Path, target: &Path) -> Result<()> {
    let unreadable = || format!("{} is no readable wheel", file.display());
    let mut archive = ZipArchive::new(File::open(file)?).with_context(unreadable)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).with_context(unreadable)?;
        let wanted = |path: &PathBuf| wheel.provides == Provides::Numpy || is_wanted(path);
        let Some(path) = entry.enclosed_name().filter(wanted).filter(|_| entry.is_file()) else {
            continue;
        };
        let path = target.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut unpacked = File::create(&path)?;
        io::copy(&mut entry, &mut unpacked).with_context(unreadable)?;
    }
    Ok(())
}

fn is_wanted(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Extension modules of Python are as large as they are useless to who reads headers.
    let shared_library = name.contains(".so") && !name.contains(".cpython-");
    name.ends_with(".h") || name.ends_with(".pxd") || shared_library
}
