//! Judgements of what comes in lists, by callback, or as a kernel's arguments.

use syn::Ident;

use super::Judge;
use super::parameter::{is_mut, pointer};
use crate::model::{Access, Extent, Item, Items, Parameter, Record, Role, Space, Sum, Until};

impl Judge<'_> {
    pub(super) fn items(&mut self, parameter: &Parameter, items: &Items) {
        let name = &parameter.name;
        if pointer(&parameter.ty).is_none() {
            let text = format!("items are passed by pointer, and `{name}` is none");
            self.refuse(parameter.span, text);
            return;
        }
        self.sum(&items.count);
        match &items.item {
            Item::Out if !is_mut(&parameter.ty) => {
                let text = format!("`out` is written through `*mut`, and `{name}` is not");
                self.refuse(parameter.span, text);
            }
            Item::Lengths(list) => self.lengths(list),
            Item::Memory(memory) => {
                match &memory.extent {
                    Extent::Bytes(bytes) => self.item_sum(bytes),
                    Extent::Base | Extent::Opaque(_) => {}
                    Extent::Rows { .. } => {
                        let text = "each item of a list is a run: `bytes(…)`, `base` or `opaque`";
                        self.refuse(parameter.span, text);
                    }
                }
                let stays = memory.until.is_some_and(|until| until.word == Until::Stream);
                if memory.space == Space::Host && stays {
                    let text = "a list whose memory is in use until the stream passes is of any \
                                memory: say `any`";
                    self.refuse(parameter.span, text);
                }
                if let Some(align) = &memory.align {
                    self.alignment(align);
                }
            }
            Item::Value | Item::Out | Item::Handle => {}
        }
    }

    /// A list of lengths is that of a list of memory.
    fn lengths(&mut self, list: &Ident) {
        let is_memory = self.annotation.named(list).is_some_and(|other| {
            matches!(&other.role, Role::Items(Items { item: Item::Memory(_), .. }) | Role::Unread)
        });
        if !is_memory {
            let text = format!("`{list}` is no list of memory: lengths are those of one");
            self.refuse(list.span(), text);
        }
    }

    /// Of each item, an extent may also name the same item of a list of numbers.
    fn item_sum(&mut self, sum: &Sum) {
        match sum {
            Sum::Scalar(name) if self.annotation.is_list_of_numbers(name) => {}
            Sum::Add(left, right) | Sum::Mul(left, right) => {
                self.item_sum(left);
                self.item_sum(right);
            }
            other => self.sum(other),
        }
    }

    pub(super) fn record(&mut self, parameter: &Parameter, record: Record) {
        let name = &parameter.name;
        if pointer(&parameter.ty).is_none() {
            let text = format!("a record is passed by pointer, and `{name}` is none");
            self.refuse(parameter.span, text);
        } else if record == Record::Read && !is_mut(&parameter.ty) {
            let text = format!("`{name}` is a pointer to const: `record` alone says that");
            self.refuse(parameter.span, text);
        } else if record == Record::Optional && is_mut(&parameter.ty) {
            let text = format!("what may be absent is only read, and `{name}` is a `*mut`");
            self.refuse(parameter.span, text);
        }
    }

    pub(super) fn callback(&mut self, parameter: &Parameter) {
        let name = &parameter.name;
        let is_own = |other: &&Parameter| matches!(&other.role, Role::Data(of) if of == name);
        if self.annotation.parameters.iter().filter(is_own).count() != 1 {
            let text = format!("a callback has its data: some parameter says `data({name})`");
            self.refuse(parameter.span, text);
        }
        if self.annotation.stream().is_some() && self.annotation.fence.is_none() {
            let text = "a callback on a stream may block it: say `fence` of the call";
            self.refuse(parameter.span, text);
        }
    }

    pub(super) fn data(&mut self, parameter: &Parameter, of: &Ident) {
        let found = self.annotation.named(of);
        if !found.is_some_and(|other| matches!(other.role, Role::Callback | Role::Unread)) {
            let text = format!("`{of}` is no parameter with the role `callback`");
            self.refuse(of.span(), text);
        } else if pointer(&parameter.ty).is_none() {
            let text = format!("a callback's data is a pointer, and `{}` is none", parameter.name);
            self.refuse(parameter.span, text);
        }
    }

    pub(super) fn args(&mut self, parameter: &Parameter, function: &Ident) {
        let found = self.annotation.named(function);
        if !found.is_some_and(|other| matches!(other.role, Role::Handle | Role::Unread)) {
            let text = format!("`{function}` is no parameter with the role `handle`");
            self.refuse(function.span(), text);
        }
        let is_args = |other: &&Parameter| matches!(other.role, Role::Args(_));
        if self.annotation.parameters.iter().filter(is_args).count() > 1 {
            self.refuse(parameter.span, "a call starts one kernel: it has `args` once");
        }
    }

    pub(super) fn value_of(&mut self, parameter: &Parameter, attribute: &Ident) {
        let found = self.annotation.named(attribute);
        if !found.is_some_and(|other| matches!(other.role, Role::Attribute(_) | Role::Unread)) {
            let text = format!("`{attribute}` is no parameter with the role `attribute`");
            self.refuse(attribute.span(), text);
        } else if pointer(&parameter.ty).is_none() {
            let text = format!(
                "an attribute's value is passed by pointer, and `{}` is none",
                parameter.name
            );
            self.refuse(parameter.span, text);
        }
    }

    /// Only a device's memory is reached across contexts.
    pub(super) fn peers(&mut self) {
        let annotation = self.annotation;
        for parameter in &annotation.parameters {
            let memory = match &parameter.role {
                Role::Memory(memory) | Role::Items(Items { item: Item::Memory(memory), .. }) => {
                    memory
                }
                _ => continue,
            };
            let Some(span) = memory.peer else { continue };
            if memory.space != Space::Device || memory.access == Access::Share {
                self.refuse(span, "`peer` is said of device memory that is read or written");
            }
        }
    }
}
