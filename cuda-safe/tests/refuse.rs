//! Each refusal's message, and that the driver was not called.
#![cfg(feature = "driver")]
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use cuda_safe::shim::{Device, Extent, Kind, Memory, Region, Steady};
use cuda_safe::{Context, DeviceBuffer, Error, PinnedBuffer, Rule, Stream, call};
use cuda_sim::{Config, isolated};

/// Is a part of a buffer, as a view would be one.
struct Part<'a> {
    region: Region<'a>,
}

impl<'a> Part<'a> {
    /// Describes `len` bytes from `offset` on, in rows if need be.
    fn of<T: bytemuck::Pod>(
        buffer: &'a DeviceBuffer<T>,
        offset: usize,
        len: usize,
        rows: Option<(usize, usize, usize)>,
    ) -> Self {
        // SAFETY: the address is only compared.
        let address = usize::try_from(unsafe { buffer.as_device_ptr() }.0).unwrap() + offset;
        let region = Region::new(address, len, Kind::Alloc)
            .with_home(buffer.context())
            .within(buffer.allocation(), offset);
        let region = match rows {
            Some((pitch, width, height)) => region.with_rows(pitch, width, height),
            None => region,
        };
        Self { region }
    }
}

// SAFETY: what it describes lies in the buffer, but for tests whose point is that it doesn't.
unsafe impl Memory for Part<'_> {
    fn region(&self) -> Region<'_> {
        self.region
    }
}
// SAFETY: the buffer's record is named.
unsafe impl Steady for Part<'_> {}
// SAFETY: the buffer is on the device.
unsafe impl Device for Part<'_> {}

fn context() -> Context {
    cuda_safe::Device::get(0).unwrap().context().unwrap()
}

/// Checks the message, and that not one driver call was made.
fn refuses<T: std::fmt::Debug>(text: &str, call: impl FnOnce() -> Result<T, Error>) {
    let before = cuda_sim::call_count();
    let error = call().unwrap_err();
    assert_eq!(cuda_sim::call_count(), before, "the driver was called");
    assert_eq!(error.to_string(), text);
    assert!(error.rule().is_some());
}

#[test]
fn reach() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let mut short = DeviceBuffer::<u8>::allocate(&context, 7).unwrap();
        let pinned = PinnedBuffer::<u8>::zeroed(&context, 8).unwrap();
        refuses("cuMemcpyHtoDAsync_v2: `dst` breaks Reach: needs 8, has 7", || {
            call::memcpy_htod_async(&mut short, &pinned, &stream)
        });
        let mut bytes = [0_u8; 6];
        refuses("cuMemcpyDtoH_v2: `dst` breaks Reach: needs 7, has 6", || {
            call::memcpy_dtoh(&mut bytes, &short)
        });
        let buffer = DeviceBuffer::<u8>::allocate(&context, 1024).unwrap();
        let mut rows = Part::of(&buffer, 0, 167, Some((64, 40, 3)));
        refuses("cuMemsetD2D32Async: `dst` breaks Reach: needs 168, has 167", || {
            call::memset_d2d32_async(&mut rows, 7, &stream)
        });
        let from = Part::of(&buffer, 512, 168, Some((64, 40, 3)));
        refuses("cuMemcpy2DAsync_v2: `dst` breaks Reach: needs 168, has 167", || {
            let extent = Extent { width: 40, height: 3 };
            call::memcpy_2d_async(&from, &mut rows, extent, &stream)
        });
    });
}

#[test]
fn pitch_align_and_quotient() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let buffer = DeviceBuffer::<u8>::allocate(&context, 1024).unwrap();
        let mut narrow = Part::of(&buffer, 0, 512, Some((32, 40, 3)));
        refuses("cuMemsetD2D8Async: `dst` breaks Pitch: needs 40, has 32", || {
            call::memset_d2d8_async(&mut narrow, 7, &stream)
        });
        let mut odd = Part::of(&buffer, 2, 16, None);
        refuses("cuMemsetD32Async: `dst` breaks Align: needs 4, has 2", || {
            call::memset_d32_async(&mut odd, 7, &stream)
        });
        let mut rest = Part::of(&buffer, 0, 18, None);
        refuses("cuMemsetD32_v2: `dst` breaks Quotient: needs 20, has 18", || {
            call::memset_d32(&mut rest, 7)
        });
    });
}

#[test]
fn home() {
    isolated!(Config::new().devices(2), || {
        let here = context();
        let there = cuda_safe::Device::get(1).unwrap().context().unwrap();
        let stream = Stream::new(&there).unwrap();
        let mut buffer = DeviceBuffer::<u8>::allocate(&here, 8).unwrap();
        let (need, have) = (there.id(), here.id());
        let text =
            format!("cuMemsetD8Async: `dst` breaks Home: needs context {need}, has context {have}");
        refuses(&text, || call::memset_d8_async(&mut buffer, 7, &stream));
        let (mut to, from) = ([0_u8; 8], [0_u8; 8]);
        refuses("cuMemcpy2D_v2: `src` breaks Home: needs a context, has none", || {
            call::memcpy_2d(&from, &mut to, Extent { width: 8, height: 1 })
        });
        // Pinned memory is at home everywhere.
        let pinned = PinnedBuffer::<u8>::zeroed(&there, 8).unwrap();
        call::memcpy_htod(&mut buffer, &pinned).unwrap();
    });
}

