//! The function itself, what it is given, and what it answers.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use super::signature::{pointee, text, tuple};
use crate::judge::{is_mut, pointer};
use crate::model::{Annotation, Home, Item, Items, Pack, Parameter, Record, Role, Text};

/// Takes the function from its slot. Its type is written out as it was annotated, so that a header
/// that says otherwise is a type error here.
pub(super) fn present(annotation: &Annotation) -> TokenStream {
    let symbol = &annotation.symbol;
    let types = annotation.parameters.iter().map(|parameter| &parameter.ty);
    quote! {
        let entry: unsafe extern "system" fn(#(#types),*) -> crate::shim::Status =
            crate::shim::present(CALL, &crate::shim::sys::TABLE.#symbol)?;
    }
}

/// Makes zeroed memory for what the driver writes.
pub(super) fn outs(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().filter_map(|parameter| {
        let Parameter { name, ty, role, .. } = parameter;
        match role {
            Role::Out(None) => {
                let ty: &Type = pointee(ty);
                Some(quote!(let mut #name: #ty = crate::shim::zeroed();))
            }
            Role::Text(Text::Buffer(length)) => Some(quote!(let mut #name = [0; #length];)),
            Role::Text(Text::Kept) => Some(quote!(let mut #name = core::ptr::null();)),
            _ => None,
        }
    });
    quote!(#(#list)*)
}

/// Writes descriptors, field by field, into zeroed memory that is not moved afterwards.
pub(super) fn fill(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().filter_map(|parameter| match &parameter.role {
        Role::Pack(pack) => Some(descriptor(&parameter.name, pack)),
        // A copy, so that a driver that writes after all writes to nobody's record.
        Role::Record(Record::Read) => {
            let name = &parameter.name;
            Some(quote!(let mut #name = *#name;))
        }
        Role::Items(Items { item: Item::Memory(_), .. }) => {
            let (name, list) = (&parameter.name, addresses(&parameter.name));
            Some(quote!(let mut #list = crate::shim::addresses(&#name);))
        }
        Role::Args(_) => {
            let (name, places) = (&parameter.name, places(&parameter.name));
            Some(quote!(let mut #places = #name.places();))
        }
        _ => None,
    });
    quote!(#(#list)*)
}

/// Returns what the list of a list's addresses is called.
fn addresses(name: &Ident) -> Ident {
    format_ident!("{name}_addresses")
}

/// Returns what the list of where each argument is is called.
fn places(name: &Ident) -> Ident {
    format_ident!("{name}_places")
}

fn descriptor(name: &Ident, pack: &Pack) -> TokenStream {
    let Pack { descriptor, sides, extent, zero } = pack;
    let mut fields: Vec<&Ident> = Vec::new();
    let mut writes = TokenStream::new();
    for side in sides {
        let operand = &side.name;
        let (by, host, device, pitch) = (&side.by, &side.host, &side.device, &side.pitch);
        fields.extend([by, host, device, pitch]);
        writes.extend(quote! {
            fields.#by = crate::shim::memory_type(&#operand);
            fields.#host = crate::shim::host_address(&#operand);
            fields.#device = crate::shim::device_address(&#operand);
            fields.#pitch = #operand.pitch();
        });
        if let Some(plane) = &side.plane {
            fields.push(plane);
            writes.extend(quote!(fields.#plane = #operand.plane();));
        }
    }
    if let Some((width, height, depth)) = extent {
        if let Some(depth) = depth {
            fields.push(depth);
            writes.extend(quote!(fields.#depth = extent.depth;));
        }
        fields.extend([width, height]);
        writes.extend(quote! {
            fields.#width = extent.width;
            fields.#height = extent.height;
        });
    }
    fields.extend(zero);
    // With the annotation's own place, so that a forgotten field is named there.
    let pattern = quote_spanned!(descriptor.span()=> #descriptor { #(#fields: _),* });
    quote! {
        // Is never run: it proves that every field of the descriptor is named above.
        let _ = |descriptor: #descriptor| {
            let #pattern = descriptor;
        };
        let mut #name = crate::shim::descriptor::<#descriptor>();
        {
            let fields = crate::shim::fields(&mut #name);
            #writes
        }
    }
}

/// Calls.
pub(super) fn call(annotation: &Annotation) -> TokenStream {
    let arguments = annotation.parameters.iter().map(|parameter| {
        let name = &parameter.name;
        match &parameter.role {
            Role::Memory(_) => quote!(crate::shim::address(&#name)),
            Role::Out(None) | Role::Text(Text::Kept) => quote!(&raw mut #name),
            Role::From(_) if pointer(&parameter.ty).is_some() => quote!(&raw mut #name),
            Role::Out(Some(_)) | Role::ValueOf(_) => quote!(#name.0),
            Role::Record(record) => match record {
                Record::Pointed if is_mut(&parameter.ty) => quote!(core::ptr::from_mut(#name)),
                Record::Pointed => quote!(core::ptr::from_ref(#name)),
                Record::Read => quote!(&raw mut #name),
                Record::Optional => quote!(#name.map_or(core::ptr::null(), core::ptr::from_ref)),
            },
            Role::Items(items) => list(parameter, items),
            Role::Callback => quote!(crate::shim::Trampoline::TRAMPOLINE),
            Role::Data(callback) => quote!(#callback.data()),
            Role::Args(_) => {
                let places = places(name);
                quote!(#places.list())
            }
            Role::Text(Text::Given) if is_mut(&parameter.ty) => quote!(#name.as_ptr().cast_mut()),
            Role::Text(Text::Given) => quote!(#name.as_ptr()),
            Role::Handle => quote!(#name.raw()),
            Role::Stream => quote!(crate::shim::Handle::raw(#name)),
            Role::Null => quote!(crate::shim::null()),
            Role::Text(Text::Buffer(_)) | Role::Pack(_) => quote!(#name.as_mut_ptr()),
            Role::Value | Role::Raw | Role::From(_) | Role::Attribute(_) | Role::Unread => {
                quote!(#name)
            }
        }
    });
    let values = annotation.parameters.iter().filter_map(|parameter| match &parameter.role {
        Role::Value => {
            let name = &parameter.name;
            Some(quote!(crate::shim::plain(&#name);))
        }
        Role::Items(Items { item: Item::Value, .. }) => {
            let name = &parameter.name;
            Some(quote!(crate::shim::plain_items(#name);))
        }
        _ => None,
    });
    let posted = annotation.parameters.iter().filter_map(|parameter| match &parameter.role {
        Role::Callback => {
            let name = &parameter.name;
            Some(match has_home(annotation) {
                true => quote!(let #name = crate::shim::Posted::new(#name, Some(home));),
                false => quote!(let #name = crate::shim::Posted::new(#name, None);),
            })
        }
        _ => None,
    });
    quote! {
        #(#values)*
        #(#posted)*
        let code = unsafe { entry(#(#arguments),*) };
    }
}

/// Takes a callback back that the driver did not take.
pub(super) fn posted(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().filter_map(|parameter| match &parameter.role {
        Role::Callback => {
            let name = &parameter.name;
            Some(quote!(#name.settle(code);))
        }
        _ => None,
    });
    quote!(#(#list)*)
}

fn has_home(annotation: &Annotation) -> bool {
    annotation.home.is_none_or(|home| home.word != Home::None)
}

/// Lets only records without an address pass, and through `*mut` only those that may hold any
/// bytes.
pub(super) fn plain_record(parameter: &Parameter, record: Record) -> TokenStream {
    let (name, text) = (&parameter.name, text(&parameter.name));
    match record {
        Record::Pointed if is_mut(&parameter.ty) => quote! {
            crate::shim::plain_record(CALL, #text, &*#name)?;
            crate::shim::any_bytes(&*#name);
        },
        Record::Pointed | Record::Read => {
            quote!(crate::shim::plain_record(CALL, #text, #name)?;)
        }
        Record::Optional => quote! {
            #name.map_or(Ok(()), |record| crate::shim::plain_record(CALL, #text, record))?;
        },
    }
}

/// Returns the address of a list.
fn list(parameter: &Parameter, items: &Items) -> TokenStream {
    let name = &parameter.name;
    let cast = if is_mut(&parameter.ty) { quote!(.cast_mut()) } else { quote!() };
    match &items.item {
        Item::Out => quote!(crate::shim::list_mut(#name)),
        Item::Value => quote!(crate::shim::list(#name)#cast),
        Item::Handle => quote!(crate::shim::list(#name.raw())#cast),
        Item::Lengths(_) if is_mut(&parameter.ty) => quote!(crate::shim::list_mut(&mut #name)),
        Item::Lengths(_) => quote!(crate::shim::list(&#name)),
        Item::Memory(_) => {
            let name = addresses(name);
            match is_mut(&parameter.ty) {
                true => quote!(crate::shim::list_mut(&mut #name)),
                false => quote!(crate::shim::list(&#name)),
            }
        }
    }
}

/// Makes the result of what the driver wrote.
pub(super) fn result(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().filter_map(|parameter| {
        let name = &parameter.name;
        match &parameter.role {
            Role::Out(None) => Some(quote!(#name)),
            Role::From(_) if pointer(&parameter.ty).is_some() => Some(quote!(#name)),
            Role::Text(Text::Buffer(_)) => Some(quote!(crate::shim::text(&#name))),
            // The shim itself is safe to call: the driver keeps the text.
            Role::Text(Text::Kept) => Some(quote!(unsafe { crate::shim::text_at(#name) })),
            _ => None,
        }
    });
    tuple(list.collect())
}
