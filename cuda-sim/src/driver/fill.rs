//! Fills. None of them makes the host wait (measured).
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::{c_uchar, c_uint, c_ushort};

use cuda_sys::{CUdeviceptr, CUresult, CUstream};

use crate::engine::access::AccessKind;
use crate::engine::operand::{Operand, Space};
use crate::engine::raw::Extent;
use crate::engine::work::{Touch, Work};
use crate::entry::{Answer, INVALID_VALUE, Session, simulate};

/// Is a fill: `height` rows of `width` elements.
pub(crate) struct Fill<'a> {
    pub(crate) to: CUdeviceptr,
    pub(crate) pitch: usize,
    pub(crate) pattern: &'a [u8],
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Fill<'_> {
    /// Checks and queues it; no stream is the legacy one.
    fn submit(self, mut session: Session, stream: Option<CUstream>) -> Answer {
        let lane = match stream {
            Some(stream) => session.lane_for_work(stream)?,
            None => session.default_lane()?,
        };
        session.capturing(lane)?;
        // Measured: of no elements, nothing is refused.
        if self.width == 0 || self.height == 0 {
            return Ok(());
        }
        let (space, work, touches) = self.prepare(&mut session)?;
        session.check_reach(lane, &touches)?;
        let mut memory = touches.iter().map(|touch| touch.memory);
        let is_marked = memory.any(|memory| session.registry.is_synchronous(memory));
        session.submit(lane, &touches, work)?;
        // Manual: of pinned, managed and marked memory, the call waits.
        if stream.is_none() && (space != Space::Device || is_marked) {
            session.wait_for_lane(lane)?;
        }
        Ok(())
    }

    /// Checks it, and makes the work of it.
    pub(crate) fn prepare(
        &self,
        session: &mut Session,
    ) -> Result<(Space, Work, Vec<Touch>), CUresult> {
        let size = self.pattern.len();
        let bytes = self.width.checked_mul(size).ok_or(INVALID_VALUE)?;
        if self.to.0.checked_rem(size as u64) != Some(0) {
            return Err(INVALID_VALUE);
        }
        // Measured: the pitch of one row doesn't matter.
        let pitch = if self.height == 1 { bytes } else { self.pitch };
        if pitch < bytes || pitch.checked_rem(size) != Some(0) {
            return Err(INVALID_VALUE);
        }
        let extent = Extent { width: bytes, height: self.height, depth: 1 };
        let operand = Operand {
            name: "dstDevice",
            address: self.to.0,
            pitch,
            slice: pitch.checked_mul(self.height).ok_or(INVALID_VALUE)?,
            device: true,
        };
        let call = session.call();
        let (space, to) = session.resolve(call, operand, extent)?;
        let touches: Vec<_> = to.touch(AccessKind::Write).into_iter().collect();
        session.check_access(&touches)?;
        let pattern = self.pattern.to_vec();
        Ok((space, Work::Fill { to, extent, pattern }, touches))
    }
}

macro_rules! fills {
    ($(
        $ty:ident
        $linear:ident / $linear_twin:ident, $linear_async:ident / $linear_async_twin:ident,
        $rows:ident / $rows_twin:ident, $rows_async:ident / $rows_async_twin:ident;
    )*) => {
        simulate! {$(
            /// Fills elements in a row.
            fn $linear(to: val CUdeviceptr, value: val $ty, count: val usize) with $linear_twin |session| {
                let pattern = &value.to_ne_bytes();
                Fill { to, pitch: 0, pattern, width: count, height: 1 }.submit(session, None)
            }

            /// Queues a fill of elements in a row.
            fn $linear_async(
                to: val CUdeviceptr, value: val $ty, count: val usize, stream: val CUstream,
            ) with $linear_async_twin |session| {
                let pattern = &value.to_ne_bytes();
                let fill = Fill { to, pitch: 0, pattern, width: count, height: 1 };
                fill.submit(session, Some(stream))
            }

            /// Fills rows.
            fn $rows(
                to: val CUdeviceptr, pitch: val usize, value: val $ty, width: val usize,
                height: val usize,
            ) with $rows_twin |session| {
                let pattern = &value.to_ne_bytes();
                Fill { to, pitch, pattern, width, height }.submit(session, None)
            }

            /// Queues a fill of rows.
            fn $rows_async(
                to: val CUdeviceptr, pitch: val usize, value: val $ty, width: val usize,
                height: val usize, stream: val CUstream,
            ) with $rows_async_twin |session| {
                let pattern = &value.to_ne_bytes();
                Fill { to, pitch, pattern, width, height }.submit(session, Some(stream))
            }
        )*}
    };
}

fills! {
    c_uchar
        cuMemsetD8_v2 / cuMemsetD8_v2_ptds, cuMemsetD8Async / cuMemsetD8Async_ptsz,
        cuMemsetD2D8_v2 / cuMemsetD2D8_v2_ptds, cuMemsetD2D8Async / cuMemsetD2D8Async_ptsz;
    c_ushort
        cuMemsetD16_v2 / cuMemsetD16_v2_ptds, cuMemsetD16Async / cuMemsetD16Async_ptsz,
        cuMemsetD2D16_v2 / cuMemsetD2D16_v2_ptds, cuMemsetD2D16Async / cuMemsetD2D16Async_ptsz;
    c_uint
        cuMemsetD32_v2 / cuMemsetD32_v2_ptds, cuMemsetD32Async / cuMemsetD32Async_ptsz,
        cuMemsetD2D32_v2 / cuMemsetD2D32_v2_ptds, cuMemsetD2D32Async / cuMemsetD2D32Async_ptsz;
}
