//! Whatever is taken out of the annotations or the list of excuses, coverage names it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::DRIVER;
use crate::coverage::calls::{Calls, Symbols, chapters};
use crate::tests::locked;
use crate::workspace;

static SYMBOLS: LazyLock<Symbols> = LazyLock::new(|| {
    let (library, sets) = locked("driver");
    Symbols::new(&DRIVER, &chapters(&library, &sets).unwrap())
});

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        match from.is_dir() {
            true => copy(&from, &to.join(name)),
            false => drop(std::fs::copy(&from, to.join(name)).unwrap()),
        }
    }
}

/// Makes one change in a copy of the calls, and returns what coverage says of it.
fn compare(file: &str, old: &str, new: &str) -> (Calls, Vec<String>) {
    let scratch = tempfile::tempdir().unwrap();
    let folder: PathBuf = scratch.path().join("call");
    copy(&workspace::root().join("cuda-safe/src/call"), &folder);
    let file = folder.join(file);
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(old).count(), 1, "{old}");
    std::fs::write(&file, text.replace(old, new)).unwrap();
    SYMBOLS.compare(&folder).unwrap()
}

fn problems(file: &str, old: &str, new: &str) -> Vec<String> {
    compare(file, old, new).1
}

#[test]
fn every_symbol_is_counted_once() {
    let (calls, problems) = SYMBOLS.compare(&workspace::root().join("cuda-safe/src/call")).unwrap();
    assert_eq!(problems, [""; 0]);
    assert_eq!(calls.annotated + calls.excused, calls.symbols);
    assert_eq!(calls.symbols, DRIVER.newest(|declared| &declared.functions).len());
}

#[test]
fn a_symbol_without_annotation_or_excuse_is_missing() {
    let have = problems("unannotated.txt", "\ncuCheckpointProcessLock: ", "\n# ");
    let line = "missing: driver call cuCheckpointProcessLock: neither annotated nor excused";
    assert_eq!(have, [line]);

    let (calls, have) = compare("initialization.rs", "#[driver(cuInit, ", "#[undriver(cuInit, ");
    assert_eq!(calls.annotated + calls.excused + 1, calls.symbols);
    let line = "missing: driver call cuInit: neither annotated nor excused";
    assert!(have.contains(&line.to_owned()), "{have:?}");
    let line = "differs: initialization.rs: `Initialization` is not whole: cuInit is not annotated";
    assert!(have.contains(&line.to_owned()), "{have:?}");

    let have = problems("unannotated.txt", "[twins]: ", "# ");
    assert!(have.len() > 100, "{}", have.len());
    assert!(have.iter().all(|line| line.starts_with("missing: ")), "{have:?}");
}

#[test]
fn an_excuse_needs_a_reason_and_a_use() {
    let have = problems("unannotated.txt", "[twins]: ", "cuNoSuchCall: gone\n[twins]: ");
    assert_eq!(have, ["differs: unannotated.txt: `cuNoSuchCall` excuses nothing"]);
    let have = problems("unannotated.txt", "[twins]: ", "cuInit: for fun\n[twins]: ");
    assert_eq!(have, ["differs: driver call cuInit: annotated and excused"]);
    let have = problems("unannotated.txt", "[twins]: ", "cuInit\n[twins]: ");
    assert_eq!(have, ["differs: unannotated.txt: `cuInit` has no reason"]);
}

#[test]
fn parameters_are_those_of_the_header() {
    let renamed = problems("event.rs", "#[raw] event @ hEvent: ", "#[raw] event: ");
    let line = "differs: driver call cuEventDestroy_v2: the header's parameters are (hEvent), the \
                annotation's (event)";
    assert_eq!(renamed, [line]);

    let (one, other) = ("#[out] free: *mut usize", "#[out] total: *mut usize");
    let have = problems("memory/runs.rs", &format!("{one}, {other}"), &format!("{other}, {one}"));
    let line = "differs: driver call cuMemGetInfo_v2: the header's parameters are (free, total), \
                the annotation's (total, free)";
    assert_eq!(have, [line]);

    let have = problems("version.rs", "cuDriverGetVersion", "cuDriverGetVersions");
    let line = "differs: driver call cuDriverGetVersions: no header declares it".to_owned();
    assert!(have.contains(&line), "{have:?}");
}

#[test]
fn a_chapter_is_what_it_says() {
    let have = problems("version.rs", "Version Management, whole.", "Version Managment.");
    let lines = [
        "differs: version.rs: no chapter is called `Version Managment`",
        "differs: version.rs: cuDriverGetVersion is of the chapter `Version Management`",
    ];
    assert_eq!(have, lines);
    let have = problems("version.rs", "//! Chapter: Version Management, whole.", "//!");
    assert_eq!(have, ["differs: version.rs: no line says `Chapter: …`"]);
    let claim = "//! Chapter: Initialization, whole.";
    let two = format!("{claim}\n//! Chapter: Profiler Control [DEPRECATED], whole.");
    let have = problems("initialization.rs", claim, &two);
    let line = "differs: initialization.rs: `Profiler Control [DEPRECATED]` is not whole: \
                cuProfilerInitialize is not annotated";
    assert_eq!(have, [line]);
}
