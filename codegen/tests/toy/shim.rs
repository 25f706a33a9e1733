//! A tiny library and what expansions call, for tests: each step says its name.
#![allow(
    dead_code,
    unused_imports,
    unused_variables,
    missing_docs,
    unreachable_pub,
    reason = "a toy"
)]

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::{Add, Mul};

thread_local! {
    pub static STEPS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    pub static ANSWER: RefCell<u32> = const { RefCell::new(0) };
}

pub fn step(name: &str) {
    STEPS.with_borrow_mut(|steps| steps.push(name.to_owned()));
}

/// Runs something and returns the steps that it took.
pub fn steps<T>(work: impl FnOnce() -> T) -> (T, String) {
    STEPS.with_borrow_mut(Vec::clear);
    let result = work();
    (result, STEPS.with_borrow(|steps| steps.join(" ")))
}

pub type Status = u32;
pub type Result<T> = std::result::Result<T, String>;
pub type Text = String;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub struct Address(pub u64);
pub type RawStream = *mut u8;
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(transparent)]
pub struct Unit(pub i32);

pub type Function = Option<unsafe extern "system" fn(*mut c_void)>;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Shape {
    pub rows: u32,
}

#[repr(C)]
pub struct DeepCopy {
    pub from_type: u32,
    pub from_host: *const c_void,
    pub from_device: Address,
    pub from_pitch: usize,
    pub from_plane: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

#[repr(C)]
pub struct BoxCopy {
    pub from_type: u32,
    pub from_host: *const c_void,
    pub from_device: Address,
    pub from_pitch: usize,
    pub to_type: u32,
    pub to_host: *mut c_void,
    pub to_device: Address,
    pub to_pitch: usize,
    pub width: usize,
    pub height: usize,
    pub reserved: u32,
}

pub mod sys {
    use super::*;

    macro_rules! library {
        ($($name:ident($($parameter:ident: $ty:ty),*);)*) => {
            pub mod since {
                $(#[allow(non_upper_case_globals, reason = "C's name")]
                pub const $name: u32 = 11000;)*
            }

            #[allow(non_snake_case, reason = "C's names")]
            pub struct Table {
                $(pub $name: unsafe extern "system" fn($($ty),*) -> u32,)*
            }

            pub static TABLE: Table = Table { $($name: implementation::$name,)* };

            #[allow(non_snake_case, reason = "C's names")]
            mod implementation {
                use super::*;
                $(pub unsafe extern "system" fn $name($($parameter: $ty),*) -> u32 {
                    step("call");
                    ANSWER.with_borrow(|answer| *answer)
                })*
            }
        };
    }

