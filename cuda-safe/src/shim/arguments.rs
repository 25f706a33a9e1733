//! A kernel's arguments: values by their bytes, memory by its address and with what is done to it.

use core::ffi::c_void;

use cuda_sys::CUdeviceptr;

use super::Contract;
use super::area::Area;
use super::list::all_in;
use super::operand::{Access, Device, Operand, Pointer as _, Until};
use super::region::Region;
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
        passed.slots.push(Slot::Value(value, size_of::<T>()));
    }
}

/// Is memory whose address a kernel can be given: device memory, and views of it.
///
/// A view of memory of the host is refused by the launch; by the address that a device has for it
/// ([`View::on_device`](crate::View::on_device)) it isn't.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory of a device",
    note = "page-locked memory has an address there: `on_device(&context)`"
)]
pub trait KernelMemory: sealed::Sealed {
    /// Says what the kernel is given, and which bytes it may touch.
    #[doc(hidden)]
    fn given(&self) -> Given<'_>;
}

pub(crate) mod sealed {
    /// Keeps others from saying what is memory.
    pub trait Sealed {}

    impl<M: super::Device + ?Sized> Sealed for M {}
}

/// Is the memory of an argument.
#[doc(hidden)]
#[derive(Debug)]
pub struct Given<'a> {
    pub(crate) address: usize,
    pub(crate) region: Region<'a>,
    /// Which bytes of its allocation.
    pub(crate) area: Area,
}

impl<M: Device + ?Sized> KernelMemory for M {
    fn given(&self) -> Given<'_> {
        let region = self.region();
        let offset = region.allocation().map_or(0, |(_, offset)| offset);
        // Which of the bytes the kernel touches is its own affair.
        Given { address: region.address(), region, area: Area::bytes(offset, region.len()) }
    }
}

/// Is memory that a kernel reads.
#[derive(Debug)]
pub struct Reads<'m, M: ?Sized>(&'m M);

/// Is memory that a kernel writes, and perhaps reads.
#[derive(Debug)]
pub struct Writes<'m, M: ?Sized>(&'m mut M);

/// Is memory that a kernel reaches without being given its address.
#[derive(Debug)]
pub struct Implied<U>(U);

/// Passes memory that the kernel reads, by its address.
pub const fn reads<M: KernelMemory + ?Sized>(memory: &M) -> Reads<'_, M> {
    Reads(memory)
}

/// Passes memory that the kernel writes, by its address.
pub const fn writes<M: KernelMemory + ?Sized>(memory: &mut M) -> Writes<'_, M> {
    Writes(memory)
}

/// Names memory that the kernel uses without a parameter for it.
pub const fn implied<U: Used>(memory: U) -> Implied<U> {
    Implied(memory)
}

/// Is memory with what a kernel does to it.
pub trait Used {
    /// Says what is done to which memory.
    #[doc(hidden)]
    fn used(&self) -> (Access, Given<'_>);
}

impl<M: KernelMemory + ?Sized> Used for Reads<'_, M> {
    fn used(&self) -> (Access, Given<'_>) {
        (Access::Read, self.0.given())
    }
}

impl<M: KernelMemory + ?Sized> Used for Writes<'_, M> {
    fn used(&self) -> (Access, Given<'_>) {
        (Access::Write, self.0.given())
    }
}

impl<M: KernelMemory + ?Sized> Argument for Reads<'_, M> {
    fn pass<'a>(&'a self, passed: &mut Passed<'a>) {
        let place = passed.memory(self);
        passed.slots.push(Slot::Memory(place));
    }
}

impl<M: KernelMemory + ?Sized> Argument for Writes<'_, M> {
    fn pass<'a>(&'a self, passed: &mut Passed<'a>) {
        let place = passed.memory(self);
        passed.slots.push(Slot::Memory(place));
    }
}

impl<U: Used> Argument for Implied<U> {
    fn pass<'a>(&'a self, passed: &mut Passed<'a>) {
        passed.memory(&self.0);
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
    /// What the kernel is given for each operand.
    addresses: Vec<CUdeviceptr>,
}

/// Is where one argument is.
enum Slot {
    /// It is a value of the caller's, of so many bytes.
    Value(*const c_void, usize),
    /// It is one of the addresses.
    Memory(usize),
}

impl Slot {
    const fn size(&self) -> usize {
        match self {
            Self::Value(_, size) => *size,
            Self::Memory(_) => size_of::<CUdeviceptr>(),
        }
    }
}

impl<'a> Passed<'a> {
    pub(crate) fn new(name: &'static str, arguments: &'a impl Arguments) -> Self {
        let (slots, operands, addresses) = (Vec::new(), Vec::new(), Vec::new());
        let mut passed = Self { name, slots, operands, addresses };
        arguments.pass(&mut passed);
        passed
    }

    /// Adds memory, and returns which of the operands it is.
    fn memory(&mut self, memory: &'a impl Used) -> usize {
        let (access, Given { address, region, area }) = memory.used();
        let (name, until) = (self.name, Until::Stream);
        self.operands.push(Operand { name, access, until, region, area });
        self.addresses.push(CUdeviceptr::from_address(address));
        self.operands.len() - 1
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
        let mut addresses = self.addresses.clone();
        let place = |slot: &Slot| match slot {
            Slot::Value(value, _) => value.cast_mut(),
            Slot::Memory(index) => addresses
                .get_mut(*index)
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
    passed: &Passed<'_>,
    parameters: Option<&[usize]>,
) -> Result<()> {
    for operand in &passed.operands {
        let kind = operand.region.kind();
        if kind.is_host() {
            let need = Quantity::Word("a device's address: `on_device` gives it");
            let have = Quantity::Word(kind.name());
            return Err(Error::refused(call.symbol, operand.name, Rule::Kind, need, have));
        }
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
        if *parameter != slot.size() {
            return refuse(*parameter, slot.size());
        }
    }
    Ok(())
}
