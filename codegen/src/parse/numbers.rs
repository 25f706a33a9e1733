//! The small arithmetic of extents, and what a computed parameter is computed from.

use syn::parse::ParseStream;
use syn::{Ident, LitInt, Token, parenthesized, token};

use crate::model::{Source, Sum};

/// Reads a sum of products of literals and scalar parameters.
pub(super) fn sum(input: ParseStream<'_>) -> syn::Result<Sum> {
    let mut left = product(input)?;
    while input.parse::<Option<Token![+]>>()?.is_some() {
        left = Sum::Add(Box::new(left), Box::new(product(input)?));
    }
    Ok(left)
}

fn product(input: ParseStream<'_>) -> syn::Result<Sum> {
    let mut left = factor(input)?;
    while input.parse::<Option<Token![*]>>()?.is_some() {
        left = Sum::Mul(Box::new(left), Box::new(factor(input)?));
    }
    Ok(left)
}

fn factor(input: ParseStream<'_>) -> syn::Result<Sum> {
    if input.peek(token::Paren) {
        let content;
        parenthesized!(content in input);
        return sum(&content);
    }
    if input.peek(LitInt) {
        return Ok(Sum::Literal(input.parse()?));
    }
    match input.parse::<Ident>() {
        Ok(scalar) => Ok(Sum::Scalar(scalar)),
        Err(_) => Err(input.error("an extent is made of numbers, parameters, `+` and `*`")),
    }
}

/// Reads `number`, `operand.field` or `operand.field / number`.
pub(super) fn source(input: ParseStream<'_>) -> syn::Result<Source> {
    if input.peek(LitInt) {
        return Ok(Source::Literal(input.parse()?));
    }
    let operand = input.parse()?;
    input.parse::<Token![.]>()?;
    let field = input.parse()?;
    let divisor =
        if input.parse::<Option<Token![/]>>()?.is_some() { Some(input.parse()?) } else { None };
    if !input.is_empty() {
        return Err(input.error("`from` says a number, `operand.field` or `operand.field / n`"));
    }
    Ok(Source::Field { operand, field, divisor })
}
