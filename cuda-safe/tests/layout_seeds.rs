//! A padded image: 576 × 768 pixels of 3 bytes in rows of 2560 bytes, its parts and other forms.

#![expect(clippy::unwrap_used, reason = "a helper that may fail fails the test")]

use cuda_safe::StridedLayout;
use cuda_safe::layout::{Drawing, LayoutRule, Order, Overlap, Packing, s};

/// Rows of 768 × 3 = 2304 bytes, padded to 2560.
fn image() -> StridedLayout {
    StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1).unwrap()
}

fn part() -> StridedLayout {
    image().slice(&s![100..400, 50..350, ..]).unwrap()
}

#[test]
fn the_image_is_padded_and_unique() {
    let image = image();
    assert_eq!(image.to_string(), "(576, 768, 3):(2560, 3, 1) of 1-byte items");
    assert_eq!(image.volume(), Ok(1_327_104));
    // The last row needs no padding.
    assert_eq!(image.required_size(), Ok(575 * 2560 + 2304));
    assert!(image.is_unique());
    assert!(!image.is_contiguous() && !image.is_dense());
    assert_eq!(image.stride_order(), [0, 1, 2]);
    assert_eq!(image.coalesce().unwrap().shape(), [576, 2304]);
    assert_eq!(image.max_compatible_item_size(16, Packing::LAST_AXIS), Ok(1));
    let rows = image.flatten().unwrap();
    assert_eq!(rows.max_compatible_item_size(16, Packing::LAST_AXIS), Ok(16));
    let wide = rows.repack(16, Packing::LAST_AXIS).unwrap();
    assert_eq!(wide.to_string(), "(576, 144):(2560, 16) of 16-byte items");
}

#[test]
fn the_part_starts_inside_and_ends_inside() {
    let part = part();
    assert_eq!(part.to_string(), "(300, 300, 3):(2560, 3, 1) of 1-byte items from byte 256150");
    assert_eq!(part.byte_bounds(), Some((256_150, 256_150 + 299 * 2560 + 899)));
    assert!(part.required_size().unwrap() < image().required_size().unwrap());
    assert_eq!(part.overlap(&image()), Overlap::Overlapping);
    let right_of_it = image().slice(&s![100..400, 350.., ..]).unwrap();
    assert_eq!(part.overlap(&right_of_it), Overlap::Disjoint);
    assert_eq!(part.offset_of(&[0, 0, 0]), image().offset_of(&[100, 50, 0]));
    assert_eq!(part.offset_of(&[-1, -1, -1]), image().offset_of(&[399, 349, 2]));
}

#[test]
fn pixels_are_items_of_three_bytes() {
    let pixels = image().repack(3, Packing { keep_axis: false, ..Packing::LAST_AXIS }).unwrap();
    let made = StridedLayout::from_byte_strides(&[576, 768], &[2560, 3], 3).unwrap();
    assert_eq!(pixels, made);
    // No number of pixels makes 2560 bytes.
    assert_eq!(pixels.element_strides(), None);
    assert_eq!(pixels.required_size(), image().required_size());
    assert!(pixels.is_unique() && !pixels.is_contiguous());
    let channels = pixels.unsqueeze(&[-1]).unwrap().repack(1, Packing::LAST_AXIS).unwrap();
    assert_eq!(channels, image());
    let error = pixels.repack(2, Packing::LAST_AXIS).unwrap_err();
    assert_eq!(error.rule(), LayoutRule::ItemSizeNotDividing { need: 3, have: 2 });
    assert_eq!(
        error.to_string(),
        "repack: one item size must divide the other (need a factor or multiple of 3, have 2)"
    );
}

#[test]
fn the_dense_twin_has_no_padding() {
    let dense = image().to_dense(Order::Keep).unwrap();
    assert_eq!(dense.to_string(), "(576, 768, 3):(2304, 3, 1) of 1-byte items");
    assert!(dense.is_dense() && dense.is_c_contiguous());
    assert_eq!(dense.required_size(), Ok(1_327_104));
    assert_eq!(dense.reshape(&[-1]).unwrap().shape(), [1_327_104]);
    let error = image().reshape(&[-1]).unwrap_err();
    let rule = LayoutRule::StridesIncompatible { axis: 0, need: 2304, have: 1_327_104 };
    assert_eq!(error.rule(), rule);
    // A copy between the two is one of 576 rows of 2304 bytes.
    let (dense_rows, rows) = dense.coalesce_with(&image()).unwrap();
    assert_eq!(dense_rows.byte_strides(), [2304, 1]);
    assert_eq!(rows.byte_strides(), [2560, 1]);
    assert_eq!(rows.shape(), [576, 2304]);
    // Planes of one channel each, as convolutions want them.
    let planes = image().permute(&[2, 0, 1]).unwrap().to_dense(Order::C).unwrap();
    assert_eq!(planes.byte_strides(), [576 * 768, 768, 1]);
}

#[test]
fn small_layouts_are_drawn_as_text() {
    let tile = image().slice(&s![..2, ..3, ..]).unwrap();
    let picture = |layout: &StridedLayout| match layout.draw() {
        Drawing::Text(text) => text,
        Drawing::Svg(_) => String::new(),
    };
    let expected = "\
(2, 3, 3):(2560, 3, 1) of 1-byte items

index to byte offset at (0, ..)
        0    1    2
  0     0    1    2
  1     3    4    5
  2     6    7    8

index to byte offset at (1, ..)
        0    1    2
  0  2560 2561 2562
  1  2563 2564 2565
  2  2566 2567 2568

one character a byte: █ an element; 2551 unused bytes after each line left out
   0 █████████
2560 █████████
";
    assert_eq!(picture(&tile), expected);
    let reversed = StridedLayout::from_byte_strides(&[2, 2, 2], &[10, -4, 2], 2).unwrap();
    let expected = "\
(2, 2, 2):(10, -4, 2) of 2-byte items from byte 4

index to byte offset at (0, ..)
      0  1
  0   4  6
  1   0  2

index to byte offset at (1, ..)
      0  1
  0  14 16
  1  10 12

one character a byte: █▓ an element, · unused
   0 █▓█▓█▓█▓··
  10 █▓█▓█▓█▓··
";
    assert_eq!(picture(&reversed.with_byte_offset(4).unwrap()), expected);
    let windows = StridedLayout::dense(&[4], 1, Order::C).unwrap().windows(&[3]).unwrap();
    let expected = "\
(2, 3):(1, 1) of 1-byte items

index to byte offset
     0 1 2
  0  0 1 2
  1  1 2 3

one character a byte: █ an element, ╳ shared by elements
   0 █╳╳█
";
    assert_eq!(picture(&windows), expected);
    let empty = StridedLayout::dense(&[2, 0], 4, Order::C).unwrap();
    assert_eq!(picture(&empty), "(2, 0):(0, 0) of 4-byte items\n\nno elements\n");
    let scalar = StridedLayout::dense(&[], 4, Order::C).unwrap();
    assert!(picture(&scalar).ends_with("   0 █▓▓▓\n"));
}

#[test]
fn large_layouts_are_drawn_as_svg() {
    let dense = image().to_dense(Order::C).unwrap();
    let video = StridedLayout::dense(&[9, 576, 768], 3, Order::C).unwrap();
    let red = image().slice(&s![.., .., 0]).unwrap();
    for layout in [image(), part(), dense, video, red, image().flip(0).unwrap()] {
        let Drawing::Svg(svg) = layout.draw() else { panic!("{layout} is drawn as text") };
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(svg.contains(&layout.to_string()));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }
    assert!(part().draw_svg().contains("byte 256150"));
}
