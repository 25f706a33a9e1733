//! Builds layouts axis by axis.

use std::num::NonZero;

use super::axis_list::Many;
use super::{Axis, AxisList, INLINE_AXES, LayoutError, StridedLayout};

/// Takes the axes of a layout that is being made.
///
/// Extent and stride of an axis stand beside each other here and apart in a layout, so that they
/// are moved there one by one: moving two at once, right after they were written one by one, waits
/// for both and takes longer than all else. What is asked of all axes is gathered on the way. All
/// is inlined, and what is cold takes nothing by reference but the places, so that the rest stays
/// in registers.
pub(super) struct Builder<'a> {
    pub(super) places: &'a mut Places,
    /// Number of axes in their places; above [`INLINE_AXES`] if they are on the heap.
    pub(super) len: usize,
    /// All axes, if they are too many for the places.
    pub(super) heap: Option<Box<Many>>,
    /// Has a bit above the lowest 28 if an extent is not from 1 to 2^28, or a stride is more than
    /// 2^27 bytes long.
    pub(super) large: i64,
}

pub(super) type Places = [Axis; INLINE_AXES];

/// The longest stride of which [`Builder`] says that it is small.
const LONGEST: i64 = 1 << 27;

/// Makes a builder without axes. A macro, so that its places are a variable of the caller: as a
/// part of the builder they would keep it from registers.
macro_rules! builder {
    () => {
        $crate::layout::builder::Builder {
            places: &mut [$crate::layout::Axis::UNIT; $crate::layout::INLINE_AXES],
            len: 0,
            heap: None,
            large: 0,
        }
    };
}

impl Axis {
    /// Returns what an axis adds to [`Builder::large`].
    #[inline(always)]
    fn bits(self) -> i64 {
        // What is below its least number becomes a large one.
        self.extent.wrapping_sub(1) | self.stride.wrapping_add(LONGEST)
    }
}

