//! Each gate alone: what it lets through, and what it says of the rest. No driver.

use cuda_sys::Version;

use super::super::Contract;
use super::super::area::Area;
use super::super::descriptor::null;
use super::super::operand::{Access, Extent, Operand, Until};
use super::super::region::{Allocation, Kind, Region};
use super::super::settle::settle_host;
use super::{Size, align, base, bytes, disjoint, extent, fit, kind, opaque, quotient, rows};
use crate::error::Result;

const CALL: &Contract =
    &Contract { symbol: "call", since: Version::new(11, 0), order: None, rows: &[] };

fn operand(region: Region<'_>) -> Operand<'_> {
    Operand { name: "dst", access: Access::Write, until: Until::Stream, region, area: Area::EMPTY }
}

fn region(len: usize) -> Region<'static> {
    Region::new(4096, len, Kind::Alloc)
}

fn text<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn bytes_reach_the_length_and_no_further() {
    let mut dst = operand(region(8));
    assert_eq!(bytes(CALL, &mut dst, Size::of(8)), Ok(()));
    assert_eq!(dst.area, Area::bytes(0, 8));
    let answer = bytes(CALL, &mut dst, Size::of(9));
    assert_eq!(text(answer), "call: `dst` breaks Reach: needs 9, has 8");
    let answer = bytes(CALL, &mut dst, Size::of(usize::MAX) * Size::of(2));
    assert_eq!(text(answer), "call: `dst` breaks Reach: needs more than can be counted, has 8");
    let answer = bytes(CALL, &mut dst, Size::of(-1));
    assert_eq!(text(answer), "call: `dst` breaks Reach: needs more than can be counted, has 8");
}

#[test]
fn rows_need_no_padding_behind_the_last() {
    let size = |number: usize| Size::of(number);
    // 3 rows of 40 bytes in 64: 2 * 64 + 40.
    let mut dst = operand(region(168));
    assert_eq!(rows(CALL, &mut dst, size(64), size(40), size(3)), Ok(()));
    assert_eq!(dst.area, Area::rows(0, 64, 40, 3));
    let mut short = operand(region(167));
    let answer = rows(CALL, &mut short, size(64), size(40), size(3));
    assert_eq!(text(answer), "call: `dst` breaks Reach: needs 168, has 167");
    let answer = rows(CALL, &mut dst, size(39), size(40), size(3));
    assert_eq!(text(answer), "call: `dst` breaks Pitch: needs 40, has 39");
    // The pitch of one row means nothing; nor do rows without bytes.
    assert_eq!(rows(CALL, &mut dst, size(0), size(168), size(1)), Ok(()));
    assert_eq!(rows(CALL, &mut dst, size(1000), size(0), size(1000)), Ok(()));
    assert_eq!(rows(CALL, &mut dst, size(1000), size(1000), size(0)), Ok(()));
    // With three rows the product is too large, with two the sum.
    for lines in [3, 2] {
        let answer = text(rows(CALL, &mut dst, size(usize::MAX), size(40), size(lines)));
        assert_eq!(answer, "call: `dst` breaks Reach: needs more than can be counted, has 168");
    }
}

#[test]
fn an_extent_uses_the_operands_own_pitch() {
    let mut dst = operand(region(168).with_rows(64, 40, 3));
    assert_eq!(extent(CALL, &mut dst, Extent { width: 40, height: 3 }), Ok(()));
    let answer = extent(CALL, &mut dst, Extent { width: 41, height: 3 });
    assert_eq!(text(answer), "call: `dst` breaks Reach: needs 169, has 168");
}

#[test]
fn addresses_and_pitches_are_aligned() {
    let region = Region::new(4098, 100, Kind::Alloc);
    assert_eq!(align(CALL, &operand(region), 2), Ok(()));
    let answer = align(CALL, &operand(region), 4);
    assert_eq!(text(answer), "call: `dst` breaks Align: needs 4, has 2");
    let pitched = Region::new(4096, 100, Kind::Alloc).with_rows(10, 4, 2);
    let answer = align(CALL, &operand(pitched), 4);
    assert_eq!(text(answer), "call: `dst` breaks Align: needs 4, has 2");
    assert_eq!(align(CALL, &operand(pitched.with_rows(10, 4, 1)), 4), Ok(()));
}

