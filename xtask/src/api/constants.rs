//! Macros that bindgen leaves out: casts, other names of enum constants, sizes with a version.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

use super::HeaderSet;
use super::headers::HeaderText;
use super::model::{Api, Constant};
use crate::manifest::Library;

/// Adds what bindgen left out, corrects what it misread, and fails on a macro with a value that is
/// neither bound nor listed as unexposed.
pub(super) fn complete(library: &Library, headers: &HeaderSet, api: &mut Api) -> Result<()> {
    for constant in api.constants.values_mut() {
        shorten(constant);
    }
    let enums = enum_of_constant(api);
    let mut unknown = Vec::new();
    for header in headers.present(library) {
        let file = headers.file(header).context("a header vanished")?;
        let text = HeaderText::read(&file)?;
        for (name, value) in text.macros() {
            let known = api.constants.contains_key(name) || api.functions.contains_key(name);
            let is_function = is_renaming(name, value) || api.functions.contains_key(value);
            if known || is_function || library.unexposed_reason(name).is_some() {
                continue;
            }
            if is_type(value, api) {
                api.aliases.insert(name.to_owned(), value.to_owned());
                continue;
            }
            match evaluate(value, &enums, api) {
                Some(constant) => {
                    api.constants.insert(name.to_owned(), constant);
                }
                None => unknown.push(format!("{name} ({value}) of {header}")),
            }
        }
    }
    if !unknown.is_empty() {
        bail!(
            "macros neither understood nor listed as unexposed in xtask/libraries.toml: {}",
            unknown.join(", ")
        );
    }
    for (name, (ty, value)) in &library.corrected {
        if let Some(constant) = api.constants.get_mut(name) {
            *constant = Constant { r#type: ty.clone(), value: value.clone() };
        }
    }
    api.constants.retain(|name, _| library.unexposed_reason(name).is_none());
    Ok(())
}

/// Turns bindgen's text into the crate's: shorter, and strings as C strings.
fn shorten(constant: &mut Constant) {
    if let Some(text) = constant.value.strip_prefix("b\"").and_then(|v| v.strip_suffix("\\0\"")) {
        *constant = Constant { r#type: "&CStr".to_owned(), value: format!("c\"{text}\"") };
        return;
    }
    constant.r#type = constant.r#type.replace(":: core :: ffi :: ", "");
    constant.value = constant.value.replace("- ", "-").trim_end_matches("u32").to_owned();
}

/// Returns the enum that each enum constant belongs to.
fn enum_of_constant(api: &Api) -> BTreeMap<String, String> {
    let constants = |(tag, e): (&String, &super::Enum)| {
        e.constants.iter().map(|(name, _)| (name.clone(), tag.clone())).collect::<Vec<_>>()
    };
    api.enums.iter().flat_map(constants).collect()
}

/// Tells whether the macro only chooses a function's version or a default-stream twin.
fn is_renaming(name: &str, value: &str) -> bool {
    let inner = value.split_once('(').map_or(value, |(_, inner)| inner);
    inner.starts_with(name) && !inner.contains('|')
}

/// Tells whether the macro is another name of a type.
fn is_type(value: &str, api: &Api) -> bool {
    api.records.contains_key(value)
        || api.enums.contains_key(value)
        || api.aliases.contains_key(value)
}

/// Reads the forms `ENUM_CONSTANT`, `(NAME | NAME)`, `((T)n)`, `((void*)NAME)` and
/// `NVML_STRUCT_VERSION(T, n)`.
fn evaluate(value: &str, enums: &BTreeMap<String, String>, api: &Api) -> Option<Constant> {
    if let Some(tag) = enums.get(value) {
        return Some(Constant { r#type: tag.clone(), value: format!("{tag}::{value}") });
    }
    if let Some(constant) = api.constants.get(value) {
        return Some(constant.clone());
    }
    if let Some(arguments) = value.strip_prefix("NVML_STRUCT_VERSION(") {
        let (record, version) = arguments.strip_suffix(')')?.split_once(',')?;
        let version: u32 = version.trim().parse().ok()?;
        let record = format!("nvml{}_v{version}_t", record.trim());
        let value = format!("struct_version(size_of::<{record}>(), {version})");
        return Some(Constant { r#type: "c_uint".to_owned(), value });
    }
    if value.contains('|') {
        let operands = value.trim_matches(['(', ')', ' ']).split('|').map(str::trim);
        let operands: Vec<&str> = operands.collect();
        let first = api.constants.get(*operands.first()?)?;
        let all_known = operands.iter().all(|operand| api.constants.contains_key(*operand));
        let number = |operand: &&str| api.constants.get(*operand)?.value.parse::<u64>().ok();
        let numbers: Option<Vec<u64>> = operands.iter().map(number).collect();
        let value = match numbers {
            Some(numbers) => numbers.iter().fold(0, |bits, number| bits | number).to_string(),
            None => operands.join(" | "),
        };
        let union = Constant { r#type: first.r#type.clone(), value };
        return all_known.then_some(union);
    }
    let cast = value.strip_prefix("((")?.strip_suffix(')')?;
    let (ty, operand) = cast.split_once(')')?;
    let number = operand.trim_start_matches("0x").parse::<i64>().ok();
    let number = number.map(|number| number.to_string());
    let number = number.or_else(|| Some(api.constants.get(operand)?.value.clone()))?;
    let ty = ty.trim();
    if ty.replace(' ', "") == "void*" {
        let value = format!("ptr::without_provenance_mut({number})");
        return Some(Constant { r#type: "*mut c_void".to_owned(), value });
    }
    let is_pointer = api.aliases.get(ty).is_some_and(|target| target.starts_with('*'));
    let value = if is_pointer { format!("ptr::without_provenance_mut({number})") } else { number };
    Some(Constant { r#type: ty.to_owned(), value })
}
