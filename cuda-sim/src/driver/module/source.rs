//! The bytes of images: a call names their first, and they say themselves where they end.
//!
//! Unsafe, because it reads what lies at an address of the program's. How much may be read there is
//! asked of the system first, so that an image that lies about its length is refused.

#![expect(unsafe_code, reason = "an image is read from the address that a call names")]

use std::ffi::c_void;

use cuda_sys::CUresult;

use crate::engine::binary::{cubin, fatbin, linked};
use crate::engine::raw::{self, Extent, Rows};
use crate::entry::INVALID_VALUE;

/// Begins a structure that points to a fat binary, as compilers write one.
const WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();

/// Where in the structure the pointer is, and how long it is.
const POINTER_AT: usize = 8;
const WRAPPER_LENGTH: usize = 24;

/// Copies an image, without the zero behind a text.
pub(crate) fn image_at(address: *const c_void) -> Result<Vec<u8>, CUresult> {
    if address.is_null() {
        return Err(INVALID_VALUE);
    }
    let place = Place::new(address.expose_provenance());
    if place.begins_with(&WRAPPER) {
        let wrapper = place.bytes(WRAPPER_LENGTH).ok_or(CUresult::CUDA_ERROR_INVALID_IMAGE)?;
        let pointer = wrapper.get(POINTER_AT..).and_then(|rest| rest.first_chunk());
        let inner = usize::from_le_bytes(*pointer.ok_or(CUresult::CUDA_ERROR_INVALID_IMAGE)?);
        return Place::new(inner).image();
    }
    place.image()
}

/// Is where an image begins, and how many bytes can be read from there on.
#[derive(Clone, Copy, Debug)]
struct Place {
    address: usize,
    room: usize,
}

impl Place {
    fn new(address: usize) -> Self {
        Self { address, room: readable(address) }
    }

    fn byte(self, index: usize) -> Option<u8> {
        if index >= self.room {
            return None;
        }
        let byte = std::ptr::with_exposed_provenance::<u8>(self.address + index);
        // SAFETY: the system says that the byte can be read; that nobody unmaps it until the call
        // returns is the promise of its user.
        Some(unsafe { byte.read() })
    }

    fn bytes(self, count: usize) -> Option<Vec<u8>> {
        if count > self.room {
            return None;
        }
        let extent = Extent { width: count, height: 1, depth: 1 };
        // SAFETY: the system says that so many bytes can be read here; that nobody unmaps them until
        // the call returns is the promise of its user.
        Some(unsafe { raw::take(Rows::dense(self.address, extent), extent) })
    }

    /// Copies the image that begins here. Of a kind that says how long it is, no byte is read before
    /// the kind is known: a text may be shorter than such a header.
    fn image(self) -> Result<Vec<u8>, CUresult> {
        let length = if self.begins_with(&cubin::MAGIC) {
            self.bytes(cubin::HEADER).and_then(|header| cubin::length(&header))
        } else if self.begins_with(&fatbin::MAGIC) {
            self.bytes(fatbin::HEADER).and_then(|header| fatbin::length(&header))
        } else if self.begins_with(linked::MARK) {
            self.bytes(linked::HEADER).and_then(|header| linked::length(&header))
        } else {
            return self.text().ok_or(CUresult::CUDA_ERROR_INVALID_IMAGE);
        };
        length.and_then(|length| self.bytes(length)).ok_or(CUresult::CUDA_ERROR_INVALID_IMAGE)
    }

    /// Tells whether a mark stands here, and reads no byte beyond the first that differs.
    fn begins_with(self, mark: &[u8]) -> bool {
        mark.iter().enumerate().all(|(index, byte)| self.byte(index) == Some(*byte))
    }

    /// Copies a text up to its zero, and reads no byte beyond it.
    fn text(self) -> Option<Vec<u8>> {
        let length = (0..self.room).position(|index| self.byte(index) == Some(0))?;
        self.bytes(length)
    }
}

/// Returns how many bytes from an address on can be read, as the system lists its mappings.
fn readable(address: usize) -> usize {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return 0 };
    let mut end = address;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else { continue };
        let Some((start, stop)) = range.split_once('-') else { continue };
        let hex = |text| usize::from_str_radix(text, 16).unwrap_or(0);
        let (start, stop) = (hex(start), hex(stop));
        if stop <= end {
            continue;
        }
        if start > end || !access.starts_with('r') {
            break;
        }
        end = stop;
    }
    end - address
}
