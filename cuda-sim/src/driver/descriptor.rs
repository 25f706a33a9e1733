//! File descriptors that stand for memory or a pool, as callers hand them over.

use std::ffi::{c_int, c_ulonglong, c_void};
use std::os::fd::OwnedFd;

use cuda_sys::{CUmemAllocationHandleType, CUresult};
use rustix::fs::{Mode, OFlags, open as open_file, readlink};

use crate::entry::{Answer, INVALID_VALUE};

/// Refuses all types of handles but file descriptors, and all flags: there are none (both measured of
/// exports).
pub(crate) fn check_kind(kind: CUmemAllocationHandleType, flags: c_ulonglong) -> Answer {
    match kind {
        CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR if flags == 0 => Ok(()),
        _ => Err(INVALID_VALUE),
    }
}

/// Tells whether a number, given as a pointer, is an open descriptor of this process.
pub(crate) fn is_open(descriptor: *mut c_void) -> bool {
    readlink(path(descriptor), Vec::new()).is_ok()
}

/// Returns the number of a descriptor that is given as a pointer.
pub(crate) fn number(descriptor: *mut c_void) -> Option<c_int> {
    c_int::try_from(descriptor.addr()).ok()
}

fn path(descriptor: *mut c_void) -> String {
    format!("/proc/self/fd/{}", descriptor.addr())
}

/// Opens what a descriptor of this process, given as a pointer, stands for, if it is a file in
/// memory whose name begins so. Returns the rest of the name too.
pub(crate) fn open(descriptor: *mut c_void, name: &str) -> Result<(OwnedFd, String), CUresult> {
    let path = path(descriptor);
    let link = readlink(&path, Vec::new()).map_err(|_| INVALID_VALUE)?;
    let link = link.to_string_lossy().into_owned();
    let rest = link.strip_prefix("/memfd:").and_then(|link| link.strip_prefix(name));
    let rest = rest.and_then(|rest| rest.split_once(' ')).ok_or(INVALID_VALUE)?.0;
    let file = open_file(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    Ok((file.map_err(|_| INVALID_VALUE)?, rest.to_owned()))
}
