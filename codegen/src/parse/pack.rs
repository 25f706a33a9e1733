//! A descriptor: which fields say where each side is, how much, and which stay zero.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, Token, braced, parenthesized, token};

use super::memory::{ACCESSES, until};
use super::words::{known, unknown};
use crate::model::{Pack, Side};

/// The words of a side, as an error lists them.
const SIDE: [&str; 5] = ["host", "device", "pitch", "plane", "until"];

/// Reads `STRUCT { side: access by field { … }, extent(width, height, depth), zero(…) }`.
pub(super) fn read(input: ParseStream<'_>) -> syn::Result<Pack> {
    let descriptor = input.parse()?;
    let content;
    braced!(content in input);
    let mut pack = Pack { descriptor, sides: Vec::new(), extent: None, zero: Vec::new() };
    while !content.is_empty() {
        let word = content.call(Ident::parse_any)?;
        if content.peek(token::Paren) {
            group(&content, &word, &mut pack)?;
        } else {
            pack.sides.push(side(&content, word)?);
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    Ok(pack)
}

fn group(input: ParseStream<'_>, word: &Ident, pack: &mut Pack) -> syn::Result<()> {
    let content;
    parenthesized!(content in input);
    match word.to_string().as_str() {
        "extent" => {
            let width = content.parse()?;
            content.parse::<Token![,]>()?;
            let height = content.parse()?;
            let is_deep = content.parse::<Option<Token![,]>>()?.is_some() && !content.is_empty();
            let depth = if is_deep { Some(content.parse()?) } else { None };
            pack.extent = Some((width, height, depth));
        }
        "zero" => {
            let fields = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
            pack.zero.extend(fields);
        }
        _ => return Err(unknown(word, "beside its sides a descriptor has", ["extent", "zero"])),
    }
    Ok(())
}

fn side(input: ParseStream<'_>, name: Ident) -> syn::Result<Side> {
    input.parse::<Token![:]>()?;
    let word = input.call(Ident::parse_any)?;
    let access = known(&word, "an access", ACCESSES)?;
    let by = input.call(Ident::parse_any)?;
    if by != "by" {
        return Err(unknown(&by, "behind the access stands", ["by"]));
    }
    let by = input.parse()?;
    let content;
    braced!(content in input);
    let (mut host, mut device, mut pitch, mut plane, mut ends) = (None, None, None, None, None);
    while !content.is_empty() {
        let key = content.call(Ident::parse_any)?;
        match key.to_string().as_str() {
            "host" => host = Some(field(&content)?),
            "device" => device = Some(field(&content)?),
            "pitch" => pitch = Some(field(&content)?),
            "plane" => plane = Some(field(&content)?),
            "until" => ends = Some(until(&content)?),
            _ => return Err(unknown(&key, "a side has", SIDE)),
        }
        if !content.is_empty() {
            content.parse::<Token![,]>()?;
        }
    }
    let missing = |what: &str| {
        let text = format!("side `{name}` does not say which field is `{what}`");
        Error::new(name.span(), text)
    };
    Ok(Side {
        access,
        until: ends,
        by,
        host: host.ok_or_else(|| missing("host"))?,
        device: device.ok_or_else(|| missing("device"))?,
        pitch: pitch.ok_or_else(|| missing("pitch"))?,
        plane,
        name,
    })
}

fn field(input: ParseStream<'_>) -> syn::Result<Ident> {
    input.parse::<Token![:]>()?;
    input.parse()
}
