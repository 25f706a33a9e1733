//! Takes fields off the front of a message; knows no format.

use super::WireError;

/// Is what is left of a message.
pub(crate) struct Reader<'a> {
    left: &'a [u8],
    read: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(message: &'a [u8]) -> Self {
        Self { left: message, read: 0 }
    }

    /// Takes an array of bytes.
    pub(crate) fn array<const N: usize>(
        &mut self,
        field: &'static str,
    ) -> Result<[u8; N], WireError> {
        let Some((taken, left)) = self.left.split_first_chunk::<N>() else {
            let have = self.read.saturating_add(self.left.len());
            return Err(WireError::Truncated { field, need: self.read.saturating_add(N), have });
        };
        self.left = left;
        self.read = self.read.saturating_add(N);
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8, WireError> {
        self.array(field).map(u8::from_le_bytes)
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, WireError> {
        self.array(field).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, WireError> {
        self.array(field).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> Result<u64, WireError> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// Takes `count` numbers. What it allocates is no longer than what is left of the message.
    pub(crate) fn numbers(
        &mut self,
        field: &'static str,
        count: usize,
    ) -> Result<Vec<i64>, WireError> {
        let size = count.saturating_mul(8);
        if self.left.len() < size {
            let have = self.read.saturating_add(self.left.len());
            return Err(WireError::Truncated { field, need: self.read.saturating_add(size), have });
        }
        (0..count).map(|_| self.array(field).map(i64::from_le_bytes)).collect()
    }

    /// Takes a field that has only one value as yet.
    pub(crate) fn zero<const N: usize>(&mut self, field: &'static str) -> Result<(), WireError> {
        let bytes = self.array::<N>(field)?;
        match bytes.iter().find(|byte| **byte != 0) {
            Some(&have) => Err(WireError::NotZero { field, have }),
            None => Ok(()),
        }
    }

    /// Takes everything that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.read = self.read.saturating_add(self.left.len());
        std::mem::take(&mut self.left)
    }

    /// Checks that nothing is left.
    pub(crate) fn end(self) -> Result<(), WireError> {
        if self.left.is_empty() {
            return Ok(());
        }
        let have = self.read.saturating_add(self.left.len());
        Err(WireError::TrailingBytes { need: self.read, have })
    }
}
