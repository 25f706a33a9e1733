//! Slices, flips, splits and chunks.

use cuda_safe::StridedLayout;
use cuda_safe::layout::{Index, Slice, s};
use proptest::prelude::*;

use crate::brute::{Brute, assert_maps};
use crate::random::{Choices, any_choices, any_layout, layouts};

/// Lists the elements of a slice as Python defines them.
fn elements(slice: Slice, extent: i64) -> Vec<i64> {
    let counted = |end: i64| if end < 0 { end + extent } else { end };
    let chosen = |at: &i64| {
        if slice.step > 0 {
            let start = slice.start.map_or(0, counted).max(0);
            let stop = slice.stop.map_or(extent, counted);
            start <= *at && *at < stop && (at - start) % slice.step == 0
        } else {
            let start = slice.start.map_or(extent - 1, counted).min(extent - 1);
            let stop = slice.stop.map_or(-1, |end| counted(end).max(-1));
            stop < *at && *at <= start && (start - at) % slice.step == 0
        }
    };
    if slice.step > 0 {
        (0..extent).filter(chosen).collect()
    } else {
        (0..extent).rev().filter(chosen).collect()
    }
}

fn any_slice(extent: i64, choices: &mut Choices) -> Slice {
    let end = |choices: &mut Choices| match choices.below(3) {
        0 => None,
        1 => Some(choices.between(-extent - 2, extent + 2)),
        _ => Some(choices.of(&[0, -1, 1, i64::MAX, i64::MIN])),
    };
    let (start, stop) = (end(choices), end(choices));
    let step = choices.of(&[1, 1, 2, 3, -1, -2, -3, i64::MAX, i64::MIN]);
    Slice { start, stop, step }
}

/// What becomes of an axis: its chosen elements, and whether it stays.
struct Part {
    elements: Vec<i64>,
    stays: bool,
}

/// Chooses indices for the first axes, with new axes and perhaps an ellipsis between.
fn any_indices(layout: &StridedLayout, choices: &mut Choices) -> Option<(Vec<Index>, Brute)> {
    let brute = Brute::of(layout);
    let mut indices = Vec::new();
    // `None` is a new axis.
    let mut parts: Vec<Option<Part>> = Vec::new();
    let mut axis = 0;
    let mut has_ellipsis = false;
    while axis < layout.ndim() && choices.below(8) > 0 {
        let extent = brute.shape[axis];
        match choices.below(8) {
            0 => {
                indices.push(Index::NewAxis);
                parts.push(None);
                continue;
            }
            1 if !has_ellipsis => {
                has_ellipsis = true;
                let passed = usize::try_from(choices.below((layout.ndim() - axis) as i64 + 1));
                for _ in 0..passed.unwrap() {
                    let elements = (0..brute.shape[axis]).collect();
                    parts.push(Some(Part { elements, stays: true }));
                    axis += 1;
                }
                indices.push(Index::Ellipsis);
                continue;
            }
            2 | 3 if extent > 0 => {
                let at = choices.below(extent);
                indices.push(Index::At(if choices.below(2) == 0 { at } else { at - extent }));
                parts.push(Some(Part { elements: vec![at], stays: false }));
            }
            _ => {
                let slice = any_slice(extent, choices);
                indices.push(slice.into());
                parts.push(Some(Part { elements: elements(slice, extent), stays: true }));
            }
        }
        axis += 1;
    }
    if has_ellipsis && axis < layout.ndim() {
        // The ellipsis would stand for more axes than were counted.
        return None;
    }
    for &extent in &brute.shape[axis..] {
        parts.push(Some(Part { elements: (0..extent).collect(), stays: true }));
    }
    let extent = |part: &Option<Part>| match part {
        None => Some(1),
        Some(part) => part.stays.then_some(part.elements.len() as i64),
    };
    let shape: Vec<i64> = parts.iter().filter_map(extent).collect();
    let expected = brute.pick(&shape, |index| {
        let mut index = index.iter();
        let mut from = Vec::new();
        for part in &parts {
            match part {
                None => assert_eq!(index.next(), Some(&0)),
                Some(part) if part.stays => {
                    from.push(part.elements[usize::try_from(*index.next().unwrap()).unwrap()]);
                }
                Some(part) => from.push(part.elements[0]),
            }
        }
        from
    });
    Some((indices, expected))
}

