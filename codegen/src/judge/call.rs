//! Judgements of the call as a whole: its order, its context, its safety.

use syn::{Expr, ExprLit, Lit, Meta};

use super::Judge;
use crate::model::{Access, Extent, Home, Item, Items, Memory, Named, Order, Role, Space, Until};

impl Judge<'_> {
    pub(super) fn order(&mut self) {
        let annotation = self.annotation;
        let mut streams =
            annotation.parameters.iter().filter(|other| matches!(other.role, Role::Stream));
        let stream = streams.next();
        if let Some(second) = streams.next() {
            self.refuse(second.span, "a call is on one stream: say `handle` for another");
        }
        let used = annotation.memory().find(|memory| memory.access != Access::Share);
        let order = annotation.order;
        let used = used.is_some() || annotation.args().is_some();
        match (order.map(|order| order.word), stream, used) {
            (Some(Order::Stream), None, _) => {
                let span = order.map_or(annotation.name.span(), |order| order.span);
                self.refuse(span, "`order = stream` needs a parameter with the role `stream`");
            }
            (Some(Order::Host | Order::Default) | None, Some(stream), _) => {
                let text = "a call with a `stream` says `order = stream`; a stream that is only \
                            named is a `handle`";
                self.refuse(stream.span, text);
            }
            (Some(_), None, false) => {
                let span = order.map_or(annotation.name.span(), |order| order.span);
                self.refuse(span, "nothing here has an order: it reads and writes no memory");
            }
            (None, None, true) => {
                let text = "memory is read or written, and when is not said: `order = host`, \
                            `default` or `stream`";
                self.refuse(annotation.symbol.span(), text);
            }
            _ => {}
        }
        self.until();
    }

    fn until(&mut self) {
        let annotation = self.annotation;
        let order = annotation.order.map(|order| order.word);
        for memory in annotation.memory() {
            let name = memory.name;
            match (memory.until, memory.access, order) {
                (Some(until), Access::Share, _) => {
                    let text = format!("`{name}` is only shared: its bytes are not in use");
                    self.refuse(until.span, text);
                }
                (Some(until), _, _) if memory.space == Space::Device => {
                    let text = format!(
                        "device memory like `{name}` is in use until the call's stream passes: \
                         leave `until` away"
                    );
                    self.refuse(until.span, text);
                }
                (Some(until), _, Some(Order::Host)) if until.word == Until::Stream => {
                    let text = format!(
                        "`{name}` cannot be in use until a stream passes: with `order = host` the \
                         call is finished when it returns"
                    );
                    self.refuse(until.span, text);
                }
                (None, Access::Read | Access::Write, Some(Order::Default | Order::Stream))
                    if memory.space != Space::Device =>
                {
                    let text = format!(
                        "until when `{name}` is in use is not said: `until = call` or \
                         `until = stream`"
                    );
                    self.refuse(memory.span, text);
                }
                _ => {}
            }
        }
    }

    pub(super) fn home(&mut self) {
        let annotation = self.annotation;
        let mut handles = annotation.parameters.iter().filter(|other| {
            matches!(
                other.role,
                Role::Handle | Role::Unread | Role::Items(Items { item: Item::Handle, .. })
            )
        });
        // Memory of the host may be of no context, and so says nothing for sure.
        let says_home =
            |memory: Named<'_>| !memory.is_peer && !memory.is_list && memory.space != Space::Host;
        let has_home = annotation.memory().any(says_home) || annotation.stream().is_some();
        match annotation.home {
            // `given` still makes sense there: it names the context that must be the operands'.
            Some(home) if has_home && home.word != Home::Given => {
                let text = "the operands say in which context the call runs: leave `home` away";
                self.refuse(home.span, text);
            }
            Some(home) if home.word == Home::Handle && handles.next().is_none() => {
                let text = "`home = handle` needs a parameter with the role `handle`";
                self.refuse(home.span, text);
            }
            None if !has_home
                && annotation
                    .parameters
                    .iter()
                    .all(|other| !matches!(other.role, Role::Unread)) =>
            {
                let text = "in which context the call runs is not said: `home = given` (a \
                            parameter), `handle` (that of its handles) or `none`";
                self.refuse(annotation.symbol.span(), text);
            }
            _ => {}
        }
    }

    pub(super) fn fence(&mut self) {
        if let (Some(span), None) = (self.annotation.fence, self.annotation.stream()) {
            self.refuse(span, "`fence` is about the call's stream: it needs one");
        }
    }

    pub(super) fn safety(&mut self) {
        let annotation = self.annotation;
        let mut reason = None;
        for parameter in &annotation.parameters {
            let name = &parameter.name;
            match &parameter.role {
                Role::Raw => {
                    reason = Some((parameter.span, format!("`{name}` is taken as it is")));
                }
                Role::Args(_) => {
                    let text = format!("what a kernel does with `{name}` cannot be said");
                    reason = Some((parameter.span, text));
                }
                Role::Memory(Memory { extent: Extent::Opaque(span), .. })
                | Role::Items(Items {
                    item: Item::Memory(Memory { extent: Extent::Opaque(span), .. }),
                    ..
                }) => {
                    let text = format!("which bytes of `{name}` are touched cannot be said");
                    reason = Some((*span, text));
                }
                Role::Unread => return,
                _ => {}
            }
        }
        match (annotation.safety, reason) {
            (None, Some((span, reason))) => {
                self.refuse(span, format!("{reason}: the function must be `unsafe`"));
            }
            (Some(span), None) => {
                let text =
                    "nothing here is unsafe: no parameter is `raw` or `args`, no extent `opaque`";
                self.refuse(span, text);
            }
            (Some(span), Some(_)) if !self.has_safety_section() => {
                self.refuse(span, "an unsafe call says what its caller promises: `# Safety`");
            }
            _ => {}
        }
    }

    fn has_safety_section(&self) -> bool {
        self.annotation.attributes.iter().any(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.value().trim() == "# Safety",
                _ => false,
            },
            _ => false,
        })
    }
}
