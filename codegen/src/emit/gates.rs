//! Roles to gate calls: everything around the call that may refuse it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::signature::text;
use super::timeline;
use crate::model::{
    Access, Annotation, Extent, Home, Memory, Order, Parameter, Role, Source, Sum, Until,
};

/// Computes the parameters that follow from operands.
pub(super) fn derive(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().filter_map(|parameter| {
        let Parameter { name, ty, role, .. } = parameter;
        let Role::From(source) = role else { return None };
        let value = match source {
            Source::Literal(number) => return Some(quote!(let #name: #ty = #number;)),
            Source::Field { operand, field, divisor } => {
                let value = field_of(annotation, operand, field);
                match divisor {
                    Some(divisor) => {
                        let operand = text(operand);
                        quote!(crate::shim::quotient(CALL, #operand, #value, #divisor)?)
                    }
                    None => value,
                }
            }
        };
        let text = text(name);
        Some(quote!(let #name: #ty = crate::shim::fit(CALL, #text, #value)?;))
    });
    quote!(#(#list)*)
}

fn field_of(annotation: &Annotation, operand: &Ident, field: &Ident) -> TokenStream {
    let named = annotation.parameters.iter().find(|other| other.name == *operand);
    match named.map(|other| &other.role) {
        Some(Role::Text(length)) => quote!(#length),
        _ => quote!(#operand.#field()),
    }
}

/// Finds the one context of everything that has one; asks the driver nothing.
pub(super) fn home(annotation: &Annotation) -> TokenStream {
    let mut list = Vec::new();
    match annotation.home.map(|home| home.word) {
        Some(Home::None) => return TokenStream::new(),
        Some(Home::Given) => list.push(quote!(("context", Some(context)))),
        Some(Home::Handle) | None => {}
    }
    // The stream comes first: where it is, the call runs, and others are refused.
    let named = |name: &Ident| {
        let text = text(name);
        quote!((#text, #name.home()))
    };
    list.extend(annotation.stream().map(|parameter| {
        let (name, text) = (&parameter.name, text(&parameter.name));
        quote!((#text, crate::shim::Handle::home(#name)))
    }));
    for parameter in &annotation.parameters {
        if matches!(parameter.role, Role::Handle) {
            list.push(named(&parameter.name));
        }
    }
    list.extend(annotation.memory().map(|memory| named(memory.name)));
    quote!(let home = crate::shim::home(CALL, &[#(#list),*])?;)
}

/// Enters that context, once nothing can be refused any more.
pub(super) fn enter(annotation: &Annotation) -> TokenStream {
    if annotation.home.is_some_and(|home| home.word == Home::None) {
        return TokenStream::new();
    }
    let timeline = match annotation.order.map(|order| order.word) {
        Some(Order::Default) => quote!(let timeline = crate::shim::default_timeline(home);),
        _ => TokenStream::new(),
    };
    quote! {
        let _entered = crate::shim::enter(CALL, home)?;
        #timeline
    }
}

/// Refuses operands that are too small, misplaced or of the wrong kind.
pub(super) fn reach(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().map(|parameter| match &parameter.role {
        Role::Memory(memory) => operand(&parameter.name, memory),
        Role::Pack(pack) => {
            let sides = pack.sides.iter().map(|side| {
                let name = &side.name;
                quote!(crate::shim::extent(CALL, &mut #name, extent)?;)
            });
            quote!(#(#sides)*)
        }
        _ => TokenStream::new(),
    });
    quote!(#(#list)*)
}

fn operand(name: &Ident, memory: &Memory) -> TokenStream {
    let extent = match &memory.extent {
        Extent::Bytes(bytes) => {
            let bytes = sum(bytes);
            quote!(crate::shim::bytes(CALL, &mut #name, #bytes)?;)
        }
        Extent::Rows { pitch, width, height } => {
            let (pitch, width, height) = (sum(pitch), sum(width), sum(height));
            quote!(crate::shim::rows(CALL, &mut #name, #pitch, #width, #height)?;)
        }
        Extent::Base => quote!(crate::shim::base(CALL, &mut #name)?;),
        Extent::Opaque(_) => quote!(crate::shim::opaque(&mut #name);),
    };
    let align =
        memory.align.as_ref().map(|align| quote!(crate::shim::align(CALL, &#name, #align)?;));
    let kind = memory.kind.as_ref().map(|kind| quote!(crate::shim::kind(CALL, &#name, #kind)?;));
    quote!(#extent #align #kind)
}

/// Turns a sum into one that notices its own overflow.
fn sum(sum: &Sum) -> TokenStream {
    match sum {
        Sum::Literal(number) => quote!(crate::shim::Size::of(#number)),
        Sum::Scalar(name) => quote!(crate::shim::Size::of(#name)),
        Sum::Add(left, right) => {
            let (left, right) = (self::sum(left), self::sum(right));
            quote!((#left + #right))
        }
        Sum::Mul(left, right) => {
            let (left, right) = (self::sum(left), self::sum(right));
            quote!((#left * #right))
        }
    }
}

/// Refuses operands that share bytes of which some are written.
pub(super) fn disjoint(annotation: &Annotation) -> TokenStream {
    let mut list: Vec<&Ident> = Vec::new();
    let mut written = false;
    for memory in annotation.memory().filter(|memory| memory.access != Access::Share) {
        written |= memory.access == Access::Write;
        list.push(memory.name);
    }
    if list.len() < 2 || !written {
        return TokenStream::new();
    }
    quote!(crate::shim::disjoint(CALL, &[#(&#list),*])?;)
}

/// Waits for what the call must not pass.
pub(super) fn settle(annotation: &Annotation) -> TokenStream {
    let list = used(annotation);
    if list.is_empty() {
        return TokenStream::new();
    }
    match timeline(annotation) {
        Some(timeline) => {
            quote!(let settled = crate::shim::settle(CALL, #timeline, [#(&#list),*])?;)
        }
        None => quote!(crate::shim::settle_host(CALL, [#(&#list),*])?;),
    }
}

/// Records the uses that the call leaves behind, before its answer is looked at: an error may be
/// that of earlier work, and then the call was enqueued all the same.
pub(super) fn touch(annotation: &Annotation) -> TokenStream {
    let list = used(annotation);
    match timeline(annotation) {
        Some(timeline) if !list.is_empty() => {
            quote!(crate::shim::touch(#timeline, [#(&#list),*], settled, code);)
        }
        _ => TokenStream::new(),
    }
}

fn used(annotation: &Annotation) -> Vec<&Ident> {
    annotation
        .memory()
        .filter(|memory| memory.access != Access::Share)
        .map(|memory| memory.name)
        .collect()
}

/// Says until when, as a reader of the table wants it.
pub(super) fn until(annotation: &Annotation, until: Option<Until>) -> &'static str {
    match (until, annotation.order.map(|order| order.word)) {
        (Some(Until::Call), _) | (None, Some(Order::Host)) => "call",
        (None, Some(Order::Default)) => "default stream",
        _ => "stream",
    }
}
