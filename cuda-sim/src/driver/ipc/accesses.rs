//! The accesses to memory that processes share: a table in memory that all of them map, one for each
//! process whose memory it is.
//!
//! A process writes an access when it queues it, and looks then at those of the others. So of two
//! that nothing orders, at least one process sees the other's. It goes when a process knows that it
//! is done, or dies.
//!
//! Unsafe, because the table lies in mapped memory. It is mapped for good.

#![expect(unsafe_code, reason = "a table in mapped memory is reached by address")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use crate::driver::ipc::directory;
use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::address_space::pins::{self, Owner};
use crate::engine::mapping;

const NAME: &str = "cuda-sim:accesses";

/// How many accesses stand in a table at once. The races of more are missed.
const SLOTS: usize = 4096;

/// How many slots were ever used, and the last number of an access.
const HEAD_WORDS: usize = 2;

/// How many bytes of a stream's name are kept.
const LABEL_WORDS: usize = 5;

/// How many events can be known to come after an access.
const MARKS: usize = 4;

const OWNER: usize = 0;
const NUMBER: usize = 1;
const WHAT: usize = 2;
const AREA: usize = 3;
const LABEL: usize = 7;
const UNKNOWN: usize = LABEL + LABEL_WORDS;
const MARK: usize = UNKNOWN + 1;
const SLOT_WORDS: usize = MARK + 2 * MARKS;

const WORD: usize = size_of::<u64>();
const BYTES: usize = (HEAD_WORDS + SLOTS * SLOT_WORDS) * WORD;

/// The operands that a table can name.
const OPERANDS: [&str; 8] = ["", "dst", "src", "dstDevice", "srcDevice", "dptr", "dsts", "srcs"];

/// Is a record of an event that processes share, as all of them name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MarkName {
    /// The event: its board's process, and its slot there. Zero is none.
    pub(crate) event: u64,
    /// Which of the event's records it is. Each waits for the one before.
    pub(crate) number: u64,
}

/// Is where an access stands in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    index: usize,
    /// Tells it from others that stood in the slot.
    number: u64,
}

/// Is an access that stands in a table.
#[derive(Clone, Debug)]
pub(crate) struct SharedAccess {
    /// The process that queued it.
    pub(crate) owner: Owner,
    pub(crate) kind: AccessKind,
    /// The bytes, counted in the file that has them.
    pub(crate) area: AccessBox,
    pub(crate) call: &'static str,
    pub(crate) operand: &'static str,
    pub(crate) stream: String,
    /// Whether something else than an event may order it.
    pub(crate) may_be_ordered: bool,
    /// The records that come after it.
    pub(crate) marks: [MarkName; MARKS],
}

/// Is the table of the memory of a process.
#[derive(Debug)]
pub(crate) struct Accesses {
    base: usize,
    /// Keeps it reachable for other processes.
    _file: Option<OwnedFd>,
}

impl Accesses {
    pub(crate) fn create() -> io::Result<Self> {
        let file = memfd_create(NAME, MemfdFlags::CLOEXEC)?;
        ftruncate(&file, BYTES as u64)?;
        let base = mapping::map_file(file.as_fd(), BYTES)?;
        Ok(Self { base, _file: Some(file) })
    }

    /// Finds another process's.
    pub(crate) fn find(process: u32) -> Option<Self> {
        let file = directory::open_named(process, NAME)?;
        let base = mapping::map_file(file.as_fd(), BYTES).ok()?;
        Some(Self { base, _file: None })
    }

    /// Writes an access; none if there is no room.
    pub(crate) fn add(&self, access: &SharedAccess) -> Option<Slot> {
        let index = self.claim(access.owner).or_else(|| {
            self.forget_the_dead();
            self.claim(access.owner)
        })?;
        self.head(0).fetch_max(index as u64 + 1, Ordering::SeqCst);
        let number = self.head(1).fetch_add(1, Ordering::SeqCst) + 1;
        let AccessBox { base, pitch, width, height } = access.area;
        self.write(index, AREA, [base, pitch, width, height]);
        self.write(index, LABEL, to_words(&access.stream));
        self.write(index, WHAT, [to_word(access)]);
        self.write(index, UNKNOWN, [u64::from(access.may_be_ordered)]);
        self.write(index, MARK, [0; 2 * MARKS]);
        self.write(index, NUMBER, [number]);
        Some(Slot { index, number })
    }

