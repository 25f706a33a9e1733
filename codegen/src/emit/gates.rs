//! Roles to gate calls: everything around the call that may refuse it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, Type};

use super::call::plain_record;
use super::signature::{pointee, text};
use super::timeline;
use crate::judge::pointer;
use crate::model::{
    Access, Annotation, Extent, Home, Item, Items, Memory, Named, Order, Parameter, Role, Source,
    Sum, Text, Until,
};

/// Computes the parameters that follow from operands.
pub(super) fn derive(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().filter_map(|parameter| {
        let Parameter { name, ty, role, .. } = parameter;
        if let Role::Items(Items { item: Item::Lengths(list), .. }) = role {
            return Some(lengths(name, pointee(ty), list));
        }
        let Role::From(source) = role else { return None };
        // What the driver changes is a number of the shim's own.
        let (ty, mutable) = match pointer(ty) {
            Some(_) => (pointee(ty), quote!(mut)),
            None => (ty, quote!()),
        };
        let value = match source {
            Source::Literal(number) => return Some(quote!(let #mutable #name: #ty = #number;)),
            Source::Field { operand, field, .. } if field == "home" => {
                let text = text(operand);
                let home = quote!(crate::shim::home(CALL, &[(#text, #operand.home())])?);
                return Some(quote!(let #name: #ty = #home.raw();));
            }
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
        Some(quote!(let #mutable #name: #ty = crate::shim::fit(CALL, #text, #value)?;))
    });
    quote!(#(#list)*)
}

/// Computes the length of each item of a list of memory.
fn lengths(name: &Ident, ty: &Type, list: &Ident) -> TokenStream {
    let text = text(name);
    let each = quote!(#list.iter().map(|operand| crate::shim::fit(CALL, #text, operand.len())));
    quote!(let mut #name: Vec<#ty> = #each.collect::<crate::shim::Result<_>>()?;)
}

fn field_of(annotation: &Annotation, operand: &Ident, field: &Ident) -> TokenStream {
    let named = annotation.parameters.iter().find(|other| other.name == *operand);
    match named.map(|other| &other.role) {
        Some(Role::Text(Text::Buffer(length))) => quote!(#length),
        Some(Role::Out(Some(_)) | Role::ValueOf(_)) => quote!(#operand.1),
        Some(Role::Items(_)) => quote!(#operand.len()),
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
    let single = annotation.memory().filter(|memory| !memory.is_peer && !memory.is_list);
    list.extend(single.map(|memory| named(memory.name)));
    let lists = lists_with_homes(annotation);
    if annotation.home.is_some_and(|home| home.word == Home::Handle) {
        list.extend(lists.iter().map(|name| {
            let text = text(name);
            quote!((#text, #name.home()))
        }));
    }
    quote! {
        let home = crate::shim::home(CALL, &[#(#list),*])?;
        #(#lists.same_home(CALL, home)?;)*
    }
}

/// Returns the lists whose items have a context that must be the call's.
fn lists_with_homes(annotation: &Annotation) -> Vec<&Ident> {
    let names = annotation.parameters.iter().filter(|parameter| match &parameter.role {
        Role::Items(Items { item: Item::Handle, .. }) | Role::Args(_) => true,
        Role::Items(Items { item: Item::Memory(memory), .. }) => memory.peer.is_none(),
        _ => false,
    });
    names.map(|parameter| &parameter.name).collect()
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
                match side.plane {
                    Some(_) => quote!(crate::shim::volume(CALL, &mut #name, extent)?;),
                    None => quote!(crate::shim::extent(CALL, &mut #name, extent)?;),
                }
            });
            quote!(#(#sides)*)
        }
        Role::Record(record) => plain_record(parameter, *record),
        Role::Items(items) => self::items(annotation, &parameter.name, items),
        Role::Args(function) => {
            let (name, text) = (&parameter.name, text(&parameter.name));
            quote!(crate::shim::arity(CALL, #text, &mut #name, #function.parameters())?;)
        }
        _ => TokenStream::new(),
    });
    quote!(#(#list)*)
}

/// Refuses a list of another length, and each item of it that is too small.
fn items(annotation: &Annotation, name: &Ident, items: &Items) -> TokenStream {
    let (text, count, optional) = (text(name), sum(&items.count), items.is_optional);
    let length = quote!(crate::shim::count(CALL, #text, #name.len(), #count, #optional)?;);
    let Item::Memory(memory) = &items.item else { return length };
    let each = match &memory.extent {
        Extent::Bytes(bytes) => {
            let bytes = item_sum(annotation, bytes);
            quote!(crate::shim::bytes(CALL, operand, #bytes)?;)
        }
        Extent::Base => quote!(crate::shim::base(CALL, operand)?;),
        Extent::Rows { .. } | Extent::Opaque(_) => quote!(crate::shim::opaque(operand);),
    };
    let align = memory.align.as_ref().map(|n| quote!(crate::shim::align(CALL, operand, #n)?;));
    let kind = memory.kind.as_ref().map(|kind| quote!(crate::shim::kind(CALL, operand, #kind)?;));
    quote! {
        #length
        for (index, operand) in #name.iter_mut().enumerate() {
            let _ = index;
            #each
            #align
            #kind
        }
    }
}

/// Turns a sum into that of one item of a list.
fn item_sum(annotation: &Annotation, sum: &Sum) -> TokenStream {
    match sum {
        Sum::Scalar(name) if annotation.is_list_of_numbers(name) => {
            quote!(crate::shim::Size::item(&#name, index))
        }
        Sum::Add(left, right) => {
            let (left, right) = (item_sum(annotation, left), item_sum(annotation, right));
            quote!((#left + #right))
        }
        Sum::Mul(left, right) => {
            let (left, right) = (item_sum(annotation, left), item_sum(annotation, right));
            quote!((#left * #right))
        }
        other => self::sum(other),
    }
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
    let (mut written, mut several) = (false, false);
    for memory in annotation.memory().filter(|memory| memory.access != Access::Share) {
        written |= memory.access == Access::Write;
        several |= memory.is_list;
        list.push(memory.name);
    }
    match (written, several) {
        // A kernel may be given the same bytes twice: what it does with them is its caller's.
        (true, true) => quote!(crate::shim::disjoint(CALL, &used)?;),
        (true, false) if list.len() > 1 => {
            quote!(crate::shim::disjoint(CALL, &[#(&#list),*])?;)
        }
        _ => TokenStream::new(),
    }
}

/// Waits for what the call must not pass.
pub(super) fn settle(annotation: &Annotation) -> TokenStream {
    let fence = annotation.fence.and(annotation.stream()).map(|stream| {
        let name = &stream.name;
        quote!(crate::shim::fence(CALL, #name)?;)
    });
    let settle = match (used_list(annotation), timeline(annotation)) {
        (None, _) => TokenStream::new(),
        (Some(list), Some(timeline)) => {
            quote!(let settled = crate::shim::settle(CALL, #timeline, #list)?;)
        }
        (Some(list), None) => quote!(crate::shim::settle_host(CALL, #list)?;),
    };
    quote!(#settle #fence)
}

/// Records the uses that the call leaves behind, before its answer is looked at: an error may be
/// that of earlier work, and then the call was enqueued all the same.
pub(super) fn touch(annotation: &Annotation) -> TokenStream {
    match (used_list(annotation), timeline(annotation)) {
        (Some(list), Some(timeline)) => {
            quote!(crate::shim::touch(#timeline, #list, settled, code);)
        }
        _ => TokenStream::new(),
    }
}

/// Joins the operands that come alone and those of lists, once their extents are known.
pub(super) fn gather(annotation: &Annotation) -> TokenStream {
    let (single, lists) = used(annotation);
    if lists.is_empty() {
        return TokenStream::new();
    }
    quote! {
        let used = crate::shim::gather(&[#(&#single),*], &[#(#lists.as_slice()),*]);
    }
}

/// Returns the operands whose bytes are in use, as a slice; none if there are none.
fn used_list(annotation: &Annotation) -> Option<TokenStream> {
    let (single, lists) = used(annotation);
    match (single.is_empty(), lists.is_empty()) {
        (true, true) => None,
        (false, true) => Some(quote!(&[#(&#single),*])),
        (_, false) => Some(quote!(&used)),
    }
}

/// Returns the names of what is in use: operands, and lists of operands.
fn used(annotation: &Annotation) -> (Vec<&Ident>, Vec<&Ident>) {
    let is_used = |memory: &Named<'_>| memory.access != Access::Share;
    let (lists, single): (Vec<_>, Vec<_>) =
        annotation.memory().filter(is_used).partition(|memory| memory.is_list);
    let single = single.into_iter().map(|memory| memory.name).collect();
    let args = annotation.args().map(|parameter| &parameter.name);
    (single, lists.into_iter().map(|memory| memory.name).chain(args).collect())
}

/// Says until when, as a reader of the table wants it.
pub(super) fn until(annotation: &Annotation, until: Option<Until>) -> &'static str {
    match (until, annotation.order.map(|order| order.word)) {
        (Some(Until::Call), _) | (None, Some(Order::Host)) => "call",
        (None, Some(Order::Default)) => "default stream",
        _ => "stream",
    }
}
