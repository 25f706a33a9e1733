//! Copies of bytes in a row.
#![expect(non_snake_case, reason = "functions have the names of C")]

use std::ffi::c_void;

use cuda_sys::{CUdeviceptr, CUstream};

use crate::engine::copy::{Order, copy};
use crate::engine::operand::Operand;
use crate::engine::raw::Extent;
use crate::entry::{Answer, INVALID_VALUE, Session, simulate};

/// Is an address as a call has it.
enum Address {
    /// A device's.
    Device(CUdeviceptr),
    /// The host's.
    Host(usize),
    /// Of whom the address itself says.
    Unified(CUdeviceptr),
}

impl Address {
    fn operand(&self, names: [&'static str; 3], bytes: usize) -> Operand {
        let [device, host, unified] = names;
        match *self {
            Self::Device(address) => Operand::linear(device, address.0, bytes, true),
            Self::Host(address) => Operand::linear(host, address as u64, bytes, false),
            Self::Unified(address) => Operand::linear(unified, address.0, bytes, false),
        }
    }
}

/// Makes the address of a host parameter, whose bytes the driver will touch by address.
fn host(pointer: *const c_void) -> Address {
    Address::Host(pointer.expose_provenance())
}

fn linear(session: Session, order: Order, to: Address, from: Address, bytes: usize) -> Answer {
    let extent = Extent { width: bytes, height: 1, depth: 1 };
    // Manual: only where addresses tell whose they are.
    if matches!(to, Address::Unified(_)) && !session.has_unified_addresses()? {
        return Err(INVALID_VALUE);
    }
    let to = to.operand(["dstDevice", "dstHost", "dst"], bytes);
    let from = from.operand(["srcDevice", "srcHost", "src"], bytes);
    copy(session, order, to, from, extent)
}

simulate! {
    /// Copies between any two addresses.
    fn cuMemcpy(to: val CUdeviceptr, from: val CUdeviceptr, bytes: val usize)
    with cuMemcpy_ptds |session| {
        let (to, from) = (Address::Unified(to), Address::Unified(from));
        linear(session, Order::Synchronous, to, from, bytes)
    }

    /// Queues a copy between any two addresses.
    fn cuMemcpyAsync(
        to: val CUdeviceptr, from: val CUdeviceptr, bytes: val usize, stream: val CUstream,
    ) with cuMemcpyAsync_ptsz |session| {
        let (to, from) = (Address::Unified(to), Address::Unified(from));
        linear(session, Order::On(stream), to, from, bytes)
    }

    /// Copies from the host to a device.
    fn cuMemcpyHtoD_v2(to: val CUdeviceptr, from: val *const c_void, bytes: val usize)
    with cuMemcpyHtoD_v2_ptds |session| {
        linear(session, Order::Synchronous, Address::Device(to), host(from), bytes)
    }

    /// Queues a copy from the host to a device.
    fn cuMemcpyHtoDAsync_v2(
        to: val CUdeviceptr, from: val *const c_void, bytes: val usize, stream: val CUstream,
    ) with cuMemcpyHtoDAsync_v2_ptsz |session| {
        linear(session, Order::On(stream), Address::Device(to), host(from), bytes)
    }

    /// Copies from a device to the host.
    fn cuMemcpyDtoH_v2(to: val *mut c_void, from: val CUdeviceptr, bytes: val usize)
    with cuMemcpyDtoH_v2_ptds |session| {
        linear(session, Order::Synchronous, host(to), Address::Device(from), bytes)
    }

    /// Queues a copy from a device to the host.
    fn cuMemcpyDtoHAsync_v2(
        to: val *mut c_void, from: val CUdeviceptr, bytes: val usize, stream: val CUstream,
    ) with cuMemcpyDtoHAsync_v2_ptsz |session| {
        linear(session, Order::On(stream), host(to), Address::Device(from), bytes)
    }

    /// Copies inside of a device.
    fn cuMemcpyDtoD_v2(to: val CUdeviceptr, from: val CUdeviceptr, bytes: val usize)
    with cuMemcpyDtoD_v2_ptds |session| {
        let (to, from) = (Address::Device(to), Address::Device(from));
        linear(session, Order::Synchronous, to, from, bytes)
    }

    /// Queues a copy inside of a device.
    fn cuMemcpyDtoDAsync_v2(
        to: val CUdeviceptr, from: val CUdeviceptr, bytes: val usize, stream: val CUstream,
    ) with cuMemcpyDtoDAsync_v2_ptsz |session| {
        let (to, from) = (Address::Device(to), Address::Device(from));
        linear(session, Order::On(stream), to, from, bytes)
    }
}
