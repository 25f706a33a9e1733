//! How fast host memory of each kind goes to the device and back, in sizes from 64 KiB on.
//!
//! | column | is |
//! |---|---|
//! | pinned | page-locked memory, copied by the driver |
//! | mapped | the same, reached by a kernel through the device's address of it |
//! | pageable | a vector, copied by the driver |
//! | write-combined | page-locked memory that is not cached, copied by the driver |
//!
//! A figure is the median of many copies, each timed on the host from the call until it is done.
//! `cargo run --release -p cuda-safe --example bandwidth` runs on the first device of the machine. It
//! runs on the simulator if there is none, or with `-- --simulated`, and says so: there figures say
//! how fast the simulator is.
#![expect(clippy::print_stdout, reason = "a program that prints a report")]
#![expect(unsafe_code, reason = "runs a kernel")]

use std::error::Error;
use std::ffi::CStr;
use std::fmt::{self, Display};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use cuda_safe::sys::LoadError;
use cuda_safe::{
    Cause, Context, Device, DeviceBuffer, Function, LaunchShape, Module, OnDevice, PinnedBuffer,
    Slice, SliceMut, Stream, View, ViewMut, WriteCombinedBuffer, copy, input, output,
};

/// Copies `count` times 16 bytes. `ld` and `st` without a space work on every address.
const PTX: &CStr = cr"
    .version 7.0
    .target sm_70
    .address_size 64

    .visible .entry transfer(.param .u64 from, .param .u64 to, .param .u32 count)
    {
        .reg .pred %past;
        .reg .b32 %index, %block, %size, %thread, %count, %a, %b, %c, %d;
        .reg .b64 %from, %to, %offset;

        mov.u32 %block, %ctaid.x;
        mov.u32 %size, %ntid.x;
        mov.u32 %thread, %tid.x;
        mad.lo.u32 %index, %block, %size, %thread;
        ld.param.u32 %count, [count];
        setp.ge.u32 %past, %index, %count;
        @%past ret;

        ld.param.u64 %from, [from];
        ld.param.u64 %to, [to];
        mul.wide.u32 %offset, %index, 16;
        add.u64 %from, %from, %offset;
        add.u64 %to, %to, %offset;
        ld.v4.u32 {%a, %b, %c, %d}, [%from];
        st.v4.u32 [%to], {%a, %b, %c, %d};
        ret;
    }
";

type Answer<T = ()> = Result<T, Box<dyn Error>>;

/// Is 16 bytes: what a thread of the kernel copies.
type Block = [u32; 4];

fn main() -> ExitCode {
    let asked = std::env::args().any(|argument| argument == "--simulated");
    let run = || {
        let (sizes, times): (&[usize], usize) = match choose_driver(asked)? {
            Choice::Device => (&[64 << 10, 1 << 20, 16 << 20, 256 << 20], 51),
            Choice::Simulator => (&[64 << 10, 1 << 20, 4 << 20], 5),
            Choice::Again(code) => return Ok(code),
        };
        let context = Device::get(0)?.context()?;
        println!("\n{}", measure(&context, sizes, times)?);
        Ok(ExitCode::SUCCESS)
    };
    run().unwrap_or_else(|error: Box<dyn Error>| {
        println!("bandwidth: {error}");
        ExitCode::FAILURE
    })
}

/// Says which driver is used.
enum Choice {
    /// The machine's.
    Device,
    /// The simulator.
    Simulator,
    /// Another process had to be started, since one keeps the driver that it has begun with; it has
    /// ended so.
    Again(ExitCode),
}

/// Uses the driver of the machine, or the simulator, and says which.
fn choose_driver(asked: bool) -> Answer<Choice> {
    let why = match if asked { Ok(0) } else { Device::count() } {
        Ok(1..) => {
            println!("on {}", Device::get(0)?.name()?);
            return Ok(Choice::Device);
        }
        Ok(0) if asked => "it was asked to",
        Err(error) if is_absence(&error) => "there is no driver",
        // A driver that was named or found and does not work is not passed over.
        Err(error) if matches!(error.cause, Cause::Load(_)) => return Err(error.into()),
        Ok(0) | Err(_) => {
            println!("found a driver and no device: starts again on the simulator");
            let status = Command::new(std::env::current_exe()?).arg("--simulated").status()?;
            let code = if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            return Ok(Choice::Again(code));
        }
    };
    cuda_sim::install(cuda_sim::Config::new())?;
    println!("runs on the simulator: {why}");
    Ok(Choice::Simulator)
}

fn is_absence(error: &cuda_safe::Error) -> bool {
    let Cause::Load(load) = &error.cause else { return false };
    matches!(**load, LoadError::NotFound { .. } | LoadError::Stub { .. })
}

/// Says what the kernel does where no device runs it.
pub(crate) fn register() {
    cuda_sim::kernel::register("transfer", |launch| {
        let (from, to) = (launch.pointer(0)?, launch.pointer(1)?);
        let mut blocks =
            vec![[0_u32; 4]; usize::try_from(launch.parameter::<u32>(2)?).unwrap_or(0)];
        launch.read_slice(from, 0, &mut blocks)?;
        launch.write_slice(to, 0, &blocks)
    });
}

/// Is the names of the columns, those to the device first.
const COLUMNS: [&str; 7] =
    ["pinned", "mapped", "pageable", "write-combined", "pinned", "mapped", "pageable"];
/// How many of the columns are to the device.
const TO_DEVICE: usize = 4;

