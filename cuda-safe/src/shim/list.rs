//! Lists: of values, of handles, of memory. A list without items is passed as null.

use super::Contract;
use super::gate::Size;
use super::home::home;
use super::operand::{Handle, Held, Operand, Pointer};
use crate::context::Context;
use crate::error::{Error, Result, Rule};

/// Lets only lists of so many items pass; an optional one may also have none.
#[inline]
pub(crate) fn count(
    call: &'static Contract,
    operand: &'static str,
    have: usize,
    need: Size,
    is_optional: bool,
) -> Result<()> {
    if need == Size::of(have) || (is_optional && have == 0) {
        return Ok(());
    }
    Err(Error::refused(call.symbol, operand, Rule::Count, need.quantity(), have.into()))
}

/// Returns the address of a list that is read.
pub(crate) const fn list<T>(items: &[T]) -> *const T {
    if items.is_empty() { core::ptr::null() } else { items.as_ptr() }
}

/// Returns the address of a list that is written.
pub(crate) const fn list_mut<T>(items: &mut [T]) -> *mut T {
    if items.is_empty() { core::ptr::null_mut() } else { items.as_mut_ptr() }
}

/// Is a list of handles on its way through the gates.
pub(crate) struct Handles<'a, R> {
    name: &'static str,
    raw: Vec<R>,
    held: Vec<Held<'a, R>>,
}

impl<'a, R: Copy> Handles<'a, R> {
    pub(crate) fn new(name: &'static str, handles: &'a [&'a dyn Handle<Raw = R>]) -> Self {
        let held: Vec<Held<'a, R>> =
            handles.iter().map(|handle| Held::new(name, *handle)).collect();
        Self { name, raw: held.iter().map(Held::raw).collect(), held }
    }

    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    pub(crate) fn raw(&self) -> &[R] {
        &self.raw
    }

    /// Returns the context of the first.
    pub(crate) fn home(&self) -> Option<&'a Context> {
        self.held.first().and_then(Held::home)
    }

    /// Refuses a handle of another context.
    pub(crate) fn same_home(&self, call: &'static Contract, context: &Context) -> Result<()> {
        let homes = self.held.iter().map(Held::home);
        all_in(call, self.name, context, homes)
    }
}

/// Refuses what is of another context.
pub(super) fn all_in<'a>(
    call: &'static Contract,
    name: &'static str,
    context: &Context,
    mut homes: impl Iterator<Item = Option<&'a Context>>,
) -> Result<()> {
    homes.try_for_each(|other| {
        home(call, &[("context", Some(context)), (name, other)]).map(|_context| ())
    })
}

/// Is a list of memory on its way through the gates.
pub(crate) struct Operands<'a> {
    name: &'static str,
    list: Vec<Operand<'a>>,
}

impl<'a> Operands<'a> {
    pub(crate) fn new(name: &'static str, list: impl Iterator<Item = Operand<'a>>) -> Self {
        Self { name, list: list.collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> core::slice::Iter<'_, Operand<'a>> {
        self.list.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> core::slice::IterMut<'_, Operand<'a>> {
        self.list.iter_mut()
    }

    pub(crate) fn as_slice(&self) -> &[Operand<'a>] {
        &self.list
    }

    /// Refuses memory of another context.
    pub(crate) fn same_home(&self, call: &'static Contract, context: &Context) -> Result<()> {
        all_in(call, self.name, context, self.list.iter().map(Operand::home))
    }
}

/// Returns the addresses of a list of memory.
pub(crate) fn addresses<P: Pointer>(operands: &Operands<'_>) -> Vec<P> {
    operands.list.iter().map(super::address).collect()
}

/// Joins operands that come alone with those of lists.
pub(crate) fn gather<'o, 'a>(
    single: &[&'o Operand<'a>],
    lists: &[&'o [Operand<'a>]],
) -> Vec<&'o Operand<'a>> {
    single.iter().copied().chain(lists.iter().copied().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use cuda_sys::Version;

    use super::*;

    const CALL: &Contract =
        &Contract { symbol: "call", since: Version::new(11, 0), order: None, rows: &[] };

    #[test]
    fn a_list_has_as_many_items_as_its_count_and_an_optional_one_perhaps_none() {
        let count = |have, is_optional| count(CALL, "edges", have, Size::of(2), is_optional);
        assert!(count(2, false).is_ok() && count(2, true).is_ok() && count(0, true).is_ok());
        let refused = [(0, false), (1, false), (1, true), (3, true)];
        for (have, is_optional) in refused {
            let text = count(have, is_optional).unwrap_err().to_string();
            assert_eq!(text, format!("call: `edges` breaks Count: needs 2, has {have}"));
        }
    }
}
