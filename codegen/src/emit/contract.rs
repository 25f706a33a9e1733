//! The annotation as data: a constant beside the function, and the same as a table in its docs.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Ident, LitStr};

use super::gates::until;
use crate::judge::is_mut;
use crate::model::{
    Access, Annotation, Extent, Home, Item, Items, Memory, Order, Parameter, Record, Role, Source,
    Space, Sum, Text,
};

/// Returns the name of the constant: the function's in capitals.
pub(super) fn name(annotation: &Annotation) -> Ident {
    format_ident!("{}", annotation.name.to_string().to_uppercase(), span = annotation.name.span())
}

/// Emits the contract.
pub(super) fn contract(annotation: &Annotation) -> TokenStream {
    let Annotation { visibility, symbol, .. } = annotation;
    let text = symbol.to_string();
    let function = annotation.name.to_string();
    let name = name(annotation);
    let order = match annotation.order.map(|order| order.word) {
        Some(Order::Host) => quote!(Some(crate::shim::Order::Host)),
        Some(Order::Default) => quote!(Some(crate::shim::Order::Default)),
        Some(Order::Stream) => quote!(Some(crate::shim::Order::Stream)),
        None => quote!(None),
    };
    let rows = rows(annotation).into_iter().map(|row| {
        let Row { operand, role, access, reach, until } = row;
        quote! {
            crate::shim::Row {
                operand: #operand,
                role: #role,
                access: #access,
                reach: #reach,
                until: #until,
            }
        }
    });
    let docs = format!(" Is the contract of [`{function}`].");
    quote! {
        #[doc = #docs]
        #visibility const #name: crate::shim::Contract = crate::shim::Contract {
            symbol: #text,
            since: crate::shim::sys::since::#symbol,
            order: #order,
            rows: &[#(#rows),*],
        };
    }
}

/// Emits a contract that is there, for an annotation that is refused.
pub(super) fn stub(annotation: &Annotation) -> TokenStream {
    let visibility = &annotation.visibility;
    let text = annotation.symbol.to_string();
    let name = name(annotation);
    quote! {
        #[doc(hidden)]
        #visibility const #name: crate::shim::Contract = crate::shim::Contract::refused(#text);
    }
}

/// Emits the function's docs: the author's, the table, the errors, the C name to search for.
pub(super) fn docs(annotation: &Annotation) -> TokenStream {
    let attributes = &annotation.attributes;
    let symbol = annotation.symbol.to_string();
    let parameters: Vec<String> = annotation
        .parameters
        .iter()
        .map(|Parameter { c_name, ty, .. }| format!("{c_name}: {}", spaced(ty)))
        .collect();
    let mut lines =
        vec![String::new(), format!("Calls `{symbol}({})`.", parameters.join(", ")), String::new()];
    let rows = rows(annotation);
    if !rows.is_empty() {
        lines.push("| operand | is | access | reach | until |".to_owned());
        lines.push("|---|---|---|---|---|".to_owned());
    }
    for Row { operand, role, access, reach, until } in rows {
        let reach = if reach.is_empty() { String::new() } else { format!("`{reach}`") };
        lines.push(format!("| `{operand}` | {role} | {access} | {reach} | {until} |"));
    }
    lines.push(String::new());
    lines.push(match annotation.order.map(|order| order.word) {
        Some(Order::Host) => "Is finished when it returns.".to_owned(),
        Some(Order::Default) => "Is ordered on the context's default stream.".to_owned(),
        Some(Order::Stream) => "Is ordered on its stream.".to_owned(),
        None => String::new(),
    });
    lines.push(match annotation.home.map(|home| home.word) {
        Some(Home::Given) => "Runs in `context`.".to_owned(),
        Some(Home::Handle) => "Runs in the context of what it is called on.".to_owned(),
        Some(Home::None) => "Needs no context, or takes the thread's as it is.".to_owned(),
        None => "Runs in the operands' context.".to_owned(),
    });
    lines.extend([
        String::new(),
        "# Errors".to_owned(),
        String::new(),
        "Refuses what breaks a rule of the table, before the driver is called; else as the \
         driver answers."
            .to_owned(),
    ]);
    let lines = lines.iter().map(|line| LitStr::new(&format!(" {line}"), annotation.name.span()));
    quote! {
        #(#attributes)*
        #(#[doc = #lines])*
        #[doc(alias = #symbol)]
    }
}

/// Is one row of the table.
struct Row {
    operand: String,
    role: &'static str,
    access: &'static str,
    reach: String,
    until: &'static str,
}

