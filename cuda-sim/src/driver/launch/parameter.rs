//! The parameters of a launch: pointers to each, or a buffer of all.
//!
//! Unsafe, because it reads what a launch points to. How many bytes each parameter has is the image's
//! to say.

#![expect(unsafe_code, reason = "parameters are read through the pointers of a launch")]

use std::ffi::c_void;

use cuda_sys::{
    CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END, CUresult,
};

use crate::engine::binary::Entry;
use crate::engine::raw::{self, Extent, Rows};
use crate::entry::{INVALID_VALUE, Out};

/// How many words the list of a buffer may have before its end.
const MOST_WORDS: usize = 16;

/// Copies the parameters of a launch. Both ways at once are refused (measured).
pub(crate) fn parameters(
    entry: &Entry,
    pointers: &Out<*mut c_void>,
    extra: &Out<*mut c_void>,
) -> Result<Vec<u8>, CUresult> {
    match (pointers.is_null(), extra.is_null()) {
        (false, true) => each(entry, pointers),
        (true, false) => buffer(entry, extra),
        (true, true) if entry.parameters.is_empty() => Ok(Vec::new()),
        _ => Err(INVALID_VALUE),
    }
}

fn each(entry: &Entry, pointers: &Out<*mut c_void>) -> Result<Vec<u8>, CUresult> {
    let mut bytes = vec![0; entry.parameter_bytes()];
    for (index, parameter) in entry.parameters.iter().enumerate() {
        let value = taken(pointers.read_at(index)?, parameter.size)?;
        let place = bytes.get_mut(parameter.offset..).and_then(|rest| rest.get_mut(..value.len()));
        place.ok_or(INVALID_VALUE)?.copy_from_slice(&value);
    }
    Ok(bytes)
}

/// Copies a buffer. Of one that is too short the rest is zero here, one that is longer by a byte has
/// too many parameters (both measured).
fn buffer(entry: &Entry, extra: &Out<*mut c_void>) -> Result<Vec<u8>, CUresult> {
    let (mut address, mut size) = (None, None);
    let mut index = 0;
    loop {
        let word = extra.read_at(index)?;
        if word == CU_LAUNCH_PARAM_END {
            break;
        }
        let value = extra.read_at(index + 1)?;
        if word == CU_LAUNCH_PARAM_BUFFER_POINTER {
            address = Some(value);
        } else if word == CU_LAUNCH_PARAM_BUFFER_SIZE {
            size = Some(Out::<usize>::of_attribute(value).read()?);
        } else {
            return Err(INVALID_VALUE);
        }
        index += 2;
        if index > MOST_WORDS {
            return Err(INVALID_VALUE);
        }
    }
    let (Some(address), Some(size)) = (address, size) else { return Err(INVALID_VALUE) };
    let needs = entry.parameter_bytes();
    if size > needs {
        return Err(CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    }
    let mut bytes = taken(address, size)?;
    bytes.resize(needs, 0);
    Ok(bytes)
}

fn taken(address: *mut c_void, bytes: usize) -> Result<Vec<u8>, CUresult> {
    if bytes == 0 {
        return Ok(Vec::new());
    }
    if address.is_null() {
        return Err(INVALID_VALUE);
    }
    let extent = Extent { width: bytes, height: 1, depth: 1 };
    let rows = Rows::dense(address.expose_provenance(), extent);
    // SAFETY: the call's user promises that a parameter of the image's size can be read there.
    Ok(unsafe { raw::take(rows, extent) })
}
