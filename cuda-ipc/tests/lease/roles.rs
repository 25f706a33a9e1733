//! What second processes do.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use cuda_ipc::lease::Orphans;
use cuda_ipc::{Descriptor, Exporter, Identity, Importer};

use crate::Memory;
use crate::child::{PATIENCE, Second, hear, hex, say, unhex};
use crate::raw::Raw;

/// The variable that tells a second process what it is.
pub(crate) const ROLE: &str = "CUDA_IPC_TEST_ROLE";

/// Starts this binary in a role.
pub(crate) fn start(role: &str, arguments: &[&str]) -> Second {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env(ROLE, role);
    Second::spawn(command)
}

/// Plays a role to its end.
pub(crate) fn play(role: &str) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match role {
        "consumer" => consumer(Path::new(&arguments[0]), &unhex(&arguments[1])),
        "producer" => producer(Path::new(&arguments[0])),
        "hangs up" => hangs_up(Path::new(&arguments[0]), &unhex(&arguments[1])),
        "is sent files" => crate::garbage::is_sent_files(),
        _ => panic!("no role {role}"),
    }
}

/// Claims a lease, and does what it is told.
fn consumer(path: &Path, descriptor: &[u8]) {
    let importer = Importer::connect(path, PATIENCE).unwrap();
    let descriptor = Descriptor::decode(descriptor).unwrap();
    let lease = importer.claim(&descriptor, PATIENCE).unwrap();
    say("claimed");
    loop {
        match hear().as_str() {
            "announced" => {
                lease.wait_announced(1, PATIENCE).unwrap();
                say("announced");
            }
            "revoked" => {
                assert!(lease.wait_revoked(PATIENCE));
                say("revoked");
            }
            "release" => {
                lease.release();
                say("released");
                break;
            }
            "forget" => {
                std::mem::forget(lease);
                say("forgotten");
                break;
            }
            other => panic!("{other}"),
        }
    }
    // Until the other side is done.
    hear();
}

/// Shares something until it is told, or killed.
fn producer(path: &Path) {
    let exporter = Exporter::bind(path, Orphans::default()).unwrap();
    let memory = Arc::new(Memory("a producer's"));
    let published = exporter.publish(crate::descriptor(1, 7), memory, PATIENCE).unwrap();
    say(&hex(&published.descriptor().encode()));
    hear();
}

/// Claims a lease, closes the connection, and lives.
fn hangs_up(path: &Path, descriptor: &[u8]) {
    assert_eq!(Identity::current().unwrap().pid, std::process::id());
    let raw = Raw::introduced(path);
    raw.claim(descriptor);
    drop(raw);
    say("hung up");
    hear();
}
