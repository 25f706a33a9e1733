//! What a module is made of: the entries and variables that an image names.
//!
//! An image is PTX text, a cubin (an ELF file of NVIDIA's machine), a fat binary that holds several
//! of both, or what a linker made of several images. Only what a launch needs is read: names,
//! parameters, limits and variables. Instructions are not, so that a mistake in a kernel's body that
//! a compiler would refuse passes here.
//!
//! Nothing in here knows the driver. Images come from outside: whatever the bytes are, reading them
//! ends, and takes memory in proportion to them.

pub(crate) mod cubin;
pub(crate) mod fatbin;
pub(crate) mod linked;
pub(crate) mod ptx;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

/// Is what an image has to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The device's compute capability, as 90 for 9.0.
    pub(crate) capability: u32,
    /// The newest version of PTX that the driver reads, as 90 for 9.0.
    pub(crate) ptx: u32,
}

/// Is a parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parameter {
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// Is a kernel of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// Bytes of shared memory that each block has without asking.
    pub(crate) shared: usize,
    /// Bytes of constant memory that its image has, whether it names them or not (measured).
    pub(crate) constant: usize,
    /// Bytes of local memory that each thread has.
    pub(crate) local: usize,
    /// Registers of a thread; none if a compiler has yet to choose them.
    pub(crate) registers: Option<u32>,
    /// The most threads a block may have, in all.
    pub(crate) most_threads: Option<u32>,
    /// The shape that every block must have.
    pub(crate) block: Option<[u32; 3]>,
    /// The shape that every cluster must have.
    pub(crate) cluster: Option<[u32; 3]>,
    /// Whether it is launched with clusters only.
    pub(crate) needs_cluster: bool,
    /// The version of PTX, as 78 for 7.8; the capability of a cubin that doesn't say it.
    pub(crate) ptx: u32,
    /// The capability that it was compiled for, as 90 for 9.0.
    pub(crate) capability: u32,
}

impl Entry {
    /// Returns how many bytes all parameters take.
    pub(crate) fn parameter_bytes(&self) -> usize {
        self.parameters.iter().map(|each| each.offset.saturating_add(each.size)).max().unwrap_or(0)
    }
}

/// Is where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VariableSpace {
    Global,
    Constant,
    Managed,
}

/// Is a place in a variable's bytes that holds another variable's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) offset: usize,
    pub(crate) variable: String,
    pub(crate) addend: i64,
}

/// Is a variable of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) space: VariableSpace,
    pub(crate) size: usize,
    pub(crate) alignment: usize,
    /// Its first bytes; the rest is zero.
    pub(crate) bytes: Vec<u8>,
    pub(crate) addresses: Vec<Address>,
    /// Whether another image has it.
    pub(crate) is_external: bool,
}

/// Is an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) entries: Vec<Entry>,
    pub(crate) variables: Vec<Variable>,
}

/// Is why an image can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ImageError {
    /// The bytes are no image.
    Unknown(String),
    /// The PTX is wrong.
    Syntax { line: usize, text: String },
    /// The PTX is newer than the driver.
    Version { needs: u32, has: u32 },
    /// Nothing in it runs on the device.
    Target { needs: String, has: u32 },
    /// The PTX is for other devices.
    PtxTarget { needs: String, has: u32 },
    /// A name is missing, or stands twice.
    Name(String),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = |number: &u32| format!("{}.{}", number / 10, number % 10);
        match self {
            Self::Unknown(text) => write!(f, "no image: {text}"),
            Self::Syntax { line, text } => write!(f, "line {line} of the PTX: {text}"),
            Self::Version { needs, has } => {
                let (needs, has) = (version(needs), version(has));
                write!(f, "the PTX is of version {needs}, and the driver reads up to {has}")
            }
            Self::Target { needs, has } | Self::PtxTarget { needs, has } => {
                write!(f, "the code is for {needs}, and the device is an sm_{has}")
            }
            Self::Name(text) => f.write_str(text),
        }
    }
}

impl Image {
    /// Reads an image, whichever its form.
    pub(crate) fn read(bytes: &[u8], target: Target) -> Result<Self, ImageError> {
        let image = Self::read_part(bytes, target)?;
        image.check()
    }

    /// Reads an image that may lack what others have.
    pub(crate) fn read_part(bytes: &[u8], target: Target) -> Result<Self, ImageError> {
        match bytes {
            [0x7f, b'E', b'L', b'F', ..] => cubin::read(bytes, target),
            _ if fatbin::is_one(bytes) => fatbin::read(bytes, target),
            _ if linked::is_one(bytes) => linked::read(bytes, target),
            _ if ptx::is_one(bytes) => ptx::read(bytes, target),
            _ => Err(ImageError::Unknown("neither PTX, nor ELF, nor a fat binary".to_owned())),
        }
    }

    /// Joins images as a linker does: a name that one declares is one that another has.
    pub(crate) fn join(images: Vec<Self>) -> Result<Self, ImageError> {
        let mut joined = Self::default();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for image in images {
            joined.entries.extend(image.entries);
            for variable in image.variables {
                let place = places.get(&variable.name).copied();
                match place.and_then(|place| joined.variables.get_mut(place)) {
                    Some(known) if known.is_external => *known = variable,
                    Some(_) if variable.is_external => {}
                    Some(_) => return Err(twice(&variable.name)),
                    None => {
                        places.insert(variable.name.clone(), joined.variables.len());
                        joined.variables.push(variable);
                    }
                }
            }
        }
        Ok(joined)
    }

    /// Refuses an image that lacks something, or has it twice.
    pub(crate) fn check(mut self) -> Result<Self, ImageError> {
        let mut names = BTreeMap::new();
        for entry in &self.entries {
            if names.insert(entry.name.as_str(), ()).is_some() {
                return Err(twice(&entry.name));
            }
        }
        for variable in &self.variables {
            if names.insert(variable.name.as_str(), ()).is_some() {
                return Err(twice(&variable.name));
            }
            if variable.is_external {
                let name = &variable.name;
                return Err(ImageError::Name(format!("the variable `{name}` is nowhere defined")));
            }
        }
        let is_constant = |variable: &&Variable| variable.space == VariableSpace::Constant;
        let constants = self.variables.iter().filter(is_constant).map(|variable| variable.size);
        let constant = constants.fold(0, usize::saturating_add);
        for entry in &mut self.entries {
            entry.constant = constant;
        }
        Ok(self)
    }
}

fn twice(name: &str) -> ImageError {
    ImageError::Name(format!("`{name}` is defined twice"))
}
