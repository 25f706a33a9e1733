//! Fat binaries: containers that hold the same code for several devices, as PTX and as cubins.
//!
//! The container begins with a magic number, a version, the length of its header, and the length of
//! the entries behind it. Each entry has a header, whose length it says, and its bytes, plain or
//! compressed by LZ4 (before CUDA 12.8) or Zstandard.

use std::io::Read as _;

use super::{Image, ImageError, Target, cubin, ptx};

/// Begins a container, and how many bytes its header has at least.
pub(crate) const MAGIC: [u8; 4] = 0xBA55_ED50_u32.to_le_bytes();
pub(crate) const HEADER: usize = 16;

/// The kinds of entries that hold code.
const PTX: u16 = 1;
const CUBIN: u16 = 2;

/// The flags of an entry that say how it is compressed.
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

/// The most bytes that an entry may have when it is unpacked.
const MOST: usize = 256 << 20;

/// How many times more bytes an entry may have unpacked than packed: LZ4 can't do better, and what
/// Zstandard makes of code is far from it.
const RATIO: usize = 256;

/// Is one entry of a container.
struct Part<'a> {
    kind: u16,
    /// As 90 for 9.0.
    capability: u32,
    flags: u64,
    unpacked: usize,
    bytes: &'a [u8],
}

/// Tells whether bytes begin as a container.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Returns how many bytes a container has in all, of which `bytes` are the first.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let header = usize::from(u16_at(bytes, 6)?);
    header.checked_add(usize::try_from(u64_at(bytes, 8)?).ok()?)
}

/// Reads the part of a container that suits a device best: a cubin for it, else the newest PTX.
pub(crate) fn read(bytes: &[u8], target: Target) -> Result<Image, ImageError> {
    let parts = parts(bytes).ok_or_else(|| unknown("a fat binary that is cut short"))?;
    let fits = |part: &&Part<'_>| match part.kind {
        CUBIN => cubin::runs_on(part.capability, target),
        PTX => part.capability <= target.capability,
        _ => false,
    };
    let best = parts.iter().filter(fits).max_by_key(|part| (part.kind, part.capability));
    let Some(best) = best else {
        let have: Vec<_> = parts.iter().map(|part| format!("sm_{}", part.capability)).collect();
        let needs = if have.is_empty() { "no device".to_owned() } else { have.join(", ") };
        return Err(ImageError::Target { needs, has: target.capability });
    };
    let unpacked = unpack(best)?;
    let code = unpacked.as_deref().unwrap_or(best.bytes);
    match best.kind {
        CUBIN => cubin::read(code, target),
        _ => ptx::read(code, target),
    }
}

fn parts(bytes: &[u8]) -> Option<Vec<Part<'_>>> {
    let end = length(bytes)?;
    let mut rest = bytes.get(usize::from(u16_at(bytes, 6)?)..end)?;
    let mut parts = Vec::new();
    while rest.len() >= 64 {
        let header = usize::try_from(u32_at(rest, 4)?).ok()?;
        if header < 64 {
            return None;
        }
        let padded = usize::try_from(u64_at(rest, 8)?).ok()?;
        let packed = usize::try_from(u32_at(rest, 16)?).ok()?;
        let flags = u64_at(rest, 40)?;
        let body = rest.get(header..)?.get(..padded)?;
        // An entry that isn't compressed may leave the length without padding at zero.
        let bytes = if flags & (LZ4 | ZSTD) != 0 { body.get(..packed)? } else { body };
        parts.push(Part {
            kind: u16_at(rest, 0)?,
            capability: u32_at(rest, 28)?,
            flags,
            unpacked: usize::try_from(u64_at(rest, 56)?).ok()?,
            bytes,
        });
        rest = rest.get(header + padded..)?;
    }
    Some(parts)
}

/// Unpacks an entry, if it is packed.
fn unpack(part: &Part<'_>) -> Result<Option<Vec<u8>>, ImageError> {
    if part.flags & (LZ4 | ZSTD) == 0 {
        return Ok(None);
    }
    let size = part.unpacked;
    if size > MOST || size > part.bytes.len().saturating_mul(RATIO) {
        return Err(unknown("an entry of a fat binary that claims to be too long"));
    }
    let wrong = || unknown("an entry of a fat binary that can't be unpacked");
    let mut bytes = vec![0; size];
    if part.flags & ZSTD != 0 {
        let decoder = ruzstd::decoding::StreamingDecoder::new(part.bytes).map_err(|_| wrong())?;
        let mut limited = decoder.take(size as u64);
        limited.read_exact(&mut bytes).map_err(|_| wrong())?;
    } else {
        let count =
            lz4_flex::block::decompress_into(part.bytes, &mut bytes).map_err(|_| wrong())?;
        if count != size {
            return Err(wrong());
        }
    }
    Ok(Some(bytes))
}

fn unknown(text: &str) -> ImageError {
    ImageError::Unknown(text.to_owned())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}
