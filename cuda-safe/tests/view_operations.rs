//! Views of slices of the host: every operation gives what its layout says, and parts stay apart.

#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use cuda_safe::layout::{Order, Packing, StridedLayout, s};
use cuda_safe::{DType, Dynamic, Item, Rule, View, ViewMut};

fn dense(shape: &[i64], item_size: i64) -> StridedLayout {
    StridedLayout::dense(shape, item_size, Order::C).unwrap()
}

fn bytes(shape: &[i64], strides: &[i64], item_size: i64) -> StridedLayout {
    StridedLayout::from_byte_strides(shape, strides, item_size).unwrap()
}

/// 576 × 768 pixels of 3 bytes in rows of 2560.
fn image() -> StridedLayout {
    bytes(&[576, 768, 3], &[2560, 3, 1], 1)
}

fn rule<T>(answer: cuda_safe::Result<T>) -> Option<Rule> {
    answer.err().and_then(|error| error.rule())
}

#[test]
fn every_operation_is_the_layouts() {
    let numbers: Vec<u32> = (0..2 * 3 * 4).collect();
    let layout = dense(&[2, 3, 4], 4);
    let view = View::of_slice(&numbers, layout.clone()).unwrap();
    let same = |view: View<'_, u32>, layout: StridedLayout| assert_eq!(*view.layout(), layout);
    let index = s![.., 1.., ..;-2];
    same(view.slice(&index).unwrap(), layout.slice(&index).unwrap());
    same(view.permute(&[2, 0, 1]).unwrap(), layout.permute(&[2, 0, 1]).unwrap());
    same(view.transpose().unwrap(), layout.transpose().unwrap());
    same(view.flip(-1).unwrap(), layout.flip(-1).unwrap());
    let unsqueezed = view.unsqueeze(&[0, -1]).unwrap();
    same(unsqueezed.squeeze().unwrap(), layout.clone());
    same(unsqueezed, layout.unsqueeze(&[0, -1]).unwrap());
    same(view.reshape(&[6, -1]).unwrap(), layout.reshape(&[6, 4]).unwrap());
    same(view.flatten().unwrap(), layout.flatten().unwrap());
    same(view.flatten_axes(1, 2).unwrap(), layout.flatten_axes(1, 2).unwrap());
    same(view.diagonal(1, 1, 2).unwrap(), layout.diagonal(1, 1, 2).unwrap());
    same(view.windows(&[1, 2, 2]).unwrap(), layout.windows(&[1, 2, 2]).unwrap());
    same(view.unfold(2, 2, 2).unwrap(), layout.unfold(2, 2, 2).unwrap());
    same(view.broadcast_to(&[5, 2, 3, 4]).unwrap(), layout.broadcast_to(&[5, 2, 3, 4]).unwrap());
    let (left, right) = view.split_at(1, 2).unwrap();
    let (left_layout, right_layout) = layout.split_at(1, 2).unwrap();
    same(left, left_layout);
    same(right, right_layout);
    let parts: Vec<_> = view.chunks(2, 3).unwrap().map(|part| part.layout().clone()).collect();
    assert_eq!(parts, layout.chunks(2, 3).unwrap().collect::<Vec<_>>());
    // What a layout refuses, its view refuses.
    assert!(view.permute(&[0, 0, 1]).unwrap_err().to_string().contains("permute"));
    assert!(view.reshape(&[5, -1]).is_err() && view.slice(&s![2]).is_err());
}

