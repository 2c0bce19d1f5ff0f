//! Bits, the highest of a byte first.

/// Bits in the making.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The last bits, fewer than 32, at the low end.
    rest: u64,
    count: u32,
}

impl BitWriter {
    /// Writes to the end of `bytes`.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        BitWriter { bytes, rest: 0, count: 0 }
    }

    /// Writes the low `count` bits of `value`, at most 32; above them there is none.
    pub(super) fn put(&mut self, count: u32, value: u32) {
        self.rest = self.rest << count | u64::from(value);
        self.count += count;
        if self.count >= 32 {
            self.count -= 32;
            let word = (self.rest >> self.count) as u32;
            self.bytes.extend_from_slice(&word.to_be_bytes());
        }
    }

    /// The bytes, the last one filled up with zeros, and how many bits of it count, 1 to 8; of no bits, 8.
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

/// Bits of a slice. Behind its end there are zeros: whoever reads looks afterwards whether it came too far.
#[derive(Clone, Debug)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The byte from which the next bits are taken.
    next: usize,
    /// Bits that were taken, at the high end.
    held: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    /// Reads from bit `from` of `bytes` on.
    pub(super) fn new(bytes: &'a [u8], from: u64) -> Self {
        let mut reader = BitReader { bytes, next: (from / 8) as usize, held: 0, count: 0 };
        reader.refill();
        reader.drop((from % 8) as u32);
        reader
    }

    /// Sees to it that at least 56 bits are held.
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

    /// The next 64 bits, of which as many count as are held.
    #[inline]
    pub(super) fn peek(&self) -> u64 {
        self.held
    }

    /// Goes on by `count` bits, which are held.
    #[inline]
    pub(super) fn drop(&mut self, count: u32) {
        self.held <<= count;
        self.count -= count;
    }

    /// The next `count` bits, 1 to 32.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        if self.count < count {
            self.refill();
        }
        let value = (self.held >> (64 - count)) as u32;
        self.drop(count);
        value
    }

    /// How many bits of the slice lie before the next one; more than it has if the reader came too far.
    pub(super) fn position(&self) -> u64 {
        8 * self.next as u64 - u64::from(self.count)
    }
}
