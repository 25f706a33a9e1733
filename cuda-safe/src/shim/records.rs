//! One record an allocation and process, found by the driver's number for the allocation.
//!
//! The number (`CU_POINTER_ATTRIBUTE_BUFFER_ID`) is never given twice, and every address of an
//! allocation has it: the host's and the device's, of whoever allocated it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::region::Allocation;

/// So many records of others' allocations are kept though nobody refers to them: whoever takes
/// pointers from a library mostly takes some into the same allocations again. Each number has one
/// place, so that looking there costs a comparison.
const KEPT: usize = 16;

struct Records {
    by_number: HashMap<u64, Weak<Allocation>, BuildHasherDefault<Spread>>,
    kept: [Option<(u64, Arc<Allocation>)>; KEPT],
}

static RECORDS: Mutex<Records> = Mutex::new(Records {
    by_number: HashMap::with_hasher(BuildHasherDefault::new()),
    kept: [const { None }; KEPT],
});

fn records() -> MutexGuard<'static, Records> {
    RECORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spreads numbers that grow by one; nobody but the driver chooses them.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(32)
    }
}

impl Records {
    /// Finds a record, or makes it; answers whether it was made.
    fn find(&mut self, buffer_id: u64, len: usize) -> (Arc<Allocation>, bool) {
        if let Some(record) = self.by_number.get(&buffer_id).and_then(Weak::upgrade) {
            return (record, false);
        }
        let record = Arc::new(Allocation::numbered(buffer_id, len));
        self.by_number.insert(buffer_id, Arc::downgrade(&record));
        (record, true)
    }

    /// Returns the place where the record of a number is kept.
    fn place(&mut self, buffer_id: u64) -> Option<&mut Option<(u64, Arc<Allocation>)>> {
        self.kept.get_mut(usize::try_from(buffer_id % KEPT as u64).ok()?)
    }

    /// Returns the record of a number if it is kept.
    fn kept(&mut self, buffer_id: u64) -> Option<Arc<Allocation>> {
        let (number, record) = self.place(buffer_id)?.as_ref()?;
        (*number == buffer_id).then(|| Arc::clone(record))
    }

    /// Keeps a record, and returns the one whose place it takes.
    fn keep(&mut self, buffer_id: u64, record: &Arc<Allocation>) -> Option<Arc<Allocation>> {
        let replaced = self.place(buffer_id)?.replace((buffer_id, Arc::clone(record)));
        replaced.map(|(_, record)| record)
    }
}

impl Allocation {
    /// Finds the record of an allocation that the driver knows by `buffer_id`, or makes it.
    ///
    /// Everything that refers to the allocation's bytes must name this record. Who owns the
    /// allocation asks for it as well, so that others find it. By 0, which is no allocation's
    /// number, nobody finds it.
    #[must_use]
    pub fn of_buffer(buffer_id: u64, len: usize) -> Arc<Self> {
        if buffer_id == 0 {
            return Arc::new(Self::new(len));
        }
        records().find(buffer_id, len).0
    }

    /// Finds or makes the record as [`of_buffer`](Self::of_buffer) does, of an allocation of others.
    pub(crate) fn of_others(buffer_id: u64, len: usize) -> Arc<Self> {
        let (record, replaced) = {
            let mut records = records();
            if let Some(record) = records.kept(buffer_id) {
                return record;
            }
            let (record, is_new) = records.find(buffer_id, len);
            let replaced = if is_new { records.keep(buffer_id, &record) } else { None };
            (record, replaced)
        };
        // Its drop takes the lock.
        drop(replaced);
        record
    }
}

/// Lets others find a record by one more number: that of a part of it. 0 is none.
pub(crate) fn alias(buffer_id: u64, record: &Arc<Allocation>) {
    if buffer_id != 0 {
        records().by_number.insert(buffer_id, Arc::downgrade(record));
    }
}

/// Forgets a number by which others found a record, since its part is gone.
pub(crate) fn forget_alias(buffer_id: u64) {
    records().by_number.remove(&buffer_id);
}

/// Forgets a record that is being dropped; another may have taken its place by now.
pub(super) fn forget(buffer_id: u64) {
    let mut records = records();
    if records.by_number.get(&buffer_id).is_some_and(|record| record.strong_count() == 0) {
        records.by_number.remove(&buffer_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_known(number: u64) -> bool {
        records().by_number.contains_key(&number)
    }

    #[test]
    fn whoever_asks_for_a_number_gets_one_record_while_it_is_used() {
        let number = u64::MAX;
        let first = Allocation::of_buffer(number, 8);
        let again = Allocation::of_others(number, 8);
        assert_eq!(first.id(), again.id());
        let id = first.id();
        drop(first);
        assert_eq!(Allocation::of_buffer(number, 8).id(), id, "one is left");
        drop(again);
        assert!(!is_known(number), "nothing is kept of what nobody uses");
        assert_ne!(Allocation::of_buffer(number, 8).id(), id);
        assert_ne!(Allocation::of_buffer(0, 8).id(), Allocation::of_buffer(0, 8).id());
    }

    #[test]
    fn a_record_is_found_by_the_number_of_each_part() {
        let (number, record) = (u64::MAX - 5000, Arc::new(Allocation::new(8)));
        alias(0, &record);
        alias(number, &record);
        assert_eq!(Allocation::of_others(number, 8).id(), record.id());
        forget_alias(number);
        assert!(!is_known(number) && !is_known(0));
        assert_ne!(Allocation::of_buffer(number, 8).id(), record.id());
    }

    #[test]
    fn the_newest_records_of_others_are_kept() {
        let first = u64::MAX - 1000;
        let id = Allocation::of_others(first, 8).id();
        assert_eq!(Allocation::of_others(first, 8).id(), id, "it was kept");
        for number in first + 1..=first + KEPT as u64 {
            drop(Allocation::of_others(number, 8));
        }
        assert!(!is_known(first) && is_known(first + 1));
    }
}
