//! What a call answers instead of a value: which call, and what was the matter.
//!
//! Not here: the checks that refuse (`shim`), and the driver's own texts, which come from the
//! loaded driver.

mod first;

use std::fmt;
use std::ops::Deref;

use cuda_sys::{CUresult, LoadError, Missing, Unavailable};

use crate::dtype::DType;
use crate::layout::LayoutError;

/// Is the result of everything that can ask the driver.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Is why a call gave no value: it reads as its [`Details`], and is one pointer wide, so that calls
/// that succeed carry nothing for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Details>);

/// Is what an [`Error`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details {
    /// The C name of the call, or the Rust name of what is above the calls.
    pub call: &'static str,
    /// What was the matter.
    pub cause: Cause,
    /// The call that was the first to be answered so, if it is an answer that lasts, as that of a
    /// kernel that failed, and another call had it before.
    pub first: Option<&'static str>,
}

/// Is what was the matter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// An operand breaks a rule; the driver was not called.
    Refused {
        /// The operand, by the name that the call gives it.
        operand: &'static str,
        /// The rule.
        rule: Rule,
        /// What the rule needs.
        need: Quantity,
        /// What the operand has.
        have: Quantity,
    },
    /// The driver answered so. It may be the answer to earlier work.
    Driver(CUresult),
    /// The driver has no such function.
    Missing(Box<Missing>),
    /// There is no driver.
    Load(Box<LoadError>),
    /// A layout operation was refused; the driver was not called.
    Layout(LayoutError),
    /// A callback panicked, with this text.
    Panicked(Box<str>),
}

/// Names the rules. Each gate of [`shim`](crate::shim) has the name of its rule; the last are those of
/// what is above the calls: drivers, devices, views and their copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// A context is the one that it was: nobody reset it since.
    Alive,
    /// Everything that a call names is of one context.
    Home,
    /// The bytes that a call touches lie in their operand.
    Reach,
    /// Rows don't reach into each other.
    Pitch,
    /// An address, and the pitch of several rows, are multiples of what the call asks for.
    Align,
    /// An operand is a whole allocation, from its first byte.
    Base,
    /// An operand was allocated in the way that the call asks for.
    Kind,
    /// A length is a whole number of words.
    Quotient,
    /// A number fits the C type of its parameter.
    Fit,
    /// Bytes that are written are no other operand's.
    Disjoint,
    /// A list has as many items as the call is told.
    Count,
    /// A kernel is given as many arguments as it has parameters, each of its parameter's size.
    Arguments,
    /// A context that a thread keeps is a primary one.
    Primary,
    /// PTX is text: bytes of ASCII, none of which begin a binary.
    Ptx,
    /// A record that passes as a value holds no address.
    Plain,
    /// No call of the driver is made in a callback.
    Outside,
    /// A driver is new enough for what is asked of it.
    Driver,
    /// A device can do what is asked of it.
    Able,
    /// A device may do with memory what is asked of it.
    Access,
    /// No stream is made to wait, nor memory allocated or waited for, where a capture can't have it.
    Captured,
    /// A layout's items are as large as the elements.
    ItemSize,
    /// Elements are of the type that is asked for.
    ElementType,
    /// No two elements of an array that is written share a byte.
    Injective,
    /// Two layouts have rows of bytes in common.
    Rows,
    /// Another layout is laid over memory only if no other part of it is lent.
    Whole,
    /// Elements lie side by side in the order of their indices.
    Contiguous,
    /// Strides are whole numbers of elements.
    Strides,
}

