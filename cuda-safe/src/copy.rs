//! Copies between views: planned first, then run as one call of the driver.
//!
//! A plan depends on the layouts alone. It is nothing, one run of bytes, or rows of bytes; what is
//! more than rows is refused, never looped over.
#![expect(unsafe_code, reason = "vouches for parts of memory that views have been checked against")]

use std::fmt;

use crate::call;
use crate::error::{Error, Quantity, Result, Rule};
use crate::layout::StridedLayout;
use crate::shim::{AnyStream, Device, Extent, Host, Memory, Region, Steady, on};
use crate::stream::Stream;
use crate::view::{Item, View, ViewMut};

/// Is how one array is copied to another of the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Plan {
    /// There are no elements.
    Nothing,
    /// Both are one run of bytes.
    Linear {
        /// How many bytes.
        bytes: usize,
        /// Where the source's run begins, in bytes from its memory.
        src_offset: usize,
        /// Where the destination's run begins.
        dst_offset: usize,
    },
    /// Both are rows of bytes.
    Rows {
        /// Bytes in a row.
        width: usize,
        /// Rows.
        height: usize,
        /// Bytes between the source's rows.
        src_pitch: usize,
        /// Bytes between the destination's rows.
        dst_pitch: usize,
        /// Where the source's first row begins, in bytes from its memory.
        src_offset: usize,
        /// Where the destination's first row begins.
        dst_offset: usize,
    },
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing to copy"),
            Self::Linear { bytes, .. } => write!(f, "one run of {bytes} bytes"),
            Self::Rows { width, height, src_pitch, dst_pitch, .. } => {
                write!(f, "{height} rows of {width} bytes, from {src_pitch} to {dst_pitch} apart")
            }
        }
    }
}

impl Plan {
    /// Plans a copy between layouts of one shape and item size.
    ///
    /// ```
    /// use cuda_safe::layout::{Order, StridedLayout};
    ///
    /// let padded = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1)?;
    /// let dense = padded.to_dense(Order::C)?;
    /// let plan = cuda_safe::Plan::new(&padded, &dense)?;
    /// assert_eq!(plan.to_string(), "576 rows of 2304 bytes, from 2560 to 2304 apart");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Rule::ItemSize`] if the items differ in size; a layout's refusal if the shapes differ;
    /// [`Rule::Rows`] if they have in common less than rows of bytes.
    pub fn new(src: &StridedLayout, dst: &StridedLayout) -> Result<Self> {
        let item_size = count(dst.item_size())?;
        if src.item_size() != dst.item_size() {
            let have = count(src.item_size())?;
            return Err(refused("src", Rule::ItemSize, item_size.into(), have.into()));
        }
        let (dst, src) = dst.coalesce_with(src)?;
        if dst.is_empty() {
            return Ok(Self::Nothing);
        }
        let (src_offset, dst_offset) = (count(src.byte_offset())?, count(dst.byte_offset())?);
        let (shape, item) = (dst.shape(), dst.item_size());
        let is_run =
            src.byte_strides().last() == Some(&item) && dst.byte_strides().last() == Some(&item);
        let (outer, width) = match shape.split_last() {
            Some((last, outer)) if is_run => (outer, count(*last)?.saturating_mul(item_size)),
            _ => (shape, item_size),
        };
        match (outer, src.byte_strides().first(), dst.byte_strides().first()) {
            ([], ..) => Ok(Self::Linear { bytes: width, src_offset, dst_offset }),
            ([height], Some(&src_pitch), Some(&dst_pitch)) if src_pitch > 0 => Ok(Self::Rows {
                width,
                height: count(*height)?,
                src_pitch: count(src_pitch)?,
                dst_pitch: count(dst_pitch)?,
                src_offset,
                dst_offset,
            }),
            _ => {
                let have = Quantity::from(dst.ndim());
                Err(refused("dst", Rule::Rows, Quantity::Word("at most rows of bytes"), have))
            }
        }
    }
}

fn refused(operand: &'static str, rule: Rule, need: Quantity, have: Quantity) -> Error {
    Error::refused("copy", operand, rule, need, have)
}

/// Turns a number of a checked layout into a size.
fn count(number: i64) -> Result<usize> {
    let overflow = || refused("layout", Rule::Fit, Quantity::Overflow, usize::MAX.into());
    usize::try_from(number).map_err(|_| overflow())
}

/// Copies `src` to `dst`, in the order of `stream`, and answers how.
///
/// Memory of both sides may be of a device or of the host; which it is decides the call. If it is a
/// slice that is only borrowed, the copy is done on return: the stream is waited for.
///
/// Driver: one run by [`cuMemcpyHtoDAsync_v2`](crate::call::memcpy_htod_async),
/// [`cuMemcpyDtoHAsync_v2`](crate::call::memcpy_dtoh_async) or
/// [`cuMemcpyDtoDAsync_v2`](crate::call::memcpy_dtod_async), by the places of both; rows, and what
/// stays on the host, by [`cuMemcpy2DAsync_v2`](crate::call::memcpy_2d_async).
///
/// # Errors
///
/// As [`Plan::new`], and as the driver's copies: [`Rule::Home`] for another context,
/// [`Rule::Disjoint`] if the sides share bytes.
pub fn copy<T: Item>(
    src: &View<'_, T>,
    dst: &mut ViewMut<'_, T>,
    stream: &impl AnyStream,
) -> Result<Plan> {
    let stream = on(stream);
    T::check_same("copy", dst.kept(), src.kept())?;
    let plan = Plan::new(src.layout(), dst.layout())?;
    let enqueued = enqueue(plan, src.region(), dst.region(), stream);
    // What is only borrowed is finished with on return, also if the call failed by what was earlier.
    let is_borrowed = src.region().allocation().is_none() || dst.region().allocation().is_none();
    if is_borrowed && plan != Plan::Nothing {
        let waited = stream.synchronize().inspect_err(|_| {
            // The borrow ends here, so that it is waited for in another way. When even that fails, the
            // context is broken, and nothing runs in it any more.
            let _broken = stream.context().synchronize();
        });
        return enqueued.and(waited).map(|()| plan);
    }
    enqueued.map(|()| plan)
}

