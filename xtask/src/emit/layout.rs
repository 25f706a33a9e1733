//! What the C compiler says of every record, as compile-time assertions.

use crate::api::Union;

pub(super) fn layout(union: &Union) -> String {
    let mut assertions = String::new();
    for (name, record) in union.api.records.iter().filter(|(_, record)| !record.is_opaque) {
        let layout = &record.layout;
        let offsets: Vec<String> =
            layout.offsets.iter().map(|(field, offset)| format!("{field} @ {offset}")).collect();
        assertions.push_str(&format!(
            "    {name}: size {}, align {} {{ {} }}\n",
            layout.size,
            layout.align,
            offsets.join(", ")
        ));
    }
    let types = if assertions.is_empty() { "" } else { "use super::types::*;\n" };
    format!("\n{types}use crate::layout::layout;\n\nlayout! {{\n{assertions}}}\n")
}
