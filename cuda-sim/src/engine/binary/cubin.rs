//! Cubins: ELF files of NVIDIA's machine.
//!
//! Read are the symbol table (kernels are functions that are marked as entries; variables are objects
//! in the sections of global memory and of constant bank 3), the attributes of `.nv.info` (registers
//! and local memory, by symbol), those of `.nv.info.NAME` (parameters, limits of blocks, clusters),
//! the size of `.nv.shared.NAME`, and the relocations of initialised variables.

mod attribute;

use std::collections::{BTreeMap, HashMap};

use object::read::elf::{ElfFile64, ElfSymbol64};
use object::{
    LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags,
    RelocationTarget, SectionIndex, elf,
};

use self::attribute::{Attribute, attributes};
use super::{Address, Entry, Image, ImageError, Target, Variable, VariableSpace};

/// Begins a file, and how many bytes its header has.
pub(crate) const MAGIC: [u8; 4] = *b"\x7fELF";
pub(crate) const HEADER: usize = 64;

type File<'a> = ElfFile64<'a, LittleEndian>;

/// Marks a function as a kernel, and a variable as managed, in a symbol's `st_other`.
const IS_ENTRY: u8 = 0x10;
const IS_MANAGED: u8 = 0x04;

/// The relocations that put a 64-bit address: plain and generic.
const ADDRESSES: [u32; 2] = [2, 4];

/// From this capability on, a kernel's shared memory holds so many bytes of the system's own.
const RESERVES_FROM: u32 = 90;
const RESERVED: u64 = 1024;

/// From this version on the flags of the header have the capability in their second byte.
const NEW_FLAGS: u8 = 8;

/// Tells whether code for a capability runs on a device: of the same generation, and not newer.
pub(crate) const fn runs_on(capability: u32, target: Target) -> bool {
    capability / 10 == target.capability / 10 && capability <= target.capability
}

/// Returns how many bytes a file has in all, of which `bytes` are the header: it ends in a
/// table of sections, a table of segments, or a section.
pub(crate) fn length(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize| bytes.get(at..)?.first_chunk().map(|n| u64::from_le_bytes(*n));
    let short =
        |at: usize| bytes.get(at..)?.first_chunk().map(|n| u64::from(u16::from_le_bytes(*n)));
    let segments = number(32)?.checked_add(short(54)? * short(56)?)?;
    let sections = number(40)?.checked_add(short(58)? * short(60)?)?;
    Some(usize::try_from(segments.max(sections)).ok()?.max(HEADER))
}

/// Reads a cubin for a device.
pub(crate) fn read(bytes: &[u8], target: Target) -> Result<Image, ImageError> {
    let file = File::parse(bytes).map_err(|error| unknown(&format!("an ELF file: {error}")))?;
    let header = file.elf_header();
    if header.e_machine.get(LittleEndian) != elf::EM_CUDA {
        return Err(unknown("an ELF file of another machine than NVIDIA's"));
    }
    let flags = header.e_flags.get(LittleEndian);
    let is_new = header.e_ident.abi_version >= NEW_FLAGS;
    let capability = if is_new { flags >> 8 & 0xff } else { flags & 0xff };
    if !runs_on(capability, target) {
        let needs = format!("sm_{capability}");
        return Err(ImageError::Target { needs, has: target.capability });
    }
    let mut reader = Reader::new(&file, capability, bytes.len());
    let mut image = Image::default();
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        let other = symbol.elf_symbol().st_other;
        if symbol.kind() == object::SymbolKind::Text && other & IS_ENTRY != 0 {
            image.entries.push(reader.entry(name, symbol.index().0)?);
        } else if symbol.kind() == object::SymbolKind::Data
            && let Some(variable) = reader.variable(name, &symbol, other & IS_MANAGED != 0)?
        {
            image.variables.push(variable);
        }
    }
    // The order of a symbol table says nothing.
    image.entries.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(image)
}

/// Holds what is looked up once a file.
struct Reader<'a> {
    file: &'a File<'a>,
    capability: u32,
    sections: HashMap<&'a str, SectionIndex>,
    /// The attributes of symbols, by their index.
    registers: HashMap<usize, u32>,
    local: HashMap<usize, usize>,
    /// The relocations that put addresses, by section and place.
    addresses: BTreeMap<(usize, u64), Address>,
    /// How many bytes variables may yet have: they don't share any.
    left: usize,
}

impl<'a> Reader<'a> {
    fn new(file: &'a File<'a>, capability: u32, bytes: usize) -> Self {
        let mut reader = Self {
            file,
            capability,
            sections: HashMap::new(),
            registers: HashMap::new(),
            local: HashMap::new(),
            addresses: BTreeMap::new(),
            left: bytes,
        };
        for section in file.sections() {
            let Ok(name) = section.name() else { continue };
            reader.sections.insert(name, section.index());
            if matches!(name, ".nv.constant3" | ".nv.global.init") {
                for (at, relocation) in section.relocations() {
                    let address = address(file, &relocation);
                    let place = (section.index().0, at);
                    reader.addresses.extend(address.map(|address| (place, address)));
                }
            }
        }
        for attribute in attributes(reader.data(".nv.info")) {
            match attribute {
                Attribute::Registers(symbol, count) => {
                    reader.registers.insert(symbol, count);
                }
                Attribute::Local(symbol, bytes) => {
                    reader.local.insert(symbol, bytes);
                }
                _ => {}
            }
        }
        reader
    }

