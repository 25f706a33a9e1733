//! The function itself, what it is given, and what it answers.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, Type};

use super::signature::{pointee, tuple};
use crate::model::{Annotation, Pack, Parameter, Role};

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
            Role::Text(length) => Some(quote!(let mut #name = [0; #length];)),
            _ => None,
        }
    });
    quote!(#(#list)*)
}

/// Writes descriptors, field by field, into zeroed memory that is not moved afterwards.
pub(super) fn fill(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().filter_map(|parameter| match &parameter.role {
        Role::Pack(pack) => Some(descriptor(&parameter.name, pack)),
        _ => None,
    });
    quote!(#(#list)*)
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
    }
    if let Some((width, height)) = extent {
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
            Role::Out(None) => quote!(&raw mut #name),
            Role::Handle => quote!(#name.raw()),
            Role::Stream => quote!(crate::shim::Handle::raw(#name)),
            Role::Null => quote!(crate::shim::null()),
            Role::Text(_) => quote!(#name.as_mut_ptr()),
            Role::Pack(_) => quote!(#name.as_mut_ptr()),
            Role::Out(Some(_))
            | Role::Value
            | Role::Raw
            | Role::From(_)
            | Role::Attribute(_)
            | Role::Unread => quote!(#name),
        }
    });
    let values = annotation.parameters.iter().filter_map(|parameter| match &parameter.role {
        Role::Value => {
            let name = &parameter.name;
            Some(quote!(crate::shim::plain(&#name);))
        }
        _ => None,
    });
    quote! {
        #(#values)*
        let code = unsafe { entry(#(#arguments),*) };
    }
}

/// Makes the result of what the driver wrote.
pub(super) fn result(annotation: &Annotation) -> TokenStream {
    let list = annotation.parameters.iter().filter_map(|parameter| {
        let name = &parameter.name;
        match &parameter.role {
            Role::Out(None) => Some(quote!(#name)),
            Role::Text(_) => Some(quote!(crate::shim::text(&#name))),
            _ => None,
        }
    });
    tuple(list.collect())
}
