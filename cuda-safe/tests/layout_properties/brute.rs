//! A layout as a list of offsets, one for each index in order.

use cuda_safe::StridedLayout;

/// All offsets of a layout by index, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Brute {
    pub(crate) shape: Vec<i64>,
    pub(crate) offsets: Vec<i64>,
}

/// Returns all indices of a shape in order, last axis fastest.
pub(crate) fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &extent in shape {
        all = all
            .into_iter()
            .flat_map(|index| {
                (0..extent).map(move |at| {
                    let mut longer = index.clone();
                    longer.push(at);
                    longer
                })
            })
            .collect();
    }
    all
}

impl Brute {
    pub(crate) fn of(layout: &StridedLayout) -> Self {
        let strides = layout.byte_strides();
        let offset = |index: Vec<i64>| {
            let steps: i64 = index.iter().zip(strides).map(|(at, stride)| at * stride).sum();
            layout.byte_offset() + steps
        };
        let shape = layout.shape().to_vec();
        Self { offsets: indices(&shape).into_iter().map(offset).collect(), shape }
    }

    /// Returns the list in which the element at an index is that of another index here.
    pub(crate) fn pick(&self, shape: &[i64], from: impl Fn(&[i64]) -> Vec<i64>) -> Self {
        let pick = |index: Vec<i64>| self.at(&from(&index));
        Self { shape: shape.to_vec(), offsets: indices(shape).into_iter().map(pick).collect() }
    }

    pub(crate) fn at(&self, index: &[i64]) -> i64 {
        let position = index.iter().zip(&self.shape).fold(0, |position, (at, extent)| {
            assert!((0..*extent).contains(at), "{index:?} in {:?}", self.shape);
            position * extent + at
        });
        self.offsets[usize::try_from(position).unwrap()]
    }

    /// Says whether the offsets, in this order, are those of evenly spaced axes of a shape.
    pub(crate) fn has_strides_for(&self, shape: &[i64]) -> bool {
        let Some(&first) = self.offsets.first() else { return true };
        let all = indices(shape);
        let unit = |axis: usize| {
            let index = all.iter().position(|index| {
                index.iter().enumerate().all(|(other, &at)| at == i64::from(other == axis))
            });
            index.map_or(0, |position| self.offsets[position] - first)
        };
        let strides: Vec<i64> = (0..shape.len()).map(unit).collect();
        all.iter().zip(&self.offsets).all(|(index, offset)| {
            let steps: i64 = index.iter().zip(&strides).map(|(at, stride)| at * stride).sum();
            first + steps == *offset
        })
    }

    pub(crate) fn sorted(&self) -> Vec<i64> {
        let mut offsets = self.offsets.clone();
        offsets.sort_unstable();
        offsets
    }
}

/// Checks that a layout has these offsets, and that going through it gives them too.
pub(crate) fn assert_maps(layout: &StridedLayout, expected: &Brute, item_size: i64) {
    assert_eq!(Brute::of(layout), *expected, "{layout}");
    assert_eq!(layout.offsets().collect::<Vec<_>>(), expected.offsets, "{layout}");
    assert_eq!(layout.item_size(), item_size);
    assert_eq!(layout.is_empty(), expected.offsets.is_empty());
}
