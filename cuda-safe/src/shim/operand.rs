//! What may stand in a call: memory, handles, and what an expansion makes of them.
//!
//! Not here: the checks (`gate`).
#![expect(unsafe_code, reason = "declares the traits by which memory types vouch for addresses")]

use core::ptr;

use cuda_sys::{CUdevice, CUdeviceptr};

use super::area::Area;
use super::region::{Allocation, Kind, Region};
use crate::context::Context;

/// Says what is done to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// They are read.
    Read,
    /// They are written, and perhaps read.
    Write,
    /// They are left alone; only their address is passed on.
    Share,
}

impl Access {
    /// Tells whether two uses of the same bytes have an order that matters.
    pub const fn conflicts(self, other: Self) -> bool {
        matches!((self, other), (Self::Write, Self::Read | Self::Write) | (Self::Read, Self::Write))
    }
}

/// Says until when a call's bytes are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Until it returns, if it is memory of the host.
    Call,
    /// Until its stream passes it.
    Stream,
}

/// Is memory that a call can be pointed to.
///
/// # Safety
///
/// The region that [`region`](Self::region) describes is allocated, of the stated kind, in the
/// stated context, for as long as the value is borrowed; its bytes may be read, and written if the
/// value is borrowed mutably; every value that refers to the same bytes names the same
/// [`Allocation`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that the driver can be pointed to",
    note = "buffers and views of this crate are; so are slices and vectors of plain numbers"
)]
pub unsafe trait Memory {
    /// Describes the memory.
    fn region(&self) -> Region<'_>;
}

/// Is memory that may be in use until a stream passes: its owner is `'static`, and is not freed
/// before.
///
/// # Safety
///
/// The region names an [`Allocation`]. Whoever reads or writes the bytes without a call waits for
/// its uses before, and so does whoever frees them, also when the value is dropped or forgotten.
#[diagnostic::on_unimplemented(
    message = "`{Self}` may be gone or changed before the stream has passed",
    note = "use pinned memory, or the form of the call that is finished when it returns"
)]
pub unsafe trait Steady: Memory {}

/// Is memory of a device.
///
/// # Safety
///
/// The address is one of the device's address space.
#[diagnostic::on_unimplemented(message = "`{Self}` is not device memory")]
pub unsafe trait Device: Steady {}

/// Is memory of the host.
///
/// # Safety
///
/// The address is one of the CPU's.
#[diagnostic::on_unimplemented(message = "`{Self}` is not host memory")]
pub unsafe trait Host: Memory {}

// SAFETY: a slice is memory, and the borrow keeps it; two slices that share bytes of which some
// are written cannot be borrowed at once. Any bytes are a value of `T`, and it has no padding.
unsafe impl<T: bytemuck::Pod> Memory for [T] {
    fn region(&self) -> Region<'_> {
        Region::new(self.as_ptr().expose_provenance(), size_of_val(self), Kind::Pageable)
    }
}

// SAFETY: as above.
unsafe impl<T: bytemuck::Pod> Host for [T] {}

// SAFETY: as for the slice that it is.
unsafe impl<T: bytemuck::Pod, const N: usize> Memory for [T; N] {
    fn region(&self) -> Region<'_> {
        self.as_slice().region()
    }
}

// SAFETY: as above.
unsafe impl<T: bytemuck::Pod, const N: usize> Host for [T; N] {}

// SAFETY: as for the slice that it holds.
unsafe impl<T: bytemuck::Pod> Memory for Vec<T> {
    fn region(&self) -> Region<'_> {
        self.as_slice().region()
    }
}

// SAFETY: as above.
unsafe impl<T: bytemuck::Pod> Host for Vec<T> {}

/// Is something that the driver knows by a handle.
///
/// # Safety
///
/// The handle is valid for as long as the value is borrowed, in the context that
/// [`home`](Self::home) names.
pub unsafe trait Handle {
    /// The C type of the handle.
    type Raw: Copy;

