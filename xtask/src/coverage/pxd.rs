//! The declarations that NVIDIA publishes under Apache-2.0 in the Python package `cuda-bindings`:
//! every name there must be bound, and every value must be what the headers say.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use super::c::CType;
use super::exceptions::Excuses;
use super::facts::Value;
use super::items::{Item, Kind, module};
use super::survey::{Edition, Survey};
use crate::fetch::{Cache, Provides, Wheel};
use crate::release::Release;

/// Is what one file declares.
#[derive(Debug, Default)]
pub(crate) struct Pxd {
    /// `cydriver.pxd of cuda-bindings 13.5.0`.
    pub(crate) name: String,
    pub(crate) release: Release,
    /// Functions by the name of the API, with their parameters' names.
    pub(crate) functions: BTreeMap<String, Vec<String>>,
    /// Enums: their constants, each with its value if there is one.
    pub(crate) enums: BTreeMap<String, Vec<(String, Option<i64>)>>,
    /// Structs and unions: the members' names.
    pub(crate) records: BTreeMap<String, Vec<String>>,
    /// Names of types.
    pub(crate) types: Vec<String>,
    /// Macros.
    pub(crate) constants: BTreeMap<String, Option<i64>>,
}

/// Reads the files of every locked wheel that has one for the library.
pub(crate) fn published(cache: &Cache, wheels: &[Wheel], library: &str) -> Result<Vec<Pxd>> {
    let file = format!("cy{library}.pxd");
    let wheels = wheels.iter().filter(|wheel| wheel.provides == Provides::CudaBindings);
    let read = |wheel: &Wheel| {
        let text = std::fs::read_to_string(cache.folder_of(wheel, &file)?.join(&file))?;
        let (major, rest) = wheel.version.split_once('.').context("a version without a dot")?;
        let minor = rest.split('.').next().unwrap_or_default();
        let name = format!("{file} of {} {}", wheel.package, wheel.version);
        Ok(Pxd { name, release: format!("{major}.{minor}").parse()?, ..parse(&text) })
    };
    wheels.map(read).collect()
}

/// Is the block that an indented line belongs to.
enum Block {
    None,
    Enum(String),
    Record(String),
}

/// Reads the declarations; comments and imports are no part of them.
pub(crate) fn parse(text: &str) -> Pxd {
    let mut pxd = Pxd::default();
    let mut block = Block::None;
    let mut depth = 0;
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or(line);
        let indent = line.len() - line.trim_start().len();
        let statement = without_quotes(line.trim());
        if statement.is_empty() {
            continue;
        }
        if indent <= depth {
            block = Block::None;
        }
        match &block {
            Block::Enum(name) => {
                let (constant, value) = assignment(&statement);
                pxd.enums.entry(name.clone()).or_default().push((constant, value));
            }
            Block::Record(name) if statement != "pass" => {
                let member = last_word(&statement);
                pxd.records.entry(name.clone()).or_default().push(member);
            }
            Block::Record(_) => {}
            Block::None => {
                block = pxd.statement(&statement);
                depth = indent;
            }
        }
    }
    pxd
}

impl Pxd {
    fn statement(&mut self, statement: &str) -> Block {
        let opened = statement.strip_suffix(':').map(str::trim_end);
        let rest = statement.strip_prefix("cdef ").or_else(|| statement.strip_prefix("ctypedef "));
        if let Some(rest) = statement.strip_prefix("cdef enum:") {
            let (name, value) = assignment(rest.trim());
            self.constants.insert(name, value);
        } else if let Some(rest) =
            statement.strip_prefix("const ").filter(|rest| !rest.ends_with([';', ',']))
        {
            self.constants.insert(last_word(rest), None);
        } else if let (Some(opened), Some(_)) = (opened, rest) {
            let words: Vec<&str> = opened.split_whitespace().collect();
            match words.as_slice() {
                [_, "enum", name] => return Block::Enum((*name).to_owned()),
                [_, "struct" | "union", name] => return Block::Record((*name).to_owned()),
                _ => {}
            }
        } else if let Some(rest) = statement.strip_prefix("cdef ") {
            if let Some((head, tail)) = rest.split_once('(') {
                let parameters = tail.split(')').next().unwrap_or_default().split(',');
                let parameters = parameters.filter(|parameter| !parameter.trim().is_empty());
                self.functions.insert(last_word(head), parameters.map(last_word).collect());
            }
        } else if let Some(rest) = statement.strip_prefix("ctypedef ") {
            self.types.push(last_word(rest));
        }
        Block::None
    }
}

/// Leaves out what stands in quotes: C's own spelling of a name.
fn without_quotes(line: &str) -> String {
    let (mut kept, mut quote) = (String::new(), None);
    for character in line.chars() {
        match quote {
            Some(open) if open == character => quote = None,
            Some(_) => {}
            None if matches!(character, '"' | '\'') => quote = Some(character),
            None => kept.push(character),
        }
    }
    kept.replace(" :", ":").trim().to_owned()
}

/// Reads `NAME` or `NAME = value`; a value that is no number is none.
fn assignment(text: &str) -> (String, Option<i64>) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let value = value.trim();
    let number = match value.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    };
    (name.trim().to_owned(), number)
}

/// Returns the name that a declaration gives: the last word, or the one of a function pointer.
fn last_word(text: &str) -> String {
    let text = match text.split_once("(*") {
        Some((_, rest)) => rest.split(')').next().unwrap_or_default(),
        None => text.split('[').next().unwrap_or_default(),
    };
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.trim().rsplit(|character| !is_part(character)).next().unwrap_or_default().to_owned()
}

