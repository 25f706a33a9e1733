//! Filling memory with one element, by as few calls as the driver's words of 1, 2 and 4 bytes allow.
#![expect(unsafe_code, reason = "vouches for words within the memory that is filled")]

use super::{DeviceBuffer, Element};
use crate::call;
use crate::error::{Error, Quantity, Result, Rule};
use crate::shim::{Device, Memory, Region, Steady};
use crate::stream::{AnyStream, Stream, on};

impl<T: Element> DeviceBuffer<T> {
    /// Allocates as [`uninitialized`](Self::uninitialized) does, and has the stream fill it with
    /// `value`.
    ///
    /// Driver: [`cuMemAllocAsync`](crate::call::mem_alloc_async), and as [`fill`](Self::fill) the
    /// family of [`cuMemsetD8Async`](crate::call::memset_d8_async).
    ///
    /// # Errors
    ///
    /// As the driver answers.
    pub fn filled(stream: &impl AnyStream, len: usize, value: T) -> Result<Self> {
        let stream = on(stream);
        let mut buffer = Self::uninitialized(stream, len)?;
        buffer.fill(value, stream)?;
        Ok(buffer)
    }

    /// Fills it with `value`, in the order of `stream`.
    ///
    /// It is one call if the element's words of 4 bytes (or 2, or 1) are all the same; otherwise one
    /// a word, each of which fills its place in every element. Then padding between rows is filled
    /// too.
    ///
    /// Driver: [`cuMemsetD8Async`](crate::call::memset_d8_async),
    /// [`cuMemsetD16Async`](crate::call::memset_d16_async) or
    /// [`cuMemsetD32Async`](crate::call::memset_d32_async), by the width of a word; for rows, and
    /// for one word in each element, [`cuMemsetD2D8Async`](crate::call::memset_d2d8_async) and its
    /// like.
    ///
    /// # Errors
    ///
    /// [`Rule::Home`] if the stream is of another context; [`Rule::Quotient`] if the words differ and
    /// rows don't lie a whole number of elements apart; else as the driver answers.
    pub fn fill(&mut self, value: T, stream: &impl AnyStream) -> Result<()> {
        let stream = on(stream);
        fill(self.region(), &value, stream)
    }
}

/// Is where words of a fill go.
struct Words<'a>(Region<'a>);

// SAFETY: `fill` makes it of a part of a region that is borrowed for writing.
unsafe impl Memory for Words<'_> {
    #[inline]
    fn region(&self) -> Region<'_> {
        self.0
    }
}

// SAFETY: `fill` is given nothing else.
unsafe impl Steady for Words<'_> {}

// SAFETY: as above.
unsafe impl Device for Words<'_> {}

/// Fills device memory that the caller has borrowed for writing, and whose owner waits for it.
pub(crate) fn fill<T: Element>(region: Region<'_>, value: &T, stream: &Stream) -> Result<()> {
    let bytes = bytemuck::bytes_of(value);
    if region.is_empty() || bytes.is_empty() {
        return Ok(());
    }
    let sizes = [1, 2, 4].into_iter().filter(|size| fits(&region, bytes.len(), *size));
    let mut widest = 1;
    for size in sizes {
        widest = size;
        let mut words = bytes.chunks_exact(size);
        let first = words.next().unwrap_or_default();
        if words.all(|word| word == first) {
            return set(region, first, stream);
        }
    }
    check_run(&region, bytes.len())?;
    let len = region.len() / bytes.len();
    for (index, word) in bytes.chunks_exact(widest).enumerate() {
        let part = region.part(index * widest).unwrap_or(region);
        set(part.with_rows(bytes.len(), widest, len), word, stream)?;
    }
    Ok(())
}

/// Tells whether elements of `element` bytes can be filled by words of `size` bytes.
const fn fits(region: &Region<'_>, element: usize, size: usize) -> bool {
    let rows_fit = region.height() == 1 || region.pitch().is_multiple_of(size);
    element.is_multiple_of(size) && region.address().is_multiple_of(size) && rows_fit
}

/// Refuses rows between which elements don't lie in one run with their padding.
fn check_run(region: &Region<'_>, element: usize) -> Result<()> {
    if region.height() > 1 && !region.pitch().is_multiple_of(element) {
        let (need, have): (Quantity, Quantity) = (element.into(), region.pitch().into());
        return Err(Error::refused("fill", "pitch", Rule::Quotient, need, have));
    }
    Ok(())
}

/// Sets every word of rows.
fn set(region: Region<'_>, word: &[u8], stream: &Stream) -> Result<()> {
    let one_run = region.height() == 1;
    let mut words = Words(region);
    match (word, one_run) {
        (&[byte], true) => call::memset_d8_async(&mut words, byte, stream),
        (&[byte], false) => call::memset_d2d8_async(&mut words, byte, stream),
        (&[a, b], true) => call::memset_d16_async(&mut words, u16::from_ne_bytes([a, b]), stream),
        (&[a, b], false) => {
            call::memset_d2d16_async(&mut words, u16::from_ne_bytes([a, b]), stream)
        }
        (&[a, b, c, d], true) => {
            call::memset_d32_async(&mut words, u32::from_ne_bytes([a, b, c, d]), stream)
        }
        (&[a, b, c, d], false) => {
            call::memset_d2d32_async(&mut words, u32::from_ne_bytes([a, b, c, d]), stream)
        }
        _ => Ok(()),
    }
}
