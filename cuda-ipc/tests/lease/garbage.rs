//! Others that say the wrong thing, too much, or nothing.

use std::fs;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_ipc::lease::{LeaseState, Orphans};
use cuda_ipc::{Identity, Importer, LeaseError};
use rustix::net::{SocketAddrUnix, bind, listen};

use crate::child::PATIENCE;
use crate::raw::{self, Raw};
use crate::roles::start;
use crate::{Case, Memory, Shop};

pub(crate) const CASES: &[Case] = &[
    ("garbage_ends_only_its_own_connection", garbage_ends_only_its_own_connection),
    ("file_descriptors_are_closed", file_descriptors_are_closed),
    ("garbage_of_a_holder_frees_nothing", garbage_of_a_holder_frees_nothing),
    ("a_liar_is_not_let_in", a_liar_is_not_let_in),
    ("who_does_not_listen_costs_nothing", who_does_not_listen_costs_nothing),
    ("who_asks_too_much_is_made_to_wait", who_asks_too_much_is_made_to_wait),
    ("who_does_not_answer_is_not_waited_for", who_does_not_answer_is_not_waited_for),
    ("an_exporter_that_talks_garbage_is_left", an_exporter_that_talks_garbage_is_left),
];

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns messages that are none.
fn garbage() -> Vec<Vec<u8>> {
    let hello = raw::hello(&Identity::current().unwrap());
    let mut wrong_version = hello.clone();
    wrong_version[8] = 2;
    vec![
        vec![0],
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0xff; 65536],
        // One byte more than is carried; the kernel sends it.
        vec![0x55; 65537],
        Vec::new(),
        hello[..19].to_vec(),
        hello[..hello.len() - 1].to_vec(),
        [&hello[..], &[0]].concat(),
        wrong_version,
        raw::message(0, &[]),
        raw::message(9, &[0; 8]),
        raw::message(raw::GRANT, &[0; 24]),
        raw::message(raw::ANNOUNCE, &[0; 16]),
        raw::message(raw::REVOKE, &[0; 8]),
        raw::message(raw::WELCOME, &hello[20..]),
        raw::release(77),
    ]
}

fn check_serves(shop: &Shop) {
    let published = shop.publish(&Arc::new(Memory("ours")));
    let importer = Importer::connect(&shop.path(), PATIENCE).unwrap();
    let lease = importer.claim(published.descriptor(), PATIENCE).unwrap();
    lease.release();
    assert!(published.wait_holders(PATIENCE, <[_]>::is_empty));
    published.withdraw(PATIENCE).unwrap();
}

fn garbage_ends_only_its_own_connection() {
    let shop = Shop::open(Orphans::default());
    check_serves(&shop);
    for message in garbage() {
        // As the first message, and later.
        for socket in [Raw::connect(&shop.path()), Raw::introduced(&shop.path())] {
            assert!(socket.send(&message));
            socket.wait_end();
        }
    }
    // Too early, and twice.
    let early = Raw::connect(&shop.path());
    assert!(early.send(&raw::claim(1, &crate::descriptor(1, 7).encode())));
    early.wait_end();
    let twice = Raw::introduced(&shop.path());
    assert!(twice.send(&raw::hello(&Identity::current().unwrap())));
    twice.wait_end();
    check_serves(&shop);
}

fn file_descriptors_are_closed() {
    // In a process of its own, whose files nobody else opens.
    assert!(start("is sent files", &[]).wait().success());
}

/// Is sent messages with descriptors: one, as many as are taken, and more.
pub(crate) fn is_sent_files() {
    let shop = Shop::open(Orphans::default());
    check_serves(&shop);
    let file = fs::File::open("/dev/null").unwrap();
    let before = open_files();
    for count in [1, 16, 17, 32] {
        let socket = Raw::introduced(&shop.path());
        let claim = raw::claim(1, &crate::descriptor(1, 7).encode());
        assert!(socket.send_with(&claim, &vec![file.as_fd(); count]));
        socket.wait_end();
    }
    let start = Instant::now();
    while open_files() > before {
        assert!(start.elapsed() < PATIENCE, "{} files are open, not {before}", open_files());
        std::thread::sleep(Duration::from_millis(1));
    }
    check_serves(&shop);
}

fn garbage_of_a_holder_frees_nothing() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let bytes = published.descriptor().encode();
    let first = Raw::introduced(&shop.path());
    let lease = first.claim(&bytes);
    // Another's lease cannot be released.
    let second = Raw::introduced(&shop.path());
    assert!(second.send(&raw::release(lease)));
    second.wait_end();
    assert_eq!(published.holders().len(), 1);
    assert!(first.send(&[1, 2, 3]));
    first.wait_end();
    // This process lives, so the lease does.
    let orphaned = |holders: &[cuda_ipc::lease::Holder]| {
        holders.iter().all(|holder| holder.state == LeaseState::Orphaned)
    };
    assert!(published.wait_holders(PATIENCE, orphaned));
    assert_eq!(published.holders().len(), 1);
}

