//! Leases between real processes, and with others that say the wrong thing or nothing.
//!
//! There is no driver here: what is shared is a name.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../support/child.rs"]
mod child;
#[path = "../support/raw.rs"]
mod raw;

mod ends;
mod garbage;
mod roles;
mod rules;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cuda_ipc::lease::Orphans;
use cuda_ipc::{
    DType, Descriptor, DeviceUuid, Exporter, Identity, MemoryHandle, Nonce, Published, Source,
};
use cuda_safe::StridedLayout;
use libtest_mimic::{Arguments, Failed, Trial};
use tempfile::TempDir;

use child::PATIENCE;

/// Is one test.
type Case = (&'static str, fn());

fn main() -> ExitCode {
    if let Some(role) = std::env::var_os(roles::ROLE) {
        roles::play(role.to_str().unwrap());
        return ExitCode::SUCCESS;
    }
    let trial = |(name, body): Case| {
        Trial::test(name, move || {
            body();
            Ok::<_, Failed>(())
        })
    };
    let cases = [ends::CASES, garbage::CASES, rules::CASES].into_iter().flatten();
    libtest_mimic::run(&Arguments::from_args(), cases.copied().map(trial).collect()).exit_code()
}

/// Stands for memory.
#[derive(Debug, PartialEq, Eq)]
struct Memory(&'static str);

/// Is an exporter in a folder of its own.
struct Shop {
    folder: TempDir,
    exporter: Exporter,
}

impl Shop {
    fn open(orphans: Orphans) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let exporter = Exporter::bind(&folder.path().join("socket"), orphans).unwrap();
        Self { folder, exporter }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn publish(&self, owner: &Arc<Memory>) -> Published<Memory> {
        self.exporter.publish(descriptor(1, 7), Arc::clone(owner), PATIENCE).unwrap()
    }
}

/// Makes the descriptor of a buffer of this process.
fn descriptor(buffer_id: u64, handle: u8) -> Descriptor {
    let source = Source {
        exporter: Identity::current().unwrap(),
        device: DeviceUuid::new([3; 16]),
        buffer_id,
        nonce: Nonce::random().unwrap(),
        handle: MemoryHandle::Legacy([handle; 64]),
        allocation_size: 2560 * 576,
    };
    let layout = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1).unwrap();
    Descriptor::new(source, DType::U8, layout).unwrap()
}
