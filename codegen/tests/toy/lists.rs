//! The toy's lists, callbacks and arguments.

use super::*;

pub struct Handles<'a, R>(Vec<R>, Option<&'a Context>);
impl<'a, R: Copy> Handles<'a, R> {
    pub fn new(name: &'static str, handles: &'a [&'a dyn Handle<Raw = R>]) -> Self {
        Self(handles.iter().map(|handle| handle.raw()).collect(), None)
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn raw(&self) -> &[R] {
        &self.0
    }
    pub fn home(&self) -> Option<&'a Context> {
        self.1
    }
    pub fn same_home(&self, call: &Contract, context: &Context) -> Result<()> {
        step("same");
        Ok(())
    }
}

pub struct Operands<'a>(Vec<Operand<'a>>);
impl<'a> Operands<'a> {
    pub fn new(name: &'static str, list: impl Iterator<Item = Operand<'a>>) -> Self {
        Self(list.collect())
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn iter(&self) -> std::slice::Iter<'_, Operand<'a>> {
        self.0.iter()
    }
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Operand<'a>> {
        self.0.iter_mut()
    }
    pub fn as_slice(&self) -> &[Operand<'a>] {
        &self.0
    }
    pub fn same_home(&self, call: &Contract, context: &Context) -> Result<()> {
        step("same");
        Ok(())
    }
}
pub fn addresses<P: Pointer>(operands: &Operands<'_>) -> Vec<P> {
    operands.iter().map(address).collect()
}
pub fn gather<'o, 'a>(
    single: &[&'o Operand<'a>],
    lists: &[&'o [Operand<'a>]],
) -> Vec<&'o Operand<'a>> {
    single.iter().copied().chain(lists.iter().copied().flatten()).collect()
}
pub fn list<T>(items: &[T]) -> *const T {
    items.as_ptr()
}
pub fn list_mut<T>(items: &mut [T]) -> *mut T {
    items.as_mut_ptr()
}
pub fn count(c: &Contract, name: &str, have: usize, need: Size, optional: bool) -> Result<()> {
    step("count");
    let fits = have == need.0 || (optional && have == 0);
    if fits { Ok(()) } else { Err(format!("{name}: needs {}, has {have}", need.0)) }
}

pub trait Arguments {
    fn count(&self) -> usize;
}
impl Arguments for () {
    fn count(&self) -> usize {
        0
    }
}
pub struct Places;
impl Places {
    pub fn list(&mut self) -> *mut *mut c_void {
        std::ptr::null_mut()
    }
}
pub struct Passed<'a>(usize, Vec<Operand<'a>>);
impl<'a> Passed<'a> {
    pub fn new(name: &'static str, arguments: &'a impl Arguments) -> Self {
        Self(arguments.count(), Vec::new())
    }
    pub fn as_slice(&self) -> &[Operand<'a>] {
        &self.1
    }
    pub fn same_home(&self, call: &Contract, context: &Context) -> Result<()> {
        step("same");
        Ok(())
    }
    pub fn places(&self) -> Places {
        Places
    }
}
pub fn arity(c: &Contract, n: &str, p: &mut Passed<'_>, sizes: Option<&[usize]>) -> Result<()> {
    step("arity");
    Ok(())
}

pub struct Job;
impl Job {
    pub fn new(closure: impl FnOnce() + Send + 'static) -> Self {
        Self
    }
}
pub struct Posted;
impl Posted {
    pub fn new(job: Job, context: Option<&Context>) -> Self {
        step("post");
        Self
    }
    pub fn data(&self) -> *mut c_void {
        std::ptr::null_mut()
    }
    pub fn settle(self, code: Status) {
        step("posted");
    }
}
pub trait Trampoline {
    const TRAMPOLINE: Self;
}
impl Trampoline for Function {
    const TRAMPOLINE: Self = None;
}
pub fn fence(call: &Contract, stream: &Stream) -> Result<()> {
    step("fence");
    Ok(())
}