    library! {
        tyInit(flags: u32);
        tyFill(address: Address, word: u32, count: usize, stream: RawStream);
        tyFillNow(address: Address, word: u32, count: usize);
        tyFillRows(address: Address, pitch: usize, word: u32, width: usize, height: usize);
        tyCopy(to: Address, from: *const c_void, count: usize, stream: RawStream);
        tyBox(copy: *const BoxCopy, stream: RawStream);
        tyDeep(copy: *const DeepCopy);
        tyName(name: *mut c_char, len: c_int, unit: Unit);
        tyAsk(data: *mut c_void, attribute: u32, address: Address);
        tyMake(stream: *mut RawStream, flags: u32);
        tyFree(address: Address);
        tyExtra(address: Address, extra: *mut c_void);
        tyBatch(to: *mut Address, from: *mut Address, sizes: *mut usize, count: usize, stream: RawStream);
        tyLater(stream: RawStream, function: Function, data: *mut c_void);
        tyRun(kernel: Unit, args: *mut *mut c_void, stream: RawStream);
        tyParts(parts: *mut Unit, count: *mut usize, unit: Unit);
        tyLink(ends: *const Unit, weights: *const u32, count: usize);
        tyOpen(unit: *mut Unit, path: *const c_char);
        tySay(text: *mut *const c_char, unit: Unit);
        tyShape(shape: *const Shape);
        tyReshape(shape: *mut Shape, old: *const Shape);
        tyTell(attribute: u32, data: *mut c_void, size: usize);
        tyAcross(to: Address, owner: Unit, stream: RawStream);
    }
}

pub struct Contract {
    pub symbol: &'static str,
    pub since: u32,
    pub order: Option<Order>,
    pub rows: &'static [Row],
}

impl Contract {
    pub const fn refused(symbol: &'static str) -> Self {
        Self { symbol, since: 0, order: None, rows: &[] }
    }
}

#[derive(Debug, PartialEq)]
pub enum Order {
    Host,
    Default,
    Stream,
}

#[derive(Debug, PartialEq)]
pub struct Row {
    pub operand: &'static str,
    pub role: &'static str,
    pub access: &'static str,
    pub reach: &'static str,
    pub until: &'static str,
}

pub struct Context;
impl Context {
    pub fn raw(&self) -> Unit {
        Unit(1)
    }
}

pub struct Stream;

pub trait AnyStream {
    fn stream(&self) -> &Stream;
}
impl AnyStream for Stream {
    fn stream(&self) -> &Stream {
        self
    }
}
pub fn on(stream: &impl AnyStream) -> &Stream {
    stream.stream()
}

pub trait Memory {
    fn size(&self) -> usize;
}
pub trait Steady: Memory {}
pub trait Device: Steady {}
pub trait Host: Memory {}

pub struct OnDevice(pub usize);
impl Memory for OnDevice {
    fn size(&self) -> usize {
        self.0
    }
}
impl Steady for OnDevice {}
impl Device for OnDevice {}

pub struct Pinned(pub usize);
impl Memory for Pinned {
    fn size(&self) -> usize {
        self.0
    }
}
impl Steady for Pinned {}
impl Host for Pinned {}

impl Memory for [u8] {
    fn size(&self) -> usize {
        self.len()
    }
}
impl Host for [u8] {}

pub trait Handle {
    type Raw: Copy;
    fn raw(&self) -> Self::Raw;
    fn home(&self) -> Option<&Context>;
    fn parameters(&self) -> Option<&[usize]> {
        None
    }
}

impl Handle for Stream {
    type Raw = RawStream;
    fn raw(&self) -> RawStream {
        std::ptr::null_mut()
    }
    fn home(&self) -> Option<&Context> {
        Some(&Context)
    }
}

impl Handle for Unit {
    type Raw = Self;
    fn raw(&self) -> Self {
        *self
    }
    fn home(&self) -> Option<&Context> {
        None
    }
}

pub struct Held<'a, R>(R, Option<&'a Context>);
impl<'a, R: Copy> Held<'a, R> {
    pub fn new(name: &'static str, handle: &'a (impl Handle<Raw = R> + ?Sized)) -> Self {
        Self(handle.raw(), handle.home())
    }
    pub fn raw(&self) -> R {
        self.0
    }
    pub fn home(&self) -> Option<&'a Context> {
        self.1
    }
    pub fn parameters(&self) -> Option<&'a [usize]> {
        None
    }
}

#[path = "lists.rs"]
mod lists;
pub use lists::*;

#[derive(Clone, Copy)]
pub enum Access {
    Read,
    Write,
    Share,
}

#[derive(Clone, Copy)]
pub enum Until {
    Call,
    Stream,
}

#[derive(Clone, Copy)]
pub struct Extent {
    pub width: usize,
    pub height: usize,
}

#[derive(Clone, Copy)]
pub struct Volume {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

pub struct Operand<'a> {
    name: &'static str,
    len: usize,
    home: Option<&'a Context>,
}
impl<'a> Operand<'a> {
    pub fn new<M: Memory + ?Sized>(
        name: &'static str,
        access: Access,
        until: Until,
        memory: &'a M,
    ) -> Self {
        Self { name, len: memory.size(), home: Some(&Context) }
    }
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn plane(&self) -> usize {
        1
    }
    pub fn pitch(&self) -> usize {
        self.len
    }
    pub fn width(&self) -> usize {
        self.len
    }
    pub fn height(&self) -> usize {
        1
    }
    pub fn home(&self) -> Option<&'a Context> {
        self.home
    }
}

