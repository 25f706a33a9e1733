//! How leases end, and how they don't.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda_ipc::lease::{LeaseState, Orphans, WithdrawError};
use cuda_ipc::{Importer, LeaseError};

use crate::child::{PATIENCE, Second, hex, unhex};
use crate::roles::start;
use crate::{Case, Memory, Shop};

pub(crate) const CASES: &[Case] = &[
    ("a_release_gives_the_memory_back", a_release_gives_the_memory_back),
    ("a_killed_consumer_gives_the_memory_back", a_killed_consumer_gives_the_memory_back),
    ("a_forgotten_lease_lasts_until_death", a_forgotten_lease_lasts_until_death),
    ("a_killed_producer_revokes", a_killed_producer_revokes),
    ("a_hung_up_consumer_keeps_its_lease", a_hung_up_consumer_keeps_its_lease),
    ("a_hung_up_consumer_is_given_up", a_hung_up_consumer_is_given_up),
    ("a_dropped_export_lives_as_long_as_its_leases", a_dropped_export_lives_as_long_as_its_leases),
    ("a_dropped_exporter_keeps_its_leases", a_dropped_exporter_keeps_its_leases),
    ("a_dropped_importer_keeps_its_leases", a_dropped_importer_keeps_its_leases),
    ("a_forked_child_says_nothing", a_forked_child_says_nothing),
];

fn consumer(shop: &Shop, descriptor: &[u8]) -> Second {
    let path = shop.path();
    let second = start("consumer", &[path.to_str().unwrap(), &hex(descriptor)]);
    second.expect("claimed");
    second
}

fn a_release_gives_the_memory_back() {
    let shop = Shop::open(Orphans::default());
    let memory = Arc::new(Memory("ours"));
    let published = shop.publish(&memory);
    let mut second = consumer(&shop, &published.descriptor().encode());
    let holders = published.holders();
    assert_eq!(holders.len(), 1);
    assert_eq!((holders[0].process.pid, holders[0].state), (second.id(), LeaseState::Held));
    second.say("announced");
    published.announce(1).unwrap();
    second.expect("announced");
    // It is asked, and takes its time.
    let Err(WithdrawError::StillHeld { published, holders, .. }) =
        published.withdraw(Duration::from_millis(50))
    else {
        panic!("it is held")
    };
    assert_eq!((holders.len(), holders[0].state), (1, LeaseState::Revoked));
    second.say("revoked");
    second.expect("revoked");
    assert_eq!(Arc::strong_count(&memory), 2);
    second.say("release");
    second.expect("released");
    let back = published.withdraw(PATIENCE).unwrap();
    drop(memory);
    assert_eq!(Arc::try_unwrap(back).unwrap(), Memory("ours"));
}

fn a_killed_consumer_gives_the_memory_back() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let mut second = consumer(&shop, &published.descriptor().encode());
    second.kill();
    let back = published.withdraw(PATIENCE).unwrap();
    assert_eq!(Arc::try_unwrap(back).unwrap(), Memory("ours"));
}

fn a_forgotten_lease_lasts_until_death() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let mut second = consumer(&shop, &published.descriptor().encode());
    second.say("forget");
    second.expect("forgotten");
    let Err(WithdrawError::StillHeld { published, .. }) =
        published.withdraw(Duration::from_millis(100))
    else {
        panic!("it is held")
    };
    second.say("go");
    assert!(second.wait().success());
    published.withdraw(PATIENCE).unwrap();
}

fn a_killed_producer_revokes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut second = start("producer", &[path.to_str().unwrap()]);
    let descriptor = cuda_ipc::Descriptor::decode(&unhex(&second.hear())).unwrap();
    let importer = Importer::connect(&path, PATIENCE).unwrap();
    assert_eq!(importer.exporter().pid, second.id());
    let lease = importer.claim(&descriptor, PATIENCE).unwrap();
    assert!(!lease.is_revoked());
    let start = Instant::now();
    let waited = lease.wait_announced(1, Duration::from_millis(50));
    assert!(matches!(waited, Err(LeaseError::TimedOut { .. })), "{waited:?}");
    assert!(start.elapsed() >= Duration::from_millis(50));
    second.kill();
    assert!(lease.wait_revoked(PATIENCE));
    assert!(matches!(lease.wait_announced(1, PATIENCE), Err(LeaseError::Closed)));
    assert!(matches!(importer.claim(&descriptor, PATIENCE), Err(LeaseError::Closed)));
    lease.release();
    // Its file is still there, and nobody listens.
    let refused = Importer::connect(&path, PATIENCE);
    assert!(matches!(refused, Err(LeaseError::System { operation: "connect", .. })));
}

fn hung_up(shop: &Shop, descriptor: &[u8]) -> Second {
    let path = shop.path();
    let second = start("hangs up", &[path.to_str().unwrap(), &hex(descriptor)]);
    second.expect("hung up");
    second
}

