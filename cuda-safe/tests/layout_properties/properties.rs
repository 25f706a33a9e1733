//! Properties, equality, iteration, dense layouts.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use cuda_safe::StridedLayout;
use cuda_safe::layout::{LayoutRule, Order};
use proptest::prelude::*;

use crate::brute::{Brute, assert_maps, indices};
use crate::random::{any_choices, any_layout, layouts};

fn hash(layout: &StridedLayout) -> u64 {
    let mut hasher = DefaultHasher::new();
    layout.hash(&mut hasher);
    hasher.finish()
}

/// Offsets that follow each other without a gap, in some order, from the first element on.
fn side_by_side(offsets: &[i64], start: i64, item_size: i64) -> bool {
    (start..).step_by(usize::try_from(item_size).unwrap()).zip(offsets).all(|(a, b)| a == *b)
}

proptest! {
    #![proptest_config(layouts(10_000))]

    #[test]
    fn properties_are_those_of_the_elements(layout in any_layout()) {
        let brute = Brute::of(&layout);
        let sorted = brute.sorted();
        let (item_size, offset) = (layout.item_size(), layout.byte_offset());
        prop_assert_eq!(layout.ndim(), brute.shape.len());
        prop_assert_eq!(layout.volume().unwrap(), i64::try_from(brute.offsets.len()).unwrap());
        let bounds = sorted.first().copied().zip(sorted.last().copied());
        prop_assert_eq!(layout.offset_bounds(), bounds);
        let bytes = bounds.map(|(first, last)| (first, last + item_size - 1));
        prop_assert_eq!(layout.byte_bounds(), bytes);
        match (bytes, layout.required_size()) {
            (None, size) => prop_assert_eq!(size, Ok(0)),
            (Some((first, last)), Ok(size)) => prop_assert!(first >= 0 && size == last + 1),
            (Some((first, _)), Err(error)) => {
                prop_assert!(first < 0);
                prop_assert_eq!(error.rule(), LayoutRule::NegativeOffset { have: first });
            }
        }
        let by_columns = Brute::of(&layout.transpose().unwrap());
        let empty = sorted.is_empty();
        let c = empty || side_by_side(&brute.offsets, offset, item_size);
        let f = empty || side_by_side(&by_columns.offsets, offset, item_size);
        let any = empty || side_by_side(&sorted, offset, item_size);
        prop_assert_eq!(layout.is_c_contiguous(), c);
        prop_assert_eq!(layout.is_f_contiguous(), f);
        prop_assert_eq!(layout.is_contiguous(), any);
        prop_assert_eq!(layout.is_dense(), any && offset == 0);
        let unique = sorted.windows(2).all(|pair| pair[1] - pair[0] >= item_size);
        prop_assert_eq!(layout.is_unique(), unique);
    }

    #[test]
    fn numbers_in_elements_are_whole_or_none(layout in any_layout()) {
        let size = layout.item_size();
        let whole = |number: i64| number.rem_euclid(size) == 0;
        prop_assert_eq!(layout.element_offset().is_some(), whole(layout.byte_offset()));
        prop_assert!(layout.element_offset().is_none_or(|at| at * size == layout.byte_offset()));
        let longer = |axis: &usize| layout.shape()[*axis] > 1 && !layout.is_empty();
        let counting: Vec<usize> = (0..layout.ndim()).filter(longer).collect();
        let strides = layout.byte_strides();
        match layout.element_strides() {
            None => prop_assert!(counting.iter().any(|&axis| !whole(strides[axis]))),
            Some(elements) => {
                prop_assert!(counting.iter().all(|&axis| elements[axis] * size == strides[axis]));
                let again = StridedLayout::from_element_strides(layout.shape(), &elements, size);
                let again = again.unwrap().with_byte_offset(layout.byte_offset()).unwrap();
                prop_assert_eq!(&again, &layout);
            }
        }
    }
}

