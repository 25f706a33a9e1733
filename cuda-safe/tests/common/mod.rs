//! What the random programs share: numbers that are the same each time, and blocks of a buffer.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use cuda_safe::DeviceBuffer;
use cuda_safe::shim::{Device, Kind, Memory, Region, Steady};

/// Is a source of numbers that is the same each time (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }
}

/// Is how many bytes a block has.
pub(crate) const BLOCK: usize = 16;

/// Is some blocks of a buffer, split as a view would be.
pub(crate) struct Part<'a>(Region<'a>);

impl<'a> Part<'a> {
    pub(crate) fn of(buffer: &'a DeviceBuffer<u8>, first: usize, blocks: usize) -> Self {
        // SAFETY: the address is only passed to calls of this crate.
        let address = usize::try_from(unsafe { buffer.as_device_ptr() }.0).unwrap();
        let region = Region::new(address + first * BLOCK, blocks * BLOCK, Kind::Alloc);
        let region = region.with_home(buffer.context());
        Self(region.within(buffer.allocation(), first * BLOCK))
    }
}

// SAFETY: whoever makes one takes care that nobody writes to its blocks at the same time.
unsafe impl Memory for Part<'_> {
    fn region(&self) -> Region<'_> {
        self.0
    }
}
// SAFETY: the buffer's record is named.
unsafe impl Steady for Part<'_> {}
// SAFETY: the buffer is on the device.
unsafe impl Device for Part<'_> {}
