//! Images as compilers write them, and what is none.

use proptest::prelude::*;

use super::{Address, Image, ImageError, Parameter, Target, VariableSpace, fatbin, linked};

const TARGET: Target = Target { capability: 90, ptx: 90 };

const PTX: &str = r#"
// A comment { with a brace
.version 7.8
.target sm_70, debug
.address_size 64
.file 1 "kernel.cu", 1700000000, 42
.const .align 4 .b8 table[16] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64};
.global .align 4 .u32 counter = 7;
.global .attribute(.managed) .align 4 .u32 managed = 3;
.global .align 1 .b8 buffer[1000];
.global .align 8 .u64 pointers[3] = {generic(counter), counter+4, 0};
.visible .global .f32 matrix[2][3] = {{1.5, 0f40000000}, {-3}};
.global .v4 .u16 vector = {1, 2, 3, -4};
.global .b16 open[] = {1, 2, 3};
.extern .shared .align 16 .b8 dynamic[];
.shared .align 4 .b8 tile[100];
.shared .b64 other;
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 list);
.visible .func helper(.param .b32 x) { .reg .b32 %r<2>; { ret; } }
.visible .entry first(
    .param .u8 first_0,
    .param .u16 first_1,
    .param .align 8 .b8 first_2[32],
    .param .u64 .ptr .global .align 16 first_3
)
.maxntid 128, 2
.minnctapersm 2
{
    .reg .b64 %rd<3>;
    .shared .align 4 .b8 own[1024];
    .local .align 8 .b8 __local_depot[24];
    ld.param.u64 %rd1, [first_3];
    mov.u64 %rd2, tile; // tile
    mov.u64 %rd2, tile;
    { bra $L; }
$L:
    ret;
}
.entry second() .reqntid 32, 4, 2 .reqnctapercluster 2 .pragma "nounroll"; { ret; }
.entry third .maxnreg 24 { ret; }
.section .debug_str { .b8 1,2 }
"#;

fn read(text: &str) -> Result<Image, ImageError> {
    Image::read(text.as_bytes(), TARGET)
}

#[test]
fn kernels_of_ptx_have_their_parameters_and_limits() {
    let image = read(PTX).unwrap();
    let [first, second, third] = &image.entries[..] else { panic!("{image:?}") };
    let parameters = [(0, 1), (2, 2), (8, 32), (40, 8)];
    let parameters = parameters.map(|(offset, size)| Parameter { offset, size });
    assert_eq!((first.name.as_str(), &first.parameters[..]), ("first", &parameters[..]));
    assert_eq!((first.parameter_bytes(), first.shared, first.local), (48, 1124, 24));
    assert_eq!((first.most_threads, first.ptx, first.capability), (Some(256), 78, 70));
    assert_eq!((second.block, second.cluster), (Some([32, 4, 2]), Some([2, 1, 1])));
    assert_eq!((third.parameters.len(), third.registers), (0, Some(24)));
}

#[test]
fn variables_of_ptx_have_their_values() {
    let image = read(PTX).unwrap();
    let find = |name: &str| image.variables.iter().find(|variable| variable.name == name).unwrap();
    let table = find("table");
    assert_eq!((table.space, table.size), (VariableSpace::Constant, 16));
    assert_eq!(table.bytes[..8], [1_f32.to_le_bytes(), 2_f32.to_le_bytes()].concat());
    assert_eq!(find("counter").bytes, 7_u32.to_le_bytes());
    assert_eq!(find("managed").space, VariableSpace::Managed);
    assert_eq!((find("buffer").size, find("buffer").bytes.len()), (1000, 0));
    let address = |offset, addend| Address { offset, variable: "counter".to_owned(), addend };
    assert_eq!(find("pointers").addresses, [address(0, 0), address(8, 4)]);
    let matrix = [1.5_f32, 2.0, 0.0, -3.0].map(f32::to_le_bytes).concat();
    assert_eq!((find("matrix").size, &find("matrix").bytes), (24, &matrix));
    let vector = [1_u16, 2, 3, 4_u16.wrapping_neg()].map(u16::to_le_bytes).concat();
    assert_eq!((find("vector").alignment, &find("vector").bytes), (8, &vector));
    assert_eq!(find("open").size, 6);
}

