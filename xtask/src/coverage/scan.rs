//! Reads C declarations from the preprocessor's output: a route that shares nothing with bindgen.
//!
//! It knows as much of C as headers use, and fails on what it doesn't know if a library's own
//! header says it; other headers may say what they like.

mod cursor;

use anyhow::{Result, bail};

use super::c::{
    Body, CType, Declarations, Field, Function, Record, Signature, Typedef, is_number_word, number,
};
use super::lexer::{Token, Unit};

/// Reads everything that a translation unit declares.
pub(super) fn scan(unit: Unit) -> Result<Declarations> {
    let declarations = Declarations { macros: unit.macros, ..Declarations::default() };
    let mut scanner = Scanner { tokens: unit.tokens, at: 0, declarations };
    while scanner.at < scanner.tokens.len() {
        let (start, header) = (scanner.at, scanner.header());
        if let Err(error) = scanner.declaration() {
            if let Some(header) = header {
                let near = scanner.text_from(start);
                return Err(
                    error.context(format!("{header}: a declaration not understood: {near}"))
                );
            }
            scanner.at = start;
            scanner.skip_declaration();
        }
    }
    let defined = |tag: &String| scanner.declarations.records.contains_key(tag);
    let opaque = std::mem::take(&mut scanner.declarations.opaque);
    scanner.declarations.opaque = opaque.into_iter().filter(|(tag, _)| !defined(tag)).collect();
    Ok(scanner.declarations)
}

struct Scanner {
    tokens: Vec<Token>,
    at: usize,
    declarations: Declarations,
}

/// Is what stands in front of a declared name.
struct Specifiers {
    r#type: CType,
    is_const: bool,
    is_typedef: bool,
    is_deprecated: bool,
}

/// Says what surrounds a declarator, where C reads it differently.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Declaration,
    Parameter,
}

impl Scanner {
    fn declaration(&mut self) -> Result<()> {
        if self.accept(";") {
            return Ok(());
        }
        let header = self.header();
        let specifiers = self.specifiers()?;
        if self.accept(";") {
            return Ok(());
        }
        loop {
            let base = specifiers.r#type.clone();
            let (name, r#type) = self.declarator(base, specifiers.is_const, Place::Declaration)?;
            let is_deprecated = self.attributes() | specifiers.is_deprecated;
            let Some(name) = name else { bail!("a declaration without a name") };
            if specifiers.is_typedef {
                self.typedef(name, r#type, header.as_deref());
            } else if let CType::Function(signature) = r#type {
                let is_definition = self.peek() == "{";
                if let (Some(header), false) = (&header, is_definition) {
                    let header = header.to_string();
                    let function = Function { signature: *signature, header, is_deprecated };
                    self.declarations.functions.insert(name, function);
                }
                if is_definition {
                    self.group();
                    return Ok(());
                }
            } else if header.is_some() {
                bail!("the variable `{name}`");
            }
            if self.accept("=") {
                self.skip_declaration();
                return Ok(());
            }
            if !self.accept(",") {
                return self.expect(";");
            }
        }
    }

    /// Adds a name for a type; an untagged struct, union or enum takes the name as its own.
    fn typedef(&mut self, name: String, r#type: CType, header: Option<&str>) {
        let target = match r#type {
            CType::Inline(body) => {
                let record = Record { spelling: name.clone(), body: *body };
                self.add_record(name.clone(), record, header);
                CType::Tagged(name.clone())
            }
            CType::Tagged(tag) if tag.is_empty() => {
                let constants = self.declarations.enums.remove("").unwrap_or_default();
                self.declarations.enums.insert(name.clone(), constants);
                CType::Tagged(name.clone())
            }
            other => other,
        };
        let header = header.map(str::to_owned);
        self.declarations.typedefs.insert(name, Typedef { target, header });
    }

    fn add_record(&mut self, name: String, record: Record, header: Option<&str>) {
        if header.is_some() {
            self.declarations.records.insert(name, record);
        }
    }

