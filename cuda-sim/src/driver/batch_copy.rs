//! Copies in batches, and copies with attributes. All answers are manual.
//!
//! Nothing orders the copies of a batch among each other: two of them that touch the same bytes,
//! one writing, are a race.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_ulonglong;

use cuda_sys::{
    CUDA_MEMCPY3D_BATCH_OP, CUdeviceptr, CUmemcpyAttributes, CUmemcpySrcAccessOrder, CUresult,
    CUstream,
};

use crate::driver::array::row;
use crate::driver::unions::{BoxOperand, box_operand};
use crate::engine::batch::{Batch, SourceOrder};
use crate::engine::copy::Target;
use crate::engine::image::Region;
use crate::engine::operand::Operand;
use crate::engine::raw::Extent;
use crate::engine::state::State;
use crate::entry::{Answer, INVALID_VALUE, Out, Session, simulate};

/// `CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE`, which changes nothing here.
const FLAGS: u32 = 1;

/// Reads when sources are read.
fn order(order: CUmemcpySrcAccessOrder, flags: u32) -> Result<SourceOrder, CUresult> {
    use CUmemcpySrcAccessOrder as O;
    if flags & !FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    Ok(match order {
        O::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM => SourceOrder::Stream,
        O::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL => SourceOrder::Call,
        O::CU_MEMCPY_SRC_ACCESS_ORDER_ANY => SourceOrder::Any,
        _ => return Err(INVALID_VALUE),
    })
}

/// Is the parameters of a batch of runs.
struct Runs<'a> {
    to: &'a Out<CUdeviceptr>,
    from: &'a Out<CUdeviceptr>,
    sizes: &'a Out<usize>,
    count: usize,
    attributes: &'a Out<CUmemcpyAttributes>,
    /// The copy from which on each of the attributes holds.
    starts: &'a Out<usize>,
    attribute_count: usize,
}

impl Runs<'_> {
    /// Reads when the source of each copy is read.
    fn orders(&self) -> Result<Vec<SourceOrder>, CUresult> {
        let (count, last) = (self.count, self.attribute_count);
        if last == 0 || last > count || self.starts.read_at(0)? != 0 {
            return Err(INVALID_VALUE);
        }
        let mut all = Vec::new();
        for index in 0..last {
            let given = self.attributes.read_at(index)?;
            let order = order(given.srcAccessOrder, given.flags)?;
            let end = if index + 1 < last { self.starts.read_at(index + 1)? } else { count };
            // Each begins behind the one before.
            if end <= all.len() || end > count {
                return Err(INVALID_VALUE);
            }
            all.resize(end, order);
        }
        Ok(all)
    }

    /// Queues all of them or none; tells which of them was refused.
    fn submit(&self, mut session: Session, stream: CUstream, failed: impl Fn(usize)) -> Answer {
        let lane = session.lane_for_batch(stream)?;
        // No copy is at fault.
        failed(usize::MAX);
        if self.count == 0 {
            return Err(INVALID_VALUE);
        }
        let mut batch = Batch::default();
        for (index, order) in self.orders()?.into_iter().enumerate() {
            let bytes = self.sizes.read_at(index)?;
            let (to, from) = (self.to.read_at(index)?.0, self.from.read_at(index)?.0);
            let to = Operand::linear("dsts", to, bytes, false);
            let from = Operand::linear("srcs", from, bytes, false);
            let added = batch.add(&mut session, order, to.into(), from.into(), row(bytes));
            added.inspect_err(|_| failed(index))?;
        }
        batch.submit(session, lane)
    }
}

impl State {
    /// Makes one end of a copy of a box, whose extent is in elements of the array if there is one.
    fn box_target(
        &mut self,
        name: &'static str,
        given: BoxOperand,
        extent: Extent,
        element: usize,
    ) -> Result<Target, CUresult> {
        Ok(match given {
            BoxOperand::Array { array, start: [x, y, z] } => {
                let x = x.checked_mul(element).ok_or(INVALID_VALUE)?;
                Target::Region(Region { name, array, start: [x, y, z] })
            }
            BoxOperand::Memory { address, row_length, layer_height } => {
                // Zero says that there are no gaps.
                let pitch = match row_length {
                    0 => extent.width,
                    length => length.checked_mul(element).ok_or(INVALID_VALUE)?,
                };
                let rows = if layer_height == 0 { extent.height } else { layer_height };
                if pitch < extent.width || rows < extent.height {
                    return Err(INVALID_VALUE);
                }
                let slice = pitch.checked_mul(rows).ok_or(INVALID_VALUE)?;
                Operand { name, address, pitch, slice, device: false }.into()
            }
        })
    }

    /// Returns how many bytes an element has: the array's, and a byte where there is none.
    fn element_of(&mut self, ends: [BoxOperand; 2]) -> Result<usize, CUresult> {
        let mut element = None;
        for end in ends {
            let BoxOperand::Array { array, .. } = end else { continue };
            let found = self.array("opList", array)?.element;
            // Both have elements of one size.
            if element.is_some_and(|element| element != found) {
                return Err(INVALID_VALUE);
            }
            element = Some(found);
        }
        Ok(element.unwrap_or(1))
    }
}