    /// Returns a section's bytes, none if it isn't there.
    fn data(&self, section: &str) -> &'a [u8] {
        let index = self.sections.get(section);
        let section = index.and_then(|&index| self.file.section_by_index(index).ok());
        section.and_then(|section| section.data().ok()).unwrap_or_default()
    }

    fn entry(&self, name: &str, symbol: usize) -> Result<Entry, ImageError> {
        let mut entry = Entry {
            name: name.to_owned(),
            capability: self.capability,
            ptx: self.capability,
            registers: self.registers.get(&symbol).copied(),
            local: self.local.get(&symbol).copied().unwrap_or(0),
            ..Entry::default()
        };
        let shared = self.sections.get(format!(".nv.shared.{name}").as_str());
        if let Some(section) = shared.and_then(|&shared| self.file.section_by_index(shared).ok()) {
            let reserved = if self.capability >= RESERVES_FROM { RESERVED } else { 0 };
            entry.shared = usize::try_from(section.size().saturating_sub(reserved)).unwrap_or(0);
        }
        let mut parameters = Vec::new();
        for attribute in attributes(self.data(&format!(".nv.info.{name}"))) {
            match attribute {
                Attribute::Parameter(ordinal, parameter) => parameters.push((ordinal, parameter)),
                Attribute::MostThreads(shape) => {
                    entry.most_threads = Some(shape.iter().fold(1, |all, n| n.saturating_mul(all)));
                }
                Attribute::Block(shape) => entry.block = Some(shape),
                Attribute::Cluster(shape) if shape != [0; 3] => entry.cluster = Some(shape),
                Attribute::NeedsCluster => entry.needs_cluster = true,
                _ => {}
            }
        }
        parameters.sort_by_key(|&(ordinal, _)| ordinal);
        if parameters.iter().enumerate().any(|(place, &(ordinal, _))| place != ordinal) {
            return Err(unknown(&format!("the cubin's `{name}` lacks a parameter")));
        }
        entry.parameters = parameters.into_iter().map(|(_, parameter)| parameter).collect();
        Ok(entry)
    }

    fn variable(
        &mut self,
        name: &str,
        symbol: &ElfSymbol64<'_, '_, LittleEndian>,
        is_managed: bool,
    ) -> Result<Option<Variable>, ImageError> {
        let Some(index) = symbol.section_index() else { return Ok(None) };
        let Ok(section) = self.file.section_by_index(index) else { return Ok(None) };
        let space = match section.name() {
            Ok(".nv.constant3") => VariableSpace::Constant,
            Ok(".nv.global" | ".nv.global.init") if is_managed => VariableSpace::Managed,
            Ok(".nv.global" | ".nv.global.init") => VariableSpace::Global,
            _ => return Ok(None),
        };
        let wrong = || unknown(&format!("the cubin's `{name}` lies outside of its section"));
        let start = symbol.address();
        let end = start.checked_add(symbol.size()).ok_or_else(wrong)?;
        if end > section.size() {
            return Err(wrong());
        }
        let in_usize = |number| usize::try_from(number).map_err(|_| wrong());
        let (first, size) = (in_usize(start)?, in_usize(symbol.size())?);
        // A section without bytes in the file is one of zeros.
        let data = section.data().map_err(|_| wrong())?;
        let bytes = data.get(first..).and_then(|data| data.get(..size)).unwrap_or_default();
        self.left = self.left.checked_sub(bytes.len()).ok_or_else(wrong)?;
        let inside = self.addresses.range((index.0, start)..(index.0, end));
        let addresses = inside.filter_map(|(&(_, at), address)| {
            let offset = usize::try_from(at - start).ok()?;
            Some(Address { offset, ..address.clone() })
        });
        Ok(Some(Variable {
            name: name.to_owned(),
            space,
            size,
            alignment: 1 << (start | section.align().max(1)).trailing_zeros().min(8),
            bytes: bytes.to_vec(),
            addresses: addresses.collect(),
            is_external: false,
        }))
    }
}

/// Returns the address that a relocation puts, if it puts one.
fn address(file: &File<'_>, relocation: &object::Relocation) -> Option<Address> {
    let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
    let RelocationTarget::Symbol(symbol) = relocation.target() else { return None };
    if !ADDRESSES.contains(&r_type) {
        return None;
    }
    let variable = file.symbol_by_index(symbol).ok()?.name().ok()?.to_owned();
    Some(Address { offset: 0, variable, addend: relocation.addend() })
}

fn unknown(text: &str) -> ImageError {
    ImageError::Unknown(text.to_owned())
}
