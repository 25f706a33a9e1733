//! What is leased, and to whom: files, descriptors, handles.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::sync::Arc;
use std::time::Duration;

use cuda_ipc::lease::{Denial, Orphans};
use cuda_ipc::{Descriptor, Exporter, Importer, LeaseError};

use crate::child::PATIENCE;
use crate::{Case, Memory, Shop};

pub(crate) const CASES: &[Case] = &[
    ("the_file_is_the_users_alone", the_file_is_the_users_alone),
    ("a_file_that_is_there_stays", a_file_that_is_there_stays),
    ("every_byte_of_a_descriptor_is_compared", every_byte_of_a_descriptor_is_compared),
    ("a_withdrawn_descriptor_is_stale", a_withdrawn_descriptor_is_stale),
    ("one_handle_names_one_buffer_at_a_time", one_handle_names_one_buffer_at_a_time),
    ("one_descriptor_names_one_export", one_descriptor_names_one_export),
    ("announcements_are_not_lost", announcements_are_not_lost),
    ("another_process_is_not_spoken_for", another_process_is_not_spoken_for),
];

fn the_file_is_the_users_alone() {
    let shop = Shop::open(Orphans::default());
    let file = fs::symlink_metadata(shop.path()).unwrap();
    assert!(file.file_type().is_socket());
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    let path = shop.path();
    drop(shop.exporter);
    assert!(!path.exists());
}

fn a_file_that_is_there_stays() {
    let shop = Shop::open(Orphans::default());
    let path = shop.path();
    let refused = Exporter::bind(&path, Orphans::default()).unwrap_err();
    assert!(matches!(refused, LeaseError::System { operation: "bind", .. }), "{refused}");
    assert!(path.exists());
    // Another's file at its place is not removed.
    fs::remove_file(&path).unwrap();
    fs::write(&path, "another's").unwrap();
    drop(shop.exporter);
    assert_eq!(fs::read_to_string(&path).unwrap(), "another's");
    let long = path.with_file_name("x".repeat(108));
    let refused = Exporter::bind(&long, Orphans::default()).unwrap_err();
    assert!(matches!(refused, LeaseError::System { operation: "bind", .. }), "{refused}");
}

/// Changes a byte and makes the checksum right again.
fn changed(descriptor: &Descriptor, at: usize) -> Option<Descriptor> {
    let mut bytes = descriptor.encode();
    bytes[at] ^= 1;
    bytes[16..20].fill(0);
    let checksum = crc32c::crc32c(&bytes);
    bytes[16..20].copy_from_slice(&checksum.to_le_bytes());
    Descriptor::decode(&bytes).ok()
}

fn every_byte_of_a_descriptor_is_compared() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let importer = Importer::connect(&shop.path(), PATIENCE).unwrap();
    let length = published.descriptor().encode().len();
    let mut readable = 0;
    for at in (0..length).filter(|at| !(16..20).contains(at)) {
        let Some(wrong) = changed(published.descriptor(), at) else { continue };
        let refused = importer.claim(&wrong, PATIENCE).unwrap_err();
        let is_named = match at {
            20..56 => matches!(refused, LeaseError::OtherExporter { .. }),
            80..96 => matches!(refused, LeaseError::Denied(Denial::Stale)),
            _ => matches!(refused, LeaseError::Denied(Denial::Different)),
        };
        assert!(is_named, "at {at}: {refused}");
        readable += 1;
    }
    assert!(readable > 150, "{readable}");
    assert_eq!(published.holders(), []);
    importer.claim(published.descriptor(), PATIENCE).unwrap();
}

fn a_withdrawn_descriptor_is_stale() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let descriptor = published.descriptor().clone();
    published.withdraw(PATIENCE).unwrap();
    let importer = Importer::connect(&shop.path(), PATIENCE).unwrap();
    let refused = importer.claim(&descriptor, PATIENCE);
    assert!(matches!(refused, Err(LeaseError::Denied(Denial::Stale))), "{refused:?}");
}

fn one_handle_names_one_buffer_at_a_time() {
    let shop = Shop::open(Orphans::default());
    let publish = |buffer_id, handle, limit| {
        let descriptor = crate::descriptor(buffer_id, handle);
        shop.exporter.publish(descriptor, Arc::new(Memory("ours")), limit)
    };
    let first = publish(1, 7, PATIENCE).unwrap();
    // Twice the same, and another beside it.
    let again = publish(1, 7, PATIENCE).unwrap();
    publish(2, 8, PATIENCE).unwrap();
    let importer = Importer::connect(&shop.path(), PATIENCE).unwrap();
    let lease = importer.claim(first.descriptor(), PATIENCE).unwrap();
    drop((first, again));
    let refused = publish(3, 7, Duration::from_millis(20));
    assert!(matches!(refused, Err(LeaseError::Stale { need: 1, have: 3 })), "{refused:?}");
    let waited = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| publish(3, 7, PATIENCE));
        std::thread::sleep(Duration::from_millis(20));
        lease.release();
        waiting.join().unwrap()
    });
    waited.unwrap();
}

fn one_descriptor_names_one_export() {
    let shop = Shop::open(Orphans::default());
    let first = Arc::new(Memory("first"));
    let published = shop.publish(&first);
    let descriptor = published.descriptor().clone();
    let second = Arc::new(Memory("second"));
    let refused = shop.exporter.publish(descriptor.clone(), Arc::clone(&second), PATIENCE);
    assert!(matches!(refused, Err(LeaseError::SharedAlready)), "{refused:?}");
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (2, 1));
    published.withdraw(PATIENCE).unwrap();
    shop.exporter.publish(descriptor, second, PATIENCE).unwrap();
}

fn announcements_are_not_lost() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let importer = Importer::connect(&shop.path(), PATIENCE).unwrap();
    // Claims and announcements at the same time: whoever claims hears of all that was before, with
    // the lease, and of all that comes, later.
    std::thread::scope(|scope| {
        scope.spawn(|| (1..=2000).for_each(|value| published.announce(value).unwrap()));
        for _ in 0..200 {
            importer.claim(published.descriptor(), PATIENCE).unwrap();
        }
        let lease = importer.claim(published.descriptor(), PATIENCE).unwrap();
        lease.wait_announced(2000, PATIENCE).unwrap();
        assert_eq!(lease.announced(), 2000);
    });
    // Values only grow.
    published.announce(1).unwrap();
    assert_eq!(importer.claim(published.descriptor(), PATIENCE).unwrap().announced(), 2000);
    assert!(published.wait_holders(PATIENCE, <[_]>::is_empty));
}

fn another_process_is_not_spoken_for() {
    let shop = Shop::open(Orphans::default());
    let mut source = *crate::descriptor(1, 7).source();
    source.exporter.pid += 1;
    let ours = crate::descriptor(1, 7);
    let theirs = Descriptor::new(source, ours.dtype(), ours.layout().clone()).unwrap();
    let refused = shop.exporter.publish(theirs, Arc::new(Memory("")), PATIENCE);
    assert!(matches!(refused, Err(LeaseError::OtherExporter { .. })), "{refused:?}");
}
