//! The descriptor's bytes: what they are, what comes back, and what is refused.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use cuda_ipc::{DType, Descriptor, DeviceUuid, Identity, MemoryHandle, Nonce, Source, WireError};
use cuda_safe::StridedLayout;
use proptest::prelude::*;

fn source() -> Source {
    Source {
        exporter: Identity {
            boot_id: *b"boot id of 16 by",
            pid_namespace: 0xf000_0001,
            pid: 4711,
            start_time: 123_456,
        },
        device: DeviceUuid::new(*b"device UUID 16 b"),
        buffer_id: 9,
        nonce: Nonce::from_bytes(*b"nonce, 16 bytes."),
        handle: MemoryHandle::Legacy(std::array::from_fn(|at| u8::try_from(at).unwrap())),
        allocation_size: 2560 * 576,
    }
}

fn image() -> Descriptor {
    let layout = StridedLayout::from_byte_strides(&[576, 768, 3], &[2560, 3, 1], 1).unwrap();
    Descriptor::new(source(), DType::U8, layout).unwrap()
}

/// The bytes of [`image`], field by field. They never change: others hold them.
const GOLDEN: &[&str] = &[
    // Magic, version, flags, length, checksum.
    "435544412d495043 0100 0000 f0000000 e50f4699",
    // The exporter: pid, boot id, pid namespace, start time.
    "67120000 626f6f74206964206f66203136206279 010000f000000000 40e2010000000000",
    // Device, buffer id, nonce, allocation size, offset.
    "64657669636520555549442031362062 0900000000000000 6e6f6e63652c2031362062797465732e",
    "0080160000000000 0000000000000000",
    // Type, number of axes, handle kind, handle length, reserved.
    "01 08 0100 0300 0100 4000 000000000000",
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f",
    // Shape, byte strides.
    "4002000000000000 0003000000000000 0300000000000000",
    "000a000000000000 0300000000000000 0100000000000000",
];

fn unhex(lines: &[&str]) -> Vec<u8> {
    let digits = lines.concat().replace(' ', "");
    let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// Changes bytes of the image's descriptor and makes length and checksum right again.
fn changed(at: usize, bytes: &[u8]) -> Result<Descriptor, WireError> {
    let mut message = image().encode();
    message[at..at + bytes.len()].copy_from_slice(bytes);
    Descriptor::decode(&sealed(message))
}

fn sealed(mut message: Vec<u8>) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    message[12..16].copy_from_slice(&length.to_le_bytes());
    message[16..20].fill(0);
    let checksum = crc32c::crc32c(&message);
    message[16..20].copy_from_slice(&checksum.to_le_bytes());
    message
}

#[test]
fn the_bytes_are_these() {
    assert_eq!(image().encode(), unhex(GOLDEN));
    assert_eq!(Descriptor::decode(&unhex(GOLDEN)), Ok(image()));
}

#[test]
fn every_field_is_looked_at() {
    use WireError as E;
    let most = u64::MAX;
    let number = |number: i64| number.to_le_bytes();
    let cases: &[(usize, &[u8], E)] = &[
        (0, b"cUDA-IPC", E::Magic { need: *b"CUDA-IPC", have: *b"cUDA-IPC" }),
        (8, &[0, 0], E::Version { need: 1, have: 0 }),
        (8, &[2, 0], E::Version { need: 1, have: 2 }),
        (10, &[1, 0], E::Unknown { field: "flags", need: "0", have: 1 }),
        (96, &[0; 8], E::BehindAllocation { need: 2560 * 576 - 256, have: 0 }),
        (104, &most.to_le_bytes(), E::TooLarge { field: "offset", need: most / 2, have: most }),
        (104, &number(257), E::BehindAllocation { need: 2560 * 576 + 1, have: 2560 * 576 }),
        (113, &[7], E::ElementSize { have: 7 }),
        (114, &[0, 0], E::ElementSize { have: 0 }),
        (116, &[65, 0], E::TooManyAxes { need: 64, have: 65 }),
        (116, &[4, 0], E::Truncated { field: "strides", need: 256, have: 240 }),
        (116, &[2, 0], E::TrailingBytes { need: 224, have: 240 }),
        (
            118,
            &[2, 0],
            E::Unknown { field: "handle kind", need: "1 (legacy memory handle)", have: 2 },
        ),
        (120, &[63, 0], E::HandleLength { need: 64, have: 63 }),
        (125, &[8], E::NotZero { field: "reserved", have: 8 }),
        (128, &[0; 64], E::HandleZero { have: 64 }),
        (216, &number(-1), E::BeforeAllocation { have: -575 }),
        (
            216,
            &number(2561),
            E::BehindAllocation { need: 2560 * 576 - 256 + 575, have: 2560 * 576 },
        ),
    ];
    for (at, bytes, error) in cases {
        assert_eq!(changed(*at, bytes).as_ref(), Err(error), "at {at}");
    }
    for (at, text) in [(192, "must not be negative"), (216, "must fit 64 bits")] {
        let extreme = if at == 192 { -1 } else { i64::MAX };
        let refused = changed(at, &number(extreme)).unwrap_err();
        assert!(matches!(refused, E::Layout(_)), "{refused}");
        assert!(refused.to_string().contains(text), "{refused}");
    }
}

#[test]
fn what_identifies_is_carried() {
    let identified = changed(20, &[1; 76]).unwrap();
    let source = identified.source();
    assert_eq!((source.exporter.pid, source.buffer_id), (0x0101_0101, 0x0101_0101_0101_0101));
    assert_eq!((source.exporter.boot_id, source.device.bytes()), ([1; 16], [1; 16]));
    assert_eq!(source.nonce.bytes(), [1; 16]);
}

