//! An image in padded device memory goes from one process to another.
//!
//! The producer makes an image of 576 × 768 pixels of 3 bytes, in rows of 2560 bytes, and shares
//! it. The consumer, a second process, opens it, removes the padding on the device, compares it
//! with what it should be, and writes a PNG.
//!
//! ```console
//! $ cargo run -p cuda-ipc --example share_image
//! $ cargo run -p cuda-ipc --example share_image -- --simulate --output image.png
//! ```
//!
//! It runs on the simulator if there is no GPU, or if it is asked to, and says so. On a GPU
//! `--run 'python3 cuda-ipc/examples/open_with_torch.py'` opens the image in a program of your own
//! too: it is given the descriptor in hexadecimal digits while the image is shared.

use std::error::Error;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use cuda_ipc::lease::Orphans;
use cuda_ipc::{Descriptor, Exporter, Importer};
use cuda_safe::layout::{Order, StridedLayout};
use cuda_safe::sys::LoadError;
use cuda_safe::{Cause, Context, Device, DeviceBuffer, PinnedBuffer, Stream, ViewMut, copy};

const HEIGHT: usize = 576;
const WIDTH: usize = 768;
const ROW: usize = 3 * WIDTH;
const SHAPE: [i64; 3] = [576, 768, 3];

/// Nothing here waits longer.
const PATIENCE: Duration = Duration::from_secs(20);

type Answer<T = ()> = Result<T, Box<dyn Error>>;

/// Is what the command line says.
struct Arguments {
    simulate: bool,
    output: PathBuf,
    /// A program, and its first arguments, that is given the descriptor.
    run: Option<String>,
    /// Socket and descriptor, in the second process.
    consumer: Option<(PathBuf, String)>,
}

fn main() -> ExitCode {
    let run = || {
        let arguments = Arguments::read()?;
        let name = if arguments.consumer.is_some() { "consumer" } else { "producer" };
        let role = Role { name };
        match role.choose_driver(&arguments)? {
            Choice::Made { simulated } => {
                role.play(&arguments, simulated).map(|()| ExitCode::SUCCESS)
            }
            Choice::Again(code) => Ok(code),
        }
    };
    run().unwrap_or_else(|error: Box<dyn Error>| {
        // Nobody may be there to read it.
        let _ = writeln!(io::stderr(), "share_image: {error}");
        ExitCode::FAILURE
    })
}

impl Arguments {
    fn read() -> Answer<Self> {
        let output = std::env::temp_dir().join("share_image.png");
        let mut arguments = Self { simulate: false, output, run: None, consumer: None };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut next = || words.next().ok_or("an argument is missing");
            match word.as_str() {
                "--simulate" => arguments.simulate = true,
                "--output" => arguments.output = next()?.into(),
                "--run" => arguments.run = Some(next()?),
                "--consumer" => arguments.consumer = Some((next()?.into(), next()?)),
                other => {
                    let known = "--simulate, --output FILE and --run PROGRAM are known";
                    return Err(format!("{other}: {known}").into());
                }
            }
        }
        Ok(arguments)
    }

    /// Returns the command that starts this program again.
    fn again(&self, simulate: bool) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--output").arg(&self.output);
        if simulate {
            command.arg("--simulate");
        }
        Ok(command)
    }
}

/// Says which driver is used.
enum Choice {
    /// This process has one.
    Made {
        /// Tells whether it is the simulator.
        simulated: bool,
    },
    /// Another process had to be started, and ended so.
    Again(ExitCode),
}

/// Is what this process does.
struct Role {
    name: &'static str,
}

impl Role {
    /// Says what is done.
    fn say(&self, step: impl Display) {
        // Whoever reads may stop reading.
        let _ = writeln!(io::stdout(), "{} {:>7}  {step}", self.name, std::process::id());
    }

    /// Uses the driver of the machine, or the simulator, and says which.
    fn choose_driver(&self, arguments: &Arguments) -> Answer<Choice> {
        let why = if arguments.simulate {
            "it was asked to"
        } else {
            match Device::count() {
                Ok(1..) => {
                    self.say(format_args!("runs on {}", Device::get(0)?.name()?));
                    return Ok(Choice::Made { simulated: false });
                }
                Err(error) if is_absence(&error) => "there is no driver",
                // A driver that was named or found and does not work is not passed over.
                Err(error) if matches!(error.cause, Cause::Load(_)) => return Err(error.into()),
                Ok(0) | Err(_) => {
                    // A process keeps the driver that it has begun with.
                    self.say("found a driver and no device: starts again on the simulator");
                    let mut again = arguments.again(true)?;
                    if let Some(program) = &arguments.run {
                        again.args(["--run", program]);
                    }
                    let status = again.status()?;
                    let code = if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
                    return Ok(Choice::Again(code));
                }
            }
        };
        cuda_sim::install(cuda_sim::Config::new())?;
        self.say(format_args!("runs on the simulator: {why}"));
        Ok(Choice::Made { simulated: true })
    }

    fn play(&self, arguments: &Arguments, simulated: bool) -> Answer {
        let context = Device::get(0)?.context()?;
        let stream = Stream::new(&context)?;
        match &arguments.consumer {
            None => self.produce(&context, &stream, arguments, simulated),
            Some((socket, descriptor)) => {
                let descriptor = Descriptor::decode(&from_hex(descriptor)?)?;
                self.consume(&context, &stream, socket, &descriptor, &arguments.output)
            }
        }
    }

