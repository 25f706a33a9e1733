//! Copies from and to arrays' elements in a row. Answers are *manual* where not said otherwise.
//!
//! Boxes of any array are copied in `box_copy`.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_void;

use cuda_sys::{CUarray, CUdeviceptr, CUresult, CUstream};

use crate::driver::array::row;
use crate::engine::copy::{Order, Target, copy};
use crate::engine::handle::RawHandle;
use crate::engine::image::Region;
use crate::engine::operand::Operand;
use crate::entry::{Answer, INVALID_VALUE, Session, simulate};

/// Is one end of a copy.
#[derive(Clone, Copy)]
enum End {
    Array(CUarray, usize),
    Host(usize),
    Device(CUdeviceptr),
}

impl End {
    /// Makes an operand; of an array of two dimensions it is in the first row (measured).
    fn target(
        self,
        session: &mut Session,
        [array_name, host_name, device_name]: [&'static str; 3],
        bytes: usize,
    ) -> Result<Target, CUresult> {
        Ok(match self {
            Self::Array(array, offset) => {
                let array = array.number();
                let descriptor = session.array(array_name, array)?.descriptor;
                if descriptor.Depth != 0 {
                    return Err(INVALID_VALUE);
                }
                Target::Region(Region { name: array_name, array, start: [offset, 0, 0] })
            }
            Self::Host(address) => Operand::linear(host_name, address as u64, bytes, false).into(),
            Self::Device(address) => Operand::linear(device_name, address.0, bytes, true).into(),
        })
    }
}

fn linear(mut session: Session, order: Order, to: End, from: End, bytes: usize) -> Answer {
    session.context()?;
    if bytes == 0 {
        return Ok(());
    }
    let to = to.target(&mut session, ["dstArray", "dstHost", "dstDevice"], bytes)?;
    let from = from.target(&mut session, ["srcArray", "srcHost", "srcDevice"], bytes)?;
    copy(session, order, to, from, row(bytes))
}

/// Makes the end of a host pointer.
fn host(pointer: *const c_void) -> End {
    End::Host(pointer.expose_provenance())
}

simulate! {
    /// Copies from a device to an array.
    fn cuMemcpyDtoA_v2(
        to: val CUarray, offset: val usize, from: val CUdeviceptr, bytes: val usize,
    ) with cuMemcpyDtoA_v2_ptds |session| {
        linear(session, Order::Synchronous, End::Array(to, offset), End::Device(from), bytes)
    }

    /// Copies from an array to a device.
    fn cuMemcpyAtoD_v2(
        to: val CUdeviceptr, from: val CUarray, offset: val usize, bytes: val usize,
    ) with cuMemcpyAtoD_v2_ptds |session| {
        linear(session, Order::Synchronous, End::Device(to), End::Array(from, offset), bytes)
    }

    /// Copies from the host to an array.
    fn cuMemcpyHtoA_v2(
        to: val CUarray, offset: val usize, from: val *const c_void, bytes: val usize,
    ) with cuMemcpyHtoA_v2_ptds |session| {
        linear(session, Order::Synchronous, End::Array(to, offset), host(from), bytes)
    }

    /// Queues a copy from the host to an array.
    fn cuMemcpyHtoAAsync_v2(
        to: val CUarray, offset: val usize, from: val *const c_void, bytes: val usize,
        stream: val CUstream,
    ) with cuMemcpyHtoAAsync_v2_ptsz |session| {
        linear(session, Order::On(stream), End::Array(to, offset), host(from), bytes)
    }

    /// Copies from an array to the host.
    fn cuMemcpyAtoH_v2(
        to: val *mut c_void, from: val CUarray, offset: val usize, bytes: val usize,
    ) with cuMemcpyAtoH_v2_ptds |session| {
        linear(session, Order::Synchronous, host(to), End::Array(from, offset), bytes)
    }

    /// Queues a copy from an array to the host.
    fn cuMemcpyAtoHAsync_v2(
        to: val *mut c_void, from: val CUarray, offset: val usize, bytes: val usize,
        stream: val CUstream,
    ) with cuMemcpyAtoHAsync_v2_ptsz |session| {
        linear(session, Order::On(stream), host(to), End::Array(from, offset), bytes)
    }

    /// Copies from an array to an array.
    fn cuMemcpyAtoA_v2(
        to: val CUarray, to_offset: val usize, from: val CUarray, from_offset: val usize,
        bytes: val usize,
    ) with cuMemcpyAtoA_v2_ptds |session| {
        let (to, from) = (End::Array(to, to_offset), End::Array(from, from_offset));
        linear(session, Order::Synchronous, to, from, bytes)
    }
}
