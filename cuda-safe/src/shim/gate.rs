//! The checks, one small function each. None of them calls the driver.

use core::ops::{Add, Mul};

use cuda_sys::{CUresult, Slot};

use super::Contract;
use super::area::Area;
use super::callback::outside;
use super::operand::{Extent, Operand, Volume};
use super::region::Kind;
use crate::error::{Error, Quantity, Result, Rule};

/// Takes the function from its slot.
#[inline]
pub(crate) fn present<F: Copy>(call: &'static Contract, slot: &'static Slot<F>) -> Result<F> {
    outside(call.symbol)?;
    found(call.symbol, slot)
}

/// Takes the function from its slot, for a call without a contract.
#[inline]
pub(super) fn found<F: Copy>(call: &'static str, slot: &'static Slot<F>) -> Result<F> {
    slot.get().map_err(|why| Error::unavailable(call, why))
}

/// Makes an error of an answer that is not success.
#[inline]
pub(crate) fn check(call: &'static Contract, code: CUresult) -> Result<()> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(Error::driver(call.symbol, code)) }
}

/// Is a number of bytes, or none once it does not fit the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(Option<usize>);

impl Size {
    pub(crate) fn of(number: impl TryInto<usize>) -> Self {
        Self(number.try_into().ok())
    }

    /// Takes an item of a list of numbers.
    pub(crate) fn item<T: Copy + TryInto<usize>>(list: &[T], index: usize) -> Self {
        Self(list.get(index).copied().and_then(|number| number.try_into().ok()))
    }

    pub(super) fn quantity(self) -> Quantity {
        self.0.map_or(Quantity::Overflow, Quantity::from)
    }
}

impl Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.zip(other.0).and_then(|(left, right)| left.checked_add(right)))
    }
}

impl Mul for Size {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self(self.0.zip(other.0).and_then(|(left, right)| left.checked_mul(right)))
    }
}

#[cold]
fn refuse(
    call: &'static Contract,
    operand: &Operand<'_>,
    rule: Rule,
    need: Quantity,
    have: Quantity,
) -> Error {
    Error::refused(call.symbol, operand.name, rule, need, have)
}

/// Turns a length into the C type of its parameter.
#[inline]
pub(crate) fn fit<T: TryFrom<usize>>(
    call: &'static Contract,
    parameter: &'static str,
    number: usize,
) -> Result<T> {
    T::try_from(number).map_err(|_| {
        let most = largest::<T>().into();
        Error::refused(call.symbol, parameter, Rule::Fit, number.into(), most)
    })
}

/// Returns the largest number that the type holds.
#[cold]
fn largest<T: TryFrom<usize>>() -> usize {
    let mut most = usize::MAX;
    while T::try_from(most).is_err() {
        most >>= 1;
    }
    most
}

/// Divides a length into words, without a rest.
#[inline]
pub(crate) fn quotient(
    call: &'static Contract,
    operand: &'static str,
    number: usize,
    word: usize,
) -> Result<usize> {
    match (number.checked_div(word), number.checked_rem(word)) {
        (Some(words), Some(0)) => Ok(words),
        _ => {
            let (need, have) = (number.div_ceil(word) * word, number);
            Err(Error::refused(call.symbol, operand, Rule::Quotient, need.into(), have.into()))
        }
    }
}

/// Lets a call reach `count` bytes from the operand's address on.
#[inline]
pub(crate) fn bytes(call: &'static Contract, operand: &mut Operand<'_>, count: Size) -> Result<()> {
    match count.0 {
        Some(count) if count <= operand.region.len => {
            operand.area = Area::bytes(operand.offset(), count);
            Ok(())
        }
        _ => {
            let have = operand.region.len.into();
            Err(refuse(call, operand, Rule::Reach, count.quantity(), have))
        }
    }
}

/// Lets a call reach `height` rows of `width` bytes, `pitch` bytes apart. The last row needs no
/// padding.
#[inline]
pub(crate) fn rows(
    call: &'static Contract,
    operand: &mut Operand<'_>,
    pitch: Size,
    width: Size,
    height: Size,
) -> Result<()> {
    let (Some(step), Some(columns), Some(lines)) = (pitch.0, width.0, height.0) else {
        let have = operand.region.len.into();
        return Err(refuse(call, operand, Rule::Reach, Quantity::Overflow, have));
    };
    if lines > 1 && columns > step {
        return Err(refuse(call, operand, Rule::Pitch, columns.into(), step.into()));
    }
    let reach = match lines.checked_sub(1) {
        Some(before) if columns > 0 => pitch * Size::of(before) + width,
        _ => Size(Some(0)),
    };
    match reach.0 {
        Some(reach) if reach <= operand.region.len => {
            operand.area = Area::rows(operand.offset(), step, columns, lines);
            Ok(())
        }
        _ => {
            let have = operand.region.len.into();
            Err(refuse(call, operand, Rule::Reach, reach.quantity(), have))
        }
    }
}