fn enqueue(plan: Plan, src: &Region<'_>, dst: &Region<'_>, stream: &Stream) -> Result<()> {
    match plan {
        Plan::Nothing => Ok(()),
        Plan::Linear { bytes, src_offset, dst_offset } => {
            let src = Part::of(src, src_offset, bytes)?;
            let mut dst = Part::of(dst, dst_offset, bytes)?;
            linear(&src, &mut dst, stream)
        }
        Plan::Rows { width, height, src_pitch, dst_pitch, src_offset, dst_offset } => {
            check_pitch("src", src_pitch, stream)?;
            check_pitch("dst", dst_pitch, stream)?;
            let src = Part::rows_of(src, src_offset, (src_pitch, width, height))?;
            let mut dst = Part::rows_of(dst, dst_offset, (dst_pitch, width, height))?;
            call::memcpy_2d_async(&src, &mut dst, Extent { width, height }, stream)
        }
    }
}

/// Refuses rows further apart than the stream's device can go. Each can go so far that only longer
/// ways are asked for.
fn check_pitch(operand: &'static str, pitch: usize, stream: &Stream) -> Result<()> {
    const EACH: usize = i32::MAX.unsigned_abs() as usize;
    if pitch <= EACH {
        return Ok(());
    }
    match stream.context().device().max_pitch()? {
        Some(most) if u64::from(most) < pitch as u64 => {
            let (need, have) = (Quantity::Number(most.into()), pitch.into());
            Err(refused(operand, Rule::Able, need, have))
        }
        _ => Ok(()),
    }
}

/// Copies one run, by the call for its direction.
fn linear(src: &Part<'_>, dst: &mut Part<'_>, stream: &Stream) -> Result<()> {
    match (src.0.kind().is_host(), dst.0.kind().is_host()) {
        (true, false) => call::memcpy_htod_async(&mut DevicePart(dst.0), &HostPart(src.0), stream),
        (false, true) => call::memcpy_dtoh_async(&mut HostPart(dst.0), &DevicePart(src.0), stream),
        (false, false) => {
            call::memcpy_dtod_async(&mut DevicePart(dst.0), &DevicePart(src.0), stream)
        }
        (true, true) => {
            let extent = Extent { width: src.0.len(), height: 1 };
            call::memcpy_2d_async(src, dst, extent, stream)
        }
    }
}

/// Is a part of a view's memory, of either kind.
struct Part<'a>(Region<'a>);

/// Is a part whose kind was seen to be a device's.
struct DevicePart<'a>(Region<'a>);

/// Is a part whose kind was seen to be the host's.
struct HostPart<'a>(Region<'a>);

impl<'a> Part<'a> {
    fn of(region: &Region<'a>, offset: usize, bytes: usize) -> Result<Self> {
        let part = region.part(offset).and_then(|rest| rest.first(bytes));
        let have = region.len().saturating_sub(offset);
        part.map(Self).ok_or_else(|| refused("layout", Rule::Reach, bytes.into(), have.into()))
    }

    fn rows_of(
        region: &Region<'a>,
        offset: usize,
        (pitch, width, height): (usize, usize, usize),
    ) -> Result<Self> {
        let part = region
            .part(offset)
            .ok_or_else(|| refused("layout", Rule::Reach, offset.into(), region.len().into()))?;
        Ok(Self(part.with_rows(pitch, width, height)))
    }
}

// SAFETY: the view holds the borrow of the memory, and a part of a region is as it is.
unsafe impl Memory for Part<'_> {
    fn region(&self) -> Region<'_> {
        self.0
    }
}

// SAFETY: views are made of such memory, or of borrowed slices, which `copy` waits for.
unsafe impl Steady for Part<'_> {}

// SAFETY: as for `Part`.
unsafe impl Memory for DevicePart<'_> {
    fn region(&self) -> Region<'_> {
        self.0
    }
}

// SAFETY: as for `Part`.
unsafe impl Steady for DevicePart<'_> {}

// SAFETY: `linear` makes it of a region whose kind is no host's.
unsafe impl Device for DevicePart<'_> {}

// SAFETY: as for `Part`.
unsafe impl Memory for HostPart<'_> {
    fn region(&self) -> Region<'_> {
        self.0
    }
}

// SAFETY: as for `Part`.
unsafe impl Steady for HostPart<'_> {}

// SAFETY: `linear` makes it of a region whose kind is the host's.
unsafe impl Host for HostPart<'_> {}
