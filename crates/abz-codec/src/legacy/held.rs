//! A buffer for the bytes of an incomplete header or trailer.

/// The bytes of a header that have come, and the offset in the file of the byte behind them.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) bytes: Vec<u8>,
    pub(super) offset: u64,
}

impl Held {
    /// Takes from the input until `wanted` bytes are held. Returns whether they are.
    pub(super) fn fill(&mut self, input: &mut &[u8], wanted: usize) -> bool {
        let missing = wanted.saturating_sub(self.bytes.len()).min(input.len());
        let (taken, rest) = input.split_at(missing);
        self.bytes.extend_from_slice(taken);
        self.offset += missing as u64;
        *input = rest;
        self.bytes.len() >= wanted
    }

    /// Returns the offset in the file of the held byte with index `at`.
    pub(super) fn offset_of(&self, at: usize) -> u64 {
        self.offset - (self.bytes.len() - at.min(self.bytes.len())) as u64
    }

    /// Returns the little-endian 16-bit number at index `at`.
    pub(super) fn u16_at(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    /// Returns the little-endian 32-bit number at index `at`.
    pub(super) fn u32_at(&self, at: usize) -> u32 {
        u32::from(self.u16_at(at)) | u32::from(self.u16_at(at + 2)) << 16
    }
}
