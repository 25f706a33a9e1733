//! Reads annotated signatures as text: the symbol, and the C name of each parameter.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use anyhow::{Context as _, Result, anyhow, bail};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Is one file of calls.
pub(crate) struct Page {
    /// Its path below the folder of calls.
    pub(crate) file: String,
    pub(crate) chapters: Vec<Claim>,
    pub(crate) annotations: Vec<Annotation>,
}

/// Is a line `//! Chapter: title.` or `//! Chapter: title, whole.`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) title: String,
    pub(crate) is_whole: bool,
}

/// Is one annotated function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Annotation {
    pub(crate) symbol: String,
    /// The parameters' C names, in order.
    pub(crate) parameters: Vec<String>,
}

/// Reads every file of a folder; one in a folder of its own is of the chapters of the file beside
/// that folder.
pub(super) fn pages(folder: &Path) -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    for file in files(folder)? {
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let annotations = annotations(&text).with_context(|| name.clone())?;
        let mut chapters = claims(&text);
        let parent = file.parent().map(|parent| parent.with_extension("rs"));
        if let Some(parent) = parent.filter(|parent| *parent != folder.with_extension("rs")) {
            let text = std::fs::read_to_string(&parent).unwrap_or_default();
            let own = claims(&text).into_iter();
            // The claim stands once, in the file that says it.
            chapters.extend(own.map(|claim| Claim { is_whole: false, ..claim }));
        }
        pages.push(Page { file: name, chapters, annotations });
    }
    Ok(pages)
}

/// Returns the Rust files below a folder, in order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn claims(text: &str) -> Vec<Claim> {
    let claim = |line: &str| {
        let title = line.strip_prefix("//! Chapter: ")?.strip_suffix('.')?;
        Some(match title.strip_suffix(", whole") {
            Some(title) => Claim { title: title.to_owned(), is_whole: true },
            None => Claim { title: title.to_owned(), is_whole: false },
        })
    };
    text.lines().filter_map(claim).collect()
}

fn annotations(text: &str) -> Result<Vec<Annotation>> {
    let tokens = TokenStream::from_str(text).map_err(|error| anyhow!("{error}"))?;
    let mut annotations = Vec::new();
    let mut symbol = None;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
                symbol = driver(group.stream()).or(symbol);
            }
            TokenTree::Ident(word) if word == "fn" && symbol.is_some() => {
                let name = tokens.next().map(|name| name.to_string()).unwrap_or_default();
                match tokens.next() {
                    Some(TokenTree::Group(group)) => annotations.push(Annotation {
                        symbol: symbol.take().unwrap_or_default(),
                        parameters: parameters(group.stream())?,
                    }),
                    _ => bail!("`{name}` has no parameters in parentheses"),
                }
            }
            _ => {}
        }
    }
    Ok(annotations)
}

/// Returns the symbol of `driver(SYMBOL, …)`.
fn driver(attribute: TokenStream) -> Option<String> {
    let mut tokens = attribute.into_iter();
    if tokens.next()?.to_string() != "driver" {
        return None;
    }
    match tokens.next()? {
        TokenTree::Group(group) => Some(group.stream().into_iter().next()?.to_string()),
        _ => None,
    }
}

/// Returns the C names of `#[role] name @ c_name: type, …`.
fn parameters(list: TokenStream) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut tokens = list.into_iter().peekable();
    while tokens.peek().is_some() {
        let mut words = Vec::new();
        // Everything before the colon: the roles, the name, perhaps `@` and the C name.
        for token in tokens.by_ref() {
            match token {
                TokenTree::Punct(mark) if mark.as_char() == ':' => break,
                TokenTree::Ident(word) => words.push(word.to_string()),
                _ => {}
            }
        }
        names.push(words.pop().context("a parameter without a name")?);
        let mut depth = 0_i32;
        for token in tokens.by_ref() {
            match &token {
                TokenTree::Punct(mark) if mark.as_char() == '<' => depth += 1,
                TokenTree::Punct(mark) if mark.as_char() == '>' => depth -= 1,
                TokenTree::Punct(mark) if mark.as_char() == ',' && depth == 0 => break,
                _ => {}
            }
        }
    }
    Ok(names)
}
