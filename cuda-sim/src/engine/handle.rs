//! Handles: numbers with a generation, never pointers.
//!
//! A handle's upper bits make it an address that no process has, so that a program that follows one
//! faults at once. A slot that is used again gets another generation.

use std::marker::PhantomData;

use cuda_sys::{
    CUarray, CUcontext, CUevent, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUkernel,
    CUlibrary, CUlinkState, CUmemoryPool, CUmipmappedArray, CUmodule, CUstream, CUuserObject,
};

use crate::call_site;
use crate::report::Side;

/// Is what a handle is for; it is a part of the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Context = 0xC7,
    Stream = 0x57,
    Event = 0xE7,
    Pool = 0x97,
    Array = 0xA7,
    Mipmap = 0xB7,
    Texture = 0x7E,
    Surface = 0x5F,
    Memory = 0x3E,
    Module = 0x3D,
    Function = 0xF7,
    Library = 0x1B,
    Kernel = 0x4B,
    Link = 0x71,
    Graph = 0x67,
    Node = 0x6D,
    Exec = 0x6E,
    Object = 0x0B,
}

/// Is a handle as a number.
pub(crate) type Handle = u64;

const INDEX_BITS: u32 = 24;
const GENERATION_BITS: u32 = 32;

/// Is a handle type of the driver's.
pub(crate) trait RawHandle: Sized {
    fn from_number(number: Handle) -> Self;
    fn number(self) -> Handle;
}

macro_rules! raw_handles {
    ($($ty:ty),*) => {$(
        impl RawHandle for $ty {
            fn from_number(number: Handle) -> Self {
                // Handles exist on 64-bit targets only, where this loses nothing.
                std::ptr::without_provenance_mut(usize::try_from(number).unwrap_or(0))
            }

            fn number(self) -> Handle {
                self.addr() as Handle
            }
        }
    )*};
}

raw_handles!(CUarray, CUcontext, CUmipmappedArray, CUstream, CUevent, CUmemoryPool);
raw_handles!(CUmodule, CUfunction, CUlibrary, CUkernel, CUlinkState);
raw_handles!(CUgraph, CUgraphNode, CUgraphExec, CUuserObject);

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
    /// The call that ended the last object.
    ended_by: Option<Side>,
}

/// Is an object that is gone.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The call that ended it; of an object whose slot has another by now, it is forgotten.
    pub(crate) by: Option<Side>,
}

/// Holds the objects of one kind.
#[derive(Debug)]
pub(crate) struct Table<T> {
    kind: Kind,
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
    values: PhantomData<T>,
}

impl<T> Table<T> {
    pub(crate) const fn new(kind: Kind) -> Self {
        Self { kind, slots: Vec::new(), free: Vec::new(), values: PhantomData }
    }

