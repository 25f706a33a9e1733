//! A descriptor as bytes.

use super::{CHECKSUM_AT, Descriptor, FIXED_SIZE, MAGIC, VERSION};
use crate::identity::Identity;

impl Descriptor {
    /// Returns its bytes, which [`decode`](Self::decode) reads.
    pub fn encode(&self) -> Vec<u8> {
        let (source, dtype, layout) = (self.source(), self.dtype(), self.layout());
        let mut bytes = Vec::with_capacity(FIXED_SIZE.saturating_add(16 * layout.ndim()));
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        // Flags, then length and checksum, which are known at the end.
        bytes.extend([0; 2 + 4 + 4]);
        put_identity(&mut bytes, &source.exporter);
        bytes.extend(source.device.bytes());
        bytes.extend(source.buffer_id.to_le_bytes());
        bytes.extend(source.nonce.bytes());
        bytes.extend(source.allocation_size.to_le_bytes());
        bytes.extend(layout.byte_offset().to_le_bytes());
        bytes.extend([dtype.code(), dtype.bits()]);
        bytes.extend(dtype.lanes().to_le_bytes());
        bytes.extend(short(layout.ndim()));
        bytes.extend(source.handle.kind().to_le_bytes());
        bytes.extend(short(source.handle.bytes().len()));
        bytes.extend([0; 6]);
        bytes.extend(source.handle.bytes());
        bytes.extend(layout.shape().iter().flat_map(|extent| extent.to_le_bytes()));
        bytes.extend(layout.byte_strides().iter().flat_map(|stride| stride.to_le_bytes()));
        seal(&mut bytes);
        bytes
    }
}

/// Writes a number that is below 65536 because of the format: of axes, or of bytes of a handle.
fn short(number: usize) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes()
}

/// Writes who a process is.
pub(crate) fn put_identity(bytes: &mut Vec<u8>, identity: &Identity) {
    bytes.extend(identity.pid.to_le_bytes());
    bytes.extend(identity.boot_id);
    bytes.extend(identity.pid_namespace.to_le_bytes());
    bytes.extend(identity.start_time.to_le_bytes());
}

/// Fills in length and checksum of a message that begins as all here do: magic, version, a field
/// of two bytes, length, checksum.
pub(crate) fn seal(message: &mut [u8]) {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    put(message, CHECKSUM_AT - 4, length);
    put(message, CHECKSUM_AT, 0);
    let checksum = crc32c::crc32c(message);
    put(message, CHECKSUM_AT, checksum);
}

fn put(message: &mut [u8], at: usize, number: u32) {
    if let Some(field) = message.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *field = number.to_le_bytes();
    }
}
