//! Every product and sum of a layout, with extents and strides around 2^31, 2^32 and 2^63.
//!
//! Each answer is a layout whose offsets fit 64 bits, checked here with 128, or a typed error.

use cuda_safe::StridedLayout;
use cuda_safe::layout::{
    Ellipsis, Index, LayoutError, LayoutRule, NewAxis, Order, Overlap, Packing, PerAxis, Slice,
    Uniqueness, s,
};

/// Numbers at which 32-bit and 64-bit arithmetic goes wrong, of either sign.
fn numbers() -> Vec<i64> {
    let mut numbers = vec![0, 1, 2, 3, 7];
    for power in [31, 32, 62] {
        numbers.extend([(1 << power) - 1, 1 << power, (1 << power) + 1]);
    }
    numbers.extend([i64::MAX / 3, i64::MAX - 1, i64::MAX]);
    let negative: Vec<i64> = numbers.iter().map(|number| -number).collect();
    numbers.extend(negative);
    numbers.push(i64::MIN);
    numbers
}

fn extents() -> Vec<i64> {
    numbers().into_iter().filter(|&number| number >= 0).collect()
}

/// Computes the lowest first byte and the highest last byte in 128 bits.
fn wide_bounds(
    shape: &[i64],
    strides: &[i64],
    offset: i64,
    item_size: i64,
) -> Option<(i128, i128)> {
    let (mut low, mut high) = (i128::from(offset), i128::from(offset) + i128::from(item_size) - 1);
    for (&extent, &stride) in shape.iter().zip(strides) {
        let reach = i128::from(extent - 1).max(0) * i128::from(stride);
        low += reach.min(0);
        high += reach.max(0);
    }
    (!shape.contains(&0)).then_some((low, high))
}

fn fits(bounds: Option<(i128, i128)>) -> bool {
    bounds.is_none_or(|(low, high)| low >= i64::MIN.into() && high <= i64::MAX.into())
}

fn check(layout: &StridedLayout) {
    let strides = layout.byte_strides();
    assert!(layout.shape().iter().all(|&extent| extent >= 0), "{layout}");
    let wide = wide_bounds(layout.shape(), strides, layout.byte_offset(), layout.item_size());
    let narrow = layout.byte_bounds().map(|(low, high)| (low.into(), high.into()));
    assert_eq!(narrow, wide, "{layout}");
}

/// Layouts of two axes that the constructor accepts; the others must overflow in 128 bits.
fn accepted(mut with: impl FnMut(&StridedLayout)) {
    let small_extents = [0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 62, i64::MAX];
    let small_strides = [1, -1, 1 << 31, -(1 << 32), 1 << 62, i64::MAX, i64::MIN];
    for item_size in [1, 3, 1 << 31, i64::MAX] {
        for &outer in &extents() {
            for &stride in &numbers() {
                for inner in small_extents {
                    for inner_stride in small_strides {
                        let (shape, strides) = ([outer, inner], [stride, inner_stride]);
                        let wide = wide_bounds(&shape, &strides, 0, item_size);
                        match StridedLayout::from_byte_strides(&shape, &strides, item_size) {
                            Ok(layout) => {
                                assert!(fits(wide));
                                check(&layout);
                                with(&layout);
                            }
                            Err(error) => {
                                assert!(!fits(wide), "{shape:?} {strides:?}: {error}");
                                assert_overflow(&error);
                            }
                        }
                    }
                }
            }
        }
    }
}

fn assert_overflow(error: &LayoutError) {
    assert!(matches!(error.rule(), LayoutRule::Overflow { .. }), "{error}");
}

/// An operation gives a layout that fits or refuses; no other outcome is possible.
fn settle(result: Result<StridedLayout, LayoutError>) {
    if let Ok(layout) = result {
        check(&layout);
    }
}

#[test]
fn constructors_refuse_exactly_what_does_not_fit() {
    accepted(|_| ());
}

