//! Which functions are unsafe while a stream is captured.
//!
//! Functions that take a stream or an event decide by it, where they are; all others are safe.

use std::sync::OnceLock;

use crate::table::{Function, SIMULATED};

/// The functions that are refused as unsafe, whatever their arguments: measured, or forms of
/// measured ones; those that end a context are the manual's.
const UNSAFE: &[&str] = &[
    "cuMemAlloc_v2",
    "cuMemAllocPitch_v2",
    "cuMemAllocManaged",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemAllocHost_v2",
    "cuMemFreeHost",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemPoolCreate",
    "cuMemPoolTrimTo",
    "cuMemPoolExportPointer",
    "cuMemPoolExportToShareableHandle",
    "cuModuleUnload",
    "cuLibraryUnload",
    "cuArrayCreate_v2",
    "cuArray3DCreate_v2",
    "cuArrayDestroy",
    "cuMipmappedArrayCreate",
    "cuMipmappedArrayDestroy",
    "cuCtxDestroy_v2",
    "cuDevicePrimaryCtxReset",
    "cuDevicePrimaryCtxReset_v2",
];

/// Tells whether a function is refused as unsafe.
pub(crate) fn is_unsafe(function: Function) -> bool {
    static ALL: OnceLock<Vec<bool>> = OnceLock::new();
    let all = ALL.get_or_init(|| SIMULATED.iter().map(|name| UNSAFE.contains(name)).collect());
    all.get(function.index()).copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::UNSAFE;

    #[test]
    fn every_name_is_one_of_the_drivers() {
        for name in UNSAFE {
            let is_known = cuda_sys::SYMBOLS.iter().any(|known| known.name.to_str() == Ok(name));
            assert!(is_known, "{name}");
        }
    }
}
