//! Repack and the largest compatible item size.

use cuda_safe::layout::Packing;
use proptest::prelude::*;

use crate::brute::{Brute, assert_maps};
use crate::random::{any_choices, any_layout, layouts};

proptest! {
    #![proptest_config(layouts(5_000))]

    #[test]
    fn repacked_items_are_the_same_bytes(layout in any_layout(), mut choices in any_choices()) {
        let (brute, ndim, old) = (Brute::of(&layout), layout.ndim(), layout.item_size());
        let new = match choices.below(4) {
            0 => choices.between(1, 40),
            1 => choices.of(&(1..=old).filter(|size| old % size == 0).collect::<Vec<_>>()),
            _ => old * choices.between(1, 4),
        };
        if ndim == 0 {
            prop_assert_eq!(layout.repack(new, Packing::LAST_AXIS).is_ok(), new == old);
            return Ok(());
        }
        let position = usize::try_from(choices.below(ndim as i64)).unwrap();
        let axis = choices.signed(position, ndim);
        let extent = brute.shape[position];
        let stride = layout.byte_strides()[position];
        let side_by_side = extent <= 1 || layout.is_empty() || stride == old;
        let packs = new > old && new % old == 0 && extent % (new / old) == 0;
        let unpacks = new < old && old % new == 0;
        let possible = new == old || side_by_side && (packs || unpacks);
        let packing = Packing { axis, ..Packing::LAST_AXIS };
        let repacked = layout.repack(new, packing);
        prop_assert_eq!(repacked.is_ok(), possible, "{} to {}: {:?}", layout, new, repacked);
        let Ok(repacked) = repacked else { return Ok(()) };
        let mut shape = brute.shape.clone();
        shape[position] = extent * old / new;
        let offsets = crate::brute::indices(&shape)
            .into_iter()
            .map(|mut index| {
                let byte = index[position] * new;
                index[position] = byte / old;
                brute.at(&index) + byte % old
            })
            .collect();
        let expected = Brute { shape: shape.clone(), offsets };
        assert_maps(&repacked, &expected, new);
        let dropped = layout.repack(new, Packing { keep_axis: false, ..packing }).unwrap();
        if new != old && shape[position] == 1 {
            shape.remove(position);
        }
        assert_maps(&dropped, &Brute { shape, ..expected }, new);
    }

    #[test]
    fn the_largest_item_size_divides_all_that_it_must(
        layout in any_layout(),
        mut choices in any_choices(),
    ) {
        let (ndim, size) = (layout.ndim(), layout.item_size());
        if ndim == 0 {
            prop_assert!(layout.max_compatible_item_size(64, Packing::LAST_AXIS).is_err());
            return Ok(());
        }
        let position = usize::try_from(choices.below(ndim as i64)).unwrap();
        let axis = choices.signed(position, ndim);
        let limit = size * choices.between(1, 8) + choices.below(size);
        let address = choices.of(&[None, Some(size * 24), Some(size * 5), Some(1 << 12)]);
        let packing = Packing {
            axis,
            address: address.map(i64::unsigned_abs),
            ..Packing::LAST_AXIS
        };
        let found = layout.max_compatible_item_size(limit, packing);
        if address.is_some_and(|address| address % size != 0) {
            prop_assert!(found.is_err());
            return Ok(());
        }
        let (extent, stride) = (layout.shape()[position], layout.byte_strides()[position]);
        let counts = |axis: usize| layout.shape()[axis] > 1 && !layout.is_empty();
        let divides = |factor: &i64| {
            let new = size * factor;
            let others = (0..ndim).filter(|&other| other != position && counts(other));
            (limit / size) % factor == 0
                && extent % factor == 0
                && extent > 0
                && (!counts(position) || stride == size)
                && address.unwrap_or(0) % new == 0
                && (layout.is_empty() || layout.byte_offset() % new == 0)
                && others.map(|axis| layout.byte_strides()[axis]).all(|other| other % new == 0)
        };
        let factor = (1..=limit / size).filter(divides).max().unwrap_or(1);
        prop_assert_eq!(found, Ok(size * factor), "{} axis {}", layout, axis);
        // What is found can be packed.
        prop_assert!(layout.repack(size * factor, packing).is_ok());
    }
}
