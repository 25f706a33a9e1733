//! What the gates and records of one asynchronous copy cost the host, and a view of a pointer of
//! others: against a library whose
//! functions do nothing, the least of many runs.
//!
//! `cargo run --release -p cuda-safe --example call_cost`
#![expect(clippy::print_stdout, reason = "a program that prints a report")]

use std::error::Error;
use std::ffi::{CStr, c_int, c_uint, c_ulonglong, c_void};
use std::hint::black_box;
use std::ptr::{self, NonNull};
use std::time::Instant;

use cuda_safe::{
    Context, Device, DeviceBuffer, External, PinnedBuffer, Stream, StridedLayout, View, call,
};
use cuda_sys::*;

/// Is a driver that does nothing.
struct Nothing;

static MEMORY: [u64; 512] = [0; 512];

fn memory<T>() -> *mut T {
    // It is only ever written zeros by this program: `PinnedBuffer` zeroes what it allocates.
    ptr::from_ref(&MEMORY).cast_mut().cast()
}

macro_rules! nothing {
    ($($name:ident($($parameter:ident: $ty:ty),*) $body:block)*) => {
        mod functions {
            #![expect(non_snake_case, reason = "C's names")]
            use super::*;
            $(pub(super) unsafe extern "system" fn $name($($parameter: $ty),*) -> CUresult {
                $body
                CUresult::CUDA_SUCCESS
            })*
        }

        // SAFETY: each function is of the type that `signature` has under its name.
        unsafe impl SymbolSource for Nothing {
            fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
                let name = name.to_str().ok()?;
                $(if name == stringify!($name) {
                    let function: signature::$name = functions::$name;
                    return NonNull::new(function as *mut c_void);
                })*
                None
            }

            fn describe(&self) -> String {
                "a library that does nothing".to_owned()
            }
        }
    };
}

nothing! {
    cuInit(_flags: c_uint) {}
    cuDriverGetVersion(version: *mut c_int) {
        // SAFETY: the caller passes a place for it.
        unsafe { version.write(13_000) };
    }
    cuDeviceGet(device: *mut CUdevice, ordinal: c_int) {
        // SAFETY: as above.
        unsafe { device.write(CUdevice(ordinal)) };
    }
    cuDevicePrimaryCtxRetain(context: *mut CUcontext, _device: CUdevice) {
        // SAFETY: as above.
        unsafe { context.write(memory()) };
    }
    cuDevicePrimaryCtxRelease_v2(_device: CUdevice) {}
    cuCtxGetCurrent(context: *mut CUcontext) {
        // SAFETY: as above.
        unsafe { context.write(memory()) };
    }
    cuCtxSetCurrent(_context: CUcontext) {}
    cuCtxGetId(_context: CUcontext, id: *mut c_ulonglong) {
        // SAFETY: as above.
        unsafe { id.write(1) };
    }
    cuStreamCreate(stream: *mut CUstream, _flags: c_uint) {
        // SAFETY: as above.
        unsafe { stream.write(memory()) };
    }
    cuStreamDestroy_v2(_stream: CUstream) {}
    cuStreamWaitEvent(_stream: CUstream, _event: CUevent, _flags: c_uint) {}
    cuStreamSynchronize(_stream: CUstream) {}
    cuEventCreate(event: *mut CUevent, _flags: c_uint) {
        // SAFETY: as above.
        unsafe { event.write(memory()) };
    }
    cuEventRecord(_event: CUevent, _stream: CUstream) {}
    cuEventQuery(_event: CUevent) {}
    cuEventSynchronize(_event: CUevent) {}
    cuEventDestroy_v2(_event: CUevent) {}
    cuMemAlloc_v2(address: *mut CUdeviceptr, _size: usize) {
        // SAFETY: as above.
        unsafe { address.write(CUdeviceptr(4096)) };
    }
    cuMemFree_v2(_address: CUdeviceptr) {}
    cuMemHostAlloc(address: *mut *mut c_void, size: usize, _flags: c_uint) {
        // SAFETY: as above.
        unsafe { address.write(Box::into_raw(vec![0_u8; size].into_boxed_slice()).cast()) };
    }
    cuMemFreeHost(_address: *mut c_void) {}
    cuPointerGetAttributes(
        _count: c_uint, _of: *mut CUpointer_attribute, data: *mut *mut c_void, _at: CUdeviceptr
    ) {
        // In the order in which `External` asks: type, device, managed, number, host, range.
        let values: [(usize, u64); 7] =
            [(4, 2), (4, 0), (4, 0), (8, 7), (8, 0), (8, 4096), (8, 256)];
        for (index, (size, value)) in values.into_iter().enumerate() {
            // SAFETY: the list has a place for each value.
            let to = unsafe { data.wrapping_add(index).read() };
            // SAFETY: the place is as large as its value, and little-endian like it.
            unsafe { ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), to.cast(), size) };
        }
    }
    cuMemcpyHtoDAsync_v2(_to: CUdeviceptr, _from: *const c_void, _n: usize, _on: CUstream) {}
    cuMemsetD8Async(_to: CUdeviceptr, _byte: u8, _n: usize, _on: CUstream) {}
}

