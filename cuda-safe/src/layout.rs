//! Strided layouts: how an array of up to 64 axes lies in memory.
//!
//! A [`StridedLayout`] maps an index to a byte offset. It owns no memory and knows no driver, no
//! element type and no address; views put those beside it. Strides and the offset are in bytes,
//! because a 3-byte pixel in a row of 2560 bytes is the ordinary case; strides in elements are
//! accessors that may answer that there are none. Extents, strides, offsets and item sizes are all
//! `i64`, the integer in which arrays travel between libraries, so nothing is ever converted.
//!
//! | to | use |
//! |---|---|
//! | make one | [`dense`], [`from_byte_strides`], [`from_element_strides`], [`dense_like`] |
//! | take a part | [`slice`] with [`s!`], [`split_at`], [`chunks`], [`diagonal`], [`windows`] |
//! | order axes | [`permute`], [`transpose`], [`flip`] |
//! | change axes | [`reshape`], [`flatten`], [`squeeze`], [`unsqueeze`], [`broadcast_to`] |
//! | change items | [`repack`], [`max_compatible_item_size`] |
//! | ask | [`is_dense`], [`is_unique`], [`required_size`], [`overlap`] |
//! | go through it | [`offsets`], [`coalesce`] |
//! | look at it | `Display`, [`draw`] |
//!
//! Every operation gives a new layout over the same memory, or a [`LayoutError`] that names the
//! operation, the rule and the numbers; none panics. Axis numbers may be negative and then count
//! from the end. Layouts of up to [`INLINE_AXES`] axes never use the heap.
//!
//! [`dense`]: StridedLayout::dense
//! [`from_byte_strides`]: StridedLayout::from_byte_strides
//! [`from_element_strides`]: StridedLayout::from_element_strides
//! [`dense_like`]: StridedLayout::dense_like
//! [`slice`]: StridedLayout::slice
//! [`split_at`]: StridedLayout::split_at
//! [`chunks`]: StridedLayout::chunks
//! [`diagonal`]: StridedLayout::diagonal
//! [`windows`]: StridedLayout::windows
//! [`permute`]: StridedLayout::permute
//! [`transpose`]: StridedLayout::transpose
//! [`reshape`]: StridedLayout::reshape
//! [`flatten`]: StridedLayout::flatten
//! [`squeeze`]: StridedLayout::squeeze
//! [`unsqueeze`]: StridedLayout::unsqueeze
//! [`broadcast_to`]: StridedLayout::broadcast_to
//! [`flip`]: StridedLayout::flip
//! [`repack`]: StridedLayout::repack
//! [`max_compatible_item_size`]: StridedLayout::max_compatible_item_size
//! [`is_dense`]: StridedLayout::is_dense
//! [`is_unique`]: StridedLayout::is_unique
//! [`required_size`]: StridedLayout::required_size
//! [`overlap`]: StridedLayout::overlap
//! [`offsets`]: StridedLayout::offsets
//! [`coalesce`]: StridedLayout::coalesce
//! [`draw`]: StridedLayout::draw

#![forbid(unsafe_code)]

mod arithmetic;
mod axes;
mod axis_list;
mod builder;
mod coalesce;
mod construct;
mod contiguity;
mod diagonal;
mod display;
mod draw;
mod error;
mod flatten;
mod index;
mod offsets;
mod order;
mod overlap;
mod per_axis;
mod properties;
mod repack;
mod reshape;
mod search;
mod slice;
mod unique;
mod windows;

use std::hash::{Hash, Hasher};
use std::num::NonZero;

pub use draw::Drawing;
pub use error::{LayoutError, LayoutRule, Sign};
pub use index::{
    Index::{self, Ellipsis, NewAxis},
    Slice,
};
pub use offsets::Offsets;
pub use order::Order;
pub use overlap::Overlap;
pub use per_axis::{INLINE_AXES, PerAxis};
pub use repack::Packing;
pub use slice::Chunks;
pub use unique::Uniqueness;

pub use crate::s;

use arithmetic::{add, multiply};
use axis_list::{Axis, AxisList};
use builder::{Builder, Items, make, make_plain, make_sound, make_two};

/// The most axes a layout has.
pub const MAX_NDIM: usize = 64;

