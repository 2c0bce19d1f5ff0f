//! Bytes that wait for those behind them.

/// Bytes of a header that are there, and the offset in the file of the byte behind them.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) bytes: Vec<u8>,
    pub(super) offset: u64,
}

impl Held {
    /// Takes from the input until `wanted` bytes are held; true if they are.
    pub(super) fn fill(&mut self, input: &mut &[u8], wanted: usize) -> bool {
        let missing = wanted.saturating_sub(self.bytes.len()).min(input.len());
        let (taken, rest) = input.split_at(missing);
        self.bytes.extend_from_slice(taken);
        self.offset += missing as u64;
        *input = rest;
        self.bytes.len() >= wanted
    }

    /// The offset of the byte at `at` of those that are held.
    pub(super) fn offset_of(&self, at: usize) -> u64 {
        self.offset - (self.bytes.len() - at.min(self.bytes.len())) as u64
    }

    /// A little-endian number of 16 bits.
    pub(super) fn u16_at(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    /// A little-endian number of 32 bits.
    pub(super) fn u32_at(&self, at: usize) -> u32 {
        u32::from(self.u16_at(at)) | u32::from(self.u16_at(at + 2)) << 16
    }
}
