//! What the C compiler says of the headers: sizes, alignments, offsets, values. A program that
//! includes them prints it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};

use super::c::{Body, CType, Declarations};
use super::preprocess::Compiler;
use crate::api::HeaderSet;
use crate::manifest::Library;

/// Is everything that is measured of one release of a library.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// By tag.
    pub(crate) records: BTreeMap<String, Extent>,
    /// By tag, and by the member's designator from there: `params.fence.value`.
    pub(crate) fields: BTreeMap<(String, String), FieldFacts>,
    /// By enum constant.
    pub(crate) constants: BTreeMap<String, i64>,
    /// By macro.
    pub(crate) macros: BTreeMap<String, Value>,
}

/// Is a size and an alignment in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) size: u64,
    pub(crate) align: u64,
}

/// Is where a member lies and how large it is, in bytes; `length` counts an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldFacts {
    pub(crate) offset: u64,
    pub(crate) extent: Extent,
    pub(crate) length: u64,
}

/// Is a macro's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Number(i64),
    /// A number above what an `i64` holds, or any of an unsigned 64-bit type.
    Unsigned(u64),
    Pointer(u64),
    Text(String),
}

/// Measures one release.
pub(crate) fn measure(
    compiler: &Compiler,
    library: &Library,
    set: &HeaderSet,
    declared: &Declarations,
) -> Result<Facts> {
    let output = compiler.run(library, set, &program(library, declared)?)?;
    let mut facts = Facts::default();
    for line in output.lines() {
        facts.read(line).with_context(|| format!("the program of facts printed `{line}`"))?;
    }
    Ok(facts)
}

/// Returns the macros that stand for a value: not those of functions, types and decorations.
pub(crate) fn value_macros<'a>(
    library: &'a Library,
    declared: &'a Declarations,
) -> impl Iterator<Item = (&'a str, &'a super::c::Macro)> {
    let headers = &library.headers;
    declared.macros.iter().map(|(name, m)| (name.as_str(), m)).filter(move |(name, m)| {
        let is_value = !m.text.is_empty()
            && declared.renames(name).is_none()
            && !declared.typedefs.contains_key(&m.text);
        is_value && headers.contains(&m.header) && library.unexposed_reason(name).is_none()
    })
}

fn program(library: &Library, declared: &Declarations) -> Result<String> {
    let mut text = "
#define R(n, t) printf(\"R %s %zu %zu\\n\", n, sizeof(t), _Alignof(t));
#define F(n, t, m, l) printf(\"F %s %s %zu %zu %zu %zu\\n\", n, #m, __builtin_offsetof(t, m), \\
    sizeof(((t *)0)->m), _Alignof(__typeof__(((t *)0)->m)), (size_t)(l));
#define L(t, m) (sizeof(((t *)0)->m) / sizeof(((t *)0)->m[0]))
#define C(n) printf(\"C %s %lld\\n\", #n, (long long)(n));
#define IS_TEXT(n) _Generic((n), char *: 1, const char *: 1, default: 0)
#define V(s, n) printf(IS_TEXT(n) ? \"V %s text \" : \"V %s %s \", s, \\
        __builtin_classify_type(n) == 5 ? \"pointer\" \\
        : (__typeof__(1 ? (n) : (n)))-1 > 0 && sizeof(n) == 8 ? \"unsigned\" : \"number\"), \\
    printf(IS_TEXT(n) ? \"%s\\n\" : \"%lld\\n\", (long long)(n));
"
    .to_owned();
    // One function a kind keeps the compiler quick.
    text.push_str("static void records(void) {\n");
    for (tag, record) in &declared.records {
        let ty = &record.spelling;
        writeln!(text, "R(\"{tag}\", {ty})")?;
        for (designator, is_array) in designators(&record.body, "")? {
            let length = if is_array { format!("L({ty}, {designator})") } else { "0".to_owned() };
            writeln!(text, "F(\"{tag}\", {ty}, {designator}, {length})")?;
        }
    }
    text.push_str("}\nstatic void constants(void) {\n");
    for constant in declared.enums.values().flatten() {
        writeln!(text, "C({constant})")?;
    }
    for (name, _) in value_macros(library, declared) {
        writeln!(text, "V(\"{name}\", {name})")?;
    }
    text.push_str("}\nint main(void) { records(); constants(); return 0; }\n");
    Ok(text)
}

/// Lists the members of a record as C reaches them, those of unnamed parts included, and whether
/// each is an array.
fn designators(body: &Body, prefix: &str) -> Result<Vec<(String, bool)>> {
    let mut found = Vec::new();
    for field in &body.fields {
        let mut ty = &field.r#type;
        let Some(name) = &field.name else {
            let CType::Inline(inner) = ty else { bail!("a member without a name") };
            found.extend(designators(inner, prefix)?);
            continue;
        };
        let mut designator = format!("{prefix}{name}");
        found.push((designator.clone(), matches!(ty, CType::Array { .. })));
        while let CType::Array { of, .. } = ty {
            designator.push_str("[0]");
            ty = of;
        }
        if let CType::Inline(inner) = ty {
            found.extend(designators(inner, &format!("{designator}."))?);
        }
    }
    Ok(found)
}

impl Facts {
    fn read(&mut self, line: &str) -> Result<()> {
        let mut words = line.split(' ');
        let mut word = || words.next().context("a word is missing");
        match word()? {
            "R" => {
                let tag = word()?.to_owned();
                let extent = Extent { size: word()?.parse()?, align: word()?.parse()? };
                self.records.insert(tag, extent);
            }
            "F" => {
                let place = (word()?.to_owned(), word()?.to_owned());
                let offset = word()?.parse()?;
                let extent = Extent { size: word()?.parse()?, align: word()?.parse()? };
                let length = word()?.parse()?;
                self.fields.insert(place, FieldFacts { offset, extent, length });
            }
            "C" => {
                self.constants.insert(word()?.to_owned(), word()?.parse()?);
            }
            "V" => {
                let (name, kind) = (word()?.to_owned(), word()?);
                let (_, text) = line.split_once(&format!(" {kind} ")).context("no value")?;
                let value = match kind {
                    "text" => Value::Text(text.to_owned()),
                    "pointer" => Value::Pointer(text.parse::<i64>()?.cast_unsigned()),
                    "unsigned" => Value::Unsigned(text.parse::<i64>()?.cast_unsigned()),
                    _ => Value::Number(text.parse()?),
                };
                self.macros.insert(name, value);
            }
            other => bail!("`{other}` starts no fact"),
        }
        Ok(())
    }
}
