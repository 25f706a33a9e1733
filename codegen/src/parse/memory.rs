//! What `device`, `host` and `any` say: an access, an extent, and modifiers.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Ident, LitInt, Path, Token, parenthesized};

use super::numbers;
use super::words::{known, unknown};
use crate::model::{Access, Extent, Memory, Space, Stated, Until};

pub(super) const ACCESSES: &[(&str, Access)] =
    &[("read", Access::Read), ("write", Access::Write), ("share", Access::Share)];
const UNTILS: &[(&str, Until)] = &[("call", Until::Call), ("stream", Until::Stream)];

/// The words of a memory role, as an error lists them.
const WORDS: [&str; 11] =
    ["read", "write", "share", "bytes", "rows", "base", "opaque", "align", "kind", "until", "peer"];

/// Returns the reader of a memory role's parentheses.
pub(super) fn reader(space: Space) -> impl FnOnce(ParseStream<'_>) -> syn::Result<Memory> {
    move |input| read(input, space)
}

#[derive(Default)]
struct Parts {
    access: Option<Access>,
    extent: Option<Extent>,
    align: Option<LitInt>,
    kind: Option<Path>,
    until: Option<Stated<Until>>,
    peer: Option<Span>,
}

pub(super) fn read(input: ParseStream<'_>, space: Space) -> syn::Result<Memory> {
    let mut parts = Parts::default();
    let whole = input.span();
    while !input.is_empty() {
        let word = input.call(Ident::parse_any)?;
        parts.take(input, &word)?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    let access = parts.access.ok_or_else(|| {
        Error::new(whole, "what is done to the memory is not said: `read`, `write` or `share`")
    })?;
    let extent = parts.extent.ok_or_else(|| {
        let text = "which bytes is not said: `bytes(…)`, `rows(pitch, width, height)`, `base` or \
                    `opaque`";
        Error::new(whole, text)
    })?;
    let Parts { align, kind, until, peer, .. } = parts;
    Ok(Memory { space, access, extent, align, kind, until, peer })
}

impl Parts {
    fn take(&mut self, input: ParseStream<'_>, word: &Ident) -> syn::Result<()> {
        match word.to_string().as_str() {
            "read" | "write" | "share" => {
                let access = known(word, "an access", ACCESSES)?;
                once(&mut self.access, access, word, "an access")
            }
            "bytes" => {
                let content;
                parenthesized!(content in input);
                let bytes = Extent::Bytes(numbers::sum(&content)?);
                finished(&content)?;
                once(&mut self.extent, bytes, word, "an extent")
            }
            "rows" => {
                let rows = rows(input)?;
                once(&mut self.extent, rows, word, "an extent")
            }
            "base" => once(&mut self.extent, Extent::Base, word, "an extent"),
            "opaque" => once(&mut self.extent, Extent::Opaque(word.span()), word, "an extent"),
            "align" => {
                let content;
                parenthesized!(content in input);
                once(&mut self.align, content.parse()?, word, "an alignment")
            }
            "kind" => {
                let content;
                parenthesized!(content in input);
                once(&mut self.kind, content.parse()?, word, "a kind")
            }
            "until" => {
                let until = until(input)?;
                once(&mut self.until, until, word, "`until`")
            }
            "peer" => once(&mut self.peer, word.span(), word, "`peer`"),
            _ => Err(unknown(word, "memory is described by", WORDS)),
        }
    }
}

/// Reads `= call` or `= stream`.
pub(super) fn until(input: ParseStream<'_>) -> syn::Result<Stated<Until>> {
    input.parse::<Token![=]>()?;
    let word = input.call(Ident::parse_any)?;
    Ok(Stated { word: known(&word, "`until`", UNTILS)?, span: word.span() })
}

fn rows(input: ParseStream<'_>) -> syn::Result<Extent> {
    let content;
    parenthesized!(content in input);
    let pitch = numbers::sum(&content)?;
    content.parse::<Token![,]>()?;
    let width = numbers::sum(&content)?;
    content.parse::<Token![,]>()?;
    let height = numbers::sum(&content)?;
    finished(&content)?;
    Ok(Extent::Rows { pitch, width, height })
}

fn finished(content: ParseStream<'_>) -> syn::Result<()> {
    if content.is_empty() { Ok(()) } else { Err(content.error("an extent uses `+` and `*` only")) }
}

fn once<T>(place: &mut Option<T>, value: T, word: &Ident, what: &str) -> syn::Result<()> {
    if place.is_some() {
        return Err(Error::new(word.span(), format!("{what} is said twice")));
    }
    *place = Some(value);
    Ok(())
}
