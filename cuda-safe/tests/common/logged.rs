//! A context with a stream, a simulator that puts work off and keeps a log, and a look at that log.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use cuda_safe::{Context, Device, Stream};
use cuda_sim::{Config, Scheduler, is_on_device};

pub(crate) fn lazy() -> Config {
    let config = Config::new().scheduler(Scheduler::Lazy);
    // Only the simulator keeps a log, and asking for one keeps a test off a device.
    if is_on_device() { config } else { config.log(true) }
}

pub(crate) fn context() -> (Context, Stream) {
    let context = Device::get(0).unwrap().context().unwrap();
    let stream = Stream::new(&context).unwrap();
    (context, stream)
}

/// Fails unless a function was called so often, as far as the log tells.
pub(crate) fn expect_calls(function: &str, expected: usize) {
    if !is_on_device() {
        let calls = cuda_sim::calls();
        let calls = calls.iter().filter(|call| call.function == function);
        assert_eq!(calls.count(), expected, "{function}");
    }
}