#[test]
fn every_length_but_the_right_one_is_refused() {
    let whole = image().encode();
    for length in 0..whole.len() {
        let refused = Descriptor::decode(&whole[..length]).unwrap_err();
        let is_named =
            matches!(refused, WireError::Truncated { .. } | WireError::Length { need: 240, .. });
        assert!(is_named, "{refused}");
        // Also if the length is made right.
        if length >= 20 {
            let refused = Descriptor::decode(&sealed(whole[..length].to_vec())).unwrap_err();
            assert!(matches!(refused, WireError::Truncated { .. }), "{refused}");
        }
    }
    let longer = [&whole[..], &[0]].concat();
    assert_eq!(Descriptor::decode(&longer), Err(WireError::Length { need: 240, have: 241 }));
    let refused = Descriptor::decode(&sealed(longer));
    assert_eq!(refused, Err(WireError::TrailingBytes { need: 240, have: 241 }));
}

#[test]
fn a_layout_that_does_not_fit_is_refused_before_it_is_written() {
    let make = |dtype, layout| Descriptor::new(source(), dtype, layout);
    let layout = StridedLayout::from_byte_strides(&[2], &[4], 4).unwrap();
    assert!(make(DType::F32, layout.clone()).is_ok());
    let refused = make(DType::U8, layout.clone());
    assert_eq!(refused, Err(WireError::ItemSize { need: 1, have: 4 }));
    let empty = StridedLayout::from_byte_strides(&[0, 5], &[i64::MAX, 4], 4).unwrap();
    let at = |offset| make(DType::F32, empty.with_byte_offset(offset).unwrap());
    assert!(at(2560 * 576).is_ok());
    let (need, have) = (2560 * 576 + 1, 2560 * 576);
    assert_eq!(at(2560 * 576 + 1), Err(WireError::BehindAllocation { need, have }));
    assert_eq!(at(-1), Err(WireError::BeforeAllocation { have: -1 }));
    let far = layout.with_byte_offset(i64::MAX - 7).unwrap();
    let refused = make(DType::F32, far);
    assert_eq!(refused, Err(WireError::BehindAllocation { need: 1 << 63, have }));
}

fn dtypes() -> impl Strategy<Value = DType> {
    (any::<u8>(), any::<u8>(), any::<u16>())
        .prop_filter_map("whole bytes", |(code, bits, lanes)| DType::new(code, bits, lanes).ok())
}

/// Makes descriptors of all kinds of layouts: reversed and broadcast axes, empty ones, none.
fn descriptors() -> impl Strategy<Value = Descriptor> {
    let axes = prop::collection::vec((0..5_i64, -1000..1000_i64), 0..7);
    let identity = (any::<[u8; 16]>(), any::<u64>(), any::<u32>(), any::<u64>());
    let names = (any::<[u8; 16]>(), any::<u64>(), any::<[u8; 16]>(), any::<[u8; 32]>());
    (identity, names, dtypes(), axes, 0..100_u64).prop_map(
        |(identity, names, dtype, axes, spare)| {
            let (shape, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            let layout = StridedLayout::from_byte_strides(&shape, &strides, dtype.size()).unwrap();
            let (first, last) = layout.byte_bounds().unwrap_or((0, -1));
            let layout = layout.with_byte_offset(-first).unwrap();
            let mut handle = [1; 64];
            handle[32..].copy_from_slice(&names.3);
            let (boot_id, pid_namespace, pid, start_time) = identity;
            let source = Source {
                exporter: Identity { boot_id, pid_namespace, pid, start_time },
                device: DeviceUuid::new(names.0),
                buffer_id: names.1,
                nonce: Nonce::from_bytes(names.2),
                handle: MemoryHandle::Legacy(handle),
                allocation_size: (last - first + 1).cast_unsigned() + spare,
            };
            Descriptor::new(source, dtype, layout).unwrap()
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read(descriptor in descriptors()) {
        let bytes = descriptor.encode();
        let read = Descriptor::decode(&bytes).unwrap();
        prop_assert_eq!(read.encode(), bytes);
        prop_assert_eq!(read, descriptor);
    }

    #[test]
    fn any_changed_byte_is_found(
        descriptor in descriptors(),
        at in any::<prop::sample::Index>(),
        change in 1..=u8::MAX,
    ) {
        let mut bytes = descriptor.encode();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        prop_assert!(Descriptor::decode(&bytes).is_err());
    }

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Descriptor::decode(&bytes).is_err());
    }

    /// Past magic, version, length and checksum every other field is random: whatever is read
    /// keeps its promise.
    #[test]
    fn what_is_read_lies_in_its_allocation(
        changes in prop::collection::vec((20..240_usize, any::<u8>()), 1..12),
        axes in 0..4_u8,
    ) {
        let mut bytes = image().encode();
        bytes[116] = axes;
        bytes.truncate(192 + 16 * usize::from(axes));
        for (at, byte) in changes {
            if let Some(target) = bytes.get_mut(at) {
                *target = byte;
            }
        }
        let bytes = sealed(bytes);
        if let Ok(read) = Descriptor::decode(&bytes) {
            prop_assert_eq!(read.encode(), bytes);
            if let Some((first, last)) = read.layout().byte_bounds() {
                prop_assert!(first >= 0);
                prop_assert!(last.cast_unsigned() < read.source().allocation_size);
            }
        }
    }
}