#[test]
fn what_is_wrong_with_ptx_is_said() {
    let with = |text: &str| read(&format!(".version 7.8\n.target sm_70\n{text}"));
    let line = |text: &str| match with(text) {
        Err(ImageError::Syntax { line, .. }) => line,
        other => panic!("{text}: {other:?}"),
    };
    for (text, at) in [
        ("\n.entry f( { }", 4),
        (".entry f() { ", 3),
        (".entry f();", 3),
        (".global .u33 x;", 3),
        (".global .u32 x[2] = {1, 2, 3};", 3),
        (".global .u32 x = {{1}};", 3),
        (".global .align 3 .u32 x;", 3),
        (".global .u32 x", 3),
        ("\n\n/* never", 5),
        (".entry f(.param .b8 p[40000]) { }", 3),
        (".global .b8 x[9999999][9999999][9999999];", 3),
        ("nonsense", 3),
        (".address_size 32", 3),
    ] {
        assert_eq!(line(text), at, "{text}");
    }
    assert_eq!(
        read(".version 9.1\n.target sm_70"),
        Err(ImageError::Version { needs: 91, has: 90 })
    );
    for target in ["sm_100", "sm_80a", "sm_100f", "sm_87f"] {
        let text = format!(".version 8.0\n.target {target}");
        let expected = ImageError::PtxTarget { needs: target.to_owned(), has: 90 };
        assert_eq!(read(&text), Err(expected), "{target}");
    }
    assert!(read(".version 8.0\n.target sm_90a\n.address_size 64").is_ok());
    for text in [".version 7.8", ".version x", "// nothing", ".version 7.8 .target", ".visible"] {
        assert!(read(text).is_err(), "{text}");
    }
    for text in [".entry f() { } .entry f() { }", ".extern .global .u32 x;"] {
        assert!(matches!(with(text), Err(ImageError::Name(_))), "{text}");
    }
}

