//! One role a parameter.

use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Ident, LitInt, Meta, Path};

use super::words::{list, unknown};
use super::{memory, numbers, pack};
use crate::model::{Role, Space};

/// The roles, as an error lists them.
const ROLES: [&str; 13] = [
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
    "text",
    "attribute",
    "pack",
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
        "value" => bare(attribute, Role::Value),
        "raw" => bare(attribute, Role::Raw),
        "null" => bare(attribute, Role::Null),
        "from" => Ok(Role::From(arguments(attribute, numbers::source)?)),
        "text" => Ok(Role::Text(arguments(attribute, |input| input.parse::<LitInt>())?)),
        "attribute" => Ok(Role::Attribute(arguments(attribute, |input| input.parse::<Path>())?)),
        "pack" => Ok(Role::Pack(arguments(attribute, pack::read)?)),
        _ => Err(unknown(word, "a role is", ROLES)),
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