#[test]
fn runs_of_elements_are_slices() {
    let mut numbers: Vec<u16> = (0..12).collect();
    let view = View::of_slice(&numbers, dense(&[3, 4], 2)).unwrap();
    assert_eq!(view.as_slice().unwrap(), numbers);
    assert_eq!(view.slice(&s![1]).unwrap().as_slice().unwrap(), [4, 5, 6, 7]);
    assert_eq!(view.slice(&s![3..]).unwrap().as_slice().unwrap(), [0_u16; 0]);
    assert_eq!(rule(view.slice(&s![.., 1]).unwrap().as_slice()), Some(Rule::Contiguous));
    let error = view.flip(0).unwrap().as_slice().unwrap_err().to_string();
    assert!(error.contains("`layout` breaks Contiguous: needs "), "{error}");
    let odd = View::of_slice(&numbers, bytes(&[2], &[2], 2).with_byte_offset(1).unwrap()).unwrap();
    assert_eq!(rule(odd.as_slice()), Some(Rule::Align));
    let mut view = ViewMut::of_mut_slice(&mut numbers, dense(&[3, 4], 2)).unwrap();
    view.as_mut_slice().unwrap()[11] = 99;
    view.reborrow().slice(&s![0]).unwrap().as_mut_slice().unwrap().fill(7);
    assert_eq!(view.as_view().as_slice().unwrap()[..5], [7, 7, 7, 7, 4]);
    assert_eq!(numbers[11], 99);
}

#[test]
fn parts_for_writing_are_apart() {
    let mut numbers = [0_u32; 12];
    let view = ViewMut::of_mut_slice(&mut numbers, dense(&[3, 4], 4)).unwrap();
    let (mut top, rest) = view.split_at(0, 1).unwrap();
    let (mut middle, mut bottom) = rest.split_at(0, 1).unwrap();
    top.as_mut_slice().unwrap().fill(1);
    bottom.as_mut_slice().unwrap().fill(3);
    middle.as_mut_slice().unwrap().fill(2);
    // A part can't be laid out anew over what others were lent, nor can what is lent from it.
    assert_eq!(rule(middle.as_view().with_layout(dense(&[12], 4))), Some(Rule::Whole));
    let error = middle.with_layout(dense(&[12], 4)).unwrap_err();
    let text = "ViewMut::with_layout: `self` breaks Whole: needs the whole memory, has a part";
    assert_eq!(error.to_string(), text);
    assert_eq!(numbers, [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);

    let view = ViewMut::of_mut_slice(&mut numbers, dense(&[12], 4)).unwrap();
    let parts: Vec<_> = view.chunks(-1, 5).unwrap().collect();
    let extents: Vec<_> = parts.iter().map(|part| part.layout().shape()[0]).collect();
    assert_eq!(extents, [5, 5, 2]);
    std::thread::scope(|scope| {
        for (value, mut part) in (10..).zip(parts) {
            scope.spawn(move || part.as_mut_slice().unwrap().fill(value));
        }
    });
    assert_eq!(numbers, [10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 12, 12]);
    let view = ViewMut::of_mut_slice(&mut numbers, dense(&[0, 4], 4)).unwrap();
    assert_eq!(view.chunks(0, 2).unwrap().count(), 0);
    let view = ViewMut::of_mut_slice(&mut numbers, dense(&[12], 4)).unwrap();
    assert!(view.chunks(0, 0).is_err());
}

#[test]
fn layouts_that_share_no_byte_are_lent_together() {
    let mut pixels = [0_u8; 12];
    let image = dense(&[4, 3], 1);
    let channel = |at: i64| image.slice(&s![.., at]).unwrap();
    fn whole(pixels: &mut [u8; 12]) -> ViewMut<'_, u8> {
        ViewMut::of_mut_slice(pixels, dense(&[4, 3], 1)).unwrap()
    }
    let parts = whole(&mut pixels).disjoint([channel(0), channel(1), channel(2)]).unwrap();
    assert!(parts.iter().all(|part| part.layout().shape() == [4]));
    let refused = whole(&mut pixels).disjoint([channel(0), image.clone()]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "ViewMut::disjoint: `layouts` breaks Disjoint: needs bytes of its own, has bytes of \
         another part"
    );
    let beyond = channel(0).with_byte_offset(3).unwrap();
    assert_eq!(rule(whole(&mut pixels).disjoint([beyond])), Some(Rule::Reach));
    let twice = bytes(&[2], &[0], 1);
    assert_eq!(rule(whole(&mut pixels).disjoint([twice])), Some(Rule::Injective));
}

