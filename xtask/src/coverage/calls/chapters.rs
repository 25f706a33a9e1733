//! The chapters of the driver's manual, as the headers' comments group the functions.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use crate::api::HeaderSet;
use crate::manifest::Library;

/// Returns the chapter of each function, by the name that a C program writes; a later release's
/// word counts.
pub(crate) fn chapters(library: &Library, sets: &[HeaderSet]) -> Result<BTreeMap<String, String>> {
    let mut chapters = BTreeMap::new();
    for set in sets {
        for file in library.headers.iter().filter_map(|header| set.file(header)) {
            let text = std::fs::read_to_string(&file)
                .with_context(|| format!("cannot read {}", file.display()))?;
            read(&text, &mut chapters);
        }
    }
    Ok(chapters)
}

/// Reads one header: a group begins at `\defgroup NAME title`, and ends at `@}`.
fn read(text: &str, chapters: &mut BTreeMap<String, String>) {
    let mut open: Vec<String> = Vec::new();
    let mut before = "";
    for line in text.lines() {
        if let Some((_, group)) = line.split_once("\\defgroup ") {
            let title = group.split_once(' ').map_or(group, |(_, title)| title);
            open.push(title.trim().to_owned());
        }
        if line.contains("@}") {
            open.pop();
        }
        if let (Some(title), Some(name)) = (open.last(), declared(before, line)) {
            chapters.insert(name.to_owned(), title.clone());
        }
        before = line;
    }
}

/// Returns the function that a line declares; its type may end the line before.
fn declared<'a>(before: &str, line: &'a str) -> Option<&'a str> {
    let behind = match line.split_once("CUDAAPI ") {
        Some((_, behind)) => behind,
        None if before.trim_end().ends_with("CUDAAPI") => line,
        None => return None,
    };
    let name = behind.split_once('(').map_or(behind, |(name, _)| name).trim();
    name.starts_with("cu").then_some(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::read;

    #[test]
    fn groups_nest_and_end() {
        let mut chapters = BTreeMap::new();
        let text = "CUresult CUDAAPI cuBefore(void);\n * \\defgroup ONE First Chapter\n * @{\n\
                    CUresult CUDAAPI\ncuOne(int a);\n * \\defgroup TWO Second [DEPRECATED] \n\
                    CUresult CUDAAPI cuTwo(void);\n/** @} */\nCUresult CUDAAPI cuThree(void);\n\
                    /** @} */\nCUresult CUDAAPI cuBehind(void);\n";
        read(text, &mut chapters);
        let have: Vec<_> = chapters.iter().map(|(name, title)| (&**name, &**title)).collect();
        let want = [
            ("cuOne", "First Chapter"),
            ("cuThree", "First Chapter"),
            ("cuTwo", "Second [DEPRECATED]"),
        ];
        assert_eq!(have, want);
    }
}
