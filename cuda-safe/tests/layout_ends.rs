//! Layouts whose elements lie as far from each other as 64 bits allow.
//!
//! The distance of two offsets may be twice as long as an offset, so that strides and reaches that
//! an operation makes need not fit although every element does. All is done here in 128 bits beside
//! it: an operation gives the elements that it should, or refuses just what doesn't fit.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "what is done beside it fails the test where it is wrong"
)]

use cuda_safe::StridedLayout;
use cuda_safe::layout::{Index, LayoutError, LayoutRule, Order, Packing, Slice};

/// An axis in 128 bits.
#[derive(Debug, Clone, Copy)]
struct Axis {
    extent: i64,
    stride: i128,
}

impl Axis {
    fn reach(self) -> i128 {
        i128::from((self.extent - 1).max(0)) * self.stride
    }

    /// A layout can hold the axis.
    fn fits(self) -> bool {
        self.extent < 2 || i64::try_from(self.stride).and(i64::try_from(self.reach())).is_ok()
    }
}

/// A layout in 128 bits.
#[derive(Debug, Clone)]
struct Wide {
    axes: Vec<Axis>,
    offset: i128,
}

impl Wide {
    fn of(layout: &StridedLayout) -> Self {
        let axes = layout.shape().iter().zip(layout.byte_strides());
        let axes = axes.map(|(&extent, &stride)| Axis { extent, stride: stride.into() });
        Self { axes: axes.collect(), offset: layout.byte_offset().into() }
    }

    /// The offsets of all elements in index order.
    fn elements(&self) -> Vec<i128> {
        let mut all = vec![self.offset];
        for axis in &self.axes {
            let steps = |at: i128| (0..axis.extent).map(move |n| at + i128::from(n) * axis.stride);
            all = all.into_iter().flat_map(steps).collect();
        }
        all
    }

    fn with(mut self, axis: usize, first: i64, extent: i64, step: i64) -> Self {
        let old = self.axes[axis];
        self.offset += i128::from(first) * old.stride;
        self.axes[axis] = Axis { extent, stride: old.stride * i128::from(step) };
        self
    }

    fn diagonal(&self, above: i64) -> Self {
        let (rows, columns) = (self.axes[0], self.axes[1]);
        let (first_row, first_column) = ((-above).max(0), above.max(0));
        let extent = (rows.extent - first_row).min(columns.extent - first_column).max(0);
        let start = i128::from(first_row) * rows.stride + i128::from(first_column) * columns.stride;
        let axis = Axis { extent, stride: rows.stride + columns.stride };
        Self { axes: vec![axis], offset: self.offset + if extent > 0 { start } else { 0 } }
    }
}

/// Numbers of bytes of which two or four are as much as 64 bits hold.
const FAR: [i64; 16] = [
    1,
    -3,
    1 << 61,
    (1 << 61) + 1,
    -(1 << 61),
    (1 << 62) - 1,
    1 << 62,
    (1 << 62) + 1,
    -(1 << 62),
    -(1 << 62) - 1,
    3 << 61,
    -(3 << 61),
    i64::MAX - 1,
    i64::MAX,
    i64::MIN + 1,
    i64::MIN,
];

/// Calls a function with every layout of two far axes that can be made, also by flips.
fn far_layouts(mut call: impl FnMut(&StridedLayout)) -> usize {
    let mut count = 0;
    for shape in [[1, 2], [2, 1], [2, 2], [2, 3], [3, 2], [3, 3], [5, 2]] {
        for strides in FAR.iter().flat_map(|&row| FAR.map(|column| [row, column])) {
            for item_size in [1, 2, 1 << 61, 3 << 61] {
                for layout in turned(&shape, &strides, item_size).iter().flat_map(moved) {
                    call(&layout);
                    count += 1;
                }
            }
        }
    }
    count
}

/// The layout of these axes and those with axes reversed, as far as they can be made.
fn turned(shape: &[i64], strides: &[i64], item_size: i64) -> Vec<StridedLayout> {
    let Ok(layout) = StridedLayout::from_byte_strides(shape, strides, item_size) else {
        return Vec::new();
    };
    let both = layout.flip(0).and_then(|flipped| flipped.flip(1));
    let reversed = [layout.flip(0), layout.flip(1), both];
    [layout].into_iter().chain(reversed.into_iter().flatten()).collect()
}

