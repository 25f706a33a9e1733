//! C types as Rust writes them, by rules of their own: the generator has its own from bindgen.

use anyhow::{Result, bail};

use super::c::{CType, Declarations, Signature};

/// Writes types of one library: its names stand in `module`.
pub(super) struct Types<'a> {
    pub(super) module: &'a str,
    pub(super) declared: &'a Declarations,
}

impl Types<'_> {
    /// Writes a type. `inline` is the Rust name of an unnamed struct or union inside it, `length`
    /// the number of elements if it is an array.
    pub(super) fn write(&self, ty: &CType, inline: Option<&str>, length: u64) -> Result<String> {
        Ok(match ty {
            CType::Void => "()".to_owned(),
            CType::Number(name) => number(name)?.to_owned(),
            CType::Named(name) => match fixed(name) {
                Some(fixed) => fixed.to_owned(),
                None => format!("{}::{name}", self.module),
            },
            CType::Tagged(tag) => format!("{}::{tag}", self.module),
            CType::Pointer { to, is_const } => self.pointer(to, *is_const, inline)?,
            CType::Array { of, .. } => {
                if matches!(**of, CType::Array { .. }) {
                    bail!("an array of arrays");
                }
                format!("[{}; {length}]", self.write(of, inline, 0)?)
            }
            CType::Function(signature) => format!("Option<{}>", self.function(signature)?),
            CType::Inline(_) => match inline {
                Some(name) => format!("{}::{name}", self.module),
                None => bail!("an unnamed struct where it can have no name"),
            },
        })
    }

    fn pointer(&self, to: &CType, is_const: bool, inline: Option<&str>) -> Result<String> {
        // A pointer to a function is a function pointer, and so is a pointer to a name of one.
        if matches!(self.declared.resolve(to), CType::Function(_)) {
            return self.write(to, inline, 0);
        }
        let target = match self.declared.resolve(to) {
            CType::Void => "c_void".to_owned(),
            _ => self.write(to, inline, 0)?,
        };
        Ok(format!("*{} {target}", if is_const { "const" } else { "mut" }))
    }

    /// Writes the type of a pointer to a function.
    pub(super) fn function(&self, signature: &Signature) -> Result<String> {
        let (parameters, output) = self.signature(signature)?;
        Ok(format!("unsafe extern \"system\" fn({parameters}) -> {output}"))
    }

    /// Writes the types of the parameters and of the result.
    pub(super) fn signature(&self, signature: &Signature) -> Result<(String, String)> {
        let write = |ty: &CType| self.write(ty, None, 0);
        let parameters: Result<Vec<String>> =
            signature.parameters.iter().map(|parameter| write(&parameter.r#type)).collect();
        Ok((parameters?.join(", "), write(&signature.output)?))
    }
}

/// Returns the name that the crate gives to a C name that is one of Rust's own words.
pub(super) fn identifier(name: &str) -> String {
    let keywords = [
        "as", "async", "await", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
        "enum", "extern", "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod",
        "move", "mut", "priv", "pub", "ref", "return", "self", "static", "str", "struct", "super",
        "trait", "true", "try", "type", "typeof", "unsafe", "use", "virtual", "where", "while",
        "yield",
    ];
    if keywords.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

fn number(name: &str) -> Result<&'static str> {
    Ok(match name {
        "char" => "c_char",
        "signed char" => "c_schar",
        "unsigned char" => "c_uchar",
        "short" => "c_short",
        "unsigned short" => "c_ushort",
        "int" => "c_int",
        "unsigned int" => "c_uint",
        "long" => "c_long",
        "unsigned long" => "c_ulong",
        "long long" => "c_longlong",
        "unsigned long long" => "c_ulonglong",
        "float" => "f32",
        "double" => "f64",
        "_Bool" => "bool",
        other => bail!("the type `{other}` has no Rust name"),
    })
}

/// Returns the Rust type of a name that C's own headers define.
fn fixed(name: &str) -> Option<&'static str> {
    Some(match name {
        "size_t" => "usize",
        "int8_t" => "i8",
        "int16_t" => "i16",
        "int32_t" => "i32",
        "int64_t" => "i64",
        "uint8_t" => "u8",
        "uint16_t" => "u16",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "intptr_t" => "isize",
        "uintptr_t" => "usize",
        _ => return None,
    })
}