fn rows(annotation: &Annotation) -> Vec<Row> {
    let mut rows = Vec::new();
    for parameter in &annotation.parameters {
        let plain = |role, reach| Row {
            operand: parameter.name.to_string(),
            role,
            access: "",
            reach,
            until: "",
        };
        match &parameter.role {
            Role::Memory(memory) => rows.push(memory_row(annotation, parameter, memory)),
            Role::Pack(pack) => rows.extend(pack.sides.iter().map(|side| Row {
                operand: side.name.to_string(),
                role: "memory",
                access: access(side.access),
                reach: "extent".to_owned(),
                until: until(annotation, side.until.map(|until| until.word)),
            })),
            Role::Out(_) => rows.push(plain("returned", String::new())),
            Role::Text(Text::Buffer(length)) => {
                rows.push(plain("returned text", format!("bytes({length})")));
            }
            Role::Text(Text::Kept) => rows.push(plain("returned text", String::new())),
            Role::Text(Text::Given) => rows.push(plain("text", String::new())),
            Role::Record(record) => rows.push(Row {
                access: match record {
                    Record::Pointed if is_mut(&parameter.ty) => "write",
                    Record::Pointed | Record::Read | Record::Optional => "read",
                },
                ..plain("record", String::new())
            }),
            Role::Items(items) => rows.push(items_row(annotation, parameter, items)),
            Role::Callback => rows.push(plain("callback", String::new())),
            Role::Data(callback) => rows.push(plain("callback's data", callback.to_string())),
            Role::Args(function) => rows.push(plain("arguments", function.to_string())),
            Role::ValueOf(attribute) => {
                rows.push(plain("attribute's value", attribute.to_string()))
            }
            Role::Handle => rows.push(plain("handle", String::new())),
            Role::Stream => rows.push(plain("stream", String::new())),
            Role::Value => rows.push(plain("value", String::new())),
            Role::Raw => rows.push(plain("raw value", String::new())),
            Role::Attribute(_) => rows.push(plain("attribute", String::new())),
            Role::From(Source::Literal(number)) => rows.push(plain("constant", number.to_string())),
            Role::From(Source::Field { operand, field, divisor }) => {
                let divisor =
                    divisor.as_ref().map(|divisor| format!(" / {divisor}")).unwrap_or_default();
                rows.push(plain("computed", format!("{operand}.{field}{divisor}")));
            }
            Role::Null => rows.push(plain("null", String::new())),
            Role::Unread => {}
        }
    }
    rows
}

fn items_row(annotation: &Annotation, parameter: &Parameter, items: &Items) -> Row {
    let count = written(&items.count);
    let row = |role, reach| Row {
        operand: parameter.name.to_string(),
        role,
        access: "",
        reach,
        until: "",
    };
    let count = format!("items({count})");
    match &items.item {
        Item::Value => Row { access: "read", ..row("list of values", count) },
        Item::Out => Row { access: "write", ..row("list of values", count) },
        Item::Handle => row("list of handles", count),
        Item::Lengths(list) => row("computed list", format!("{list}.len")),
        Item::Memory(memory) => {
            let each = memory_row(annotation, parameter, memory);
            let role = match memory.space {
                Space::Device => "list of device memory",
                Space::Host => "list of host memory",
                Space::Any => "list of memory",
            };
            Row { role, reach: format!("{count}, each {}", each.reach), ..each }
        }
    }
}

fn memory_row(annotation: &Annotation, parameter: &Parameter, memory: &Memory) -> Row {
    let mut reach = match &memory.extent {
        Extent::Bytes(bytes) => format!("bytes({})", written(bytes)),
        Extent::Rows { pitch, width, height } => {
            format!("rows({}, {}, {})", written(pitch), written(width), written(height))
        }
        Extent::Base => "base".to_owned(),
        Extent::Opaque(_) => "opaque".to_owned(),
    };
    if let Some(align) = &memory.align {
        reach.push_str(&format!(", align({align})"));
    }
    if memory.peer.is_some() {
        reach.push_str(", peer");
    }
    if let Some(kind) = &memory.kind {
        reach.push_str(&format!(", kind({})", spaced(kind)));
    }
    Row {
        operand: parameter.name.to_string(),
        role: match memory.space {
            Space::Device => "device memory",
            Space::Host => "host memory",
            Space::Any => "memory",
        },
        access: access(memory.access),
        reach,
        until: match memory.access {
            Access::Share => "",
            Access::Read | Access::Write => until(annotation, memory.until.map(|until| until.word)),
        },
    }
}

const fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Share => "share",
    }
}

fn written(sum: &Sum) -> String {
    match sum {
        Sum::Literal(number) => number.to_string(),
        Sum::Scalar(name) => name.to_string(),
        Sum::Add(left, right) => format!("{} + {}", written(left), written(right)),
        Sum::Mul(left, right) => format!("{} * {}", factor(left), factor(right)),
    }
}

fn factor(sum: &Sum) -> String {
    if matches!(sum, Sum::Add(..)) { format!("({})", written(sum)) } else { written(sum) }
}

/// Prints tokens as a reader expects them.
fn spaced(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace("* ", "*").replace(" :: ", "::")
}
