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
    Raw,
    From(Source),
    Null,
    Text(LitInt),
    Attribute(Path),
    Pack(Pack),
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
    pub(crate) extent: Option<(Ident, Ident)>,
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
}

impl Annotation {
    /// Returns everything that names memory: its name, what is done to it, until when.
    pub(crate) fn memory(&self) -> impl Iterator<Item = Named<'_>> {
        self.parameters.iter().flat_map(|parameter| {
            let memory = match &parameter.role {
                Role::Memory(memory) => Some(Named {
                    name: &parameter.name,
                    access: memory.access,
                    until: memory.until,
                    space: memory.space,
                    span: parameter.span,
                }),
                _ => None,
            };
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
            }))
        })
    }

    /// Returns the parameter whose role says which stream the call is on.
    pub(crate) fn stream(&self) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| matches!(parameter.role, Role::Stream))
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
}
