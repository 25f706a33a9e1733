//! What is not opened, and that nothing stays open then.

use std::sync::Arc;

use cuda_ipc::lease::Denial;
use cuda_ipc::{
    DType, Descriptor, DeviceUuid, ExportError, Identity, ImportError, Importer, LeaseError,
    MemoryHandle, Source, WireError, describe,
};
use cuda_safe::{Device, DeviceBuffer, StridedLayout};
use cuda_sim::{Config, isolated};
use cuda_sys::CUresult;

use crate::child::{PATIENCE, say};
use crate::{Gpu, Shop, is_consumer, run, told};

#[test]
fn a_process_does_not_import_its_own() {
    isolated!(Config::new(), || {
        let shop = Shop::open();
        let published = shop.share(&[1; 64]);
        let importer = Importer::connect(&shop.path(), PATIENCE).unwrap();
        let context = &shop.gpu.context;
        let refused = importer.import(published.descriptor(), context, PATIENCE).unwrap_err();
        assert!(matches!(refused, ImportError::SameProcess), "{refused}");
        // Also if it was claimed before; the lease is released.
        let lease = importer.claim(published.descriptor(), PATIENCE).unwrap();
        let refused = cuda_ipc::Imported::open(lease, context, PATIENCE).unwrap_err();
        assert!(matches!(refused, ImportError::SameProcess), "{refused}");
        published.withdraw(PATIENCE).unwrap();
    });
}

#[test]
fn what_cannot_be_described_is_not_shared() {
    isolated!(Config::new(), || {
        let gpu = Gpu::open();
        let buffer = DeviceBuffer::<u8>::allocate(&gpu.context, 100).unwrap();
        let refused = describe(&buffer, run(101)).unwrap_err();
        let rule = WireError::BehindAllocation { need: 101, have: 100 };
        assert!(matches!(refused, ExportError::Descriptor(error) if error == rule));
        let wide = StridedLayout::from_byte_strides(&[10], &[4], 4).unwrap();
        let refused = describe(&buffer, wide).unwrap_err();
        let rule = WireError::ItemSize { need: 1, have: 4 };
        assert!(matches!(refused, ExportError::Descriptor(error) if error == rule));
        let empty = DeviceBuffer::<u8>::allocate(&gpu.context, 0).unwrap();
        assert!(matches!(describe(&empty, run(0)), Err(ExportError::Empty)));
        // What is described is what it is.
        let descriptor = describe(&buffer, run(100)).unwrap();
        let source = descriptor.source();
        assert_eq!(source.exporter, Identity::current().unwrap());
        assert_eq!(source.device.bytes(), Device::get(0).unwrap().uuid().unwrap());
        assert_eq!((source.allocation_size, descriptor.dtype()), (100, DType::U8));
    });
}

/// Claims what it was told and expects a refusal, which it says by name.
fn consumer() {
    let ordinal = std::env::var("CUDA_IPC_TEST_ORDINAL").map_or(0, |text| text.parse().unwrap());
    let context = Device::get(ordinal).unwrap().context().unwrap();
    let (importer, descriptor) = told();
    let refused = importer.import(&descriptor, &context, PATIENCE).unwrap_err();
    let name = match &refused {
        ImportError::OtherDevice { .. } => "other device".to_owned(),
        ImportError::DeviceNotVisible { .. } => "device not visible".to_owned(),
        ImportError::NotReachable { have } => format!("{have:?}"),
        ImportError::Size { need, have } => format!("size {need} {have}"),
        ImportError::Driver(error) => format!("driver {:?}", error.code().unwrap().0),
        ImportError::Lease(LeaseError::OtherExporter { .. }) => "other exporter".to_owned(),
        ImportError::Lease(LeaseError::Denied(denial)) => format!("{denial:?}"),
        other => panic!("{other}"),
    };
    say(&name);
}

#[test]
fn a_device_is_known_by_its_uuid() {
    isolated!(Config::new().devices(2), || {
        if is_consumer() {
            return consumer();
        }
        let shop = Shop::open();
        let published = shop.share(&[1; 64]);
        for (environment, refusal) in [
            (("CUDA_IPC_TEST_ORDINAL", "1"), "other device"),
            (("CUDA_VISIBLE_DEVICES", "1"), "device not visible"),
        ] {
            let mut peer = shop.peer_with(published.descriptor(), &[environment]);
            peer.expect(refusal);
            assert!(peer.wait().success());
        }
        assert_eq!(published.holders(), []);
        published.withdraw(PATIENCE).unwrap();
    });
}

