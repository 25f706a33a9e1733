//! What a copy and an allocation cost by raw calls, by this crate, and by cudarc, in one run: medians
//! with the tenth and the ninetieth percentile, and the least.
//!
//! `cargo run --release -p cuda-safe --example compare`
//!
//! The driver is the one that the system finds. With `nothing.c` beside this file in its place, what
//! is left of a small copy is what a library adds on the host.
#![expect(clippy::print_stdout, reason = "a program that prints a report")]
#![expect(unsafe_code, reason = "the raw calls that the others are compared with, and cudarc's")]

use std::error::Error;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use cuda_safe::{Context, Device, DeviceBuffer, PinnedBuffer, Stream, call};
use cuda_sys::*;
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, PinnedHostSlice};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// So many small copies are queued between two waits.
const BATCH: u32 = 64;

/// Is one way to do it.
trait Way {
    /// Queues a copy to the device.
    fn to_device(&mut self) -> Outcome;
    /// Queues a copy from the device.
    fn to_host(&mut self) -> Outcome;
    /// Allocates 1 MiB in the stream's order, and frees it.
    fn allocate(&mut self) -> Outcome;
    /// As [`allocate`](Self::allocate), of memory that nobody has kept.
    fn allocate_anew(&mut self) -> Outcome {
        self.allocate()
    }
    /// Allocates 1 MiB in no stream's order, and frees it.
    fn allocate_plain(&mut self) -> Outcome;
    /// Waits for the stream.
    fn wait(&mut self) -> Outcome;
}

fn check(code: CUresult) -> Outcome {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(format!("{code:?}").into()) }
}

struct Raw {
    stream: CUstream,
    host: *mut c_void,
    device: CUdeviceptr,
    bytes: usize,
}

impl Raw {
    fn new(bytes: usize) -> Outcome<Self> {
        let (mut stream, mut host, mut device) = (ptr::null_mut(), ptr::null_mut(), CUdeviceptr(0));
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
        // SAFETY: making a `CudaContext` made it current, and the call writes one handle.
        check(unsafe { cuStreamCreate(&raw mut stream, flags) })?;
        // SAFETY: the call writes one address.
        check(unsafe { cuMemHostAlloc(&raw mut host, bytes, 0) })?;
        // SAFETY: as above.
        check(unsafe { cuMemAlloc_v2(&raw mut device, bytes) })?;
        Ok(Self { stream, host, device, bytes })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: it is this value's own, and its work has been waited for.
        let _answer = unsafe { cuStreamDestroy_v2(self.stream) };
        // SAFETY: as above.
        let _answer = unsafe { cuMemFreeHost(self.host) };
        // SAFETY: as above.
        let _answer = unsafe { cuMemFree_v2(self.device) };
    }
}

impl Way for Raw {
    fn to_device(&mut self) -> Outcome {
        // SAFETY: both sides have so many bytes, and stay until the stream has been waited for.
        check(unsafe { cuMemcpyHtoDAsync_v2(self.device, self.host, self.bytes, self.stream) })
    }

    fn to_host(&mut self) -> Outcome {
        // SAFETY: as above.
        check(unsafe { cuMemcpyDtoHAsync_v2(self.host, self.device, self.bytes, self.stream) })
    }

    fn allocate(&mut self) -> Outcome {
        let mut address = CUdeviceptr(0);
        // SAFETY: the call writes one address.
        check(unsafe { cuMemAllocAsync(&raw mut address, 1 << 20, self.stream) })?;
        // SAFETY: nothing uses it.
        check(unsafe { cuMemFreeAsync(address, self.stream) })
    }

    fn allocate_plain(&mut self) -> Outcome {
        let mut address = CUdeviceptr(0);
        // SAFETY: the call writes one address.
        check(unsafe { cuMemAlloc_v2(&raw mut address, 1 << 20) })?;
        // SAFETY: nothing uses it.
        check(unsafe { cuMemFree_v2(address) })
    }

    fn wait(&mut self) -> Outcome {
        // SAFETY: the stream is alive.
        check(unsafe { cuStreamSynchronize(self.stream) })
    }
}

struct Checked {
    stream: Stream,
    host: PinnedBuffer<u8>,
    device: DeviceBuffer<u8>,
}

impl Checked {
    fn new(context: &Context, bytes: usize) -> Outcome<Self> {
        let stream = Stream::new(context)?;
        let host = PinnedBuffer::zeroed(context, bytes)?;
        Ok(Self { stream, host, device: DeviceBuffer::allocate(context, bytes)? })
    }
}

impl Way for Checked {
    fn to_device(&mut self) -> Outcome {
        Ok(call::memcpy_htod_async(&mut self.device, &self.host, &self.stream)?)
    }

    fn to_host(&mut self) -> Outcome {
        Ok(call::memcpy_dtoh_async(&mut self.host, &self.device, &self.stream)?)
    }

    fn allocate(&mut self) -> Outcome {
        drop(DeviceBuffer::<u8>::uninitialized(&self.stream, 1 << 20)?);
        Ok(())
    }

    fn allocate_anew(&mut self) -> Outcome {
        self.allocate()?;
        self.device.context().collect();
        Ok(())
    }

    fn allocate_plain(&mut self) -> Outcome {
        drop(DeviceBuffer::<u8>::allocate(self.device.context(), 1 << 20)?);
        Ok(())
    }