impl Rule {
    /// Returns the rule in one sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Alive => "a context is the one that it was: nobody reset it since",
            Self::Home => "everything that a call names is of one context",
            Self::Reach => "the bytes that a call touches lie in their operand",
            Self::Pitch => "rows don't reach into each other",
            Self::Align => "addresses and pitches are multiples of what the call asks for",
            Self::Base => "an operand is a whole allocation, from its first byte",
            Self::Kind => "an operand was allocated in the way that the call asks for",
            Self::Quotient => "a length is a whole number of words",
            Self::Fit => "a number fits the C type of its parameter",
            Self::Disjoint => "bytes that are written are no other operand's",
            Self::Count => "a list has as many items as the call is told",
            Self::Arguments => "a kernel's arguments are as many and as large as its parameters",
            Self::Primary => "a context that a thread keeps is a primary one",
            Self::Ptx => "PTX is text in ASCII, and begins as no binary does",
            Self::Plain => "a record that passes as a value holds no address",
            Self::Outside => "no call of the driver is made in a callback",
            Self::Driver => "a driver is new enough for what is asked of it",
            Self::Able => "a device can do what is asked of it",
            Self::Access => "a device may do with memory what is asked of it",
            Self::Captured => "work that is only captured is neither waited for nor waits",
            Self::ItemSize => "a layout's items are as large as the elements",
            Self::ElementType => "elements are of the type that is asked for",
            Self::Injective => "no two elements of an array that is written share a byte",
            Self::Rows => "two layouts have rows of bytes in common",
            Self::Whole => "another layout is laid over memory of which no other part is lent",
            Self::Contiguous => "elements lie side by side in the order of their indices",
            Self::Strides => "strides are whole numbers of elements",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Is one side of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Quantity {
    /// A number, mostly of bytes.
    Number(u64),
    /// A number too large for the machine.
    Overflow,
    /// A context, by its number in this process.
    Context(u64),
    /// Something that has a name.
    Word(&'static str),
    /// Bytes of an operand.
    BytesOf(&'static str),
    /// Any multiple of a number.
    MultipleOf(u64),
    /// A type of elements.
    Type(DType),
    /// A device, by its number.
    Device(i32),
}

impl From<usize> for Quantity {
    fn from(number: usize) -> Self {
        u64::try_from(number).map_or(Self::Overflow, Self::Number)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Overflow => f.write_str("more than can be counted"),
            Self::Context(id) => write!(f, "context {id}"),
            Self::Word(word) => f.write_str(word),
            Self::BytesOf(operand) => write!(f, "bytes of `{operand}`"),
            Self::MultipleOf(number) => write!(f, "a multiple of {number}"),
            Self::Type(dtype) => write!(f, "{dtype}"),
            Self::Device(ordinal) => write!(f, "device {ordinal}"),
        }
    }
}

impl Error {
    /// Makes a refusal.
    #[cold]
    pub fn refused(
        call: &'static str,
        operand: &'static str,
        rule: Rule,
        need: Quantity,
        have: Quantity,
    ) -> Self {
        Self::new(call, Cause::Refused { operand, rule, need, have })
    }

    /// Makes the error of a call that the driver answered with `code`.
    #[cold]
    pub fn driver(call: &'static str, code: CUresult) -> Self {
        let mut error = Self::new(call, Cause::Driver(code));
        error.0.first = first::before(call, code);
        error
    }

    /// Makes the error of a call that could not be made.
    #[cold]
    pub fn unavailable(call: &'static str, why: Unavailable) -> Self {
        let cause = match why {
            Unavailable::Load(error) => Cause::Load(Box::new(error)),
            Unavailable::Missing(error) => Cause::Missing(Box::new(error)),
        };
        Self::new(call, cause)
    }

    /// Makes the error of a callback that panicked.
    pub(crate) fn panicked(text: String) -> Self {
        Self::new("callback", Cause::Panicked(text.into_boxed_str()))
    }

    fn new(call: &'static str, cause: Cause) -> Self {
        Self(Box::new(Details { call, cause, first: None }))
    }

    /// Makes it the error of another call, which asked for this one.
    pub(crate) fn of(mut self, call: &'static str) -> Self {
        self.0.call = call;
        self
    }

    /// Returns the driver's code, if the driver answered.
    pub fn code(&self) -> Option<CUresult> {
        match self.cause {
            Cause::Driver(code) => Some(code),
            _ => None,
        }
    }

    /// Returns the call that was the first to be answered so, if the answer lasts and another call had
    /// it before: there the cause is to be looked for.
    pub fn first_call(&self) -> Option<&'static str> {
        self.first
    }

    /// Returns the rule that was broken, if the call was refused.
    pub fn rule(&self) -> Option<Rule> {
        match self.cause {
            Cause::Refused { rule, .. } => Some(rule),
            _ => None,
        }
    }

    /// Tells whether the answer was that the work is not done yet.
    pub fn is_not_ready(&self) -> bool {
        self.code() == Some(CUresult::CUDA_ERROR_NOT_READY)
    }

    /// Tells whether the driver has no such function, or says that it does not support it here.
    pub fn is_unsupported(&self) -> bool {
        matches!(self.cause, Cause::Missing(_))
            || matches!(
                self.code(),
                Some(
                    CUresult::CUDA_ERROR_NOT_SUPPORTED
                        | CUresult::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
                )
            )
    }
}

impl Deref for Error {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<LayoutError> for Error {
    fn from(error: LayoutError) -> Self {
        Self::new("layout", Cause::Layout(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.call)?;
        match &self.cause {
            Cause::Refused { operand, rule, need, have } => {
                write!(f, "`{operand}` breaks {rule}: needs {need}, has {have}")
            }
            Cause::Driver(code) => driver_text(f, *code, self.first),
            Cause::Missing(missing) => missing.fmt(f),
            Cause::Load(error) => error.fmt(f),
            Cause::Layout(error) => error.fmt(f),
            Cause::Panicked(text) => write!(f, "panicked: {text}"),
        }
    }
}

/// Prints the driver's sentence, name and number; of an unknown code the number.
fn driver_text(
    f: &mut fmt::Formatter<'_>,
    code: CUresult,
    first: Option<&'static str>,
) -> fmt::Result {
    match (code.description(), code.name()) {
        (Some(description), Some(name)) => {
            write!(f, "{} ({}, {})", description.to_string_lossy(), name.to_string_lossy(), code.0)
        }
        _ => write!(f, "the driver answered {}", code.0),
    }?;
    first.map_or(Ok(()), |first| write!(f, "; {first} was the first to be told"))
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            Cause::Load(error) => Some(error.as_ref()),
            Cause::Missing(error) => Some(error.as_ref()),
            Cause::Layout(error) => Some(error),
            Cause::Refused { .. } | Cause::Driver(_) | Cause::Panicked(_) => None,
        }
    }
}
