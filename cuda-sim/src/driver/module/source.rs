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
    if place.bytes(4).is_some_and(|bytes| bytes == WRAPPER) {
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

    fn bytes(self, count: usize) -> Option<Vec<u8>> {
        if count > self.room {
            return None;
        }
        let extent = Extent { width: count, height: 1, depth: 1 };
        // SAFETY: the system says that so many bytes can be read here; that nobody unmaps them until
        // the call returns is the promise of its user.
        Some(unsafe { raw::take(Rows::dense(self.address, extent), extent) })
    }

    fn image(self) -> Result<Vec<u8>, CUresult> {
        let start = self.bytes(self.room.min(64)).unwrap_or_default();
        let length = match start.as_slice() {
            [0x7f, b'E', b'L', b'F', ..] => cubin::length(&start),
            bytes if fatbin::is_one(bytes) => fatbin::length(bytes),
            bytes if linked::is_one(bytes) => linked::length(bytes),
            _ => return self.text().ok_or(CUresult::CUDA_ERROR_INVALID_IMAGE),
        };
        length.and_then(|length| self.bytes(length)).ok_or(CUresult::CUDA_ERROR_INVALID_IMAGE)
    }

    /// Copies a text up to its zero, which is looked for piece by piece.
    fn text(self) -> Option<Vec<u8>> {
        const PIECE: usize = 1 << 16;
        let mut text = Vec::new();
        while text.len() < self.room {
            let place = Self { address: self.address + text.len(), room: self.room - text.len() };
            let piece = place.bytes(place.room.min(PIECE))?;
            if let Some(end) = piece.iter().position(|&byte| byte == 0) {
                text.extend(piece.iter().take(end));
                return Some(text);
            }
            text.extend(piece);
        }
        None
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
