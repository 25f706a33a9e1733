//! The public functions of `cuda-safe`, by what the compiler's documentation tool says.
//!
//! Its description is read as far as it is needed here, since the whole of it changes from release to
//! release of the compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::source::Docs;
use crate::workspace;

/// Is what is written of each function, by its name; some have several, each for other types.
pub(super) type Operations = BTreeMap<String, Vec<Docs>>;

/// The modules whose functions are tested otherwise.
const ELSEWHERE: [&str; 2] = ["call", "layout"];

/// Returns every public function, methods by the name of their type, traits' among them.
pub(super) fn operations() -> Result<Operations> {
    let file = workspace::target().join("doc/cuda_safe.json");
    let status = workspace::cargo()
        .args(["rustdoc", "--quiet", "--package=cuda-safe", "--lib", "--all-features", "--"])
        .args(["-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"])
        .env("RUSTDOC", tool()?)
        .status()
        .context("cargo could not be started")?;
    if !status.success() {
        bail!("cuda-safe's documentation is not made");
    }
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let operations = Surface(serde_json::from_str(&text)?).operations()?;
    if operations.is_empty() {
        bail!("{} names no public function", file.display());
    }
    Ok(operations)
}

/// Writes the documentation tool with the form of output that is not stable let through, for itself
/// alone: of what cargo builds, nothing is built otherwise.
fn tool() -> Result<PathBuf> {
    let folder = workspace::target().join("xtask");
    std::fs::create_dir_all(&folder)?;
    let mut new = tempfile::NamedTempFile::new_in(&folder)?;
    new.write_all(b"#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\"\n")?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        new.as_file().set_permissions(std::fs::Permissions::from_mode(0o755))?;
    }
    let path = folder.join("rustdoc");
    new.persist(&path)?;
    Ok(path)
}

/// Is the description of a crate.
struct Surface(Value);

impl Surface {
    fn operations(&self) -> Result<Operations> {
        let mut found = Found::default();
        let root = self.0.get("root").context("the description has no root")?;
        for name in ELSEWHERE {
            let module = self.children(root, "module").find(|id| self.name(id) == Some(name));
            let module = module.with_context(|| format!("there is no module `{name}`"))?;
            self.walk(module, name, &mut found);
        }
        // What they have is seen, so that it is not met again under another name.
        found.operations.clear();
        self.walk(root, "", &mut found);
        Ok(found.operations)
    }

    fn item(&self, id: &Value) -> Option<&Value> {
        self.0.get("index")?.get(id.to_string())
    }

    /// Returns what an item is in itself, if it is of that sort.
    fn inner(&self, id: &Value, sort: &str) -> Option<&Value> {
        self.item(id)?.get("inner")?.get(sort)
    }

    fn name(&self, id: &Value) -> Option<&str> {
        self.item(id)?.get("name")?.as_str()
    }

    /// Returns the items of a module, a trait or an implementation.
    fn children(&self, id: &Value, sort: &str) -> impl Iterator<Item = &Value> {
        let items = self.inner(id, sort).and_then(|inner| inner.get("items"));
        items.and_then(Value::as_array).into_iter().flatten()
    }

    /// Notes the functions of a module; `prefix` is its path.
    fn walk(&self, module: &Value, prefix: &str, found: &mut Found) {
        for id in self.children(module, "module") {
            let used = self.inner(id, "use");
            let target = used.map_or(Some(id), |used| used.get("id"));
            let name = used.and_then(|used| used.get("name")).and_then(Value::as_str);
            let name = name.or_else(|| self.name(id));
            let (Some(target), Some(name)) = (target, name) else { continue };
            // Another crate's item has no description here; one that was met has its name.
            if self.item(target).is_none() || !found.seen.insert(target.to_string()) {
                continue;
            }
            let path =
                if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") };
            if self.inner(target, "module").is_some() {
                self.walk(target, &path, found);
            } else if self.inner(target, "function").is_some() {
                self.note(target, path, found);
            } else {
                self.methods(target, &path, found);
            }
        }
    }

    /// Notes the methods of a type's own implementations, or of a trait.
    fn methods(&self, id: &Value, path: &str, found: &mut Found) {
        let sorts = ["struct", "enum", "union"];
        let kind = sorts.iter().find_map(|sort| self.inner(id, sort));
        let blocks = kind.and_then(|kind| kind.get("impls")).and_then(Value::as_array);
        let own = |block: &&Value| {
            self.inner(block, "impl").is_some_and(|it| it.get("trait").is_none_or(Value::is_null))
        };
        let blocks = blocks.into_iter().flatten().filter(own);
        let methods = blocks.flat_map(|block| self.children(block, "impl"));
        for method in methods.chain(self.children(id, "trait")) {
            if let (Some(_), Some(name)) = (self.inner(method, "function"), self.name(method)) {
                self.note(method, format!("{path}::{name}"), found);
            }
        }
    }

    /// Notes a function.
    fn note(&self, id: &Value, path: String, found: &mut Found) {
        let docs = self.item(id).map(|item| Docs::of(item, |id| self.item(id)));
        found.operations.entry(path).or_default().extend(docs);
    }
}

/// Is what was met so far.
#[derive(Default)]
struct Found {
    seen: BTreeSet<String>,
    operations: Operations,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, sort: &str, inner: &Value) -> Value {
        let docs = format!("Is {name}.");
        serde_json::json!({ "name": name, "docs": docs, "inner": { sort: inner } })
    }

    #[test]
    fn functions_are_found_by_the_name_that_users_write() {
        let none = serde_json::json!({});
        let items = |ids: &[u32]| serde_json::json!({ "items": ids });
        let uses = |name: &str, id: u32| serde_json::json!({ "name": name, "id": id });
        let document = serde_json::json!({ "root": 0, "index": {
            "0": item("it", "module", &items(&[1, 2, 3, 4, 5, 6])),
            "1": item("call", "module", &items(&[20])),
            "2": item("layout", "module", &items(&[21])),
            "3": item("shim", "module", &items(&[22])),
            "4": { "inner": { "use": uses("Buffer", 30) } },
            "5": { "inner": { "use": uses("Layout", 21) } },
            "6": { "inner": { "use": uses("sys", 99) } },
            "20": item("raw", "function", &none),
            "21": item("Layout", "struct", &serde_json::json!({ "impls": [40] })),
            "22": item("Memory", "trait", &items(&[50, 51])),
            "30": item("Buffer", "struct", &serde_json::json!({ "impls": [41, 42, 43] })),
            "40": item("", "impl", &serde_json::json!({ "trait": null, "items": [52] })),
            "41": item("", "impl", &serde_json::json!({ "trait": null, "items": [52, 53] })),
            "42": item("", "impl", &serde_json::json!({ "trait": { "id": 1 }, "items": [54] })),
            "43": item("", "impl", &serde_json::json!({ "trait": null, "items": [55] })),
            "50": item("region", "function", &none),
            "51": item("Raw", "assoc_type", &none),
            "52": item("len", "function", &none),
            "53": item("Kept", "assoc_const", &none),
            "54": item("clone", "function", &none),
            "55": item("len", "function", &none),
        }});
        let operations = Surface(document).operations().unwrap();
        let names: Vec<_> = operations.keys().collect();
        assert_eq!(names, ["Buffer::len", "shim::Memory::region"]);
        let docs = |name: &str| operations[name].iter().map(|docs| docs.text.clone());
        assert_eq!(docs("Buffer::len").collect::<Vec<_>>(), ["Is len.", "Is len."]);
        assert_eq!(docs("shim::Memory::region").collect::<Vec<_>>(), ["Is region."]);
    }
}
