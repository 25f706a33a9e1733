//! Looking a word up in a table, and saying which words there are.

use syn::{Error, Ident};

/// Returns what `word` stands for, or an error that lists the words of the table.
pub(super) fn known<T: Copy>(word: &Ident, what: &str, table: &[(&str, T)]) -> syn::Result<T> {
    let found = table.iter().find(|(known, _)| word == known);
    match found {
        Some((_, value)) => Ok(*value),
        None => Err(unknown(word, &format!("{what} is"), table.iter().map(|(known, _)| *known))),
    }
}

/// Makes the error for an unknown word.
pub(super) fn unknown<'a>(
    word: &Ident,
    what: &str,
    words: impl IntoIterator<Item = &'a str>,
) -> Error {
    Error::new(word.span(), format!("unknown word `{word}`: {what} {}", list(words)))
}

/// Joins words: `a`, `b` or `c`.
pub(super) fn list<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}