impl Builder<'_> {
    /// Puts an axis behind the others.
    #[inline(always)]
    pub(super) fn push(&mut self, axis: Axis) {
        self.large |= axis.bits();
        match self.places.get_mut(self.len) {
            Some(place) => {
                *place = axis;
                self.len += 1;
            }
            None => {
                self.heap = Some(Many::with(self.heap.take(), self.places, axis));
                self.len = INLINE_AXES + 1;
            }
        }
    }

    /// Puts an axis behind the others, of which there are fewer than there are places.
    #[inline(always)]
    pub(super) fn push_in_place(&mut self, axis: Axis) {
        if let Some(place) = self.places.get_mut(self.len) {
            self.large |= axis.bits();
            *place = axis;
            self.len += 1;
        }
    }

    /// Returns the number of axes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.heap.as_ref().map_or(self.len, |many| many.len())
    }

    #[inline(always)]
    pub(super) fn extend(&mut self, axes: impl IntoIterator<Item = Axis>) {
        for axis in axes {
            self.push(axis);
        }
    }

    /// Takes all axes of a list, with another one in the place of one, into an empty builder.
    #[inline(always)]
    pub(super) fn take_all_but(&mut self, axes: &AxisList, position: usize, replaced: Axis) {
        match axes.places() {
            Ok((shape, strides)) => {
                self.len = axes.len();
                // Every place has a number that the compiler knows, so nothing goes by memory.
                let pairs = shape.iter().zip(strides).enumerate();
                for (place, (number, (&extent, &stride))) in self.places.iter_mut().zip(pairs) {
                    let kept = Axis { extent, stride };
                    *place = if number == position { replaced } else { kept };
                    self.large |= place.bits();
                }
            }
            Err(many) => {
                self.heap = Some(many.replaced(position, replaced));
                // They were not looked at, so nothing may be said of them.
                self.large = -1;
            }
        }
    }

    /// Takes the axes of a list whose extent is not 1 into an empty builder.
    #[inline(always)]
    pub(super) fn take_all_but_units(&mut self, axes: &AxisList) {
        match axes.places() {
            Ok((shape, strides)) => {
                // Without a branch for each: the next axis takes the place of one that is left out, and
                // the places behind the list's end have extent 1.
                for (&extent, &stride) in shape.iter().zip(strides) {
                    let axis = Axis { extent, stride };
                    if let Some(place) = self.places.get_mut(self.len) {
                        *place = axis;
                    }
                    let is_kept = extent != 1;
                    self.large |= if is_kept { axis.bits() } else { 0 };
                    self.len += usize::from(is_kept);
                }
                if let Some(place) = self.places.get_mut(self.len) {
                    *place = Axis::UNIT;
                }
            }
            Err(_) => self.extend(axes.iter().filter(|axis| axis.extent != 1)),
        }
    }

    /// Makes room for axes, each of which is [`set`](Self::set) in any order.
    #[inline(always)]
    pub(super) fn reserve(&mut self, len: usize) {
        self.len = len;
        if len > INLINE_AXES {
            self.heap = Some(Many::units(len));
        }
    }

    /// Replaces the axis at a position, for which there is room.
    #[inline(always)]
    pub(super) fn set(&mut self, position: usize, axis: Axis) {
        self.large |= axis.bits();
        match (&mut self.heap, self.places.get_mut(position)) {
            (None, Some(place)) => *place = axis,
            (None, None) => {}
            (Some(many), _) => many.set(position, axis),
        }
    }

    /// Says whether every extent is from 1 to 2^28 and every stride at most 2^27 bytes long; if not,
    /// nothing is said.
    #[inline(always)]
    pub(super) fn is_small(&self) -> bool {
        is_small(self.large)
    }

    /// Returns the layout of the axes if the invariants hold.
    ///
    /// Every layout is made here or in [`finish_two`](Self::finish_two).
    #[inline(always)]
    pub(super) fn finish(
        &mut self,
        operation: &'static str,
        offset: i64,
        item_size: i64,
    ) -> Result<StridedLayout, LayoutError> {
        match self.plainly_sound_item_size(offset, item_size) {
            Some(item_size) => Ok(in_place(self.places, self.len, offset, item_size)),
            None => self.finish_checked(operation, offset, item_size),
        }
    }

    /// Finishes two layouts, of which each has its offset and its item size.
    #[inline(always)]
    pub(super) fn finish_two(
        operation: &'static str,
        (first, offset, item_size): (&mut Self, i64, i64),
        (second, second_offset, second_item_size): (&mut Self, i64, i64),
    ) -> Result<(StridedLayout, StridedLayout), LayoutError> {
        let sound = (
            first.plainly_sound_item_size(offset, item_size),
            second.plainly_sound_item_size(second_offset, second_item_size),
        );
        match sound {
            (Some(item_size), Some(second_item_size)) => Ok((
                in_place(first.places, first.len, offset, item_size),
                in_place(second.places, second.len, second_offset, second_item_size),
            )),
            _ => Ok((
                first.finish_checked(operation, offset, item_size)?,
                second.finish_checked(operation, second_offset, second_item_size)?,
            )),
        }
    }

    /// Returns the item size if all axes are in their places and all numbers are so small that
    /// nothing can overflow.
    #[inline(always)]
    fn plainly_sound_item_size(&self, offset: i64, item_size: i64) -> Option<NonZero<i64>> {
        // Invariants 1 to 4: 6 axes of 1 to 2^28 elements at most 2^27 bytes apart, an offset
        // below 2^60 and an item of 1 to 2^28 bytes are less than 2^63 bytes.
        let numbers = item_size.wrapping_sub(1) | (offset.unsigned_abs() >> 32).cast_signed();
        let small = is_small(self.large | numbers) && self.heap.is_none();
        NonZero::new(item_size).filter(|_| small)
    }

    #[inline(always)]
    fn finish_checked(
        &mut self,
        operation: &'static str,
        offset: i64,
        item_size: i64,
    ) -> Result<StridedLayout, LayoutError> {
        checked(operation, *self.places, self.len, self.heap.take(), offset, item_size)
    }
}

#[inline(always)]
fn is_small(bits: i64) -> bool {
    bits.cast_unsigned() < 2 * LONGEST.cast_unsigned()
}

#[inline(always)]
fn in_place(places: &Places, len: usize, offset: i64, item_size: NonZero<i64>) -> StridedLayout {
    StridedLayout { axes: list_in_place(places, len), offset, item_size }
}

#[inline(always)]
fn list_in_place(places: &Places, len: usize) -> AxisList {
    let [a, b, c, d, e, f] = places;
    AxisList::in_place(
        [a.extent, b.extent, c.extent, d.extent, e.extent, f.extent],
        [a.stride, b.stride, c.stride, d.stride, e.stride, f.stride],
        len,
    )
}

/// Returns the layout if the invariants hold, each of which is checked.
#[cold]
#[inline(never)]
fn checked(
    operation: &'static str,
    places: Places,
    len: usize,
    heap: Option<Box<Many>>,
    offset: i64,
    item_size: i64,
) -> Result<StridedLayout, LayoutError> {
    let axes = match heap {
        Some(many) => AxisList::on_heap(many),
        None => list_in_place(&places, len),
    };
    let item_size = axes.check(operation, offset, item_size)?;
    Ok(StridedLayout { axes, offset, item_size })
}
