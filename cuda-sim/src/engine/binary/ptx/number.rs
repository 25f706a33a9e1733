//! The numbers of PTX.

/// Is a number as its text says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(u64),
    Float(f64),
    /// The bits of a 32-bit number, as `0f3F800000`.
    Single(u32),
    /// The bits of a 64-bit number, as `0d3FF0000000000000`.
    Double(u64),
}

/// Reads an integer: decimal, hexadecimal, octal or binary, perhaps with a `U` behind it.
pub(super) fn integer(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    let prefixed = |prefixes: [&str; 2], radix| {
        let digits = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?;
        digits.starts_with(|c: char| c.is_digit(radix)).then_some(())?;
        u64::from_str_radix(digits, radix).ok()
    };
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let plain = || match text.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => u64::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    };
    prefixed(["0x", "0X"], 16).or_else(|| prefixed(["0b", "0B"], 2)).or_else(plain)
}

/// Reads a number.
pub(super) fn number(text: &str) -> Option<Number> {
    let bits = |prefixes: [&str; 2], digits: usize| {
        let found = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))?;
        (found.len() == digits).then(|| u64::from_str_radix(found, 16).ok())?
    };
    if let Some(bits) = bits(["0f", "0F"], 8) {
        return u32::try_from(bits).ok().map(Number::Single);
    }
    if let Some(bits) = bits(["0d", "0D"], 16) {
        return Some(Number::Double(bits));
    }
    if let Some(number) = integer(text) {
        return Some(Number::Integer(number));
    }
    let is_float = text.starts_with(|c: char| c.is_ascii_digit());
    if is_float { text.parse().ok().map(Number::Float) } else { None }
}

impl Number {
    /// Returns the number's bytes, the lowest first, in `size` of them; a float if `is_float`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a literal is cut to its variable's type, as a compiler does"
    )]
    pub(super) fn bytes(self, size: usize, is_float: bool, is_negative: bool) -> Vec<u8> {
        let float = match self {
            Self::Integer(number) => number as f64,
            Self::Float(number) => number,
            Self::Single(bits) => f64::from(f32::from_bits(bits)),
            Self::Double(bits) => f64::from_bits(bits),
        };
        let float = if is_negative { -float } else { float };
        let bits = match (self, is_float, size) {
            (Self::Single(bits), _, 4) if !is_negative => u64::from(bits),
            (Self::Double(bits), _, 8) if !is_negative => bits,
            (_, true, 4) => u64::from((float as f32).to_bits()),
            (_, true, 8) => float.to_bits(),
            (Self::Integer(number), ..) if is_negative => number.wrapping_neg(),
            (Self::Integer(number), ..) => number,
            (Self::Single(bits), ..) => u64::from(bits),
            (Self::Double(bits), ..) => bits,
            (Self::Float(number), ..) => (number as i64).cast_unsigned(),
        };
        let sign = if is_negative && !is_float { 0xff } else { 0 };
        let mut bytes = bits.to_le_bytes().to_vec();
        bytes.resize(size, sign);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, integer, number};

    #[test]
    fn every_form_is_read() {
        for (text, value) in [("0", 0), ("17", 17), ("0x1F", 31), ("017", 15), ("0b101", 5)] {
            assert_eq!(integer(text), Some(value), "{text}");
        }
        assert_eq!(integer("4294967295U"), Some(4_294_967_295));
        for text in ["", "x", "08", "0x", "-1", "99999999999999999999", "0x+1"] {
            assert_eq!(integer(text), None, "{text}");
        }
        assert_eq!(number("0f3F800000"), Some(Number::Single(0x3f80_0000)));
        assert_eq!(number("1.5"), Some(Number::Float(1.5)));
        let negative = Number::Integer(2).bytes(2, false, true);
        assert_eq!(negative, (-2_i16).to_le_bytes());
        assert_eq!(Number::Integer(1).bytes(4, true, false), 1_f32.to_le_bytes());
        assert_eq!(Number::Single(1_f32.to_bits()).bytes(4, true, true), (-1_f32).to_le_bytes());
    }
}