#[test]
fn properties_never_overflow() {
    let mut seen = 0;
    accepted(|layout| {
        let volume: i128 = layout.shape().iter().map(|&extent| i128::from(extent)).product();
        match layout.volume() {
            Ok(found) => assert_eq!(i128::from(found), volume),
            Err(error) => {
                assert!(volume > i64::MAX.into());
                assert_overflow(&error);
            }
        }
        if let Err(error) = layout.required_size() {
            let (low, high) = layout.byte_bounds().unwrap();
            assert!(low < 0 || high == i64::MAX, "{error}");
        }
        assert!(!layout.is_dense() || layout.is_contiguous());
        assert!(!layout.is_f_contiguous() || layout.is_contiguous(), "{layout}");
        assert!(layout.element_strides().is_none_or(|strides| strides.len() == 2));
        assert_eq!(layout.stride_order().len(), 2);
        assert!(layout.offsets().take(3).count() <= 3);
        layout.offsets().size_hint();
        assert_eq!(layout, &layout.clone());
        // Every seventh picture is enough, and quick.
        seen += 1;
        if seen % 7 == 0 {
            assert!(!layout.draw().to_string().is_empty());
            assert!(!layout.draw_svg().contains("NaN"));
        }
    });
}

#[test]
fn uniqueness_and_overlap_end_and_never_overflow() {
    let mut seen = 0;
    accepted(|layout| {
        // Every seventh is enough, and quick.
        seen += 1;
        if seen % 7 != 0 {
            return;
        }
        if layout.uniqueness() == Uniqueness::NotProved {
            assert!(!layout.volume().is_ok_and(|volume| volume <= 1 << 16));
        }
        let nearby = layout.with_byte_offset(1);
        if let Ok(nearby) = nearby {
            assert_eq!(layout.overlap(&nearby), nearby.overlap(layout));
        }
        let itself = if layout.is_empty() { Overlap::Disjoint } else { Overlap::Overlapping };
        assert_eq!(layout.overlap(layout), itself);
    });
}

#[test]
fn operations_give_layouts_that_fit() {
    accepted(|layout| {
        for result in [
            layout.permute(&[1, 0]),
            layout.transpose(),
            layout.squeeze(),
            layout.unsqueeze(&[0, -1]),
            layout.flatten(),
            layout.coalesce(),
            layout.to_dense(Order::C),
            layout.to_dense(Order::Keep),
            layout.flip(0),
            layout.flip(-1),
            layout.diagonal(0, 0, 1),
            layout.diagonal(1 << 31, 0, 1),
            layout.diagonal(i64::MIN, 0, 1),
            layout.diagonal(i64::MAX, 0, 1),
            layout.unfold(0, 2, i64::MAX),
            layout.unfold(1, 1, 1 << 31),
            layout.windows(&[1, 2]),
            layout.reshape(&[-1]),
            layout.reshape(&[1 << 31, -1]),
            layout.reshape(&[i64::MAX, i64::MAX]),
            layout.reshape(&[-1, 1, 1 << 32, 1 << 32]),
            layout.broadcast_to(&[i64::MAX, 1 << 32, layout.shape()[0], layout.shape()[1]]),
            layout.repack(1, Packing::LAST_AXIS),
            layout.repack(i64::MAX, Packing::LAST_AXIS),
            layout.repack(2, Packing { axis: 0, ..Packing::LAST_AXIS }),
            layout.slice(&s![-1]),
            layout.slice(&s![.., i64::MAX]),
            layout.slice(&s![1.., ..;-1]),
            layout.slice(&s![..;i64::MIN, ..;i64::MAX]),
            layout.slice(&s![(1_i64 << 31)..i64::MAX;1 << 31, NewAxis, Ellipsis]),
        ] {
            settle(result);
        }
        for (middle, size) in
            [(0, 1 << 31), (1, i64::MAX), (1 << 32, 1 << 62), (i64::MAX, i64::MAX)]
        {
            if let Ok((before, after)) = layout.split_at(0, middle) {
                check(&before);
                check(&after);
            }
            layout.chunks(0, size).unwrap().take(3).for_each(|chunk| check(&chunk));
        }
        let dense = layout.to_dense(Order::F);
        if let Ok((left, right)) = dense.and_then(|dense| dense.coalesce_with(layout)) {
            check(&left);
            check(&right);
        }
        for number in [1, i64::MAX] {
            let address = Some(number.unsigned_abs());
            let packing = Packing { axis: 0, address, ..Packing::LAST_AXIS };
            if let Ok(found) = layout.max_compatible_item_size(number, packing) {
                assert!(found <= number && found % layout.item_size() == 0);
            }
        }
        assert!(layout.offset_of(&[i64::MIN, i64::MAX]).is_err());
    });
}

