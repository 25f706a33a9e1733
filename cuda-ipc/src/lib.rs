//! CUDA memory shared between processes: what is shared, by whom, and until when.
//!
//! | | what it is | needs a driver |
//! |---|---|---|
//! | [`wire`] | the descriptor: what memory is shared, and how an array lies in it | no |
//! | [`identity`] | who a process is, so that its number cannot be taken for another's | no |
//! | [`lease`] | who may use the memory, and until when, over a socket | no |
//! | `describe`, `Exporter::share` | shares a buffer of `cuda-safe` | yes |
//! | `Importer::import`, `Imported` | opens it in another process, as memory of `cuda-safe` | yes |
//!
//! The driver's handles say nothing that can be relied on: they open whatever is at their place
//! now, for whoever has the bytes, and memory that is freed under a mapping is silently another's.
//! So a handle never goes alone. The descriptor says what it should open, the exporter confirms
//! every byte of it and keeps the memory allocated while there is a lease, and the importer
//! compares what was opened with what should have been.
//!
//! ```text
//!  exporter                                     importer
//!  DeviceBuffer ──► Exporter::share             Importer::connect
//!        │    descriptor ───── by any way ────►      │
//!        │    ◄─────────────── claim ──────────      │  before: version, checksum, machine,
//!        │    ──────────────── grant ─────────►      │  process, device
//!  stream's work                                 cuIpcOpenMemHandle
//!    is done  ──────────────── announce ──────►      │  after: beginning, size, device
//!        │                                       View, ViewMut, calls
//!  Published::withdraw ─────── revoke ────────►      │  no new use; the last use is waited for
//!        │    ◄─────────────── release ────────  cuIpcCloseMemHandle
//!  the buffer is back, and may be freed
//! ```
//!
//! | who dies | what the other sees |
//! |---|---|
//! | importer | its leases end when the kernel says that it has ended, and not before |
//! | exporter | a revocation; what is mapped stays readable until it is closed |
//!
//! No stream waits for a stream of another process: if that process died, the wait would never end,
//! and with it every later free in the context. Work is announced when it is done.
//!
//! # Sharing
//!
//! ```no_run
//! # #[cfg(feature = "driver")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use cuda_ipc::Exporter;
//! use cuda_ipc::lease::Orphans;
//! use cuda_safe::layout::StridedLayout;
//! use cuda_safe::{Device, DeviceBuffer, Stream};
//!
//! let limit = Duration::from_secs(10);
//! let context = Device::get(0)?.context()?;
//! let stream = Stream::new(&context)?;
//! let image = DeviceBuffer::<u8>::allocate_pitched(&context, 768 * 3, 576)?;
//! let pitch = i64::try_from(image.pitch())?;
//! let layout = StridedLayout::from_byte_strides(&[576, 768, 3], &[pitch, 3, 1], 1)?;
//!
//! let exporter = Exporter::bind("/run/user/1000/images".as_ref(), Orphans::default())?;
//! let published = exporter.share(Arc::new(image), layout, limit)?;
//! let descriptor: Vec<u8> = published.descriptor().encode();
//! // Whatever is enqueued on the stream makes the image; then others hear that it is there.
//! published.announce_after(&stream, 1, limit)?;
//! let image = published.withdraw(limit)?;
//! # drop((image, descriptor));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "driver"))]
//! # fn main() {}
//! ```
//!
//! # Using
//!
//! ```no_run
//! # #[cfg(feature = "driver")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use cuda_ipc::{Descriptor, Importer};
//! use cuda_safe::layout::Order;
//! use cuda_safe::{Device, DeviceBuffer, Stream, ViewMut, copy};
//!
//! # let descriptor: Vec<u8> = Vec::new();
//! let limit = Duration::from_secs(10);
//! let context = Device::get(0)?.context()?;
//! let stream = Stream::new(&context)?;
//! let importer = Importer::connect("/run/user/1000/images".as_ref(), limit)?;
//! let imported = importer.import(&Descriptor::decode(&descriptor)?, &context, limit)?;
//! imported.lease().wait_announced(1, limit)?;
//!
//! let dense = imported.descriptor().layout().to_dense(Order::C)?;
//! let mut pixels = DeviceBuffer::<u8>::allocate(&context, 576 * 768 * 3)?;
//! copy(&imported.view::<u8>()?, &mut ViewMut::new(&mut pixels, dense)?, &stream)?;
//! imported.close(limit)?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "driver"))]
//! # fn main() {}
//! ```
//!
//! # What it does not do
//!
//! - It does not order what two processes do to the same bytes at the same time: announcements say
//!   when there is something to read, and a protocol of the two says who writes when.
//! - It is no protection against a process of the same user that means harm: whoever has a handle's
//!   bytes can open the whole allocation without asking, and its neighbours in the same 2 MiB.
//! - Linux only, and both processes in one pid namespace, as the driver's handles are.

#![deny(unsafe_code)]

#[cfg(feature = "driver")]
mod export;
pub mod identity;
#[cfg(feature = "driver")]
mod import;
pub mod lease;
pub mod wire;

#[cfg(feature = "driver")]
pub use cuda_safe::Typed;
#[cfg(feature = "driver")]
pub use export::{ExportError, describe};
pub use identity::{DeviceUuid, Identity, Nonce, Relation};
#[cfg(feature = "driver")]
pub use import::{ImportError, Imported, ImportedMemory, on_unclosed, unclosed};
pub use lease::{Exporter, Importer, Lease, LeaseError, Published};
pub use wire::{DType, Descriptor, MemoryHandle, Source, WireError};
