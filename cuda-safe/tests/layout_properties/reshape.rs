//! Reshape and flatten: accepted exactly where evenly spaced axes exist.

use cuda_safe::layout::LayoutRule;
use proptest::prelude::*;

use crate::brute::{Brute, assert_maps};
use crate::random::{Choices, any_choices, any_layout, layouts};

/// A shape of some volume, with axes of extent 1 strewn in.
fn shape_of(volume: i64, choices: &mut Choices) -> Vec<i64> {
    let mut shape = Vec::new();
    let mut left = volume;
    while left > 1 && shape.len() < 5 {
        let divisors: Vec<i64> = (1..=left).filter(|divisor| left % divisor == 0).collect();
        let extent = choices.of(&divisors);
        shape.push(extent);
        left /= extent;
    }
    if left != 1 || choices.below(4) == 0 {
        shape.push(left);
    }
    if volume == 0 && choices.below(2) == 0 {
        shape.insert(0, choices.between(0, 3));
    }
    shape
}

proptest! {
    #![proptest_config(layouts(7_500))]

    #[test]
    fn a_shape_is_given_where_strides_for_it_exist(
        layout in any_layout(),
        mut choices in any_choices(),
    ) {
        let brute = Brute::of(&layout);
        let volume = layout.volume().unwrap();
        let mut shape = shape_of(volume, &mut choices);
        let possible = brute.has_strides_for(&shape);
        let expected = Brute { shape: shape.clone(), ..brute.clone() };
        let reshaped = layout.reshape(&shape);
        prop_assert_eq!(reshaped.is_ok(), possible, "{} to {:?}: {:?}", layout, shape, reshaped);
        if let Ok(reshaped) = &reshaped {
            assert_maps(reshaped, &expected, layout.item_size());
            prop_assert_eq!(reshaped.byte_offset(), layout.byte_offset());
        }
        // One extent left to be inferred gives the same, or is ambiguous.
        if !shape.is_empty() {
            let axis = usize::try_from(choices.below(shape.len() as i64)).unwrap();
            shape[axis] = -1;
            let inferred = layout.reshape(&shape);
            let others: i64 = shape.iter().filter(|&&extent| extent != -1).product();
            match others {
                0 => {
                    let rule = LayoutRule::InferredAmbiguous { axis };
                    prop_assert_eq!(inferred.unwrap_err().rule(), rule);
                }
                _ => prop_assert_eq!(inferred.ok(), reshaped.ok()),
            }
            let another_volume = [volume + 1];
            prop_assert!(layout.reshape(&another_volume).is_err());
        }
        prop_assert_eq!(layout.reshape(&brute.shape).unwrap(), layout);
    }

    #[test]
    fn flattened_axes_are_merged_as_far_as_possible(
        layout in any_layout(),
        mut choices in any_choices(),
    ) {
        let (brute, ndim) = (Brute::of(&layout), layout.ndim());
        if ndim == 0 {
            let expected = Brute { shape: vec![1], ..brute };
            assert_maps(&layout.flatten().unwrap(), &expected, layout.item_size());
            prop_assert!(layout.flatten_axes(0, 0).is_err());
            return Ok(());
        }
        let first = usize::try_from(choices.below(ndim as i64)).unwrap();
        let last = usize::try_from(choices.below(ndim as i64)).unwrap();
        let flat = layout
            .flatten_axes(choices.signed(first, ndim), choices.signed(last, ndim))
            .unwrap();
        let expected = Brute { shape: flat.shape().to_vec(), ..brute.clone() };
        assert_maps(&flat, &expected, layout.item_size());
        if last <= first {
            prop_assert_eq!(flat, layout);
            return Ok(());
        }
        prop_assert_eq!(&flat.shape()[..first], &brute.shape[..first]);
        let after = ndim - 1 - last;
        let end = flat.ndim() - after;
        prop_assert_eq!(&flat.shape()[end..], &brute.shape[last + 1..]);
        for axis in first..end - 1 {
            let mut merged = flat.shape().to_vec();
            merged[axis] *= merged.remove(axis + 1);
            prop_assert!(!brute.has_strides_for(&merged), "{} could be {:?}", flat, merged);
        }
    }
}