/// Lets a copy of rows reach its extent, at the operand's own pitch.
#[inline]
pub(crate) fn extent(
    call: &'static Contract,
    operand: &mut Operand<'_>,
    extent: Extent,
) -> Result<()> {
    let pitch = Size::of(operand.region.pitch);
    rows(call, operand, pitch, Size::of(extent.width), Size::of(extent.height))
}

/// Lets a copy of planes reach its extent, at the operand's own pitch and distance of planes.
///
/// Rows between the planes count as touched: a record knows boxes of rows.
#[inline]
pub(crate) fn volume(
    call: &'static Contract,
    operand: &mut Operand<'_>,
    extent: Volume,
) -> Result<()> {
    let Volume { width, height, depth } = extent;
    let plane = operand.region.plane;
    if depth > 1 && height > plane {
        return Err(refuse(call, operand, Rule::Pitch, height.into(), plane.into()));
    }
    let (pitch, width) = (Size::of(operand.region.pitch), Size::of(width));
    let rows = match depth.checked_sub(1) {
        Some(before) if height > 0 => Size::of(before) * Size::of(plane) + Size::of(height),
        _ => Size(Some(0)),
    };
    self::rows(call, operand, pitch, width, rows)
}

/// Lets only a whole allocation pass.
#[inline]
pub(crate) fn base(call: &'static Contract, operand: &mut Operand<'_>) -> Result<()> {
    let Some((allocation, offset)) = operand.region.allocation else {
        let (need, have) = (Quantity::Word("a whole allocation"), Quantity::Word("a part"));
        return Err(refuse(call, operand, Rule::Base, need, have));
    };
    if offset != 0 {
        let (need, have) = (Quantity::Word("offset 0"), offset.into());
        return Err(refuse(call, operand, Rule::Base, need, have));
    }
    if operand.region.len != allocation.len() {
        let (need, have) = (allocation.len().into(), operand.region.len.into());
        return Err(refuse(call, operand, Rule::Base, need, have));
    }
    operand.area = Area::bytes(0, allocation.len());
    Ok(())
}

/// Lets an operand pass of which nobody can say which bytes are touched: all of its allocation
/// count as such.
pub(crate) fn opaque(operand: &mut Operand<'_>) {
    operand.area = match operand.region.allocation {
        Some((allocation, _)) => Area::bytes(0, allocation.len()),
        None => Area::bytes(0, operand.region.len),
    };
}

/// Lets only addresses, and pitches of several rows, that are multiples of `alignment` pass.
#[inline]
pub(crate) fn align(
    call: &'static Contract,
    operand: &Operand<'_>,
    alignment: usize,
) -> Result<()> {
    let several = operand.region.height > 1;
    for number in [operand.region.address, if several { operand.region.pitch } else { 0 }] {
        if number & alignment.wrapping_sub(1) != 0 {
            let have = 1_usize << number.trailing_zeros();
            return Err(refuse(call, operand, Rule::Align, alignment.into(), have.into()));
        }
    }
    Ok(())
}

/// Lets only memory pass that was allocated so.
#[inline]
pub(crate) fn kind(call: &'static Contract, operand: &Operand<'_>, kind: Kind) -> Result<()> {
    if operand.region.kind == kind {
        return Ok(());
    }
    let (need, have) = (Quantity::Word(kind.name()), Quantity::Word(operand.region.kind.name()));
    Err(refuse(call, operand, Rule::Kind, need, have))
}

/// Lets only operands pass of which none writes bytes of another. Allocations are compared, not
/// addresses: one allocation may have several.
#[inline]
pub(crate) fn disjoint(call: &'static Contract, operands: &[&Operand<'_>]) -> Result<()> {
    let mut rest = operands;
    while let Some((first, behind)) = rest.split_first() {
        for second in behind {
            if first.access.conflicts(second.access) && share_a_byte(first, second) {
                let need = Quantity::Word("bytes of its own");
                let have = Quantity::BytesOf(first.name);
                return Err(refuse(call, second, Rule::Disjoint, need, have));
            }
        }
        rest = behind;
    }
    Ok(())
}

fn share_a_byte(first: &Operand<'_>, second: &Operand<'_>) -> bool {
    match (first.allocation(), second.allocation()) {
        (Some(one), Some(other)) => one.id() == other.id() && first.area.overlaps(&second.area),
        // What has no record is borrowed, and the borrow checker has looked at it.
        _ => false,
    }
}

#[cfg(test)]
mod tests;
