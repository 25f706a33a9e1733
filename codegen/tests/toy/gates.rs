//! The toy's gates.

use super::*;

pub fn bytes(call: &Contract, operand: &mut Operand<'_>, bytes: Size) -> Result<()> {
    step("reach");
    let (name, len) = (operand.name, operand.len);
    if bytes.0 <= len { Ok(()) } else { Err(format!("{name}: needs {}, has {len}", bytes.0)) }
}
pub fn rows(c: &Contract, o: &mut Operand<'_>, p: Size, w: Size, h: Size) -> Result<()> {
    step("reach");
    Ok(())
}
pub fn extent(call: &Contract, operand: &mut Operand<'_>, extent: Extent) -> Result<()> {
    step("reach");
    Ok(())
}
pub fn volume(call: &Contract, operand: &mut Operand<'_>, extent: Volume) -> Result<()> {
    step("volume");
    Ok(())
}
pub fn base(call: &Contract, operand: &mut Operand<'_>) -> Result<()> {
    step("base");
    Ok(())
}
pub fn opaque(operand: &mut Operand<'_>) {
    step("opaque");
}
pub fn align(call: &Contract, operand: &Operand<'_>, alignment: usize) -> Result<()> {
    step("align");
    Ok(())
}
pub fn kind(call: &Contract, operand: &Operand<'_>, kind: u32) -> Result<()> {
    step("kind");
    Ok(())
}
pub fn disjoint(call: &Contract, operands: &[&Operand<'_>]) -> Result<()> {
    step("disjoint");
    Ok(())
}