    /// Adds what `make` makes of its handle; none if there are too many.
    pub(crate) fn insert_with(&mut self, make: impl FnOnce(Handle) -> T) -> Option<Handle> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() + 1 < 1 << INDEX_BITS => {
                self.slots.push(Slot { generation: 0, value: None, ended_by: None });
                self.slots.len() - 1
            }
            None => return None,
        };
        let slot = self.slots.get_mut(index)?;
        slot.generation = slot.generation.wrapping_add(1);
        let generation = slot.generation;
        let handle = self.handle(index, generation);
        self.slots.get_mut(index)?.value = Some(make(handle));
        Some(handle)
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<&T> {
        self.slots.get(self.index(handle)?).and_then(|slot| slot.value.as_ref())
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let index = self.index(handle)?;
        self.slots.get_mut(index).and_then(|slot| slot.value.as_mut())
    }

    /// Removes an object, which the call ends that is being answered.
    pub(crate) fn remove(&mut self, handle: Handle) -> Option<T> {
        self.remove_by(handle, Side::new(call_site::function(), ""))
    }

    /// Removes an object that another call has ended.
    pub(crate) fn remove_by(&mut self, handle: Handle, by: Side) -> Option<T> {
        let index = self.index(handle)?;
        let slot = self.slots.get_mut(index)?;
        let value = slot.value.take()?;
        slot.ended_by = Some(by);
        self.free.push(index);
        Some(value)
    }

    /// Returns what is known of the object of a handle of this table, if it is gone.
    pub(crate) fn ended(&self, handle: Handle) -> Option<Ended> {
        let (index, generation) = split(handle);
        let is_here = handle >> (INDEX_BITS + GENERATION_BITS) == self.kind as u64;
        let slot = self.slots.get(index.filter(|_| is_here)?)?;
        if generation == slot.generation && slot.value.is_none() {
            return Some(Ended { by: slot.ended_by.clone() });
        }
        (generation < slot.generation).then_some(Ended { by: None })
    }

    /// Returns the handles of the objects that `wanted` names.
    pub(crate) fn handles(&self, wanted: impl Fn(&T) -> bool) -> Vec<Handle> {
        let slots = self.slots.iter().enumerate();
        slots
            .filter(|(_, slot)| slot.value.as_ref().is_some_and(&wanted))
            .map(|(index, slot)| self.handle(index, slot.generation))
            .collect()
    }

    const fn handle(&self, index: usize, generation: u32) -> Handle {
        (self.kind as u64) << (INDEX_BITS + GENERATION_BITS)
            | (generation as u64) << INDEX_BITS
            | (index as u64 + 1)
    }

    /// Returns the objects with their handles.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            Some((handle(self.kind, slot.generation, index), slot.value.as_ref()?))
        })
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| slot.value.as_ref())
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| slot.value.as_mut())
    }

    /// Removes the objects that `gone` says are.
    pub(crate) fn remove_if(&mut self, gone: impl Fn(&T) -> bool) {
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.value.as_ref().is_some_and(&gone) {
                slot.value = None;
                slot.ended_by = Some(Side::new(call_site::function(), ""));
                self.free.push(index);
            }
        }
    }

    fn index(&self, handle: Handle) -> Option<usize> {
        let (index, generation) = split(handle);
        let index = index?;
        let slot = self.slots.get(index)?;
        let kind = handle >> (INDEX_BITS + GENERATION_BITS) == self.kind as u64;
        (kind && slot.generation == generation && slot.value.is_some()).then_some(index)
    }
}

/// Makes the handle of a slot.
const fn handle(kind: Kind, generation: u32, index: usize) -> Handle {
    (kind as u64) << (INDEX_BITS + GENERATION_BITS)
        | (generation as u64) << INDEX_BITS
        | (index as u64 + 1)
}

/// Splits a handle into its slot's index and its generation.
fn split(handle: Handle) -> (Option<usize>, u32) {
    let index = handle & ((1 << INDEX_BITS) - 1);
    let generation = handle >> INDEX_BITS & u64::from(u32::MAX);
    let index = usize::try_from(index).ok().and_then(|index| index.checked_sub(1));
    (index, u32::try_from(generation).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{Kind, Table};

    #[test]
    fn a_slot_that_is_used_again_has_another_handle() {
        let mut table = Table::new(Kind::Stream);
        let first = table.insert_with(|_| 'a').unwrap();
        assert!(table.ended(first).is_none());
        assert_eq!(table.remove(first), Some('a'));
        assert!(table.ended(first).is_some_and(|ended| ended.by.is_some()));
        let second = table.insert_with(|_| 'b').unwrap();
        assert_ne!(first, second);
        assert_eq!(table.get(first), None);
        assert_eq!(table.get(second), Some(&'b'));
        assert!(table.ended(first).is_some_and(|ended| ended.by.is_none()));
        assert!(table.ended(second).is_none());
        assert!(table.ended(0x1234_5678).is_none() && table.ended(0).is_none());
        assert_eq!(table.remove(first), None);
    }
}
