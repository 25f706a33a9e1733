//! What an annotation may not say. Each error says what would be right.

mod call;
mod list;
mod parameter;

pub(crate) use parameter::{is_mut, pointer};

use proc_macro2::Span;
use syn::Error;

use crate::model::Annotation;

/// Collects what is wrong with an annotation.
pub(crate) struct Judge<'a> {
    annotation: &'a Annotation,
    errors: Vec<Error>,
}

/// Returns every mistake in the annotation.
pub(crate) fn judge(annotation: &Annotation) -> Vec<Error> {
    let mut judge = Judge { annotation, errors: Vec::new() };
    for parameter in &annotation.parameters {
        judge.parameter(parameter);
    }
    judge.order();
    judge.home();
    judge.fence();
    judge.peers();
    judge.safety();
    judge.errors
}

impl Judge<'_> {
    fn refuse(&mut self, span: Span, text: impl std::fmt::Display) {
        self.errors.push(Error::new(span, text));
    }
}
