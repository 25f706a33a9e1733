//! Diagonals and windows.

use proptest::prelude::*;

use crate::brute::{Brute, assert_maps};
use crate::random::{any_choices, any_layout, layouts};

proptest! {
    #![proptest_config(layouts(2_500))]

    #[test]
    fn a_diagonal_takes_a_step_on_both_axes(layout in any_layout(), mut choices in any_choices()) {
        let (brute, ndim) = (Brute::of(&layout), layout.ndim());
        if ndim < 2 {
            prop_assert!(layout.diagonal(0, 0, 0).is_err());
            return Ok(());
        }
        let order = choices.permutation(ndim);
        let (rows, columns) = (order[0], order[1]);
        let above = choices.between(-5, 5);
        let (first_row, first_column) = ((-above).max(0), above.max(0));
        let length =
            (brute.shape[rows] - first_row).min(brute.shape[columns] - first_column).max(0);
        let others: Vec<usize> = (0..ndim).filter(|&at| at != rows && at != columns).collect();
        let mut shape: Vec<i64> = others.iter().map(|&axis| brute.shape[axis]).collect();
        shape.push(length);
        let expected = brute.pick(&shape, |index| {
            let mut from = vec![0; ndim];
            others.iter().zip(index).for_each(|(&axis, &at)| from[axis] = at);
            from[rows] = first_row + index[others.len()];
            from[columns] = first_column + index[others.len()];
            from
        });
        let (row_axis, column_axis) = (choices.signed(rows, ndim), choices.signed(columns, ndim));
        let diagonal = layout.diagonal(above, row_axis, column_axis).unwrap();
        assert_maps(&diagonal, &expected, layout.item_size());
        let far = choices.of(&[i64::MAX, i64::MIN]);
        prop_assert!(layout.diagonal(far, row_axis, column_axis).unwrap().is_empty());
    }

    #[test]
    fn windows_are_all_that_fit(layout in any_layout(), mut choices in any_choices()) {
        let (brute, ndim) = (Brute::of(&layout), layout.ndim());
        let sizes: Vec<i64> = brute.shape.iter().map(|&extent| choices.between(1, extent.max(1)))
            .collect();
        let windows = layout.windows(&sizes);
        if layout.is_empty() {
            prop_assert!(windows.is_err());
            return Ok(());
        }
        let mut shape: Vec<i64> =
            brute.shape.iter().zip(&sizes).map(|(extent, size)| extent - size + 1).collect();
        shape.extend(&sizes);
        let expected = brute.pick(&shape, |index| {
            index[..ndim].iter().zip(&index[ndim..]).map(|(start, at)| start + at).collect()
        });
        assert_maps(&windows.unwrap(), &expected, layout.item_size());
        if ndim == 0 {
            return Ok(());
        }
        let axis = usize::try_from(choices.below(ndim as i64)).unwrap();
        let (size, step) = (sizes[axis], choices.of(&[1, 2, 3, i64::MAX]));
        let mut shape = brute.shape.clone();
        let starts = (0..=brute.shape[axis] - size).step_by(usize::try_from(step).unwrap());
        shape[axis] = starts.count() as i64;
        shape.push(size);
        let expected = brute.pick(&shape, |index| {
            let mut from = index[..ndim].to_vec();
            from[axis] = from[axis] * step + index[ndim];
            from
        });
        let unfolded = layout.unfold(choices.signed(axis, ndim), size, step).unwrap();
        assert_maps(&unfolded, &expected, layout.item_size());
        prop_assert!(layout.unfold(axis as i64, brute.shape[axis] + 1, 1).is_err());
    }
}
