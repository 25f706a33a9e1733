//! The tests of failures, as they are written: which functions each of them says that it tests.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Item, Macro, Stmt, Token, bracketed};

/// Is what a test says of the functions that it lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Each of their driver calls fails in turn.
    CallsFail,
    /// They make no driver call.
    NoCalls,
}

impl Kind {
    fn of(makes: &Macro) -> Option<Self> {
        match makes.path.segments.last()?.ident.to_string().as_str() {
            "each_call_fails" => Some(Self::CallsFail),
            "asks_no_driver" => Some(Self::NoCalls),
            _ => None,
        }
    }
}

/// Is a test, with the functions that it lists and all that its body calls.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) test: String,
    pub(super) kind: Kind,
    pub(super) operations: Vec<String>,
    pub(super) called: BTreeSet<String>,
}

/// Reads every file in a folder of tests.
pub(super) fn read(folder: &Path) -> Result<Vec<Scenario>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        found.extend(scenarios(&text).with_context(|| file.display().to_string())?);
    }
    if found.is_empty() {
        bail!("there is no test in {}", folder.display());
    }
    Ok(found)
}

/// Reads the tests of a file: functions whose body is one of the two macros.
fn scenarios(text: &str) -> Result<Vec<Scenario>> {
    let mut found = Vec::new();
    for item in syn::parse_file(text)?.items {
        let Item::Fn(function) = item else { continue };
        let is_test = function.attrs.iter().any(|attribute| attribute.path().is_ident("test"));
        for statement in function.block.stmts.iter().filter(|_| is_test) {
            let Stmt::Macro(statement) = statement else { continue };
            let Some(kind) = Kind::of(&statement.mac) else { continue };
            let Listed { operations, body } = statement.mac.parse_body()?;
            let mut called = BTreeSet::new();
            collect(body, &mut called);
            let test = function.sig.ident.to_string();
            found.push(Scenario { test, kind, operations, called });
        }
    }
    Ok(found)
}

/// Is what the macros are given: the list, and the code.
struct Listed {
    operations: Vec<String>,
    body: TokenStream,
}

impl Parse for Listed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let list;
        bracketed!(list in input);
        let paths = Punctuated::<syn::Path, Token![,]>::parse_terminated(&list)?;
        input.parse::<Token![,]>()?;
        let name = |path: &syn::Path| {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string());
            segments.collect::<Vec<_>>().join("::")
        };
        let operations = paths.iter().map(name).collect();
        // What comes before the last only makes what that one uses.
        let code = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
        let body = code.last().map(Expr::to_token_stream).unwrap_or_default();
        Ok(Self { operations, body })
    }
}

/// Collects every name that is called, or named behind `::`.
fn collect(tokens: TokenStream, called: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colon = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(it)) if it.as_char() == ':');
    let opens = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Group(it)) if it.delimiter() == Delimiter::Parenthesis);
    for (index, tree) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| tokens.get(index));
        let behind = tokens.get(index + 1);
        match tree {
            TokenTree::Ident(name) if opens(behind) || is_colon(behind) || is_colon(before) => {
                called.insert(name.to_string());
            }
            TokenTree::Group(group) => collect(group.stream(), called),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_calls_are_read() {
        let text = "
            #[test]
            fn plain() {
                each_call_fails!([Buffer::allocate, copy, shim::Area::new], |given| {
                    let buffer = Buffer::allocate::<u8>(&given)?;
                    assert!(list.map(Area::new).all(|area| copy(area, buffer.len())));
                    Ok(())
                });
            }
            fn helper() { each_call_fails!([gone], || ()); }
        ";
        let found = scenarios(text).unwrap();
        let [Scenario { test, kind, operations, called }] = &found[..] else { panic!("{found:?}") };
        assert_eq!((test.as_str(), *kind), ("plain", Kind::CallsFail));
        assert_eq!(operations, &["Buffer::allocate", "copy", "shim::Area::new"]);
        for name in ["allocate", "map", "new", "copy", "len"] {
            assert!(called.contains(name), "{name}: {called:?}");
        }
        assert!(!called.contains("buffer"), "{called:?}");
    }
}
