//! The words of PTX: names, numbers, directives, texts and signs, without comments.

use crate::engine::binary::ImageError;

/// Is a word with the line that it stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) line: usize,
}

/// Splits PTX into words. A directive ends where the next begins: `.align` is one in `.align.b8`.
pub(super) fn words(text: &str) -> Result<Vec<Word<'_>>, ImageError> {
    let mut words = Vec::new();
    let (mut rest, mut line) = (text, 1);
    loop {
        let trimmed = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
        line += lines(rest, trimmed);
        rest = trimmed;
        let Some(first) = rest.chars().next() else { return Ok(words) };
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            let end = rest.get(2..).and_then(|rest| rest.find("*/"));
            end.ok_or_else(|| error(line, "a comment without an end"))? + 4
        } else if first == '"' {
            let end = rest.get(1..).and_then(|rest| rest.find('"'));
            end.ok_or_else(|| error(line, "a text without an end"))? + 2
        } else if first == '.' {
            1 + extent(rest.get(1..).unwrap_or_default(), is_name)
        } else if is_name(first) || first == '@' {
            first.len_utf8() + extent(rest.get(1..).unwrap_or_default(), |c| is_name(c) || c == '.')
        } else {
            first.len_utf8()
        };
        let (word, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if !word.starts_with("//") && !word.starts_with("/*") {
            words.push(Word { text: word, line });
        }
        line += lines(rest, behind);
        rest = behind;
    }
}

const fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$' | '%')
}

/// Returns how long the beginning is of which every character is such a one.
fn extent(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

/// Returns how many lines end between two places.
fn lines(from: &str, to: &str) -> usize {
    let passed = from.len().saturating_sub(to.len());
    from.bytes().take(passed).filter(|&byte| byte == b'\n').count()
}

pub(super) fn error(line: usize, text: impl Into<String>) -> ImageError {
    ImageError::Syntax { line, text: text.into() }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn directives_are_split_and_instructions_are_not() {
        let text = ".version 7.8 // a\n.param.align 8 .b8 /* {\n */ x[2]; ld.param.u64 %rd1, \"}\"";
        let words = words(text).unwrap();
        let texts: Vec<_> = words.iter().map(|word| word.text).collect();
        assert_eq!(
            texts,
            [
                ".version",
                "7.8",
                ".param",
                ".align",
                "8",
                ".b8",
                "x",
                "[",
                "2",
                "]",
                ";",
                "ld.param.u64",
                "%rd1",
                ",",
                "\"}\""
            ]
        );
        assert_eq!(words.last().map(|word| word.line), Some(3));
        assert!(super::words("/* never").is_err());
    }
}
