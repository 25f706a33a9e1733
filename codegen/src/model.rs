//! What an annotation can say, as plain data.
//!
//! Not here: how it is written (`parse`), what it may not say (`judge`), what becomes of it
//! (`emit`).

use proc_macro2::Span;
use syn::{Attribute, Ident, LitInt, Path, Type, Visibility};

/// Is one annotated signature.
pub(crate) struct Annotation {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    /// Where `unsafe` stands, if it does.
    pub(crate) safety: Option<Span>,
    pub(crate) name: Ident,
    pub(crate) symbol: Ident,
    pub(crate) order: Option<Stated<Order>>,
    pub(crate) home: Option<Stated<Home>>,
    /// Where `fence` stands, if it does: what the call enqueues may block its stream.
    pub(crate) fence: Option<Span>,
    pub(crate) parameters: Vec<Parameter>,
}

/// Is a word with the place where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Stated<T> {
    pub(crate) word: T,
    pub(crate) span: Span,
}

/// Says when what a call does is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Host,
    Default,
    Stream,
}

/// Says where a call without memory and without a stream finds its context.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    Given,
    Handle,
    None,
}

/// Is one C parameter.
pub(crate) struct Parameter {
    /// What the Rust side calls it.
    pub(crate) name: Ident,
    /// What the header calls it.
    pub(crate) c_name: Ident,
    pub(crate) ty: Type,
    pub(crate) role: Role,
    /// Where its role stands.
    pub(crate) span: Span,
}

/// Says what a parameter is for.
pub(crate) enum Role {
    Memory(Memory),
    Out(Option<Ident>),
    Handle,
    Stream,
    Value,
    /// Is the value of an attribute, by that parameter's name.
    ValueOf(Ident),
    Raw,
    From(Source),
    Null,
    Record(Record),
    Text(Text),
    Attribute(Path),
    Pack(Pack),
    Items(Items),
    Callback,
    /// Is what a callback is called with, by that parameter's name.
    Data(Ident),
    /// Is the arguments of a kernel, by the name of the parameter that is its function.
    Args(Ident),
    /// Stands where the role could not be read; that mistake is reported already.
    Unread,
}

/// Is memory that the call is pointed to.
pub(crate) struct Memory {
    pub(crate) space: Space,
    pub(crate) access: Access,
    pub(crate) extent: Extent,
    pub(crate) align: Option<LitInt>,
    pub(crate) kind: Option<Path>,
    pub(crate) until: Option<Stated<Until>>,
    /// Where `peer` stands, if it does: it may be of another context than the call's.
    pub(crate) peer: Option<Span>,
}

/// Says how text passes.
pub(crate) enum Text {
    /// The driver writes it into so many bytes.
    Buffer(LitInt),
    /// The driver answers where it keeps it.
    Kept,
    /// The caller gives it.
    Given,
}

/// Says how one plain value passes by pointer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// As the pointer says: through a pointer to const it is read, else read and written.
    Pointed,
    /// It is only read, though the pointer isn't to const.
    Read,
    /// It may be absent.
    Optional,
}

/// Is an array with a count.
pub(crate) struct Items {
    pub(crate) count: Sum,
    pub(crate) item: Item,
    /// It may also be absent.
    pub(crate) is_optional: bool,
}

/// Says what an array's items are.
pub(crate) enum Item {
    Value,
    Out,
    Handle,
    /// Is the length in bytes of each item of a list of memory.
    Lengths(Ident),
    Memory(Memory),
}

/// Says whose memory it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Device,
    Host,
    Any,
}

/// Says what is done to the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Share,
}

/// Says which bytes, counted from the address.
pub(crate) enum Extent {
    Bytes(Sum),
    Rows { pitch: Sum, width: Sum, height: Sum },
    Base,
    Opaque(Span),
}

/// Says until when the bytes are in use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Call,
    Stream,
}

/// Is a number made of literals and scalar parameters.
pub(crate) enum Sum {
    Literal(LitInt),
    Scalar(Ident),
    Add(Box<Sum>, Box<Sum>),
    Mul(Box<Sum>, Box<Sum>),
}

/// Says what a computed parameter is computed from.
pub(crate) enum Source {
    Literal(LitInt),
    Field { operand: Ident, field: Ident, divisor: Option<LitInt> },
}

/// Is a descriptor that names memory on several sides.
pub(crate) struct Pack {
    pub(crate) descriptor: Path,
    pub(crate) sides: Vec<Side>,
    /// Are the fields for bytes in a row, rows, and planes if it has those.
    pub(crate) extent: Option<(Ident, Ident, Option<Ident>)>,
    pub(crate) zero: Vec<Ident>,
}

/// Is one side of a descriptor: the fields that say where it is.
pub(crate) struct Side {
    pub(crate) name: Ident,
    pub(crate) access: Access,
    pub(crate) until: Option<Stated<Until>>,
    pub(crate) by: Ident,
    pub(crate) host: Ident,
    pub(crate) device: Ident,
    pub(crate) pitch: Ident,
    /// Is the field for the rows from one plane to the next.
    pub(crate) plane: Option<Ident>,
}

impl Annotation {
    /// Returns everything that names memory: its name, what is done to it, until when.
    pub(crate) fn memory(&self) -> impl Iterator<Item = Named<'_>> {
        self.parameters.iter().flat_map(|parameter| {
            let memory = match &parameter.role {
                Role::Memory(memory) => Some((memory, false)),
                Role::Items(Items { item: Item::Memory(memory), .. }) => Some((memory, true)),
                _ => None,
            };
            let memory = memory.map(|(memory, is_list)| Named {
                name: &parameter.name,
                access: memory.access,
                until: memory.until,
                space: memory.space,
                span: parameter.span,
                is_list,
                is_peer: memory.peer.is_some(),
            });
            let sides = match &parameter.role {
                Role::Pack(pack) => pack.sides.as_slice(),
                _ => &[],
            };
            memory.into_iter().chain(sides.iter().map(|side| Named {
                name: &side.name,
                access: side.access,
                until: side.until,
                space: Space::Any,
                span: side.name.span(),
                is_list: false,
                is_peer: false,
            }))
        })
    }

    /// Returns the parameter whose role says which stream the call is on.
    pub(crate) fn stream(&self) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| matches!(parameter.role, Role::Stream))
    }

    /// Returns the parameter of that name.
    pub(crate) fn named(&self, name: &Ident) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == *name)
    }

    /// Tells whether a parameter is a list of numbers.
    pub(crate) fn is_list_of_numbers(&self, name: &Ident) -> bool {
        self.named(name).is_some_and(|parameter| match &parameter.role {
            Role::Items(items) => matches!(items.item, Item::Value | Item::Lengths(_)),
            _ => false,
        })
    }

    /// Returns the parameter that is a kernel's arguments.
    pub(crate) fn args(&self) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| matches!(parameter.role, Role::Args(_)))
    }

    /// Tells whether a parameter holds a number that the caller gives or that is computed.
    pub(crate) fn is_scalar(&self, name: &Ident) -> bool {
        self.parameters.iter().any(|parameter| {
            parameter.name == *name && matches!(parameter.role, Role::Value | Role::From(_))
        })
    }
}

/// Is what one memory operand says, wherever it says it.
pub(crate) struct Named<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) access: Access,
    pub(crate) until: Option<Stated<Until>>,
    pub(crate) space: Space,
    pub(crate) span: Span,
    /// It is each item of a list.
    pub(crate) is_list: bool,
    /// It may be of another context than the call's.
    pub(crate) is_peer: bool,
}
