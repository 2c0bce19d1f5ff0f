//! The bits of a deflate stream (RFC 1951, section 3.1.1): the lowest bit of a byte comes first.

/// The number of bits that [`Bits::fill`] provides, if the input has so many.
pub(crate) const FILLED: u32 = 56;

/// A reader of bits from input that comes in pieces.
///
/// The next bits are the lowest `count` bits of `hold`, then the bytes from `at` on. The other bits of `hold` are
/// zeros, or equal to the bits of the bytes from `at` on, so that OR-ing these in again changes nothing.
pub(crate) struct Bits<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
    pub(crate) hold: u64,
    pub(crate) count: u32,
}

impl<'a> Bits<'a> {
    /// Continues with `bytes` behind `count` held bits.
    pub(crate) fn new(bytes: &'a [u8], (hold, count): (u64, u32)) -> Self {
        Bits { bytes, at: 0, hold, count }
    }

    /// Provides at least [`FILLED`] bits, or all that are left.
    #[inline(always)]
    pub(crate) fn fill(&mut self) {
        match self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            Some(&word) => self.put(u64::from_le_bytes(word)),
            None => self.fill_at_the_end(),
        }
    }

    /// Loads as many of the next eight bytes as fit, without a branch.
    #[inline(always)]
    pub(crate) fn put(&mut self, word: u64) {
        self.hold |= word << (self.count & 63);
        self.at += ((self.count ^ 63) >> 3) as usize;
        self.count |= FILLED;
    }

    #[cold]
    fn fill_at_the_end(&mut self) {
        while self.count < FILLED
            && let Some(&byte) = self.bytes.get(self.at)
        {
            self.hold |= u64::from(byte) << self.count;
            self.count += 8;
            self.at += 1;
        }
    }

    /// Returns the next `len` bits, at most 32, without taking them; `None` if there are fewer.
    #[inline]
    pub(crate) fn peek(&mut self, len: u32) -> Option<u32> {
        if self.count < len {
            self.fill();
            if self.count < len {
                return None;
            }
        }
        Some((self.hold & ((1 << len) - 1)) as u32)
    }

    /// Takes `len` bits, which must be held.
    #[inline]
    pub(crate) fn take(&mut self, len: u32) {
        self.hold >>= len;
        self.count -= len;
    }

    /// Skips to the next byte.
    pub(crate) fn align(&mut self) {
        self.take(self.count & 7);
    }

    /// Gives whole bytes back to the input, so that fewer than eight bits are held. These bytes came from this input:
    /// bits held from earlier input belong to a symbol that was incomplete then, and have been taken with it.
    pub(crate) fn give_back(&mut self) {
        self.at -= (self.count >> 3) as usize;
        self.count &= 7;
    }

    /// Returns the held bits, for the next piece of input.
    pub(crate) fn held(&self) -> (u64, u32) {
        (self.hold & ((1 << self.count) - 1), self.count)
    }
}
