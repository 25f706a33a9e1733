//! Coverage against the real headers, and against copies of `cuda-sys` that lack something.

mod calls;
mod mutation;
mod reports;
mod scanner;

use std::sync::LazyLock;

use super::survey::Survey;
use crate::manifest;
use crate::tests::FETCHED;

/// The driver in all releases.
static DRIVER: LazyLock<Survey> = LazyLock::new(|| {
    let driver = manifest::library("driver").unwrap();
    let mut surveys = super::surveys(&FETCHED.cache, &FETCHED.wheels, &[driver]).unwrap();
    surveys.remove(0)
});
