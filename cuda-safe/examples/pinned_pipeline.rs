//! A pipeline over page-locked memory: chunks go to the device, through a kernel and back, on one
//! stream and then on three, whose copies and kernels overlap.
//!
//! No line of it waits between steps: each stream does its own in order, and what streams share is
//! ordered by the records of the buffers. `cargo run --release -p cuda-safe --example pinned_pipeline`
//! runs on the first device of the machine; with `-- --simulated` it runs without one, where times
//! mean nothing.
#![expect(clippy::print_stdout, reason = "a program that prints a report")]
#![expect(unsafe_code, reason = "runs a kernel")]

use std::error::Error;
use std::ffi::CStr;
use std::time::{Duration, Instant};

use cuda_safe::layout::s;
use cuda_safe::{
    Context, Device, DeviceBuffer, Function, LaunchShape, Module, PinnedBuffer, Stream, copy, inout,
};

/// Squares each of `n` numbers.
const PTX: &CStr = cr"
    .version 7.0
    .target sm_70
    .address_size 64

    .visible .entry square(.param .u64 values, .param .u32 n)
    {
        .reg .pred %past;
        .reg .b32 %index, %block, %size, %thread, %n;
        .reg .b64 %values, %offset;
        .reg .f32 %value;

        mov.u32 %block, %ctaid.x;
        mov.u32 %size, %ntid.x;
        mov.u32 %thread, %tid.x;
        mad.lo.u32 %index, %block, %size, %thread;
        ld.param.u32 %n, [n];
        setp.ge.u32 %past, %index, %n;
        @%past ret;

        ld.param.u64 %values, [values];
        mul.wide.u32 %offset, %index, 4;
        add.u64 %values, %values, %offset;
        ld.f32 %value, [%values];
        mul.f32 %value, %value, %value;
        st.f32 [%values], %value;
        ret;
    }
";

const CHUNKS: u16 = 24;

/// Is what both runs work on.
struct Work {
    context: Context,
    square: Function,
    /// Elements of a chunk.
    chunk: u32,
    source: PinnedBuffer<f32>,
    answer: PinnedBuffer<f32>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let simulated = std::env::args().any(|argument| argument == "--simulated");
    if simulated {
        simulate()?;
    }
    let device = Device::get(0)?;
    println!("on {}", device.name()?);
    let context = device.context()?;
    let chunk: u16 = if simulated { 1 << 10 } else { 1 << 15 };
    let repeat = if simulated { 1 } else { 64 };
    let numbers: Vec<f32> = (0..chunk).map(f32::from).collect();
    let numbers = numbers.repeat(repeat * usize::from(CHUNKS));
    let mut work = Work {
        square: Module::from_ptx(&context, PTX)?.function(c"square")?,
        chunk: u32::from(chunk) * u32::try_from(repeat)?,
        source: PinnedBuffer::from_slice(&context, &numbers)?,
        answer: PinnedBuffer::zeroed(&context, numbers.len())?,
        context,
    };
    for streams in [1, 1, 3] {
        let time = run(&mut work, streams)?;
        let pairs = numbers.iter().zip(work.answer.as_slice()?);
        let wrong = pairs.filter(|(number, answer)| *number * *number != **answer).count();
        println!("{streams} stream(s): {time:?}, {wrong} wrong elements");
        work.answer.as_mut_slice()?.fill(0.0);
    }
    Ok(())
}

/// Sends every chunk through the device, on so many streams in turn, and returns how long it took.
fn run(work: &mut Work, streams: usize) -> Result<Duration, Box<dyn Error>> {
    let len = usize::try_from(work.chunk)?;
    // A stream has a buffer of its own, which its chunks use one after the other.
    let mut lanes = Vec::new();
    for _ in 0..streams {
        let buffer = DeviceBuffer::<f32>::allocate(&work.context, len)?;
        lanes.push((Stream::new(&work.context)?, buffer));
    }
    let source = work.source.view()?;
    let answers = work.answer.view_mut()?.chunks(0, work.chunk.into())?;
    let mut next = 0;
    let start = Instant::now();
    for (index, mut answer) in answers.enumerate() {
        let Some((stream, buffer)) = lanes.get_mut(index % streams) else { continue };
        let end = next + i64::from(work.chunk);
        copy(&source.slice(&s![next..end])?, &mut buffer.view_mut()?, stream)?;
        let shape = LaunchShape::covering(work.chunk, 256);
        // SAFETY: the kernel reads and writes as many elements as the buffer has, and any bits are a
        // number.
        unsafe { work.square.launch(shape, stream, (inout(buffer), work.chunk)) }?;
        copy(&buffer.view()?, &mut answer, stream)?;
        next = end;
    }
    for (stream, _) in &lanes {
        stream.synchronize()?;
    }
    Ok(start.elapsed())
}

/// Has a simulated driver take the place of a real one.
fn simulate() -> Result<(), Box<dyn Error>> {
    cuda_sim::kernel::register("square", |launch| {
        let (values, n) = (launch.pointer(0)?, launch.parameter::<u32>(1)?);
        launch.for_each_thread(|launch, thread| {
            let [index, ..] = thread.global();
            if index < n.into() {
                let value = launch.read::<f32>(values, index)?;
                launch.write(values, index, value * value)?;
            }
            Ok(())
        })
    });
    cuda_sim::install(cuda_sim::Config::new())?;
    println!("simulated: no device is used");
    Ok(())
}
