//! `y = a·x + y` on a device: load PTX, copy, launch, copy back, and say how long the kernel took.
//!
//! `cargo run -p cuda-safe --example saxpy` runs on the first device of the machine. With
//! `-- --simulated` it runs without one: there the kernel is the Rust function that is registered for
//! its name.
#![expect(clippy::print_stdout, reason = "a program that prints a report")]
#![expect(unsafe_code, reason = "runs a kernel")]

use std::error::Error;
use std::ffi::CStr;

use cuda_safe::{
    Device, DeviceBuffer, LaunchShape, Module, PinnedBuffer, Stream, TimedEvent, call, inout, input,
};

/// The kernel. `ld` and `st` without a space work on every address.
const PTX: &CStr = cr"
    .version 7.0
    .target sm_70
    .address_size 64

    .visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
    {
        .reg .pred %past;
        .reg .b32 %index, %block, %size, %thread, %n;
        .reg .b64 %x, %y, %offset;
        .reg .f32 %a, %left, %right;

        mov.u32 %block, %ctaid.x;
        mov.u32 %size, %ntid.x;
        mov.u32 %thread, %tid.x;
        mad.lo.u32 %index, %block, %size, %thread;
        ld.param.u32 %n, [n];
        setp.ge.u32 %past, %index, %n;
        @%past ret;

        ld.param.f32 %a, [a];
        ld.param.u64 %x, [x];
        ld.param.u64 %y, [y];
        mul.wide.u32 %offset, %index, 4;
        add.u64 %x, %x, %offset;
        add.u64 %y, %y, %offset;
        ld.f32 %left, [%x];
        ld.f32 %right, [%y];
        fma.rn.f32 %right, %a, %left, %right;
        st.f32 [%y], %right;
        ret;
    }
";

const COUNT: u16 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().any(|argument| argument == "--simulated") {
        simulate()?;
    }
    let device = Device::get(0)?;
    println!("on {}", device.name()?);
    let context = device.context()?;
    let stream = Stream::new(&context)?;
    let saxpy = Module::from_ptx(&context, PTX)?.function(c"saxpy")?;

    let count = usize::from(COUNT);
    let values: Vec<f32> = (0..COUNT).map(f32::from).collect();
    let source = PinnedBuffer::from_slice(&context, &values)?;
    let mut answer = PinnedBuffer::from_slice(&context, &vec![1.0_f32; count])?;
    let mut x = DeviceBuffer::<f32>::allocate(&context, count)?;
    let mut y = DeviceBuffer::<f32>::allocate(&context, count)?;
    call::memcpy_htod_async(&mut x, &source, &stream)?;
    call::memcpy_htod_async(&mut y, &answer, &stream)?;

    let (start, end) = (TimedEvent::new(&context)?, TimedEvent::new(&context)?);
    let shape = LaunchShape::covering(COUNT.into(), 256);
    let arguments = (2.0_f32, input(&x), inout(&mut y), u32::from(COUNT));
    start.record(&stream)?;
    // SAFETY: the kernel reads and writes the first `COUNT` of as many elements, and any bits are a
    // number.
    unsafe { saxpy.launch(shape, &stream, arguments) }?;
    end.record(&stream)?;
    call::memcpy_dtoh_async(&mut answer, &y, &stream)?;

    // Waits for the copy, and so for all before it.
    let answer = answer.as_slice()?;
    let wrong = values.iter().zip(answer).filter(|(x, y)| 2.0_f32.mul_add(**x, 1.0) != **y);
    println!("{} of {count} elements are wrong", wrong.count());
    if let Some(time) = end.milliseconds_since(&start)? {
        println!("the kernel took {time:.4} ms");
    }
    Ok(())
}

/// Has a simulated driver take the place of a real one.
fn simulate() -> Result<(), Box<dyn Error>> {
    cuda_sim::kernel::register("saxpy", |launch| {
        let (a, n) = (launch.parameter::<f32>(0)?, launch.parameter::<u32>(3)?);
        let (x, y) = (launch.pointer(1)?, launch.pointer(2)?);
        launch.for_each_thread(|launch, thread| {
            let [index, ..] = thread.global();
            if index < n.into() {
                let (left, right) = (launch.read::<f32>(x, index)?, launch.read::<f32>(y, index)?);
                launch.write(y, index, a.mul_add(left, right))?;
            }
            Ok(())
        })
    });
    cuda_sim::install(cuda_sim::Config::new())?;
    println!("simulated: no device is used");
    Ok(())
}
