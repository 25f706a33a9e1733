//! Random layouts and random arguments.

use cuda_safe::StridedLayout;
use proptest::prelude::*;

/// The largest volume, so that brute force stays quick.
const MOST_ELEMENTS: i64 = 48;

/// Configures a test to try this many layouts.
pub(crate) fn layouts(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// One axis before it is known what is inside it.
#[derive(Debug, Clone, Copy)]
struct RawAxis {
    extent: u8,
    style: u8,
    bytes: i64,
}

/// Any layout: nested axes in any order, some padded, reversed, repeated or placed at random.
pub(crate) fn any_layout() -> impl Strategy<Value = StridedLayout> {
    let axis = (0..24_u8, 0..16_u8, -40..=40_i64);
    let axes = prop::collection::vec(axis, 0..=6);
    (axes, 0..22_u8, -80..=80_i64, any::<u64>()).prop_map(|(axes, size, offset, order)| {
        let axes: Vec<RawAxis> = axes
            .into_iter()
            .map(|(extent, style, bytes)| RawAxis { extent, style, bytes })
            .collect();
        let item_size = match size {
            0..16 => i64::from(size) + 1,
            16 => 17,
            17 => 21,
            18 => 33,
            _ => 1,
        };
        build(&axes, item_size, offset, Choices(order))
    })
}

fn build(axes: &[RawAxis], item_size: i64, offset: i64, mut order: Choices) -> StridedLayout {
    let mut volume = 1;
    let shape: Vec<i64> = axes
        .iter()
        .map(|axis| {
            let extent = match axis.extent {
                0 => 0,
                1..7 => 1,
                7..14 => 2,
                14..19 => 3,
                19..22 => 4,
                other => i64::from(other) - 16,
            };
            let extent = if volume * extent > MOST_ELEMENTS { 1 } else { extent };
            volume *= extent.max(1);
            extent
        })
        .collect();
    let mut strides = vec![0; axes.len()];
    let mut step = item_size;
    let fastest_first = if order.below(2) == 0 {
        (0..axes.len()).rev().collect()
    } else {
        order.permutation(axes.len())
    };
    for axis in fastest_first {
        let RawAxis { style, bytes, .. } = axes[axis];
        strides[axis] = match style {
            0..8 => step,
            8 => step + item_size * (bytes % 3).abs(),
            9 => step + bytes.abs() % 5,
            10 | 11 => -step,
            12 => 0,
            13 => bytes * item_size,
            14 => bytes,
            _ => item_size * (bytes % 4),
        };
        step = strides[axis].abs().max(1) * shape[axis].max(1);
    }
    let layout = StridedLayout::from_byte_strides(&shape, &strides, item_size).unwrap();
    let offset = match order.below(4) {
        0 => offset,
        1 => offset * item_size,
        // Where nothing lies before byte 0.
        2 => -layout.offset_bounds().map_or(0, |(lowest, _)| lowest),
        _ => 0,
    };
    layout.with_byte_offset(offset).unwrap()
}

/// A stream of random choices from one number.
#[derive(Debug, Clone)]
pub(crate) struct Choices(pub(crate) u64);

impl Choices {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Chooses from `0..end`.
    pub(crate) fn below(&mut self, end: i64) -> i64 {
        i64::try_from(self.next() >> 2).unwrap() % end.max(1)
    }

    /// Chooses from `first..=last`.
    pub(crate) fn between(&mut self, first: i64, last: i64) -> i64 {
        first + self.below(last - first + 1)
    }

    /// Chooses one of some values.
    pub(crate) fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::try_from(self.below(i64::try_from(values.len()).unwrap())).unwrap()]
    }

    pub(crate) fn permutation(&mut self, len: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..len).collect();
        for end in (1..len).rev() {
            let other = self.below(i64::try_from(end).unwrap() + 1);
            numbers.swap(end, usize::try_from(other).unwrap());
        }
        numbers
    }

    /// Writes an axis from the start or from the end.
    pub(crate) fn signed(&mut self, axis: usize, ndim: usize) -> i64 {
        let axis = i64::try_from(axis).unwrap();
        if self.below(2) == 0 { axis } else { axis - i64::try_from(ndim).unwrap() }
    }
}

/// Any stream of choices.
pub(crate) fn any_choices() -> impl Strategy<Value = Choices> {
    any::<u64>().prop_map(Choices)
}
