//! A padded image, a part of it, its pixels and its dense twin: how they lie in memory, and pictures.
//!
//! `cargo run -p cuda-safe --no-default-features --example padded_image [FOLDER]` writes the
//! pictures into the folder.
#![expect(clippy::print_stdout, reason = "a program that prints a report")]

use std::error::Error;
use std::path::Path;

use cuda_safe::StridedLayout;
use cuda_safe::layout::{Order, Packing, s};

fn main() -> Result<(), Box<dyn Error>> {
    // 576 rows of 768 pixels of 3 bytes, each row padded to 2560 bytes.
    let image = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1)?;
    let part = image.slice(&s![100..400, 50..350, ..])?;
    let pixels = image.repack(3, Packing { keep_axis: false, ..Packing::LAST_AXIS })?;
    let dense = image.to_dense(Order::Keep)?;
    let folder = std::env::args_os().nth(1);
    for (name, layout) in [("image", image), ("part", part), ("pixels", pixels), ("dense", dense)] {
        let (contiguous, size) = (layout.is_contiguous(), layout.required_size()?);
        println!("{name:7} {layout}");
        println!(
            "        needs {size} bytes, contiguous: {contiguous}, rows and columns together:"
        );
        println!("        {}", layout.flatten()?);
        if let Some(folder) = &folder {
            let file = Path::new(folder).join(format!("{name}.svg"));
            std::fs::write(&file, layout.draw_svg())?;
            println!("        {}", file.display());
        }
    }
    Ok(())
}
