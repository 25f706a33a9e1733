//! Names that the crate shows: a record by the name that C programs use for it, an anonymous type
//! by its place.

use std::collections::BTreeMap;

use super::model::Constant;
use super::union::Union;
use crate::manifest::Library;

/// Renames everything in the union.
pub(super) fn settle(library: &Library, union: &mut Union) {
    let mut names = typedef_names(union);
    for (old, new) in &library.renamed {
        // One release alone has the old or the new name.
        if !(declares(union, old) && declares(union, new)) {
            continue;
        }
        union.api.records.remove(old);
        union.api.enums.remove(old);
        let new = names.get(new).cloned().unwrap_or_else(|| new.clone());
        names.insert(old.clone(), new);
    }
    union.tags = names.clone();
    for (name, tag) in nested_tags(union) {
        names.entry(name).or_insert(tag);
    }
    names.extend(anonymous_names(union, &names));
    rename(union, &names);
}

fn declares(union: &Union, tag: &str) -> bool {
    union.api.records.contains_key(tag) || union.api.enums.contains_key(tag)
}

/// Gives each record and enum the name of the first `typedef` of its tag: the one with the lowest
/// version, since later names are aliases of it.
fn typedef_names(union: &Union) -> BTreeMap<String, String> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (alias, target) in &union.api.aliases {
        let is_tag = union.api.records.get(target).is_some_and(|record| !record.is_opaque)
            || union.api.enums.contains_key(target);
        let is_declared =
            union.api.records.contains_key(alias) || union.api.enums.contains_key(alias);
        if !is_tag || is_declared {
            continue;
        }
        let name = names.entry(target.clone()).or_insert_with(|| alias.clone());
        if rank(alias) < rank(name) {
            name.clone_from(alias);
        }
    }
    names
}

/// Gives a record that is defined inside another its tag alone: C knows no nested names, which
/// bindgen makes as C++ has them.
fn nested_tags(union: &Union) -> BTreeMap<String, String> {
    let records = &union.api.records;
    let mut tags = BTreeMap::new();
    for (parent, record) in records {
        for (_, ty) in &record.fields {
            let name = innermost(ty);
            let tag = name.strip_prefix(parent.as_str()).and_then(|rest| rest.strip_prefix('_'));
            if let Some(tag) = tag.filter(|tag| !tag.starts_with("_bindgen_ty_"))
                && records.contains_key(name)
            {
                tags.insert(name.to_owned(), tag.to_owned());
            }
        }
    }
    tags
}

/// Orders the names of one tag: a version number says that it is this layout for good.
fn rank(alias: &str) -> (bool, &str) {
    let version = alias.rsplit_once("_v").map(|(_, version)| version);
    (!version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit())), alias)
}

/// Names what bindgen calls `Parent__bindgen_ty_1` after the field that holds it.
fn anonymous_names(union: &Union, tags: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    // A parent sorts before what it holds, since its name is a prefix of theirs.
    for (parent, record) in &union.api.records {
        let parent = names.get(parent).or_else(|| tags.get(parent)).unwrap_or(parent).clone();
        for (field, ty) in &record.fields {
            if ty.contains("__bindgen_ty_") {
                names.insert(innermost(ty).to_owned(), format!("{parent}_{}", field_name(field)));
            }
        }
    }
    names
}

/// Returns the type that an array or a pointer is made of.
fn innermost(ty: &str) -> &str {
    let ty = ty.trim_start_matches(['[', '*']);
    let ty = ty.trim_start_matches("const ").trim_start_matches("mut ");
    ty.split(';').next().unwrap_or(ty)
}

/// Names what bindgen calls `__bindgen_anon_1`.
fn field_name(field: &str) -> String {
    field.replace("__bindgen_anon_", "anonymous_")
}

fn rename(union: &mut Union, names: &BTreeMap<String, String>) {
    let api = &mut union.api;
    api.visit_types(|ty| *ty = renamed_in(ty, names));
    let renamed = |name: String| names.get(&name).cloned().unwrap_or(name);
    api.aliases.retain(|alias, target| target != alias);
    api.records = std::mem::take(&mut api.records)
        .into_iter()
        .map(|(tag, mut record)| {
            record.fields.iter_mut().for_each(|(field, _)| *field = field_name(field));
            record.layout.offsets.iter_mut().for_each(|(field, _)| *field = field_name(field));
            (renamed(tag), record)
        })
        .collect();
    api.enums = std::mem::take(&mut api.enums).into_iter().map(|(t, e)| (renamed(t), e)).collect();
    for Constant { r#type, value } in api.constants.values_mut() {
        if let Some(name) = names.get(r#type) {
            *value = value.replace(&format!("{}::", *r#type), &format!("{name}::"));
            r#type.clone_from(name);
        }
    }
    for alias in api.aliases.keys() {
        union.tags.remove(alias);
    }
}

/// Replaces every name in the text of a type.
fn renamed_in(ty: &str, names: &BTreeMap<String, String>) -> String {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut renamed = String::new();
    let mut rest = ty;
    while let Some(start) = rest.find(is_part) {
        let (before, tail) = rest.split_at(start);
        let (word, after) = tail.split_at(tail.find(|c| !is_part(c)).unwrap_or(tail.len()));
        renamed.push_str(before);
        renamed.push_str(names.get(word).map_or(word, String::as_str));
        rest = after;
    }
    renamed + rest
}