    fn wait(&mut self) -> Outcome {
        Ok(self.stream.synchronize()?)
    }
}

struct Cudarc {
    stream: Arc<CudaStream>,
    host: PinnedHostSlice<u8>,
    device: CudaSlice<u8>,
}

impl Cudarc {
    fn new(context: &Arc<CudaContext>, bytes: usize) -> Outcome<Self> {
        let stream = context.new_stream()?;
        // SAFETY: the bytes are written before they are read: nothing but copies reads them.
        let host = unsafe { context.alloc_pinned_with_flags(bytes, 0) }?;
        let device = stream.alloc_zeros(bytes)?;
        Ok(Self { stream, host, device })
    }
}

impl Way for Cudarc {
    fn to_device(&mut self) -> Outcome {
        Ok(self.stream.memcpy_htod(&self.host, &mut self.device)?)
    }

    fn to_host(&mut self) -> Outcome {
        Ok(self.stream.memcpy_dtoh(&self.device, &mut self.host)?)
    }

    fn allocate(&mut self) -> Outcome {
        // SAFETY: nobody reads the bytes.
        drop(unsafe { self.stream.alloc::<u8>(1 << 20) }?);
        Ok(())
    }

    fn allocate_plain(&mut self) -> Outcome {
        // SAFETY: nothing but the free uses it.
        let address = unsafe { cudarc::driver::result::malloc_sync(1 << 20) }?;
        // SAFETY: nothing uses it.
        Ok(unsafe { cudarc::driver::result::free_sync(address) }?)
    }

    fn wait(&mut self) -> Outcome {
        Ok(self.stream.synchronize()?)
    }
}

/// Times `work` of each way in turn, round by round, and prints what is more than the first way takes.
fn compare(
    title: &str,
    rounds: usize,
    ways: &mut [(&str, Box<dyn Way>)],
    mut work: impl FnMut(&mut dyn Way) -> Outcome<f64>,
) -> Outcome {
    let mut times: Vec<Vec<f64>> = ways.iter().map(|_| Vec::with_capacity(rounds)).collect();
    for round in 0..=rounds {
        for ((_, way), times) in ways.iter_mut().zip(&mut times) {
            let time = work(way.as_mut())?;
            // The first round only warms up.
            if round > 0 {
                times.push(time);
            }
        }
    }
    println!("{title}, {rounds} rounds");
    let mut first = None;
    for ((name, _), times) in ways.iter().zip(&mut times) {
        times.sort_unstable_by(f64::total_cmp);
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(0.0);
        let (least, median) = (at(0), at(50));
        let (raw_least, raw) = *first.get_or_insert((least, median));
        println!(
            "  {name:10} {:12.3} us ({:.3} to {:.3}), {:+.1} ns, {:.3} of raw; least {:.3} us, {:+.1} ns",
            median * 1e6,
            at(10) * 1e6,
            at(90) * 1e6,
            (median - raw) * 1e9,
            median / raw,
            least * 1e6,
            (least - raw_least) * 1e9,
        );
    }
    Ok(())
}

/// Returns the seconds that one of a batch takes, without the wait behind it.
fn host_time(way: &mut dyn Way, each: fn(&mut dyn Way) -> Outcome) -> Outcome<f64> {
    let start = Instant::now();
    for _ in 0..BATCH {
        each(way)?;
    }
    let time = start.elapsed().as_secs_f64() / f64::from(BATCH);
    way.wait()?;
    Ok(time)
}

/// Returns the seconds until one is done.
fn whole_time(way: &mut dyn Way, one: fn(&mut dyn Way) -> Outcome) -> Outcome<f64> {
    let start = Instant::now();
    one(way)?;
    way.wait()?;
    Ok(start.elapsed().as_secs_f64())
}

fn main() -> Outcome {
    let context: Context = Device::get(0)?.context()?;
    let of_cudarc = CudaContext::new(0)?;
    let ways = |bytes: usize| -> Outcome<[(&'static str, Box<dyn Way>); 3]> {
        Ok([
            ("raw", Box::new(Raw::new(bytes)?)),
            ("cuda-safe", Box::new(Checked::new(&context, bytes)?)),
            ("cudarc", Box::new(Cudarc::new(&of_cudarc, bytes)?)),
        ])
    };
    let mut small = ways(4096)?;
    let to_device: fn(&mut dyn Way) -> Outcome = |way| way.to_device();
    let to_host: fn(&mut dyn Way) -> Outcome = |way| way.to_host();
    compare("4 KiB to the device, host time of one", 2_000, &mut small, |way| {
        host_time(way, to_device)
    })?;
    compare("4 KiB to the host, host time of one", 2_000, &mut small, |way| {
        host_time(way, to_host)
    })?;
    compare("1 MiB allocated and freed, host time", 2_000, &mut small, |way| {
        host_time(way, |way| way.allocate())
    })?;
    compare("1 MiB allocated and freed, none kept, host time", 2_000, &mut small, |way| {
        host_time(way, |way| way.allocate_anew())
    })?;
    compare("1 MiB of plain memory allocated and freed, host time", 200, &mut small, |way| {
        host_time(way, |way| way.allocate_plain())
    })?;
    drop(small);
    let mut large = ways(256 << 20)?;
    compare("256 MiB to the device", 60, &mut large, |way| whole_time(way, to_device))?;
    compare("256 MiB to the host", 60, &mut large, |way| whole_time(way, to_host))
}