proptest! {
    #![proptest_config(layouts(7_500))]

    #[test]
    fn slices_select_what_python_selects(layout in any_layout(), mut choices in any_choices()) {
        let Some((indices, expected)) = any_indices(&layout, &mut choices) else { return Ok(()) };
        let part = layout.slice(&indices).unwrap();
        assert_maps(&part, &expected, layout.item_size());
        let taken = |index: &&Index| matches!(index, Index::At(_) | Index::Slice(_));
        let left = layout.ndim() - indices.iter().filter(taken).count();
        let mut too_many = indices.clone();
        too_many.extend(vec![Index::from(..); left + 1]);
        prop_assert!(layout.slice(&too_many).is_err());
    }
}

proptest! {
    #![proptest_config(layouts(2_500))]

    #[test]
    fn parts_of_an_axis_make_the_whole(layout in any_layout(), mut choices in any_choices()) {
        let (brute, ndim, size) = (Brute::of(&layout), layout.ndim(), layout.item_size());
        if ndim == 0 {
            prop_assert!(layout.flip(0).is_err() && layout.chunks(-1, 1).is_err());
            return Ok(());
        }
        let position = usize::try_from(choices.below(ndim as i64)).unwrap();
        let axis = choices.signed(position, ndim);
        let extent = brute.shape[position];
        let moved = |shape: &[i64], to: &dyn Fn(i64) -> i64| {
            brute.pick(shape, |index| {
                let mut from = index.to_vec();
                from[position] = to(from[position]);
                from
            })
        };
        let with_extent = |extent: i64| {
            let mut shape = brute.shape.clone();
            shape[position] = extent;
            shape
        };
        let flipped = moved(&brute.shape, &|at| extent - 1 - at);
        assert_maps(&layout.flip(axis).unwrap(), &flipped, size);
        let middle = choices.between(0, extent);
        let (before, after) = layout.split_at(axis, middle).unwrap();
        assert_maps(&before, &moved(&with_extent(middle), &|at| at), size);
        assert_maps(&after, &moved(&with_extent(extent - middle), &|at| at + middle), size);
        prop_assert!(layout.split_at(axis, choices.of(&[-1, extent + 1, i64::MIN])).is_err());
        let length = choices.of(&[1, 2, 3, i64::MAX]);
        let mut start = 0;
        for chunk in layout.chunks(axis, length).unwrap() {
            let shape = with_extent(length.min(extent - start));
            assert_maps(&chunk, &moved(&shape, &|at| at + start), size);
            start += shape[position];
        }
        prop_assert_eq!(start, extent);
    }
}

#[test]
fn parts_of_an_empty_layout_begin_where_it_begins() {
    // In place and on the heap; the distances to other elements don't fit.
    for ndim in [2, 6, 7, 64] {
        let mut shape = vec![5; ndim];
        shape[1] = 0;
        let layout = StridedLayout::from_byte_strides(&shape, &vec![i64::MAX; ndim], 1).unwrap();
        let layout = layout.with_byte_offset(7).unwrap();
        let (before, after) = layout.split_at(0, 3).unwrap();
        let parts = [
            layout.flip(0).unwrap(),
            layout.slice(&s![3..]).unwrap(),
            layout.slice(&s![-1, ..;-1]).unwrap(),
            layout.chunks(0, 2).unwrap().last().unwrap(),
            before,
            after,
        ];
        for part in parts {
            assert_eq!((part.byte_offset(), part.is_empty()), (7, true), "{part}");
        }
    }
}
