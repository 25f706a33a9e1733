//! What a call has to know of memory, and what all that refers to one allocation has in common.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::area::Area;
use super::timeline::Timeline;
use super::uses::Uses;
use crate::context::Context;
use crate::error::Result;

/// Says how memory was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// By `cuMemAlloc` or `cuMemAllocPitch`.
    Alloc,
    /// In the order of a stream, from a pool.
    Pool,
    /// In the order of a stream, from a pool made to be shared.
    SharedPool,
    /// By mapping physical memory.
    Virtual,
    /// By `cuMemAllocManaged`.
    Managed,
    /// Opened by a handle from another process.
    Imported,
    /// By `cuMemHostAlloc`: page-locked.
    Pinned,
    /// As [`Pinned`](Self::Pinned) or [`Registered`](Self::Registered), by a device's address.
    Mapped,
    /// By others, and page-locked by `cuMemHostRegister`.
    Registered,
    /// By others: ordinary memory of this process.
    Pageable,
    /// By others, on a device.
    External,
    /// With the code of a module, as a variable of it.
    Global,
}

impl Kind {
    /// Tells whether the address is one of the CPU's.
    pub const fn is_host(self) -> bool {
        matches!(self, Self::Pinned | Self::Registered | Self::Pageable)
    }

    /// Returns the variant's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alloc => "Alloc",
            Self::Pool => "Pool",
            Self::SharedPool => "SharedPool",
            Self::Virtual => "Virtual",
            Self::Managed => "Managed",
            Self::Imported => "Imported",
            Self::Pinned => "Pinned",
            Self::Mapped => "Mapped",
            Self::Registered => "Registered",
            Self::Pageable => "Pageable",
            Self::External => "External",
            Self::Global => "Global",
        }
    }
}

/// Is one allocation of this process: whatever refers to the same bytes shares it.
pub struct Allocation {
    id: u64,
    len: usize,
    /// The driver's number, by which others find the record.
    buffer_id: Option<u64>,
    uses: Uses<Timeline>,
}

impl Allocation {
    /// Makes the record of an allocation of `len` bytes that nothing has used yet, and that nobody
    /// else can refer to: [`of_buffer`](Self::of_buffer) makes those that others find.
    pub fn new(len: usize) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, len, buffer_id: None, uses: Uses::new() }
    }

    pub(super) fn numbered(buffer_id: u64, len: usize) -> Self {
        let mut allocation = Self::new(len);
        allocation.buffer_id = Some(buffer_id);
        allocation
    }

    /// Returns a number that no other allocation of this process has or had.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// Returns how many bytes it has.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Tells whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) const fn uses(&self) -> &Uses<Timeline> {
        &self.uses
    }

    /// Waits until nothing writes to `area` any more, so that the CPU may read it.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream writes to it.
    ///
    /// # Errors
    ///
    /// As the driver answers; then the bytes may still be written to.
    pub fn wait_for_writes(&self, area: Area) -> Result<()> {
        super::settle::wait(&self.uses, super::Access::Read, area)
    }

    /// Waits until nothing uses `area` any more, so that the CPU may write to it.
    ///
    /// Driver: [`cuEventSynchronize`](crate::call::event_synchronize), if a stream uses it.
    ///
    /// # Errors
    ///
    /// As the driver answers; then the bytes may still be in use.
    pub fn wait_for_all(&self, area: Area) -> Result<()> {
        super::settle::wait(&self.uses, super::Access::Write, area)
    }

    /// Waits as [`wait_for_all`](Self::wait_for_all) does, but no longer than `limit`; answers
    /// whether nothing uses `area` any more.
    ///
    /// Driver: [`cuEventQuery`](crate::call::event_query), if a stream uses it.
    ///
    /// # Errors
    ///
    /// As the driver answers; then the bytes may still be in use.
    pub fn wait_timeout(&self, area: Area, limit: Duration) -> Result<bool> {
        super::settle::wait_timeout(&self.uses, area, limit)
    }

    /// Tells whether nothing that used it is recorded any more; asks nobody.
    pub(crate) fn is_unused(&self) -> bool {
        self.uses.is_none()
    }

    /// Tells whether everything that used it is known to be done; asks the driver, and waits for
    /// nothing.
    ///
    /// Driver: [`cuEventQuery`](crate::call::event_query), if a stream used it.
    pub fn is_idle(&self) -> bool {
        super::settle::is_idle(&self.uses)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if let Some(buffer_id) = self.buffer_id {
            super::records::forget(buffer_id);
        }
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, len, uses, .. } = self;
        f.debug_struct("Allocation")
            .field("id", id)
            .field("len", len)
            .field("uses", &uses.len())
            .finish()
    }
}

