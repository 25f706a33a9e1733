//! Where a function says which of the driver's it is of: a paragraph `Driver: …`, the last of its
//! description.

use std::collections::BTreeMap;

use serde_json::Value;

/// What the paragraph begins with.
const BEGINNING: &str = "Driver:";

/// What it comes before.
const SECTIONS: [&str; 3] = ["# Errors", "# Safety", "# Panics"];

/// Is what is written of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Docs {
    pub(super) text: String,
    /// What is written of each item that it links to, by the link's target.
    pub(super) linked: BTreeMap<String, String>,
}

impl Docs {
    /// Reads them from an item of the compiler's description, with those of what it links to.
    pub(super) fn of<'a>(item: &Value, find: impl Fn(&Value) -> Option<&'a Value>) -> Self {
        let text = |item: &Value| item.get("docs").and_then(Value::as_str).map(str::to_owned);
        let links = item.get("links").and_then(Value::as_object).into_iter().flatten();
        let linked = links.filter_map(|(target, id)| Some((target.clone(), text(find(id)?)?)));
        Self { text: text(item).unwrap_or_default(), linked: linked.collect() }
    }

    /// Says what is wrong with where it says which of the driver's functions it is of.
    pub(super) fn problem(&self) -> Option<String> {
        let paragraphs: Vec<&str> = self.text.split("\n\n").map(str::trim).collect();
        let Some(at) = paragraphs.iter().position(|text| text.starts_with(BEGINNING)) else {
            return Some("its docs name no driver function, by `Driver: …`".to_owned());
        };
        let (source, behind) = (paragraphs.get(at)?, paragraphs.get(at + 1));
        let in_section = paragraphs.iter().take(at).any(|text| SECTIONS.contains(text));
        if in_section || behind.is_some_and(|text| !SECTIONS.contains(text)) {
            return Some("`Driver: …` is not the last of its docs before the sections".to_owned());
        }
        if !spans(source).any(is_function) {
            return Some("`Driver: …` names no driver function".to_owned());
        }
        let wrong =
            links(source).find(|(name, target)| is_function(name) && !self.calls(target, name));
        wrong.map(|(name, target)| format!("`{name}` leads to {target}, which does not call it"))
    }

    /// Tells whether the docs of what a link leads to say that it calls a driver function.
    fn calls(&self, target: &str, name: &str) -> bool {
        let docs = self.linked.get(target);
        docs.is_some_and(|docs| docs.contains(&format!("Calls `{name}(")))
    }
}

/// Tells whether it is the name of a function of the driver.
fn is_function(name: &str) -> bool {
    let rest = name.strip_prefix("cu").unwrap_or_default();
    rest.starts_with(|first: char| first.is_ascii_uppercase())
        && rest.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns what stands between backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the name and the target of each link that is a name between backticks.
fn links(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("[`").skip(1).filter_map(|link| {
        let (name, rest) = link.split_once("`](")?;
        Some((name, rest.split_once(')')?.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(text: &str) -> Docs {
        let calls = "Waits.\n\nCalls `cuStreamSynchronize(hStream: CUstream)`.".to_owned();
        Docs { text: text.to_owned(), linked: [("crate::call::wait".to_owned(), calls)].into() }
    }

    #[test]
    fn a_source_is_a_name_or_a_link_to_who_calls_it() {
        for text in [
            "Waits.\n\nDriver: [`cuStreamSynchronize`](crate::call::wait).\n\n# Errors\n\nNone.",
            "Waits.\n\n Driver:\n`cuStreamSynchronize`, at least.",
            "Waits.\n\n```\n# fn main() {}\n\nwait();\n```\n\nDriver: `cuMemAlloc_v2`.\n\n# Safety\n\nNone.",
        ] {
            assert_eq!(docs(text).problem(), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_source_is_told() {
        for (text, problem) in [
            ("", "its docs name no driver function, by `Driver: …`"),
            ("Waits as `cuMemFree` does.", "its docs name no driver function, by `Driver: …`"),
            ("Driver: `CUstream`.", "`Driver: …` names no driver function"),
            ("Driver: cuInit.", "`Driver: …` names no driver function"),
            (
                "Driver: `cuInit`.\n\nMore.\n\n# Errors\n\nNone.",
                "`Driver: …` is not the last of its docs before the sections",
            ),
            (
                "Waits.\n\n# Errors\n\nNone.\n\nDriver: `cuInit`.",
                "`Driver: …` is not the last of its docs before the sections",
            ),
            (
                "Driver: [`cuStreamQuery`](crate::call::wait).",
                "`cuStreamQuery` leads to crate::call::wait, which does not call it",
            ),
            (
                "Driver: [`cuStreamSynchronize`](crate::call::gone).",
                "`cuStreamSynchronize` leads to crate::call::gone, which does not call it",
            ),
        ] {
            assert_eq!(docs(text).problem().as_deref(), Some(problem), "{text}");
        }
    }

    #[test]
    fn docs_are_read_with_those_of_what_they_link_to() {
        let call = serde_json::json!({ "docs": "Calls `cuInit(Flags: c_uint)`." });
        let item = serde_json::json!({
            "docs": "Driver: [`cuInit`](crate::call::init).",
            "links": { "crate::call::init": 7, "crate::sys::CUresult": 8 },
        });
        let read = Docs::of(&item, |id| (*id == 7).then_some(&call));
        assert_eq!(read.linked.keys().collect::<Vec<_>>(), ["crate::call::init"]);
        assert_eq!(read.problem(), None);
        assert_eq!(Docs::of(&serde_json::json!({ "docs": null }), |_| None), Docs::default());
    }
}
