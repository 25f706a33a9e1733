//! Older releases against the newest: what the crate binds once must be right for all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::exceptions::Excuses;
use super::facts::{Value, value_macros};
use super::survey::{Edition, Survey};

/// Lists what a release declares otherwise than the newest one, but for what is excused.
pub(crate) fn history(survey: &Survey, excuses: &mut Excuses) -> Vec<String> {
    let mut problems = Vec::new();
    for edition in &survey.editions {
        modes(survey, edition, &mut problems);
    }
    signatures(survey, excuses, &mut problems);
    fields(survey, excuses, &mut problems);
    texts(survey, &mut problems);
    renamed(survey, &mut problems);
    problems
}

/// What a C program sees without the manifest's definitions must be a part of what is bound.
fn modes(survey: &Survey, edition: &Edition, problems: &mut Vec<String>) {
    let (plain, every) = (&edition.plain, &edition.declared);
    let release = edition.release;
    let mut missing = |kind: &str, name: &str| {
        problems.push(format!("missing: {kind} {name}, which a plain program of {release} sees"));
    };
    for (name, function) in &plain.functions {
        match every.functions.get(name) {
            None => missing("function", name),
            Some(bound) => {
                let plain = plain.canonical_signature(&function.signature);
                if plain != every.canonical_signature(&bound.signature) {
                    missing("signature", &format!("{name} as {plain}"));
                }
            }
        }
    }
    let absent = plain.records.keys().filter(|name| !every.records.contains_key(*name));
    absent.for_each(|name| missing("record", name));
    let constants: BTreeSet<&String> = every.enums.values().flatten().collect();
    let absent = plain.enums.values().flatten().filter(|name| !constants.contains(name));
    absent.for_each(|name| missing("constant", name));
    let known = |name: &str| every.macros.contains_key(name) || every.typedefs.contains_key(name);
    let absent = value_macros(&survey.library, plain).filter(|(name, _)| !known(name));
    absent.for_each(|(name, _)| missing("macro", name));
}

/// A symbol has one signature in all releases; only tags of the same records were renamed.
pub(super) fn signatures(survey: &Survey, excuses: &mut Excuses, problems: &mut Vec<String>) {
    for (name, (newest, function)) in survey.newest(|declared| &declared.functions) {
        let want = newest.declared.canonical_signature(&function.signature);
        for edition in &survey.editions {
            let Some(older) = edition.declared.functions.get(name) else { continue };
            let have = edition.declared.canonical_signature(&older.signature);
            if have != want && !excuses.renames(&have, &want) {
                let (then, now) = (edition.release, newest.release);
                problems
                    .push(format!("differs: {name} was `{have}` in {then}, is `{want}` in {now}"));
                break;
            }
        }
    }
}

/// A member of an older release's record lies where the newest has it.
fn fields(survey: &Survey, excuses: &mut Excuses, problems: &mut Vec<String>) {
    let mut newest = BTreeMap::new();
    for edition in &survey.editions {
        newest.extend(edition.facts.records.keys().map(|tag| (tag.as_str(), edition)));
    }
    let mut told = BTreeSet::new();
    for edition in &survey.editions {
        for ((tag, field), facts) in &edition.facts.fields {
            let Some(now) = newest.get(tag.as_str()) else { continue };
            let change = match now.facts.fields.get(&(tag.clone(), field.clone())) {
                Some(same) if same.offset == facts.offset => continue,
                Some(other) => format!("moved from {} to {}", facts.offset, other.offset),
                None => "is gone".to_owned(),
            };
            let name = format!("{tag}.{field}");
            if told.insert(name.clone()) && !excuses.field(&name) {
                let (then, now) = (edition.release, now.release);
                problems.push(format!("differs: field {name} of {then} {change} in {now}"));
            }
        }
    }
}

/// A text has one value in all releases; the numbers that moved are a list of the crate.
fn texts(survey: &Survey, problems: &mut Vec<String>) {
    let mut values = BTreeMap::new();
    for edition in &survey.editions {
        for (name, value) in &edition.facts.macros {
            let before = values.insert(name.as_str(), value);
            let is_text = matches!(value, Value::Text(_) | Value::Pointer(_));
            let is_expected = survey.library.release_names.contains(name);
            if is_text && !is_expected && before.is_some_and(|before| before != value) {
                problems.push(format!("differs: {name} is another from {}", edition.release));
            }
        }
    }
}

/// What the manifest renames must have been declared.
fn renamed(survey: &Survey, problems: &mut Vec<String>) {
    for tag in survey.library.renamed.keys() {
        let is_declared = |edition: &Edition| {
            let declared = &edition.declared;
            declared.records.contains_key(tag) || declared.enums.contains_key(tag)
        };
        if !survey.editions.iter().any(is_declared) {
            problems
                .push(format!("stale: libraries.toml renames {tag}, which no release declares"));
        }
    }
}
