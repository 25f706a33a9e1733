//! Permute, transpose, squeeze, unsqueeze, broadcast.

use cuda_safe::layout::LayoutRule;
use proptest::prelude::*;

use crate::brute::{Brute, assert_maps};
use crate::random::{any_choices, any_layout, layouts};

proptest! {
    #![proptest_config(layouts(5_000))]

    #[test]
    fn reordered_axes_keep_their_elements(layout in any_layout(), mut choices in any_choices()) {
        let (brute, ndim, size) = (Brute::of(&layout), layout.ndim(), layout.item_size());
        let order = choices.permutation(ndim);
        let axes: Vec<i64> = order.iter().map(|&axis| choices.signed(axis, ndim)).collect();
        let shape: Vec<i64> = order.iter().map(|&axis| brute.shape[axis]).collect();
        let expected = brute.pick(&shape, |index| {
            let mut from = vec![0; ndim];
            order.iter().zip(index).for_each(|(&axis, &at)| from[axis] = at);
            from
        });
        assert_maps(&layout.permute(&axes).unwrap(), &expected, size);
        let reversed: Vec<i64> = brute.shape.iter().rev().copied().collect();
        let expected = brute.pick(&reversed, |index| index.iter().rev().copied().collect());
        assert_maps(&layout.transpose().unwrap(), &expected, size);
        if ndim > 1 {
            let mut repeated = axes.clone();
            repeated[0] = repeated[1];
            prop_assert!(layout.permute(&repeated).is_err());
            prop_assert!(layout.permute(&axes[1..]).is_err());
        }
    }

    #[test]
    fn unit_axes_come_and_go(layout in any_layout(), mut choices in any_choices()) {
        let (brute, size) = (Brute::of(&layout), layout.item_size());
        let longer: Vec<i64> = brute.shape.iter().copied().filter(|&extent| extent != 1).collect();
        let expected = Brute { shape: longer, ..brute.clone() };
        assert_maps(&layout.squeeze().unwrap(), &expected, size);
        let added = usize::try_from(choices.between(0, 3)).unwrap();
        let ndim = layout.ndim() + added;
        let positions: Vec<usize> = choices.permutation(ndim).into_iter().take(added).collect();
        let axes: Vec<i64> = positions.iter().map(|&axis| choices.signed(axis, ndim)).collect();
        let mut kept = brute.shape.iter();
        let shape = (0..ndim)
            .map(|axis| if positions.contains(&axis) { 1 } else { *kept.next().unwrap() })
            .collect();
        let expected = Brute { shape, ..brute };
        let unsqueezed = layout.unsqueeze(&axes).unwrap();
        assert_maps(&unsqueezed, &expected, size);
        // A layout that is contiguous in C order stays so to those who look at all strides.
        if layout.is_c_contiguous() && layout.shape().iter().all(|&extent| extent > 1) {
            for axis in 1..ndim {
                let (outer, inner) = (axis - 1, axis);
                let span = unsqueezed.shape()[inner] * unsqueezed.byte_strides()[inner];
                prop_assert_eq!(unsqueezed.byte_strides()[outer], span);
            }
        }
    }

    #[test]
    fn broadcasts_repeat_elements(layout in any_layout(), mut choices in any_choices()) {
        let (brute, size) = (Brute::of(&layout), layout.item_size());
        let added = usize::try_from(choices.between(0, 2)).unwrap();
        let mut shape: Vec<i64> = (0..added).map(|_| choices.between(0, 3)).collect();
        shape.extend(brute.shape.iter().map(|&extent| match extent {
            1 => choices.of(&[1, 1, 0, 2, 3]),
            other => other,
        }));
        let expected = brute.pick(&shape, |index| {
            let kept = index[added..].iter().zip(&brute.shape);
            kept.map(|(&at, &extent)| if extent == 1 { 0 } else { at }).collect()
        });
        assert_maps(&layout.broadcast_to(&shape).unwrap(), &expected, size);
        if let Some(axis) = brute.shape.iter().position(|&extent| extent != 1) {
            shape[added + axis] += 1;
            let (need, have) = (brute.shape[axis], brute.shape[axis] + 1);
            let rule = LayoutRule::BroadcastExtent { axis: added + axis, need, have };
            prop_assert_eq!(layout.broadcast_to(&shape).unwrap_err().rule(), rule);
        }
        if let Some(fewer) = layout.ndim().checked_sub(1) {
            prop_assert!(layout.broadcast_to(&brute.shape[..fewer]).is_err());
        }
    }
}
