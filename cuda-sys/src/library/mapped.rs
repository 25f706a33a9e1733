//! Which file of this process an address lies in.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::path::PathBuf;

/// Returns the file that is mapped where the address lies, on Linux.
#[cfg(target_os = "linux")]
pub(super) fn file_at(address: NonNull<c_void>) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let address = address.addr().get();
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        let path = rest.find('/').and_then(|at| rest.get(at..))?;
        (start..end).contains(&address).then(|| PathBuf::from(path))
    })
}

/// Elsewhere the name that was asked for has to do.
#[cfg(not(target_os = "linux"))]
pub(super) fn file_at(_address: NonNull<c_void>) -> Option<PathBuf> {
    None
}