#[test]
fn arguments_of_any_size_are_refused_or_fit() {
    let layout = StridedLayout::dense(&[6, 4], 2, Order::C).unwrap();
    for &first in &numbers() {
        settle(layout.with_byte_offset(first));
        settle(layout.with_element_offset(first));
        settle(layout.flip(first));
        settle(layout.repack(first, Packing::LAST_AXIS));
        settle(layout.unsqueeze(&[first]));
        settle(layout.reshape(&[first]));
        settle(layout.slice(&[first.into()]));
        for &second in &numbers() {
            settle(layout.permute(&[first, second]));
            settle(layout.flatten_axes(first, second));
            settle(layout.diagonal(first, second, 1));
            settle(layout.broadcast_to(&[first, 6, second]));
            settle(layout.broadcast_to(&[first, second, 6, 4]));
            settle(layout.windows(&[first, second]));
            settle(layout.unfold(0, first, second));
            settle(layout.reshape(&[first, second, 2]));
            settle(StridedLayout::dense(&[first, second], 1, Order::F));
            settle(StridedLayout::from_element_strides(&[first, 3], &[second, 1], 5));
            for step in [1, -1, 2, i64::MAX, i64::MIN] {
                let slice = Slice { start: Some(first), stop: Some(second), step };
                settle(layout.slice(&[Index::Slice(slice)]));
            }
        }
    }
}

#[test]
fn sizes_of_large_arrays_are_exact() {
    // 70,000 by 70,000 bytes overflow 32 bits, 2^40 by 2^40 overflow 64.
    let large = StridedLayout::dense(&[70_000, 70_000], 1, Order::C).unwrap();
    assert_eq!(large.required_size(), Ok(4_900_000_000));
    let error = StridedLayout::dense(&[1 << 40, 1 << 40], 1, Order::C).unwrap_err();
    let message = "dense: the size in bytes must fit 64 bits \
                   (need at most 2^63 - 1, have 1099511627776 * 1099511627776)";
    assert_eq!(error.to_string(), message);
    // Whether a layout is empty doesn't depend on where the zero stands.
    for shape in [[0, 1 << 40, 1 << 40], [1 << 40, 0, 1 << 40], [1 << 40, 1 << 40, 0]] {
        let empty = StridedLayout::dense(&shape, 8, Order::C).unwrap();
        assert_eq!(empty.volume(), Ok(0));
        assert_eq!(empty.required_size(), Ok(0));
    }
}

#[test]
fn axes_are_limited_to_64() {
    let many = vec![1; 65];
    let most = StridedLayout::dense(&many[1..], 1, Order::C).unwrap();
    let too_many = LayoutRule::TooManyAxes { need: 64, have: 65 };
    for error in [
        StridedLayout::dense(&many, 1, Order::F).unwrap_err(),
        StridedLayout::from_byte_strides(&many, &many, 1).unwrap_err(),
        StridedLayout::from_element_strides(&many, &many, 1).unwrap_err(),
        most.unsqueeze(&[0]).unwrap_err(),
        most.slice(&s![NewAxis]).unwrap_err(),
        most.broadcast_to(&many).unwrap_err(),
        most.reshape(&many).unwrap_err(),
        most.unfold(3, 1, 1).unwrap_err(),
    ] {
        assert_eq!(error.rule(), too_many, "{error}");
    }
    let order: Vec<i64> = (0..64).rev().collect();
    assert_eq!(most.permute(&order).unwrap(), most);
    assert_eq!(most.stride_order(), PerAxis::from(&(0..64).collect::<Vec<_>>()[..]));
    assert!(most.is_dense() && most.is_unique());
}
