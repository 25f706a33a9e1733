//! Copies of boxes in two and three dimensions, of memory and of arrays.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_void;

use cuda_sys::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER, CUarray, CUdeviceptr, CUmemorytype, CUresult,
    CUstream,
};

use crate::engine::copy::{Order, Target, copy};
use crate::engine::handle::RawHandle;
use crate::engine::image::Region;
use crate::engine::operand::Operand;
use crate::engine::raw::Extent;
use crate::entry::{Answer, INVALID_VALUE, In, Session, simulate};

/// `CU_DEVICE_ATTRIBUTE_MAX_PITCH` of the measured device.
const MAX_PITCH: usize = 2_147_483_647;

/// Is one end of a copy as the descriptor has it.
pub(crate) struct End {
    name: &'static str,
    kind: CUmemorytype,
    host: usize,
    device: CUdeviceptr,
    array: CUarray,
    pitch: usize,
    /// Rows of a slice.
    rows: usize,
    /// Where the box begins: bytes, rows, slices.
    start: [usize; 3],
}

impl End {
    /// Checks the end and makes an operand of it.
    ///
    /// Measured: a row longer than the pitch is refused, one row too, and a pitch beyond the greatest is
    /// not if there is one row. No pitch means rows without gaps, no height a slice of as many rows as
    /// are copied.
    pub(crate) fn target(self, extent: Extent) -> Result<Target, CUresult> {
        let [x, y, z] = self.start;
        // Manual: of an array, pitch and rows don't matter.
        if self.kind == CUmemorytype::CU_MEMORYTYPE_ARRAY {
            let array = self.array.number();
            return Ok(Target::Region(Region { name: self.name, array, start: self.start }));
        }
        let is_row = extent.height <= 1 && extent.depth <= 1;
        let reach = x.checked_add(extent.width).ok_or(INVALID_VALUE)?;
        let pitch = if self.pitch == 0 { reach } else { self.pitch };
        if reach > pitch || !is_row && pitch > MAX_PITCH {
            return Err(INVALID_VALUE);
        }
        let is_given = self.rows != 0 && extent.depth > 1;
        let rows = if is_given { self.rows } else { self.rows.max(extent.height) };
        // A slice holds the rows that are copied.
        if extent.depth > 1 && y.checked_add(extent.height).is_none_or(|end| end > rows) {
            return Err(INVALID_VALUE);
        }
        let slice = pitch.checked_mul(rows).ok_or(INVALID_VALUE)?;
        let offset = z
            .checked_mul(slice)
            .zip(y.checked_mul(pitch))
            .and_then(|(slices, rows)| slices.checked_add(rows)?.checked_add(x))
            .ok_or(INVALID_VALUE)?;
        let (base, device) = match self.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => (self.host as u64, false),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => (self.device.0, true),
            CUmemorytype::CU_MEMORYTYPE_UNIFIED => (self.device.0, false),
            _ => return Err(INVALID_VALUE),
        };
        let address = base.checked_add(offset as u64).ok_or(INVALID_VALUE)?;
        Ok(Operand { name: self.name, address, pitch, slice, device }.into())
    }
}

/// Returns the address of a host pointer, whose bytes the driver will touch by address.
fn exposed(pointer: *const c_void) -> usize {
    pointer.expose_provenance()
}

fn copy_2d(session: Session, order: Order, descriptor: &In<CUDA_MEMCPY2D>) -> Answer {
    session.context()?;
    let copy = descriptor.read()?;
    let extent = Extent { width: copy.WidthInBytes, height: copy.Height, depth: 1 };
    let to = End {
        name: "dst",
        kind: copy.dstMemoryType,
        host: exposed(copy.dstHost),
        device: copy.dstDevice,
        array: copy.dstArray,
        pitch: copy.dstPitch,
        rows: copy.Height,
        start: [copy.dstXInBytes, copy.dstY, 0],
    };
    let from = End {
        name: "src",
        kind: copy.srcMemoryType,
        host: exposed(copy.srcHost),
        device: copy.srcDevice,
        array: copy.srcArray,
        pitch: copy.srcPitch,
        rows: copy.Height,
        start: [copy.srcXInBytes, copy.srcY, 0],
    };
    submit(session, order, to, from, extent)
}

fn copy_3d(session: Session, order: Order, descriptor: &In<CUDA_MEMCPY3D>) -> Answer {
    session.context()?;
    let (to, from, extent) = ends(&descriptor.read()?)?;
    submit(session, order, to, from, extent)
}

