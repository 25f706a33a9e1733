//! Compares answers with the rows of a table, and keeps what was seen.

use std::fmt::Debug;
use std::fs::OpenOptions;
use std::io::Write as _;

/// Is a table of answers, as the page of measurements has it.
pub(crate) struct Rows {
    table: &'static str,
    wrong: Vec<String>,
    /// Whether the simulator may differ here, which is then told with its reason.
    reason: Option<&'static str>,
}

impl Rows {
    pub(crate) fn of(table: &'static str) -> Self {
        Self { table, wrong: Vec::new(), reason: None }
    }

    /// Says that a row's answer is what the page says.
    pub(crate) fn is<T: Debug + PartialEq>(&mut self, row: &str, have: T, measured: T) {
        let holds = have == measured;
        self.note(row, holds, &format!("{have:?}"), &format!("{measured:?}"));
    }

    /// Says that a row's answer is one of those that the page says.
    pub(crate) fn is_one_of<T: Debug + PartialEq>(&mut self, row: &str, have: T, measured: &[T]) {
        let holds = measured.contains(&have);
        self.note(row, holds, &format!("{have:?}"), &format!("one of {measured:?}"));
    }

    /// Says what a row's answer is on a device, and what it is on the simulator, with the reason.
    pub(crate) fn differs<T: Debug + PartialEq>(
        &mut self,
        row: &str,
        have: T,
        measured: T,
        simulated: T,
        reason: &'static str,
    ) {
        self.reason = Some(reason);
        let expected = if cuda_sim::is_on_device() { measured } else { simulated };
        self.is(row, have, expected);
        self.reason = None;
    }

    fn note(&mut self, row: &str, holds: bool, have: &str, measured: &str) {
        if !holds {
            self.wrong.push(format!("{row}: have {have}, expected {measured}"));
        }
        let Some(file) = std::env::var_os("CUDA_TEST_RESULTS") else { return };
        let differs = self.reason.map_or("null".to_owned(), |reason| format!("{reason:?}"));
        let line = format!(
            "{{\"table\": {:?}, \"row\": {row:?}, \"have\": {have:?}, \"measured\": {measured:?}, \
             \"holds\": {holds}, \"simulator_differs\": {differs}}}\n",
            self.table
        );
        let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }

    /// Fails if a row differs.
    pub(crate) fn end(self) {
        assert!(self.wrong.is_empty(), "{}:\n{}", self.table, self.wrong.join("\n"));
    }
}