fn a_hung_up_consumer_keeps_its_lease() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let mut second = hung_up(&shop, &published.descriptor().encode());
    let orphaned = |holders: &[cuda_ipc::lease::Holder]| {
        holders.iter().any(|holder| holder.state == LeaseState::Orphaned)
    };
    assert!(published.wait_holders(PATIENCE, orphaned));
    let Err(WithdrawError::StillHeld { published, .. }) =
        published.withdraw(Duration::from_millis(200))
    else {
        panic!("it is held")
    };
    second.kill();
    published.withdraw(PATIENCE).unwrap();
}

fn a_hung_up_consumer_is_given_up() {
    let shop = Shop::open(Orphans::LeakAfter(Duration::from_millis(50)));
    let memory = Arc::new(Memory("ours"));
    let published = shop.publish(&memory);
    let weak = Arc::downgrade(&memory);
    drop(memory);
    let bytes = published.descriptor().encode();
    let mut second = hung_up(&shop, &bytes);
    assert!(matches!(published.withdraw(PATIENCE), Err(WithdrawError::Leaked)));
    second.kill();
    // It is never freed, also when everybody has gone, and its handle is never shared again.
    std::thread::sleep(Duration::from_millis(50));
    let descriptor = crate::descriptor(2, 7);
    let refused =
        shop.exporter.publish(descriptor, Arc::new(Memory("next")), Duration::from_millis(10));
    assert!(matches!(refused, Err(LeaseError::Stale { need: 1, have: 2 })), "{refused:?}");
    drop(shop);
    assert_eq!(weak.upgrade().as_deref(), Some(&Memory("ours")));
}

fn a_dropped_export_lives_as_long_as_its_leases() {
    let shop = Shop::open(Orphans::default());
    let memory = Arc::new(Memory("ours"));
    let weak = Arc::downgrade(&memory);
    let published = shop.publish(&memory);
    drop(memory);
    let mut second = consumer(&shop, &published.descriptor().encode());
    drop(published);
    second.say("revoked");
    second.expect("revoked");
    assert!(weak.upgrade().is_some());
    second.say("release");
    second.expect("released");
    let start = Instant::now();
    while weak.upgrade().is_some() {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn a_dropped_exporter_keeps_its_leases() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let mut second = consumer(&shop, &published.descriptor().encode());
    let path = shop.path();
    drop(shop);
    assert!(!path.exists());
    published.announce(1).unwrap();
    second.say("announced");
    second.expect("announced");
    second.say("release");
    second.expect("released");
    published.withdraw(PATIENCE).unwrap();
}

fn a_dropped_importer_keeps_its_leases() {
    let shop = Shop::open(Orphans::default());
    let published = shop.publish(&Arc::new(Memory("ours")));
    let importer = Importer::connect(&shop.path(), PATIENCE).unwrap();
    let lease = importer.claim(published.descriptor(), PATIENCE).unwrap();
    drop(importer);
    published.announce(3).unwrap();
    lease.wait_announced(3, PATIENCE).unwrap();
    assert!(!lease.is_revoked());
    assert_eq!(published.holders().len(), 1);
    lease.release();
    assert!(published.wait_holders(PATIENCE, <[_]>::is_empty));
}

fn a_forked_child_says_nothing() {
    let shop = Shop::open(Orphans::default());
    let published = Arc::new(shop.publish(&Arc::new(Memory("ours"))));
    let importer = Importer::connect(&shop.path(), PATIENCE).unwrap();
    let lease = importer.claim(published.descriptor(), PATIENCE).unwrap();
    let mut command = Command::new("true");
    let mut ours = Some((lease, importer, Arc::clone(&published), shop));
    #[expect(unsafe_code, reason = "runs in a forked child, which is what is tried")]
    // SAFETY: the child only takes what needs no lock that another thread could hold here.
    unsafe {
        command.pre_exec(move || {
            let (lease, importer, published, shop) = ours.take().unwrap();
            let refused = [
                importer.claim(published.descriptor(), PATIENCE).err(),
                lease.wait_announced(1, PATIENCE).err(),
                published.announce(9).err(),
                shop.exporter
                    .publish(crate::descriptor(2, 8), Arc::new(Memory("")), PATIENCE)
                    .err(),
            ];
            let all = refused.iter().all(|it| matches!(it, Some(LeaseError::Forked { .. })));
            drop((lease, importer, published, shop));
            if all { Ok(()) } else { Err(std::io::Error::other("it was not refused")) }
        });
    }
    let mut child = command.spawn().unwrap();
    assert!(child.wait().unwrap().success());
    // The parent's are as they were; they go with the command.
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(published.holders().len(), 1);
    assert_eq!(published.holders()[0].state, LeaseState::Held);
    published.announce(1).unwrap();
    drop(command);
    assert!(published.wait_holders(PATIENCE, <[_]>::is_empty));
}
