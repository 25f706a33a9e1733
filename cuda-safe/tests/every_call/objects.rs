//! What the calls are made with, and what they answered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::mem::MaybeUninit;

use cuda_safe::shim::{
    Adopted, Allocation, Device as OnDevice, Kind, Memory, Output, Plain, Region, Steady,
};
use cuda_safe::{Cause, Context, Device, DeviceBuffer, Error, Event, PinnedBuffer, Stream};

pub(crate) struct Objects {
    pub(crate) device: cuda_sys::CUdevice,
    pub(crate) context: Context,
    pub(crate) stream: Stream,
    pub(crate) event: Event,
    pub(crate) source: DeviceBuffer<u8>,
    pub(crate) target: DeviceBuffer<u8>,
    pub(crate) pinned: PinnedBuffer<u8>,
    pub(crate) shared: Shared,
}

impl Objects {
    pub(crate) fn new() -> Self {
        let device = Device::get(0).unwrap();
        let context = device.context().unwrap();
        let stream = Stream::new(&context).unwrap();
        let event = Event::new(&context).unwrap();
        event.record(&stream).unwrap();
        Self {
            device: cuda_sys::CUdevice(0),
            stream,
            event,
            source: DeviceBuffer::allocate(&context, 64).unwrap(),
            target: DeviceBuffer::allocate(&context, 64).unwrap(),
            pinned: PinnedBuffer::from_slice(&context, &[0; 64]).unwrap(),
            shared: Shared { context: context.clone(), allocation: Allocation::new(64) },
            context,
        }
    }
}

/// Is memory of a shared pool, as its describer says.
pub(crate) struct Shared {
    context: Context,
    allocation: Allocation,
}

// SAFETY: only its address is passed, and that names nothing.
unsafe impl Memory for Shared {
    fn region(&self) -> Region<'_> {
        let region = Region::new(4096, 64, Kind::SharedPool);
        region.with_home(&self.context).within(&self.allocation, 0)
    }
}
// SAFETY: as above.
unsafe impl Steady for Shared {}
// SAFETY: as above.
unsafe impl OnDevice for Shared {}

/// Makes a handle that names nothing.
pub(crate) fn nothing<R: Copy>(context: &Context) -> Adopted<R> {
    // SAFETY: the simulator refuses it.
    unsafe { Adopted::new(nil(), Some(context)) }
}

/// Makes a raw argument that names nothing: null, or 0.
pub(crate) fn nil<T>() -> T {
    // SAFETY: raw arguments are pointers, numbers, handles and optional functions.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Makes a plain value.
pub(crate) fn zero<T: Plain>() -> T {
    // SAFETY: plain values are numbers, enums and records of those.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Makes room for what the driver writes.
pub(crate) fn empty<T: Output>() -> T {
    // SAFETY: zero bytes are a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Counts answers.
#[derive(Default)]
pub(crate) struct Tally {
    answers: BTreeMap<&'static str, Result<(), Error>>,
}

impl Tally {
    pub(crate) fn note(&mut self, symbol: &'static str, answer: Result<(), Error>) {
        self.answers.insert(symbol, answer);
    }

    pub(crate) fn symbols(&self) -> BTreeSet<&'static str> {
        self.answers.keys().copied().collect()
    }

    /// Returns what did not come as far as the driver.
    pub(crate) fn refused(&self) -> Vec<String> {
        let refused = self.answers.values().filter_map(|answer| answer.as_ref().err());
        let refused = refused.filter(|error| error.code().is_none());
        refused
            .filter(|error| !matches!(error.cause, Cause::Missing(_)))
            .map(Error::to_string)
            .collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (symbol, answer) in &self.answers {
            let kind = match answer {
                Ok(()) => "success".to_owned(),
                Err(error) => match (error.code(), &error.cause) {
                    (Some(code), _) => format!("driver answered {}", code.0),
                    (None, Cause::Missing(_)) => "missing in the driver".to_owned(),
                    (None, _) => "refused".to_owned(),
                },
            };
            counts.entry(kind).or_default().push(symbol);
        }
        writeln!(f, "{} calls", self.answers.len())?;
        for (kind, symbols) in counts {
            writeln!(f, "{:4} {kind}: {}", symbols.len(), symbols.join(" "))?;
        }
        Ok(())
    }
}
