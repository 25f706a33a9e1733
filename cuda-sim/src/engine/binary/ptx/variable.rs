//! Variables of PTX, with what they are initialised to.

use super::number::number;
use super::word::error;
use super::{ImageError, Reader, Variable};
use crate::engine::binary::{Address, VariableSpace};

/// Is the type of a variable or parameter: how many bytes an element has, and whether it is a float.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type {
    pub(super) size: usize,
    is_float: bool,
}

/// How many dimensions an array may have.
const MOST_DIMENSIONS: usize = 16;

/// Returns the type that a directive names.
pub(super) fn scalar(directive: &str) -> Option<Type> {
    let is_float = directive.starts_with(".f") || directive.starts_with(".bf");
    let size = match directive {
        ".u8" | ".s8" | ".b8" => 1,
        ".u16" | ".s16" | ".b16" | ".f16" | ".bf16" => 2,
        ".u32" | ".s32" | ".b32" | ".f32" | ".f16x2" | ".bf16x2" | ".tf32" => 4,
        ".u64" | ".s64" | ".b64" | ".f64" => 8,
        ".b128" => 16,
        // References to textures and the like are as long as a handle.
        ".texref" | ".samplerref" | ".surfref" => 8,
        _ => return None,
    };
    // Half floats are written by their bits.
    Some(Type { size, is_float: is_float && matches!(directive, ".f32" | ".f64") })
}

/// Is what stands before the names of variables.
struct Declaration {
    space: Option<VariableSpace>,
    alignment: usize,
    ty: Type,
    /// How many elements a vector has.
    lanes: usize,
}

