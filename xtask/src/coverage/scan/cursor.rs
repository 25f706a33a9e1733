//! Steps through the tokens: looks ahead, takes what is expected, skips what is of no interest.

use std::rc::Rc;

use anyhow::{Result, bail};

use super::Scanner;

impl Scanner {
    pub(super) fn peek(&self) -> &str {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text.as_str())
    }

    pub(super) fn header(&self) -> Option<Rc<str>> {
        self.tokens.get(self.at).and_then(|token| token.header.clone())
    }

    pub(super) fn text_from(&self, start: usize) -> String {
        let tokens = self.tokens.iter().skip(start).take(12);
        tokens.map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn accept(&mut self, text: &str) -> bool {
        let is_next = self.peek() == text;
        self.at += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) {
            return Ok(());
        }
        bail!("`{text}` expected before `{}`", self.peek())
    }

    pub(super) fn word(&mut self) -> Result<String> {
        let word = self.peek().to_owned();
        if !word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            bail!("a name expected before `{word}`");
        }
        self.at += 1;
        Ok(word)
    }

    /// Skips a bracketed group and returns its text.
    pub(super) fn group(&mut self) -> String {
        let (start, mut depth) = (self.at, 0_usize);
        while self.at < self.tokens.len() {
            match self.peek() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        let tokens = self.tokens.get(start..self.at).unwrap_or_default();
        tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn skip_declaration(&mut self) {
        while self.at < self.tokens.len() {
            match self.peek() {
                "{" => {
                    self.group();
                    if self.peek() != ";" && !self.peek().starts_with('_') {
                        return;
                    }
                }
                "(" | "[" => drop(self.group()),
                ";" => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Skips `__attribute__((…))` and the like; tells whether it says `deprecated`.
    pub(super) fn attributes(&mut self) -> bool {
        let mut is_deprecated = false;
        loop {
            match self.peek() {
                "__attribute__" | "__declspec" | "__asm__" | "asm" | "_Alignas" | "__asm" => {
                    self.at += 1;
                    is_deprecated |= self.group().contains("deprecated");
                }
                "__extension__" => self.at += 1,
                _ => return is_deprecated,
            }
        }
    }
}
