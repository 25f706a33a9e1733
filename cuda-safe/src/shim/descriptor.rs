//! Descriptors: zeroed memory whose fields are written in place, and what one side's fields hold.
#![expect(unsafe_code, reason = "lends zeroed memory as a C record")]

use core::mem::MaybeUninit;

use cuda_sys::{CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUmemorytype};

use super::operand::{Operand, Pointer};
use super::region::Kind;

/// Is a C record of which all bytes may be zero.
///
/// # Safety
///
/// Zero bytes are a value of the type.
pub(crate) unsafe trait Descriptor {}

// SAFETY: numbers and raw pointers.
unsafe impl Descriptor for CUDA_MEMCPY2D {}
// SAFETY: as above.
unsafe impl Descriptor for CUDA_MEMCPY3D {}

/// Makes zeroed memory for a descriptor, its padding included.
pub(crate) const fn descriptor<T: Descriptor>() -> MaybeUninit<T> {
    MaybeUninit::zeroed()
}

/// Lends a descriptor's fields, so that they are written where the driver will read them.
pub(crate) const fn fields<T: Descriptor>(memory: &mut MaybeUninit<T>) -> &mut T {
    // SAFETY: zero bytes are a value of the type, and `descriptor` zeroed them.
    unsafe { memory.assume_init_mut() }
}

/// Returns which of a side's fields says where it is.
pub(crate) const fn memory_type(operand: &Operand<'_>) -> CUmemorytype {
    match operand.region.kind {
        Kind::Pinned | Kind::Registered | Kind::Pageable => CUmemorytype::CU_MEMORYTYPE_HOST,
        Kind::Managed => CUmemorytype::CU_MEMORYTYPE_UNIFIED,
        _ => CUmemorytype::CU_MEMORYTYPE_DEVICE,
    }
}

/// Returns the address of memory of the host, else null.
pub(crate) fn host_address<P: Pointer>(operand: &Operand<'_>) -> P {
    P::from_address(if operand.region.kind.is_host() { operand.region.address } else { 0 })
}

/// Returns the address of memory of a device, else zero.
pub(crate) fn device_address<P: Pointer>(operand: &Operand<'_>) -> P {
    P::from_address(if operand.region.kind.is_host() { 0 } else { operand.region.address })
}

/// Returns a null pointer of the parameter's type.
pub(crate) fn null<P: Pointer>() -> P {
    P::from_address(0)
}