/// Returns the descriptor with something else in it.
fn with(descriptor: &Descriptor, change: impl FnOnce(&mut Source)) -> Descriptor {
    let mut source = *descriptor.source();
    change(&mut source);
    Descriptor::new(source, descriptor.dtype(), descriptor.layout().clone()).unwrap()
}

#[test]
fn a_wrong_descriptor_is_not_claimed() {
    isolated!(Config::new(), || {
        if is_consumer() {
            return consumer();
        }
        let shop = Shop::open();
        let published = shop.share(&[1; 64]);
        let right = published.descriptor();
        let other_type =
            Descriptor::new(*right.source(), DType::I8, right.layout().clone()).unwrap();
        let shorter = Descriptor::new(*right.source(), DType::U8, run(63)).unwrap();
        let shifted = run(63).with_byte_offset(1).unwrap();
        let shifted = Descriptor::new(*right.source(), DType::U8, shifted).unwrap();
        let cases = [
            (with(right, |it| it.exporter.boot_id[0] ^= 1), "OtherMachine"),
            (with(right, |it| it.exporter.pid_namespace += 1), "OtherNamespace"),
            (with(right, |it| it.exporter.pid += 1), "other exporter"),
            (with(right, |it| it.exporter.start_time += 1), "other exporter"),
            (with(right, |it| it.device = DeviceUuid::new([9; 16])), "device not visible"),
            (with(right, |it| it.buffer_id += 1), "Different"),
            (with(right, |it| it.nonce = cuda_ipc::Nonce::random().unwrap()), "Stale"),
            (with(right, |it| it.handle = MemoryHandle::Legacy([1; 64])), "Different"),
            (with(right, |it| it.allocation_size += 1), "Different"),
            (other_type, "Different"),
            (shorter, "Different"),
            (shifted, "Different"),
        ];
        for (wrong, refusal) in cases {
            let mut peer = shop.peer(&wrong);
            peer.expect(refusal);
            assert!(peer.wait().success());
        }
        assert_eq!(published.holders(), []);
        published.withdraw(PATIENCE).unwrap();
    });
}

/// What an exporter itself says wrongly is found when the memory is opened.
#[test]
fn what_was_opened_is_checked() {
    isolated!(Config::new(), || {
        if is_consumer() {
            return consumer();
        }
        let shop = Shop::open();
        let buffer = Arc::new(shop.gpu.buffer(&[1; 64]));
        shop.gpu.stream.synchronize().unwrap();
        let right = describe(&buffer, run(64)).unwrap();
        let code = CUresult::CUDA_ERROR_INVALID_VALUE.0;
        let cases = [
            (with(&right, |it| it.allocation_size += 1), "size 65 64".to_owned()),
            (
                with(&right, |it| it.handle = MemoryHandle::Legacy([0xff; 64])),
                format!("driver {code}"),
            ),
        ];
        for (wrong, refusal) in cases {
            let published = shop.exporter.publish(wrong, Arc::clone(&buffer), PATIENCE).unwrap();
            let mut peer = shop.peer(published.descriptor());
            peer.expect(&refusal);
            // The lease ended with the refusal, and the process is still there.
            assert!(published.wait_holders(PATIENCE, <[_]>::is_empty));
            published.withdraw(PATIENCE).unwrap();
            assert!(peer.wait().success());
        }
    });
}

/// The driver gives the next buffer the same handle; the descriptor of the first opens neither.
#[test]
fn a_freed_buffers_descriptor_is_stale() {
    isolated!(Config::new(), || {
        if is_consumer() {
            return consumer();
        }
        let shop = Shop::open();
        // Beside a living neighbour, the handle is the same byte for byte.
        let neighbour = shop.gpu.buffer(&[1; 64]);
        let published = shop.share(&[1; 4096]);
        let stale = published.descriptor().clone();
        drop(published.withdraw(PATIENCE).unwrap());
        let published = shop.share(&[2; 4096]);
        let fresh = published.descriptor().source();
        assert_eq!(fresh.handle, stale.source().handle);
        assert!(fresh.buffer_id > stale.source().buffer_id);
        let mut peer = shop.peer(&stale);
        peer.expect(&format!("{:?}", Denial::Stale));
        assert!(peer.wait().success());
        published.withdraw(PATIENCE).unwrap();
        drop(neighbour);
    });
}
