//! Expansions as they are today, formatted. `UPDATE_GOLDEN=1 cargo test -p cuda-codegen golden`
//! writes them anew; `tests/golden_compiled.rs` compiles them.

use std::path::Path;

use crate::{emit, judge, parse};

/// Expands each annotated function of a file.
fn expand(text: &str) -> String {
    let mut expanded = String::new();
    for item in text.split("#[driver(").skip(1) {
        let (arguments, item) = item.split_once(")]").unwrap();
        let end = item.find(");\n").unwrap() + 2;
        let arguments: parse::Arguments = syn::parse_str(arguments).unwrap();
        let signature: parse::Signature = syn::parse_str(&item[..end]).unwrap();
        let (annotation, errors) = signature.with(arguments);
        assert!(errors.is_empty());
        assert!(judge::judge(&annotation).is_empty());
        let file = syn::parse2(emit::emit(&annotation)).unwrap();
        expanded.push_str(&prettyplease::unparse(&file));
        expanded.push('\n');
    }
    expanded
}

#[test]
fn expansions_are_as_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let expanded = expand(&std::fs::read_to_string(folder.join("annotated.rs")).unwrap());
    let golden = folder.join("expanded.rs");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, &expanded).unwrap();
    }
    let known = std::fs::read_to_string(&golden).unwrap_or_default();
    assert!(
        known == expanded,
        "an expansion changed; look at the difference after\n    UPDATE_GOLDEN=1 cargo test -p \
         cuda-codegen golden"
    );
}
