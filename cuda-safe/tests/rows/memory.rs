//! Memory of devices: sizes, elements, and when it is freed.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use cuda_safe::{
    DeviceBuffer, Element, Error, ManagedBuffer, PinnedBuffer, Stream, WriteCombinedBuffer, call,
    copy,
};
use cuda_sim::{Config, for_each_failure, isolated, on_every_scheduler};
use cuda_sys::CUresult;

use crate::common::{argument, calls, context, hold_up, lazy, read};

#[test]
fn row_24_each_copy_keeps_its_source() {
    isolated!(lazy(), || {
        let (context, stream) = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 64).unwrap();
        let held = hold_up(&stream);
        for value in [1_u8, 2] {
            let source = PinnedBuffer::filled(&context, 64, value).unwrap();
            call::memcpy_htod_async(&mut buffer, &source, &stream).unwrap();
        }
        // Both are dropped, and neither is freed.
        assert_eq!(context.uncollected(), 2);
        drop(held);
        assert_eq!(read(&buffer, &stream), [2; 64]);
        context.collect();
        assert_eq!(context.uncollected(), 0);
    });
}

#[test]
fn row_32_bytes_are_counted_once() {
    fn allocate<T: Element>(bytes: usize) {
        let (context, stream) = context();
        let before = |function| calls(function).len();
        let functions = ["cuMemAlloc_v2", "cuMemAllocAsync", "cuMemHostAlloc"];
        let counts = functions.map(before);
        let plain = DeviceBuffer::<T>::allocate(&context, 10).unwrap();
        let ordered = DeviceBuffer::<T>::uninitialized(&stream, 10).unwrap();
        let pinned = PinnedBuffer::<T>::uninitialized(&context, 10).unwrap();
        assert_eq!((plain.len(), ordered.len()), (10, 10));
        drop((plain, ordered, pinned));
        for (function, count) in functions.into_iter().zip(counts) {
            let asked: Vec<String> = calls(function)
                .iter()
                .skip(count)
                .map(|call| argument(call, "bytes").to_owned())
                .collect();
            let expected = if bytes == 0 { vec![] } else { vec![bytes.to_string()] };
            assert_eq!(asked, expected, "{function} of {}", std::any::type_name::<T>());
        }
    }
    isolated!(Config::new().log(true), || {
        allocate::<u8>(10);
        allocate::<u64>(80);
        allocate::<[u8; 3]>(30);
        allocate::<()>(0);
    });
}

/// Tells whether a type may be an element: the constant of the type itself goes before the trait's.
struct Probe<T: ?Sized>(PhantomData<T>);

trait Otherwise {
    const IS_ELEMENT: bool = false;
}

impl<T: ?Sized> Otherwise for Probe<T> {}

impl<T: Element> Probe<T> {
    const IS_ELEMENT: bool = true;
}

#[test]
fn row_33_elements_are_values_of_any_bytes() {
    let elements = [
        Probe::<u8>::IS_ELEMENT,
        Probe::<f64>::IS_ELEMENT,
        Probe::<[i16; 3]>::IS_ELEMENT,
        Probe::<()>::IS_ELEMENT,
    ];
    assert_eq!(elements, [true; 4]);
    let others = [
        Probe::<String>::IS_ELEMENT,
        Probe::<&'static u8>::IS_ELEMENT,
        Probe::<*const u8>::IS_ELEMENT,
        Probe::<bool>::IS_ELEMENT,
        Probe::<char>::IS_ELEMENT,
        Probe::<Option<u8>>::IS_ELEMENT,
        Probe::<std::num::NonZeroU8>::IS_ELEMENT,
        Probe::<std::cmp::Ordering>::IS_ELEMENT,
        Probe::<(u8, u32)>::IS_ELEMENT,
        Probe::<[u8]>::IS_ELEMENT,
    ];
    assert_eq!(others, [false; 10]);
}

#[test]
fn row_34_memory_that_cannot_be_filled_is_freed() {
    for_each_failure!(lazy(), CUresult::CUDA_ERROR_OUT_OF_MEMORY, || {
        let context = cuda_safe::Device::get(0)?.context()?;
        let stream = Stream::new(&context)?;
        drop(DeviceBuffer::<u8>::zeroed(&stream, 64)?);
        drop(DeviceBuffer::filled(&stream, 64, [1_u8, 2, 3])?);
        drop(ManagedBuffer::filled(&stream, 64, 1_u8)?);
        drop(PinnedBuffer::from_slice(&context, &[1_u8; 64])?);
        drop(WriteCombinedBuffer::from_slice(&context, &[1_u8; 64])?);
        stream.synchronize()
    });
}