/// Is what a call has to know of an operand.
#[derive(Clone, Copy)]
pub struct Region<'a> {
    pub(super) address: usize,
    pub(super) len: usize,
    pub(super) pitch: usize,
    pub(super) width: usize,
    pub(super) height: usize,
    /// The rows from one plane to the next.
    pub(super) plane: usize,
    pub(super) kind: Kind,
    pub(super) home: Option<&'a Context>,
    pub(super) allocation: Option<(&'a Allocation, usize)>,
}

impl<'a> Region<'a> {
    /// Describes `len` bytes at `address`.
    pub const fn new(address: usize, len: usize, kind: Kind) -> Self {
        let (pitch, width) = (len, len);
        let (home, allocation) = (None, None);
        Self { address, len, pitch, width, height: 1, plane: 1, kind, home, allocation }
    }

    /// Says that the bytes are `height` rows of `width` bytes, `pitch` bytes apart.
    #[must_use]
    pub const fn with_rows(self, pitch: usize, width: usize, height: usize) -> Self {
        Self { pitch, width, height, plane: height, ..self }
    }

    /// Says that the rows are planes, `plane` rows apart.
    #[must_use]
    pub const fn with_planes(self, plane: usize) -> Self {
        Self { plane, ..self }
    }

    /// Says in which context the memory is; memory without one can be used in each.
    #[must_use]
    pub const fn with_home(self, home: &'a Context) -> Self {
        Self { home: Some(home), ..self }
    }

    /// Returns how many bytes it has.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Tells whether it has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) const fn pitch(&self) -> usize {
        self.pitch
    }

    pub(crate) const fn height(&self) -> usize {
        self.height
    }

    /// Returns how it was allocated.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) const fn address(&self) -> usize {
        self.address
    }

    /// Returns the allocation, and where in it the bytes begin; none of what is only borrowed.
    pub(crate) const fn allocation(&self) -> Option<(&'a Allocation, usize)> {
        self.allocation
    }

    /// Returns what is left of it `offset` bytes later, as one run; none if that is past its end.
    #[must_use]
    pub fn part(self, offset: usize) -> Option<Self> {
        let len = self.len.checked_sub(offset)?;
        let part = Self::new(self.address + offset, len, self.kind);
        let allocation = self.allocation.map(|(allocation, start)| (allocation, start + offset));
        Some(Self { home: self.home, allocation, ..part })
    }

    /// Returns its first `len` bytes, as one run; none if it has fewer.
    #[must_use]
    pub fn first(self, len: usize) -> Option<Self> {
        (len <= self.len).then_some(Self { len, pitch: len, width: len, height: 1, ..self })
    }

    /// Returns `len` bytes of it, `offset` bytes later; none if they are not within it.
    pub(crate) fn run(self, offset: usize, len: usize) -> Option<Self> {
        let part = self.part(offset)?;
        (len <= part.len).then(|| Self { len, ..part.with_rows(len, len, 1) })
    }

    /// Names the same bytes by another address.
    pub(crate) const fn at(self, address: usize, kind: Kind) -> Self {
        Self { address, kind, ..self }
    }

    /// Waits on the host until nothing writes to its run of bytes any more.
    pub(crate) fn wait_for_writes(&self) -> Result<()> {
        self.allocation.map_or(Ok(()), |(allocation, offset)| {
            allocation.wait_for_writes(Area::bytes(offset, self.len))
        })
    }

    /// Waits on the host until nothing uses its run of bytes any more.
    pub(crate) fn wait_for_all(&self) -> Result<()> {
        self.allocation.map_or(Ok(()), |(allocation, offset)| {
            allocation.wait_for_all(Area::bytes(offset, self.len))
        })
    }

    /// Says of which allocation it is, and how many bytes behind its first.
    #[must_use]
    pub const fn within(self, allocation: &'a Allocation, offset: usize) -> Self {
        Self { allocation: Some((allocation, offset)), ..self }
    }
}

impl fmt::Debug for Region<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, len, pitch, width, height, kind, .. } = self;
        write!(f, "{kind:?} {len} bytes at {address:#x}, {height} rows of {width} in {pitch}")
    }
}
