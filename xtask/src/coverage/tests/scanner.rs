//! The scanner on declarations of every form that headers use.

use crate::coverage::c::Declarations;
use crate::coverage::{lexer, pxd, scan};

fn scan(text: &str) -> Result<Declarations, String> {
    let text = format!("# 1 \"own.h\"\n{text}\n");
    let unit = lexer::read(&text, |path| (path == "own.h").then(|| path.to_owned()));
    scan::scan(unit).map_err(|error| format!("{error:#}"))
}

fn signature(declaration: &str) -> String {
    let declared = scan(declaration).unwrap();
    declared.canonical_signature(&declared.functions["f"].signature)
}

#[test]
fn parameters_are_read_as_c_reads_them() {
    assert_eq!(signature("int f(void);"), "int ()");
    assert_eq!(
        signature("extern unsigned f(long unsigned int long n);"),
        "unsigned int (unsigned long long)"
    );
    assert_eq!(signature("void f(const char *const *names);"), "void (char const* const*)");
    assert_eq!(signature("void f(const char *names[]);"), "void (char const**)");
    assert_eq!(signature("void f(const int numbers[4]);"), "void (int const*)");
    assert_eq!(
        signature("void f(void (*call)(int, void *), char);"),
        "void (void (int, void*)*, char)"
    );
    assert_eq!(signature("typedef int n; n *f(n g(n));"), "int* (int (int)*)");
    assert_eq!(signature("struct s; enum e { A }; void f(struct s *, enum e);"), "void (s*, e)");
}

#[test]
fn records_hold_what_they_hold() {
    let declared = scan(
        "typedef struct { int a, *b; union { long c; struct { char d[4]; } e; }; } r;
         typedef union u_tag { float x; } u;",
    )
    .unwrap();
    let record = &declared.records["r"];
    assert_eq!(record.spelling, "r");
    let names: Vec<_> = record.body.fields.iter().map(|field| field.name.as_deref()).collect();
    assert_eq!(names, [Some("a"), Some("b"), None]);
    assert_eq!(declared.canonical(&record.body.fields[2].r#type), "{ long c; { char[4] d; } e; }");
    assert_eq!(declared.records["u_tag"].spelling, "union u_tag");
}

#[test]
fn deprecation_is_an_attribute() {
    let declared = scan(
        "__attribute__((deprecated)) int f(int);\nint g(int) __attribute__((deprecated(\"no\")));
         __attribute__((pure)) int h(int);",
    )
    .unwrap();
    let deprecated = declared.functions.values().map(|function| function.is_deprecated);
    assert_eq!(deprecated.collect::<Vec<_>>(), [true, true, false]);
}

#[test]
fn what_is_not_understood_is_an_error_in_a_librarys_header_only() {
    assert!(scan("struct s { int a : 3; };").unwrap_err().contains("a bit field"));
    assert!(scan("int f(int, ...);").unwrap_err().contains("a variable number of parameters"));
    let declared =
        scan("# 1 \"other.h\"\nint f(int, ...); static int v = 3;\n# 1 \"own.h\"\nint g(int);");
    assert_eq!(declared.unwrap().functions.keys().collect::<Vec<_>>(), ["g"]);
}

#[test]
fn macros_end_where_they_are_undefined() {
    let declared = scan("#define A 1\n#define B(x) x\n#define C 2\n#undef A\n").unwrap();
    assert_eq!(declared.macros.keys().collect::<Vec<_>>(), ["C"]);
}

#[test]
fn published_declarations_are_read() {
    let pxd = pxd::parse(
        "cdef extern from 'a.h':\n    ctypedef enum e_tag \"e_tag\":\n        A = 0x10\n        B\n    \
         ctypedef e_tag e\n\ncdef enum: LIMIT = -1\n\ncdef extern from \"\":\n    cdef struct s:\n        \
         unsigned int a[4]\n        void* (*call)(int)\n\ncdef int f(int a, const char** b) except -1 nogil\n",
    );
    assert_eq!(pxd.enums["e_tag"], [("A".to_owned(), Some(16)), ("B".to_owned(), None)]);
    assert_eq!(pxd.constants["LIMIT"], Some(-1));
    assert_eq!(pxd.records["s"], ["a", "call"]);
    assert_eq!(pxd.functions["f"], ["a", "b"]);
    assert_eq!(pxd.types, ["e"]);
}
