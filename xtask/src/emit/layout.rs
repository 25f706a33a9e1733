//! What the C compiler says of every record, as compile-time assertions.

use crate::api::Union;

pub(super) fn layout(union: &Union) -> String {
    let mut text = "
use super::types::*;
use crate::layout::layout;

layout! {
"
    .to_owned();
    for (name, record) in union.api.records.iter().filter(|(_, record)| !record.is_opaque) {
        let layout = &record.layout;
        let offsets: Vec<String> =
            layout.offsets.iter().map(|(field, offset)| format!("{field} @ {offset}")).collect();
        text.push_str(&format!(
            "    {name}: size {}, align {} {{ {} }}\n",
            layout.size,
            layout.align,
            offsets.join(", ")
        ));
    }
    text.push_str("}\n");
    text
}
