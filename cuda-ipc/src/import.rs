//! Uses memory that another process shares: checked before it is opened and after, lent as memory
//! of `cuda-safe`, closed once.

mod error;
mod mapping;
mod memory;
mod registry;
mod report;
mod shared;

use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_safe::{Context, Device, Typed, View, ViewMut};

use crate::identity::{DeviceUuid, Identity, Relation};
use crate::lease::{Importer, Lease};
use crate::wire::{DType, Descriptor};

pub use error::ImportError;
pub use memory::ImportedMemory;
pub use report::{on_unclosed, unclosed};

use shared::Shared;

/// Is memory of another process, open here.
///
/// Two imports of one buffer share one mapping, so that uses through either wait for each other as
/// those of one buffer do. Other processes' uses are not waited for: the announcements of the
/// [`Lease`] say when there is something to read.
///
/// Dropping the last import of a buffer ends its use: once no stream uses it any more, the mapping
/// is closed, and then the lease is released. If no stream does already, the drop closes it, and
/// waits as the driver does for every kernel of the context; otherwise a thread waits. Forgetting
/// it keeps the memory allocated in the exporter until this process ends.
///
/// Driver: memory of [`cuIpcOpenMemHandle_v2`](cuda_safe::call::ipc_open_mem_handle), chapter
/// Memory Management.
#[derive(Debug)]
pub struct Imported {
    memory: ImportedMemory,
    lease: Arc<Lease>,
}

impl Importer {
    /// Claims a lease of what `descriptor` names, and opens it.
    ///
    /// Driver: [`cuIpcOpenMemHandle_v2`](cuda_safe::call::ipc_open_mem_handle).
    ///
    /// # Errors
    ///
    /// As [`claim`](Self::claim) and [`Imported::open`]; what can be refused before is.
    pub fn import(
        &self,
        descriptor: &Descriptor,
        context: &Context,
        limit: Duration,
    ) -> Result<Imported, ImportError> {
        check_before(descriptor, context)?;
        let start = Instant::now();
        let lease = self.claim(descriptor, limit)?;
        Imported::open(lease, context, limit.saturating_sub(start.elapsed()))
    }
}

/// Checks what can be known of a descriptor before anything is opened.
fn check_before(descriptor: &Descriptor, context: &Context) -> Result<(), ImportError> {
    let source = descriptor.source();
    match Identity::current()?.relation(&source.exporter) {
        Relation::SameNamespace => {}
        Relation::SameProcess => return Err(ImportError::SameProcess),
        have => return Err(ImportError::NotReachable { have }),
    }
    let need = source.device;
    let have = DeviceUuid::new(context.device().uuid()?);
    if need == have {
        return Ok(());
    }
    let uuid = |device: Device| device.uuid().map(DeviceUuid::new);
    let visible = Device::all()?.into_iter().map(uuid).collect::<Result<Vec<_>, _>>()?;
    Err(if visible.contains(&need) {
        ImportError::OtherDevice { need, have }
    } else {
        ImportError::DeviceNotVisible { need, have: visible }
    })
}

impl Imported {
    /// Opens the memory that a lease is of, in the context of its device.
    ///
    /// While another buffer with the same handle is open here, it waits for that to be closed, but
    /// no longer than `limit`. If it fails, the lease is released.
    ///
    /// Driver: [`cuIpcOpenMemHandle_v2`](cuda_safe::call::ipc_open_mem_handle), and
    /// [`cuPointerGetAttribute`](cuda_safe::call::pointer_get_attribute) for what it compares.
    ///
    /// # Errors
    ///
    /// [`ImportError`] says what of the descriptor is not as it must be: the process, the machine,
    /// the device; or what was opened: another size, another beginning, another device. Or as the
    /// driver answers; then, as always, nothing stays open.
    pub fn open(lease: Lease, context: &Context, limit: Duration) -> Result<Self, ImportError> {
        lease.check_process()?;
        check_before(lease.descriptor(), context)?;
        if lease.is_revoked() {
            return Err(ImportError::Revoked);
        }
        let lease = Arc::new(lease);
        let source = lease.descriptor().source();
        let shared = Shared::acquire(context, source, Arc::clone(&lease), limit)?;
        Ok(Self { memory: ImportedMemory(shared), lease })
    }

    /// Returns what it is.
    pub fn descriptor(&self) -> &Descriptor {
        self.lease.descriptor()
    }

    /// Returns the lease, which hears the exporter's announcements.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Lends the whole allocation, to be read.
    ///
    /// # Errors
    ///
    /// [`ImportError::Revoked`] if the exporter asked for it back, or has gone.
    pub fn memory(&self) -> Result<&ImportedMemory, ImportError> {
        if self.lease.is_revoked() { Err(ImportError::Revoked) } else { Ok(&self.memory) }
    }

    /// Lends the whole allocation, to be written.
    ///
    /// # Errors
    ///
    /// As [`memory`](Self::memory).
    pub fn memory_mut(&mut self) -> Result<&mut ImportedMemory, ImportError> {
        if self.lease.is_revoked() { Err(ImportError::Revoked) } else { Ok(&mut self.memory) }
    }

    /// Views the array that is shared, to be read.
    ///
    /// # Errors
    ///
    /// [`ImportError::Revoked`] as [`memory`](Self::memory), and [`ImportError::ElementType`] if
    /// the elements are no `T`s.
    pub fn view<T: Typed>(&self) -> Result<View<'_, T>, ImportError> {
        self.check_type::<T>()?;
        Ok(View::new(self.memory()?, self.descriptor().layout().clone())?)
    }

    /// Views the array that is shared, to be written.
    ///
    /// # Errors
    ///
    /// As [`view`](Self::view); refuses an array in which two elements may share a byte.
    pub fn view_mut<T: Typed>(&mut self) -> Result<ViewMut<'_, T>, ImportError> {
        self.check_type::<T>()?;
        let layout = self.descriptor().layout().clone();
        Ok(ViewMut::new(self.memory_mut()?, layout)?)
    }

    /// Checks that the elements are `T`s.
    fn check_type<T: Typed>(&self) -> Result<(), ImportError> {
        let (need, have): (DType, DType) = (self.descriptor().dtype(), T::DTYPE);
        if need == have { Ok(()) } else { Err(ImportError::ElementType { need, have }) }
    }

    /// Ends the use: waits until no stream uses the memory any more, closes it, and releases the
    /// lease. If it is imported elsewhere in this process, it stays open for that.
    ///
    /// Driver: [`cuIpcCloseMemHandle`](cuda_safe::call::ipc_close_mem_handle).
    ///
    /// # Errors
    ///
    /// [`ImportError::InUse`] after `limit`; then it is closed when the uses are done. As the
    /// driver answers; then it stays mapped and leased until the process ends.
    pub fn close(self, limit: Duration) -> Result<(), ImportError> {
        self.lease.check_process()?;
        let Self { memory: ImportedMemory(shared), lease } = self;
        // The mapping's own share of the lease is the last.
        drop(lease);
        let idle = match shared.mapping() {
            Some(mapping) => mapping.wait_timeout(limit)?,
            None => true,
        };
        if !idle {
            return Err(ImportError::InUse { limit });
        }
        match Arc::into_inner(shared) {
            Some(shared) => Ok(shared.close()?),
            None => Ok(()),
        }
    }
}