    fn specifiers(&mut self) -> Result<Specifiers> {
        let mut words: Vec<String> = Vec::new();
        let mut found = None;
        let (mut is_const, mut is_typedef, mut is_deprecated) = (false, false, false);
        loop {
            is_deprecated |= self.attributes();
            match self.peek() {
                "typedef" => is_typedef = true,
                "const" | "__const" => is_const = true,
                "extern" | "static" | "inline" | "__inline" | "__inline__" | "_Noreturn"
                | "volatile" | "register" | "__restrict" | "restrict" => {}
                "struct" | "union" | "enum" if found.is_none() && words.is_empty() => {
                    found = Some(self.tagged()?);
                    continue;
                }
                word if is_number_word(word) && found.is_none() => words.push(word.to_owned()),
                "void" if found.is_none() && words.is_empty() => found = Some(CType::Void),
                _ if found.is_none() && words.is_empty() => {
                    found = Some(CType::Named(self.word()?));
                    continue;
                }
                _ => break,
            }
            self.at += 1;
        }
        let r#type = match found {
            Some(found) => found,
            None => CType::Number(number(&mut words)?),
        };
        Ok(Specifiers { r#type, is_const, is_typedef, is_deprecated })
    }

    /// Reads `struct`, `union` or `enum` with what follows it.
    fn tagged(&mut self) -> Result<CType> {
        let header = self.header();
        let kind = self.word()?;
        self.attributes();
        let tag = if self.peek() == "{" { String::new() } else { self.word()? };
        self.attributes();
        if self.peek() != "{" {
            if header.is_some() && kind != "enum" {
                self.declarations.opaque.insert(tag.clone(), format!("{kind} {tag}"));
            }
            return Ok(CType::Tagged(tag));
        }
        if kind == "enum" {
            let constants = self.enum_constants()?;
            if header.is_some() || tag.is_empty() {
                self.declarations.enums.insert(tag.clone(), constants);
            }
            return Ok(CType::Tagged(tag));
        }
        let body = Body { is_union: kind == "union", fields: self.fields()? };
        self.attributes();
        if tag.is_empty() {
            return Ok(CType::Inline(Box::new(body)));
        }
        let record = Record { spelling: format!("{kind} {tag}"), body };
        self.add_record(tag.clone(), record, header.as_deref());
        Ok(CType::Tagged(tag))
    }

    fn enum_constants(&mut self) -> Result<Vec<String>> {
        self.expect("{")?;
        let mut constants = Vec::new();
        while !self.accept("}") {
            constants.push(self.word()?);
            self.attributes();
            while !matches!(self.peek(), "," | "}" | "") {
                if self.peek() == "(" {
                    self.group();
                } else {
                    self.at += 1;
                }
            }
            self.accept(",");
        }
        Ok(constants)
    }

    fn fields(&mut self) -> Result<Vec<Field>> {
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.accept("}") {
            let specifiers = self.specifiers()?;
            if self.accept(";") {
                fields.push(Field { name: None, r#type: specifiers.r#type });
                continue;
            }
            loop {
                let base = specifiers.r#type.clone();
                let (name, r#type) =
                    self.declarator(base, specifiers.is_const, Place::Declaration)?;
                if self.peek() == ":" {
                    bail!("a bit field");
                }
                self.attributes();
                fields.push(Field { name, r#type });
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(fields)
    }

    /// Reads stars, a name and what follows it, around the type `base`.
    fn declarator(
        &mut self,
        mut base: CType,
        mut is_const: bool,
        place: Place,
    ) -> Result<(Option<String>, CType)> {
        self.attributes();
        while self.accept("*") {
            base = CType::Pointer { to: Box::new(base), is_const };
            is_const = false;
            while matches!(
                self.peek(),
                "const" | "volatile" | "__restrict" | "restrict" | "__const"
            ) {
                is_const |= self.peek().contains("const");
                self.at += 1;
            }
            self.attributes();
        }
        let is_nested = self.peek() == "("
            && matches!(self.peek_at(1), "*" | "(" | "__attribute__")
            || self.peek() == "(" && self.peek_at(2) == ")" && place == Place::Declaration;
        if is_nested {
            let inner = self.at;
            self.group();
            let around = self.suffixes(base)?;
            let end = std::mem::replace(&mut self.at, inner + 1);
            let declared = self.declarator(around, false, place)?;
            self.expect(")")?;
            self.at = end;
            return Ok(declared);
        }
        let is_name = self.peek().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let name = if is_name { Some(self.word()?) } else { None };
        Ok((name, self.suffixes(base)?))
    }

    /// Reads `[…]` and `(…)` behind a name.
    fn suffixes(&mut self, base: CType) -> Result<CType> {
        match self.peek() {
            "[" => {
                let text = self.group();
                let length = text.trim_matches(['[', ']', ' ']).to_owned();
                let of = Box::new(self.suffixes(base)?);
                Ok(CType::Array { of, length })
            }
            "(" => {
                let parameters = self.parameters()?;
                Ok(CType::Function(Box::new(Signature { parameters, output: base })))
            }
            _ => Ok(base),
        }
    }

    fn parameters(&mut self) -> Result<Vec<Field>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.accept(")") {
            if self.accept("...") {
                if self.header().is_some() {
                    bail!("a variable number of parameters");
                }
                continue;
            }
            let specifiers = self.specifiers()?;
            let (is_const, base) = (specifiers.is_const, specifiers.r#type);
            let (name, r#type) = self.declarator(base, is_const, Place::Parameter)?;
            let r#type = match r#type {
                CType::Array { of, .. } => {
                    // A `const` in front of a star is the pointer's business, not the array's.
                    let is_const = is_const && !matches!(*of, CType::Pointer { .. });
                    CType::Pointer { to: of, is_const }
                }
                function @ CType::Function(_) => {
                    CType::Pointer { to: Box::new(function), is_const: false }
                }
                other => other,
            };
            parameters.push(Field { name, r#type });
            self.accept(",");
        }
        let is_void = |field: &Field| field.name.is_none() && field.r#type == CType::Void;
        parameters.retain(|field| !is_void(field));
        Ok(parameters)
    }
}