proptest! {
    #![proptest_config(layouts(5_000))]

    #[test]
    fn equal_layouts_map_alike(layout in any_layout(), mut choices in any_choices()) {
        let other_strides: Vec<i64> = layout
            .shape()
            .iter()
            .zip(layout.byte_strides())
            .map(|(&extent, &stride)| {
                let counts = extent > 1 && !layout.is_empty();
                if counts { stride } else { choices.of(&[0, 5, i64::MIN, i64::MAX]) }
            })
            .collect();
        let size = layout.item_size();
        let other = StridedLayout::from_byte_strides(layout.shape(), &other_strides, size).unwrap();
        let other = other.with_byte_offset(layout.byte_offset()).unwrap();
        prop_assert_eq!(&layout, &other);
        prop_assert_eq!(hash(&layout), hash(&other));
        let moved = layout.with_byte_offset(layout.byte_offset() + 1).unwrap();
        prop_assert_eq!(layout == moved, layout.is_empty());
        let larger = StridedLayout::from_byte_strides(layout.shape(), &other_strides, size + 1);
        prop_assert!(larger.is_err() || larger.unwrap() != layout);
    }

    #[test]
    fn offsets_go_through_all_elements(layout in any_layout(), mut choices in any_choices()) {
        let brute = Brute::of(&layout);
        assert_maps(&layout, &brute, layout.item_size());
        let mut offsets = layout.offsets();
        for passed in 0..=brute.offsets.len() {
            let left = brute.offsets.len() - passed;
            prop_assert_eq!(offsets.size_hint(), (left, Some(left)));
            prop_assert_eq!(offsets.next(), brute.offsets.get(passed).copied());
        }
        for (index, &offset) in indices(&brute.shape).iter().zip(&brute.offsets).take(8) {
            let written: Vec<i64> = index
                .iter()
                .zip(&brute.shape)
                .map(|(&at, &extent)| if choices.below(2) == 0 { at } else { at - extent })
                .collect();
            prop_assert_eq!(layout.offset_of(&written), Ok(offset));
        }
        if let Some(extent) = brute.shape.first() {
            let mut outside = vec![0; brute.shape.len()];
            outside[0] = choices.of(&[*extent, -extent - 1, i64::MAX, i64::MIN]);
            prop_assert!(layout.offset_of(&outside).is_err());
            prop_assert!(layout.offset_of(&outside[1..]).is_err());
        }
    }

    #[test]
    fn dense_layouts_keep_an_order(layout in any_layout(), mut choices in any_choices()) {
        let order: Vec<i64> = layout.stride_order().to_vec();
        let distinct: HashSet<i64> = order.iter().copied().collect();
        prop_assert_eq!(distinct.len(), layout.ndim());
        let step = |axis: i64| layout.byte_strides()[usize::try_from(axis).unwrap()].abs();
        for pair in order.windows(2) {
            let (slow, fast) = (step(pair[0]), step(pair[1]));
            prop_assert!(slow > fast || slow == fast && pair[0] < pair[1]);
        }
        let other: Vec<i64> = choices
            .permutation(layout.ndim())
            .into_iter()
            .map(|axis| choices.signed(axis, layout.ndim()))
            .collect();
        let size = layout.item_size();
        for (order, slow_first) in [
            (Order::C, (0..layout.ndim()).map(|axis| axis as i64).collect()),
            (Order::F, (0..layout.ndim()).rev().map(|axis| axis as i64).collect()),
            (Order::Keep, order),
            (Order::Axes(&other), other.clone()),
        ] {
            let dense = layout.to_dense(order).unwrap();
            prop_assert_eq!(dense.shape(), layout.shape());
            prop_assert!(dense.is_dense() && dense.item_size() == size);
            prop_assert!(dense.permute(&slow_first).unwrap().is_c_contiguous());
            prop_assert_eq!(&StridedLayout::dense_like(&layout, order).unwrap(), &dense);
            if !matches!(order, Order::Keep) {
                prop_assert_eq!(StridedLayout::dense(layout.shape(), size, order).unwrap(), dense);
            }
        }
        if layout.is_dense() {
            prop_assert_eq!(&layout.to_dense(Order::Keep).unwrap(), &layout);
        }
    }
}
