//! An array with a count: how many, of what.

use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Token, parenthesized};

use super::words::unknown;
use super::{memory, numbers};
use crate::model::{Item, Items, Space};

/// What items are, as an error lists it.
const WORDS: [&str; 7] = ["value", "out", "handle", "from", "device", "host", "any"];

/// Reads `count, what` and perhaps `optional`.
pub(super) fn read(input: ParseStream<'_>) -> syn::Result<Items> {
    let count = numbers::sum(input)?;
    if input.is_empty() {
        let text = "what the items are is not said: `items(count, value)`, `out`, `handle`, \
                    `from(…)`, `device(…)`, `host(…)` or `any(…)`";
        return Err(input.error(text));
    }
    input.parse::<Token![,]>()?;
    let word = input.call(Ident::parse_any)?;
    let item = match word.to_string().as_str() {
        "value" => Item::Value,
        "out" => Item::Out,
        "handle" => Item::Handle,
        "from" => Item::Lengths(lengths(input)?),
        "device" => memory(input, Space::Device)?,
        "host" => memory(input, Space::Host)?,
        "any" => memory(input, Space::Any)?,
        _ => return Err(unknown(&word, "items are", WORDS)),
    };
    let mut is_optional = false;
    if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
        let word = input.call(Ident::parse_any)?;
        if word != "optional" {
            return Err(unknown(&word, "behind the items stands", ["optional"]));
        }
        is_optional = true;
    }
    if !input.is_empty() {
        return Err(input.error("expected a comma"));
    }
    Ok(Items { count, item, is_optional })
}

fn memory(input: ParseStream<'_>, space: Space) -> syn::Result<Item> {
    let content;
    parenthesized!(content in input);
    Ok(Item::Memory(memory::read(&content, space)?))
}

/// Reads `(list.len)`.
fn lengths(input: ParseStream<'_>) -> syn::Result<Ident> {
    let content;
    parenthesized!(content in input);
    let list = content.parse()?;
    content.parse::<Token![.]>()?;
    let field = content.call(Ident::parse_any)?;
    if field != "len" || !content.is_empty() {
        return Err(unknown(&field, "of each item of a list is known", ["len"]));
    }
    Ok(list)
}