#[test]
fn base_and_kind() {
    isolated!(Config::new(), || {
        let context = context();
        let buffer = DeviceBuffer::<u8>::allocate(&context, 1024).unwrap();
        let part = Part::of(&buffer, 0, 512, None);
        refuses("cuIpcGetMemHandle: `memory` breaks Base: needs 1024, has 512", || {
            call::ipc_get_mem_handle(&part)
        });
        let inside = Part::of(&buffer, 512, 512, None);
        refuses("cuIpcGetMemHandle: `memory` breaks Base: needs offset 0, has 512", || {
            call::ipc_get_mem_handle(&inside)
        });
        let whole = Part::of(&buffer, 0, 1024, None);
        call::ipc_get_mem_handle(&whole).unwrap();
        call::ipc_get_mem_handle(&buffer).unwrap();
        let opened = Region::new(4096, 1024, Kind::Imported)
            .with_home(&context)
            .within(buffer.allocation(), 0);
        refuses("cuIpcGetMemHandle: `memory` breaks Kind: needs Alloc, has Imported", || {
            call::ipc_get_mem_handle(&Part { region: opened })
        });
    });
}

#[test]
fn disjoint() {
    isolated!(Config::new(), || {
        let context = context();
        let stream = Stream::new(&context).unwrap();
        let buffer = DeviceBuffer::<u8>::allocate(&context, 1024).unwrap();
        let mut dst = Part::of(&buffer, 0, 512, None);
        let over = Part::of(&buffer, 511, 512, None);
        let text = "cuMemcpyDtoDAsync_v2: `src` breaks Disjoint: needs bytes of its own, has bytes of `dst`";
        refuses(text, || call::memcpy_dtod_async(&mut dst, &over, &stream));
        let behind = Part::of(&buffer, 512, 512, None);
        call::memcpy_dtod_async(&mut dst, &behind, &stream).unwrap();
        // Interleaved columns share no byte.
        let mut left = Part::of(&buffer, 0, 1024 - 32, Some((64, 32, 16)));
        let right = Part::of(&buffer, 32, 1024 - 32, Some((64, 32, 16)));
        let extent = Extent { width: 32, height: 16 };
        call::memcpy_2d_async(&right, &mut left, extent, &stream).unwrap();
    });
}

#[test]
fn a_context_that_was_reset() {
    isolated!(Config::new(), || {
        let context = context();
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 8).unwrap();
        // SAFETY: it is the point of the test.
        let reset = unsafe { cuda_sys::cuDevicePrimaryCtxReset_v2(cuda_sys::CUdevice(0)) };
        assert_eq!(reset, cuda_sys::CUresult::CUDA_SUCCESS);
        let error = call::memset_d8(&mut buffer, 0).unwrap_err();
        assert_eq!(error.rule(), Some(Rule::Alive));
        let text = error.to_string();
        assert!(text.starts_with("cuMemsetD8_v2: `context` breaks Alive: needs "), "{text}");
        // A new one is another context.
        let again = cuda_safe::Device::get(0).unwrap().context().unwrap();
        assert_ne!(again.id(), context.id());
        let mut new = DeviceBuffer::<u8>::allocate(&again, 8).unwrap();
        call::memset_d8(&mut new, 0).unwrap();
        assert_eq!(call::memset_d8(&mut buffer, 0).unwrap_err().rule(), Some(Rule::Alive));
        drop(buffer);
        assert_eq!(context.reported_errors(), 1);
    });
}

#[test]
fn lengths_that_do_not_fit() {
    isolated!(Config::new(), || {
        let context = context();
        let text = format!(
            "DeviceBuffer::allocate: `len` breaks Fit: needs more than can be counted, has {}",
            usize::MAX
        );
        refuses(&text, || DeviceBuffer::<u32>::allocate(&context, usize::MAX / 2));
    });
}

#[test]
fn what_the_driver_answers_and_what_it_lacks() {
    isolated!(Config::new().version(cuda_sys::Version::new(11, 0)), || {
        let context = context();
        let error = cuda_safe::Device::get(9).unwrap_err();
        assert_eq!(error.code(), Some(cuda_sys::CUresult::CUDA_ERROR_INVALID_DEVICE));
        let text = error.to_string();
        assert!(
            text.starts_with("cuDeviceGet: ") && text.contains("INVALID_DEVICE, 101)"),
            "{text}"
        );
        // Came with 11.4.
        let error = context.device().uuid().unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("cuDeviceGetUuid_v2: "), "{text}");
        assert!(text.contains("it came with CUDA 11.4"), "{text}");
        assert!(matches!(error.cause, cuda_safe::Cause::Missing(_)));
        // A driver without context numbers works all the same.
        assert_eq!(context.driver_id(), None);
        let mut buffer = DeviceBuffer::<u8>::allocate(&context, 8).unwrap();
        call::memset_d8(&mut buffer, 0).unwrap();
    });
}