/// Maps the indices of an array to byte offsets: a shape, byte strides, a byte offset, an item
/// size.
///
/// The element at index `(i, j, …)` occupies the item-size bytes that start at
/// `byte_offset + i * byte_strides[0] + j * byte_strides[1] + …` from wherever the memory starts.
///
/// # Invariants
///
/// 1. There are at most [`MAX_NDIM`] axes, and as many strides as extents.
/// 2. No extent is negative.
/// 3. The item size is at least 1.
/// 4. Unless an extent is 0, the offset of the first and of the last byte of every element fits
///    `i64`.
/// 5. Unless an extent is 0, the distance in bytes from the first to the last element along an axis
///    fits `i64`.
///
/// A stride matters only if its axis is longer than 1 and no extent is 0; strides that don't matter
/// are neither checked nor compared. The volume is not bound by an invariant (a broadcast axis
/// costs no bytes), so [`volume`](Self::volume) may refuse.
///
/// # Equality
///
/// Layouts are equal if they map the same indices to the same bytes: same shape and item size, and,
/// unless empty, same byte offset and same byte strides of all axes longer than 1.
// In this order every field keeps its alignment when a layout is moved 16 bytes at a time, and the
// number that is never zero comes last, where a result keeps its tag.
#[derive(Clone)]
#[repr(C)]
pub struct StridedLayout {
    axes: AxisList,
    offset: i64,
    item_size: NonZero<i64>,
}

impl AxisList {
    /// Checks the invariants one by one, says which does not hold, and returns the item size.
    #[cold]
    fn check(
        &self,
        operation: &'static str,
        offset: i64,
        item_size: i64,
    ) -> Result<NonZero<i64>, LayoutError> {
        // Invariant 1; the list itself pairs extents and strides.
        check_ndim(operation, self.len())?;
        // Invariant 2.
        check_extents(operation, self.shape())?;
        // Invariant 3.
        let item_size = check_item_size(operation, item_size)?;
        // Invariants 4 and 5. The zero is looked for first, so that a refusal never depends on the
        // order of the axes.
        if self.shape().contains(&0) {
            return Ok(item_size);
        }
        let (mut lowest, mut highest) = (offset, offset);
        for axis in self.iter().filter(|axis| axis.counts()) {
            let reach =
                multiply(operation, "reach of an axis in bytes", axis.extent - 1, axis.stride)?;
            if reach < 0 {
                lowest = add(operation, "lowest byte offset", lowest, reach)?;
            } else {
                highest = add(operation, "highest byte offset", highest, reach)?;
            }
        }
        add(operation, "offset of the last byte", highest, item_size.get() - 1)?;
        Ok(item_size)
    }
}

fn check_ndim(operation: &'static str, ndim: usize) -> Result<(), LayoutError> {
    if ndim > MAX_NDIM {
        return Err(LayoutRule::TooManyAxes { need: MAX_NDIM, have: ndim }.refused_by(operation));
    }
    Ok(())
}

fn check_item_size(operation: &'static str, have: i64) -> Result<NonZero<i64>, LayoutError> {
    NonZero::new(have)
        .filter(|item_size| item_size.is_positive())
        .ok_or_else(|| LayoutRule::ItemSizeNotPositive { have }.refused_by(operation))
}

fn check_extents(operation: &'static str, shape: &[i64]) -> Result<(), LayoutError> {
    match shape.iter().enumerate().find(|&(_, &extent)| extent < 0) {
        Some((axis, &have)) => Err(LayoutRule::NegativeExtent { axis, have }.refused_by(operation)),
        None => Ok(()),
    }
}

/// Turns an axis number that may be negative into a position among `ndim` axes.
#[inline]
fn resolve_axis(
    operation: &'static str,
    operand: &'static str,
    axis: i64,
    ndim: usize,
) -> Result<usize, LayoutError> {
    let from_end = usize::try_from(axis.unsigned_abs()).ok();
    let position = if axis < 0 {
        from_end.and_then(|distance| ndim.checked_sub(distance))
    } else {
        from_end.filter(|&position| position < ndim)
    };
    position.ok_or_else(|| {
        LayoutRule::AxisOutOfRange { operand, ndim, have: axis }.refused_by(operation)
    })
}

impl StridedLayout {
    /// Returns the axes that decide where elements lie: none if the layout is empty.
    fn counting_axes(&self) -> impl DoubleEndedIterator<Item = Axis> + '_ {
        let empty = self.is_empty();
        self.axes.iter().filter(move |axis| !empty && axis.counts())
    }
}

impl PartialEq for StridedLayout {
    fn eq(&self, other: &Self) -> bool {
        let mut same_shape = self.item_size == other.item_size && self.ndim() == other.ndim();
        let (mut same_places, mut empty) = (self.offset == other.offset, false);
        self.axes.ask(|shape, strides| {
            other.axes.ask(|other_shape, other_strides| {
                let axes = shape.iter().zip(strides);
                for ((extent, stride), (other_extent, other_stride)) in
                    axes.zip(other_shape.iter().zip(other_strides))
                {
                    same_shape &= extent == other_extent;
                    same_places &= stride == other_stride || *extent <= 1;
                    empty |= *extent == 0;
                }
            });
        });
        same_shape && (same_places || empty)
    }
}

impl Eq for StridedLayout {}

impl Hash for StridedLayout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.item_size.hash(state);
        self.shape().hash(state);
        if !self.is_empty() {
            self.offset.hash(state);
            self.counting_axes().for_each(|axis| axis.stride.hash(state));
        }
    }
}
