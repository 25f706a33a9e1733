//! C declarations as plain data.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

/// Is a C type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CType {
    Void,
    /// An arithmetic type by its one spelling: `unsigned long long`.
    Number(&'static str),
    /// A name that a `typedef` gives.
    Named(String),
    /// `struct`, `union` or `enum` and its tag; an untagged one has the name of its `typedef`.
    Tagged(String),
    Pointer {
        to: Box<CType>,
        is_const: bool,
    },
    Array {
        of: Box<CType>,
        length: String,
    },
    Function(Box<Signature>),
    /// A struct or union without a name, where it stands.
    Inline(Box<Body>),
}

/// Is a function's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) parameters: Vec<Field>,
    pub(crate) output: CType,
}

/// Is a member or a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: Option<String>,
    pub(crate) r#type: CType,
}

/// Is what a struct or union holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) is_union: bool,
    pub(crate) fields: Vec<Field>,
}

/// Is a declared function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) signature: Signature,
    pub(crate) header: String,
    pub(crate) is_deprecated: bool,
}

/// Is a defined struct or union.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// How C writes its type: `struct tag`, or the `typedef` of an untagged one.
    pub(crate) spelling: String,
    pub(crate) body: Body,
}

/// Is a macro without parameters.
#[derive(Clone, Debug)]
pub(crate) struct Macro {
    pub(crate) text: String,
    pub(crate) header: String,
}

/// Is what the headers of one library declare, by name. What other headers declare is left out, but
/// for the targets of their `typedef`s.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) functions: BTreeMap<String, Function>,
    pub(crate) records: BTreeMap<String, Record>,
    /// The constants of each enum.
    pub(crate) enums: BTreeMap<String, Vec<String>>,
    /// Tags that are only pointed to.
    pub(crate) opaque: BTreeMap<String, String>,
    pub(crate) typedefs: BTreeMap<String, Typedef>,
    pub(crate) macros: BTreeMap<String, Macro>,
}

/// Is a name for a type.
#[derive(Clone, Debug)]
pub(crate) struct Typedef {
    pub(crate) target: CType,
    /// The library's header that declares it; none if it is another's.
    pub(crate) header: Option<String>,
}

impl Declarations {
    /// Follows `typedef`s to the type behind a name.
    pub(crate) fn resolve<'a>(&'a self, ty: &'a CType) -> &'a CType {
        match ty {
            CType::Named(name) => match self.typedefs.get(name) {
                Some(typedef) => self.resolve(&typedef.target),
                None => ty,
            },
            _ => ty,
        }
    }

    /// Writes a type without the names that `typedef`s give: two types of equal text are one type.
    pub(crate) fn canonical(&self, ty: &CType) -> String {
        match self.resolve(ty) {
            CType::Void => "void".to_owned(),
            CType::Number(name) => (*name).to_owned(),
            CType::Named(name) => name.clone(),
            CType::Tagged(tag) => tag.clone(),
            CType::Pointer { to, is_const } => {
                format!("{}{}*", self.canonical(to), if *is_const { " const" } else { "" })
            }
            CType::Array { of, length } => format!("{}[{length}]", self.canonical(of)),
            CType::Function(signature) => self.canonical_signature(signature),
            CType::Inline(body) => {
                let fields = body.fields.iter().map(|field| {
                    let name = field.name.as_deref().unwrap_or_default();
                    format!("{} {name};", self.canonical(&field.r#type))
                });
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// Writes a signature without the names that `typedef`s give.
    pub(crate) fn canonical_signature(&self, signature: &Signature) -> String {
        let parameters = signature.parameters.iter().map(|p| self.canonical(&p.r#type));
        let parameters: Vec<String> = parameters.collect();
        format!("{} ({})", self.canonical(&signature.output), parameters.join(", "))
    }

    /// Tells whether a macro is another name of a function, as headers write to choose a version or
    /// a default-stream twin.
    pub(crate) fn renames(&self, name: &str) -> Option<String> {
        let text = &self.macros.get(name)?.text;
        // The wrapper adds nothing unless per-thread default streams are asked for.
        let wrapped = text.strip_prefix("__CUDA_API_PT").and_then(|rest| rest.split_once('('));
        let target = wrapped.map_or(text.as_str(), |(_, inner)| inner.trim_end_matches(')')).trim();
        self.functions.contains_key(target).then(|| target.to_owned())
    }
}

/// Tells whether a word is a part of an arithmetic type's name.
pub(super) fn is_number_word(word: &str) -> bool {
    matches!(
        word,
        "char" | "short" | "int" | "long" | "signed" | "unsigned" | "float" | "double" | "_Bool"
    )
}

/// Returns the one spelling of an arithmetic type.
pub(super) fn number(words: &mut [String]) -> Result<&'static str> {
    words.sort_unstable();
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "int").collect();
    Ok(match words.as_slice() {
        ["char"] => "char",
        ["char", "signed"] => "signed char",
        ["char", "unsigned"] => "unsigned char",
        ["short"] | ["short", "signed"] => "short",
        ["short", "unsigned"] => "unsigned short",
        [] | ["signed"] => "int",
        ["unsigned"] => "unsigned int",
        ["long"] | ["long", "signed"] => "long",
        ["long", "unsigned"] => "unsigned long",
        ["long", "long"] | ["long", "long", "signed"] => "long long",
        ["long", "long", "unsigned"] => "unsigned long long",
        ["float"] => "float",
        ["double"] => "double",
        ["_Bool"] => "_Bool",
        other => bail!("the type `{}`", other.join(" ")),
    })
}
