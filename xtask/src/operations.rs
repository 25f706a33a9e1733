//! Every public function of `cuda-safe` beside the test that says what it does when the driver fails.
//!
//! What is public is asked of the compiler (`surface`), what is tested is read in the tests
//! (`scenarios`). Left out are the annotated calls, whose one driver call cannot fail half way, and
//! the layouts, which know no driver. Whatever makes driver calls says in its docs which (`source`).

mod scenarios;
mod source;
mod surface;

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};

use crate::workspace;
use scenarios::{Kind, Scenario};
use source::Docs;
use surface::Operations;

/// The folder of the tests.
const TESTS: &str = "cuda-safe/tests/failures";

/// Is the comparison of what is public with what is tested.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// How many functions are public.
    pub(crate) public: usize,
    /// How many have each of their driver calls fail in a test.
    pub(crate) failing: usize,
    /// How many are seen in a test to make no driver call.
    pub(crate) silent: usize,
    /// How many make driver calls, and say in their docs which.
    pub(crate) named: usize,
    /// How many are excused.
    pub(crate) excused: usize,
    pub(crate) problems: Vec<String>,
}

/// Compares the crate as it is with its tests as they are.
pub(crate) fn compare() -> Result<Comparison> {
    let folder = workspace::root().join(TESTS);
    let excused = folder.join("excused.txt");
    let excused =
        std::fs::read_to_string(&excused).with_context(|| excused.display().to_string())?;
    Ok(comparison(&surface::operations()?, &scenarios::read(&folder)?, &excuses(&excused)))
}

/// Reads lines of a function, a colon with a space, and the reason.
fn excuses(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(": ").unwrap_or((line, ""))).collect()
}

fn comparison(public: &Operations, scenarios: &[Scenario], excuses: &[(&str, &str)]) -> Comparison {
    let of = |kind| {
        let of_kind = scenarios.iter().filter(move |scenario| scenario.kind == kind);
        of_kind.flat_map(|scenario| &scenario.operations).cloned().collect::<BTreeSet<_>>()
    };
    let (failing, silent) = (of(Kind::CallsFail), of(Kind::NoCalls));
    let excused: BTreeSet<_> = excuses.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut problems = Vec::new();
    for name in public.keys() {
        if ![&failing, &silent, &excused].into_iter().any(|set| set.contains(name)) {
            problems.push(format!(
                "{name}: no test lets its driver calls fail, or says that it makes none"
            ));
        }
    }
    for Scenario { test, operations, called, .. } in scenarios {
        for name in operations {
            let last = name.rsplit("::").next().unwrap_or(name);
            if !public.contains_key(name) {
                problems.push(format!("{test}: {name} is no public function of cuda-safe"));
            } else if !called.contains(last) {
                problems.push(format!("{test}: {name} is listed, but not called"));
            }
        }
    }
    for (name, reason) in excuses {
        if !public.contains_key(*name) {
            problems.push(format!("excused.txt: {name} is no public function of cuda-safe"));
        } else if failing.contains(*name) || silent.contains(*name) {
            problems.push(format!("excused.txt: {name} is tested, and needs no excuse"));
        } else if reason.is_empty() {
            problems.push(format!("excused.txt: {name} has no reason"));
        }
    }
    let mut named = 0;
    for (name, docs) in failing.difference(&silent).filter_map(|name| public.get_key_value(name)) {
        let wrong: Vec<String> = docs.iter().filter_map(Docs::problem).collect();
        named += usize::from(wrong.is_empty());
        problems.extend(wrong.into_iter().map(|problem| format!("{name}: {problem}")));
    }
    let silent = silent.difference(&failing).count();
    let (public, failing, excused) = (public.len(), failing.len(), excused.len());
    Comparison { public, failing, silent, named, excused, problems }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(kind: Kind, operations: &[&str]) -> Scenario {
        let operations: Vec<_> = operations.iter().map(|name| (*name).to_owned()).collect();
        let called = operations.iter().filter_map(|name| name.rsplit("::").next());
        let called = called.map(str::to_owned).collect();
        Scenario { test: "test".to_owned(), kind, operations, called }
    }

    fn docs(text: &str) -> Docs {
        Docs { text: text.to_owned(), ..Docs::default() }
    }

    fn public(names: &[&str]) -> Operations {
        let with_source = |name: &&str| ((*name).to_owned(), vec![docs("Driver: `cuInit`.")]);
        names.iter().map(with_source).collect()
    }

    #[test]
    fn what_is_tested_or_excused_is_counted() {
        let scenarios =
            [scenario(Kind::CallsFail, &["A::a", "b"]), scenario(Kind::NoCalls, &["A::c", "b"])];
        let compared =
            comparison(&public(&["A::a", "A::c", "A::d", "b"]), &scenarios, &[("A::d", "why")]);
        assert_eq!(
            compared,
            Comparison {
                public: 4,
                failing: 2,
                silent: 1,
                named: 1,
                excused: 1,
                problems: Vec::new()
            }
        );
    }

    #[test]
    fn gaps_and_stale_names_are_told() {
        let mut stale = scenario(Kind::CallsFail, &["A::a", "A::gone", "A::idle"]);
        stale.called.remove("idle");
        let excuses = [("A::a", "why"), ("A::lost", "why"), ("A::mute", "")];
        let compared =
            comparison(&public(&["A::a", "A::idle", "A::mute", "A::new"]), &[stale], &excuses);
        assert_eq!(
            compared.problems,
            [
                "A::new: no test lets its driver calls fail, or says that it makes none",
                "test: A::gone is no public function of cuda-safe",
                "test: A::idle is listed, but not called",
                "excused.txt: A::a is tested, and needs no excuse",
                "excused.txt: A::lost is no public function of cuda-safe",
                "excused.txt: A::mute has no reason",
            ]
        );
    }
    #[test]
    fn what_makes_calls_and_names_none_is_told() {
        let mut public = public(&["A::a", "A::b", "A::c", "A::d"]);
        public.values_mut().for_each(|all| all.push(docs("Waits.")));
        public.insert("A::b".to_owned(), vec![docs("Waits.\n\nDriver: `cuInit`.")]);
        let scenarios = [
            scenario(Kind::CallsFail, &["A::a", "A::b", "A::c"]),
            scenario(Kind::NoCalls, &["A::c"]),
        ];
        let compared = comparison(&public, &scenarios, &[("A::d", "why")]);
        assert_eq!(compared.named, 1);
        assert_eq!(compared.problems, ["A::a: its docs name no driver function, by `Driver: …`"]);
    }
}