/// Returns where a copy of slices goes, where it comes from, and its extent.
pub(crate) fn ends(copy: &CUDA_MEMCPY3D) -> Result<(End, End, Extent), CUresult> {
    let extent = Extent { width: copy.WidthInBytes, height: copy.Height, depth: copy.Depth };
    // Manual: zero. Measured: of what is no array it doesn't matter.
    let is_wrong = |kind, level| kind == CUmemorytype::CU_MEMORYTYPE_ARRAY && level != 0;
    if is_wrong(copy.srcMemoryType, copy.srcLOD) || is_wrong(copy.dstMemoryType, copy.dstLOD) {
        return Err(INVALID_VALUE);
    }
    let to = End {
        name: "dst",
        kind: copy.dstMemoryType,
        host: exposed(copy.dstHost),
        device: copy.dstDevice,
        array: copy.dstArray,
        pitch: copy.dstPitch,
        rows: copy.dstHeight,
        start: [copy.dstXInBytes, copy.dstY, copy.dstZ],
    };
    let from = End {
        name: "src",
        kind: copy.srcMemoryType,
        host: exposed(copy.srcHost),
        device: copy.srcDevice,
        array: copy.srcArray,
        pitch: copy.srcPitch,
        rows: copy.srcHeight,
        start: [copy.srcXInBytes, copy.srcY, copy.srcZ],
    };
    Ok((to, from, extent))
}

/// Makes both ends of a copy that names two contexts.
pub(crate) fn peer_ends(
    copy: &CUDA_MEMCPY3D_PEER,
    extent: Extent,
) -> Result<[Target; 2], CUresult> {
    let to = End {
        name: "dst",
        kind: copy.dstMemoryType,
        host: exposed(copy.dstHost),
        device: copy.dstDevice,
        array: copy.dstArray,
        pitch: copy.dstPitch,
        rows: copy.dstHeight,
        start: [copy.dstXInBytes, copy.dstY, copy.dstZ],
    };
    let from = End {
        name: "src",
        kind: copy.srcMemoryType,
        host: exposed(copy.srcHost),
        device: copy.srcDevice,
        array: copy.srcArray,
        pitch: copy.srcPitch,
        rows: copy.srcHeight,
        start: [copy.srcXInBytes, copy.srcY, copy.srcZ],
    };
    Ok([to.target(extent)?, from.target(extent)?])
}

fn submit(session: Session, order: Order, to: End, from: End, extent: Extent) -> Answer {
    // Measured of two dimensions: of no bytes, nothing is refused.
    if extent.is_empty() {
        return Ok(());
    }
    let is_unified = |end: &End| end.kind == CUmemorytype::CU_MEMORYTYPE_UNIFIED;
    if (is_unified(&to) || is_unified(&from)) && !session.has_unified_addresses()? {
        return Err(INVALID_VALUE);
    }
    let (to, from) = (to.target(extent)?, from.target(extent)?);
    copy(session, order, to, from, extent)
}

simulate! {
    /// Copies rows.
    fn cuMemcpy2D_v2(descriptor: into CUDA_MEMCPY2D) with cuMemcpy2D_v2_ptds |session| {
        copy_2d(session, Order::Synchronous, &descriptor)
    }

    /// Copies rows of any pitch.
    fn cuMemcpy2DUnaligned_v2(descriptor: into CUDA_MEMCPY2D)
    with cuMemcpy2DUnaligned_v2_ptds |session| {
        copy_2d(session, Order::Synchronous, &descriptor)
    }

    /// Queues a copy of rows.
    fn cuMemcpy2DAsync_v2(descriptor: into CUDA_MEMCPY2D, stream: val CUstream)
    with cuMemcpy2DAsync_v2_ptsz |session| {
        copy_2d(session, Order::On(stream), &descriptor)
    }

    /// Copies slices.
    fn cuMemcpy3D_v2(descriptor: into CUDA_MEMCPY3D) with cuMemcpy3D_v2_ptds |session| {
        copy_3d(session, Order::Synchronous, &descriptor)
    }

    /// Queues a copy of slices.
    fn cuMemcpy3DAsync_v2(descriptor: into CUDA_MEMCPY3D, stream: val CUstream)
    with cuMemcpy3DAsync_v2_ptsz |session| {
        copy_3d(session, Order::On(stream), &descriptor)
    }
}
