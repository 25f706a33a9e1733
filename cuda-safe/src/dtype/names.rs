//! Types by the names that NumPy gives them.

use std::fmt;
use std::str::FromStr;

use super::DType;

/// Refuses a name that no type has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` names no type of elements (need a name as NumPy writes it: `float32`, `<f4`)")]
pub struct UnknownType {
    /// The name.
    pub name: String,
}

/// Types whose names are not made of a word and a number of bits; some libraries register them with
/// NumPy.
const NAMED: [(DType, &str); 10] = [
    (DType::BOOL, "bool"),
    (DType::F8_E3M4, "float8_e3m4"),
    (DType::F8_E4M3, "float8_e4m3"),
    (DType::F8_E4M3B11FNUZ, "float8_e4m3b11fnuz"),
    (DType::F8_E4M3FN, "float8_e4m3fn"),
    (DType::F8_E4M3FNUZ, "float8_e4m3fnuz"),
    (DType::F8_E5M2, "float8_e5m2"),
    (DType::F8_E5M2FNUZ, "float8_e5m2fnuz"),
    (DType::F8_E8M0FNU, "float8_e8m0fnu"),
    (DType::BF16, "bfloat16"),
];

/// Kinds by their DLPack code: the word, the letter, the sizes in bytes that NumPy has.
const KINDS: [(u8, &str, char, &[u8]); 5] = [
    (0, "int", 'i', &[1, 2, 4, 8]),
    (1, "uint", 'u', &[1, 2, 4, 8]),
    (2, "float", 'f', &[2, 4, 8]),
    (5, "complex", 'c', &[8, 16]),
    (6, "bool", 'b', &[1]),
];

impl DType {
    /// Returns NumPy's short form, as array interfaces have it (`<f4`, `|u1`); none for types that
    /// NumPy itself doesn't have.
    pub fn typestr(self) -> Option<String> {
        let size = u8::try_from(self.size()).ok().filter(|_| self.lanes == 1)?;
        let (.., letter, _) =
            KINDS.iter().find(|(code, .., sizes)| *code == self.code && sizes.contains(&size))?;
        let order = if size == 1 { '|' } else { '<' };
        Some(format!("{order}{letter}{size}"))
    }

    fn from_typestr(name: &str) -> Option<Self> {
        let mut rest = name.chars();
        let (order, letter) = (rest.next()?, rest.next()?);
        let size: u8 = decimal(rest.as_str())?;
        let (code, ..) =
            KINDS.iter().find(|(.., known, sizes)| *known == letter && sizes.contains(&size))?;
        // What has one byte has no order; a `|` on more says nothing, and `>` is the other one.
        let ordered = order == '<' || order == '=' || order == '|' && size == 1;
        let known = ordered || order == '>' && size == 1;
        known.then(|| Self::new(*code, size * 8, 1).ok())?
    }

    fn from_name(name: &str) -> Option<Self> {
        if let Some((dtype, _)) = NAMED.iter().find(|(_, known)| *known == name) {
            return Some(*dtype);
        }
        let digits = name.find(|letter: char| letter.is_ascii_digit())?;
        let (word, bits) = name.split_at_checked(digits)?;
        let bits: u8 = decimal(bits)?;
        let (code, ..) = KINDS
            .iter()
            .find(|(_, known, _, sizes)| *known == word && sizes.contains(&(bits / 8)))?;
        Self::new(*code, bits, 1).ok()
    }
}

/// Reads a number that is written without a sign or a leading zero.
fn decimal(digits: &str) -> Option<u8> {
    let plain = digits.starts_with(|first: char| first.is_ascii_digit() && first != '0');
    digits.parse().ok().filter(|_| plain)
}

impl FromStr for DType {
    type Err = UnknownType;

    /// Reads a name (`float32`), or NumPy's short form (`<f4`); numbers of more than one byte must
    /// be little-endian.
    fn from_str(name: &str) -> Result<Self, UnknownType> {
        Self::from_name(name)
            .or_else(|| Self::from_typestr(name))
            .ok_or_else(|| UnknownType { name: name.to_owned() })
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, bits, lanes } = self;
        let scalar = Self { lanes: 1, ..*self };
        let word = KINDS.iter().find(|(known, ..)| known == code);
        match (NAMED.iter().find(|(known, _)| *known == scalar), word) {
            (Some((_, name)), _) => f.write_str(name)?,
            (None, Some((_, word, ..))) => write!(f, "{word}{bits}")?,
            (None, None) => write!(f, "type {code} of {bits} bits")?,
        }
        if *lanes == 1 { Ok(()) } else { write!(f, "x{lanes}") }
    }
}
