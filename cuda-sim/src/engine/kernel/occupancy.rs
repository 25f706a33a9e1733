//! How many blocks a multiprocessor holds, by the published limits of compute capability 9.0.

use super::limit::{MOST_SHARED, MOST_THREADS, volume};
use crate::engine::binary::Entry;

/// The multiprocessors of an H200.
pub(crate) const MULTIPROCESSORS: u32 = 132;

/// What one multiprocessor has.
const WARPS: u32 = 64;
const BLOCKS: u32 = 32;
const REGISTERS: u32 = 64 << 10;
const SHARED: usize = 228 << 10;

/// Registers are given to warps in such units, and to a quarter of the warps from a quarter of them.
const REGISTER_UNIT: u32 = 256;
const QUARTERS: u32 = 4;

/// Shared memory is given to blocks in such units, with so much more for the system.
const SHARED_UNIT: usize = 128;
const SHARED_RESERVED: usize = 1 << 10;

/// What a kernel of PTX counts as having that doesn't say how many registers it needs: no compiler
/// chooses them here.
pub(crate) const USUAL_REGISTERS: u32 = 32;

/// Is what a block needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) threads: u32,
    pub(crate) registers: u32,
    pub(crate) shared: usize,
    pub(crate) dynamic_shared: usize,
}

impl Usage {
    /// Returns what a block of a kernel needs, without more shared memory.
    pub(crate) fn of(entry: &Entry, block: [u32; 3]) -> Self {
        let threads = u32::try_from(volume(block)).unwrap_or(u32::MAX);
        let registers = entry.registers.unwrap_or(USUAL_REGISTERS);
        Self { threads, registers, shared: entry.shared, dynamic_shared: 0 }
    }

    const fn warps(&self) -> u32 {
        self.threads.div_ceil(32)
    }

    /// Returns how much shared memory a block takes of a multiprocessor's.
    const fn shared_taken(bytes: usize) -> usize {
        bytes.saturating_add(SHARED_RESERVED).next_multiple_of(SHARED_UNIT)
    }

    /// Returns how many blocks a multiprocessor holds at once.
    pub(crate) fn blocks(&self) -> u32 {
        let shared = self.shared.saturating_add(self.dynamic_shared);
        if self.threads == 0 || self.threads > MOST_THREADS || shared > MOST_SHARED {
            return 0;
        }
        let warp = self.registers.saturating_mul(32).max(1).next_multiple_of(REGISTER_UNIT);
        let by_registers = REGISTERS / QUARTERS / warp * QUARTERS / self.warps();
        let by_shared = SHARED / Self::shared_taken(shared);
        let by_shared = u32::try_from(by_shared).unwrap_or(u32::MAX);
        BLOCKS.min(WARPS / self.warps()).min(by_registers).min(by_shared)
    }

    /// Returns how much more shared memory each of that many blocks can have.
    pub(crate) fn spare_shared(&self, blocks: u32) -> Option<usize> {
        let blocks = usize::try_from(blocks).ok()?;
        let each = SHARED.checked_div(blocks)? / SHARED_UNIT * SHARED_UNIT;
        let most = each.checked_sub(SHARED_RESERVED)?.min(MOST_SHARED);
        let without = Self { dynamic_shared: 0, ..*self };
        (usize::try_from(without.blocks()).ok()? >= blocks).then_some(())?;
        most.checked_sub(self.shared)
    }
}

#[cfg(test)]
mod tests {
    use super::Usage;

    #[test]
    fn the_scarcest_resource_decides() {
        let usage = Usage { threads: 256, registers: 32, shared: 0, dynamic_shared: 0 };
        let with = |change: fn(&mut Usage)| {
            let mut usage = usage;
            change(&mut usage);
            usage.blocks()
        };
        assert_eq!(usage.blocks(), 8);
        assert_eq!(with(|usage| usage.threads = 32), 32);
        assert_eq!(with(|usage| usage.threads = 1024), 2);
        assert_eq!(with(|usage| usage.threads = 1025), 0);
        // 40 registers are 1280 a warp, of which a quarter of 65536 holds 12.
        assert_eq!(with(|usage| usage.registers = 40), 6);
        assert_eq!(with(|usage| usage.registers = 255), 1);
        assert_eq!(with(|usage| usage.shared = 48 << 10), 4);
        assert_eq!(with(|usage| usage.dynamic_shared = 227 << 10), 1);
        assert_eq!(with(|usage| usage.dynamic_shared = (227 << 10) + 1), 0);
        assert_eq!(usage.spare_shared(1), Some(227 << 10));
        assert_eq!(usage.spare_shared(2), Some(113 << 10));
        assert_eq!(usage.spare_shared(9), None);
    }
}
