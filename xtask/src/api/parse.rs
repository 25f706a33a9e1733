//! Runs bindgen over one release's headers and reads its output into the model.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};
use bindgen::{BindgenError, Builder, EnumVariation, Formatter};
use quote::ToTokens;
use syn::visit_mut::{VisitMut, visit_path_mut};
use syn::{Expr, Fields, ForeignItem, ImplItem, Item, Lit, UseTree};

use super::HeaderSet;
use super::model::{Api, Constant, Function, Record, Type};
use crate::manifest::Library;
use crate::workspace;

/// Parses the headers as a C compiler for `target` would.
pub(super) fn parse(library: &Library, headers: &HeaderSet, target: &str) -> Result<Api> {
    let text = run_bindgen(library, headers, target)?;
    let file = syn::parse_file(&text).context("bindgen's output is no Rust")?;
    let mut reader = Reader::default();
    for item in file.items {
        reader.item(item)?;
    }
    Ok(reader.api)
}

fn run_bindgen(library: &Library, headers: &HeaderSet, target: &str) -> Result<String> {
    let present = headers.present(library);
    let include = |header: &str| format!("#include <{header}>\n");
    let included = library.prelude.iter().map(String::as_str).chain(present.iter().copied());
    let mut builder = Builder::default()
        .header_contents("all.h", &included.map(include).collect::<String>())
        .clang_args(["-nostdinc", "-isystem"])
        .clang_arg(workspace::stubs().display().to_string())
        .clang_arg(format!("--target={target}"))
        .clang_args(headers.folders.iter().map(|folder| format!("-I{}", folder.display())))
        .clang_args(library.defines.iter().map(|define| format!("-D{define}")))
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: false })
        .prepend_enum_name(false)
        .generate_comments(false)
        .derive_default(false)
        .layout_tests(true)
        .use_core()
        .formatter(Formatter::None);
    for header in &present {
        builder = builder.allowlist_file(format!(".*/{}", header.replace('.', "\\.")));
    }
    let bindings = builder.generate().map_err(|error| match error {
        BindgenError::ClangDiagnostic(text) => {
            anyhow!("{}", text.lines().next().unwrap_or("clang refused it"))
        }
        other => anyhow!("{other}"),
    })?;
    Ok(bindings.to_string())
}

