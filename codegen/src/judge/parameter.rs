//! Judgements of one parameter.

use syn::{Ident, LitInt, PointerMutability, Type, TypePtr};

use super::Judge;
use crate::model::{Access, Extent, Memory, Pack, Parameter, Role, Source, Sum};

/// The fields of memory that a parameter may be computed from.
const FIELDS: [&str; 4] = ["len", "pitch", "width", "height"];

/// What an expansion calls its own things.
const RESERVED: [&str; 9] =
    ["code", "context", "descriptor", "entry", "extent", "fields", "home", "settled", "timeline"];

impl Judge<'_> {
    pub(super) fn parameter(&mut self, parameter: &Parameter) {
        let span = parameter.span;
        let name = &parameter.name;
        if RESERVED.iter().any(|reserved| name == reserved) {
            let text = format!(
                "`{name}` is a name of the expansion: call the parameter otherwise, \
                 `another @ {}`",
                parameter.c_name
            );
            self.refuse(name.span(), text);
        }
        match &parameter.role {
            Role::Memory(memory) => self.memory(parameter, memory),
            Role::Out(value_of) => self.out(parameter, value_of.as_ref()),
            Role::Value if pointer(&parameter.ty).is_some() => self.refuse(
                span,
                format!("`{name}` is a pointer, not a value: say `device`, `host`, `any` or `out`"),
            ),
            Role::From(Source::Field { operand, field, .. }) => self.source(operand, field),
            Role::Null if pointer(&parameter.ty).is_none() => {
                self.refuse(span, format!("`{name}` is no pointer, and only those can be `null`"));
            }
            Role::Text(_) if !is_mut(&parameter.ty) => {
                self.refuse(span, format!("text is written through `*mut`, and `{name}` is not"));
            }
            Role::Attribute(_) => self.attribute(parameter),
            Role::Pack(pack) => self.pack(parameter, pack),
            _ => {}
        }
    }

    fn memory(&mut self, parameter: &Parameter, memory: &Memory) {
        let name = &parameter.name;
        let is_const = pointer(&parameter.ty).is_some_and(|pointer| !is_mut_pointer(pointer));
        if is_const && memory.access == Access::Write {
            let text = format!("`{name}` is a pointer to const: it may be `read` or `share`d only");
            self.refuse(parameter.span, text);
        }
        match &memory.extent {
            Extent::Bytes(bytes) => self.sum(bytes),
            Extent::Rows { pitch, width, height } => {
                self.sum(pitch);
                self.sum(width);
                self.sum(height);
            }
            Extent::Base | Extent::Opaque(_) => {}
        }
        if let Some(align) = &memory.align {
            self.alignment(align);
        }
    }

    fn alignment(&mut self, align: &LitInt) {
        let power = align.base10_parse::<usize>().is_ok_and(usize::is_power_of_two);
        if !power {
            self.refuse(align.span(), "an alignment is a power of two");
        }
    }

    fn sum(&mut self, sum: &Sum) {
        match sum {
            Sum::Literal(_) => {}
            Sum::Scalar(name) => {
                if !self.annotation.is_scalar(name) {
                    let text = format!(
                        "`{name}` is no number of this call: an extent uses its `value` and \
                         `from` parameters"
                    );
                    self.refuse(name.span(), text);
                }
            }
            Sum::Add(left, right) | Sum::Mul(left, right) => {
                self.sum(left);
                self.sum(right);
            }
        }
    }

    fn source(&mut self, operand: &Ident, field: &Ident) {
        let named = self.annotation.parameters.iter().find(|other| other.name == *operand);
        let fields: &[&str] = match named.map(|other| &other.role) {
            Some(Role::Memory(_)) => &FIELDS,
            Some(Role::Text(_)) => &["len"],
            Some(Role::Unread) => return,
            _ => {
                let text = format!(
                    "`{operand}` is no memory of this call: `from` reads a field of one of its \
                     operands"
                );
                self.refuse(operand.span(), text);
                return;
            }
        };
        if !fields.iter().any(|known| field == known) {
            let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
            let text = format!("`{operand}` has no `{field}`: it has {}", fields.join(", "));
            self.refuse(field.span(), text);
        }
    }

    fn out(&mut self, parameter: &Parameter, value_of: Option<&Ident>) {
        let name = &parameter.name;
        if !is_mut(&parameter.ty) {
            let text = format!("`out` is written through `*mut`, and `{name}` is not");
            self.refuse(parameter.span, text);
        }
        let Some(value_of) = value_of else { return };
        let found = self.annotation.parameters.iter().any(|other| {
            other.name == *value_of && matches!(other.role, Role::Attribute(_) | Role::Unread)
        });
        if !found {
            let text = format!("`{value_of}` is no parameter with the role `attribute`");
            self.refuse(value_of.span(), text);
        }
    }

    fn attribute(&mut self, parameter: &Parameter) {
        let name = &parameter.name;
        let values =
            self.annotation.parameters.iter().filter(
                |other| matches!(&other.role, Role::Out(Some(value_of)) if value_of == name),
            );
        if values.count() != 1 {
            let text = format!("an attribute has one value: some parameter says `out({name})`");
            self.refuse(parameter.span, text);
        }
    }

    fn pack(&mut self, parameter: &Parameter, pack: &Pack) {
        let name = &parameter.name;
        if pointer(&parameter.ty).is_none() {
            let text = format!("a descriptor is passed by pointer, and `{name}` is none");
            self.refuse(parameter.span, text);
        }
        if pack.sides.is_empty() {
            self.refuse(parameter.span, "a descriptor has a side: `name: read by field { … }`");
        }
        if pack.extent.is_none() {
            self.refuse(parameter.span, "how much is not said: `extent(width, height)`");
        }
    }
}

/// Returns the pointer that a type is.
pub(crate) fn pointer(ty: &Type) -> Option<&TypePtr> {
    match ty {
        Type::Ptr(pointer) => Some(pointer),
        Type::Group(group) => pointer(&group.elem),
        Type::Paren(paren) => pointer(&paren.elem),
        _ => None,
    }
}

fn is_mut(ty: &Type) -> bool {
    pointer(ty).is_some_and(is_mut_pointer)
}

const fn is_mut_pointer(pointer: &TypePtr) -> bool {
    matches!(pointer.mutability, PointerMutability::Mut(_))
}