    /// Takes an access out, if it still stands there.
    pub(crate) fn remove(&self, slot: Slot) {
        let number = self.word(slot.index, NUMBER);
        if number.compare_exchange(slot.number, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.write(slot.index, OWNER, [0]);
        }
    }

    /// Notes that a record comes after an access.
    pub(crate) fn cover(&self, slot: Slot, mark: MarkName) {
        if self.read::<1>(slot.index, NUMBER) != [slot.number] {
            return;
        }
        for at in (MARK..SLOT_WORDS).step_by(2) {
            let event = self.word(slot.index, at);
            match event.compare_exchange(0, mark.event, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {
                    self.write(slot.index, at + 1, [mark.number]);
                    return;
                }
                // An earlier record of the event tells more.
                Err(other) if other == mark.event => return,
                Err(_) => {}
            }
        }
        self.let_be(slot);
    }

    /// Notes that something else than an event may order an access.
    pub(crate) fn let_be(&self, slot: Slot) {
        if self.read::<1>(slot.index, NUMBER) == [slot.number] {
            self.write(slot.index, UNKNOWN, [1]);
        }
    }

    /// Returns the accesses of all processes.
    pub(crate) fn all(&self) -> Vec<(Slot, SharedAccess)> {
        let used = usize::try_from(self.head(0).load(Ordering::SeqCst)).unwrap_or(0);
        (0..used.min(SLOTS)).filter_map(|index| self.get(index)).collect()
    }

    fn get(&self, index: usize) -> Option<(Slot, SharedAccess)> {
        let [number] = self.read(index, NUMBER);
        if number == 0 {
            return None;
        }
        let [owner] = self.read(index, OWNER);
        let [what] = self.read(index, WHAT);
        let [base, pitch, width, height] = self.read(index, AREA);
        let [unknown] = self.read(index, UNKNOWN);
        let marks: [u64; 2 * MARKS] = self.read(index, MARK);
        let stream = to_text(self.read(index, LABEL));
        // It may have changed meanwhile.
        if self.read(index, NUMBER) != [number] {
            return None;
        }
        let mut names = [MarkName::default(); MARKS];
        for (name, words) in names.iter_mut().zip(marks.chunks_exact(2)) {
            if let [event, number] = *words {
                *name = MarkName { event, number };
            }
        }
        let (kind, call, operand) = from_word(what);
        let access = SharedAccess {
            owner,
            kind,
            area: AccessBox { base, pitch, width, height },
            call,
            operand,
            stream,
            may_be_ordered: unknown != 0,
            marks: names,
        };
        Some((Slot { index, number }, access))
    }

