//! A layout of any size to scale: memory in lines, used bytes in blue.

use std::fmt::{self, Write};

use crate::layout::{Axis, StridedLayout};

/// Where the picture of memory starts, and how large it is at most, in pixels.
const TOP: f64 = 84.0;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
/// Pixels from one line of text to the next.
const LEADING: f64 = 20.0;
/// Strides up to this many bytes are drawn inside a line, longer ones as lines.
const SHORT_STRIDE: i64 = 64;
/// Lines that are drawn one by one; more become a block.
const SINGLE_LINES: i64 = 24;
/// Cells of a line that are drawn one by one; more become a pale block.
const SINGLE_CELLS: i64 = 96;

const USED: &str = "#2f6fb5";
const USED_IN_PART: &str = "#8fb4dd";
const UNUSED: &str = "#e4e7eb";
const INK: &str = "#1f2933";

/// How a layout is drawn: equal lines of memory, each with the same cells in use.
pub(super) struct Picture<'a> {
    layout: &'a StridedLayout,
    /// Byte at which the first line starts.
    start: i64,
    /// First byte in use, counted from the start of its line.
    indent: i64,
    /// Lines before the first one in use.
    skipped: i64,
    /// Lines in use, and the bytes from one to the next.
    lines: Axis,
    /// Parts of a line in use, from one to the next.
    cells: Axis,
    /// Bytes of a cell.
    cell: i64,
    /// Planes of such lines.
    planes: i64,
    /// Room for the numbers of bytes beside the lines, in pixels.
    left: f64,
}

impl<'a> Picture<'a> {
    pub(super) fn of(layout: &'a StridedLayout) -> Self {
        let mut axes: Vec<Axis> = layout
            .counting_axes()
            .filter(|axis| axis.stride != 0)
            .map(|axis| Axis { stride: axis.stride.saturating_abs(), ..axis })
            .collect();
        axes.sort_by_key(|axis| axis.stride);
        let mut inner = axes.iter().copied().peekable();
        // The innermost axes become one cell as long as they lie side by side; the slowest axis is
        // left to make lines of, so that a dense image still looks like one.
        let mut cell = layout.item_size();
        let mut left = axes.len();
        while left > 1 {
            let Some(axis) = inner.next_if(|axis| axis.stride == cell) else { break };
            cell = cell.saturating_mul(axis.extent);
            left -= 1;
        }
        let once = Axis { extent: 1, stride: cell };
        let side_by_side = cell > layout.item_size();
        let inside = |axis: &Axis| !side_by_side || axis.stride <= SHORT_STRIDE;
        let cells = inner.next_if(|axis| left > 1 && inside(axis)).unwrap_or(once);
        let lines = inner.next().unwrap_or(once);
        let planes = inner.fold(1_i64, |planes, axis| planes.saturating_mul(axis.extent));
        let (first, last) = layout.byte_bounds().unwrap_or((0, 0));
        let digits = first.to_string().len().max(last.to_string().len());
        let left = 60.0 + 8.0 * digits as f64;
        let (start, indent, skipped) = (first, 0, 0);
        let picture = Self { layout, start, indent, skipped, lines, cells, cell, planes, left };
        picture.aligned_to_lines(first)
    }

    /// Counts lines from byte 0 if every line then holds its cells whole.
    fn aligned_to_lines(self, first: i64) -> Self {
        let indent = first.rem_euclid(self.lines.stride.max(1));
        let fits =
            indent.checked_add(self.used_bytes()).is_some_and(|end| end <= self.lines.stride);
        if first >= 0 && fits {
            let skipped = first / self.lines.stride.max(1);
            // More empty lines than lines in use would hide these.
            let shown = skipped.min(self.lines.extent);
            Self {
                start: first - indent - shown * self.lines.stride,
                indent,
                skipped: shown,
                ..self
            }
        } else {
            self
        }
    }

    /// Returns the bytes from the first to the last one in use of a line.
    fn used_bytes(&self) -> i64 {
        self.cells.reach().saturating_add(self.cell)
    }

    /// Says whether a line starts before the one above has ended.
    fn is_staggered(&self) -> bool {
        self.lines.extent > 1 && self.used_bytes() > self.lines.stride
    }

    fn write_memory(&self, formatter: &mut impl Write) -> Result<f64, fmt::Error> {
        let staggered = self.is_staggered();
        let in_use =
            if staggered { self.lines.extent.min(SINGLE_LINES) } else { self.lines.extent };
        let all = self.skipped.saturating_add(in_use);
        let bytes = if staggered {
            (in_use - 1).saturating_mul(self.lines.stride).saturating_add(self.used_bytes())
        } else {
            self.lines.stride.max(self.used_bytes())
        };
        let scale = WIDTH / bytes as f64;
        let line = (HEIGHT / all as f64).min(22.0);
        let height = line * all as f64;
        rectangle(formatter, (self.left, TOP), (WIDTH, height), UNUSED)?;
        let x = self.left + self.indent as f64 * scale;
        let y = TOP + self.skipped as f64 * line;
        if in_use <= SINGLE_LINES {
            for row in 0..in_use {
                let shift =
                    if staggered { row as f64 * self.lines.stride as f64 * scale } else { 0.0 };
                let corner = (x + shift, y + row as f64 * line + line * 0.06);
                self.write_cells(formatter, corner, line * 0.88, scale)?;
            }
        } else {
            self.write_cells(formatter, (x, y), line * in_use as f64, scale)?;
        }
        self.write_measures(formatter, (x, y), (scale, line), in_use)?;
        Ok(TOP + height)
    }