fn a_liar_is_not_let_in() {
    let shop = Shop::open(Orphans::default());
    let this = Identity::current().unwrap();
    let mut liars = [this; 4];
    liars[0].pid = 1;
    liars[1].start_time += 1;
    liars[2].pid_namespace += 1;
    liars[3].boot_id[15] ^= 1;
    for liar in liars {
        let socket = Raw::connect(&shop.path());
        assert!(socket.send(&raw::hello(&liar)));
        let (kind, body) = socket.receive().unwrap();
        assert_eq!((kind, raw::number(&body, 1)), (raw::DENY, 4), "{liar}");
        socket.wait_end();
    }
    check_serves(&shop);
}

fn who_does_not_listen_costs_nothing() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let socket = Raw::introduced(&shop.path());
    socket.claim(&published.descriptor().encode());
    let start = Instant::now();
    for value in 1..=100_000 {
        published.announce(value).unwrap();
    }
    assert!(start.elapsed() < PATIENCE);
    // What was not heard in time is heard as one.
    let mut last = 0;
    let mut heard = 0;
    while last < 100_000 {
        let (kind, body) = socket.receive().unwrap();
        assert_eq!(kind, raw::ANNOUNCE);
        assert!(raw::number(&body, 1) > last);
        last = raw::number(&body, 1);
        heard += 1;
    }
    assert!(heard < 100_000);
}

fn who_asks_too_much_is_made_to_wait() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let socket = Raw::introduced(&shop.path());
    let claim = raw::claim(1, &published.descriptor().encode());
    let start = Instant::now();
    // Until nothing is taken any more, though nobody reads the answers.
    let mut asked = 0;
    let mut idle = 0;
    while idle < 200 {
        assert!(start.elapsed() < PATIENCE);
        if socket.send(&claim) {
            (asked, idle) = (asked + 1, 0);
        } else {
            idle += 1;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    assert!(asked < 10_000, "{asked}");
    // Every question has its answer.
    for _ in 0..asked {
        let (kind, _) = socket.receive().unwrap();
        assert!(matches!(kind, raw::GRANT | raw::DENY));
    }
    assert_eq!(published.holders().len().min(4096), asked.min(4096));
}

fn who_does_not_answer_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("silent");
    let silent = Raw::socket();
    bind(&silent, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    listen(&silent, 0).unwrap();
    let limit = Duration::from_millis(50);
    let start = Instant::now();
    let mut operations = Vec::new();
    // The first is let in and not answered; once the queue is full, the next are not let in.
    let waiting = [Raw::socket(), Raw::socket(), Raw::socket()];
    for more in &waiting {
        match Importer::connect(&path, limit) {
            Err(LeaseError::TimedOut { operation, .. }) => operations.push(operation),
            other => panic!("{other:?}"),
        }
        let _ = rustix::net::connect(more, &SocketAddrUnix::new(&path).unwrap());
    }
    assert!(start.elapsed() < PATIENCE);
    assert_eq!((operations[0], operations[2]), ("handshake", "connect"));
}

fn an_exporter_that_talks_garbage_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = Raw::socket();
    bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    listen(&listener, 8).unwrap();
    let accept = || loop {
        if let Ok(fd) = rustix::net::accept(&listener) {
            return Raw(fd);
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let identity = Identity::current().unwrap();
    let welcome = |identity: &Identity| raw::message(raw::WELCOME, &raw::hello(identity)[20..]);
    let other = Identity { pid: 1, ..identity };
    for first in [vec![0; 30], raw::release(1), welcome(&other)] {
        let refused = std::thread::scope(|scope| {
            scope.spawn(|| assert!(accept().send(&first)));
            Importer::connect(&path, PATIENCE).unwrap_err()
        });
        let is_named = matches!(
            refused,
            LeaseError::Wire(_) | LeaseError::OutOfTurn { .. } | LeaseError::OtherProcess { .. }
        );
        assert!(is_named, "{refused}");
    }
    // Garbage later ends the connection, which counts as a revocation.
    let descriptor = crate::descriptor(1, 7);
    let claimed = std::thread::scope(|scope| {
        scope.spawn(|| {
            let socket = accept();
            assert!(socket.send(&welcome(&identity)));
            assert_eq!(socket.receive().unwrap().0, raw::HELLO);
            assert_eq!(socket.receive().unwrap().0, raw::CLAIM);
            let numbers = [1_u64, 5, 0].map(u64::to_le_bytes).concat();
            assert!(socket.send(&raw::message(raw::GRANT, &numbers)));
            assert!(socket.send(b"nonsense"));
            socket.wait_end();
        });
        Importer::connect(&path, PATIENCE).unwrap().claim(&descriptor, PATIENCE).unwrap()
    });
    assert!(claimed.wait_revoked(PATIENCE));
}
