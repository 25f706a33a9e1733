//! Shares device memory: what it takes to say what it is.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cuda_safe::call;
use cuda_safe::shim::attribute::BufferId;
use cuda_safe::{DeviceBuffer, Stream, StridedLayout, Typed};

use crate::identity::{DeviceUuid, Identity, IdentityError, Nonce};
use crate::lease::{Exporter, LeaseError, Published};
use crate::wire::{Descriptor, MemoryHandle, Source, WireError};

/// Says why memory is not shared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The driver refuses.
    #[error(transparent)]
    Driver(#[from] cuda_safe::Error),
    /// The array is not one of the buffer's.
    #[error(transparent)]
    Descriptor(#[from] WireError),
    /// It is not leased.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// It cannot be told which process this is.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The system has no random numbers.
    #[error("no name for the export: {0}")]
    Random(io::Error),
    /// A buffer without bytes has no address that could be shared.
    #[error("the buffer has no bytes (need 1 or more, have 0)")]
    Empty,
    /// The work was not done in time; nothing was announced.
    #[error("the work was not done within {limit:?}")]
    NotDone {
        /// How long it waited.
        limit: Duration,
    },
}

/// Says what an array in a buffer is, for other processes.
///
/// The layout's byte offset counts from the buffer's first byte. Nothing is leased: whoever opens
/// the memory by the descriptor alone must know otherwise that it is still there.
///
/// What the driver shares is the buffer's allocation; small allocations may have neighbours in the
/// same 2 MiB, which the other process can reach too if it means to.
///
/// Driver: [`cuIpcGetMemHandle`](cuda_safe::call::ipc_get_mem_handle), and
/// [`cuPointerGetAttribute`](cuda_safe::call::pointer_get_attribute) for the number of the buffer.
///
/// # Errors
///
/// [`ExportError`] if the array does not lie in the buffer, or as the driver answers.
pub fn describe<T: Typed>(
    buffer: &DeviceBuffer<T>,
    layout: StridedLayout,
) -> Result<Descriptor, ExportError> {
    let allocation = buffer.allocation();
    if allocation.is_empty() {
        return Err(ExportError::Empty);
    }
    let source = Source {
        exporter: Identity::current()?,
        device: DeviceUuid::new(buffer.context().device().uuid()?),
        buffer_id: call::pointer_get_attribute::<BufferId>(buffer)?,
        nonce: Nonce::random().map_err(ExportError::Random)?,
        handle: MemoryHandle::from(call::ipc_get_mem_handle(buffer)?),
        allocation_size: allocation.len() as u64,
    };
    Ok(Descriptor::new(source, T::DTYPE, layout)?)
}

impl Exporter {
    /// Shares an array in a buffer, whose memory stays allocated while it is shared or leased.
    ///
    /// Whoever has the descriptor may read and write it from now on. When it holds what it should,
    /// [`announce_after`](Published::announce_after) tells them.
    ///
    /// Driver: [`cuIpcGetMemHandle`](cuda_safe::call::ipc_get_mem_handle).
    ///
    /// # Errors
    ///
    /// As [`describe`] and [`publish`](Exporter::publish).
    pub fn share<T: Typed>(
        &self,
        buffer: Arc<DeviceBuffer<T>>,
        layout: StridedLayout,
        limit: Duration,
    ) -> Result<Published<DeviceBuffer<T>>, ExportError> {
        let descriptor = describe(&buffer, layout)?;
        Ok(self.publish(descriptor, buffer, limit)?)
    }
}

impl<T> Published<T> {
    /// Waits until everything that was enqueued on `stream` is done, but no longer than `limit`,
    /// and then announces `value`.
    ///
    /// The host waits, and not a stream of the other process: that would wait for ever if this
    /// process ended.
    ///
    /// Driver: [`cuStreamQuery`](cuda_safe::call::stream_query).
    ///
    /// # Errors
    ///
    /// [`ExportError::NotDone`] if the work takes longer; as the driver answers, also to earlier
    /// work; [`LeaseError::Forked`] in a forked child.
    pub fn announce_after(
        &self,
        stream: &Stream,
        value: u64,
        limit: Duration,
    ) -> Result<(), ExportError> {
        if !stream.wait_timeout(limit)? {
            return Err(ExportError::NotDone { limit });
        }
        Ok(self.announce(value)?)
    }
}
