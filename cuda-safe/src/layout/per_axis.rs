//! Short lists of one number per axis, kept in place while they are short.
//!
//! Written here rather than taken from a crate: a copy of a list in place has a fixed size, so the
//! compiler writes it as a few moves, and nothing below a layout is unsafe code.

use std::fmt;
use std::ops::Deref;

/// Up to this many axes, a layout and everything derived from it stay off the heap.
pub const INLINE_AXES: usize = 6;

/// A list of at most `N` items in place, of any number on the heap.
#[derive(Clone)]
pub(super) struct InlineList<T, const N: usize> {
    items: [T; N],
    /// Number of items in place; 0 if they are on the heap.
    len: usize,
    /// All items, if they are too many to be kept in place.
    heap: Vec<T>,
}

impl<T: Copy + Default, const N: usize> InlineList<T, N> {
    #[inline]
    pub(super) fn new() -> Self {
        Self { items: [T::default(); N], len: 0, heap: Vec::new() }
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        match self.items.get_mut(self.len) {
            Some(slot) if self.heap.is_empty() => {
                *slot = item;
                self.len += 1;
            }
            _ => self.push_to_heap(item),
        }
    }

    #[cold]
    fn push_to_heap(&mut self, item: T) {
        if self.heap.is_empty() {
            self.heap.reserve(64);
            self.heap.extend_from_slice(&self.items);
            self.len = 0;
        }
        self.heap.push(item);
    }

    #[inline]
    pub(super) fn of(items: impl IntoIterator<Item = T>) -> Self {
        let mut list = Self::new();
        for item in items {
            list.push(item);
        }
        list
    }

    /// Makes each item from its position.
    #[inline]
    pub(super) fn build(len: usize, mut item: impl FnMut(usize) -> T) -> Self {
        if len > N {
            return Self::of((0..len).map(item));
        }
        // A fixed length lets the compiler keep the items in registers.
        let mut items = [T::default(); N];
        for (position, slot) in items.iter_mut().enumerate() {
            if position < len {
                *slot = item(position);
            }
        }
        Self { items, len, heap: Vec::new() }
    }

    /// Sorts by insertion, which for a few items beats all else and never allocates.
    #[inline]
    pub(super) fn sort_stably(&mut self, comes_after: impl Fn(T, T) -> bool) {
        let items = self.as_mut_slice();
        for end in 1..items.len() {
            for position in (1..=end).rev() {
                match items.get_mut(position - 1..=position) {
                    Some([left, right]) if comes_after(*left, *right) => {
                        std::mem::swap(left, right);
                    }
                    _ => break,
                }
            }
        }
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[T] {
        if self.heap.is_empty() {
            self.items.get(..self.len).unwrap_or_default()
        } else {
            &self.heap
        }
    }

    #[inline]
    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        if self.heap.is_empty() {
            self.items.get_mut(..self.len).unwrap_or_default()
        } else {
            &mut self.heap
        }
    }
}

/// Holds one number for each axis of a layout and reads as a slice.
///
/// Lists of up to [`INLINE_AXES`] numbers are stored in place, without the heap.
#[derive(Clone)]
pub struct PerAxis(InlineList<i64, INLINE_AXES>);

impl PerAxis {
    #[inline]
    pub(super) fn build(len: usize, value: impl FnMut(usize) -> i64) -> Self {
        Self(InlineList::build(len, value))
    }

    pub(super) fn filled(value: i64, len: usize) -> Self {
        std::iter::repeat_n(value, len).collect()
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [i64] {
        self.0.as_mut_slice()
    }

    /// Returns the numbers as a slice, axis 0 first.
    #[must_use]
    #[inline]
    pub fn as_slice(&self) -> &[i64] {
        self.0.as_slice()
    }
}

impl Deref for PerAxis {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        self.as_slice()
    }
}

impl From<&[i64]> for PerAxis {
    fn from(values: &[i64]) -> Self {
        values.iter().copied().collect()
    }
}

impl FromIterator<i64> for PerAxis {
    fn from_iter<I: IntoIterator<Item = i64>>(values: I) -> Self {
        Self(InlineList::of(values))
    }
}

impl<'a> IntoIterator for &'a PerAxis {
    type Item = &'a i64;
    type IntoIter = std::slice::Iter<'a, i64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for PerAxis {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for PerAxis {}

impl<const N: usize> PartialEq<[i64; N]> for PerAxis {
    fn eq(&self, other: &[i64; N]) -> bool {
        self.as_slice() == other
    }
}

impl fmt::Debug for PerAxis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::{INLINE_AXES, InlineList, PerAxis};

    #[test]
    fn a_list_keeps_its_items_when_it_moves_to_the_heap() {
        let mut list: InlineList<u8, INLINE_AXES> = InlineList::new();
        let mut items = Vec::new();
        for item in 0..64 {
            list.push(item);
            items.push(item);
            assert_eq!(list.as_slice(), items);
            let built = InlineList::<u8, INLINE_AXES>::build(items.len(), |at| items[at]);
            assert_eq!(built.as_slice(), items);
        }
        list.as_mut_slice().reverse();
        list.sort_stably(|left, right| left / 8 > right / 8);
        let mut expected: Vec<u8> = (0..64).rev().collect();
        expected.sort_by_key(|item| item / 8);
        assert_eq!(list.as_slice(), expected);
        assert_eq!(PerAxis::filled(2, INLINE_AXES + 1).as_slice(), [2; INLINE_AXES + 1]);
    }
}
