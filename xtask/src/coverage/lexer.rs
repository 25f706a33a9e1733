//! Cuts the preprocessor's output into tokens, each with the header that it came from, and collects
//! the macros that stand at its end.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::c::Macro;

/// Is a word, a number, a string or one character of punctuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    /// The header of interest that holds it; none for all others.
    pub(super) header: Option<Rc<str>>,
}

/// Is what the preprocessor printed, in parts.
#[derive(Default)]
pub(super) struct Unit {
    pub(super) tokens: Vec<Token>,
    pub(super) macros: BTreeMap<String, Macro>,
}

/// Reads the output of `cc -E -dD`. `header_of` names the header of interest at a path.
pub(super) fn read(text: &str, header_of: impl Fn(&str) -> Option<String>) -> Unit {
    let mut unit = Unit::default();
    let mut header: Option<Rc<str>> = None;
    for line in text.lines() {
        if let Some(marker) = line.strip_prefix("# ") {
            let path = marker.split('"').nth(1).unwrap_or_default();
            header = header_of(path).map(Rc::from);
        } else if let Some(definition) = line.strip_prefix("#define ") {
            if let Some(header) = &header {
                unit.define(definition, header);
            }
        } else if let Some(name) = line.strip_prefix("#undef ") {
            unit.macros.remove(name.trim());
        } else if !line.starts_with('#') {
            tokens(line, header.as_ref(), &mut unit.tokens);
        }
    }
    unit
}

impl Unit {
    fn define(&mut self, definition: &str, header: &str) {
        let (name, text) = definition.split_once(' ').unwrap_or((definition, ""));
        if !name.contains('(') {
            let text = text.trim().to_owned();
            self.macros.insert(name.to_owned(), Macro { text, header: header.to_owned() });
        }
    }
}

fn tokens(line: &str, header: Option<&Rc<str>>, tokens: &mut Vec<Token>) {
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => quoted(rest, first),
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("...") => 3,
            _ => first.len_utf8(),
        };
        let (text, after) = rest.split_at(length);
        tokens.push(Token { text: text.to_owned(), header: header.cloned() });
        rest = after.trim_start();
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '.'
}

/// Returns the length of the quoted text at the start, quotes included.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}