/// Is the figures: of each size one a column.
pub(crate) struct Table {
    /// Each size in bytes, and its figures in GB/s.
    pub(crate) rows: Vec<(usize, [f64; COLUMNS.len()])>,
}

/// Measures all sizes, each so many times.
pub(crate) fn measure(context: &Context, sizes: &[usize], times: usize) -> Answer<Table> {
    register();
    let transfer = Module::from_ptx(context, PTX)?.function(c"transfer")?;
    let bench = Bench { stream: Stream::new(context)?, transfer, context, times };
    let rows = sizes.iter().map(|bytes| Ok((*bytes, bench.row(*bytes / size_of::<Block>())?)));
    Ok(Table { rows: rows.collect::<Answer<_>>()? })
}

/// Is what every measurement needs.
struct Bench<'a> {
    context: &'a Context,
    stream: Stream,
    transfer: Function,
    times: usize,
}

impl Bench<'_> {
    /// Measures one size: so many blocks of 16 bytes.
    fn row(&self, count: usize) -> Answer<[f64; COLUMNS.len()]> {
        let (context, stream) = (self.context, &self.stream);
        let blocks: Vec<Block> = (0..).map(|number| [number, !number, 0, 1]).take(count).collect();
        let mut there = DeviceBuffer::<Block>::allocate(context, count)?;
        let source = PinnedBuffer::from_slice(context, &blocks)?;
        let combined = WriteCombinedBuffer::from_slice(context, &blocks)?;
        let mut answer = PinnedBuffer::<Block>::zeroed(context, count)?;
        let mut vector = vec![[0_u32; 4]; count];
        let line = source.view()?.layout().clone();

        let to = [
            self.time(count, || copied(&source.view()?, &mut there.view_mut()?, stream))?,
            self.time(count, || self.run(&source.on_device(context)?, &mut there.as_part_mut()?))?,
            self.time(count, || {
                copied(&View::of_slice(&blocks, line.clone())?, &mut there.view_mut()?, stream)
            })?,
            self.time(count, || copied(&combined.view()?, &mut there.view_mut()?, stream))?,
        ];
        let pinned =
            self.time(count, || copied(&there.view()?, &mut answer.view_mut()?, stream))?;
        check(&blocks, answer.as_slice()?)?;
        answer.as_mut_slice()?.fill([0; 4]);
        let mapped =
            self.time(count, || self.run(&there.as_part()?, &mut answer.on_device_mut(context)?))?;
        check(&blocks, answer.as_slice()?)?;
        let pageable = self.time(count, || {
            let mut target = ViewMut::of_mut_slice(&mut vector, line.clone())?;
            copied(&there.view()?, &mut target, stream)
        })?;
        check(&blocks, &vector)?;
        let [a, b, c, d] = to;
        Ok([a, b, c, d, pinned, mapped, pageable])
    }

    /// Has the kernel copy.
    fn run(
        &self,
        from: &Slice<'_, Block, OnDevice>,
        to: &mut SliceMut<'_, Block, OnDevice>,
    ) -> cuda_safe::Result<()> {
        let count = u32::try_from(from.len()).unwrap_or(u32::MAX);
        let shape = LaunchShape::covering(count, 256);
        // SAFETY: the kernel reads and writes as many blocks as both have, and any bits are a block.
        unsafe { self.transfer.launch(shape, &self.stream, (input(from), output(to), count)) }
    }

    /// Times a copy of so many blocks, and returns the median in GB/s.
    fn time(&self, count: usize, mut work: impl FnMut() -> cuda_safe::Result<()>) -> Answer<f64> {
        let mut once = || {
            let start = Instant::now();
            work()?;
            self.stream.synchronize()?;
            Ok::<Duration, cuda_safe::Error>(start.elapsed())
        };
        // The first ones wake everything up.
        for _ in 0..2 {
            once()?;
        }
        let mut times = (0..self.times).map(|_| once()).collect::<Result<Vec<_>, _>>()?;
        times.sort_unstable();
        let median = times.get(times.len() / 2).ok_or("nothing was timed")?;
        let bytes = u32::try_from(count * size_of::<Block>())?;
        Ok(f64::from(bytes) / median.as_secs_f64() / 1e9)
    }
}

fn copied(
    from: &View<'_, Block>,
    to: &mut ViewMut<'_, Block>,
    stream: &Stream,
) -> cuda_safe::Result<()> {
    copy(from, to, stream).map(drop)
}

fn check(need: &[Block], have: &[Block]) -> Answer {
    if need == have { Ok(()) } else { Err("other bytes came back".into()) }
}

impl Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = COLUMNS.map(|name| name.len().max(9) + 2);
        let (to, back) = widths.split_at(TO_DEVICE);
        let [to, back] = [to, back].map(|widths| widths.iter().sum::<usize>());
        writeln!(f, "{:>8}{:>to$}{:>back$}", "", "to the device, GB/s", "to the host, GB/s")?;
        write!(f, "{:>8}", "size")?;
        for (name, width) in COLUMNS.iter().zip(widths) {
            write!(f, "{name:>width$}")?;
        }
        for (bytes, figures) in &self.rows {
            let size = match bytes >> 20 {
                0 => format!("{} KiB", bytes >> 10),
                size => format!("{size} MiB"),
            };
            write!(f, "\n{size:>8}")?;
            for (figure, width) in figures.iter().zip(widths) {
                write!(f, "{figure:>width$.2}")?;
            }
        }
        Ok(())
    }
}
