//! One role a parameter.

use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Ident, LitInt, Meta, Path};

use super::words::{known, list, unknown};
use super::{items, memory, numbers, pack};
use crate::model::{Record, Role, Space, Text};

/// The roles, as an error lists them.
const ROLES: [&str; 18] = [
    "device",
    "host",
    "any",
    "out",
    "handle",
    "stream",
    "value",
    "raw",
    "from",
    "null",
    "record",
    "text",
    "attribute",
    "pack",
    "items",
    "callback",
    "data",
    "args",
];

/// Makes the error for a parameter without a role.
pub(super) fn absent(name: &Ident) -> Error {
    Error::new(name.span(), format!("`{name}` has no role: say one of {}", list(ROLES)))
}

/// Reads the role that an attribute on a parameter states.
pub(super) fn read(attribute: &Attribute) -> syn::Result<Role> {
    let word = attribute.path().require_ident()?;
    match word.to_string().as_str() {
        "device" => Ok(Role::Memory(arguments(attribute, memory::reader(Space::Device))?)),
        "host" => Ok(Role::Memory(arguments(attribute, memory::reader(Space::Host))?)),
        "any" => Ok(Role::Memory(arguments(attribute, memory::reader(Space::Any))?)),
        "out" => match &attribute.meta {
            Meta::Path(_) => Ok(Role::Out(None)),
            _ => Ok(Role::Out(Some(arguments(attribute, |input| input.parse::<Ident>())?))),
        },
        "handle" => bare(attribute, Role::Handle),
        "stream" => bare(attribute, Role::Stream),
        "value" => match &attribute.meta {
            Meta::Path(_) => Ok(Role::Value),
            _ => Ok(Role::ValueOf(arguments(attribute, |input| input.parse::<Ident>())?)),
        },
        "raw" => bare(attribute, Role::Raw),
        "null" => bare(attribute, Role::Null),
        "from" => Ok(Role::From(arguments(attribute, numbers::source)?)),
        "record" => match &attribute.meta {
            Meta::Path(_) => Ok(Role::Record(Record::Pointed)),
            _ => Ok(Role::Record(arguments(attribute, record)?)),
        },
        "text" => match &attribute.meta {
            Meta::Path(_) => Ok(Role::Text(Text::Given)),
            _ => Ok(Role::Text(arguments(attribute, text)?)),
        },
        "items" => Ok(Role::Items(arguments(attribute, items::read)?)),
        "callback" => bare(attribute, Role::Callback),
        "data" => Ok(Role::Data(arguments(attribute, |input| input.parse::<Ident>())?)),
        "args" => Ok(Role::Args(arguments(attribute, |input| input.parse::<Ident>())?)),
        "attribute" => Ok(Role::Attribute(arguments(attribute, |input| input.parse::<Path>())?)),
        "pack" => Ok(Role::Pack(arguments(attribute, pack::read)?)),
        _ => Err(unknown(word, "a role is", ROLES)),
    }
}

/// Reads `read` or `optional`.
fn record(input: ParseStream<'_>) -> syn::Result<Record> {
    let word = input.call(Ident::parse_any)?;
    known(
        &word,
        "what is said of a record",
        &[("read", Record::Read), ("optional", Record::Optional)],
    )
}

/// Reads a number of bytes, or `kept`.
fn text(input: ParseStream<'_>) -> syn::Result<Text> {
    if input.peek(LitInt) {
        return Ok(Text::Buffer(input.parse()?));
    }
    let word = input.call(Ident::parse_any)?;
    match word == "kept" {
        true => Ok(Text::Kept),
        false => Err(unknown(&word, "behind `text` stands a number or", ["kept"])),
    }
}

/// Reads what stands in the parentheses behind a role's word.
fn arguments<T>(
    attribute: &Attribute,
    reader: impl FnOnce(ParseStream<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    match &attribute.meta {
        Meta::List(list) => reader.parse2(list.tokens.clone()).map_err(|error| {
            // What is missing at the end of the parentheses is missing from the role.
            if list.tokens.is_empty() { Error::new_spanned(list, error) } else { error }
        }),
        other => {
            let word = attribute.path().require_ident()?;
            Err(Error::new_spanned(other, format!("`{word}` needs parentheses: `{word}(…)`")))
        }
    }
}

/// Takes a role that stands alone.
fn bare(attribute: &Attribute, role: Role) -> syn::Result<Role> {
    match &attribute.meta {
        Meta::Path(_) => Ok(role),
        other => {
            let word = attribute.path().require_ident()?;
            Err(Error::new_spanned(other, format!("`{word}` stands alone")))
        }
    }
}