/// Makes a container of entries: kind, capability, flags, unpacked size, bytes.
fn container(entries: &[(u16, u32, u64, usize, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for &(kind, capability, flags, unpacked, bytes) in entries {
        let padded = bytes.len().next_multiple_of(8);
        let mut header = vec![0; 64];
        header[..2].copy_from_slice(&kind.to_le_bytes());
        header[4..8].copy_from_slice(&64_u32.to_le_bytes());
        header[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        header[16..20].copy_from_slice(&u32::try_from(bytes.len()).unwrap().to_le_bytes());
        header[28..32].copy_from_slice(&capability.to_le_bytes());
        header[40..48].copy_from_slice(&flags.to_le_bytes());
        header[56..].copy_from_slice(&(unpacked as u64).to_le_bytes());
        body.extend(header);
        body.extend(bytes);
        body.resize(body.len() + padded - bytes.len(), 0);
    }
    let mut whole = [0xBA55_ED50_u32.to_le_bytes(), [1, 0, 16, 0]].concat();
    whole.extend((body.len() as u64).to_le_bytes());
    whole.extend(body);
    whole
}

#[test]
fn the_best_part_of_a_fat_binary_is_taken() {
    let part = |name: &str| format!(".version 7.8\n.target sm_70\n.entry {name}() {{ }}\0");
    let (old, new, future) = (part("old"), part("new"), part("future"));
    let old: (u16, u32, u64, usize, &[u8]) = (1, 70, 0, 0, old.as_bytes());
    let bytes = container(&[old, (1, 80, 0, 0, new.as_bytes()), (1, 100, 0, 0, future.as_bytes())]);
    assert_eq!(fatbin::length(&bytes), Some(bytes.len()));
    let image = Image::read(&bytes, TARGET).unwrap();
    assert_eq!(image.entries[0].name, "new");
    let refused = Image::read(&container(&[(1, 100, 0, 0, future.as_bytes())]), TARGET);
    assert_eq!(refused, Err(ImageError::Target { needs: "sm_100".to_owned(), has: 90 }));
    assert!(matches!(Image::read(&container(&[]), TARGET), Err(ImageError::Target { .. })));
    for length in 0..bytes.len() {
        assert!(Image::read(&bytes[..length], TARGET).is_err(), "{length}");
    }
}

#[test]
fn packed_parts_are_unpacked() {
    let text = b".version 7.8\n.target sm_70\n.entry packed() { }\0";
    // LZ4: one run of literals, its length over 15.
    let rest = u8::try_from(text.len() - 15).unwrap();
    let lz4 = [&[0xf0, rest][..], text].concat();
    // Zstandard: magic, a frame with one segment and a size of a byte, one raw block, the last.
    let size = u8::try_from(text.len()).unwrap();
    let block = (u32::from(size) << 3 | 1).to_le_bytes();
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, size][..], &block[..3], text].concat();
    for (flags, packed) in [(0x2000, &lz4), (0x8000, &zstd)] {
        let bytes = container(&[(1, 70, flags, text.len(), packed)]);
        let image = Image::read(&bytes, TARGET).unwrap();
        assert_eq!(image.entries[0].name, "packed", "{flags:#x}");
        for wrong in [text.len() + 1, usize::MAX >> 1, 1 << 30] {
            let bytes = container(&[(1, 70, flags, wrong, packed)]);
            assert!(Image::read(&bytes, TARGET).is_err(), "{flags:#x} {wrong}");
        }
    }
}

#[test]
fn linked_images_complete_each_other() {
    let head = ".version 7.8\n.target sm_70\n";
    let uses = format!("{head}.extern .global .u32 x; .entry f() {{ }}").into_bytes();
    let has = format!("{head}.visible .global .u32 x = 5; .entry g() {{ }}").into_bytes();
    let bytes = linked::write(&[uses.clone(), has.clone()]);
    assert_eq!(linked::length(&bytes), Some(bytes.len()));
    let image = Image::read(&bytes, TARGET).unwrap();
    assert_eq!((image.entries.len(), image.variables.len()), (2, 1));
    assert_eq!(image.variables[0].bytes, 5_u32.to_le_bytes());
    let twice = linked::write(&[has.clone(), has]);
    assert!(matches!(Image::read(&twice, TARGET), Err(ImageError::Name(_))));
    assert!(matches!(Image::read(&linked::write(&[uses]), TARGET), Err(ImageError::Name(_))));
    for length in 0..bytes.len() {
        assert!(Image::read(&bytes[..length], TARGET).is_err(), "{length}");
    }
}

/// Words that PTX is made of, so that random ones come far.
fn ptx_like() -> impl Strategy<Value = String> {
    let words = [
        ".version 7.8",
        ".target sm_70",
        ".entry",
        ".func",
        "f",
        "g",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        "=",
        ".param",
        ".b8",
        ".u64",
        ".align",
        "8",
        "0x7fffffffffff",
        "-",
        "generic",
        ".global",
        ".const",
        ".shared",
        ".extern",
        ".v4",
        ".maxntid",
        "// c\n",
        "/*",
        "\"",
        "\n",
    ];
    let word = prop::sample::select(words.to_vec());
    prop::collection::vec(word, 0..80)
        .prop_map(|words| format!(".version 7.8\n.target sm_70\n{}", words.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_ptx_is_read_or_refused(text in ptx_like()) {
        let _ = read(&text);
    }

    #[test]
    fn random_bytes_are_read_or_refused(
        start in prop::sample::select(vec![
            &b"\x7fELF\x02\x01\x01\x33\x07"[..], b"\x50\xed\x55\xba\x01\0\x10\0", b"", b".version",
            b"\x7fcuda-sim linked\0",
        ]),
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let bytes = [start, &bytes].concat();
        let _ = Image::read(&bytes, TARGET);
        let _ = (fatbin::length(&bytes), linked::length(&bytes), super::cubin::length(&bytes));
    }

    #[test]
    fn damaged_ptx_is_read_or_refused(
        at in 0..PTX.len(), byte in any::<u8>(), cut in 0..PTX.len(),
    ) {
        let mut bytes = PTX.as_bytes().to_vec();
        bytes[at] = byte;
        let _ = Image::read(&bytes, TARGET);
        let _ = Image::read(&bytes[..cut], TARGET);
    }
}