    /// Returns the handle.
    fn raw(&self) -> Self::Raw;

    /// Returns the context that it belongs to, if it belongs to one.
    fn home(&self) -> Option<&Context>;

    /// Returns the sizes of a kernel's parameters, for a handle of a kernel that knows them.
    fn parameters(&self) -> Option<&[usize]> {
        None
    }
}

/// Says how much of both sides a copy of rows moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Bytes in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Says how much of both sides a copy of planes moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Volume {
    /// Bytes in a row.
    pub width: usize,
    /// Rows in a plane.
    pub height: usize,
    /// Planes.
    pub depth: usize,
}

/// Is an operand on its way through the gates.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(super) name: &'static str,
    pub(super) access: Access,
    pub(super) until: Until,
    pub(super) region: Region<'a>,
    /// What the call touches, once a gate has let it through.
    pub(super) area: Area,
}

impl<'a> Operand<'a> {
    #[inline]
    pub(crate) fn new<M: Memory + ?Sized>(
        name: &'static str,
        access: Access,
        until: Until,
        memory: &'a M,
    ) -> Self {
        Self { name, access, until, region: memory.region(), area: Area::EMPTY }
    }

    pub(crate) const fn len(&self) -> usize {
        self.region.len
    }

    pub(crate) const fn pitch(&self) -> usize {
        self.region.pitch
    }

    pub(crate) const fn plane(&self) -> usize {
        self.region.plane
    }

    pub(crate) const fn width(&self) -> usize {
        self.region.width
    }

    pub(crate) const fn height(&self) -> usize {
        self.region.height
    }

    pub(crate) const fn home(&self) -> Option<&'a Context> {
        self.region.home
    }

    /// Returns the allocation, if its uses are recorded.
    pub(super) fn allocation(&self) -> Option<&'a Allocation> {
        self.region.allocation.map(|(allocation, _)| allocation)
    }

    /// Returns where in its allocation it begins.
    pub(super) fn offset(&self) -> usize {
        self.region.allocation.map_or(0, |(_, offset)| offset)
    }
}

/// Is a handle on its way through the gates.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a, R> {
    raw: R,
    home: Option<&'a Context>,
    parameters: Option<&'a [usize]>,
}

impl<'a, R: Copy> Held<'a, R> {
    #[inline]
    pub(crate) fn new(_name: &'static str, handle: &'a (impl Handle<Raw = R> + ?Sized)) -> Self {
        Self { raw: handle.raw(), home: handle.home(), parameters: handle.parameters() }
    }

    pub(crate) const fn raw(&self) -> R {
        self.raw
    }

    pub(crate) const fn home(&self) -> Option<&'a Context> {
        self.home
    }

    pub(crate) const fn parameters(&self) -> Option<&'a [usize]> {
        self.parameters
    }
}

// SAFETY: the number of a device is valid as long as the process, and the driver refuses others.
unsafe impl Handle for CUdevice {
    type Raw = Self;

    fn raw(&self) -> Self {
        *self
    }

    fn home(&self) -> Option<&Context> {
        None
    }
}

/// Is a C type for an address.
#[diagnostic::on_unimplemented(message = "`{Self}` is no address, and only those can be `null`")]
pub(crate) trait Pointer {
    fn from_address(address: usize) -> Self;
}

impl Pointer for CUdeviceptr {
    fn from_address(address: usize) -> Self {
        Self(address as u64)
    }
}

impl<T> Pointer for *const T {
    fn from_address(address: usize) -> Self {
        ptr::with_exposed_provenance(address)
    }
}

impl<T> Pointer for *mut T {
    fn from_address(address: usize) -> Self {
        ptr::with_exposed_provenance_mut(address)
    }
}

/// Returns the address that the call is given.
#[inline]
pub(crate) fn address<P: Pointer>(operand: &Operand<'_>) -> P {
    P::from_address(operand.region.address)
}