    fn produce(
        &self,
        context: &Context,
        stream: &Stream,
        arguments: &Arguments,
        simulated: bool,
    ) -> Answer {
        let mut image = DeviceBuffer::<u8>::allocate_pitched(context, ROW, HEIGHT)?;
        let pitch = image.pitch();
        self.say(format_args!("has {HEIGHT} rows of {ROW} bytes, {pitch} bytes apart"));
        let pixels = PinnedBuffer::from_slice(context, &picture())?;
        let rows = StridedLayout::dense(&[576, 2304], 1, Order::C)?;
        let plan = copy(&pixels.view()?.with_layout(rows)?, &mut image.view_mut()?, stream)?;
        self.say(format_args!("fills them: {plan}"));

        let folder = tempfile::tempdir()?;
        let socket = folder.path().join("socket");
        let exporter = Exporter::bind(&socket, Orphans::default())?;
        let layout = StridedLayout::from_byte_strides(&SHAPE, &[i64::try_from(pitch)?, 3, 1], 1)?;
        let published = exporter.share(Arc::new(image), layout, PATIENCE)?;
        let descriptor = published.descriptor().encode();
        self.say(format_args!("shares the image: a descriptor of {} bytes", descriptor.len()));

        let hex = to_hex(&descriptor);
        let mut consumer = arguments.again(simulated)?;
        let mut consumer = consumer.arg("--consumer").arg(&socket).arg(&hex).spawn()?;
        published.announce_after(stream, 1, PATIENCE)?;
        self.say("says that the image is there");
        let other = arguments.run.as_ref().map(|program| self.run(program, &hex)).transpose()?;

        let succeeded = consumer.wait()?.success() && other.unwrap_or(true);
        // It has released the lease, or has ended without: both end it.
        let image = published.withdraw(PATIENCE)?;
        self.say(format_args!("has its {} bytes back", image.allocation().len()));
        if succeeded { Ok(()) } else { Err("a consumer failed".into()) }
    }

    /// Runs a program that is given the descriptor; tells whether it succeeded.
    fn run(&self, program: &str, descriptor: &str) -> Answer<bool> {
        self.say(format_args!("runs {program}"));
        let mut words = program.split_whitespace();
        let mut command = Command::new(words.next().ok_or("--run names no program")?);
        Ok(command.args(words).arg(descriptor).status()?.success())
    }

    fn consume(
        &self,
        context: &Context,
        stream: &Stream,
        socket: &Path,
        descriptor: &Descriptor,
        output: &Path,
    ) -> Answer {
        let importer = Importer::connect(socket, PATIENCE)?;
        let imported = importer.import(descriptor, context, PATIENCE)?;
        let (dtype, layout) = (descriptor.dtype(), descriptor.layout());
        self.say(format_args!("opened {dtype} {layout} of process {}", importer.exporter().pid));
        imported.lease().wait_announced(1, PATIENCE)?;
        self.say("heard that the image is there");

        let mut dense = DeviceBuffer::<u8>::allocate(context, HEIGHT * ROW)?;
        let to = layout.to_dense(Order::C)?;
        let plan = copy(&imported.view::<u8>()?, &mut ViewMut::new(&mut dense, to)?, stream)?;
        self.say(format_args!("removes the padding on the device: {plan}"));

        let mut pixels = PinnedBuffer::<u8>::zeroed(context, HEIGHT * ROW)?;
        copy(&dense.view()?, &mut pixels.view_mut()?, stream)?;
        let pixels = pixels.as_slice()?;
        imported.close(PATIENCE)?;
        self.say("closed it, and released the lease");
        if pixels != picture() {
            return Err("the pixels are not those that were shared".into());
        }
        self.say(format_args!("compared {} bytes: they are the same", pixels.len()));
        write_png(output, pixels)?;
        self.say(format_args!("wrote {}", output.display()));
        Ok(())
    }
}

/// Tells whether an error says that this machine has no driver.
fn is_absence(error: &cuda_safe::Error) -> bool {
    let Cause::Load(load) = &error.cause else { return false };
    matches!(**load, LoadError::NotFound { .. } | LoadError::Stub { .. })
}

/// Computes the pixels: rings around the middle, red from the left, blue from the top.
fn picture() -> Vec<u8> {
    let pixel = |(row, column): (usize, usize)| {
        let (x, y) = (column.abs_diff(WIDTH / 2), row.abs_diff(HEIGHT / 2));
        let ring = (x * x + y * y) / 64 % 256;
        [255 * column / WIDTH, ring, 255 * row / HEIGHT]
    };
    (0..HEIGHT)
        .flat_map(|row| (0..WIDTH).map(move |column| (row, column)))
        .flat_map(pixel)
        .map(|level| u8::try_from(level).unwrap_or(u8::MAX))
        .collect()
}

fn write_png(path: &Path, pixels: &[u8]) -> Answer {
    let size = |length: usize| u32::try_from(length);
    let mut encoder =
        png::Encoder::new(BufWriter::new(File::create(path)?), size(WIDTH)?, size(HEIGHT)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    Ok(writer.finish()?)
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Answer<Vec<u8>> {
    let pair = |pair: &[u8]| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?);
    text.as_bytes().chunks(2).map(pair).collect()
}