pub fn present<F: Copy>(call: &'static Contract, slot: &'static F) -> Result<F> {
    step("present");
    Ok(*slot)
}
pub fn fit<T: TryFrom<usize>>(call: &Contract, name: &str, number: usize) -> Result<T> {
    step("derive");
    T::try_from(number).map_err(|_| format!("{name} does not fit"))
}
pub fn quotient(call: &Contract, name: &str, number: usize, word: usize) -> Result<usize> {
    if number.is_multiple_of(word) { Ok(number / word) } else { Err(format!("{name} has a rest")) }
}
pub fn home<'a>(call: &Contract, list: &[(&str, Option<&'a Context>)]) -> Result<&'a Context> {
    step("home");
    list.iter().find_map(|(_, home)| *home).ok_or_else(|| "no home".to_owned())
}
pub fn enter(call: &Contract, home: &Context) -> Result<()> {
    step("enter");
    Ok(())
}

#[derive(Clone, Copy)]
pub struct Size(pub usize);
impl Size {
    pub fn of(number: impl TryInto<usize>) -> Self {
        Self(number.try_into().unwrap_or(usize::MAX))
    }
    pub fn item<T: Copy + TryInto<usize>>(list: &[T], index: usize) -> Self {
        list.get(index).map_or(Self(usize::MAX), |number| Self::of(*number))
    }
}
impl Add for Size {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl Mul for Size {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }
}

#[path = "gates.rs"]
mod gates;
pub use gates::*;

pub struct Timeline;
pub fn timeline(stream: &Stream) -> &'static Timeline {
    &Timeline
}
pub fn default_timeline(home: &Context) -> Timeline {
    Timeline
}
pub fn settle(c: &Contract, t: &Timeline, o: &[&Operand<'_>]) -> Result<()> {
    step("settle");
    Ok(())
}
pub fn settle_host(c: &Contract, o: &[&Operand<'_>]) -> Result<()> {
    step("settle");
    Ok(())
}
pub fn touch(t: &Timeline, o: &[&Operand<'_>], settled: (), code: Status) {
    step("touch");
}
pub fn check(call: &Contract, code: Status) -> Result<()> {
    step("check");
    if code == 0 { Ok(()) } else { Err(format!("{}: {code}", call.symbol)) }
}

#[diagnostic::on_unimplemented(message = "`{Self}` is no address")]
pub trait Pointer {
    fn make() -> Self;
}
impl Pointer for Address {
    fn make() -> Self {
        Self(0)
    }
}
impl<T> Pointer for *const T {
    fn make() -> Self {
        std::ptr::null()
    }
}
impl<T> Pointer for *mut T {
    fn make() -> Self {
        std::ptr::null_mut()
    }
}
pub fn address<P: Pointer>(operand: &Operand<'_>) -> P {
    P::make()
}
pub fn null<P: Pointer>() -> P {
    P::make()
}
pub fn memory_type(operand: &Operand<'_>) -> u32 {
    1
}
pub fn host_address<P: Pointer>(operand: &Operand<'_>) -> P {
    P::make()
}
pub fn device_address<P: Pointer>(operand: &Operand<'_>) -> P {
    P::make()
}
pub fn descriptor<T>() -> MaybeUninit<T> {
    MaybeUninit::zeroed()
}
pub fn fields<T>(memory: &mut MaybeUninit<T>) -> &mut T {
    // SAFETY: the toy's descriptors may be zero.
    unsafe { memory.assume_init_mut() }
}

#[path = "values.rs"]
mod values;
pub use values::*;
