//! Faults on demand: which call of which function fails with which code, and when memory is out.

use cuda_sys::CUresult;

use crate::config::Failure;
use crate::engine::registry::MemoryKind;
use crate::engine::state::State;
use crate::table::Function;

/// Counts the calls and says which of them fails.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    failures: Vec<Failure>,
    /// Indexed by function.
    counts: Vec<u64>,
    total: u64,
}

impl Faults {
    pub(crate) fn new(failures: Vec<Failure>) -> Self {
        Self { failures, counts: vec![0; Function::COUNT], total: 0 }
    }

    /// Counts a call, and returns how it fails, if it does.
    pub(crate) fn count(&mut self, function: Function) -> Option<&Failure> {
        self.total += 1;
        let mut nth = 0;
        if let Some(count) = self.counts.get_mut(function.index()) {
            *count += 1;
            nth = *count;
        }
        self.failures.iter().find(|failure| match &failure.symbol {
            Some(symbol) => failure.nth == nth && symbol == function.name(),
            None => failure.nth == self.total,
        })
    }

    /// Forgets the calls so far.
    pub(crate) fn restart(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// Returns how many calls there were.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }
}

impl State {
    /// Refuses an allocation that takes a device beyond the bytes at which it is out of memory.
    pub(crate) fn has_room(&self, device: usize, size: u64) -> Result<(), CUresult> {
        let Some(most) = self.config.out_of_memory_at else { return Ok(()) };
        let used = self.registry.bytes(|memory| {
            memory.device == device
                && matches!(
                    memory.kind,
                    MemoryKind::Device
                        | MemoryKind::Pool
                        | MemoryKind::Physical
                        | MemoryKind::Array
                )
        });
        within(used, size, most)
    }

    /// Refuses an allocation that takes the host beyond the bytes at which it is out of memory.
    pub(crate) fn host_has_room(&self, size: u64) -> Result<(), CUresult> {
        let Some(most) = self.config.host_out_of_memory_at else { return Ok(()) };
        within(self.registry.bytes(|memory| memory.kind == MemoryKind::Host), size, most)
    }
}

/// Refuses what takes `used` bytes beyond the most.
fn within(used: u64, size: u64, most: u64) -> Result<(), CUresult> {
    match used.checked_add(size) {
        Some(all) if all <= most => Ok(()),
        _ => Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY),
    }
}
