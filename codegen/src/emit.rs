//! Model to tokens: an outer function that turns what the caller has into operands, and an inner
//! one, not generic, that goes through the steps.
//!
//! Everything that an expansion names is in `crate::shim`.

mod call;
mod contract;
mod gates;
mod signature;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Ident};

use crate::model::{Annotation, Order};

/// Returns the contract, its table, and the function.
pub(crate) fn emit(annotation: &Annotation) -> TokenStream {
    let contract = contract::contract(annotation);
    let docs = contract::docs(annotation);
    let signature = signature::signature(annotation);
    let outer = signature::outer(annotation);
    let inner = inner(annotation);
    quote! {
        #contract
        #docs
        #[allow(clippy::too_many_arguments, reason = "one argument an operand of the C function")]
        #signature {
            #inner
            #outer
        }
    }
}

/// Returns the errors, and a function of the same signature that does nothing, so that who calls
/// it has no further error.
pub(crate) fn emit_refused(annotation: &Annotation, errors: &[Error]) -> TokenStream {
    let errors = errors.iter().map(Error::to_compile_error);
    let contract = contract::stub(annotation);
    let attributes = &annotation.attributes;
    let signature = signature::signature(annotation);
    // Names every C type, so that no import counts as unused.
    let types = annotation.parameters.iter().map(|parameter| &parameter.ty);
    quote! {
        #(#errors)*
        const _: Option<fn(#(#types),*)> = None;
        #contract
        #(#attributes)*
        #[expect(unused_variables, reason = "the annotation is refused")]
        #signature {
            loop {}
        }
    }
}

/// Emits the function that is compiled once a call: every step, in the order that never changes.
fn inner(annotation: &Annotation) -> TokenStream {
    let contract = contract::name(annotation);
    let safety = annotation.safety.map(|_| quote!(unsafe));
    let parameters = signature::inner_parameters(annotation);
    let output = signature::inner_output(annotation);
    let present = call::present(annotation);
    let derive = gates::derive(annotation);
    let outs = call::outs(annotation);
    let home = gates::home(annotation);
    let reach = gates::reach(annotation);
    let gather = gates::gather(annotation);
    let disjoint = gates::disjoint(annotation);
    let enter = gates::enter(annotation);
    let fill = call::fill(annotation);
    let settle = gates::settle(annotation);
    let call = call::call(annotation);
    let touch = gates::touch(annotation);
    let posted = call::posted(annotation);
    let result = call::result(annotation);
    quote! {
        #[allow(clippy::too_many_arguments, reason = "one argument an operand of the C function")]
        #safety fn shim(#(#parameters),*) -> crate::shim::Result<#output> {
            const CALL: &crate::shim::Contract = &#contract;
            #present
            #derive
            #outs
            #home
            #reach
            #gather
            #disjoint
            #fill
            #enter
            #settle
            #call
            #touch
            #posted
            crate::shim::check(CALL, code)?;
            Ok(#result)
        }
    }
}

/// Returns the timeline that the call's uses are recorded on, if it leaves any behind.
fn timeline(annotation: &Annotation) -> Option<TokenStream> {
    let stream = annotation.stream().map(|parameter| &parameter.name);
    match annotation.order?.word {
        Order::Host => None,
        Order::Default => Some(quote!(&timeline)),
        Order::Stream => {
            let stream: &Ident = stream?;
            Some(quote!(crate::shim::timeline(#stream)))
        }
    }
}