#[test]
fn the_seeds_cases_are_views_of_one_image() {
    let mut memory = vec![0_u8; 576 * 2560];
    for (at, byte) in (0_u8..=250).cycle().zip(&mut memory) {
        *byte = at;
    }
    let view = View::of_slice(&memory, image()).unwrap();
    let part = view.slice(&s![100..400, 50..350, ..]).unwrap();
    assert_eq!(part.layout().byte_offset(), 100 * 2560 + 50 * 3);
    let row = part.slice(&s![0]).unwrap();
    assert_eq!(row.as_slice().unwrap(), &memory[256_150..256_150 + 900]);
    let pixel = Packing { keep_axis: false, ..Packing::LAST_AXIS };
    let pixels = part.repack::<[u8; 3]>(pixel).unwrap();
    assert_eq!(
        pixels.layout().to_string(),
        "(300, 300):(2560, 3) of 3-byte items from byte 256150"
    );
    let first = pixels.slice(&s![0, 0..1]).unwrap();
    assert_eq!(first.as_slice().unwrap()[0], memory[256_150..256_153]);
    // Rows without their padding, and the padding left out of both.
    assert_eq!(rule(view.as_slice()), Some(Rule::Contiguous));
    let twin = view.layout().to_dense(Order::Keep).unwrap();
    assert_eq!(twin.required_size(), Ok(1_327_104));
    // The last row has no padding: so many bytes are needed, and one less is refused.
    assert!(View::of_slice(&memory[..575 * 2560 + 2304], image()).is_ok());
    assert_eq!(rule(View::of_slice(&memory[..575 * 2560 + 2303], image())), Some(Rule::Reach));
}

#[test]
fn types_at_run_time_are_checked() {
    let numbers = [1.5_f32, 2.5, 3.5, 4.5];
    let view = View::of_slice(&numbers, dense(&[2, 2], 4)).unwrap();
    let dynamic: View<'_, Dynamic> = view.clone().into_dynamic().unwrap();
    let transposed = dynamic.transpose().unwrap();
    assert_eq!(transposed.dtype(), DType::F32);
    assert_eq!(transposed.layout(), view.transpose().unwrap().layout());
    assert_eq!(dynamic.cast::<f32>().unwrap().as_slice().unwrap(), numbers);
    let refused = dynamic.cast::<u32>().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "View::cast: `T` breaks ElementType: needs uint32, has float32"
    );
    let halves = view.repack_as(DType::BF16, Packing::LAST_AXIS).unwrap();
    assert_eq!(halves.layout().shape(), [2, 4]);
    assert_eq!(rule(halves.cast::<u16>()), Some(Rule::ElementType));
    let mut bytes = [0_u8; 8];
    let view = ViewMut::of_mut_slice(&mut bytes, dense(&[8], 1)).unwrap();
    let mut words = view.repack::<[u8; 4]>(Packing::LAST_AXIS).unwrap();
    words.as_mut_slice().unwrap()[1] = [1, 2, 3, 4];
    assert_eq!(bytes, [0, 0, 0, 0, 1, 2, 3, 4]);
    let view = ViewMut::of_mut_slice(&mut bytes, dense(&[8], 1)).unwrap();
    let signed = view.into_dynamic().unwrap();
    assert_eq!(rule(signed.cast::<i8>()), Some(Rule::ElementType));
}

