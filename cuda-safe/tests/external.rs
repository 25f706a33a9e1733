//! Memory of others, found by its address: what the driver says of it, and whose uses it shares.

#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, unsafe_code, reason = "a test that makes and frees memory itself")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cuda_safe::layout::{Order, StridedLayout};
use cuda_safe::shim::Kind;
use cuda_safe::sys::CUdeviceptr;
use cuda_safe::{
    Context, DType, Device, DeviceBuffer, External, PinnedBuffer, Rule, Stream, View, ViewMut,
    call, copy,
};
use cuda_sim::{Config, isolated, on_every_scheduler};

fn context() -> (Context, Stream) {
    let context = Device::get(0).unwrap().context().unwrap();
    let stream = Stream::new(&context).unwrap();
    (context, stream)
}

fn dense(shape: &[i64]) -> StridedLayout {
    StridedLayout::dense(shape, 1, Order::C).unwrap()
}

/// Counts how often it is dropped, and frees what it owns.
struct Owner(Context, CUdeviceptr, Arc<AtomicUsize>);

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: it was allocated by this test, and whoever drops the owner has waited.
        unsafe { call::mem_free(&self.0, self.1) }.unwrap();
        self.2.fetch_add(1, Ordering::Release);
    }
}

fn wait_for(dropped: &AtomicUsize) {
    let start = Instant::now();
    while dropped.load(Ordering::Acquire) == 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "the owner is not dropped");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn memory_of_others_is_viewed_and_freed_by_its_owner() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let dropped = Arc::new(AtomicUsize::new(0));
        let address = call::mem_alloc(&context, 1000).unwrap();
        let owner = Owner(context.clone(), address, Arc::clone(&dropped));
        // SAFETY: the owner keeps the bytes, and only this test knows them.
        let mut external = unsafe { External::new(&context, address, 900, owner) }.unwrap();
        assert_eq!((external.kind(), external.len()), (Kind::External, 900));
        assert_eq!(external.allocation().len(), 1000);
        let host: Vec<u8> = (0..90).collect();
        let source = View::of_slice(&host, dense(&[9, 10])).unwrap();
        let mut target = ViewMut::<u8>::new(&mut external, dense(&[9, 10])).unwrap();
        copy(&source, &mut target, &stream).unwrap();
        let mut back = [0_u8; 90];
        let array = View::<u8>::new(&external, dense(&[9, 10])).unwrap();
        let mut home = ViewMut::of_mut_slice(&mut back, dense(&[9, 10])).unwrap();
        copy(&array, &mut home, &stream).unwrap();
        assert_eq!(back.as_slice(), host, "a borrowed slice is finished with on return");
        drop(external);
        assert_eq!(dropped.load(Ordering::Relaxed), 1, "the copies were waited for");
    });
}

#[test]
fn the_owner_waits_for_the_streams() {
    isolated!(Config::new(), || {
        let (context, stream) = context();
        let dropped = Arc::new(AtomicUsize::new(0));
        let address = call::mem_alloc(&context, 1 << 20).unwrap();
        let owner = Owner(context.clone(), address, Arc::clone(&dropped));
        // SAFETY: the owner keeps the bytes, and only this test knows them.
        let mut external = unsafe { External::new(&context, address, 1 << 20, owner) }.unwrap();
        let pinned = PinnedBuffer::from_slice(&context, &[3_u8; 100]).unwrap();
        let mut view = ViewMut::<u8>::new(&mut external, dense(&[100])).unwrap();
        copy(&pinned.view().unwrap(), &mut view, &stream).unwrap();
        drop(external);
        wait_for(&dropped);
    });
}

#[test]
fn one_allocation_has_one_record_whoever_refers_to_it() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 256).unwrap();
        // SAFETY: the address is only made an operand of calls of this crate.
        let address = unsafe { buffer.as_device_ptr() };
        // SAFETY: the buffer outlives it, and all go through the calls of this crate.
        let alias =
            unsafe { External::new(&context, CUdeviceptr(address.0 + 64), 64, ()) }.unwrap();
        assert_eq!(alias.allocation().id(), buffer.allocation().id());
        // Another stream's write through the buffer is what a read through the alias waits for.
        let other = Stream::new(&context).unwrap();
        call::memset_d8_async(&mut buffer, 7, &other).unwrap();
        let mut back = [0_u8; 64];
        let mut home = ViewMut::of_mut_slice(&mut back, dense(&[64])).unwrap();
        copy(&View::<u8>::new(&alias, dense(&[64])).unwrap(), &mut home, &stream).unwrap();
        assert_eq!(back, [7; 64]);
        // Bytes that are both read and written are seen to be the same.
        let mut whole = buffer.view_mut().unwrap();
        whole = whole.slice(&cuda_safe::layout::s![100..164]).unwrap();
        let refused = copy(&View::new(&alias, dense(&[64])).unwrap(), &mut whole, &stream);
        assert_eq!(refused.unwrap_err().rule(), Some(Rule::Disjoint));
    });
}

