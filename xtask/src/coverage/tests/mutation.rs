//! Whatever is taken out of the generated files, coverage names it.

use std::path::Path;

use super::DRIVER;
use crate::coverage::probe::Probe;
use crate::coverage::{Declared, declared};
use crate::tests::{FETCHED, copy_of_cuda_sys};

/// Makes each `(file, old, new)` change in the generated files, looks, and takes it back. An empty
/// `new` takes the whole line out.
fn problems_with(
    declared: &Declared,
    folder: &Path,
    changes: &[(&str, &str, &str)],
) -> Vec<String> {
    let mut originals = Vec::new();
    for (file, old, new) in changes {
        let file = folder.join("src/generated/driver").join(file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old}");
        let changed = text.lines().filter(|line| !(new.is_empty() && line.contains(old)));
        let changed: Vec<String> = changed.map(|line| line.replace(old, new)).collect();
        std::fs::write(&file, changed.join("\n") + "\n").unwrap();
        originals.push((file, text));
    }
    // Whatever is asked for here shows in the first round.
    let mut probe = Probe::new("mutation-probe", folder, &["driver".to_owned()]);
    probe.rounds = 1;
    let report = declared.look_with(&probe).unwrap();
    // In reverse, since two changes may be in one file.
    for (file, text) in originals.into_iter().rev() {
        std::fs::write(file, text).unwrap();
    }
    report.problems
}

#[test]
fn coverage_names_what_is_taken_out() {
    let folder = copy_of_cuda_sys("mutation");
    let declared =
        declared(&FETCHED.cache, &FETCHED.wheels, std::slice::from_ref(&*DRIVER)).unwrap();
    let with = |changes| problems_with(&declared, &folder, changes);

    assert_eq!(with(&[]), [""; 0]);

    let function = with(&[("functions.rs", "] cuCoredumpGetAttributeGlobal(", "")]);
    let line = "missing: driver function cuCoredumpGetAttributeGlobal (cuda.h)";
    assert!(function.contains(&line.to_owned()), "{function:?}");

    // Without its layout, the crate itself compiles without the field.
    let field = with(&[
        ("layout.rs", "    CUaccessPolicyWindow_v1: ", ""),
        ("types.rs", "    pub hitRatio: f32,", ""),
    ]);
    let line = "missing: driver field CUaccessPolicyWindow_v1.hitRatio";
    assert!(field.contains(&line.to_owned()), "{field:?}");

    let constant = with(&[("types.rs", "        CU_LIMIT_STACK_SIZE = ", "")]);
    let line = "missing: driver constant CUlimit_enum::CU_LIMIT_STACK_SIZE";
    assert!(constant.contains(&line.to_owned()), "{constant:?}");

    let constant = with(&[("types.rs", "pub const CU_IPC_HANDLE_SIZE: ", "")]);
    let line = "missing: driver constant CU_IPC_HANDLE_SIZE (cuda.h)";
    assert!(constant.contains(&line.to_owned()), "{constant:?}");

    let changed = with(&[
        (
            "functions.rs",
            "12010 0] cuCoredumpGetAttributeGlobal(",
            "12020 0] cuCoredumpGetAttributeGlobal(",
        ),
        ("functions.rs", "cuCtxGetFlags(flags: *mut c_uint)", "cuCtxGetFlags(flags: *mut c_int)"),
        ("types.rs", "CU_IPC_HANDLE_SIZE: u32 = 64;", "CU_IPC_HANDLE_SIZE: u32 = 65;"),
        ("layout.rs", "    CUaccessPolicyWindow_v1: ", ""),
        ("types.rs", "    pub hitRatio: f32,", "    pub hitRatio: f64,"),
    ]);
    for line in [
        "function cuCoredumpGetAttributeGlobal (cuda.h): since 12.1 in the headers",
        "function cuCtxGetFlags (cuda.h): ",
        "constant CU_IPC_HANDLE_SIZE (cuda.h): C says 64",
        "field CUaccessPolicyWindow_v1.hitRatio: ",
        "field CUaccessPolicyWindow_v1.hitProp: the offset is not 20",
    ] {
        let line = format!("differs: driver {line}");
        assert!(changed.iter().any(|problem| problem.starts_with(&line)), "{line}: {changed:#?}");
    }
}
