//! Areas against a brute-force search of their bytes.

use std::collections::HashSet;

use proptest::prelude::*;

use super::Area;

fn area() -> impl Strategy<Value = Area> {
    (0_usize..40, 0_usize..12, 0_usize..8, 0_usize..6)
        .prop_map(|(start, pitch, width, height)| Area::rows(start, pitch, width, height))
}

fn bytes(area: &Area) -> HashSet<usize> {
    (0..area.height)
        .flat_map(|row| {
            let start = area.start + row * area.pitch;
            start..start + area.width
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn overlap_is_a_byte_in_both(left in area(), right in area()) {
        let shared = !bytes(&left).is_disjoint(&bytes(&right));
        prop_assert_eq!(left.overlaps(&right), shared);
        prop_assert_eq!(right.overlaps(&left), shared);
    }

    #[test]
    fn what_is_contained_has_no_other_byte(left in area(), right in area()) {
        if left.contains(&right) {
            prop_assert!(bytes(&right).is_subset(&bytes(&left)));
        }
        prop_assert!(left.contains(&left));
    }

    #[test]
    fn the_end_is_behind_the_last_byte(area in area()) {
        let last = bytes(&area).into_iter().max();
        prop_assert_eq!(area.end(), last.map_or(area.start, |last| last + 1));
    }
}

#[test]
fn rows_contain_their_parts() {
    let image = Area::rows(0, 2560, 2304, 576);
    assert!(image.contains(&Area::rows(2560 * 3 + 30, 2560, 300, 10)));
    assert!(image.contains(&Area::bytes(2560, 2304)));
    assert!(!image.contains(&Area::bytes(2304, 1)));
    assert!(Area::bytes(0, 2560 * 576).contains(&image));
}

#[test]
fn huge_areas_do_not_overflow() {
    let huge = Area::rows(usize::MAX - 10, usize::MAX / 2, 8, 3);
    assert!(huge.overlaps(&Area::bytes(usize::MAX - 4, 2)));
    assert!(!huge.overlaps(&Area::bytes(0, 8)));
}