#[test]
fn row_35_memory_is_freed_behind_its_last_use() {
    on_every_scheduler!(Config::new(), || {
        let (context, first) = context();
        let second = Stream::new(&context).unwrap();
        let mut home = PinnedBuffer::<u32>::zeroed(&context, 300).unwrap();
        for frame in 0..500_u32 {
            let (maker, user) = if frame % 2 == 0 { (&first, &second) } else { (&second, &first) };
            let buffer = DeviceBuffer::filled(maker, 300, frame).unwrap();
            call::memcpy_dtoh_async(&mut home, &buffer, user).unwrap();
            drop(buffer);
            // What is allocated next may be the same memory.
            drop(DeviceBuffer::filled(maker, 300, u32::MAX).unwrap());
            assert_eq!(home.as_slice().unwrap(), [frame; 300]);
        }
    });
}

#[test]
fn row_36_a_free_that_fails_is_told() {
    let code = CUresult::CUDA_ERROR_UNKNOWN;
    isolated!(Config::new().log(true).fail("cuMemFree_v2", 1, code), || {
        let (context, _stream) = context();
        let told = Arc::new(Mutex::new(Vec::new()));
        let hook = Arc::clone(&told);
        context.on_error(move |error| hook.lock().unwrap().push(error.clone()));
        drop(DeviceBuffer::<u8>::allocate(&context, 64).unwrap());
        assert_eq!(*told.lock().unwrap(), [Error::driver("cuMemFree_v2", code)]);
        assert_eq!(context.reported_errors(), 1);
        // What is handed over and taken back is freed once.
        let address = DeviceBuffer::<u8>::allocate(&context, 64).unwrap().into_raw().unwrap();
        assert_eq!(calls("cuMemFree_v2").len(), 1);
        // SAFETY: it was such a buffer's of so many elements.
        drop(unsafe { DeviceBuffer::<u8>::from_raw(&context, address, 64) }.unwrap());
        assert_eq!(calls("cuMemFree_v2").len(), 2);
        assert_eq!(context.reported_errors(), 1);
    });
}

#[test]
fn row_102_what_is_empty_makes_no_call() {
    fn empty<T: Element + Default>(len: usize) {
        let (context, stream) = context();
        let before = cuda_sim::calls().len();
        let mut plain = DeviceBuffer::<T>::allocate(&context, len).unwrap();
        let mut rows = DeviceBuffer::<T>::allocate_pitched(&context, len, 4).unwrap();
        let mut ordered = DeviceBuffer::<T>::zeroed(&stream, len).unwrap();
        let mut pinned = PinnedBuffer::<T>::zeroed(&context, len).unwrap();
        let combined = WriteCombinedBuffer::<T>::uninitialized(&context, len).unwrap();
        plain.fill(T::default(), &stream).unwrap();
        rows.fill(T::default(), &stream).unwrap();
        pinned.as_mut_slice().unwrap().fill(T::default());
        assert!(plain.split_at_mut(0).unwrap().1.is_empty());
        // Elements without bytes have no layout.
        if size_of::<T>() > 0 {
            copy(&plain.view().unwrap(), &mut ordered.view_mut().unwrap(), &stream).unwrap();
            copy(&pinned.view().unwrap(), &mut plain.view_mut().unwrap(), &stream).unwrap();
            copy(&ordered.view().unwrap(), &mut pinned.view_mut().unwrap(), &stream).unwrap();
        }
        assert!(pinned.as_slice().unwrap().len() <= len);
        let raw = plain.into_raw().unwrap();
        // SAFETY: there are no bytes.
        drop(unsafe { DeviceBuffer::<T>::from_raw(&context, raw, len) }.unwrap());
        drop((rows, ordered, pinned, combined));
        let made: Vec<_> = cuda_sim::calls().into_iter().skip(before).collect();
        assert_eq!(made, [], "of {}", std::any::type_name::<T>());
    }
    isolated!(Config::new().log(true), || {
        empty::<u32>(0);
        empty::<()>(0);
        empty::<()>(7);
    });
}