impl<'a> Reader<'a> {
    /// Reads a declaration of variables, up to its semicolon.
    pub(super) fn variables(&mut self, is_external: bool) -> Result<Vec<Variable>, ImageError> {
        let declaration = self.declaration()?;
        let mut variables = Vec::new();
        loop {
            variables.extend(self.variable(&declaration, is_external)?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(variables)
    }

    /// Reads a declaration, and returns the names and sizes that it declares.
    pub(super) fn sizes(&mut self) -> Result<Vec<(&'a str, usize)>, ImageError> {
        let declaration = self.declaration()?;
        let mut sizes = Vec::new();
        loop {
            let name = self.name()?;
            let (dimensions, _) = self.dimensions()?;
            let size = self.size(&declaration, &dimensions)?;
            sizes.push((name, size.next_multiple_of(declaration.alignment)));
            if !self.take(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(sizes)
    }

    fn declaration(&mut self) -> Result<Declaration, ImageError> {
        let mut space = match self.next() {
            ".const" => Some(VariableSpace::Constant),
            ".global" => Some(VariableSpace::Global),
            _ => None,
        };
        let (mut alignment, mut lanes) = (None, 1);
        let ty = loop {
            match self.peek() {
                ".align" => {
                    self.at += 1;
                    alignment = Some(self.alignment()?);
                }
                ".attribute" => {
                    self.at += 1;
                    if self.attribute()? {
                        space = Some(VariableSpace::Managed);
                    }
                }
                ".v2" | ".v4" | ".v8" => {
                    lanes = number_of_lanes(self.next());
                }
                directive => match scalar(directive) {
                    Some(ty) => {
                        self.at += 1;
                        break ty;
                    }
                    None => return Err(self.wrong("a type")),
                },
            }
        };
        let alignment = alignment.unwrap_or(ty.size * lanes);
        Ok(Declaration { space, alignment, ty, lanes })
    }

    /// Reads an alignment: a power of two.
    pub(super) fn alignment(&mut self) -> Result<usize, ImageError> {
        let alignment = self.number()?;
        if !alignment.is_power_of_two() || alignment > 1 << 16 {
            self.at -= 1;
            return Err(self.wrong("a power of two"));
        }
        Ok(alignment)
    }

    /// Passes an attribute, and tells whether it is that of managed memory.
    fn attribute(&mut self) -> Result<bool, ImageError> {
        self.expect("(")?;
        let (mut depth, mut managed) = (1_usize, false);
        while depth > 0 {
            match self.next() {
                "" => return Err(self.wrong("`)`")),
                "(" => depth += 1,
                ")" => depth -= 1,
                ".managed" => managed = true,
                _ => {}
            }
        }
        Ok(managed)
    }

    /// Reads the dimensions behind a name; whether the first is left open.
    pub(super) fn dimensions(&mut self) -> Result<(Vec<usize>, bool), ImageError> {
        let (mut dimensions, mut open) = (Vec::new(), false);
        while self.take("[") {
            if dimensions.is_empty() && self.take("]") {
                open = true;
                dimensions.push(0);
                continue;
            }
            dimensions.push(self.number()?);
            self.expect("]")?;
            if dimensions.len() > MOST_DIMENSIONS {
                return Err(error(self.line(), "an array of too many dimensions"));
            }
        }
        Ok((dimensions, open))
    }

    fn size(&self, declaration: &Declaration, dimensions: &[usize]) -> Result<usize, ImageError> {
        let one = declaration.ty.size * declaration.lanes;
        let size = dimensions.iter().try_fold(one, |size, &next| size.checked_mul(next));
        // So long that no address reaches its end.
        size.filter(|&size| size < 1 << 47).ok_or_else(|| error(self.line(), "too many bytes"))
    }

    fn variable(
        &mut self,
        declaration: &Declaration,
        is_external: bool,
    ) -> Result<Option<Variable>, ImageError> {
        let name = self.name()?;
        let (mut dimensions, open) = self.dimensions()?;
        if declaration.lanes > 1 {
            dimensions.push(declaration.lanes);
        }
        let scalar = Declaration { lanes: 1, ..*declaration };
        let mut size = self.size(&scalar, &dimensions)?;
        let mut contents = Contents { bytes: Vec::new(), addresses: Vec::new() };
        if self.take("=") {
            let inner = dimensions.iter().skip(1);
            let inner = inner.fold(declaration.ty.size, |size, &next| size.saturating_mul(next));
            let end = self.value(declaration.ty, &dimensions, 0, open, &mut contents)?;
            if open {
                let whole = end.checked_next_multiple_of(inner.max(1));
                size = whole.ok_or_else(|| error(self.line(), "too many bytes"))?;
            } else if end > size {
                return Err(error(self.line(), format!("more values than `{name}` has room for")));
            }
        }
        let Some(space) = declaration.space else { return Ok(None) };
        Ok(Some(Variable {
            name: name.to_owned(),
            space,
            size,
            alignment: declaration.alignment,
            bytes: contents.bytes,
            addresses: contents.addresses,
            is_external,
        }))
    }

    /// Reads a value, or values in braces, that begin at an offset; returns where they end.
    fn value(
        &mut self,
        ty: Type,
        dimensions: &[usize],
        offset: usize,
        open: bool,
        contents: &mut Contents,
    ) -> Result<usize, ImageError> {
        if !self.take("{") {
            return self.single(ty, offset, contents);
        }
        let Some((&count, inner)) = dimensions.split_first() else {
            return Err(error(self.line(), "braces in the place of one value"));
        };
        let step = inner.iter().fold(ty.size, |size, &next| size.saturating_mul(next));
        let end = offset.saturating_add(step.saturating_mul(count));
        let mut at = offset;
        while !self.take("}") {
            // Without braces of their own, inner elements follow each other.
            let is_inner = self.peek() == "{";
            let next = self.value(ty, inner, at, false, contents)?;
            at = if is_inner { at.saturating_add(step) } else { next };
            if at > end && !open {
                return Err(error(self.line(), "more values than there is room for"));
            }
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(at)
    }

    fn single(
        &mut self,
        ty: Type,
        offset: usize,
        contents: &mut Contents,
    ) -> Result<usize, ImageError> {
        let end = offset.saturating_add(ty.size);
        let is_negative = self.take("-");
        let bytes = match number(self.peek()) {
            Some(number) => {
                self.at += 1;
                if self.peek() == "(" {
                    return Err(self.wrong("no masked address: those are not read, but `,`"));
                }
                number.bytes(ty.size, ty.is_float, is_negative)
            }
            None => {
                let address = self.address(offset)?;
                contents.addresses.push(address);
                vec![0; ty.size]
            }
        };
        let grows = end.saturating_sub(contents.bytes.len());
        let left = self.left.checked_sub(grows);
        self.left = left.ok_or_else(|| error(self.line(), "values that are too far apart"))?;
        if grows > 0 {
            contents.bytes.resize(end, 0);
        }
        for (place, byte) in contents.bytes.iter_mut().skip(offset).zip(bytes) {
            *place = byte;
        }
        Ok(end)
    }

    /// Reads the address of a variable: `name`, `generic(name)`, either with a number added.
    fn address(&mut self, offset: usize) -> Result<Address, ImageError> {
        let mut variable = self.name()?;
        if variable == "generic" && self.take("(") {
            variable = self.name()?;
            self.expect(")")?;
        }
        let sign = if self.take("+") {
            1
        } else if self.take("-") {
            -1
        } else {
            0
        };
        let addend = if sign == 0 { 0 } else { i64::try_from(self.number()?).unwrap_or(0) * sign };
        Ok(Address { offset, variable: variable.to_owned(), addend })
    }
}

/// Is what a variable is initialised to.
struct Contents {
    bytes: Vec<u8>,
    addresses: Vec<Address>,
}

fn number_of_lanes(directive: &str) -> usize {
    match directive {
        ".v2" => 2,
        ".v4" => 4,
        _ => 8,
    }
}
