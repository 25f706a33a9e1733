//! Pictures of layouts: text where every byte has room for a character, SVG to scale elsewhere.

mod memory;
mod svg;
mod text;

use std::fmt;

use super::StridedLayout;

/// Is a picture of a layout; `Display` writes it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drawing {
    /// Lines of characters.
    Text(String),
    /// An SVG document.
    Svg(String),
}

impl fmt::Display for Drawing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(picture) | Self::Svg(picture) => formatter.write_str(picture),
        }
    }
}

impl StridedLayout {
    /// Draws the layout: as text if it is small enough for one character a byte, otherwise as SVG.
    ///
    /// ```
    /// use cuda_safe::StridedLayout;
    ///
    /// let padded = StridedLayout::from_byte_strides(&[2, 3], &[8, 2], 2)?;
    /// let picture = "\
    /// (2, 3):(8, 2) of 2-byte items
    ///
    /// index to byte offset
    ///       0  1  2
    ///   0   0  2  4
    ///   1   8 10 12
    ///
    /// one character a byte: █▓ an element, · unused
    ///    0 █▓█▓█▓··
    ///    8 █▓█▓█▓··
    /// ";
    /// assert_eq!(padded.draw().to_string(), picture);
    /// # Ok::<(), cuda_safe::layout::LayoutError>(())
    /// ```
    #[must_use]
    pub fn draw(&self) -> Drawing {
        match text::Picture::of(self) {
            Some(picture) => Drawing::Text(picture.to_string()),
            None => Drawing::Svg(self.draw_svg()),
        }
    }

    /// Draws the layout to scale as an SVG document, whatever its size.
    ///
    /// Memory runs in lines as long as the stride of the slowest axis that the picture can show;
    /// used bytes are blue, unused ones grey.
    #[must_use]
    pub fn draw_svg(&self) -> String {
        svg::Picture::of(self).to_string()
    }
}