const CALLS: u32 = 10_000;
const RUNS: u32 = 300;

/// Returns the nanoseconds of one call: the least of the runs.
fn least(mut call: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        for _ in 0..CALLS {
            call();
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
    }
    least
}

/// Measures a view of a pointer of others, beside the one query that it takes.
fn views(context: &Context) -> Result<(), Box<dyn Error>> {
    let mut attributes = [CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE; 7];
    let query = least(|| {
        let mut values = [0_u64; 7];
        let mut data: [*mut c_void; 7] = values.each_mut().map(|value| ptr::from_mut(value).cast());
        let (of, to) = (attributes.as_mut_ptr(), data.as_mut_ptr());
        // SAFETY: there are seven places of eight bytes.
        let answer = unsafe { cuPointerGetAttributes(7, of, to, black_box(CUdeviceptr(4096))) };
        let _ = black_box((answer, values));
    });
    let shape = StridedLayout::from_byte_strides(&[4, 8, 3], &[64, 3, 1], 1)?;
    // SAFETY: nobody reads or writes the bytes: the library does nothing.
    let make = || unsafe { External::new(context, black_box(CUdeviceptr(4096)), 256, ()) };
    let view = || {
        if let Ok(external) = make() {
            black_box(View::<u8>::new(&external, shape.clone()).is_ok());
        }
    };
    let view = least(view);
    println!("raw query of a pointer's attributes  {query:6.1} ns");
    println!("view of a pointer, made and dropped  {view:6.1} ns, {:.1} over raw", view - query);
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    LIBRARY.install(Box::new(Nothing))?;
    let context: Context = Device::get(0)?.context()?;
    let (stream, other) = (Stream::new(&context)?, Stream::new(&context)?);
    let source = PinnedBuffer::<u8>::zeroed(&context, 256)?;
    let mut buffer = DeviceBuffer::<u8>::allocate(&context, 256)?;

    // SAFETY: the function does nothing.
    let raw = least(|| unsafe {
        let answer = cuMemcpyHtoDAsync_v2(
            black_box(CUdeviceptr(4096)),
            black_box(ptr::null()),
            black_box(256),
            black_box(ptr::null_mut()),
        );
        let _ = black_box(answer);
    });
    let copy = least(|| {
        let answer = call::memcpy_htod_async(black_box(&mut buffer), &source, black_box(&stream));
        black_box(answer.is_ok());
    });
    let fill = least(|| {
        let answer = call::memset_d8_async(black_box(&mut buffer), 7, black_box(&stream));
        black_box(answer.is_ok());
    });
    let mut turn = false;
    let alternating = least(|| {
        turn = !turn;
        let on = if turn { &stream } else { &other };
        let answer = call::memset_d8_async(black_box(&mut buffer), 7, black_box(on));
        black_box(answer.is_ok());
    });
    views(&context)?;
    println!("raw copy                             {raw:6.1} ns");
    println!("checked copy, same stream            {copy:6.1} ns, {:.1} over raw", copy - raw);
    println!("checked memset, same stream          {fill:6.1} ns");
    println!(
        "checked memset, two streams in turn  {alternating:6.1} ns (an event and a wait each)"
    );
    Ok(())
}
