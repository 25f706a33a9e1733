//! Which call was the first that was told of an error that lasts.
//!
//! After a kernel's error every call answers the same until the process ends, so that the code alone
//! says nothing about the call that has it.

use std::sync::{Mutex, PoisonError};

use cuda_sys::CUresult as C;

/// Lists the codes that last and were answered, each with the first call.
static TOLD: Mutex<Vec<(C, &'static str)>> = Mutex::new(Vec::new());

/// Is every code after which, by the manual, a process can do nothing more.
const LAST: [C; 11] = [
    C::CUDA_ERROR_ECC_UNCORRECTABLE,
    C::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    C::CUDA_ERROR_ILLEGAL_ADDRESS,
    C::CUDA_ERROR_LAUNCH_TIMEOUT,
    C::CUDA_ERROR_ASSERT,
    C::CUDA_ERROR_HARDWARE_STACK_ERROR,
    C::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    C::CUDA_ERROR_MISALIGNED_ADDRESS,
    C::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    C::CUDA_ERROR_INVALID_PC,
    C::CUDA_ERROR_LAUNCH_FAILED,
];

/// Notes the answer of a call; returns the call that had it first, if the answer lasts and there was
/// one.
pub(super) fn before(call: &'static str, code: C) -> Option<&'static str> {
    if !LAST.contains(&code) {
        return None;
    }
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let first = told.iter().find(|(known, _)| *known == code).map(|(_, first)| *first);
    if first.is_none() {
        told.push((code, call));
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lasts_has_a_first_call() {
        assert_eq!(before("one", C::CUDA_ERROR_INVALID_PC), None);
        assert_eq!(before("two", C::CUDA_ERROR_INVALID_PC), Some("one"));
        assert_eq!(before("one", C::CUDA_ERROR_OUT_OF_MEMORY), None);
        assert_eq!(before("two", C::CUDA_ERROR_OUT_OF_MEMORY), None);
    }
}
