//! One context for everything that a call names; entering it, and restoring the caller's.
#![expect(unsafe_code, reason = "reads and sets the thread's context")]

use core::ptr;

use cuda_sys::{CUcontext, CUresult};

use super::Contract;
use super::callback::outside;
use super::raw;
use crate::context::Context;
use crate::error::{Error, Quantity, Result, Rule};

/// Is a context that is the thread's while this lives; then the caller's is restored.
pub(crate) struct Entered<'a> {
    context: &'a Context,
    /// The caller's context; perhaps the same.
    previous: CUcontext,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if self.previous != self.context.raw() {
            // SAFETY: it was the thread's context before; nobody destroys a context that is
            // current in a thread without saying so to that thread.
            if let Err(error) = unsafe { raw::ctx_set_current(self.previous) } {
                self.context.report(error);
            }
        }
    }
}

/// Finds the one context of all operands, and refuses those of another.
#[inline]
pub(crate) fn home<'a>(
    call: &'static Contract,
    operands: &[(&'static str, Option<&'a Context>)],
) -> Result<&'a Context> {
    let mut found: Option<&'a Context> = None;
    for (name, home) in operands {
        match (found, home) {
            (None, Some(_)) => found = *home,
            (Some(first), Some(other)) if first.id() != other.id() => {
                return Err(Error::refused(
                    call.symbol,
                    name,
                    Rule::Home,
                    Quantity::Context(first.id()),
                    Quantity::Context(other.id()),
                ));
            }
            _ => {}
        }
    }
    found.ok_or_else(|| homeless(call, operands))
}

/// Enters the context that was found.
#[inline]
pub(crate) fn enter<'a>(call: &'static Contract, home: &'a Context) -> Result<Entered<'a>> {
    home.enter(call.symbol)
}

#[cold]
fn homeless(call: &'static Contract, operands: &[(&'static str, Option<&Context>)]) -> Error {
    let name = operands.first().map_or("context", |(name, _)| name);
    let (need, have) = (Quantity::Word("a context"), Quantity::Word("none"));
    Error::refused(call.symbol, name, Rule::Home, need, have)
}

impl Context {
    /// Makes the context the thread's.
    ///
    /// Only its number shows that somebody reset it since: its handle stays, and everything that
    /// was made in it is gone.
    #[inline]
    pub(crate) fn enter(&self, call: &'static str) -> Result<Entered<'_>> {
        outside(call)?;
        let mut current = ptr::null_mut();
        // SAFETY: the call writes one handle.
        unsafe { raw::ctx_get_current(&raw mut current) }?;
        self.check_alive(call)?;
        let raw = self.raw();
        if current != raw {
            // SAFETY: the context is retained while this value lives.
            unsafe { raw::ctx_set_current(raw) }?;
        }
        Ok(Entered { context: self, previous: current })
    }

    /// Refuses a context that was reset.
    #[inline]
    pub(crate) fn check_alive(&self, call: &'static str) -> Result<()> {
        let Some(expected) = self.driver_id() else { return Ok(()) };
        let mut id = 0;
        // SAFETY: the call writes one number; a stale handle of a primary context answers.
        let have = match unsafe { raw::ctx_get_id(self.raw(), &raw mut id) } {
            Ok(()) if id == expected => return Ok(()),
            Ok(()) => Quantity::Number(id),
            Err(error) if error.code() == Some(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED) => {
                Quantity::Word("none")
            }
            Err(error) => return Err(error.of(call)),
        };
        let need = Quantity::Number(expected);
        Err(Error::refused(call, "context", Rule::Alive, need, have))
    }
}
