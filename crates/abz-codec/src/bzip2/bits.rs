//! Reading and writing of bits, from the highest of each byte on.

/// A writer of bits.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The last bits, fewer than 32, at the low end, and their number.
    rest: u64,
    count: u32,
}

impl BitWriter {
    /// Creates a writer that appends to `bytes`.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        BitWriter { bytes, rest: 0, count: 0 }
    }

    /// Writes the low `count` bits of `value`, at most 32. All higher bits must be 0.
    pub(super) fn put(&mut self, count: u32, value: u32) {
        self.rest = self.rest << count | u64::from(value);
        self.count += count;
        if self.count >= 32 {
            self.count -= 32;
            let word = (self.rest >> self.count) as u32;
            self.bytes.extend_from_slice(&word.to_be_bytes());
        }
    }

    /// Returns the bytes, the last one padded with zeros, and the number of bits used in it, 1 to 8; 8 if there are no
    /// bits.
    pub(super) fn finish(mut self) -> (Vec<u8>, u32) {
        let used = (self.count + 7) % 8 + 1;
        while self.count > 0 {
            let taken = self.count.min(8);
            self.count -= taken;
            self.bytes.push(((self.rest >> self.count) << (8 - taken)) as u8);
        }
        (self.bytes, used)
    }
}

/// A reader of the bits of a slice. It reads zeros behind the end; [`position`](Self::position) tells afterwards
/// whether it did.
#[derive(Clone, Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The index of the byte from which the next bits are loaded.
    next: usize,
    /// The bits that were loaded, at the high end, and their number.
    held: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    /// Creates a reader from bit `from` of `bytes` on.
    pub(super) fn new(bytes: &'a [u8], from: u64) -> Self {
        let mut reader = BitReader { bytes, next: (from / 8) as usize, held: 0, count: 0 };
        reader.refill();
        reader.drop((from % 8) as u32);
        reader
    }

    /// Loads bits, so that at least 56 are held.
    #[inline]
    pub(super) fn refill(&mut self) {
        let next = self.bytes.get(self.next..).and_then(|rest| rest.first_chunk::<8>());
        let word = match next {
            Some(&bytes) => u64::from_be_bytes(bytes),
            None => self.last_word(),
        };
        self.held |= word >> self.count;
        let taken = (63 - self.count) / 8;
        self.next += taken as usize;
        self.count += 8 * taken;
    }

    #[cold]
    fn last_word(&self) -> u64 {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        rest.iter().chain(&[0; 8]).take(8).fold(0, |word, &byte| word << 8 | u64::from(byte))
    }

    /// Returns the next 64 bits, of which only the held ones are valid.
    #[inline]
    pub(super) fn peek(&self) -> u64 {
        self.held
    }

    /// Skips `count` bits, which must be held.
    #[inline]
    pub(super) fn drop(&mut self, count: u32) {
        self.held <<= count;
        self.count -= count;
    }

    /// Takes the next `count` bits, 1 to 32.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        if self.count < count {
            self.refill();
        }
        let value = (self.held >> (64 - count)) as u32;
        self.drop(count);
        value
    }

    /// Returns the index in the slice of the next bit. It is beyond the end if the reader has read behind it.
    pub(super) fn position(&self) -> u64 {
        8 * self.next as u64 - u64::from(self.count)
    }
}