    fn claim(&self, owner: Owner) -> Option<usize> {
        (0..SLOTS).find(|&index| {
            let word = self.word(index, OWNER);
            word.load(Ordering::SeqCst) == 0
                && word.compare_exchange(0, owner, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        })
    }

    fn forget_the_dead(&self) {
        for (slot, access) in self.all() {
            if !pins::is_alive(access.owner) {
                self.remove(slot);
            }
        }
    }

    fn write<const COUNT: usize>(&self, index: usize, first: usize, values: [u64; COUNT]) {
        for (at, value) in values.into_iter().enumerate() {
            self.word(index, first + at).store(value, Ordering::SeqCst);
        }
    }

    fn read<const COUNT: usize>(&self, index: usize, first: usize) -> [u64; COUNT] {
        std::array::from_fn(|at| self.word(index, first + at).load(Ordering::SeqCst))
    }

    fn head(&self, word: usize) -> &AtomicU64 {
        self.at(word % HEAD_WORDS)
    }

    fn word(&self, index: usize, word: usize) -> &AtomicU64 {
        self.at(HEAD_WORDS + index % SLOTS * SLOT_WORDS + word % SLOT_WORDS)
    }

    fn at(&self, word: usize) -> &AtomicU64 {
        let at = std::ptr::with_exposed_provenance_mut(self.base + word * WORD % BYTES);
        // SAFETY: it lies in the mapping, which stays and is aligned to pages; every process
        // reaches it as an atomic only.
        unsafe { AtomicU64::from_ptr(at) }
    }
}

/// Says in a word what an access is.
fn to_word(access: &SharedAccess) -> u64 {
    let kind = match access.kind {
        AccessKind::Read => 0,
        AccessKind::Write => 1,
        AccessKind::Atomic => 2,
    };
    let operand = OPERANDS.iter().position(|&name| name == access.operand).unwrap_or(0);
    let mut symbols = cuda_sys::SYMBOLS.iter();
    let call = symbols.position(|symbol| symbol.name.to_str() == Ok(access.call));
    let call = call.map_or(0, |call| call + 1);
    kind | (operand as u64) << 8 | (call as u64) << 16
}

/// Reads what [`to_word`] wrote.
fn from_word(word: u64) -> (AccessKind, &'static str, &'static str) {
    let kind = match word & 0xff {
        0 => AccessKind::Read,
        1 => AccessKind::Write,
        _ => AccessKind::Atomic,
    };
    let number = |number: u64| usize::try_from(number).unwrap_or(0);
    let operand = OPERANDS.get(number(word >> 8 & 0xff)).copied().unwrap_or_default();
    let call = number(word >> 16).checked_sub(1).and_then(|call| cuda_sys::SYMBOLS.get(call));
    let call = call.and_then(|symbol| symbol.name.to_str().ok()).unwrap_or("a driver call");
    (kind, call, operand)
}

/// Writes the beginning of a text.
fn to_words(text: &str) -> [u64; LABEL_WORDS] {
    let mut bytes = text.bytes();
    std::array::from_fn(|_| {
        let word: [u8; WORD] = std::array::from_fn(|_| bytes.next().unwrap_or(0));
        u64::from_le_bytes(word)
    })
}

/// Reads what [`to_words`] wrote.
fn to_text(words: [u64; LABEL_WORDS]) -> String {
    let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Accesses, MARKS, MarkName, SharedAccess};
    use crate::engine::access::{AccessBox, AccessKind};

    fn access() -> SharedAccess {
        SharedAccess {
            owner: 7,
            kind: AccessKind::Write,
            area: AccessBox::rows(0x1000, 64, 32, 4),
            call: "cuMemsetD2D8Async",
            operand: "dstDevice",
            stream: "non-blocking stream #12".to_owned(),
            may_be_ordered: false,
            marks: [MarkName::default(); MARKS],
        }
    }

    #[test]
    fn what_stands_there_is_what_was_written() {
        let table = Accesses::create().unwrap();
        let slot = table.add(&access()).unwrap();
        let mark = |event| MarkName { event, number: 5 };
        table.cover(slot, mark(1));
        table.cover(slot, MarkName { event: 1, number: 6 });
        let [(found, it)] = &table.all()[..] else { panic!("{:?}", table.all()) };
        assert_eq!(*found, slot);
        assert_eq!((it.owner, it.kind, it.area), (7, AccessKind::Write, access().area));
        assert_eq!((it.call, it.operand), ("cuMemsetD2D8Async", "dstDevice"));
        assert_eq!(it.stream, "non-blocking stream #12");
        assert_eq!(it.marks[..2], [mark(1), MarkName::default()]);
        // More events than can be named: anything may order it.
        (2..=5).for_each(|event| table.cover(slot, mark(event)));
        assert!(table.all()[0].1.may_be_ordered);
        table.remove(slot);
        let other = table.add(&access()).unwrap();
        table.remove(slot);
        table.let_be(slot);
        let [(found, it)] = &table.all()[..] else { panic!("{:?}", table.all()) };
        assert_eq!((*found, it.may_be_ordered), (other, false));
    }
}
