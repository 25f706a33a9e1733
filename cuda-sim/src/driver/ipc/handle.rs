//! The 64 bytes of a legacy memory handle.
//!
//! They lie where a real driver's answers put them (measured, a flipped bit at a time):
//!
//! | bytes | what they hold | a flipped bit |
//! |---|---|---|
//! | 24-27, 32-36 | block, size | 1 |
//! | 28-30 | offset in the block | opens other memory |
//! | 31 | zero | 208 |
//! | 40 | generation | is not checked |
//! | 48-51 | process | 400 |
//! | 52-53 | a check of block, size and start | 1 |
//! | 54-55 | a mark of the process's start | 1 |
//! | all others | nothing | is not checked |

use cuda_sys::CUresult;

use super::board::SLOTS;
use crate::entry::INVALID_VALUE;

/// How many bytes a handle has.
pub(super) const LENGTH: usize = 64;

/// Is what a handle says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemoryHandle {
    pub(super) process: u32,
    /// A mark of when the process started: process numbers come again.
    pub(super) start: u16,
    pub(super) block: usize,
    pub(super) generation: u32,
    pub(super) offset: u64,
    pub(super) size: u64,
}

const BLOCK: usize = 24;
const OFFSET: usize = 28;
const SIZE: usize = 32;
const GENERATION: usize = 40;
const PROCESS: usize = 48;
const CHECK: usize = 52;
const START: usize = 54;

impl MemoryHandle {
    pub(super) fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        for (target, source) in bytes.iter_mut().zip(b"cuda-sim memory") {
            *target = *source;
        }
        put(&mut bytes, BLOCK, 4, self.block as u64);
        put(&mut bytes, OFFSET, 3, self.offset);
        put(&mut bytes, SIZE, 5, self.size);
        put(&mut bytes, GENERATION, 1, self.generation.into());
        put(&mut bytes, PROCESS, 4, self.process.into());
        put(&mut bytes, START, 2, self.start.into());
        let check = check(&bytes);
        put(&mut bytes, CHECK, 2, check);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; LENGTH]) -> Result<Self, CUresult> {
        if get(bytes, CHECK, 2) != check(bytes) {
            return Err(INVALID_VALUE);
        }
        if get(bytes, OFFSET + 3, 1) != 0 {
            return Err(CUresult::CUDA_ERROR_ALREADY_MAPPED);
        }
        Self::read(bytes)
    }

    /// Reads what stands there, unchecked.
    fn read(bytes: &[u8; LENGTH]) -> Result<Self, CUresult> {
        Ok(Self {
            process: u32::try_from(get(bytes, PROCESS, 4)).map_err(|_| INVALID_VALUE)?,
            start: u16::try_from(get(bytes, START, 2)).map_err(|_| INVALID_VALUE)?,
            block: usize::try_from(get(bytes, BLOCK, 4)).map_err(|_| INVALID_VALUE)?,
            generation: u32::try_from(get(bytes, GENERATION, 1)).map_err(|_| INVALID_VALUE)?,
            offset: get(bytes, OFFSET, 3),
            size: get(bytes, SIZE, 5),
        })
    }
}

/// Is what an event's handle says. Nothing is measured of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventHandle {
    pub(super) process: u32,
    pub(super) start: u16,
    pub(super) slot: usize,
}

impl EventHandle {
    pub(super) fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        for (target, source) in bytes.iter_mut().zip(b"cuda-sim event") {
            *target = *source;
        }
        put(&mut bytes, BLOCK, 4, self.slot as u64);
        put(&mut bytes, PROCESS, 4, self.process.into());
        put(&mut bytes, START, 2, self.start.into());
        let check = !check(&bytes);
        put(&mut bytes, CHECK, 2, check);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; LENGTH]) -> Result<Self, CUresult> {
        let handle = MemoryHandle::read(bytes)?;
        let is_event = get(bytes, CHECK, 2) == !check(bytes) & 0xffff;
        if !is_event || handle.block >= SLOTS {
            return Err(INVALID_VALUE);
        }
        Ok(Self { process: handle.process, start: handle.start, slot: handle.block })
    }
}

/// Writes the lower `count` bytes of a number.
fn put(bytes: &mut [u8], at: usize, count: usize, number: u64) {
    for (target, source) in bytes.iter_mut().skip(at).take(count).zip(number.to_le_bytes()) {
        *target = source;
    }
}

/// Reads a number of `count` bytes.
fn get(bytes: &[u8], at: usize, count: usize) -> u64 {
    let bytes = bytes.get(at..at + count).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Returns the check of block, size and start; it is never zero, so that zeros are no handle.
fn check(bytes: &[u8]) -> u64 {
    let block = get(bytes, BLOCK, 4) << 16 | get(bytes, START, 2);
    mix(block.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ get(bytes, SIZE, 5)).max(1)
}

/// Brings a number down to 16 bits that all of its bits change.
const fn mix(number: u64) -> u64 {
    let number = (number ^ 0x6375_6461_2d73_696d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 48
}

/// Returns a mark of when a process started; none if it is gone.
pub(crate) fn start_mark(process: u32) -> Option<u16> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may have spaces in it.
    let (_, rest) = text.rsplit_once(')')?;
    let start: u64 = rest.split_ascii_whitespace().nth(19)?.parse().ok()?;
    // Two processes can start in one tick of the clock; their numbers tell them apart.
    u16::try_from(mix(start ^ u64::from(process) << 40)).ok()
}

#[cfg(test)]
mod tests {
    use super::{LENGTH, MemoryHandle, start_mark};

    #[test]
    fn a_handle_survives_its_bytes() {
        let handle = MemoryHandle {
            process: 4711,
            start: 0xbeef,
            block: 12_345,
            generation: 0x33,
            offset: 0x1f_f000,
            size: 5 << 30,
        };
        let bytes = handle.to_bytes();
        assert_eq!(MemoryHandle::from_bytes(&bytes), Ok(handle));
        let beside = MemoryHandle { offset: 0x1f_e000, ..handle }.to_bytes();
        let differing: Vec<_> = (0..LENGTH).filter(|&at| bytes[at] != beside[at]).collect();
        assert_eq!(differing, [29]);
    }

    #[test]
    fn a_flipped_bit_is_refused_where_it_was_measured() {
        let handle =
            MemoryHandle { process: 9, start: 1, block: 3, generation: 7, offset: 512, size: 4096 };
        let bytes = handle.to_bytes();
        for at in 0..LENGTH {
            for bit in 0..8 {
                let mut bytes = bytes;
                bytes[at] ^= 1 << bit;
                let code = MemoryHandle::from_bytes(&bytes).err().map(|error| error.0);
                let expected = match at {
                    24..=27 | 32..=36 | 52..=55 => Some(1),
                    31 => Some(208),
                    _ => None,
                };
                assert_eq!(code, expected, "byte {at}, bit {bit}");
            }
        }
        assert!(MemoryHandle::from_bytes(&[0; LENGTH]).is_err());
        assert!(MemoryHandle::from_bytes(&[0xff; LENGTH]).is_err());
    }

    #[test]
    fn this_process_has_a_start_and_no_process_has_none() {
        assert!(start_mark(std::process::id()).is_some());
        assert_eq!(start_mark(u32::MAX), None);
    }
}
