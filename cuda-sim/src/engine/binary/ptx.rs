//! PTX text: versions, kernels with their parameters and limits, and variables.
//!
//! Of a kernel's body only its own variables are read, and that its braces are balanced.

mod entry;
mod number;
mod variable;
mod word;

use std::collections::BTreeMap;

use self::word::{Word, error, words};
use super::{Entry, Image, ImageError, Target, Variable};

/// Tells whether bytes begin as PTX does: with a comment or a directive, after white space.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    let mut rest = bytes.iter().skip_while(|byte| byte.is_ascii_whitespace());
    matches!((rest.next(), rest.next()), (Some(b'/'), Some(b'/' | b'*')) | (Some(b'.'), Some(b'v')))
}

/// Reads PTX for a device. What stands behind a zero byte doesn't belong to it.
pub(crate) fn read(bytes: &[u8], target: Target) -> Result<Image, ImageError> {
    let text = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = str::from_utf8(text).map_err(|problem| {
        let before = text.get(..problem.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        error(line, "a byte that is no text")
    })?;
    let words = words(text)?;
    let mut reader = Reader::new(&words, text.len(), target);
    reader.module()?;
    Ok(reader.image)
}

/// Is how far PTX is read, and what was found.
struct Reader<'a> {
    words: &'a [Word<'a>],
    at: usize,
    target: Target,
    image: Image,
    /// The version, as 78 for 7.8.
    version: u32,
    capability: u32,
    /// The module's own shared variables by name: kernels that name them have them.
    shared: BTreeMap<&'a str, usize>,
    /// How many bytes initialised variables may yet have.
    left: usize,
}

/// How many bytes initialised variables may have that a short text describes.
const LEAST_ROOM: usize = 1 << 20;