/// Adds a copy of a box to a batch.
fn add_box(session: &mut Session, batch: &mut Batch, given: &CUDA_MEMCPY3D_BATCH_OP) -> Answer {
    let order = order(given.srcAccessOrder, given.flags)?;
    let (to, from) = (box_operand(&given.dst)?, box_operand(&given.src)?);
    let element = session.element_of([to, from])?;
    let size = given.extent;
    let width = size.width.checked_mul(element).ok_or(INVALID_VALUE)?;
    let extent = Extent { width, height: size.height, depth: size.depth };
    if extent.is_empty() {
        return Err(INVALID_VALUE);
    }
    let to = session.box_target("dst", to, extent, element)?;
    let from = session.box_target("src", from, extent, element)?;
    batch.add(session, order, to, from, extent)
}

/// Queues copies of boxes, all of them or none; tells which of them was refused.
fn boxes(
    mut session: Session,
    count: usize,
    given: &Out<CUDA_MEMCPY3D_BATCH_OP>,
    flags: c_ulonglong,
    stream: CUstream,
    failed: impl Fn(usize),
) -> Answer {
    let lane = session.lane_for_batch(stream)?;
    failed(usize::MAX);
    if count == 0 || flags != 0 {
        return Err(INVALID_VALUE);
    }
    let mut batch = Batch::default();
    for index in 0..count {
        let given = given.read_at(index)?;
        add_box(&mut session, &mut batch, &given).inspect_err(|_| failed(index))?;
    }
    batch.submit(session, lane)
}

simulate! {
    /// Queues copies that nothing orders among each other. Tells which was refused.
    fn cuMemcpyBatchAsync(
        to: out CUdeviceptr, from: out CUdeviceptr, sizes: out usize, count: val usize,
        attributes: out CUmemcpyAttributes, starts: out usize, attribute_count: val usize,
        failed: out usize, stream: val CUstream,
    ) with cuMemcpyBatchAsync_ptsz |session| {
        let (to, from, sizes, attributes, starts) = (&to, &from, &sizes, &attributes, &starts);
        Runs { to, from, sizes, count, attributes, starts, attribute_count }
            .submit(session, stream, |index| failed.write(index))
    }

    /// Queues copies that nothing orders among each other.
    fn cuMemcpyBatchAsync_v2(
        to: out CUdeviceptr, from: out CUdeviceptr, sizes: out usize, count: val usize,
        attributes: out CUmemcpyAttributes, starts: out usize, attribute_count: val usize,
        stream: val CUstream,
    ) with cuMemcpyBatchAsync_v2_ptsz |session| {
        let (to, from, sizes, attributes, starts) = (&to, &from, &sizes, &attributes, &starts);
        Runs { to, from, sizes, count, attributes, starts, attribute_count }
            .submit(session, stream, |_| {})
    }

    /// Queues copies of boxes that nothing orders among each other. Tells which was refused.
    fn cuMemcpy3DBatchAsync(
        count: val usize, copies: out CUDA_MEMCPY3D_BATCH_OP, failed: out usize,
        flags: val c_ulonglong, stream: val CUstream,
    ) with cuMemcpy3DBatchAsync_ptsz |session| {
        boxes(session, count, &copies, flags, stream, |index| failed.write(index))
    }

    /// Queues copies of boxes that nothing orders among each other.
    fn cuMemcpy3DBatchAsync_v2(
        count: val usize, copies: out CUDA_MEMCPY3D_BATCH_OP, flags: val c_ulonglong,
        stream: val CUstream,
    ) with cuMemcpy3DBatchAsync_v2_ptsz |session| {
        boxes(session, count, &copies, flags, stream, |_| {})
    }

    /// Queues a copy whose source is read when its attributes say.
    fn cuMemcpyWithAttributesAsync(
        to: val CUdeviceptr, from: val CUdeviceptr, bytes: val usize,
        attributes: out CUmemcpyAttributes, stream: val CUstream,
    ) with cuMemcpyWithAttributesAsync_ptsz |mut session| {
        let lane = session.lane_for_work(stream)?;
        let given = attributes.read()?;
        let order = order(given.srcAccessOrder, given.flags)?;
        let to = Operand::linear("dst", to.0, bytes, false);
        let from = Operand::linear("src", from.0, bytes, false);
        let mut batch = Batch::default();
        batch.add(&mut session, order, to.into(), from.into(), row(bytes))?;
        batch.submit(session, lane)
    }

    /// Queues a copy of a box whose source is read when its attributes say.
    fn cuMemcpy3DWithAttributesAsync(
        copy: out CUDA_MEMCPY3D_BATCH_OP, flags: val c_ulonglong, stream: val CUstream,
    ) with cuMemcpy3DWithAttributesAsync_ptsz |mut session| {
        let lane = session.lane_for_work(stream)?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        let mut batch = Batch::default();
        add_box(&mut session, &mut batch, &copy.read()?)?;
        batch.submit(session, lane)
    }
}
