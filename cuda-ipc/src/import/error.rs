//! Why memory of another process is not opened, or not lent.

use std::time::Duration;

use crate::identity::{DeviceUuid, IdentityError, Relation};
use crate::lease::LeaseError;
use crate::wire::DType;

/// Says why memory of another process is not opened, or not lent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The memory is of this process, which the driver refuses (201): use the buffer itself.
    #[error("the memory is this process's own: use the buffer that was shared")]
    SameProcess,
    /// The exporter is where the driver's handles do not reach.
    #[error("the exporter is not in this process's pid namespace: {have:?}")]
    NotReachable {
        /// Where it is.
        have: Relation,
    },
    /// The context is of another device.
    #[error("the context is of another device (need {need}, have {have})")]
    OtherDevice {
        /// The device that the memory is of.
        need: DeviceUuid,
        /// The context's.
        have: DeviceUuid,
    },
    /// This process does not see the device.
    #[error("this process does not see the memory's device (need {need}, have {have:?})")]
    DeviceNotVisible {
        /// The device that the memory is of.
        need: DeviceUuid,
        /// The devices that this process sees.
        have: Vec<DeviceUuid>,
    },
    /// Another buffer is open by the same handle, and could not be told apart; or the same, opened
    /// or closed at the moment, does not come to an end.
    #[error("buffer {have} has the handle of buffer {need}, which is still open here")]
    Stale {
        /// The buffer that is open.
        need: u64,
        /// The buffer that was to be opened.
        have: u64,
    },
    /// The exporter asked for the memory back, or has gone: no new use begins.
    #[error("the exporter asked for the memory back, or has gone")]
    Revoked,
    /// What was opened does not begin where its allocation does.
    #[error("what was opened does not begin an allocation (need {need:#x}, have {have:#x})")]
    Base {
        /// Where the allocation begins.
        need: u64,
        /// What was opened.
        have: u64,
    },
    /// What was opened is not as large as what was shared.
    #[error("what was opened has another size (need {need} bytes, have {have})")]
    Size {
        /// The size of what was shared.
        need: u64,
        /// The size of what was opened.
        have: u64,
    },
    /// What was opened is memory of another device.
    #[error("what was opened is of another device (need number {need}, have {have})")]
    Ordinal {
        /// The number of the device here.
        need: i32,
        /// The number of the device that it is memory of.
        have: i32,
    },
    /// The elements are of another type.
    #[error("the elements are of another type (need {need}, have {have})")]
    ElementType {
        /// The descriptor's.
        need: DType,
        /// The type asked for.
        have: DType,
    },
    /// The memory is still in use.
    #[error("the memory is still in use after {limit:?}")]
    InUse {
        /// How long it waited.
        limit: Duration,
    },
    /// The driver refuses.
    #[error(transparent)]
    Driver(#[from] cuda_safe::Error),
    /// There is no lease.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// It cannot be told which process this is.
    #[error(transparent)]
    Identity(#[from] IdentityError),
}
