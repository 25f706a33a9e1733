//! Plain data: functions, records, enums, aliases and constants of one or of all releases.

use std::collections::BTreeMap;

/// Is a type as Rust text: `*mut CUctx_st`.
pub(crate) type Type = String;

/// Is everything that a library's headers declare. Names are C's, but for anonymous types.
#[derive(Clone, Debug, Default)]
pub(crate) struct Api {
    pub(crate) functions: BTreeMap<String, Function>,
    pub(crate) records: BTreeMap<String, Record>,
    pub(crate) enums: BTreeMap<String, Enum>,
    pub(crate) aliases: BTreeMap<String, Type>,
    pub(crate) constants: BTreeMap<String, Constant>,
}

/// Is a function's signature.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    pub(crate) parameters: Vec<(String, Type)>,
    /// `()` for none.
    pub(crate) output: Type,
}

/// Is a struct or a union.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) is_union: bool,
    /// An alignment that the header asks for.
    pub(crate) align: Option<u64>,
    /// Only ever pointed to.
    pub(crate) is_opaque: bool,
    pub(crate) fields: Vec<(String, Type)>,
    pub(crate) layout: Layout,
}

/// Is what the C compiler says of a record, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) size: u64,
    pub(crate) align: u64,
    pub(crate) offsets: Vec<(String, u64)>,
}

/// Is an enum; negative values stand as their bit pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Enum {
    pub(crate) constants: Vec<(String, u32)>,
}

/// Is a macro's value, as Rust text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Constant {
    pub(crate) r#type: String,
    pub(crate) value: String,
}

impl Api {
    /// Calls `visit` with every type that a declaration mentions.
    pub(crate) fn visit_types(&mut self, mut visit: impl FnMut(&mut Type)) {
        for function in self.functions.values_mut() {
            function.parameters.iter_mut().for_each(|(_, ty)| visit(ty));
            visit(&mut function.output);
        }
        for record in self.records.values_mut() {
            record.fields.iter_mut().for_each(|(_, ty)| visit(ty));
        }
        self.aliases.values_mut().for_each(visit);
    }
}
