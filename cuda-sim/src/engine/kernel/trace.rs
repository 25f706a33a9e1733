//! What a kernel touched: ranges of bytes, joined into boxes.

use std::collections::BTreeMap;

use crate::engine::access::{AccessBox, AccessKind};
use crate::engine::registry::BufferId;

/// How many ranges are kept of one allocation before they are joined, and after: what is more than
/// that scattered is forgotten, so that some races are not found, and none that isn't there.
const MOST: usize = 1 << 16;

/// Is what a kernel touched, by allocation and kind.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    ranges: BTreeMap<(BufferId, u8), (AccessKind, Ranges)>,
}

/// Is a list of ranges, each its first byte and that behind its last.
#[derive(Debug, Default)]
struct Ranges {
    list: Vec<(u64, u64)>,
}

impl Trace {
    /// Notes an access.
    pub(crate) fn note(&mut self, memory: BufferId, kind: AccessKind, start: u64, end: u64) {
        let order = kind as u8;
        let (_, ranges) =
            self.ranges.entry((memory, order)).or_insert_with(|| (kind, Ranges::default()));
        ranges.add(start, end);
    }

    /// Takes away the bytes that are declared: those that are read may be declared as read or
    /// written, all others as written.
    pub(crate) fn without(mut self, declared: &[(BufferId, AccessKind, AccessBox)]) -> Self {
        for (&(memory, _), (kind, ranges)) in &mut self.ranges {
            let covers = |&&(of, by, _): &&(BufferId, AccessKind, AccessBox)| {
                of == memory && (by == AccessKind::Write || *kind == AccessKind::Read)
            };
            let mut cover: Vec<_> =
                declared.iter().filter(covers).flat_map(|(_, _, area)| rows(area)).collect();
            join(&mut cover);
            join(&mut ranges.list);
            ranges.list = subtract(&ranges.list, &cover);
        }
        self
    }

    /// Returns the boxes of bytes that were touched.
    pub(crate) fn boxes(mut self) -> Vec<(BufferId, AccessKind, AccessBox)> {
        let mut boxes = Vec::new();
        for ((memory, _), (kind, ranges)) in &mut self.ranges {
            join(&mut ranges.list);
            boxes.extend(grouped(&ranges.list).into_iter().map(|area| (*memory, *kind, area)));
        }
        boxes
    }
}

impl Ranges {
    fn add(&mut self, start: u64, end: u64) {
        if let Some(last) = self.list.last_mut()
            && (last.0..=last.1).contains(&start)
        {
            last.1 = last.1.max(end);
            return;
        }
        if self.list.len() == MOST {
            join(&mut self.list);
            self.list.truncate(MOST / 2);
        }
        self.list.push((start, end));
    }
}

/// Sorts ranges, and joins those that touch.
fn join(list: &mut Vec<(u64, u64)>) {
    list.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for &(start, end) in list.iter() {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    *list = joined;
}

/// Returns the rows of a box, up to the most that are kept.
fn rows(area: &AccessBox) -> impl Iterator<Item = (u64, u64)> {
    let area = *area;
    let height = if area.is_empty() { 0 } else { area.height.min(MOST as u64) };
    (0..height).map(move |row| {
        let start = area.base.saturating_add(row.saturating_mul(area.pitch));
        (start, start.saturating_add(area.width))
    })
}

/// Returns what is left of joined ranges without others.
fn subtract(ranges: &[(u64, u64)], others: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut left = Vec::new();
    let mut others = others.iter().peekable();
    for &(mut start, end) in ranges {
        while others.next_if(|other| other.1 <= start).is_some() {}
        while let Some(&&(from, to)) = others.peek().filter(|other| other.0 < end) {
            if start < from {
                left.push((start, from));
            }
            start = start.max(to);
            if to >= end {
                break;
            }
            others.next();
        }
        if start < end {
            left.push((start, end));
        }
    }
    left
}

/// Makes boxes of joined ranges: neighbours of one length at one distance are its rows.
fn grouped(ranges: &[(u64, u64)]) -> Vec<AccessBox> {
    let mut boxes: Vec<AccessBox> = Vec::new();
    for &(start, end) in ranges {
        let width = end - start;
        if let Some(last) = boxes.last_mut()
            && last.width == width
        {
            if last.height == 1 {
                *last = AccessBox { pitch: start - last.base, height: 2, ..*last };
                continue;
            }
            if last.base + last.pitch * last.height == start {
                last.height += 1;
                continue;
            }
        }
        boxes.push(AccessBox::linear(start, width));
    }
    boxes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{AccessBox, AccessKind, Trace, grouped, join, rows, subtract};

    fn bytes<'a>(ranges: impl IntoIterator<Item = &'a (u64, u64)>) -> BTreeSet<u64> {
        ranges.into_iter().flat_map(|&(start, end)| start..end).collect()
    }

    fn ranges() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0_u64..60, 1_u64..9), 0..20)
            .prop_map(|list| list.into_iter().map(|(start, size)| (start, start + size)).collect())
    }

    proptest! {
        #[test]
        fn joining_subtracting_and_grouping_keep_the_bytes(left in ranges(), right in ranges()) {
            let (mut joined, mut others) = (left.clone(), right.clone());
            join(&mut joined);
            join(&mut others);
            prop_assert_eq!(bytes(&joined), bytes(&left));
            let rest = bytes(&subtract(&joined, &others));
            let expected = bytes(&left).difference(&bytes(&right)).copied().collect();
            prop_assert_eq!(rest, expected);
            let boxes: Vec<_> = grouped(&joined).iter().flat_map(rows).collect();
            prop_assert_eq!(bytes(&boxes), bytes(&left));
        }
    }

    #[test]
    fn columns_and_rows_are_one_box() {
        let mut trace = Trace::default();
        for column in 0..4 {
            for row in 0..8 {
                let at = 1000 + row * 64 + column * 4;
                trace.note(1, AccessKind::Read, at, at + 4);
            }
        }
        let area = AccessBox { base: 1000, pitch: 64, width: 16, height: 8 };
        assert_eq!(trace.boxes(), [(1, AccessKind::Read, area)]);
    }

    #[test]
    fn what_is_declared_is_taken_away() {
        let mut trace = Trace::default();
        trace.note(1, AccessKind::Write, 0, 100);
        trace.note(1, AccessKind::Read, 0, 100);
        let declared = |kind| [(1, kind, AccessBox::linear(0, 90))];
        let rest = trace.without(&declared(AccessKind::Read)).boxes();
        assert_eq!(rest.len(), 2);
        assert!(rest.contains(&(1, AccessKind::Read, AccessBox::linear(90, 10))));
        assert!(rest.contains(&(1, AccessKind::Write, AccessBox::linear(0, 100))));
    }
}
