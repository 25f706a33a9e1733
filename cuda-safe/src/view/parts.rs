//! Parts of an array that are written independently of each other.

use super::{Item, ViewMut};
use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::{Overlap, StridedLayout};

impl<'a, T: Item> ViewMut<'a, T> {
    /// Splits the array in two along an axis.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::split_at`].
    pub fn split_at(mut self, axis: i64, element: i64) -> Result<(Self, Self)> {
        let (left, right) = self.layout.split_at(axis, element)?;
        self.is_part = true;
        // Elements of a view for writing share no byte, and no element is on both sides.
        Ok((self.over(left, self.kept)?, self.over(right, self.kept)?))
    }

    /// Splits the array into consecutive parts of `size` elements of an axis; the last may be
    /// shorter.
    ///
    /// # Errors
    ///
    /// As [`StridedLayout::chunks`].
    pub fn chunks(mut self, axis: i64, size: i64) -> Result<ChunksMut<'a, T>> {
        // Refuses what there are no parts of.
        self.layout.chunks(axis, size)?;
        self.is_part = true;
        Ok(ChunksMut { rest: Some(self), axis, size })
    }

    /// Lays several layouts over the memory, each a view of its own: the channels of an image, every
    /// other row.
    ///
    /// # Errors
    ///
    /// As [`with_layout`](Self::with_layout) of each; [`Rule::Disjoint`] if two of them share a
    /// byte, or if that they don't is not proved.
    pub fn disjoint<const N: usize>(mut self, layouts: [StridedLayout; N]) -> Result<[Self; N]> {
        const CALL: &str = "ViewMut::disjoint";
        super::check_whole(CALL, self.is_part)?;
        let mut rest = layouts.as_slice();
        while let Some((first, behind)) = rest.split_first() {
            super::check::<T>(CALL, &self.region, first, self.kept)?;
            super::check_injective(CALL, first)?;
            for second in behind {
                check_disjoint(CALL, first.overlap(second))?;
            }
            rest = behind;
        }
        self.is_part = true;
        let Self { region, is_part, kept, element, .. } = self;
        Ok(layouts.map(|layout| Self { region, is_part, layout, kept, element }))
    }
}

fn check_disjoint(call: &'static str, overlap: Overlap) -> Result<()> {
    let have = match overlap {
        Overlap::Disjoint => return Ok(()),
        Overlap::Overlapping => "bytes of another part",
        Overlap::NotProved => "bytes of which nothing is proved",
    };
    let (need, have) = (Quantity::Word("bytes of its own"), Quantity::Word(have));
    Err(Error::refused(call, "layouts", Rule::Disjoint, need, have))
}

/// Goes through consecutive parts of an array; made by [`ViewMut::chunks`].
#[derive(Debug)]
pub struct ChunksMut<'a, T: Item> {
    rest: Option<ViewMut<'a, T>>,
    axis: i64,
    size: i64,
}

impl<'a, T: Item> Iterator for ChunksMut<'a, T> {
    type Item = ViewMut<'a, T>;

    fn next(&mut self) -> Option<ViewMut<'a, T>> {
        let rest = self.rest.take()?;
        // The axis exists, and the size is positive: only then these parts were made.
        let axis = if self.axis < 0 {
            rest.layout.ndim().checked_sub(usize::try_from(self.axis.unsigned_abs()).ok()?)?
        } else {
            usize::try_from(self.axis).ok()?
        };
        let extent = *rest.layout.shape().get(axis)?;
        if extent == 0 {
            return None;
        }
        if extent <= self.size {
            return Some(rest);
        }
        let (part, rest) = rest.split_at(self.axis, self.size).ok()?;
        self.rest = Some(rest);
        Some(part)
    }
}
