//! What the library exports, under which name a loader knows it, and that no program of the
//! workspace has symbols of the driver linked into it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cuda_sys::SYMBOLS;
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _};
use object::{Endianness, Object as _, ObjectSymbol as _, ReadCache, elf};

type Elf<'a> = ElfFile64<'a, Endianness, &'a ReadCache<File>>;

/// Hands the file to `look`, if it is an ELF file.
fn with_elf<T>(path: &Path, look: impl FnOnce(&Elf<'_>) -> T) -> Option<T> {
    let cache = ReadCache::new(File::open(path).unwrap());
    ElfFile64::parse(&cache).ok().map(|file| look(&file))
}

/// Returns the names that a file's dynamic table defines: those of `nm -D --defined-only`.
fn exported(file: &Elf<'_>) -> BTreeSet<String> {
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    defined.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

/// Returns the names that either table of a file defines.
fn defined(file: &Elf<'_>) -> BTreeSet<String> {
    let own = file.symbols().filter(|symbol| symbol.is_definition());
    exported(file).into_iter().chain(own.map(|symbol| symbol.name().unwrap().to_owned())).collect()
}

#[test]
fn the_library_exports_the_driver_and_nothing_else() {
    let names = with_elf(&support::library(), exported).unwrap();
    let driver: BTreeSet<String> =
        SYMBOLS.iter().map(|symbol| symbol.name.to_str().unwrap().to_owned()).collect();
    assert_eq!(driver.len(), 723);
    assert_eq!(names, driver);
}

#[test]
fn the_library_has_the_driver_s_name_and_is_never_unloaded() {
    let bytes = std::fs::read(support::library()).unwrap();
    let bytes = bytes.as_slice();
    let header = elf::FileHeader64::<Endianness>::parse(bytes).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, bytes).unwrap();
    let (entries, strings) = sections.dynamic(endian, bytes).unwrap().unwrap();
    let strings = sections.strings(endian, bytes, strings).unwrap();
    let entry = |tag: u32| entries.iter().find(|entry| entry.tag32(endian) == Some(tag)).unwrap();
    let name = std::str::from_utf8(entry(elf::DT_SONAME).string(endian, strings).unwrap()).unwrap();
    let flags = entry(elf::DT_FLAGS_1).d_val(endian);
    assert_eq!(name, "libcuda.so.1");
    assert_ne!(flags & u64::from(elf::DF_1_NODELETE), 0);
}

/// Returns the programs that cargo built beside this one, the newest of each name.
fn programs() -> Vec<PathBuf> {
    let mut newest: BTreeMap<String, (SystemTime, PathBuf)> = BTreeMap::new();
    for entry in std::fs::read_dir(std::env::current_exe().unwrap().parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // A program is called `NAME-HASH`, and nothing else here is without a suffix.
        let Some((name, _)) = name.rsplit_once('-').filter(|(_, hash)| !hash.contains('.')) else {
            continue;
        };
        let Ok(time) = path.metadata().and_then(|metadata| metadata.modified()) else { continue };
        if newest.get(name).is_none_or(|(other, _)| *other < time) {
            newest.insert(name.to_owned(), (time, path));
        }
    }
    newest.into_values().map(|(_, path)| path).collect()
}

/// Mangled names hold `cu` too: a symbol counts if all of it is a C name of the driver's form.
fn is_of_the_driver(name: &str) -> bool {
    name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

#[test]
fn no_program_of_the_workspace_defines_a_symbol_of_the_driver() {
    let mut looked_at = 0;
    for program in programs() {
        let Some(names) = with_elf(&program, defined) else { continue };
        // This one is stripped of nothing, so that the others are seen whole too.
        assert!(names.contains("main"), "{}", program.display());
        let of_the_driver: Vec<&String> =
            names.iter().filter(|name| is_of_the_driver(name)).collect();
        assert!(of_the_driver.is_empty(), "{}: {of_the_driver:?}", program.display());
        looked_at += 1;
    }
    assert!(looked_at > 0);
    assert!(is_of_the_driver("cuInit") && !is_of_the_driver("_ZN8cuda_sys6cuInit17h0E"));
}
