//! Judgements of one parameter.

use syn::{Ident, LitInt, PointerMutability, Type, TypePtr};

use super::Judge;
use crate::model::{Access, Extent, Items, Memory, Pack, Parameter, Role, Source, Sum, Text};

/// The fields of memory that a parameter may be computed from.
const FIELDS: [&str; 5] = ["len", "pitch", "width", "height", "home"];

/// What an expansion calls its own things.
const RESERVED: [&str; 10] = [
    "code",
    "context",
    "descriptor",
    "entry",
    "extent",
    "fields",
    "home",
    "settled",
    "timeline",
    "used",
];

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
            Role::From(source) => self.from(parameter, source),
            Role::Text(text) => self.text(parameter, text),
            Role::Record(record) => self.record(parameter, *record),
            Role::Items(items) => self.items(parameter, items),
            Role::Callback => self.callback(parameter),
            Role::Data(of) => self.data(parameter, of),
            Role::Args(function) => self.args(parameter, function),
            Role::ValueOf(attribute) => self.value_of(parameter, attribute),
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

    pub(super) fn alignment(&mut self, align: &LitInt) {
        let power = align.base10_parse::<usize>().is_ok_and(usize::is_power_of_two);
        if !power {
            self.refuse(align.span(), "an alignment is a power of two");
        }
    }

    pub(super) fn sum(&mut self, sum: &Sum) {
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

    fn from(&mut self, parameter: &Parameter, source: &Source) {
        if pointer(&parameter.ty).is_some() && !is_mut(&parameter.ty) {
            let text = "a number that the driver changes is passed by `*mut`";
            self.refuse(parameter.span, text);
        }
        if let Source::Field { operand, field, .. } = source {
            self.source(operand, field);
        }
    }

    fn text(&mut self, parameter: &Parameter, text: &Text) {
        let name = &parameter.name;
        match text {
            Text::Buffer(_) | Text::Kept if !is_mut(&parameter.ty) => {
                let text = format!("text is written through `*mut`, and `{name}` is not");
                self.refuse(parameter.span, text);
            }
            Text::Given if pointer(&parameter.ty).is_none() => {
                let text = format!("text is passed by pointer, and `{name}` is none");
                self.refuse(parameter.span, text);
            }
            _ => {}
        }
    }

    fn source(&mut self, operand: &Ident, field: &Ident) {
        let named = self.annotation.parameters.iter().find(|other| other.name == *operand);
        let fields: &[&str] = match named.map(|other| &other.role) {
            Some(Role::Memory(_)) => &FIELDS,
            Some(Role::Text(Text::Buffer(_)) | Role::Out(Some(_)) | Role::ValueOf(_)) => &["len"],
            Some(Role::Items(Items { .. })) => &["count"],
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
        let values = self.annotation.parameters.iter().filter(
            |other| matches!(&other.role, Role::Out(Some(of)) | Role::ValueOf(of) if of == name),
        );
        if values.count() != 1 {
            let text = format!(
                "an attribute has one value: some parameter says `out({name})` or `value({name})`"
            );
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
        let is_deep = matches!(pack.extent, Some((_, _, Some(_))));
        for side in &pack.sides {
            if side.plane.is_some() != is_deep {
                let text = "planes have a `plane` on each side and a depth: `extent(width, height, \
                            depth)`";
                self.refuse(side.name.span(), text);
            }
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

pub(crate) fn is_mut(ty: &Type) -> bool {
    pointer(ty).is_some_and(is_mut_pointer)
}

const fn is_mut_pointer(pointer: &TypePtr) -> bool {
    matches!(pointer.mutability, PointerMutability::Mut(_))
}
