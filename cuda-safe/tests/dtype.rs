//! Types of elements by their numbers and names.

use cuda_safe::DType;

/// What NumPy says: its name, its short form, the bytes.
const NUMPY: [(DType, &str, &str, i64); 14] = [
    (DType::I8, "int8", "|i1", 1),
    (DType::I16, "int16", "<i2", 2),
    (DType::I32, "int32", "<i4", 4),
    (DType::I64, "int64", "<i8", 8),
    (DType::U8, "uint8", "|u1", 1),
    (DType::U16, "uint16", "<u2", 2),
    (DType::U32, "uint32", "<u4", 4),
    (DType::U64, "uint64", "<u8", 8),
    (DType::F16, "float16", "<f2", 2),
    (DType::F32, "float32", "<f4", 4),
    (DType::F64, "float64", "<f8", 8),
    (DType::C64, "complex64", "<c8", 8),
    (DType::C128, "complex128", "<c16", 16),
    (DType::BOOL, "bool", "|b1", 1),
];

#[test]
fn names_are_numpys() {
    for (dtype, name, typestr, size) in NUMPY {
        assert_eq!(dtype.to_string(), name);
        assert_eq!(dtype.typestr().unwrap(), typestr);
        assert_eq!((name.parse(), typestr.parse()), (Ok(dtype), Ok(dtype)));
        assert_eq!(dtype.size(), size);
    }
    assert_eq!("=f4".parse(), Ok(DType::F32));
    assert_eq!(">u1".parse(), Ok(DType::U8), "one byte has no order");
}

#[test]
fn types_that_numpy_lacks_have_the_names_that_extensions_give_them() {
    for (dtype, name, code) in [
        (DType::BF16, "bfloat16", 4),
        (DType::F8_E3M4, "float8_e3m4", 7),
        (DType::F8_E4M3, "float8_e4m3", 8),
        (DType::F8_E4M3B11FNUZ, "float8_e4m3b11fnuz", 9),
        (DType::F8_E4M3FN, "float8_e4m3fn", 10),
        (DType::F8_E4M3FNUZ, "float8_e4m3fnuz", 11),
        (DType::F8_E5M2, "float8_e5m2", 12),
        (DType::F8_E5M2FNUZ, "float8_e5m2fnuz", 13),
        (DType::F8_E8M0FNU, "float8_e8m0fnu", 14),
    ] {
        assert_eq!((dtype.to_string().as_str(), dtype.code()), (name, code));
        assert_eq!((name.parse(), dtype.typestr()), (Ok(dtype), None));
    }
}

#[test]
fn what_is_no_name_is_refused() {
    let names = [
        "", "f", "<", "<f", "<f3", ">f4", "|f4", "<f04", "<f+4", "<f4 ", "float", "float8",
        "float128", "int7", "int08", "uint+8", "Float32", "<V3", "<é4", "é", "int256", "<i99",
    ];
    for name in names {
        let refused = name.parse::<DType>().unwrap_err();
        assert!(refused.to_string().starts_with(&format!("`{name}` names no type")), "{refused}");
    }
}

#[test]
fn elements_have_whole_bytes() {
    assert_eq!(DType::new(17, 4, 1).unwrap_err().have, 4);
    assert_eq!(DType::new(2, 0, 4).unwrap_err().have, 0);
    let pair = DType::new(17, 4, 2).unwrap();
    assert_eq!((pair.size(), pair.to_string().as_str()), (1, "type 17 of 4 bitsx2"));
    let vector = DType::new(2, 32, 4).unwrap();
    assert_eq!((vector.size(), vector.to_string().as_str()), (16, "float32x4"));
    assert_eq!(vector.typestr(), None);
    let largest = DType::new(u8::MAX, u8::MAX, u16::MAX - 7);
    assert_eq!(largest.unwrap().size(), i64::from(u8::MAX) * i64::from(u16::MAX - 7) / 8);
}