/// Returns a line of Rust for each published name; what has another value than the headers say, or
/// isn't in them at all, goes to `problems`.
pub(crate) fn items(
    survey: &Survey,
    pxd: &Pxd,
    excuses: &Excuses,
    problems: &mut Vec<String>,
) -> Result<Vec<Item>> {
    let edition = survey.editions.iter().find(|edition| edition.release == pxd.release);
    let edition = edition.with_context(|| format!("no headers are locked for {}", pxd.name))?;
    let mut writer = Writer { survey, pxd, edition, items: Vec::new(), problems: Vec::new() };
    writer.functions();
    writer.enums();
    writer.constants();
    writer.types();
    let is_own = |name: &str| excuses.published(name);
    let found = writer.problems.into_iter().filter(|(name, _)| !is_own(name));
    problems.extend(found.map(|(_, line)| line));
    let items = writer.items.into_iter().filter(|(name, _)| !is_own(name));
    Ok(items.map(|(_, item)| item).collect())
}

struct Writer<'a> {
    survey: &'a Survey,
    pxd: &'a Pxd,
    edition: &'a Edition,
    items: Vec<(String, Item)>,
    problems: Vec<(String, String)>,
}

impl Writer<'_> {
    fn add(&mut self, what: &str, name: &str, code: String) {
        let library = self.survey.library.name.clone();
        let title = format!("{what} {name} of {}", self.pxd.name);
        self.items.push((name.to_owned(), Item { library, kind: Kind::Listed, name: title, code }));
    }

    fn problem(&mut self, name: &str, line: String) {
        self.problems.push((name.to_owned(), line));
    }

    fn functions(&mut self) {
        let m = module(self.survey);
        for (name, parameters) in &self.pxd.functions {
            // The name is the API's: a program that says it links to this symbol.
            let symbol = self.edition.plain.renames(name).unwrap_or_else(|| name.clone());
            self.add(
                "function",
                name,
                format!("const _: Option<{m}::signature::{symbol}> = None;"),
            );
            let names = |edition: &Edition| {
                let (plain, every) = (&edition.plain.functions, &edition.declared.functions);
                let function = plain.get(&symbol).or_else(|| every.get(&symbol))?;
                let names = function.signature.parameters.iter().map(|p| p.name.clone());
                names.collect::<Option<Vec<String>>>()
            };
            // A name that is a word of Python has an underscore behind it.
            let parameters: Vec<String> =
                parameters.iter().map(|name| name.trim_end_matches('_').to_owned()).collect();
            let newest = self.survey.editions.iter().rev().find_map(names);
            if names(self.edition).or(newest).is_some_and(|names| names != parameters) {
                let line = format!("differs: the parameters of {name} in {}", self.pxd.name);
                self.problem(name, line);
            }
        }
    }

    fn enums(&mut self) {
        let m = module(self.survey);
        for (name, constants) in &self.pxd.enums {
            for (constant, value) in constants {
                if self.survey.library.unexposed_reason(constant).is_some() {
                    continue;
                }
                let code = format!("const _: {m}::{name} = {m}::{name}::{constant};");
                self.add("constant", constant, code);
                self.value(constant, *value, |edition| {
                    edition.facts.constants.get(constant).copied()
                });
            }
        }
    }

    /// A published value is what the headers of that release say, or those of the newest one that
    /// has the name: a wheel may be of older headers than its file.
    fn value(&mut self, name: &str, published: Option<i64>, of: impl Fn(&Edition) -> Option<i64>) {
        let Some(published) = published else { return };
        let newest = self.survey.editions.iter().rev().find_map(&of);
        let said = of(self.edition).or(newest);
        if said != Some(published) && newest != Some(published) {
            let said = said.map_or("nothing".to_owned(), |said| said.to_string());
            let file = &self.pxd.name;
            let line = format!("differs: {name} is {published} in {file}, {said} in the headers");
            self.problem(name, line);
        }
    }

    fn constants(&mut self) {
        let m = module(self.survey);
        for (name, value) in &self.pxd.constants {
            if self.survey.library.unexposed_reason(name).is_some() {
                continue;
            }
            self.add("constant", name, format!("use {m}::{name} as _;"));
            self.value(name, *value, |edition| match edition.facts.macros.get(name)? {
                Value::Number(number) => Some(*number),
                Value::Unsigned(number) | Value::Pointer(number) => i64::try_from(*number).ok(),
                Value::Text(_) => None,
            });
        }
    }

    fn types(&mut self) {
        let m = module(self.survey);
        for name in &self.pxd.types {
            self.add("type", name, format!("const _: Option<*const {m}::{name}> = None;"));
        }
        for (name, members) in &self.pxd.records {
            let Some(tag) = self.tag(name) else { continue };
            self.add("record", name, format!("const _: Option<*const {m}::{name}> = None;"));
            for member in members {
                let place = (tag.clone(), member.clone());
                let has = |edition: &Edition| edition.facts.fields.contains_key(&place);
                if !self.survey.editions.iter().any(has) {
                    let full = format!("{name}.{member}");
                    let line = format!("missing: field {full} of {}", self.pxd.name);
                    self.problem(&full, line);
                }
            }
        }
    }

    /// Returns the tag behind a record's name; none for the file's own names of unnamed records.
    fn tag(&self, name: &str) -> Option<String> {
        if name.contains("anon_") {
            return None;
        }
        let target = |edition: &Edition| {
            let typedef = CType::Named(name.to_owned());
            match edition.declared.resolve(&typedef) {
                CType::Tagged(tag) => Some(tag.clone()),
                _ => None,
            }
        };
        let newest = self.survey.editions.iter().rev().find_map(target);
        Some(target(self.edition).or(newest).unwrap_or_else(|| name.to_owned()))
    }
}
