//! Memory is shared, used, and given back.

use std::sync::Arc;
use std::time::Duration;

use cuda_ipc::{ExportError, ImportError, Imported};
use cuda_safe::layout::Order;
use cuda_safe::{DeviceBuffer, PinnedBuffer, StridedLayout, ViewMut, call, copy};
use cuda_sim::{Config, Scheduler, isolated};

use crate::child::{PATIENCE, hear, say};
use crate::{Gpu, Shop, is_consumer, run, told};

/// Reads an import's bytes.
fn read(gpu: &Gpu, imported: &Imported) -> Vec<u8> {
    let memory = imported.memory().unwrap();
    let size = usize::try_from(imported.descriptor().source().allocation_size).unwrap();
    let mut bytes = PinnedBuffer::<u8>::zeroed(&gpu.context, size).unwrap();
    call::memcpy_dtoh_async(&mut bytes, memory, &gpu.stream).unwrap();
    bytes.as_slice().unwrap().to_vec()
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect()
}

fn shared_and_given_back() {
    if is_consumer() {
        let gpu = Gpu::open();
        let (importer, descriptor) = told();
        let mut imported = importer.import(&descriptor, &gpu.context, PATIENCE).unwrap();
        imported.lease().wait_announced(1, PATIENCE).unwrap();
        assert_eq!(read(&gpu, &imported), pattern(5000));
        // Written here, read there.
        call::memset_d8_async(imported.memory_mut().unwrap(), 7, &gpu.stream).unwrap();
        gpu.stream.synchronize().unwrap();
        say("written");
        assert_eq!(hear(), "close");
        imported.close(PATIENCE).unwrap();
        say("closed");
        hear();
        return;
    }
    let shop = Shop::open();
    let published = shop.share(&pattern(5000));
    let mut peer = shop.peer(published.descriptor());
    peer.expect("written");
    peer.say("close");
    peer.expect("closed");
    let buffer = published.withdraw(PATIENCE).unwrap();
    let mut bytes = PinnedBuffer::<u8>::zeroed(&shop.gpu.context, 5000).unwrap();
    call::memcpy_dtoh_async(&mut bytes, &*buffer, &shop.gpu.stream).unwrap();
    assert_eq!(bytes.as_slice().unwrap(), [7; 5000]);
    peer.say("go");
    assert!(peer.wait().success());
}

#[test]
fn memory_is_shared_and_given_back() {
    isolated!(Config::new()).run_on_every_scheduler(3, shared_and_given_back);
}

/// Returns at which places of the log a function stands.
fn places(function: &str) -> Vec<usize> {
    let calls = cuda_sim::calls();
    let named = calls.iter().enumerate().filter(|(_, call)| call.function == function);
    named.map(|(at, _)| at).collect()
}

#[test]
fn a_dropped_import_is_released_behind_its_last_use() {
    let config = Config::new().scheduler(Scheduler::Lazy).log(true);
    isolated!(config, || {
        if is_consumer() {
            let gpu = Gpu::open();
            let (importer, descriptor) = told();
            let imported = importer.import(&descriptor, &gpu.context, PATIENCE).unwrap();
            imported.lease().wait_announced(1, PATIENCE).unwrap();
            let mut copied = DeviceBuffer::<u8>::allocate(&gpu.context, 5000).unwrap();
            call::memcpy_dtod_async(&mut copied, imported.memory().unwrap(), &gpu.stream).unwrap();
            // Nothing has waited for the copy: it has not run yet.
            drop(imported);
            say("dropped");
            assert_eq!(hear(), "released");
            // Heard there, so closed here; and the copy was waited for before.
            let closed = places("cuIpcCloseMemHandle");
            assert_eq!(closed.len(), 1);
            let waited = [places("cuEventSynchronize"), places("cuEventQuery")].concat();
            assert!(waited.iter().any(|at| *at < closed[0]), "{:?}", cuda_sim::calls());
            let mut bytes = PinnedBuffer::<u8>::zeroed(&gpu.context, 5000).unwrap();
            call::memcpy_dtoh_async(&mut bytes, &copied, &gpu.stream).unwrap();
            assert_eq!(bytes.as_slice().unwrap(), pattern(5000));
            return;
        }
        let shop = Shop::open();
        let published = shop.share(&pattern(5000));
        let mut peer = shop.peer(published.descriptor());
        peer.expect("dropped");
        published.withdraw(PATIENCE).unwrap();
        peer.say("released");
        assert!(peer.wait().success());
    });
}

#[test]
fn two_imports_are_one_mapping() {
    isolated!(Config::new().log(true), || {
        if is_consumer() {
            let gpu = Gpu::open();
            let (importer, descriptor) = told();
            let import = || importer.import(&descriptor, &gpu.context, PATIENCE).unwrap();
            let first = import();
            let threads: Vec<_> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(import)).collect();
                threads.into_iter().map(|it| it.join().unwrap()).collect()
            });
            assert_eq!(places("cuIpcOpenMemHandle_v2").len(), 1);
            first.close(PATIENCE).unwrap();
            assert_eq!(places("cuIpcCloseMemHandle").len(), 0);
            say("first closed");
            assert_eq!(hear(), "close");
            drop(threads);
            assert_eq!(places("cuIpcCloseMemHandle").len(), 1);
            // Once more, from the beginning.
            assert_eq!(read(&gpu, &import()), pattern(300));
            assert_eq!(places("cuIpcCloseMemHandle").len(), 2);
            say("closed");
            hear();
            return;
        }
        let shop = Shop::open();
        let published = shop.share(&pattern(300));
        let mut peer = shop.peer(published.descriptor());
        peer.expect("first closed");
        // Its lease is not over: the memory is mapped.
        assert_eq!(published.holders().len(), 5);
        peer.say("close");
        peer.expect("closed");
        assert!(published.wait_holders(PATIENCE, <[_]>::is_empty));
        published.withdraw(PATIENCE).unwrap();
        peer.say("go");
        assert!(peer.wait().success());
    });
}