#[test]
fn page_locked_memory_of_others_is_the_hosts() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut pinned = PinnedBuffer::from_slice(&context, &[1_u16, 2, 3, 4]).unwrap();
        let address = pinned.as_mut_slice().unwrap().as_ptr().expose_provenance() as u64;
        let allocation = Arc::clone(pinned.allocation());
        // SAFETY: the buffer is the owner, and nobody else reaches it any more.
        let external = unsafe { External::new(&context, CUdeviceptr(address), 8, pinned) }.unwrap();
        assert_eq!(external.kind(), Kind::Registered);
        assert_eq!(external.allocation().id(), allocation.id());
        let layout = StridedLayout::dense(&[4], 2, Order::C).unwrap();
        let view = View::<u16>::new(&external, layout.clone()).unwrap();
        assert_eq!(view.as_slice().unwrap(), [1, 2, 3, 4]);
        let mut device = DeviceBuffer::<u16>::allocate(&context, 4).unwrap();
        copy(&view, &mut device.view_mut().unwrap(), &stream).unwrap();
        let typed = View::of_type(&external, DType::I16, layout.clone()).unwrap();
        let mut there = ViewMut::of_type(&mut device, DType::U16, layout).unwrap();
        let refused = copy(&typed, &mut there, &stream).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "copy: `dtype` breaks ElementType: needs uint16, has int16"
        );
        // Then the owner, which holds the context, is dropped at once.
        stream.synchronize().unwrap();
    });
}

#[test]
fn pointers_with_negative_strides_reach_backwards() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 10).unwrap();
        let host = [0_u8, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        let line = View::of_slice(&host, dense(&[10])).unwrap();
        copy(&line, &mut buffer.view_mut().unwrap(), &stream).unwrap();
        // SAFETY: the address is only made an operand of calls of this crate.
        let address = unsafe { buffer.as_device_ptr() };
        let backwards = StridedLayout::from_byte_strides(&[10], &[-1], 1).unwrap();
        let last = CUdeviceptr(address.0 + 9);
        // SAFETY: the buffer outlives it.
        let made = unsafe { External::of_array(&context, last, &backwards, ()) }.unwrap();
        let (external, layout) = made;
        assert_eq!((external.len(), layout.byte_offset()), (10, 9));
        let view = View::<u8>::new(&external, layout).unwrap().flip(0).unwrap();
        let mut back = [0_u8; 10];
        let mut home = ViewMut::of_mut_slice(&mut back, dense(&[10])).unwrap();
        copy(&view, &mut home, &stream).unwrap();
        assert_eq!(back, host);
        // One byte further back is another's.
        let before = CUdeviceptr(address.0 + 8);
        // SAFETY: it is refused, or the buffer outlives it.
        let refused = unsafe { External::of_array(&context, before, &backwards, ()) };
        assert!(refused.is_err());
    });
}

#[test]
fn what_the_driver_does_not_know_is_refused() {
    on_every_scheduler!(Config::new(), || {
        let (context, _stream) = context();
        let local = [0_u8; 32];
        let address = CUdeviceptr(local.as_ptr().expose_provenance() as u64);
        // SAFETY: it is refused.
        let refused = unsafe { External::new(&context, address, 32, ()) }.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "External::new: `address` breaks Kind: needs memory that the driver knows, has an \
             address of others"
        );
        let buffer = DeviceBuffer::<u8>::allocate(&context, 100).unwrap();
        // SAFETY: the address is only made an operand of calls of this crate.
        let address = unsafe { buffer.as_device_ptr() };
        // SAFETY: it is refused.
        let refused = unsafe { External::new(&context, CUdeviceptr(address.0 + 40), 61, ()) };
        assert_eq!(
            refused.unwrap_err().to_string(),
            "External::new: `len` breaks Reach: needs 61, has 60"
        );
        // An empty array may be nowhere.
        // SAFETY: it has no bytes.
        let empty = unsafe { External::new(&context, CUdeviceptr(0), 0, ()) }.unwrap();
        assert!(View::<u8>::new(&empty, dense(&[0, 4])).is_ok());
        assert!(View::<u8>::new(&empty, dense(&[1])).is_err());
    });
}

#[test]
fn memory_of_another_device_is_refused() {
    isolated!(Config::new().devices(2), || {
        let (first, second) = (Device::get(0).unwrap(), Device::get(1).unwrap());
        let (here, there) = (first.context().unwrap(), second.context().unwrap());
        let buffer = DeviceBuffer::<u8>::allocate(&there, 100).unwrap();
        // SAFETY: the address is only made an operand of calls of this crate.
        let address = unsafe { buffer.as_device_ptr() };
        // SAFETY: it is refused.
        let refused = unsafe { External::new(&here, address, 100, ()) }.unwrap_err();
        assert_eq!(
            refused.to_string(),
            "External::new: `address` breaks Home: needs device 0, has device 1"
        );
    });
}

#[test]
fn buffers_are_made_like_views() {
    on_every_scheduler!(Config::new(), || {
        let (context, stream) = context();
        let host: Vec<u8> = (0..24).collect();
        let matrix = View::of_slice(&host, dense(&[4, 6])).unwrap();
        let (mut buffer, layout) =
            DeviceBuffer::<u8>::empty_like(&context, &matrix, Order::Keep).unwrap();
        copy(&matrix, &mut ViewMut::new(&mut buffer, layout.clone()).unwrap(), &stream).unwrap();
        let device = View::<u8>::new(&buffer, layout).unwrap();
        let (mut back, layout) =
            PinnedBuffer::<u8>::zeroed_like(&context, &device, Order::C).unwrap();
        copy(&device, &mut ViewMut::new(&mut back, layout).unwrap(), &stream).unwrap();
        assert_eq!(back.as_slice().unwrap(), host);
        let columns = matrix.transpose().unwrap();
        let (wide, layout) =
            DeviceBuffer::<[u8; 3]>::empty_like(&context, &columns, Order::Keep).unwrap();
        assert_eq!((wide.len(), layout.byte_strides()), (24, &[3, 18][..]));
    });
}
