//! Records, enums, aliases and constants.

use std::fmt::Write as _;

use crate::api::{Record, Union};
use crate::manifest::Library;

/// Writing into a `String` cannot fail.
macro_rules! put {
    ($text:ident, $($format:tt)*) => {
        let _ = writeln!($text, $($format)*);
    };
}

pub(super) fn types(library: &Library, union: &Union) -> String {
    let mut text = String::new();
    constants(library, union, &mut text);
    aliases(library, union, &mut text);
    enums(library, union, &mut text);
    records(union, &mut text);
    format!("\n{}{text}", imports(&text))
}

/// Imports what the text uses.
fn imports(text: &str) -> String {
    let mut lines = String::new();
    if text.contains("c_") || text.contains("CStr") {
        lines.push_str("use core::ffi::*;\n");
    }
    if text.contains("ptr::") {
        lines.push_str("use core::ptr;\n");
    }
    lines.push('\n');
    let macros = [
        ("open", ["flag_enum", "newtype", "open_enum"].as_slice()),
        ("record", ["accessors", "struct_version", "zeroed"].as_slice()),
    ];
    for (module, names) in macros {
        let used =
            |name: &&&str| text.contains(&format!("{name}!")) || text.contains(&format!("{name}("));
        let used: Vec<&str> = names.iter().filter(used).copied().collect();
        if !used.is_empty() {
            put!(lines, "use crate::{module}::{{{}}};", used.join(", "));
        }
    }
    lines
}

fn constants(library: &Library, union: &Union, text: &mut String) {
    text.push('\n');
    for (name, constant) in &union.api.constants {
        let (ty, value) = (&constant.r#type, &constant.value);
        let is_newtype = library.newtypes.contains_key(ty);
        let value = if is_newtype { format!("{ty}({value})") } else { value.clone() };
        put!(text, "pub const {name}: {ty} = {value};");
    }
}

fn aliases(library: &Library, union: &Union, text: &mut String) {
    // A newtype takes the place of its alias; the alias' own target then names the newtype.
    let targets: Vec<(String, &String)> = library
        .newtypes
        .keys()
        .filter_map(|name| Some((union.api.aliases.get(name)?.clone(), name)))
        .collect();
    // `CUdevice_v1` is what `CUdevice` is made of; `cuuint64_t` is a number like any other.
    let newtype_of = |alias: &str| {
        targets.iter().find(|(target, newtype)| target == alias && alias.starts_with(*newtype))
    };
    text.push('\n');
    for (alias, target) in &union.api.aliases {
        let mut target = target;
        if let Some((_, newtype)) = newtype_of(alias) {
            put!(text, "pub type {alias} = {newtype};");
        } else if let Some(meaning) = library.newtypes.get(alias) {
            while let Some(further) = union.api.aliases.get(target) {
                target = further;
            }
            put!(text, "newtype! {{ {alias}({target}): {meaning:?} }}");
        } else {
            put!(text, "pub type {alias} = {target};");
        }
    }
    for (tag, name) in &union.tags {
        put!(text, "#[doc(hidden)]\npub type {tag} = {name};");
    }
}

fn enums(library: &Library, union: &Union, text: &mut String) {
    for (name, e) in &union.api.enums {
        let kind = if library.flags.contains(name) { "flag_enum" } else { "open_enum" };
        let must_use = if *name == library.status.r#type { "#[must_use] " } else { "" };
        put!(text, "\n{kind}! {{\n    {must_use}{name} {{");
        for (constant, value) in &e.constants {
            put!(text, "        {constant} = {value},");
        }
        put!(text, "    }}\n}}");
    }
}

fn records(union: &Union, text: &mut String) {
    for (name, record) in &union.api.records {
        let kind = if record.is_union { "union" } else { "struct" };
        let derives = match (record.is_opaque, has_debug(union, record)) {
            (true, _) => "Debug",
            (false, true) => "Clone, Copy, Debug",
            (false, false) => "Clone, Copy",
        };
        let align = record.align.map(|align| format!(", align({align})")).unwrap_or_default();
        put!(text, "\n/// Is C's `{kind} {name}`.\n#[repr(C{align})]\n#[derive({derives})]");
        put!(text, "pub {kind} {name} {{");
        for (field, ty) in &record.fields {
            let visibility = if record.is_opaque { "" } else { "pub " };
            put!(text, "    {visibility}{field}: {ty},");
        }
        put!(text, "}}");
    }
    put!(text, "\nzeroed! {{");
    for (name, _) in union.api.records.iter().filter(|(_, record)| !record.is_opaque) {
        put!(text, "    {name},");
    }
    put!(text, "}}");
    all_accessors(union, text);
}

/// Tells whether every part of a record can be printed: a union can't.
fn has_debug(union: &Union, record: &Record) -> bool {
    let parts = |ty: &String| union.api.records.get(innermost(ty, union));
    !record.is_union
        && record.fields.iter().all(|(_, ty)| parts(ty).is_none_or(|part| has_debug(union, part)))
}

/// Returns what a field is made of: the type behind aliases and arrays, none behind a pointer.
fn innermost<'a>(ty: &'a str, union: &'a Union) -> &'a str {
    let ty = ty.trim_start_matches('[');
    let ty = ty.split(';').next().unwrap_or(ty);
    union.api.aliases.get(ty).map_or(ty, |target| innermost(target, union))
}

/// Reaches the members of anonymous unions and structs by their own names, wherever a header puts
/// them.
fn all_accessors(union: &Union, text: &mut String) {
    for (name, record) in &union.api.records {
        let mut members = Vec::new();
        anonymous_members(union, record, "", &mut members);
        if members.is_empty() {
            continue;
        }
        put!(text, "\naccessors! {{\n    {name} {{");
        for (member, path, ty) in members {
            put!(text, "        {member} set_{member}: {ty} = {path},");
        }
        put!(text, "    }}\n}}");
    }
}

fn anonymous_members(
    union: &Union,
    record: &Record,
    path: &str,
    members: &mut Vec<(String, String, String)>,
) {
    for (field, ty) in &record.fields {
        let place = format!("{path}{field}");
        let held = union.api.records.get(ty).filter(|_| field.starts_with("anonymous_"));
        if let Some(held) = held {
            anonymous_members(union, held, &format!("{place}."), members);
        } else if !path.is_empty() {
            members.push((field.clone(), place, ty.clone()));
        }
    }
}

/// Lists what is declared but not exposed, and what changed its value.
pub(super) fn exceptions(union: &Union) -> String {
    let version = if union.moved.is_empty() { "" } else { "use crate::Version;\n" };
    let mut text = format!(
        "
{version}use crate::exceptions::{{Moved, Unexposed}};

/// Lists the constants that the headers declare and this crate leaves out, with the reason.
pub static UNEXPOSED: &[Unexposed] = &[
"
    );
    for (name, reason) in &union.unexposed {
        put!(text, "    Unexposed {{ name: {name:?}, reason: {reason:?} }},");
    }
    text.push_str(
        "];

/// Lists the constants whose value changed: each value with the first release that has it. The
/// constant itself has the newest.
pub static MOVED: &[Moved] = &[
",
    );
    for moved in &union.moved {
        let values: Vec<String> = moved
            .values
            .iter()
            .map(|(release, value)| {
                format!("(Version::from_number({}), {value})", release.number())
            })
            .collect();
        put!(text, "    Moved {{ name: {:?}, values: &[{}] }},", moved.name, values.join(", "));
    }
    text.push_str("];\n");
    text
}
