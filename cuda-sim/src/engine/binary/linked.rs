//! What the simulated linker makes: the images that it was given, one behind the other.
//!
//! The form is the simulator's own: a mark, and of each image its length and its bytes.

use super::{Image, ImageError, Target};

/// Begins what the linker makes, and how many bytes stand before the first image.
pub(crate) const MARK: &[u8] = b"\x7fcuda-sim linked\0";
pub(crate) const HEADER: usize = MARK.len() + 8;

/// How many images may be joined.
const MOST: usize = 4096;

/// Tells whether bytes begin as what the linker makes.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(MARK)
}

/// Returns how many bytes there are in all, of which `bytes` are the first.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let size = bytes.get(MARK.len()..)?.first_chunk()?;
    usize::try_from(u64::from_le_bytes(*size)).ok()
}

/// Joins images.
pub(crate) fn write(images: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = MARK.to_vec();
    let whole = images.iter().map(|image| image.len() + 8).sum::<usize>() + HEADER;
    bytes.extend((whole as u64).to_le_bytes());
    for image in images {
        bytes.extend((image.len() as u64).to_le_bytes());
        bytes.extend(image);
    }
    bytes
}

/// Reads what [`write`] wrote.
pub(crate) fn read(bytes: &[u8], target: Target) -> Result<Image, ImageError> {
    let broken = || ImageError::Unknown("what the linker made is cut short".to_owned());
    let whole = length(bytes).and_then(|length| bytes.get(..length)).ok_or_else(broken)?;
    let mut rest = whole.get(HEADER..).ok_or_else(broken)?;
    let mut images = Vec::new();
    while !rest.is_empty() {
        let (size, behind) = rest.split_first_chunk().ok_or_else(broken)?;
        let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| broken())?;
        let (image, behind) = behind.split_at_checked(size).ok_or_else(broken)?;
        if is_one(image) || images.len() == MOST {
            return Err(ImageError::Unknown("a linked image holds no linked images".to_owned()));
        }
        images.push(Image::read_part(image, target)?);
        rest = behind;
    }
    Image::join(images)
}
