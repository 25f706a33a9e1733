//! Bytes as a descriptor, or which field is wrong.

use cuda_safe::StridedLayout;
use cuda_safe::layout::MAX_NDIM;

use super::{
    CHECKSUM_AT, DType, Descriptor, MAGIC, MemoryHandle, Reader, Source, VERSION, WireError,
};
use crate::identity::{DeviceUuid, Identity, Nonce};

impl Descriptor {
    /// Reads a descriptor that [`encode`](Self::encode) wrote. It never panics, and allocates no
    /// more than the bytes are long.
    ///
    /// # Errors
    ///
    /// [`WireError`] names the field: bytes of another format or version, a wrong length or
    /// checksum, unknown values, trailing bytes, and everything that [`new`](Self::new) refuses.
    pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let (flags, mut reader) = unseal(bytes, MAGIC, VERSION)?;
        if flags != 0 {
            return Err(WireError::Unknown { field: "flags", need: "0", have: flags.into() });
        }
        let exporter = read_identity(&mut reader)?;
        let device = DeviceUuid::new(reader.array("device")?);
        let buffer_id = reader.u64("buffer id")?;
        let nonce = Nonce::from_bytes(reader.array("nonce")?);
        let allocation_size = reader.u64("allocation size")?;
        let offset = read_offset(&mut reader)?;
        let code = reader.u8("dtype code")?;
        let bits = reader.u8("dtype bits")?;
        let dtype = DType::new(code, bits, reader.u16("dtype lanes")?)?;
        let ndim = usize::from(reader.u16("ndim")?);
        if ndim > MAX_NDIM {
            return Err(WireError::TooManyAxes { need: MAX_NDIM, have: ndim });
        }
        let kind = reader.u16("handle kind")?;
        MemoryHandle::check_kind(kind, reader.u16("handle length")?)?;
        reader.zero::<6>("reserved")?;
        let handle = MemoryHandle::Legacy(reader.array("handle")?);
        let shape = reader.numbers("shape", ndim)?;
        let strides = reader.numbers("strides", ndim)?;
        reader.end()?;
        let layout = StridedLayout::from_byte_strides(&shape, &strides, dtype.size())?
            .with_byte_offset(offset)?;
        let source = Source { exporter, device, buffer_id, nonce, handle, allocation_size };
        Self::new(source, dtype, layout)
    }
}

fn read_offset(reader: &mut Reader<'_>) -> Result<i64, WireError> {
    let field = "offset";
    let have = reader.u64(field)?;
    let need = i64::MAX.cast_unsigned();
    i64::try_from(have).map_err(|_| WireError::TooLarge { field, need, have })
}

/// Reads who a process is.
pub(crate) fn read_identity(reader: &mut Reader<'_>) -> Result<Identity, WireError> {
    Ok(Identity {
        pid: reader.u32("pid")?,
        boot_id: reader.array("boot id")?,
        pid_namespace: reader.u64("pid namespace")?,
        start_time: reader.u64("start time")?,
    })
}

/// Checks the first 20 bytes, which all messages here have alike; returns the field behind the
/// version, and what follows the checksum.
pub(crate) fn unseal(
    message: &[u8],
    magic: [u8; 8],
    version: u16,
) -> Result<(u16, Reader<'_>), WireError> {
    let mut reader = Reader::new(message);
    let have = reader.array("magic")?;
    if have != magic {
        return Err(WireError::Magic { need: magic, have });
    }
    let have = reader.u16("version")?;
    if have != version {
        return Err(WireError::Version { need: version, have });
    }
    let field = reader.u16("flags")?;
    let (need, have) = (u64::from(reader.u32("length")?), message.len() as u64);
    if need != have {
        return Err(WireError::Length { need, have });
    }
    let need = reader.u32("checksum")?;
    let have = checksum(message);
    if need != have {
        return Err(WireError::Checksum { need, have });
    }
    Ok((field, reader))
}

/// Returns the checksum of a message, its own field taken as 0.
fn checksum(message: &[u8]) -> u32 {
    let (before, rest) = message.split_at_checked(CHECKSUM_AT).unwrap_or((message, &[]));
    let after = rest.get(4..).unwrap_or_default();
    [before, &[0; 4], after].into_iter().fold(0, crc32c::crc32c_append)
}