    fn write_cells(
        &self,
        formatter: &mut impl Write,
        (x, y): (f64, f64),
        height: f64,
        scale: f64,
    ) -> fmt::Result {
        if self.cells.extent > SINGLE_CELLS {
            let width = self.used_bytes() as f64 * scale;
            return rectangle(formatter, (x, y), (width, height), USED_IN_PART);
        }
        // A hair of space between cells that lie side by side.
        let gap = if self.cells.extent > 1 { 0.94 } else { 1.0 };
        for cell in 0..self.cells.extent {
            let corner = (x + cell as f64 * self.cells.stride as f64 * scale, y);
            rectangle(formatter, corner, (self.cell as f64 * scale * gap, height), USED)?;
        }
        Ok(())
    }

    /// Writes lengths above the picture, and the bytes at which lines start beside it.
    fn write_measures(
        &self,
        formatter: &mut impl Write,
        (x, y): (f64, f64),
        (scale, line): (f64, f64),
        in_use: i64,
    ) -> fmt::Result {
        let used = self.used_bytes();
        if self.lines.extent > 1 && !self.is_staggered() {
            measure(formatter, (self.left, TOP - 30.0), WIDTH)?;
            let from_line_to_line = format!("{} bytes from line to line", self.lines.stride);
            text(formatter, (self.left, TOP - 36.0), "start", &from_line_to_line)?;
        }
        measure(formatter, (x, TOP - 8.0), used as f64 * scale)?;
        text(formatter, (x, TOP - 14.0), "start", &format!("{used} bytes{}", self.share()))?;
        let first = self.start + self.skipped * self.lines.stride + self.indent;
        let below = |row: i64| y + line * row as f64 + (line * 0.5 + 4.0).min(12.0);
        text(formatter, (self.left - 8.0, below(0)), "end", &format!("byte {first}"))?;
        if in_use > 1 {
            let last = first.saturating_add((in_use - 1).saturating_mul(self.lines.stride));
            let baseline = below(in_use - 1).max(below(0) + 15.0);
            text(formatter, (self.left - 8.0, baseline), "end", &format!("byte {last}"))?;
        }
        Ok(())
    }

    /// Says how much of a line's span is in use.
    fn share(&self) -> String {
        match self.cells {
            Axis { extent: 1, .. } => String::new(),
            Axis { stride, .. } => format!(", {} of every {stride}", self.cell),
        }
    }

    /// Writes a line about the planes and one about each axis, and returns where they end.
    fn write_legend(&self, formatter: &mut impl Write, mut y: f64) -> Result<f64, fmt::Error> {
        if self.planes > 1 {
            y += LEADING;
            let planes = format!("one of {} planes like this", self.planes);
            text(formatter, (self.left, y), "start", &planes)?;
        }
        for (position, axis) in self.layout.axes.iter().enumerate() {
            y += LEADING;
            let bytes = match axis.stride.unsigned_abs() {
                1 => "every byte".to_owned(),
                bytes => format!("every {bytes} bytes"),
            };
            let line = match axis {
                Axis { extent: 0, .. } => "no elements".to_owned(),
                Axis { extent: 1, .. } => "one element".to_owned(),
                Axis { extent, stride: 0 } => format!("{extent} times the same bytes"),
                Axis { extent, stride: ..0 } => format!("{extent} elements backwards, {bytes}"),
                Axis { extent, .. } => format!("{extent} elements, {bytes}"),
            };
            text(formatter, (self.left, y), "start", &format!("axis {position}: {line}"))?;
        }
        Ok(y)
    }

    /// Writes all that stands on the page, and returns where it ends.
    fn write_page(&self, formatter: &mut impl Write) -> Result<f64, fmt::Error> {
        text(formatter, (self.left, 26.0), "start", &self.layout.to_string())?;
        let bottom = if self.layout.is_empty() {
            text(formatter, (self.left, TOP - LEADING), "start", "no elements")?;
            TOP - LEADING
        } else {
            self.write_memory(formatter)?
        };
        self.write_legend(formatter, bottom + 6.0)
    }
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut page = String::new();
        let bottom = self.write_page(&mut page)?;
        let (width, height) = (self.left + WIDTH + 30.0, bottom + LEADING);
        writeln!(
            formatter,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">"
        )?;
        rectangle(formatter, (0.0, 0.0), (width, height), "#ffffff")?;
        writeln!(formatter, "{page}</svg>")
    }
}

fn rectangle(
    formatter: &mut impl Write,
    (x, y): (f64, f64),
    (width, height): (f64, f64),
    fill: &str,
) -> fmt::Result {
    writeln!(
        formatter,
        "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
         fill=\"{fill}\"/>"
    )
}

/// Draws a length as a line with a stop at each end.
fn measure(formatter: &mut impl Write, (x, y): (f64, f64), length: f64) -> fmt::Result {
    let (end, above, below) = (x + length, y - 4.0, y + 4.0);
    writeln!(
        formatter,
        "<path d=\"M{x:.2} {above:.2}V{below:.2}M{x:.2} {y:.2}H{end:.2}\
         M{end:.2} {above:.2}V{below:.2}\" \
         fill=\"none\" stroke=\"{INK}\"/>"
    )
}

fn text(formatter: &mut impl Write, (x, y): (f64, f64), anchor: &str, line: &str) -> fmt::Result {
    writeln!(
        formatter,
        "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\" fill=\"{INK}\">{line}</text>"
    )
}
