//! What the tests share.

use std::sync::mpsc::{Sender, channel};

use cuda_safe::{DeviceBuffer, Element, PinnedBuffer, Stream, call};
use cuda_sim::Call;

#[path = "../common/logged.rs"]
#[expect(dead_code, reason = "rows look at the calls themselves, by `calls`")]
mod logged;

pub(crate) use logged::{context, lazy};

/// Returns the calls of a function so far, of which there are none on a device.
pub(crate) fn calls(function: &str) -> Vec<Call> {
    cuda_sim::calls().into_iter().filter(|call| call.function == function).collect()
}

/// Returns an argument of a call, as the log has it.
pub(crate) fn argument<'a>(call: &'a Call, name: &str) -> &'a str {
    let arguments = call.arguments.split(", ");
    let mut values = arguments.filter_map(|it| it.strip_prefix(name)?.strip_prefix('='));
    values.next().unwrap()
}

/// Holds a stream up, until something is sent or the sender is dropped.
pub(crate) fn hold_up(stream: &Stream) -> Sender<()> {
    let (sender, receiver) = channel();
    stream.call(move || receiver.recv().unwrap_or(())).unwrap();
    sender
}

/// Returns what is in a buffer, by a copy on a stream.
pub(crate) fn read<T: Element>(buffer: &DeviceBuffer<T>, stream: &Stream) -> Vec<T> {
    let mut home = PinnedBuffer::<T>::uninitialized(buffer.context(), buffer.len()).unwrap();
    call::memcpy_dtoh_async(&mut home, buffer, stream).unwrap();
    home.as_slice().unwrap().to_vec()
}