/// Prints a type as Rust text, by short names.
fn type_text(ty: &syn::Type) -> Type {
    let mut ty = ty.clone();
    Shorten.visit_type_mut(&mut ty);
    let text = prettyplease::unparse(&syn::parse_quote!(type X = #ty;));
    let text = text.trim().trim_start_matches("type X =").trim_end_matches(';').trim();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(", )", ")")
}

/// Prints tokens.
fn compact(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string()
}

/// Turns `::core::ffi::c_int` into `c_int`, and calling conventions into the system's.
struct Shorten;

impl VisitMut for Shorten {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if path.segments.first().is_some_and(|first| first.ident == "core")
            && let Some(last) = path.segments.last().cloned()
        {
            path.leading_colon = None;
            path.segments = std::iter::once(last).collect();
        }
        visit_path_mut(self, path);
    }

    fn visit_abi_mut(&mut self, abi: &mut syn::Abi) {
        abi.name = Some(syn::LitStr::new("system", proc_macro2::Span::call_site()));
    }
}

/// Collects bindgen's items.
#[derive(Default)]
struct Reader {
    api: Api,
}

impl Reader {
    fn item(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Const(item) if item.ident == "_" => self.layout(&item.expr)?,
            Item::Const(item) => {
                let constant = Constant { r#type: compact(&item.ty), value: compact(&item.expr) };
                self.api.constants.insert(item.ident.to_string(), constant);
            }
            Item::Type(item) => {
                self.api.aliases.insert(item.ident.to_string(), type_text(&item.ty));
            }
            Item::Use(item) => self.renaming(&item.tree),
            Item::Impl(item) => self.enum_constants(&item)?,
            Item::Struct(item) => self.structure(item)?,
            Item::Union(item) => {
                let fields = Fields::Named(item.fields);
                self.record(&item.ident.to_string(), true, &item.attrs, &fields);
            }
            Item::ForeignMod(item) => {
                item.items.into_iter().try_for_each(|item| self.function(item))?;
            }
            other => bail!("bindgen wrote an item of a new kind: {}", compact(&other)),
        }
        Ok(())
    }

    /// Reads `pub use self::Tag as Name;`.
    fn renaming(&mut self, tree: &UseTree) {
        if let UseTree::Path(path) = tree
            && let UseTree::Rename(rename) = &*path.tree
        {
            self.api.aliases.insert(rename.rename.to_string(), rename.ident.to_string());
        }
    }

    /// Reads `impl Tag { pub const NAME: Tag = Tag(1); }`.
    fn enum_constants(&mut self, item: &syn::ItemImpl) -> Result<()> {
        let tag = compact(&item.self_ty);
        let constants = &mut self.api.enums.entry(tag.clone()).or_default().constants;
        for member in &item.items {
            let ImplItem::Const(member) = member else {
                bail!("`{tag}` has a member that is no constant: bit fields are not supported");
            };
            let Expr::Call(call) = &member.expr else {
                bail!("`{}` has no value", member.ident);
            };
            let value = integer(call.args.first().context("an enum constant without a value")?)?;
            constants.push((member.ident.to_string(), bits(value)?));
        }
        Ok(())
    }

    /// Reads a struct: a newtype is an enum, all else a record.
    fn structure(&mut self, item: syn::ItemStruct) -> Result<()> {
        let name = item.ident.to_string();
        match &item.fields {
            Fields::Unnamed(_) => {
                self.api.enums.entry(name).or_default();
            }
            fields @ Fields::Named(_) => self.record(&name, false, &item.attrs, fields),
            Fields::Unit => bail!("`{name}` has no fields"),
        }
        Ok(())
    }

    fn record(&mut self, name: &str, is_union: bool, attributes: &[syn::Attribute], f: &Fields) {
        let fields: Vec<(String, Type)> = f
            .iter()
            .filter_map(|field| Some((field.ident.as_ref()?.to_string(), type_text(&field.ty))))
            .collect();
        let mut attributes: String = attributes.iter().map(compact).collect();
        attributes.retain(|character| character != ' ');
        let is_opaque = matches!(fields.first(), Some((name, _)) if name == "_unused");
        let align = attributes
            .split_once("align(")
            .and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
        let record = Record { is_union, align, is_opaque, fields, layout: Default::default() };
        self.api.records.insert(name.to_owned(), record);
    }

    fn function(&mut self, item: ForeignItem) -> Result<()> {
        let ForeignItem::Fn(item) = item else {
            bail!("a header declares a variable: {}", compact(&item));
        };
        let mut parameters = Vec::new();
        for input in &item.sig.inputs {
            let syn::FnArg::Typed(input) = input else {
                bail!("`{}` has a receiver", item.sig.ident);
            };
            parameters.push((compact(&input.pat), type_text(&input.ty)));
        }
        let output = match &item.sig.output {
            syn::ReturnType::Default => "()".to_owned(),
            syn::ReturnType::Type(_, ty) => type_text(ty),
        };
        let function = Function { parameters, output };
        self.api.functions.insert(item.sig.ident.to_string(), function);
        Ok(())
    }

    /// Reads bindgen's layout assertions: `["Size of T"][size_of::<T>() - 8usize];` and so on.
    fn layout(&mut self, block: &Expr) -> Result<()> {
        let Expr::Block(block) = block else {
            bail!("a layout assertion of a new form: {}", compact(block));
        };
        for statement in &block.block.stmts {
            let syn::Stmt::Expr(Expr::Index(index), _) = statement else {
                bail!("a layout assertion of a new form: {}", compact(statement));
            };
            let (what, Expr::Binary(difference)) = (compact(&index.expr), &*index.index) else {
                bail!("a layout assertion of a new form: {}", compact(statement));
            };
            let what = what.trim_matches(['[', ']', ' ', '"']);
            let number = u64::try_from(integer(&difference.right)?)?;
            self.assertion(what, number)?;
        }
        Ok(())
    }

    fn assertion(&mut self, what: &str, number: u64) -> Result<()> {
        let words: Vec<&str> = what.split([' ', ':']).filter(|word| !word.is_empty()).collect();
        let (record, field) = match words.as_slice() {
            ["Size" | "Alignment", "of", record] => (*record, None),
            ["Offset", "of", "field", record, field] => (*record, Some(*field)),
            _ => bail!("a layout assertion of a new form: {what}"),
        };
        let layout = &mut self
            .api
            .records
            .get_mut(record)
            .with_context(|| format!("a layout assertion for an unknown record: {what}"))?
            .layout;
        match (field, what.starts_with("Size")) {
            (Some(field), _) => layout.offsets.push((field.to_owned(), number)),
            (None, true) => layout.size = number,
            (None, false) => layout.align = number,
        }
        Ok(())
    }
}

/// Reads an integer literal, perhaps negative.
fn integer(expression: &Expr) -> Result<i64> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(int) => Ok(int.base10_parse()?),
            other => bail!("`{}` is no integer", other.to_token_stream()),
        },
        Expr::Unary(unary) => Ok(-integer(&unary.expr)?),
        other => bail!("`{}` is no integer", compact(other)),
    }
}

/// Returns the 32 bits of an enum constant: C's own type, signed or not, differs by platform.
fn bits(value: i64) -> Result<u32> {
    let signed = || i32::try_from(value).map(i32::cast_unsigned);
    u32::try_from(value).or_else(|_| signed()).context("an enum constant of more than 32 bits")
}

/// Tells whether the folder holds a libclang that bindgen would find.
pub(crate) fn holds_libclang(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return folder.is_file();
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("libclang") && name.contains(".so")
            || name == "libclang.dylib"
            || name == "libclang.dll"
    })
}
