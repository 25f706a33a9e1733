//! Builds layouts axis by axis.

use std::num::NonZero;

use super::axis_list::Many;
use super::{Axis, AxisList, INLINE_AXES, LayoutError, StridedLayout};

/// Takes the axes of a layout that is being made.
///
/// Extent and stride of an axis stand beside each other here and apart in a layout, so that they
/// are moved there one by one: moving two at once, right after they were written one by one, waits
/// for both and takes longer than all else. What is asked of all axes is gathered on the way.
///
/// A layout is built for a few axes first, and once more if they turn out to be many: code that
/// knows no heap stays in registers.
pub(super) struct Builder<'a> {
    places: &'a mut Places,
    /// Number of axes, also of those that found no place.
    len: usize,
    /// All axes, if there may be many and they are too many for the places.
    heap: Option<Box<Many>>,
    /// Whether axes without a place are only counted. The compiler knows it.
    is_few: bool,
    /// Has a bit above the lowest 28 if an extent is not from 1 to 2^28, or a stride is more than
    /// 2^27 bytes long.
    large: i64,
    /// Whether there is a new axis whose elements are perhaps too far from each other.
    is_in_doubt: bool,
}

type Places = [Axis; INLINE_AXES];

/// Says where the elements of a layout start, and their size, both in bytes.
pub(super) struct Items {
    pub(super) offset: i64,
    pub(super) size: i64,
}

/// The longest stride of which [`Builder`] says that it is small.
const LONGEST: i64 = 1 << 27;

