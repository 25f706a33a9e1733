//! The attributes of a cubin's `.nv.info` sections.
//!
//! Each has a byte that says its form, a byte that says what it is, and two bytes that are its value,
//! or, in the fourth form, the length of the value that follows.

use crate::engine::binary::Parameter;

/// The form of a value that has its length before it.
const SIZED: u8 = 4;

/// Is an attribute that matters to a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Attribute {
    /// The registers of a symbol's threads.
    Registers(usize, u32),
    /// The bytes of local memory of a symbol's threads.
    Local(usize, usize),
    /// A parameter by its position.
    Parameter(usize, Parameter),
    /// The greatest block that the kernel's author promised.
    MostThreads([u32; 3]),
    /// The only shape of a block.
    Block([u32; 3]),
    /// The only shape of a cluster.
    Cluster([u32; 3]),
    /// The kernel has clusters.
    NeedsCluster,
}

/// Returns the attributes of a section, up to the first that is cut short.
pub(super) fn attributes(section: &[u8]) -> Vec<Attribute> {
    let mut found = Vec::new();
    let mut rest = section;
    while let [form, kind, low, high, behind @ ..] = rest {
        let size = usize::from(u16::from_le_bytes([*low, *high]));
        let size = if *form == SIZED { size } else { 0 };
        let Some((value, behind)) = behind.split_at_checked(size) else { break };
        found.extend(attribute(*kind, value));
        rest = behind;
    }
    found
}

fn attribute(kind: u8, value: &[u8]) -> Option<Attribute> {
    let words: Vec<u32> = value
        .chunks_exact(4)
        .filter_map(|w| w.first_chunk().map(|w| u32::from_le_bytes(*w)))
        .collect();
    let in_usize = |word: u32| usize::try_from(word).ok();
    Some(match (kind, words.as_slice()) {
        (0x05, &[x, y, z]) => Attribute::MostThreads([x, y, z]),
        (0x10, &[x, y, z]) => Attribute::Block([x, y, z]),
        (0x11, &[symbol, bytes]) => Attribute::Local(in_usize(symbol)?, in_usize(bytes)?),
        // The size stands above the space and the bank of the parameter.
        (0x17, &[_, place, bits]) => parameter(place, in_usize(bits >> 18)?)?,
        (0x2f, &[symbol, count]) => Attribute::Registers(in_usize(symbol)?, count),
        (0x3d, &[x, y, z]) => Attribute::Cluster([x, y, z]),
        (0x3e, _) => Attribute::NeedsCluster,
        // The form for parameters of more than 4 KiB in all.
        (0x45, &[_, place, size]) => parameter(place, in_usize(size)?)?,
        _ => return None,
    })
}

/// Makes a parameter of a word whose halves are its ordinal and its offset.
fn parameter(place: u32, size: usize) -> Option<Attribute> {
    let ordinal = usize::try_from(place & 0xffff).ok()?;
    let offset = usize::try_from(place >> 16).ok()?;
    Some(Attribute::Parameter(ordinal, Parameter { offset, size }))
}

#[cfg(test)]
mod tests {
    use super::{Attribute, Parameter, attributes};

    #[test]
    fn what_is_cut_short_is_left_out() {
        let parameter = [4, 0x17, 12, 0, 0, 0, 0, 0, 3, 0, 24, 0, 0, 0xf0, 0x21, 0];
        let section = [&[3, 0x19, 32, 0][..], &parameter, &parameter[..12]].concat();
        let parameter = Parameter { offset: 24, size: 8 };
        assert_eq!(attributes(&section), [Attribute::Parameter(3, parameter)]);
        assert_eq!(attributes(&[4, 0x3e]), []);
    }
}
