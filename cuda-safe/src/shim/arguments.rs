//! A kernel's arguments: values by their bytes, memory by its address and with what is done to it.

use core::ffi::c_void;

use cuda_sys::CUdeviceptr;

use super::area::Area;
use super::list::all_in;
use super::operand::{Access, Device, Operand, Until};
use super::{Contract, address};
use crate::context::Context;
use crate::error::{Error, Quantity, Result, Rule};

/// Is the arguments of a kernel: a tuple of numbers and records without padding, and of memory that
/// is said to be [`read`](reads) or [`written`](writes).
pub trait Arguments {
    /// Passes each of them.
    #[doc(hidden)]
    fn pass<'a>(&'a self, passed: &mut Passed<'a>);
}

/// Is one argument of a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no argument of a kernel",
    note = "numbers and records without padding are; say of memory `reads(&…)` or `writes(&mut …)`"
)]
pub trait Argument {
    /// Passes it.
    #[doc(hidden)]
    fn pass<'a>(&'a self, passed: &mut Passed<'a>);
}

impl<T: bytemuck::Pod> Argument for T {
    fn pass<'a>(&'a self, passed: &mut Passed<'a>) {
        let value = core::ptr::from_ref(self).cast();
        passed.slots.push(Slot { value: Some(value), size: size_of::<T>() });
    }
}

/// Is memory that a kernel reads.
#[derive(Debug)]
pub struct Reads<'m, M: ?Sized>(&'m M);

/// Is memory that a kernel writes, and perhaps reads.
#[derive(Debug)]
pub struct Writes<'m, M: ?Sized>(&'m mut M);

/// Passes memory that the kernel reads, by its address.
pub const fn reads<M: Device + ?Sized>(memory: &M) -> Reads<'_, M> {
    Reads(memory)
}

/// Passes memory that the kernel writes, by its address.
pub const fn writes<M: Device + ?Sized>(memory: &mut M) -> Writes<'_, M> {
    Writes(memory)
}

impl<M: Device + ?Sized> Argument for Reads<'_, M> {
    fn pass<'a>(&'a self, passed: &mut Passed<'a>) {
        passed.memory(Access::Read, self.0);
    }
}

impl<M: Device + ?Sized> Argument for Writes<'_, M> {
    fn pass<'a>(&'a self, passed: &mut Passed<'a>) {
        passed.memory(Access::Write, &*self.0);
    }
}

impl Arguments for () {
    fn pass<'a>(&'a self, _passed: &mut Passed<'a>) {}
}

macro_rules! tuples {
    ($($first:ident $name:ident)+) => {
        impl<$($first: Argument),+> Arguments for ($($first,)+) {
            fn pass<'a>(&'a self, passed: &mut Passed<'a>) {
                let ($($name,)+) = self;
                $($name.pass(passed);)+
            }
        }
    };
}

/// Makes the tuples of each length up to that of the list.
macro_rules! tuples_up_to {
    ([$($done:ident)*]) => {
        tuples!($($done)*);
    };
    ([$($done:ident)+] $first:ident $name:ident $($rest:ident)*) => {
        tuples!($($done)+);
        tuples_up_to!([$($done)+ $first $name] $($rest)*);
    };
}

tuples_up_to!([A a] B b C c D d E e F f G g H h I i J j K k L l M m N n O o P p Q q R r S s T t);

/// Is a kernel's arguments on their way through the gates.
#[doc(hidden)]
pub struct Passed<'a> {
    name: &'static str,
    slots: Vec<Slot>,
    operands: Vec<Operand<'a>>,
}

/// Is where one argument is: a value of the caller's, or else the next of the addresses.
struct Slot {
    value: Option<*const c_void>,
    size: usize,
}

impl<'a> Passed<'a> {
    pub(crate) fn new(name: &'static str, arguments: &'a impl Arguments) -> Self {
        let (slots, operands) = (Vec::new(), Vec::new());
        let mut passed = Self { name, slots, operands };
        arguments.pass(&mut passed);
        passed
    }

    fn memory<M: Device + ?Sized>(&mut self, access: Access, memory: &'a M) {
        self.operands.push(Operand::new(self.name, access, Until::Stream, memory));
        self.slots.push(Slot { value: None, size: size_of::<CUdeviceptr>() });
    }

    pub(crate) fn as_slice(&self) -> &[Operand<'a>] {
        &self.operands
    }

    /// Refuses memory of another context.
    pub(crate) fn same_home(&self, call: &'static Contract, context: &Context) -> Result<()> {
        all_in(call, self.name, context, self.operands.iter().map(Operand::home))
    }

    /// Finds where each argument is.
    pub(crate) fn places(&self) -> Places {
        let mut addresses: Vec<CUdeviceptr> = self.operands.iter().map(address).collect();
        let mut next = addresses.iter_mut();
        let place = |slot: &Slot| match slot.value {
            Some(value) => value.cast_mut(),
            None => next
                .next()
                .map_or(core::ptr::null_mut(), |address| core::ptr::from_mut(address).cast()),
        };
        let list = self.slots.iter().map(place).collect();
        Places { _addresses: addresses, list }
    }
}

/// Is where each argument of a kernel is, as the driver wants it.
pub(crate) struct Places {
    /// Is pointed to by the list.
    _addresses: Vec<CUdeviceptr>,
    list: Vec<*mut c_void>,
}

impl Places {
    pub(crate) fn list(&mut self) -> *mut *mut c_void {
        super::list_mut(&mut self.list)
    }
}

/// Lets only as many arguments pass as the function has parameters, each of its parameter's size.
/// The driver itself reads as many as the function has, past the end of a short list.
///
/// A function of which nobody asked for its parameters takes what it is given.
pub(crate) fn arity(
    call: &'static Contract,
    operand: &'static str,
    passed: &mut Passed<'_>,
    parameters: Option<&[usize]>,
) -> Result<()> {
    for operand in &mut passed.operands {
        // Which of the bytes the kernel touches is its own affair.
        operand.area = Area::bytes(operand.offset(), operand.len());
    }
    let Some(parameters) = parameters else { return Ok(()) };
    let refuse = |need: usize, have: usize| {
        let (need, have): (Quantity, Quantity) = (need.into(), have.into());
        Err(Error::refused(call.symbol, operand, Rule::Arguments, need, have))
    };
    if parameters.len() != passed.slots.len() {
        return refuse(parameters.len(), passed.slots.len());
    }
    for (parameter, slot) in parameters.iter().zip(&passed.slots) {
        if *parameter != slot.size {
            return refuse(*parameter, slot.size);
        }
    }
    Ok(())
}
