//! The list of functions, one a line, and the library that they are looked up in.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use crate::api::Union;
use crate::manifest::{Library, Load};
use crate::release::Release;

pub(super) fn functions(library: &Library, union: &Union) -> Result<String> {
    let name = &library.name;
    let mut text = format!(
        "
use core::ffi::*;

use super::types::*;
use crate::bind::{{bind, status}};
use crate::library::{{InstalledBy, Library, Specification, VersionQuery}};
use crate::Version;

{}
/// Hands every function to a macro: `[header since deprecated] name(parameters) -> output;`, the
/// releases as numbers, `deprecated` 0 if it isn't.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_{name}_function {{
    ($($callback:tt)*) => {{
        $($callback)*! {{
",
        specification(library, union)?
    );
    for (symbol, function) in &union.api.functions {
        let Some(provenance) = union.functions.get(symbol) else {
            bail!("`{symbol}` has no header");
        };
        let parameters: Vec<String> =
            function.parameters.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
        writeln!(
            text,
            "            [{:?} {} {}] {symbol}({}) -> {};",
            provenance.header,
            provenance.since.number(),
            provenance.deprecated.map_or(0, Release::number),
            parameters.join(", "),
            function.output,
        )?;
    }
    write!(text, "        }}\n    }};\n}}\n\nfor_each_{name}_function!(bind);\n")?;
    Ok(text)
}

fn specification(library: &Library, union: &Union) -> Result<String> {
    let Load { r#override, sonames, development_name, windows, installed_by, .. } = &library.load;
    let version_symbol = &library.load.version_symbol;
    let installed_by = match installed_by.as_str() {
        "driver" => "Driver",
        "toolkit" => "Toolkit",
        other => bail!("{}: installed_by is driver or toolkit, not `{other}`", library.name),
    };
    let version = match library.load.version_form.as_str() {
        "number" => "Number",
        "major-minor" => "MajorMinor",
        other => bail!("{}: version_form is number or major-minor, not `{other}`", library.name),
    };
    let status = &library.status;
    Ok(format!(
        "/// Is the {title}: found and opened at first use.
pub static LIBRARY: Library = Library::new(Specification {{
    title: {title:?},
    override_variable: {override:?},
    sonames: &{sonames:?},
    development_name: {development_name:?},
    windows_names: &{windows:?},
    installed_by: InstalledBy::{installed_by},
    version: VersionQuery::{version}(c{version_symbol:?}),
    stub_status: {stub:?},
    newest: Version::from_number({newest}),
}});

status! {{ {status}: no_library = {no_library}, missing = {missing} }}
",
        title = library.title,
        stub = status.stub,
        newest = Library::newest(&union.releases)?.number(),
        status = status.r#type,
        no_library = status.no_library,
        missing = status.missing,
    ))
}
