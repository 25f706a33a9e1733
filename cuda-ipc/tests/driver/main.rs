//! Memory shared between two real processes, each with the simulated driver.
//!
//! A test's body runs in a process of its own, and again in its peer, where `role` answers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../support/child.rs"]
mod child;

mod deaths;
mod failures;
mod refusals;
mod sharing;

use std::path::PathBuf;
use std::sync::Arc;

use cuda_ipc::lease::Orphans;
use cuda_ipc::{Descriptor, Exporter, Importer, Published};
use cuda_safe::layout::Order;
use cuda_safe::{Context, Device, DeviceBuffer, PinnedBuffer, Stream, StridedLayout, call};
use tempfile::TempDir;

use child::{PATIENCE, Second, hex, unhex};

const SOCKET: &str = "CUDA_IPC_TEST_SOCKET";
const DESCRIPTOR: &str = "CUDA_IPC_TEST_DESCRIPTOR";

/// Is what a process has of a device.
struct Gpu {
    context: Context,
    stream: Stream,
}

impl Gpu {
    fn open() -> Self {
        let context = Device::get(0).unwrap().context().unwrap();
        let stream = Stream::new(&context).unwrap();
        Self { context, stream }
    }

    /// Makes a buffer that holds these bytes when the stream is done.
    fn buffer(&self, bytes: &[u8]) -> DeviceBuffer<u8> {
        let mut buffer = DeviceBuffer::allocate(&self.context, bytes.len()).unwrap();
        let pinned = PinnedBuffer::from_slice(&self.context, bytes).unwrap();
        call::memcpy_htod_async(&mut buffer, &pinned, &self.stream).unwrap();
        buffer
    }
}

/// Is a producer's side.
struct Shop {
    gpu: Gpu,
    folder: TempDir,
    exporter: Exporter,
}

impl Shop {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let exporter = Exporter::bind(&folder.path().join("socket"), Orphans::default()).unwrap();
        Self { gpu: Gpu::open(), folder, exporter }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Shares bytes, and says that they are there.
    fn share(&self, bytes: &[u8]) -> Published<DeviceBuffer<u8>> {
        let buffer = Arc::new(self.gpu.buffer(bytes));
        let published = self.exporter.share(buffer, run(bytes.len()), PATIENCE).unwrap();
        published.announce_after(&self.gpu.stream, 1, PATIENCE).unwrap();
        published
    }

    /// Starts the peer, and tells it what is shared.
    fn peer(&self, descriptor: &Descriptor) -> Second {
        self.peer_with(descriptor, &[])
    }

    fn peer_with(&self, descriptor: &Descriptor, environment: &[(&str, &str)]) -> Second {
        let mut command = cuda_sim::peer("consumer").unwrap();
        command.env(SOCKET, self.path()).env(DESCRIPTOR, hex(&descriptor.encode()));
        command.envs(environment.iter().copied());
        Second::spawn(command)
    }
}

/// Lays bytes out one behind the other.
fn run(len: usize) -> StridedLayout {
    StridedLayout::dense(&[i64::try_from(len).unwrap()], 1, Order::C).unwrap()
}

/// Tells whether this is the peer.
fn is_consumer() -> bool {
    cuda_sim::role().is_some()
}

/// Returns what the peer was told.
fn told() -> (Importer, Descriptor) {
    let importer = Importer::connect(&PathBuf::from(std::env::var(SOCKET).unwrap()), PATIENCE);
    let descriptor = Descriptor::decode(&unhex(&std::env::var(DESCRIPTOR).unwrap())).unwrap();
    (importer.unwrap(), descriptor)
}
