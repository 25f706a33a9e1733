//! What changed between two releases: symbols, signatures, struct layouts, enum constants.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Api, Function, Record};

/// Lists the changes from `old` to `new`, one a line, by kind.
pub(crate) fn diff(old: &Api, new: &Api) -> Vec<String> {
    let mut lines = Vec::new();
    symbols(old, new, &mut lines);
    records(old, new, &mut lines);
    enums(old, new, &mut lines);
    lines
}

fn symbols(old: &Api, new: &Api, lines: &mut Vec<String>) {
    names(&old.functions, &new.functions, "symbol", lines);
    for (name, now) in &new.functions {
        let Some(before) = old.functions.get(name) else { continue };
        let (before, now) = (signature(before), signature(now));
        if before != now {
            lines.push(format!("~ signature {name}: {before} became {now}"));
        }
    }
}

fn signature(function: &Function) -> String {
    let types: Vec<&str> = function.parameters.iter().map(|(_, ty)| ty.as_str()).collect();
    format!("({}) -> {}", types.join(", "), function.output)
}

fn records(old: &Api, new: &Api, lines: &mut Vec<String>) {
    let own = |api: &Api| -> BTreeMap<String, Record> {
        let own = api.records.iter().filter(|(name, _)| !name.contains("__bindgen_ty_"));
        own.map(|(name, record)| (name.clone(), record.clone())).collect()
    };
    let (old, new) = (own(old), own(new));
    names(&old, &new, "record", lines);
    for (name, now) in &new {
        let Some(before) = old.get(name) else { continue };
        if before.layout != now.layout {
            lines.push(format!("~ record {name}: {}", layout_change(before, now)));
        }
    }
}

fn layout_change(before: &Record, now: &Record) -> String {
    let number = |what: &str, before: u64, now: u64| {
        (before != now).then(|| format!("{what} {before} became {now}"))
    };
    let size = number("size", before.layout.size, now.layout.size);
    let align = number("alignment", before.layout.align, now.layout.align);
    let mut changes: Vec<String> = size.into_iter().chain(align).collect();
    let offsets = |record: &Record| record.layout.offsets.iter().cloned().collect();
    let (old, new): (BTreeMap<_, _>, BTreeMap<_, _>) = (offsets(before), offsets(now));
    for (field, offset) in &new {
        match old.get(field) {
            Some(was) => changes.extend(number(&format!("{field} @"), *was, *offset)),
            None => changes.push(format!("{field} @ {offset} is new")),
        }
    }
    let gone = old.keys().filter(|field| !new.contains_key(*field));
    changes.extend(gone.map(|field| format!("{field} is gone")));
    changes.join(", ")
}

fn enums(old: &Api, new: &Api, lines: &mut Vec<String>) {
    names(&old.enums, &new.enums, "enum", lines);
    for (tag, now) in &new.enums {
        let Some(before) = old.enums.get(tag) else { continue };
        let (before, now): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (before.constants.iter().cloned().collect(), now.constants.iter().cloned().collect());
        names(&before, &now, &format!("constant {tag}::"), lines);
        for (name, value) in &now {
            if let Some(was) = before.get(name).filter(|was| *was != value) {
                lines.push(format!("~ constant {tag}::{name}: {was} became {value}"));
            }
        }
    }
}

/// Lists the names that came and went.
fn names<T>(
    old: &BTreeMap<String, T>,
    new: &BTreeMap<String, T>,
    what: &str,
    lines: &mut Vec<String>,
) {
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (old.keys().collect(), new.keys().collect());
    let separator = if what.ends_with("::") { "" } else { " " };
    lines.extend(new.difference(&old).map(|name| format!("+ {what}{separator}{name}")));
    lines.extend(old.difference(&new).map(|name| format!("- {what}{separator}{name}")));
}
