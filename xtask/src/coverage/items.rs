//! What the compiled crate must have, as lines of Rust that refer to it: one line a thing.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};

use super::c::{Body, CType, Typedef};
use super::facts::{FieldFacts, Value, value_macros};
use super::rust_types::{Types, identifier};
use super::survey::{Edition, Origin, Survey};

/// Is what kind of thing a line refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Function,
    Type,
    Record,
    Field,
    Constant,
    /// What a list of the crate must say of something.
    Listed,
}

/// Is one thing that the crate must have.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) library: String,
    pub(crate) kind: Kind,
    /// How a message names it.
    pub(crate) name: String,
    /// Compiles, on one line, only if the crate has the thing as it was declared.
    pub(crate) code: String,
}

/// Is a survey on its way to lines of Rust.
pub(super) struct Writer<'a> {
    survey: &'a Survey,
    /// Where the crate keeps the library.
    module: String,
    items: Vec<Item>,
    typedefs: BTreeMap<&'a str, (&'a Edition, &'a Typedef)>,
    /// The names that `typedef`s give to each tag.
    names: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// Returns the module of a library in the crate.
pub(super) fn module(survey: &Survey) -> String {
    match survey.library.is_driver() {
        true => "cuda_sys".to_owned(),
        false => format!("cuda_sys::{}", survey.library.name),
    }
}

/// Returns a line for each thing that any release declares: its newest declaration.
pub(crate) fn items(survey: &Survey, origins: &BTreeMap<&str, Origin>) -> Result<Vec<Item>> {
    let typedefs = survey.newest(|declared| &declared.typedefs);
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, (_, typedef)) in &typedefs {
        if let CType::Tagged(tag) = &typedef.target {
            names.entry(tag).or_default().insert(name);
        }
    }
    let mut writer = Writer { survey, module: module(survey), items: Vec::new(), typedefs, names };
    writer.functions(origins)?;
    writer.types()?;
    writer.records()?;
    writer.constants();
    writer.macros();
    Ok(writer.items)
}