#[test]
fn work_is_announced_when_it_is_done() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        let shop = Shop::open();
        let buffer = Arc::new(shop.gpu.buffer(&pattern(100)));
        let published = shop.exporter.share(buffer, run(100), PATIENCE).unwrap();
        let soon = published.announce_after(&shop.gpu.stream, 1, Duration::ZERO);
        assert!(matches!(soon, Ok(()) | Err(ExportError::NotDone { .. })), "{soon:?}");
        published.announce_after(&shop.gpu.stream, 2, PATIENCE).unwrap();
        published.withdraw(PATIENCE).unwrap();
    });
}

#[test]
fn a_revoked_import_begins_no_use() {
    isolated!(Config::new(), || {
        if is_consumer() {
            let gpu = Gpu::open();
            let (importer, descriptor) = told();
            let mut imported = importer.import(&descriptor, &gpu.context, PATIENCE).unwrap();
            say("imported");
            assert!(imported.lease().wait_revoked(PATIENCE));
            assert!(matches!(imported.memory(), Err(ImportError::Revoked)));
            assert!(matches!(imported.memory_mut(), Err(ImportError::Revoked)));
            imported.close(PATIENCE).unwrap();
            return;
        }
        let shop = Shop::open();
        let published = shop.share(&pattern(300));
        let mut peer = shop.peer(published.descriptor());
        peer.expect("imported");
        published.withdraw(PATIENCE).unwrap();
        assert!(peer.wait().success());
    });
}

/// The case that all layers are made for: padded rows, of which a part is shared.
#[test]
fn an_array_is_shared_as_it_lies() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        // Rows 2 to 5 of an image of 8 rows of 100 pixels.
        let dense = StridedLayout::dense(&[4, 100, 3], 1, Order::C).unwrap();
        let expected = pattern(1200);
        if is_consumer() {
            let gpu = Gpu::open();
            let (importer, descriptor) = told();
            let mut imported = importer.import(&descriptor, &gpu.context, PATIENCE).unwrap();
            imported.lease().wait_announced(1, PATIENCE).unwrap();
            let mut copied = DeviceBuffer::<u8>::allocate(&gpu.context, 1200).unwrap();
            let mut to = ViewMut::new(&mut copied, dense.clone()).unwrap();
            let plan = copy(&imported.view::<u8>().unwrap(), &mut to, &gpu.stream).unwrap();
            assert_eq!(plan.to_string(), "4 rows of 300 bytes, from 512 to 300 apart");
            let mut bytes = PinnedBuffer::<u8>::zeroed(&gpu.context, 1200).unwrap();
            copy(&copied.view().unwrap(), &mut bytes.view_mut().unwrap(), &gpu.stream).unwrap();
            assert_eq!(bytes.as_slice().unwrap(), expected);
            // It is an array of these elements, and of no others.
            let refused = imported.view::<i8>().unwrap_err();
            assert!(matches!(refused, ImportError::ElementType { .. }), "{refused}");
            imported.view_mut::<u8>().unwrap();
            imported.close(PATIENCE).unwrap();
            return;
        }
        let shop = Shop::open();
        let (context, stream) = (&shop.gpu.context, &shop.gpu.stream);
        let mut image = DeviceBuffer::<u8>::allocate_pitched(context, 300, 8).unwrap();
        let pitch = i64::try_from(image.pitch()).unwrap();
        let rows = StridedLayout::from_byte_strides(&[4, 100, 3], &[pitch, 3, 1], 1).unwrap();
        let rows = rows.with_byte_offset(2 * pitch).unwrap();
        let pixels = PinnedBuffer::from_slice(context, &expected).unwrap();
        let from = pixels.view().unwrap().with_layout(dense).unwrap();
        copy(&from, &mut ViewMut::new(&mut image, rows.clone()).unwrap(), stream).unwrap();
        let published = shop.exporter.share(Arc::new(image), rows, PATIENCE).unwrap();
        let mut peer = shop.peer(published.descriptor());
        published.announce_after(stream, 1, PATIENCE).unwrap();
        assert!(peer.wait().success());
        published.withdraw(PATIENCE).unwrap();
    });
}

#[test]
fn what_is_still_in_use_is_closed_later() {
    isolated!(Config::new().scheduler(Scheduler::Lazy), || {
        if is_consumer() {
            let gpu = Gpu::open();
            let (importer, descriptor) = told();
            let imported = importer.import(&descriptor, &gpu.context, PATIENCE).unwrap();
            let mut copied = DeviceBuffer::<u8>::allocate(&gpu.context, 5000).unwrap();
            call::memcpy_dtod_async(&mut copied, imported.memory().unwrap(), &gpu.stream).unwrap();
            match imported.close(Duration::ZERO) {
                Err(ImportError::InUse { .. }) => {}
                // A device may be as quick.
                Ok(()) if cuda_sim::is_on_device() => {}
                other => panic!("{other:?}"),
            }
            say("in use");
            hear();
            assert_eq!(cuda_ipc::unclosed(), 0);
            return;
        }
        let shop = Shop::open();
        let published = shop.share(&pattern(5000));
        let mut peer = shop.peer(published.descriptor());
        peer.expect("in use");
        published.withdraw(PATIENCE).unwrap();
        peer.say("go");
        assert!(peer.wait().success());
    });
}