/// Returns the layout that is built, if the invariants hold.
///
/// Every layout is made here or by one of the functions below.
#[inline(always)]
pub(super) fn make(
    operation: &'static str,
    build: impl Fn(&mut Builder<'_>) -> Result<Items, LayoutError>,
) -> Result<StridedLayout, LayoutError> {
    let mut places = NO_AXES;
    let mut axes = Builder::few(&mut places);
    let items = build(&mut axes)?;
    match axes.plainly_sound_size(&items) {
        Some(size) => Ok(in_place(axes.places, axes.len, items.offset, size)),
        None => make_checked(operation, build),
    }
}

/// Returns the layout that is built of items of this size, from its offset on, where the invariants
/// follow from what the caller knows.
///
/// They do if every element takes bytes of an element of a layout for which they hold, there are
/// none if there are none there, and each axis is one there or a part of one. Any other axis is
/// [in doubt](Builder::doubt): two offsets may be farther from each other than 64 bits say.
#[inline(always)]
pub(super) fn make_sound(
    operation: &'static str,
    size: NonZero<i64>,
    build: impl Fn(&mut Builder<'_>) -> Result<i64, LayoutError>,
) -> Result<StridedLayout, LayoutError> {
    let mut places = NO_AXES;
    let mut axes = Builder::few(&mut places);
    let offset = build(&mut axes)?;
    if axes.is_sound() {
        return Ok(in_place(axes.places, axes.len, offset, size));
    }
    make_checked(operation, |axes| Ok(Items { offset: build(axes)?, size: size.get() }))
}

/// Returns the layout that is built as by [`make_sound`] if that is a plain case, or what another
/// way returns.
#[inline(always)]
pub(super) fn make_plain(
    size: NonZero<i64>,
    build: impl FnOnce(&mut Builder<'_>) -> Option<i64>,
    otherwise: impl FnOnce() -> Result<StridedLayout, LayoutError>,
) -> Result<StridedLayout, LayoutError> {
    let mut places = NO_AXES;
    let mut axes = Builder::few(&mut places);
    match build(&mut axes) {
        Some(offset) if axes.is_sound() => Ok(in_place(axes.places, axes.len, offset, size)),
        _ => otherwise(),
    }
}

/// Returns the two layouts that are built as by [`make_sound`].
#[inline(always)]
pub(super) fn make_two(
    operation: &'static str,
    (size, second_size): (NonZero<i64>, NonZero<i64>),
    build: impl Fn(&mut Builder<'_>, &mut Builder<'_>) -> Result<(i64, i64), LayoutError>,
) -> Result<(StridedLayout, StridedLayout), LayoutError> {
    let (mut places, mut second_places) = (NO_AXES, NO_AXES);
    let (mut axes, mut second) = (Builder::few(&mut places), Builder::few(&mut second_places));
    let (offset, second_offset) = build(&mut axes, &mut second)?;
    if axes.is_sound() && second.is_sound() {
        return Ok((
            in_place(axes.places, axes.len, offset, size),
            in_place(second.places, second.len, second_offset, second_size),
        ));
    }
    make_two_checked(operation, (size, second_size), build)
}

/// Returns the layout that is built of any number of axes if the invariants hold, each of which is
/// checked.
#[cold]
#[inline(never)]
fn make_checked(
    operation: &'static str,
    build: impl Fn(&mut Builder<'_>) -> Result<Items, LayoutError>,
) -> Result<StridedLayout, LayoutError> {
    let mut places = NO_AXES;
    let mut axes = Builder::many(&mut places);
    let items = build(&mut axes)?;
    axes.finish(operation, items)
}

#[cold]
#[inline(never)]
fn make_two_checked(
    operation: &'static str,
    (size, second_size): (NonZero<i64>, NonZero<i64>),
    build: impl Fn(&mut Builder<'_>, &mut Builder<'_>) -> Result<(i64, i64), LayoutError>,
) -> Result<(StridedLayout, StridedLayout), LayoutError> {
    let (mut places, mut second_places) = (NO_AXES, NO_AXES);
    let (mut axes, mut second) = (Builder::many(&mut places), Builder::many(&mut second_places));
    let (offset, second_offset) = build(&mut axes, &mut second)?;
    let first = axes.finish(operation, Items { offset, size: size.get() })?;
    let items = Items { offset: second_offset, size: second_size.get() };
    Ok((first, second.finish(operation, items)?))
}

const NO_AXES: Places = [Axis::UNIT; INLINE_AXES];

impl Axis {
    /// Says whether one step past its last element fits 64 bits, and so all before.
    #[inline(always)]
    pub(super) fn spans(self) -> bool {
        self.extent.checked_mul(self.stride).is_some()
    }

    /// Returns what an axis adds to [`Builder::large`].
    #[inline(always)]
    fn bits(self) -> i64 {
        // What is below its least number becomes a large one.
        self.extent.wrapping_sub(1) | self.stride.wrapping_add(LONGEST)
    }
}

impl<'a> Builder<'a> {
    #[inline(always)]
    fn few(places: &'a mut Places) -> Self {
        Self { places, len: 0, heap: None, is_few: true, large: 0, is_in_doubt: false }
    }

    fn many(places: &'a mut Places) -> Self {
        Self { is_few: false, ..Self::few(places) }
    }

    /// Puts an axis behind the others.
    #[inline(always)]
    pub(super) fn push(&mut self, axis: Axis) {
        self.large |= axis.bits();
        match self.places.get_mut(self.len) {
            Some(place) => *place = axis,
            None if self.is_few => {}
            None => self.heap = Some(Many::with(self.heap.take(), self.places, axis)),
        }
        self.len += 1;
    }

    /// Puts an axis behind the others that is neither one of a sound layout nor a part of one.
    #[inline(always)]
    pub(super) fn push_new(&mut self, axis: Axis) {
        self.doubt(axis);
        self.push(axis);
    }

    /// Says that an axis is neither one of a sound layout nor a part of one.
    #[inline(always)]
    pub(super) fn doubt(&mut self, axis: Axis) {
        self.is_in_doubt |= !axis.spans();
    }

    /// Returns the number of axes.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn extend(&mut self, axes: impl IntoIterator<Item = Axis>) {
        for axis in axes {
            self.push(axis);
        }
    }

    /// Takes what becomes of each axis of a list, by its position, into an empty builder.
    #[inline(always)]
    pub(super) fn take_each(&mut self, axes: &AxisList, map: impl Fn(usize, Axis) -> Axis) {
        match axes.places() {
            Ok((shape, strides)) => {
                self.len = axes.len();
                // Every place has a number that the compiler knows, so nothing goes by memory. No
                // position names a place behind the last axis, so those stay as they are.
                let pairs = shape.iter().zip(strides).enumerate();
                for (place, (number, (&extent, &stride))) in self.places.iter_mut().zip(pairs) {
                    *place = map(number, Axis { extent, stride });
                    self.large |= place.bits();
                }
            }
            Err(_) => {
                let numbered = axes.iter().enumerate();
                self.extend(numbered.map(|(number, axis)| map(number, axis)));
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
        if len > INLINE_AXES && !self.is_few {
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

    /// Returns the item size if all axes are in their places and all numbers are so small that
    /// nothing can overflow.
    #[inline(always)]
    fn plainly_sound_size(&self, items: &Items) -> Option<NonZero<i64>> {
        // Invariants 1 to 5: 6 axes of 1 to 2^28 elements at most 2^27 bytes apart, an offset
        // below 2^60 and an item of 1 to 2^28 bytes are less than 2^63 bytes.
        let offset = (items.offset.unsigned_abs() >> 32).cast_signed();
        let small = is_small(self.large | items.size.wrapping_sub(1) | offset);
        NonZero::new(items.size).filter(|_| small && self.len <= INLINE_AXES)
    }

    /// Says whether all axes are in their places and the invariants hold if the caller is right.
    #[inline(always)]
    fn is_sound(&self) -> bool {
        self.len <= INLINE_AXES && !self.is_in_doubt
    }

    /// Returns the layout if the invariants hold, each of which is checked.
    fn finish(self, operation: &'static str, items: Items) -> Result<StridedLayout, LayoutError> {
        let Items { offset, size } = items;
        let axes = match self.heap {
            Some(many) => AxisList::on_heap(many),
            None => list_in_place(self.places, self.len),
        };
        let item_size = axes.check(operation, offset, size)?;
        Ok(StridedLayout { axes, offset, item_size })
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