#[test]
fn only_a_whole_allocation_is_a_base() {
    let allocation = Allocation::new(16);
    let mut whole = operand(region(16).within(&allocation, 0));
    assert_eq!(base(CALL, &mut whole), Ok(()));
    assert_eq!(whole.area, Area::bytes(0, 16));
    let mut part = operand(region(8).within(&allocation, 0));
    let answer = base(CALL, &mut part);
    assert_eq!(text(answer), "call: `dst` breaks Base: needs 16, has 8");
    let mut inside = operand(region(8).within(&allocation, 8));
    let answer = base(CALL, &mut inside);
    assert_eq!(text(answer), "call: `dst` breaks Base: needs offset 0, has 8");
    let answer = base(CALL, &mut operand(region(8)));
    assert_eq!(text(answer), "call: `dst` breaks Base: needs a whole allocation, has a part");
}

#[test]
fn an_opaque_operand_is_all_of_its_allocation() {
    let allocation = Allocation::new(16);
    let mut part = operand(region(8).within(&allocation, 8));
    opaque(&mut part);
    assert_eq!(part.area, Area::bytes(0, 16));
}

#[test]
fn a_kind_is_that_kind() {
    assert_eq!(kind(CALL, &operand(region(1)), Kind::Alloc), Ok(()));
    let answer = kind(CALL, &operand(region(1)), Kind::SharedPool);
    assert_eq!(text(answer), "call: `dst` breaks Kind: needs SharedPool, has Alloc");
}

#[test]
fn numbers_fit_and_divide() {
    assert_eq!(fit::<u32>(CALL, "count", 7), Ok(7));
    let answer = fit::<u8>(CALL, "count", 256);
    assert_eq!(text(answer), "call: `count` breaks Fit: needs 256, has 255");
    let answer = fit::<i32>(CALL, "count", 1 << 31);
    assert_eq!(text(answer), "call: `count` breaks Fit: needs 2147483648, has 2147483647");
    assert_eq!(quotient(CALL, "dst", 12, 4), Ok(3));
    let answer = quotient(CALL, "dst", 13, 4);
    assert_eq!(text(answer), "call: `dst` breaks Quotient: needs 16, has 13");
    assert_eq!(null::<*const core::ffi::c_void>(), core::ptr::null());
}

#[test]
fn written_bytes_are_no_other_operands() {
    let (one, other) = (Allocation::new(64), Allocation::new(64));
    let make = |allocation, start, access| {
        let area = Area::bytes(start, 16);
        let region = region(16).within(allocation, start);
        Operand { area, access, name: "src", ..operand(region) }
    };
    let dst = Operand { name: "dst", ..make(&one, 0, Access::Write) };
    let behind = make(&one, 16, Access::Read);
    let across = make(&one, 15, Access::Read);
    assert_eq!(disjoint(CALL, &[&dst, &behind]), Ok(()));
    assert_eq!(disjoint(CALL, &[&dst, &make(&other, 0, Access::Read)]), Ok(()));
    assert_eq!(disjoint(CALL, &[&across, &behind]), Ok(()));
    let answer = disjoint(CALL, &[&dst, &across]);
    let needs = "call: `src` breaks Disjoint: needs bytes of its own, has bytes of `dst`";
    assert_eq!(text(answer), needs);
    assert_eq!(
        text(disjoint(CALL, &[&across, &behind, &dst])),
        needs.replace("src", "DST").replace("dst", "src").replace("DST", "dst")
    );
}

#[test]
fn nothing_is_waited_for_where_nothing_was_used() {
    let allocation = Allocation::new(16);
    let whole = operand(region(16).within(&allocation, 0));
    assert_eq!(settle_host(CALL, &[&whole]), Ok(()));
}