/// The layout where it is, and as low and as high as its elements allow.
fn moved(layout: &StridedLayout) -> Vec<StridedLayout> {
    let Some((low, high)) = layout.byte_bounds() else { return Vec::new() };
    let to = |offset: i128| layout.with_byte_offset(i64::try_from(offset).unwrap()).unwrap();
    let offset = i128::from(layout.byte_offset());
    let lowest = to(offset + i128::from(i64::MIN) - i128::from(low));
    let highest = to(offset + i128::from(i64::MAX) - i128::from(high));
    vec![layout.clone(), lowest, highest]
}

/// The result has the elements that it should have, or it is refused because it doesn't fit.
fn expect(from: &StridedLayout, what: &str, found: Result<StridedLayout, LayoutError>, wide: Wide) {
    let fits = wide.axes.iter().all(|axis| axis.fits());
    match found {
        Ok(layout) => {
            assert!(fits, "{what} of {from} is {layout}");
            assert_eq!(Wide::of(&layout).elements(), wide.elements(), "{what} of {from}");
        }
        Err(error) => {
            assert!(!fits, "{what} of {from}: {error}");
            assert!(matches!(error.rule(), LayoutRule::Overflow { .. }), "{what}: {error}");
        }
    }
}

#[test]
fn parts_have_their_elements_or_do_not_fit() {
    let count = far_layouts(|layout| {
        let wide = Wide::of(layout);
        for axis in 0..2 {
            let extent = wide.axes[axis].extent;
            let number = i64::try_from(axis).unwrap();
            let flipped = wide.clone().with(axis, extent - 1, extent, -1);
            expect(layout, "flip", layout.flip(number), flipped);
            for step in [1_i64, 2, 3, -1, -2, -3] {
                let first = if step > 0 { 0 } else { extent - 1 };
                let part = wide.clone().with(axis, first, (extent - 1) / step.abs() + 1, step);
                let mut indices = [Index::Slice(Slice::FULL); 2];
                indices[axis] = Index::Slice(Slice::FULL.with_step(step));
                expect(layout, "slice", layout.slice(&indices), part);
            }
            let (before, after) = layout.split_at(number, 1).unwrap();
            expect(layout, "split_at", Ok(before), wide.clone().with(axis, 0, 1, 1));
            if extent > 1 {
                expect(layout, "split_at", Ok(after), wide.clone().with(axis, 1, extent - 1, 1));
                let mut windows = wide.clone().with(axis, 0, extent - 1, 1);
                windows.axes.push(Axis { extent: 2, ..wide.axes[axis] });
                expect(layout, "unfold", layout.unfold(number, 2, 1), windows);
            }
        }
        for above in -1..=1 {
            expect(layout, "diagonal", layout.diagonal(above, 0, 1), wide.diagonal(above));
        }
        let turned = Wide { axes: wide.axes.iter().rev().copied().collect(), ..wide };
        expect(layout, "transpose", layout.transpose(), turned);
    });
    assert!(count > 1_000, "{count}");
}

#[test]
fn without_elements_nothing_is_too_far() {
    for &row in &FAR {
        for &column in &FAR {
            for empty in [0, 1, 2] {
                let mut shape = [2, 3, 4];
                shape[empty] = 0;
                let layout =
                    StridedLayout::from_byte_strides(&shape, &[row, column, 1], 1).unwrap();
                for axis in 0..3 {
                    assert!(layout.flip(axis).unwrap().is_empty());
                    assert!(
                        layout.unfold(axis, 1, 2).is_ok_and(|it| it.is_empty())
                            || axis == empty as i64
                    );
                    assert!(layout.diagonal(0, axis, (axis + 1) % 3).unwrap().is_empty());
                }
                for step in [-1, -2, 2] {
                    let index = Index::Slice(Slice::FULL.with_step(step));
                    let sliced = layout.slice(&[index; 3]).unwrap();
                    assert!(sliced.is_empty() && sliced.byte_offset() == 0, "{sliced}");
                }
                assert!(layout.flatten().unwrap().is_empty());
                assert!(layout.reshape(&[0]).unwrap().is_empty());
                assert!(layout.coalesce().unwrap().is_empty());
            }
        }
    }
}

