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
        // Invariant 4: the reach of an axis lies between two offsets of the layout, or the axis
        // doesn't count.
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

#[derive(Clone)]
struct Many {
    shape: Vec<i64>,
    strides: Vec<i64>,
}

impl AxisList {
    #[inline]
    pub(super) fn new() -> Self {
        let (shape, strides) = ([Axis::UNIT.extent; _], [Axis::UNIT.stride; _]);
        Self { shape, strides, len: 0, heap: None }
    }

    /// Makes each axis of an empty list from its position.
    ///
    /// Lists are filled where they are: one that is returned is moved, and that costs as much.
    #[inline]
    pub(super) fn fill(&mut self, len: usize, mut axis: impl FnMut(usize) -> Axis) {
        if len > INLINE_AXES {
            self.extend((0..len).map(axis));
            return;
        }
        // A fixed length lets the compiler keep the axes in registers.
        let places = self.shape.iter_mut().zip(&mut self.strides);
        for (position, (extent, stride)) in places.enumerate() {
            if position < len {
                let axis = axis(position);
                (*extent, *stride) = (axis.extent, axis.stride);
            }
        }
        self.len = len;
    }

    /// Gives every axis of a shape a stride of 0.
    #[inline]
    pub(super) fn fill_shape(&mut self, shape: &[i64]) {
        let extent = |position: usize| shape.get(position).copied().unwrap_or(1);
        self.fill(shape.len(), |position| Axis { extent: extent(position), stride: 0 });
    }

    /// Pairs extents and strides, of which there must be equally many.
    #[inline]
    pub(super) fn fill_pairs(&mut self, shape: &[i64], strides: &[i64]) {
        self.fill(shape.len(), |position| match (shape.get(position), strides.get(position)) {
            (Some(&extent), Some(&stride)) => Axis { extent, stride },
            _ => Axis::UNIT,
        });
    }

    /// Answers a question about all axes, and perhaps some of extent 1 after them.
    #[inline(always)]
    pub(super) fn ask<R>(&self, question: impl FnOnce(&[i64], &[i64]) -> R) -> R {
        match &self.heap {
            None => question(&self.shape, &self.strides),
            Some(many) => question(&many.shape, &many.strides),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, axis: Axis) {
        match (self.shape.get_mut(self.len), self.strides.get_mut(self.len)) {
            (Some(extent), Some(stride)) => {
                *extent = axis.extent;
                *stride = axis.stride;
                self.len += 1;
            }
            _ => self.push_to_heap(axis),
        }
    }

    #[cold]
    fn push_to_heap(&mut self, axis: Axis) {
        let many = self.heap.get_or_insert_with(|| {
            let mut many = Many { shape: Vec::with_capacity(64), strides: Vec::with_capacity(64) };
            many.shape.extend_from_slice(&self.shape);
            many.strides.extend_from_slice(&self.strides);
            Box::new(many)
        });
        many.shape.push(axis.extent);
        many.strides.push(axis.stride);
        self.len = ON_HEAP;
    }

    #[inline]
    pub(super) fn extend(&mut self, axes: impl IntoIterator<Item = Axis>) {
        for axis in axes {
            self.push(axis);
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

    #[inline]
    fn as_mut_slices(&mut self) -> (&mut [i64], &mut [i64]) {
        match (self.shape.get_mut(..self.len), self.strides.get_mut(..self.len), &mut self.heap) {
            (Some(shape), Some(strides), _) => (shape, strides),
            (.., Some(many)) => (&mut many.shape, &mut many.strides),
            (.., None) => (&mut [], &mut []),
        }
    }

    /// Says whether every extent is from 1 to 2^28, and every stride at most 2^27 bytes long.
    #[inline]
    pub(super) fn is_small(&self) -> bool {
        const LONGEST: i64 = 1 << 27;
        let mut bits = 0;
        for axis in self.iter() {
            // What is below its least number becomes a large one.
            bits |= axis.extent.wrapping_sub(1) | axis.stride.wrapping_add(LONGEST);
        }
        bits.cast_unsigned() < 2 * LONGEST.cast_unsigned()
    }

    /// Replaces the axis at a position; past the last axis nothing happens.
    #[inline]
    pub(super) fn set(&mut self, position: usize, axis: Axis) {
        let (shape, strides) = self.as_mut_slices();
        if let (Some(extent), Some(stride)) = (shape.get_mut(position), strides.get_mut(position)) {
            *extent = axis.extent;
            *stride = axis.stride;
        }
    }

    /// Goes through the axes to give each its stride.
    #[inline]
    pub(super) fn iter_mut(
        &mut self,
    ) -> impl DoubleEndedIterator<Item = (&mut i64, &mut i64)> + ExactSizeIterator {
        let (shape, strides) = self.as_mut_slices();
        shape.iter_mut().zip(strides)
    }

    #[inline]
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Axis> + ExactSizeIterator + '_ {
        let pairs = self.shape().iter().zip(self.strides());
        pairs.map(|(&extent, &stride)| Axis { extent, stride })
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
