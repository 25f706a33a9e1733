//! The list of symbols without an annotation, each with its reason.

use std::fmt;

use super::{Symbols, is_twin};

/// Is a line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excuse {
    subject: Subject,
    reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    Symbol(String),
    /// Every version of a symbol but the newest.
    Superseded,
    /// Every twin for per-thread default streams.
    Twins,
}

/// Reads the list; a line that says no reason is a problem.
pub(super) fn read(text: &str, problems: &mut Vec<String>) -> Vec<Excuse> {
    let mut excuses = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(": ") {
            Some((subject, reason)) if !reason.trim().is_empty() => {
                let subject = match subject {
                    "[superseded]" => Subject::Superseded,
                    "[twins]" => Subject::Twins,
                    symbol => Subject::Symbol(symbol.to_owned()),
                };
                excuses.push(Excuse { subject, reason: reason.to_owned() });
            }
            _ => problems.push(format!("differs: unannotated.txt: `{line}` has no reason")),
        }
    }
    excuses
}

impl Excuse {
    /// Tells whether it excuses the symbol.
    pub(super) fn is_for(&self, symbol: &str, symbols: &Symbols) -> bool {
        match &self.subject {
            Subject::Symbol(name) => name == symbol,
            Subject::Superseded => symbols.is_superseded(symbol),
            Subject::Twins => is_twin(symbol),
        }
    }

    /// Tells whether it names the symbol.
    pub(super) fn is_exact(&self, symbol: &str) -> bool {
        matches!(&self.subject, Subject::Symbol(name) if name == symbol)
    }

    /// Tells whether the call is there, written by hand.
    pub(super) fn is_by_hand(&self) -> bool {
        self.reason.starts_with("by hand: ")
    }
}

impl fmt::Display for Excuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Subject::Symbol(name) => f.write_str(name),
            Subject::Superseded => f.write_str("[superseded]"),
            Subject::Twins => f.write_str("[twins]"),
        }
    }
}
