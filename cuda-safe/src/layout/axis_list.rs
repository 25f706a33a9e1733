//! The axes of a layout, kept in place while they are few.

use super::per_axis::INLINE_AXES;

/// One axis: its extent in elements and its stride in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) extent: i64,
    pub(super) stride: i64,
}

impl Axis {
    /// The axis that a broadcast puts before all others: it changes nothing.
    pub(super) const UNIT: Self = Self { extent: 1, stride: 0 };

    /// Says whether the stride of this axis decides where elements lie.
    #[inline]
    pub(super) fn counts(self) -> bool {
        self.extent > 1
    }

    /// Returns the distance from its first to its last element.
    #[inline]
    pub(super) fn reach(self) -> i64 {
        // Invariant 5, or the axis doesn't count.
        if self.counts() { (self.extent - 1).wrapping_mul(self.stride) } else { 0 }
    }
}

/// Axes in index order, of which nothing is proved yet.
///
/// Extents and strides stand apart, so that each can be read as a slice. With the two numbers
/// beside them in a layout they take 128 bytes, up to which a move is a few instructions. Places
/// without an axis hold [`Axis::UNIT`], so that loops over the axes in place have a fixed length.
#[derive(Clone)]
#[repr(C)]
pub(super) struct AxisList {
    shape: [i64; INLINE_AXES],
    strides: [i64; INLINE_AXES],
    /// Number of axes kept in place; [`ON_HEAP`] if they are on the heap.
    len: usize,
    /// All axes, if they are too many to be kept in place.
    heap: Option<Box<Many>>,
}

/// Is above every number of axes in place, so that one comparison tells where the axes are.
const ON_HEAP: usize = usize::MAX;

/// More axes than are kept in place.
#[derive(Clone)]
pub(super) struct Many {
    shape: Vec<i64>,
    strides: Vec<i64>,
}

impl Many {
    /// Puts an axis behind those that are here already, or else behind those in place.
    #[cold]
    #[inline(never)]
    pub(super) fn with(many: Option<Box<Self>>, in_place: &[Axis], axis: Axis) -> Box<Self> {
        let mut many = many.unwrap_or_else(|| {
            let empty = || Vec::with_capacity(64);
            let mut many = Box::new(Self { shape: empty(), strides: empty() });
            in_place.iter().for_each(|axis| many.push(*axis));
            many
        });
        many.push(axis);
        many
    }

    fn push(&mut self, axis: Axis) {
        self.shape.push(axis.extent);
        self.strides.push(axis.stride);
    }

    /// Makes so many axes [`Axis::UNIT`].
    #[cold]
    #[inline(never)]
    pub(super) fn units(len: usize) -> Box<Self> {
        let (shape, strides) = (vec![Axis::UNIT.extent; len], vec![Axis::UNIT.stride; len]);
        Box::new(Self { shape, strides })
    }

    /// Replaces the axis at a position; past the last axis nothing happens.
    #[cold]
    #[inline(never)]
    pub(super) fn set(&mut self, position: usize, axis: Axis) {
        let places = (self.shape.get_mut(position), self.strides.get_mut(position));
        if let (Some(extent), Some(stride)) = places {
            (*extent, *stride) = (axis.extent, axis.stride);
        }
    }
}

impl AxisList {
    /// Keeps `len` axes in place; those after them are [`Axis::UNIT`].
    #[inline(always)]
    pub(super) fn in_place(
        shape: [i64; INLINE_AXES],
        strides: [i64; INLINE_AXES],
        len: usize,
    ) -> Self {
        Self { shape, strides, len, heap: None }
    }

    pub(super) fn on_heap(many: Box<Many>) -> Self {
        let Axis { extent, stride } = Axis::UNIT;
        let (shape, strides) = ([extent; INLINE_AXES], [stride; INLINE_AXES]);
        Self { shape, strides, len: ON_HEAP, heap: Some(many) }
    }

    /// Returns all places for extents and for strides, or else what is on the heap.
    #[inline(always)]
    pub(super) fn places(&self) -> Result<(&[i64; INLINE_AXES], &[i64; INLINE_AXES]), &Many> {
        match &self.heap {
            None => Ok((&self.shape, &self.strides)),
            Some(many) => Err(many),
        }
    }

    /// Answers a question about all axes, and perhaps some of extent 1 after them.
    #[inline(always)]
    pub(super) fn ask<R>(&self, question: impl FnOnce(&[i64], &[i64]) -> R) -> R {
        match self.places() {
            Ok((shape, strides)) => question(shape, strides),
            Err(many) => question(&many.shape, &many.strides),
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.shape().len()
    }

    #[inline]
    pub(super) fn shape(&self) -> &[i64] {
        match self.shape.get(..self.len) {
            Some(shape) => shape,
            None => self.heap.as_ref().map_or(&[], |many| &many.shape),
        }
    }

    #[inline]
    pub(super) fn strides(&self) -> &[i64] {
        match self.strides.get(..self.len) {
            Some(strides) => strides,
            None => self.heap.as_ref().map_or(&[], |many| &many.strides),
        }
    }

    #[cold]
    #[inline(never)]
    fn slices_on_heap(&self) -> (&[i64], &[i64]) {
        self.heap.as_ref().map_or((&[], &[]), |many| (&many.shape, &many.strides))
    }

    #[inline]
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Axis> + ExactSizeIterator + '_ {
        let (shape, strides) = match (self.shape.get(..self.len), self.strides.get(..self.len)) {
            (Some(shape), Some(strides)) => (shape, strides),
            _ => self.slices_on_heap(),
        };
        shape.iter().zip(strides).map(|(&extent, &stride)| Axis { extent, stride })
    }

    /// Returns one axis; past the last one there are only axes of extent 1, as in a broadcast.
    #[inline]
    pub(super) fn get(&self, position: usize) -> Axis {
        self.ask(|shape, strides| match (shape.get(position), strides.get(position)) {
            (Some(&extent), Some(&stride)) => Axis { extent, stride },
            _ => Axis::UNIT,
        })
    }
}