/// Says that one axis can't reach from the first of these offsets to the last.
fn are_too_far(elements: &[i128]) -> bool {
    let (low, high) = (elements.iter().min().unwrap(), elements.iter().max().unwrap());
    high - low > i64::MAX.into()
}

#[test]
fn merged_axes_have_the_same_elements_or_do_not_fit() {
    far_layouts(|layout| {
        let elements = Wide::of(layout).elements();
        for (found, is_in_order) in
            [(layout.flatten(), true), (layout.reshape(&[-1]), true), (layout.coalesce(), false)]
        {
            match found {
                Ok(merged) => {
                    let wide = Wide::of(&merged);
                    assert!(wide.axes.iter().all(|axis| axis.fits()), "{layout} as {merged}");
                    let (mut found, mut elements) = (wide.elements(), elements.clone());
                    if !is_in_order {
                        found.sort_unstable();
                        elements.sort_unstable();
                    }
                    assert_eq!(found, elements, "{layout} as {merged}");
                }
                Err(error) => match error.rule() {
                    LayoutRule::Overflow { .. } => {
                        let is_reversed = layout.byte_strides().contains(&i64::MIN);
                        assert!(are_too_far(&elements) || is_reversed, "{layout}: {error}");
                    }
                    rule => {
                        assert!(matches!(rule, LayoutRule::StridesIncompatible { .. }), "{rule}")
                    }
                },
            }
        }
        // What is merged isn't the last axis.
        let [rows, columns] = [layout.shape()[0], layout.shape()[1]];
        let repeated = layout.broadcast_to(&[2, rows, columns]).unwrap();
        if let Ok(merged) = repeated.permute(&[1, 2, 0]).unwrap().flatten() {
            assert!(Wide::of(&merged).axes.iter().all(|axis| axis.fits()), "{layout} as {merged}");
        }
        for (axis, number) in [(0, 0), (1, 1)] {
            let packing = Packing { axis: number, ..Packing::LAST_AXIS };
            for size in [1, 2, 1 << 61, 1 << 62] {
                if let Ok(repacked) = layout.repack(size, packing)
                    && repacked.shape()[axis] < 16
                {
                    let wide = Wide::of(&repacked);
                    let ends = |elements: &[i128], size: i64| {
                        let low = elements.iter().min().copied();
                        (low, elements.iter().max().map(|high| high + i128::from(size)))
                    };
                    assert!(wide.axes.iter().all(|axis| axis.fits()), "{repacked}");
                    assert_eq!(
                        ends(&wide.elements(), size),
                        ends(&elements, layout.item_size()),
                        "{layout} as {repacked}"
                    );
                }
            }
        }
    });
}

#[test]
fn merged_beside_each_other_both_fit() {
    far_layouts(|layout| {
        let dense = StridedLayout::dense(layout.shape(), 1, Order::C).unwrap();
        for (first, second) in [(&dense, layout), (layout, &dense)] {
            match first.coalesce_with(second) {
                Ok((merged, beside)) => {
                    for (merged, layout) in [(merged, first), (beside, second)] {
                        let wide = Wide::of(&merged);
                        assert!(wide.axes.iter().all(|axis| axis.fits()), "{layout} as {merged}");
                        assert_eq!(sorted(wide.elements()), sorted(Wide::of(layout).elements()));
                    }
                }
                Err(error) => {
                    assert!(matches!(error.rule(), LayoutRule::Overflow { .. }), "{error}");
                    let is_reversed = layout.byte_strides().contains(&i64::MIN);
                    let elements = Wide::of(layout).elements();
                    assert!(are_too_far(&elements) || is_reversed, "{layout}: {error}");
                }
            }
        }
    });
}

fn sorted(mut elements: Vec<i128>) -> Vec<i128> {
    elements.sort_unstable();
    elements
}

#[test]
fn repeated_elements_may_be_more_than_a_number_says() {
    let one = StridedLayout::dense(&[1, 1], 1, Order::C).unwrap();
    let repeated = one.broadcast_to(&[1 << 32, 1 << 31]).unwrap();
    let error = repeated.flatten().unwrap_err();
    assert!(matches!(error.rule(), LayoutRule::Overflow { .. }), "{error}");
    let fewer = one.broadcast_to(&[1 << 31, 1 << 31]).unwrap();
    assert_eq!(fewer.flatten().unwrap().shape(), [1 << 62]);
    assert_eq!(one.flatten().unwrap().shape(), [1]);
}
