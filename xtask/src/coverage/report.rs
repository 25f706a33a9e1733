//! What the comparison found: a table, totals, and one line for each thing that is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Serialize, Serializer};

use super::Declared;
use super::calls::Calls;
use super::items::{Item, Kind};
use super::probe::Complaint;
use crate::release::Release;

/// Is one function.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Symbol {
    pub(crate) library: String,
    pub(crate) header: String,
    pub(crate) name: String,
    #[serde(serialize_with = "as_text")]
    pub(crate) since: Release,
    #[serde(serialize_with = "as_text_if_any")]
    pub(crate) deprecated: Option<Release>,
    pub(crate) bound: bool,
}

/// Counts things of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    pub(crate) declared: usize,
    pub(crate) bound: usize,
}

/// Is the whole outcome.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) symbols: Vec<Symbol>,
    /// By library, then by kind.
    pub(crate) counts: BTreeMap<String, BTreeMap<Kind, Count>>,
    pub(crate) compared: Vec<String>,
    /// How many of the driver's symbols have a checked call, if that was looked at.
    pub(crate) calls: Option<Calls>,
    /// Empty if nothing is missing and nothing differs.
    pub(crate) problems: Vec<String>,
}

impl Report {
    pub(super) fn new(declared: &Declared, complaints: &[Complaint]) -> Self {
        let mut counts: BTreeMap<String, BTreeMap<Kind, Count>> = BTreeMap::new();
        let wrong: BTreeSet<usize> = complaints.iter().map(|complaint| complaint.item).collect();
        let mut unbound = BTreeSet::new();
        for (index, item) in declared.items.iter().enumerate() {
            let count =
                counts.entry(item.library.clone()).or_default().entry(item.kind).or_default();
            count.declared += 1;
            count.bound += usize::from(!wrong.contains(&index));
            if wrong.contains(&index) && item.kind == Kind::Function {
                unbound.insert((item.library.as_str(), item.name.split(' ').next()));
            }
        }
        let mut problems = declared.problems.clone();
        for complaint in complaints {
            problems.extend(declared.items.get(complaint.item).map(|item| line(item, complaint)));
        }
        let mut symbols = declared.symbols.clone();
        for symbol in &mut symbols {
            symbol.bound = !unbound.contains(&(symbol.library.as_str(), Some(&symbol.name)));
        }
        Self { symbols, counts, compared: declared.compared.clone(), calls: None, problems }
    }

    /// Returns the table and the totals; the driver's are the last lines.
    pub(crate) fn table(&self) -> String {
        let mut rows: BTreeMap<(&str, &str), Row> = BTreeMap::new();
        for symbol in &self.symbols {
            rows.entry((&symbol.library, &symbol.header)).or_default().add(symbol);
        }
        let head = ["library", "header", "declared", "bound", "since", "deprecated"];
        let mut text = line_of(head.map(str::to_owned));
        for ((library, header), row) in rows {
            let since = format!("{}-{}", row.oldest.unwrap_or_default(), row.newest);
            text += &line_of([
                library.to_owned(),
                header.to_owned(),
                row.count.declared.to_string(),
                row.count.bound.to_string(),
                since,
                row.deprecated.to_string(),
            ]);
        }
        text.push('\n');
        for line in &self.compared {
            text += &format!("{line}\n");
        }
        for (library, counts) in &self.counts {
            let kinds = [
                (Kind::Record, "records"),
                (Kind::Field, "fields"),
                (Kind::Type, "types"),
                (Kind::Constant, "constants"),
            ];
            let counts = kinds.map(|(kind, name)| {
                let Count { declared, bound } = counts.get(&kind).copied().unwrap_or_default();
                format!("{bound}/{declared} {name}")
            });
            text += &format!("{library}: {} bound\n", counts.join(", "));
        }
        let (driver, others): (Vec<_>, Vec<_>) =
            self.counts.iter().partition(|(library, _)| *library == "driver");
        for (library, counts) in others.into_iter().chain(driver) {
            let Count { declared, bound } =
                counts.get(&Kind::Function).copied().unwrap_or_default();
            text += &format!("{library}: {bound}/{declared} symbols bound\n");
        }
        if let Some(Calls { annotated, excused, symbols }) = self.calls {
            text += &format!("driver: {annotated} annotated, {excused} excused, of {symbols}\n");
        }
        text
    }
}

/// Says what is wrong with an item.
fn line(item: &Item, complaint: &Complaint) -> String {
    let kind = match item.kind {
        Kind::Function => "function ",
        Kind::Type => "type ",
        Kind::Record => "record ",
        Kind::Field => "field ",
        Kind::Constant => "constant ",
        Kind::Listed => "",
    };
    let what = format!("{} {kind}{}", item.library, item.name);
    match complaint.is_missing {
        true => format!("missing: {what}"),
        false => format!("differs: {what}: {}", complaint.text),
    }
}

#[derive(Default)]
struct Row {
    count: Count,
    oldest: Option<Release>,
    newest: Release,
    deprecated: usize,
}

impl Row {
    fn add(&mut self, symbol: &Symbol) {
        self.count.declared += 1;
        self.count.bound += usize::from(symbol.bound);
        self.oldest = Some(self.oldest.map_or(symbol.since, |oldest| oldest.min(symbol.since)));
        self.newest = self.newest.max(symbol.since);
        self.deprecated += usize::from(symbol.deprecated.is_some());
    }
}

fn line_of(cells: [String; 6]) -> String {
    let [library, header, declared, bound, since, deprecated] = cells;
    format!("{library:8} {header:16} {declared:>8} {bound:>6} {since:>10} {deprecated:>11}\n")
}

fn as_text<S: Serializer>(text: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(text)
}

fn as_text_if_any<S: Serializer>(
    text: &Option<impl fmt::Display>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match text {
        Some(text) => serializer.collect_str(text),
        None => serializer.serialize_none(),
    }
}
