//! An attribute that turns an annotated C signature into a checked call.
#![doc = include_str!("language.md")]

mod emit;
#[cfg(test)]
mod golden;
mod judge;
mod model;
mod parse;

use proc_macro::TokenStream;

/// Turns an annotated C signature into a checked call; the crate's page describes the language.
#[proc_macro_attribute]
pub fn driver(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(arguments.into(), item.into()).into()
}

fn expand(
    arguments: proc_macro2::TokenStream,
    item: proc_macro2::TokenStream,
) -> proc_macro2::TokenStream {
    let signature = match syn::parse2::<parse::Signature>(item) {
        Ok(signature) => signature,
        Err(error) => return error.to_compile_error(),
    };
    let (annotation, errors) = match syn::parse2(arguments) {
        Ok(arguments) => {
            let (annotation, mut errors) = signature.with(arguments);
            errors.extend(judge::judge(&annotation));
            (annotation, errors)
        }
        Err(error) => {
            let (annotation, mut errors) = signature.with(parse::Arguments::unread());
            errors.push(error);
            (annotation, errors)
        }
    };
    if errors.is_empty() {
        emit::emit(&annotation)
    } else {
        emit::emit_refused(&annotation, &errors)
    }
}