/// Views refuse numbers at the ends of what is counted, and never wrap.
#[test]
fn overflow_is_a_refusal() {
    let memory = [0_u8; 64];
    let ends = [i64::MIN, i64::MIN + 1, -(1 << 32), -(1 << 31), -1, 0, 1];
    let tops = [1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, i64::MAX - 1, i64::MAX];
    let numbers: Vec<i64> = ends.into_iter().chain(tops).collect();
    let mut made = 0;
    for &extent in numbers.iter().filter(|extent| **extent >= 0) {
        for &stride in &numbers {
            for &offset in &numbers {
                let layout = StridedLayout::from_byte_strides(&[extent, 2], &[stride, 1], 1)
                    .and_then(|layout| layout.with_byte_offset(offset));
                let Ok(layout) = layout else { continue };
                let fits = layout.byte_bounds().is_none_or(|(low, high)| low >= 0 && high < 64);
                let view = View::of_slice(&memory, layout);
                assert_eq!(view.is_ok(), fits, "{view:?}");
                made += u32::from(fits);
                let Ok(view) = view else { continue };
                // Whatever is asked of it, it answers or refuses.
                for &number in &numbers {
                    let _ = view.unfold(0, number, number).is_ok();
                    let _ = view.slice(&s![number..;-1, number]).is_ok();
                    let _ = view.broadcast_to(&[number, extent, 2]).is_ok();
                    let _ = view.diagonal(number, 0, 1).is_ok();
                    let _ = view.split_at(0, number).is_ok();
                    let _ = view.reshape(&[number, -1]).is_ok();
                }
                let _ = view.as_slice().is_ok();
            }
        }
    }
    assert!(made > 20, "{made} views were made");
}

/// What is more than 32 bits is asked for as such: 70,000 × 70,000 bytes, and more than there are.
#[test]
fn row_53_sizes_are_not_cut_to_32_bits() {
    let memory = [0_u8; 16];
    let refused = View::of_slice(&memory, dense(&[70_000, 70_000], 1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "View::of_slice: `layout` breaks Reach: needs 4900000000, has 16"
    );
    let too_large = StridedLayout::dense(&[1 << 40, 1 << 40], 1, Order::C).unwrap_err();
    assert!(too_large.to_string().contains("1099511627776"), "{too_large}");
}

/// Sunshine#5640: a pitch of 0 is seen when the view is made.
#[test]
fn row_41_a_pitch_shorter_than_a_row_is_refused_for_writing() {
    let mut memory = [0_u8; 300];
    fn view(memory: &mut [u8], pitch: i64, rows: i64) -> Option<Rule> {
        rule(ViewMut::of_mut_slice(memory, bytes(&[rows, 100], &[pitch, 1], 1)))
    }
    assert_eq!(view(&mut memory, 0, 2), Some(Rule::Injective));
    assert_eq!(view(&mut memory, 99, 2), Some(Rule::Injective));
    assert_eq!(view(&mut memory, 100, 2), None);
    assert_eq!(view(&mut memory, 0, 1), None);
}

/// pytorch#6165: what shares bytes can be read, not written.
#[test]
fn row_49_elements_that_share_bytes_are_not_written() {
    let mut memory = [0_u8; 16];
    for (shape, strides, refused) in
        [([5, 6], [0, 1], true), ([2, 2], [1, 1], true), ([3, 2], [2, 1], false)]
    {
        assert!(View::of_slice(&memory, bytes(&shape, &strides, 1)).is_ok());
        let view = ViewMut::of_mut_slice(&mut memory, bytes(&shape, &strides, 1));
        assert_eq!(view.is_err(), refused, "{shape:?} {strides:?}");
    }
}

/// jetson-utils#128: a pointer and a length are given of dense views only.
#[test]
fn row_44_padding_is_in_no_slice() {
    let memory = [0_u8; 4 * 512];
    let image = View::of_slice(&memory, bytes(&[4, 3, 3], &[512, 3, 1], 1)).unwrap();
    assert_eq!(rule(image.as_slice()), Some(Rule::Contiguous));
    assert_eq!(image.slice(&s![2]).unwrap().as_slice().unwrap().len(), 9);
}

#[test]
fn views_cross_threads_and_stay_small() {
    fn crosses<T: Send + Sync>() {}
    crosses::<View<'_, f32>>();
    crosses::<ViewMut<'_, Dynamic>>();
    assert_eq!(<Dynamic as Item>::size(DType::C128), 16);
}
