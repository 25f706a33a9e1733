//! Waiting on the host for something that can only be asked.

use std::time::{Duration, Instant};

use crate::error::Result;

/// Asks until the answer is yes or `limit` has passed: often at first, then seldom.
pub(crate) fn poll(limit: Duration, mut ask: impl FnMut() -> Result<bool>) -> Result<bool> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(1);
    loop {
        if ask()? {
            return Ok(true);
        }
        let Some(left) = limit.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else {
            return Ok(false);
        };
        if pause < Duration::from_micros(50) {
            std::thread::yield_now();
        } else {
            std::thread::sleep(pause.min(left));
        }
        pause = (2 * pause).min(Duration::from_millis(1));
    }
}