impl Writer<'_> {
    fn add(&mut self, kind: Kind, name: impl std::fmt::Display, code: String) {
        let library = self.survey.library.name.clone();
        self.items.push(Item { library, kind, name: name.to_string(), code });
    }

    fn types_of<'a>(&'a self, edition: &'a Edition) -> Types<'a> {
        Types { module: &self.module, declared: &edition.declared }
    }

    fn functions(&mut self, origins: &BTreeMap<&str, Origin>) -> Result<()> {
        let functions = self.survey.newest(|declared| &declared.functions);
        let m = self.module.clone();
        let listed = format!("listed_{}", self.survey.library.name);
        for (name, (edition, function)) in &functions {
            let types = self.types_of(edition);
            let pointer = types.function(&function.signature)?;
            let (parameters, output) = types.signature(&function.signature)?;
            let names: Vec<String> = function
                .signature
                .parameters
                .iter()
                .enumerate()
                .map(|(index, p)| match &p.name {
                    Some(name) => identifier(name),
                    None => format!("arg{}", index + 1),
                })
                .collect();
            let mut code = format!(
                "const _: fn({m}::signature::{name}) -> {pointer} = |f| f; \
                 const _: unsafe fn({parameters}) -> {output} = {m}::{name}; \
                 const _: fn() -> &'static cuda_sys::Slot<{m}::signature::{name}> = || \
                 &{m}::TABLE.{name}; const _: () = assert!(is_text({listed}::{name}.parameters, \
                 \"{}\"), \"other parameter names\");",
                names.join(",")
            );
            if let Some(origin) = origins.get(name) {
                code.push_str(&origin_code(&m, &listed, name, origin));
            }
            self.add(Kind::Function, format!("{name} ({})", function.header), code);
        }
        let count = functions.len();
        let code = format!(
            "const _: () = assert!({listed}::COUNT == {count}, \"the headers declare {count}\"); \
             const _: () = assert!({m}::SYMBOLS.len() == {count}, \"the headers declare {count}\");"
        );
        self.add(Kind::Listed, "list of functions", code);
        Ok(())
    }

    fn types(&mut self) -> Result<()> {
        let m = self.module.clone();
        for (name, (edition, typedef)) in self.typedefs.clone() {
            let Some(header) = &typedef.header else { continue };
            let is_itself = typedef.target == CType::Tagged(name.to_owned());
            if is_itself || !self.survey.library.headers.contains(header) {
                continue;
            }
            let types = self.types_of(edition);
            let resolved = edition.declared.resolve(&typedef.target);
            let is_end = !matches!(&typedef.target, CType::Named(next) if self.is_newtype(next));
            let code = if self.is_newtype(name) && is_end {
                let number = types.write(resolved, None, 0)?;
                format!("const _: fn({m}::{name}) -> {number} = |x| x.0;")
            } else {
                let target = types.write(&typedef.target, None, 0)?;
                format!("const _: fn({m}::{name}) -> {target} = |x| x;")
            };
            self.add(Kind::Type, format!("{name} ({header})"), code);
        }
        let opaque = self.survey.newest(|declared| &declared.opaque);
        let records = self.survey.newest(|declared| &declared.records);
        for tag in opaque.keys().filter(|tag| !records.contains_key(**tag)) {
            self.add(Kind::Type, tag, format!("const _: Option<*const {m}::{tag}> = None;"));
        }
        for (tag, _) in self.survey.newest(|declared| &declared.enums) {
            if tag.is_empty() {
                bail!("an enum without a name");
            }
            self.add(Kind::Type, tag, format!("const _: Option<{m}::{tag}> = None;"));
        }
        Ok(())
    }

    /// Tells whether a name is one of the manifest's own types, or the name that one is made of:
    /// `CUdevice_v1` of `CUdevice`.
    fn is_newtype(&self, name: &str) -> bool {
        let newtypes = &self.survey.library.newtypes;
        let is_under = |newtype: &String| {
            let target = self.typedefs.get(newtype.as_str()).map(|(_, typedef)| &typedef.target);
            name.starts_with(newtype.as_str()) && target == Some(&CType::Named(name.to_owned()))
        };
        newtypes.contains_key(name) || newtypes.keys().any(is_under)
    }

    fn records(&mut self) -> Result<()> {
        let m = self.module.clone();
        for (tag, (edition, record)) in self.survey.newest(|declared| &declared.records) {
            if self.survey.library.renamed.contains_key(tag) {
                // A later release has the record under another name, and that one's layout.
                self.add(Kind::Type, tag, format!("const _: Option<{m}::{tag}> = None;"));
                continue;
            }
            let extent = edition.facts.records.get(tag).context("an unmeasured record")?;
            let owner = &*self.rust_name(tag).to_owned();
            let code = format!(
                "const _: () = assert!(size_of::<{m}::{tag}>() == {size}, \"the size is not \
                 {size}\"); const _: () = assert!(align_of::<{m}::{tag}>() == {align}, \"the \
                 alignment is not {align}\"); const _: fn({m}::{owner}) -> {m}::{tag} = |x| x; \
                 const _: fn() -> {m}::{owner} = {m}::{owner}::zeroed;",
                size = extent.size,
                align = extent.align,
            );
            self.add(Kind::Record, owner, code);
            let place = Place { edition, tag, owner, named: owner, prefix: "", base: 0 };
            self.fields(&record.body, place)?;
        }
        Ok(())
    }

    /// Returns the name that the crate gives a record: that of its first version, else any.
    fn rust_name<'b>(&'b self, tag: &'b str) -> &'b str {
        let is_versioned = |name: &&&str| {
            let version = name.rsplit_once("_v").map(|(_, version)| version);
            version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
        };
        match self.names.get(tag) {
            Some(names) if !names.contains(tag) => {
                names.iter().find(is_versioned).or(names.first()).copied().unwrap_or(tag)
            }
            _ => tag,
        }
    }

    fn fields(&mut self, body: &Body, place: Place<'_>) -> Result<()> {
        let mut unnamed = 0;
        for field in &body.fields {
            let name = match &field.name {
                Some(name) => identifier(name),
                None => {
                    unnamed += 1;
                    format!("anonymous_{unnamed}")
                }
            };
            let inner_owner = format!("{}_{name}", place.owner);
            let facts = match &field.name {
                Some(name) => place.facts(&format!("{}{name}", place.prefix))?,
                None => place.first(&field.r#type)?,
            };
            self.field(&name, field.name.is_none(), &field.r#type, facts, &inner_owner, place)?;
            let mut ty = &field.r#type;
            let mut prefix = field.name.as_ref().map_or(place.prefix.to_owned(), |name| {
                let elements = if matches!(ty, CType::Array { .. }) { "[0]" } else { "" };
                format!("{}{name}{elements}.", place.prefix)
            });
            if let CType::Array { of, .. } = ty {
                ty = of;
            }
            if let CType::Inline(body) = ty {
                let named = if field.name.is_none() { place.named } else { &inner_owner };
                let (owner, base) = (&*inner_owner, facts.offset);
                let prefix = &*std::mem::take(&mut prefix);
                self.fields(body, Place { owner, named, prefix, base, ..place })?;
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        name: &str,
        is_unnamed: bool,
        ty: &CType,
        facts: FieldFacts,
        inner_owner: &str,
        place: Place<'_>,
    ) -> Result<()> {
        let (m, owner) = (self.module.clone(), place.owner);
        let offset = facts.offset - place.base;
        let rust = self.types_of(place.edition).write(ty, Some(inner_owner), facts.length)?;
        let mut code = format!(
            "const _: () = assert!(core::mem::offset_of!({m}::{owner}, {name}) == {offset}, \"the \
             offset is not {offset}\"); const _: fn(*const {m}::{owner}) -> *const {rust} = |r| \
             unsafe {{ &raw const (*r).{name} }};"
        );
        if !is_unnamed {
            let size = facts.extent.size;
            code.push_str(&format!(
                " const _: () = assert!(size_of::<{rust}>() == {size}, \"the size is not {size}\");"
            ));
            if place.named != place.owner {
                let holder = place.named;
                code.push_str(&format!(
                    " const _: unsafe fn(&{m}::{holder}) -> {rust} = {m}::{holder}::{name}; const \
                     _: fn(&mut {m}::{holder}, {rust}) = {m}::{holder}::set_{name};"
                ));
            }
        }
        self.add(Kind::Field, format!("{owner}.{name}"), code);
        Ok(())
    }

    fn constants(&mut self) {
        let m = self.module.clone();
        let macros = self.survey.newest(|declared| &declared.macros);
        for (name, (tag, value)) in self.survey.constants() {
            if macros.contains_key(name) {
                // A later release has it as a macro, and that is what is bound.
                continue;
            }
            let (kind, code) = match self.survey.library.unexposed_reason(name) {
                None => {
                    // The crate keeps the 32 bits, of whichever sign C takes them.
                    let bits = value & 0xffff_ffff;
                    let check = format!("{m}::{tag}::{name}.0 == {bits}");
                    (Kind::Constant, format!("const _: () = assert!({check}, \"C says {value}\");"))
                }
                Some(reason) => {
                    let check = format!("is_unexposed({m}::UNEXPOSED, \"{name}\", {reason:?})");
                    (Kind::Listed, format!("const _: () = assert!({check}, \"unlisted\");"))
                }
            };
            self.add(kind, format!("{tag}::{name}"), code);
        }
        let moved = self.survey.moved();
        for (name, values) in &moved {
            let values: Vec<String> = values
                .iter()
                .map(|(release, value)| format!("({}, {})", release.number(), value & 0xffff_ffff))
                .collect();
            let values = values.join(", ");
            let check = format!("is_moved({m}::MOVED, \"{name}\", &[{values}])");
            let code = format!("const _: () = assert!({check}, \"the values are {values}\");");
            self.add(Kind::Listed, format!("moved constant {name}"), code);
        }
        let count = moved.len();
        let code =
            format!("const _: () = assert!({m}::MOVED.len() == {count}, \"{count} moved\");");
        self.add(Kind::Listed, "list of moved constants", code);
    }

    fn macros(&mut self) {
        let m = self.module.clone();
        let mut newest = BTreeMap::new();
        for edition in &self.survey.editions {
            for (name, definition) in value_macros(&self.survey.library, &edition.declared) {
                if let Some(value) = edition.facts.macros.get(name) {
                    newest.insert(name, (definition.header.as_str(), value));
                }
            }
        }
        for (name, (header, value)) in newest {
            let check = match value {
                Value::Number(number) => format!("is_number({m}::{name}, {number})"),
                Value::Unsigned(number) => format!("is_number({m}::{name}, {number})"),
                Value::Pointer(address) => format!("is_number({m}::{name}, {address})"),
                Value::Text(text) => format!("is_bytes({m}::{name}.to_bytes(), b{text:?})"),
            };
            let code = format!(
                "const _: () = assert!({check}, \"C says {}\");",
                said(value).escape_default()
            );
            self.add(Kind::Constant, format!("{name} ({header})"), code);
        }
        for (name, (edition, definition)) in self.survey.newest(|declared| &declared.macros) {
            let is_own = self.survey.library.headers.contains(&definition.header);
            let text = &definition.text;
            if is_own && edition.declared.typedefs.contains_key(text) {
                let code = format!("const _: fn({m}::{name}) -> {m}::{text} = |x| x;");
                self.add(Kind::Type, format!("{name} ({})", definition.header), code);
            }
        }
    }
}

fn origin_code(m: &str, listed: &str, name: &str, origin: &Origin) -> String {
    let Origin { header, since, deprecated } = origin;
    let number = deprecated.map_or(0, crate::release::Release::number);
    let says = deprecated.map_or("not deprecated".to_owned(), |r| format!("deprecated from {r}"));
    format!(
        " const _: () = assert!({m}::since::{name}.number() == {}, \"since {since} in the \
         headers\"); const _: () = assert!(is_text({listed}::{name}.header, \"{header}\"), \"of \
         {header}\"); const _: () = assert!({listed}::{name}.deprecated == {number}, \"{says} in \
         the headers\");",
        since.number(),
    )
}

fn said(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Unsigned(number) | Value::Pointer(number) => number.to_string(),
        Value::Text(text) => format!("`{text}`"),
    }
}

/// Is where in a record the writer is.
#[derive(Clone, Copy)]
struct Place<'a> {
    edition: &'a Edition,
    tag: &'a str,
    /// The Rust name of the innermost struct or union.
    owner: &'a str,
    /// The innermost one that a field holds by a name: the one with the accessors.
    named: &'a str,
    /// What C writes in front of a member here.
    prefix: &'a str,
    /// Where the innermost one starts.
    base: u64,
}

impl Place<'_> {
    fn facts(&self, designator: &str) -> Result<FieldFacts> {
        let place = (self.tag.to_owned(), designator.to_owned());
        let facts = self.edition.facts.fields.get(&place);
        facts.copied().with_context(|| format!("{} {designator} is not measured", self.tag))
    }

    /// Returns the facts of the first member of an unnamed part: it starts where the part does.
    fn first(&self, ty: &CType) -> Result<FieldFacts> {
        let CType::Inline(body) = ty else { bail!("a member without a name") };
        let field = body.fields.first().context("an empty struct")?;
        match &field.name {
            Some(name) => self.facts(&format!("{}{name}", self.prefix)),
            None => self.first(&field.r#type),
        }
    }
}
