//! Overlap of two layouts, and coalesced layouts.

use std::collections::HashSet;

use cuda_safe::StridedLayout;
use cuda_safe::layout::{LayoutRule, Overlap};
use proptest::prelude::*;

use crate::brute::Brute;
use crate::random::{any_choices, any_layout, layouts};

fn bytes(layout: &StridedLayout) -> HashSet<i64> {
    let item = |offset: i64| offset..offset + layout.item_size();
    Brute::of(layout).offsets.into_iter().flat_map(item).collect()
}

/// Checks that neighbours can't be merged, nothing has extent 1, and strides descend.
fn is_coalesced(layout: &StridedLayout) -> bool {
    let (shape, strides) = (layout.shape(), layout.byte_strides());
    let descends = strides.windows(2).all(|pair| pair[0] >= pair[1] && pair[1] >= 0);
    let apart = (1..layout.ndim()).all(|axis| strides[axis - 1] != shape[axis] * strides[axis]);
    descends && apart && shape.iter().all(|&extent| extent > 1)
}

proptest! {
    #![proptest_config(layouts(4_000))]

    #[test]
    fn layouts_overlap_if_they_share_a_byte(
        layout in any_layout(),
        other in any_layout(),
        mut choices in any_choices(),
    ) {
        let near = layout.byte_offset() + choices.between(-30, 30);
        let other = other.with_byte_offset(near).unwrap();
        let shared = !bytes(&layout).is_disjoint(&bytes(&other));
        let expected = if shared { Overlap::Overlapping } else { Overlap::Disjoint };
        prop_assert_eq!(layout.overlap(&other), expected, "{} and {}", layout, other);
        prop_assert_eq!(other.overlap(&layout), expected);
        let itself = if layout.is_empty() { Overlap::Disjoint } else { Overlap::Overlapping };
        prop_assert_eq!(layout.overlap(&layout), itself);
    }

}

proptest! {
    #![proptest_config(layouts(3_000))]

    #[test]
    fn coalesced_layouts_keep_their_elements(layout in any_layout()) {
        let coalesced = layout.coalesce().unwrap();
        prop_assert_eq!(Brute::of(&coalesced).sorted(), Brute::of(&layout).sorted());
        prop_assert_eq!(coalesced.item_size(), layout.item_size());
        if layout.is_empty() {
            prop_assert_eq!(coalesced.shape(), [0]);
        } else {
            prop_assert!(is_coalesced(&coalesced), "{} to {}", layout, coalesced);
            prop_assert!(!layout.is_contiguous() || coalesced.ndim() <= 1);
        }
    }

    #[test]
    fn coalesced_pairs_keep_their_elements_together(
        layout in any_layout(),
        mut choices in any_choices(),
    ) {
        let pairs = |left: &StridedLayout, right: &StridedLayout| {
            let mut pairs: Vec<_> = left.offsets().zip(right.offsets()).collect();
            pairs.sort_unstable();
            pairs
        };
        let axes: Vec<i64> =
            choices.permutation(layout.ndim()).into_iter().map(|axis| axis as i64).collect();
        let order = cuda_safe::layout::Order::Axes(&axes);
        let mut other = layout.to_dense(order).unwrap();
        if layout.ndim() > 0 && choices.below(2) == 0 {
            other = other.flip(choices.below(layout.ndim() as i64)).unwrap();
        }
        for (left, right) in [(&layout, &other), (&other, &layout)] {
            let (new_left, new_right) = left.coalesce_with(right).unwrap();
            prop_assert_eq!(new_left.shape(), new_right.shape());
            prop_assert_eq!(pairs(&new_left, &new_right), pairs(left, right));
            prop_assert!(new_left.byte_strides().iter().all(|&stride| stride >= 0));
        }
        let longer = layout.unsqueeze(&[0]).unwrap();
        let rule = longer.coalesce_with(&layout).unwrap_err().rule();
        let same_rule = matches!(rule, LayoutRule::ShapesDiffer { .. });
        prop_assert!(same_rule);
    }
}