impl<'a> Reader<'a> {
    fn new(words: &'a [Word<'a>], length: usize, target: Target) -> Self {
        let left = length.saturating_mul(16).max(LEAST_ROOM);
        Self {
            words,
            at: 0,
            target,
            image: Image::default(),
            version: 0,
            capability: 0,
            shared: BTreeMap::new(),
            left,
        }
    }

    /// Returns the next word, which stays; an empty one is the end.
    fn peek(&self) -> &'a str {
        self.words.get(self.at).map_or("", |word| word.text)
    }

    /// Takes the next word.
    fn next(&mut self) -> &'a str {
        let word = self.peek();
        self.at += 1;
        word
    }

    /// Takes the next word if it is that one.
    fn take(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), ImageError> {
        if self.take(text) { Ok(()) } else { Err(self.wrong(&format!("`{text}`"))) }
    }

    /// Takes a name.
    fn name(&mut self) -> Result<&'a str, ImageError> {
        let word = self.peek();
        let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || "_$%".contains(c));
        if !is_name || word.contains('.') {
            return Err(self.wrong("a name"));
        }
        Ok(self.next())
    }

    /// Takes a number that isn't negative.
    fn number(&mut self) -> Result<usize, ImageError> {
        let number = number::integer(self.peek()).and_then(|number| usize::try_from(number).ok());
        let number = number.ok_or_else(|| self.wrong("a number"))?;
        self.at += 1;
        Ok(number)
    }

    /// Says what should stand where the next word does.
    fn wrong(&self, wanted: &str) -> ImageError {
        let last = self.words.last().map_or(1, |word| word.line);
        match self.words.get(self.at) {
            Some(word) => error(word.line, format!("`{}` where {wanted} is due", word.text)),
            None => error(last, format!("the end where {wanted} is due")),
        }
    }

    fn module(&mut self) -> Result<(), ImageError> {
        if self.peek() != ".version" {
            return Err(self.wrong("`.version`"));
        }
        let mut is_external = false;
        while self.at < self.words.len() {
            match self.peek() {
                ".version" => self.read_version()?,
                ".target" => self.read_target()?,
                _ if self.capability == 0 => return Err(self.wrong("`.target`")),
                ".address_size" => {
                    self.at += 1;
                    if self.number()? != 64 {
                        self.at -= 1;
                        return Err(self.wrong("64"));
                    }
                }
                ".extern" => {
                    self.at += 1;
                    is_external = true;
                    continue;
                }
                ".visible" | ".weak" | ".common" => {
                    self.at += 1;
                    continue;
                }
                ".entry" => {
                    let entry = self.entry()?;
                    self.image.entries.push(entry);
                }
                ".func" => self.skip_function()?,
                ".global" | ".const" | ".tex" => {
                    let variables = self.variables(is_external)?;
                    self.image.variables.extend(variables);
                }
                ".shared" => {
                    for (name, size) in self.sizes()? {
                        self.shared.insert(name, if is_external { 0 } else { size });
                    }
                }
                ".pragma" | ".alias" => self.skip_statement()?,
                ".file" => self.skip_file()?,
                ".section" => {
                    self.at += 2;
                    self.skip_braces()?;
                }
                word if word.starts_with("@@") => self.skip_line(),
                _ => return Err(self.wrong("a directive")),
            }
            is_external = false;
        }
        if self.capability == 0 { Err(self.wrong("`.target`")) } else { Ok(()) }
    }

    fn read_version(&mut self) -> Result<(), ImageError> {
        self.at += 1;
        let parts = self.peek().split_once('.');
        let parsed = parts.and_then(|(major, minor)| {
            let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
            (minor < 10).then_some(())?;
            major.checked_mul(10)?.checked_add(minor)
        });
        let version = parsed.ok_or_else(|| self.wrong("a version"))?;
        self.at += 1;
        if version > self.target.ptx {
            return Err(ImageError::Version { needs: version, has: self.target.ptx });
        }
        self.version = version;
        Ok(())
    }

    fn read_target(&mut self) -> Result<(), ImageError> {
        self.at += 1;
        loop {
            let word = self.name()?;
            if let Some(name) = word.strip_prefix("sm_") {
                let digits = name.trim_end_matches(|c: char| c.is_ascii_lowercase());
                let number = digits.parse().ok().filter(|&number| number > 0);
                self.capability = number.ok_or_else(|| error(self.line(), format!("`{word}`")))?;
                if !self.fits(self.capability, name.strip_prefix(digits).unwrap_or_default()) {
                    let has = self.target.capability;
                    return Err(ImageError::PtxTarget { needs: word.to_owned(), has });
                }
            }
            if !self.take(",") {
                break;
            }
        }
        if self.capability == 0 { Err(self.wrong("`sm_` and a number")) } else { Ok(()) }
    }

    /// Tells whether the device runs code of a capability: later ones run earlier code, unless that
    /// is for one device (`a`) or for its family (`f`) only.
    const fn fits(&self, capability: u32, suffix: &str) -> bool {
        let has = self.target.capability;
        match suffix.as_bytes() {
            [] => capability <= has,
            b"f" => capability <= has && capability / 10 == has / 10,
            _ => capability == has,
        }
    }

    /// Returns the line of the word before.
    fn line(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.words.get(at)).map_or(1, |word| word.line)
    }

    /// Passes braces with all between them.
    fn skip_braces(&mut self) -> Result<(), ImageError> {
        self.expect("{")?;
        let mut depth = 1_usize;
        while depth > 0 {
            match self.peek() {
                "" => return Err(self.wrong("`}`")),
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    fn skip_function(&mut self) -> Result<(), ImageError> {
        loop {
            match self.peek() {
                "" | "}" => return Err(self.wrong("a function's body")),
                "{" => return self.skip_braces(),
                _ if self.take(";") => return Ok(()),
                _ => self.at += 1,
            }
        }
    }

    fn skip_statement(&mut self) -> Result<(), ImageError> {
        loop {
            match self.next() {
                "" => return Err(self.wrong("`;`")),
                ";" => return Ok(()),
                _ => {}
            }
        }
    }

    /// Passes a file's number, its name, and what may follow: its time and size.
    fn skip_file(&mut self) -> Result<(), ImageError> {
        self.at += 1;
        self.number()?;
        self.at += 1;
        while self.take(",") {
            self.number()?;
        }
        Ok(())
    }

    fn skip_line(&mut self) {
        self.at += 1;
        let line = self.line();
        while self.words.get(self.at).is_some_and(|word| word.line == line) {
            self.at += 1;
        }
    }
}
