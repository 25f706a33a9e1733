//! Roles to Rust parameters and return values.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, LitStr, Path, Type};

use crate::judge::{is_mut, pointer};
use crate::model::{
    Access, Annotation, Home, Item, Items, Pack, Parameter, Record, Role, Space, Stated, Text,
    Until,
};

/// Returns everything of the function before its body.
pub(super) fn signature(annotation: &Annotation) -> TokenStream {
    let Annotation { visibility, name, .. } = annotation;
    let safety = annotation.safety.map(|_| quote!(unsafe));
    let generics = marker(annotation).map(|marker| quote!(<A: #marker>));
    let parameters = parameters(annotation);
    let output = output(annotation);
    quote! {
        #visibility #safety fn #name #generics (#(#parameters),*) -> crate::shim::Result<#output>
    }
}

/// Returns the trait of the attribute that the call is about.
fn marker(annotation: &Annotation) -> Option<&Path> {
    annotation.parameters.iter().find_map(|parameter| match &parameter.role {
        Role::Attribute(marker) => Some(marker),
        _ => None,
    })
}

fn is_given(annotation: &Annotation) -> bool {
    annotation.home.is_some_and(|home| home.word == Home::Given)
}

fn parameters(annotation: &Annotation) -> Vec<TokenStream> {
    let mut list = Vec::new();
    if is_given(annotation) {
        list.push(quote!(context: &crate::shim::Context));
    }
    for Parameter { name, ty, role, .. } in &annotation.parameters {
        match role {
            Role::Memory(memory) => {
                list.push(operand(name, memory.space, memory.access, memory.until));
            }
            Role::Pack(pack) => {
                for side in &pack.sides {
                    list.push(operand(&side.name, Space::Any, side.access, side.until));
                }
                list.push(extent(pack));
            }
            Role::Handle => list.push(quote!(#name: &impl crate::shim::Handle<Raw = #ty>)),
            Role::Stream => list.push(quote!(#name: &impl crate::shim::AnyStream)),
            Role::Value | Role::Raw => list.push(quote!(#name: #ty)),
            Role::ValueOf(_) => {
                list.extend(marker(annotation).map(|marker| quote!(#name: <A as #marker>::Value)));
            }
            Role::Record(record) => list.push(self::record(name, ty, *record)),
            Role::Text(Text::Given) => list.push(quote!(#name: &core::ffi::CStr)),
            Role::Items(items) => list.extend(self::items(name, ty, items)),
            Role::Callback => list.push(quote!(#name: impl FnOnce() + Send + 'static)),
            Role::Args(_) => list.push(quote!(#name: impl crate::shim::Arguments)),
            Role::Unread => list.push(quote!(#name: impl Sized)),
            Role::Out(_)
            | Role::From(_)
            | Role::Null
            | Role::Text(Text::Buffer(_) | Text::Kept)
            | Role::Attribute(_)
            | Role::Data(_) => {}
        }
    }
    list
}

/// Returns what the caller says of how much.
fn extent(pack: &Pack) -> TokenStream {
    match pack.extent {
        Some((_, _, Some(_))) => quote!(extent: crate::shim::Volume),
        _ => quote!(extent: crate::shim::Extent),
    }
}

/// Returns what the caller gives for one plain value.
fn record(name: &Ident, ty: &Type, record: Record) -> TokenStream {
    let value = pointee(ty);
    match record {
        Record::Pointed if is_mut(ty) => quote!(#name: &mut #value),
        Record::Pointed | Record::Read => quote!(#name: &#value),
        Record::Optional => quote!(#name: Option<&#value>),
    }
}

/// Returns what the caller gives for a list, if anything.
fn items(name: &Ident, ty: &Type, items: &Items) -> Option<TokenStream> {
    let value = pointee(ty);
    Some(match &items.item {
        Item::Value => quote!(#name: &[#value]),
        Item::Out => quote!(#name: &mut [#value]),
        Item::Handle => quote!(#name: &[&dyn crate::shim::Handle<Raw = #value>]),
        Item::Lengths(_) => return None,
        Item::Memory(memory) => {
            let stays = memory.until.is_some_and(|until| until.word == Until::Stream);
            let bound = match memory.space {
                Space::Device => quote!(crate::shim::Device),
                Space::Host => quote!(crate::shim::Host),
                Space::Any if stays => quote!(crate::shim::Steady),
                Space::Any => quote!(crate::shim::Memory),
            };
            match memory.access {
                Access::Write => quote!(#name: &mut [&mut dyn #bound]),
                Access::Read | Access::Share => quote!(#name: &[&dyn #bound]),
            }
        }
    })
}

fn operand(
    name: &Ident,
    space: Space,
    access: Access,
    until: Option<Stated<Until>>,
) -> TokenStream {
    let stays = until.is_some_and(|until| until.word == Until::Stream);
    let bound = match (space, stays) {
        (Space::Device, _) => quote!(crate::shim::Device),
        (Space::Host, false) => quote!(crate::shim::Host),
        (Space::Host, true) => quote!(crate::shim::Host + crate::shim::Steady),
        (Space::Any, false) => quote!(crate::shim::Memory),
        (Space::Any, true) => quote!(crate::shim::Steady),
    };
    let reference = if access == Access::Write { quote!(&mut) } else { quote!(&) };
    quote!(#name: #reference (impl #bound + ?Sized))
}

/// Returns the types of what the driver writes, as the caller sees them.
fn outputs(annotation: &Annotation) -> Vec<TokenStream> {
    annotation
        .parameters
        .iter()
        .filter_map(|parameter| match &parameter.role {
            Role::Out(None) => {
                let ty = pointee(&parameter.ty);
                Some(quote!(#ty))
            }
            Role::Out(Some(_)) => {
                let marker = marker(annotation)?;
                Some(quote!(<A as #marker>::Value))
            }
            Role::Text(Text::Buffer(_) | Text::Kept) => Some(quote!(crate::shim::Text)),
            Role::From(_) if pointer(&parameter.ty).is_some() => {
                let ty = pointee(&parameter.ty);
                Some(quote!(#ty))
            }
            _ => None,
        })
        .collect()
}

/// Returns what an `out` parameter points to.
pub(super) fn pointee(ty: &Type) -> &Type {
    pointer(ty).map_or(ty, |pointer| &pointer.elem)
}

fn output(annotation: &Annotation) -> TokenStream {
    tuple(outputs(annotation))
}

/// Makes one value or a tuple.
pub(super) fn tuple(mut list: Vec<TokenStream>) -> TokenStream {
    match (list.pop(), list.is_empty()) {
        (Some(only), true) => only,
        (Some(last), false) => quote!((#(#list,)* #last)),
        (None, _) => quote!(()),
    }
}

/// Returns the parameter that becomes an attribute's value.
fn value_out(annotation: &Annotation) -> Option<&Parameter> {
    annotation.parameters.iter().find(|parameter| matches!(parameter.role, Role::Out(Some(_))))
}

/// Returns what the inner function answers: an attribute's value is written by reference, because
/// its type is the caller's.
pub(super) fn inner_output(annotation: &Annotation) -> TokenStream {
    if value_out(annotation).is_some() { quote!(()) } else { output(annotation) }
}

/// Returns the inner function's parameters, none of them generic.
pub(super) fn inner_parameters(annotation: &Annotation) -> Vec<TokenStream> {
    let mut list = Vec::new();
    if is_given(annotation) {
        list.push(quote!(context: &crate::shim::Context));
    }
    for Parameter { name, ty, role, .. } in &annotation.parameters {
        match role {
            Role::Memory(_) => list.push(quote!(mut #name: crate::shim::Operand<'_>)),
            Role::Pack(pack) => {
                for side in &pack.sides {
                    let name = &side.name;
                    list.push(quote!(mut #name: crate::shim::Operand<'_>));
                }
                list.push(extent(pack));
            }
            Role::Handle => list.push(quote!(#name: crate::shim::Held<'_, #ty>)),
            Role::Stream => list.push(quote!(#name: &crate::shim::Stream)),
            Role::Value | Role::Raw | Role::Attribute(_) => list.push(quote!(#name: #ty)),
            // The address, and how many bytes lie there.
            Role::Out(Some(_)) | Role::ValueOf(_) => list.push(quote!(#name: (#ty, usize))),
            Role::Record(record) => list.push(self::record(name, ty, *record)),
            Role::Text(Text::Given) => list.push(quote!(#name: &core::ffi::CStr)),
            Role::Items(items) => {
                let value = pointee(ty);
                list.extend(match &items.item {
                    Item::Handle => Some(quote!(#name: &crate::shim::Handles<'_, #value>)),
                    Item::Memory(_) => Some(quote!(mut #name: crate::shim::Operands<'_>)),
                    Item::Value | Item::Out => self::items(name, ty, items),
                    Item::Lengths(_) => None,
                });
            }
            Role::Callback => list.push(quote!(#name: crate::shim::Job)),
            Role::Args(_) => list.push(quote!(mut #name: crate::shim::Passed<'_>)),
            Role::Out(None)
            | Role::From(_)
            | Role::Null
            | Role::Text(Text::Buffer(_) | Text::Kept)
            | Role::Data(_)
            | Role::Unread => {}
        }
    }
    list
}

/// Returns the outer function's body: the one line that is compiled for each type of operand.
pub(super) fn outer(annotation: &Annotation) -> TokenStream {
    let mut list = Vec::new();
    if is_given(annotation) {
        list.push(quote!(context));
    }
    let mut value = None;
    for parameter in &annotation.parameters {
        let Parameter { name, role, .. } = parameter;
        match role {
            Role::Memory(memory) => list.push(make(name, memory.access, memory.until)),
            Role::Pack(pack) => {
                for side in &pack.sides {
                    list.push(make(&side.name, side.access, side.until));
                }
                list.push(quote!(extent));
            }
            Role::Handle => {
                let text = text(name);
                list.push(quote!(crate::shim::Held::new(#text, #name)));
            }
            Role::Stream => list.push(quote!(crate::shim::on(#name))),
            Role::Value
            | Role::Raw
            | Role::Record(_)
            | Role::Text(Text::Given)
            | Role::Items(Items { item: Item::Value | Item::Out, .. }) => list.push(quote!(#name)),
            Role::Items(Items { item: Item::Handle, .. }) => {
                let text = text(name);
                list.push(quote!(&crate::shim::Handles::new(#text, #name)));
            }
            Role::Items(Items { item: Item::Memory(memory), .. }) => {
                list.push(make_list(name, memory.access, memory.until));
            }
            Role::Callback => list.push(quote!(crate::shim::Job::new(#name))),
            Role::Args(_) => {
                let text = text(name);
                list.push(quote!(crate::shim::Passed::new(#text, &#name)));
            }
            Role::Attribute(marker) => list.push(quote!(<A as #marker>::CODE)),
            Role::Out(Some(_)) => {
                value = Some((name, marker(annotation)));
                list.push(quote!(((&raw mut #name).cast(), size_of_val(&#name))));
            }
            Role::ValueOf(_) => {
                let cast = if is_mut(&parameter.ty) { quote!(.cast_mut()) } else { quote!() };
                let address = quote!(core::ptr::from_ref(&#name)#cast.cast());
                list.push(quote!((#address, size_of_val(&#name))));
            }
            Role::Out(None)
            | Role::From(_)
            | Role::Null
            | Role::Text(Text::Buffer(_) | Text::Kept)
            | Role::Items(Items { item: Item::Lengths(_), .. })
            | Role::Data(_)
            | Role::Unread => {}
        }
    }
    let call = quote!(shim(#(#list),*));
    let call = if annotation.safety.is_some() { quote!(unsafe { #call }) } else { call };
    match value {
        Some((name, marker)) => quote! {
            let mut #name = crate::shim::zeroed::<<A as #marker>::Value>();
            #call?;
            Ok(#name)
        },
        None => call,
    }
}

/// Returns the words that an operand is made with.
fn words(access: Access, until: Option<Stated<Until>>) -> (TokenStream, TokenStream) {
    let access = match access {
        Access::Read => quote!(crate::shim::Access::Read),
        Access::Write => quote!(crate::shim::Access::Write),
        Access::Share => quote!(crate::shim::Access::Share),
    };
    let until = match until.map(|until| until.word) {
        Some(Until::Call) => quote!(crate::shim::Until::Call),
        Some(Until::Stream) | None => quote!(crate::shim::Until::Stream),
    };
    (access, until)
}

fn make_list(name: &Ident, access: Access, until: Option<Stated<Until>>) -> TokenStream {
    let text = text(name);
    let (access, until) = words(access, until);
    let operands = quote! {
        #name.iter().map(|memory| crate::shim::Operand::new(#text, #access, #until, &**memory))
    };
    quote!(crate::shim::Operands::new(#text, #operands))
}

fn make(name: &Ident, access: Access, until: Option<Stated<Until>>) -> TokenStream {
    let text = text(name);
    let (access, until) = words(access, until);
    // Only the address travels; `&` and `&mut` were for the caller.
    quote!(crate::shim::Operand::new(#text, #access, #until, &*#name))
}

/// Makes the text that messages call a parameter.
pub(super) fn text(name: &Ident) -> LitStr {
    LitStr::new(&name.to_string(), name.span())
}
