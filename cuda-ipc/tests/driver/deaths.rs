//! One of the two is killed.

use std::sync::Arc;
use std::time::Duration;

use cuda_ipc::lease::WithdrawError;
use cuda_ipc::{Descriptor, ImportError, Importer};
use cuda_safe::{PinnedBuffer, call};
use cuda_sim::{Config, Scheduler, isolated};

use crate::child::{PATIENCE, Second, hear, hex, say, unhex};
use crate::{Gpu, Shop, is_consumer, told};

#[test]
fn a_killed_consumer_gives_the_memory_back() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        if is_consumer() {
            let gpu = Gpu::open();
            let (importer, descriptor) = told();
            let mut imported = importer.import(&descriptor, &gpu.context, PATIENCE).unwrap();
            call::memset_d8_async(imported.memory_mut().unwrap(), 7, &gpu.stream).unwrap();
            say("in use");
            hear();
            return;
        }
        let shop = Shop::open();
        let published = shop.share(&[1; 4096]);
        let mut peer = shop.peer(published.descriptor());
        peer.expect("in use");
        let Err(WithdrawError::StillHeld { published, .. }) =
            published.withdraw(Duration::from_millis(50))
        else {
            panic!("it is held")
        };
        peer.kill();
        drop(Arc::try_unwrap(published.withdraw(PATIENCE).unwrap()).unwrap());
    });
}

#[test]
fn a_killed_producer_leaves_readable_memory() {
    isolated!(Config::new(), || {
        if is_consumer() {
            // The peer shares here; the first process imports and lives on.
            let shop = Shop::open();
            let published = shop.share(&[5; 4096]);
            say(shop.path().to_str().unwrap());
            say(&hex(&published.descriptor().encode()));
            hear();
            return;
        }
        let gpu = Gpu::open();
        let mut peer = Second::spawn(cuda_sim::peer("producer").unwrap());
        let path = peer.hear();
        let descriptor = Descriptor::decode(&unhex(&peer.hear())).unwrap();
        let importer = Importer::connect(path.as_ref(), PATIENCE).unwrap();
        assert_eq!(importer.exporter().pid, peer.id());
        let imported = importer.import(&descriptor, &gpu.context, PATIENCE).unwrap();
        let mut bytes = PinnedBuffer::<u8>::zeroed(&gpu.context, 4096).unwrap();
        let memory = imported.memory().unwrap();
        peer.kill();
        // A use that had begun goes on; the mapping keeps the bytes.
        call::memcpy_dtoh_async(&mut bytes, memory, &gpu.stream).unwrap();
        assert_eq!(bytes.as_slice().unwrap(), [5; 4096]);
        assert!(imported.lease().wait_revoked(PATIENCE));
        assert!(matches!(imported.memory(), Err(ImportError::Revoked)));
        imported.close(PATIENCE).unwrap();
        let gone = importer.import(&descriptor, &gpu.context, PATIENCE).unwrap_err();
        assert!(matches!(gone, ImportError::Lease(_)), "{gone}");
        drop(std::fs::remove_dir_all(std::path::Path::new(&path).parent().unwrap()));
    });
}
