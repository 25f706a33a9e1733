//! Words to model. An unknown word lists the known ones.
//!
//! Every mistake is kept, and reading goes on behind it, so that each gives one error.

mod items;
mod memory;
mod numbers;
mod pack;
mod role;
mod words;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Block, Error, Generics, Ident, ReturnType, Token, Type, Visibility, parenthesized,
    token,
};

use crate::model::{Annotation, Home, Order, Parameter, Role, Stated};
use words::{known, unknown};

/// Is what stands in the parentheses of the attribute.
pub(crate) struct Arguments {
    symbol: Ident,
    order: Option<Stated<Order>>,
    home: Option<Stated<Home>>,
    fence: Option<Span>,
}

impl Arguments {
    /// Stands for arguments that could not be read.
    pub(crate) fn unread() -> Self {
        Self {
            symbol: Ident::new("unread", Span::call_site()),
            order: None,
            home: None,
            fence: None,
        }
    }
}

const ORDERS: &[(&str, Order)] =
    &[("host", Order::Host), ("default", Order::Default), ("stream", Order::Stream)];
const HOMES: &[(&str, Home)] =
    &[("given", Home::Given), ("handle", Home::Handle), ("none", Home::None)];

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let symbol = input.parse()?;
        let (mut order, mut home, mut fence) = (None, None, None);
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let key = input.call(Ident::parse_any)?;
            match key.to_string().as_str() {
                "order" => stated(input, &key, "order", ORDERS, &mut order)?,
                "home" => stated(input, &key, "home", HOMES, &mut home)?,
                "fence" => fence = Some(key.span()),
                _ => return Err(unknown(&key, "a call says", ["order", "home", "fence"])),
            }
        }
        if !input.is_empty() {
            return Err(input.error("expected a comma"));
        }
        Ok(Self { symbol, order, home, fence })
    }
}

/// Reads `= word` into `place`, once.
fn stated<T: Copy>(
    input: ParseStream<'_>,
    key: &Ident,
    what: &str,
    table: &[(&str, T)],
    place: &mut Option<Stated<T>>,
) -> syn::Result<()> {
    if place.is_some() {
        return Err(Error::new(key.span(), format!("`{what}` is said twice")));
    }
    input.parse::<Token![=]>()?;
    let word = input.call(Ident::parse_any)?;
    *place = Some(Stated { word: known(&word, what, table)?, span: word.span() });
    Ok(())
}

/// Is the function as it is written, its roles read.
pub(crate) struct Signature {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    safety: Option<Token![unsafe]>,
    name: Ident,
    parameters: Vec<Parameter>,
    errors: Vec<Error>,
}

impl Parse for Signature {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let safety = input.parse()?;
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        let mut errors = Vec::new();
        // What is too much is read and reported, so that the function is there for its callers.
        if input.peek(Token![<]) {
            errors.push(input.error("a C function has no type parameters"));
            input.parse::<Generics>()?;
        }
        let content;
        parenthesized!(content in input);
        let parameters = Punctuated::<Written, Token![,]>::parse_terminated(&content)?.into_iter();
        let parameters = parameters.map(|written| written.read(&mut errors)).collect();
        if input.peek(Token![->]) {
            errors.push(input.error("what a call returns follows from its `out` parameters"));
            input.parse::<ReturnType>()?;
        }
        if input.peek(token::Brace) {
            errors.push(input.error("a call has no body: end it with `;`"));
            input.parse::<Block>()?;
        } else {
            input.parse::<Token![;]>()?;
        }
        Ok(Self { attributes, visibility, safety, name, parameters, errors })
    }
}

impl Signature {
    /// Joins both halves; the second value is what could not be read.
    pub(crate) fn with(self, arguments: Arguments) -> (Annotation, Vec<Error>) {
        let annotation = Annotation {
            attributes: self.attributes,
            visibility: self.visibility,
            safety: self.safety.map(|token| token.span),
            name: self.name,
            symbol: arguments.symbol,
            order: arguments.order,
            home: arguments.home,
            fence: arguments.fence,
            parameters: self.parameters,
        };
        (annotation, self.errors)
    }
}

/// Is a parameter as it is written: `#[role] name @ c_name: type`, or `#[role] c_name: type`.
struct Written {
    attributes: Vec<Attribute>,
    name: Ident,
    c_name: Option<Ident>,
    ty: Type,
}

impl Parse for Written {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let name = input.parse()?;
        let c_name =
            if input.parse::<Option<Token![@]>>()?.is_some() { Some(input.parse()?) } else { None };
        input.parse::<Token![:]>()?;
        Ok(Self { attributes, name, c_name, ty: input.parse()? })
    }
}

impl Written {
    fn read(self, errors: &mut Vec<Error>) -> Parameter {
        let Self { attributes, name, c_name, ty } = self;
        let mut roles = attributes.iter();
        let (role, span) = match (roles.next(), roles.next()) {
            (Some(only), None) => {
                let role = role::read(only).unwrap_or_else(|error| {
                    errors.push(error);
                    Role::Unread
                });
                (role, syn::spanned::Spanned::span(&only.meta))
            }
            (None, _) => {
                errors.push(role::absent(&name));
                (Role::Unread, name.span())
            }
            (Some(_), Some(second)) => {
                let text = format!("`{name}` has two roles, and may have one");
                errors.push(Error::new_spanned(&second.meta, text));
                (Role::Unread, name.span())
            }
        };
        Parameter { c_name: c_name.unwrap_or_else(|| name.clone()), name, ty, role, span }
    }
}
