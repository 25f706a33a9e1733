//! Kernels of PTX: parameters, limits, and what their bodies declare.

use std::collections::BTreeSet;

use super::variable::scalar;
use super::word::error;
use super::{Entry, ImageError, Reader};
use crate::engine::binary::Parameter;

/// How many bytes the parameters of a kernel may have in all.
const MOST_PARAMETER_BYTES: usize = 32764;

impl Reader<'_> {
    /// Reads a kernel, up to the end of its body.
    pub(super) fn entry(&mut self) -> Result<Entry, ImageError> {
        self.at += 1;
        let mut entry = Entry {
            name: self.name()?.to_owned(),
            ptx: self.version,
            capability: self.capability,
            ..Entry::default()
        };
        if self.take("(") {
            self.parameters(&mut entry)?;
        }
        loop {
            match self.peek() {
                "{" => {
                    self.body(&mut entry)?;
                    return Ok(entry);
                }
                // A declaration without a body is a kernel of nothing.
                ";" => return Err(self.wrong("a kernel's body")),
                _ => self.limit(&mut entry)?,
            }
        }
    }

    fn parameters(&mut self, entry: &mut Entry) -> Result<(), ImageError> {
        let mut end = 0_usize;
        while !self.take(")") {
            let parameter = self.parameter(end)?;
            end = parameter.offset + parameter.size;
            if end > MOST_PARAMETER_BYTES {
                return Err(error(
                    self.line(),
                    format!("over {MOST_PARAMETER_BYTES} bytes of parameters"),
                ));
            }
            entry.parameters.push(parameter);
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(())
    }

    /// Reads a parameter that comes behind `end` bytes of others.
    fn parameter(&mut self, end: usize) -> Result<Parameter, ImageError> {
        self.expect(".param")?;
        let (mut size, mut alignment, mut lanes) = (None, None, 1);
        let mut pointer = false;
        while self.peek().starts_with('.') {
            match self.peek() {
                ".ptr" => pointer = true,
                ".global" | ".const" | ".shared" | ".local" | ".generic" => {}
                ".v2" => lanes = 2,
                ".v4" => lanes = 4,
                ".align" => {
                    self.at += 1;
                    let number = self.alignment()?;
                    // Behind `.ptr` it is that of what is pointed to.
                    if !pointer {
                        alignment = Some(number);
                    }
                    continue;
                }
                word => match scalar(word) {
                    Some(ty) => size = Some(ty.size),
                    None => return Err(self.wrong("a parameter's type")),
                },
            }
            self.at += 1;
        }
        let size = size.ok_or_else(|| self.wrong("a parameter's type"))? * lanes;
        self.name()?;
        let (dimensions, open) = self.dimensions()?;
        let total = dimensions.iter().try_fold(size, |size, &next| size.checked_mul(next));
        let total = total.filter(|&total| !open && total <= MOST_PARAMETER_BYTES);
        let total = total.ok_or_else(|| error(self.line(), "a parameter of too many bytes"))?;
        let offset = end.next_multiple_of(alignment.unwrap_or(size));
        Ok(Parameter { offset, size: total })
    }

    /// Reads a directive between a kernel's parameters and its body.
    fn limit(&mut self, entry: &mut Entry) -> Result<(), ImageError> {
        match self.next() {
            ".maxntid" => {
                let shape = self.shape()?;
                entry.most_threads = Some(shape.iter().fold(1, |all, n| n.saturating_mul(all)));
            }
            ".reqntid" => entry.block = Some(self.shape()?),
            ".reqnctapercluster" => entry.cluster = Some(self.shape()?),
            ".explicitcluster" => entry.needs_cluster = true,
            ".maxnreg" => entry.registers = u32::try_from(self.number()?).ok(),
            ".minnctapersm"
            | ".maxnctapersm"
            | ".maxclusterrank"
            | ".abi_preserve"
            | ".abi_preserve_control" => {
                self.number()?;
            }
            ".noreturn" | ".blocksareclusters" => {}
            ".pragma" => self.skip_statement()?,
            _ => {
                self.at -= 1;
                return Err(self.wrong("a limit or a body"));
            }
        }
        Ok(())
    }

    /// Reads up to three numbers; those that are left out are one.
    fn shape(&mut self) -> Result<[u32; 3], ImageError> {
        let mut shape = [1; 3];
        for (position, extent) in shape.iter_mut().enumerate() {
            if position > 0 && !self.take(",") {
                break;
            }
            let number = self.number()?;
            *extent = u32::try_from(number).map_err(|_| error(self.line(), "a block too large"))?;
        }
        Ok(shape)
    }

    /// Passes a body, and notes the shared and local memory that it declares or names.
    fn body(&mut self, entry: &mut Entry) -> Result<(), ImageError> {
        self.expect("{")?;
        let mut depth = 1_usize;
        let mut named = BTreeSet::new();
        while depth > 0 {
            match self.peek() {
                "" => return Err(self.wrong("`}`")),
                "{" => depth += 1,
                "}" => depth -= 1,
                space @ (".shared" | ".local") => {
                    let is_shared = space == ".shared";
                    let place = if is_shared { &mut entry.shared } else { &mut entry.local };
                    for (_, size) in self.sizes()? {
                        *place = place.saturating_add(size);
                    }
                    continue;
                }
                word => {
                    if let Some(&size) = self.shared.get(word)
                        && named.insert(word)
                    {
                        entry.shared = entry.shared.saturating_add(size);
                    }
                }
            }
            self.at += 1;
        }
        Ok(())
    }
}
