//! A table for decoding a prefix code.

use super::MAX_SYMBOLS;
use super::bits::BitReader;

/// The length in bits of the longest code that is looked up at once.
const FAST: u32 = 10;

/// The length of the longest code, in bits.
const LONGEST: usize = 20;

/// A prefix code. Lengths that make no complete prefix code are treated as bzip2 does: if codes are missing, bits
/// without a code are an error; if there are too many codes, the shortest that fits counts.
pub(super) struct Table {
    /// For the next [`FAST`] bits, the symbol, and below it, in five bits, the length of its code; 0 for a longer code.
    fast: Box<[u16; 1 << FAST]>,
    /// For each length, the first code behind those that are not longer.
    ends: [i32; LONGEST + 1],
    /// For each length, the number to add to a code to get its index in `order`.
    offsets: [i32; LONGEST + 1],
    /// The symbols, ordered by the lengths of their codes.
    order: [u16; MAX_SYMBOLS],
    symbols: usize,
    shortest: usize,
}

impl Default for Table {
    fn default() -> Self {
        Table {
            fast: Box::new([0; 1 << FAST]),
            ends: [0; LONGEST + 1],
            offsets: [0; LONGEST + 1],
            order: [0; MAX_SYMBOLS],
            symbols: 0,
            shortest: 1,
        }
    }
}

impl Table {
    /// Sets the code lengths of the symbols, 1 to 20 bits each.
    pub(super) fn fill(&mut self, lengths: &[u8]) {
        self.symbols = lengths.len();
        let (mut place, mut end) = (0, 0);
        for length in 1..=LONGEST {
            self.offsets[length] = place - (end << 1);
            end <<= 1;
            for symbol in (0..lengths.len()).filter(|&symbol| usize::from(lengths[symbol]) == length) {
                self.order[place as usize] = symbol as u16;
                place += 1;
                end += 1;
            }
            self.ends[length] = end;
        }
        self.shortest = lengths.iter().copied().min().unwrap_or(1).into();
        for bits in 0..1 << FAST {
            self.fast[bits] = match self.find(bits as u32, FAST) {
                Some((symbol, length)) => symbol << 5 | length as u16,
                None => 0,
            };
        }
    }

    /// Decodes the next symbol; `None` if the bits are no code. At least 20 bits must be held.
    #[inline]
    pub(super) fn next(&self, bits: &mut BitReader<'_>) -> Option<u16> {
        let entry = self.fast[(bits.peek() >> (64 - FAST)) as usize];
        if entry != 0 {
            bits.drop(u32::from(entry & 31));
            return Some(entry >> 5);
        }
        self.next_long(bits)
    }

    #[cold]
    fn next_long(&self, bits: &mut BitReader<'_>) -> Option<u16> {
        let (symbol, length) = self.find((bits.peek() >> (64 - LONGEST)) as u32, LONGEST as u32)?;
        bits.drop(length);
        Some(symbol)
    }

    /// Returns the symbol whose code is at the front of `count` bits, and the length of the code.
    fn find(&self, bits: u32, count: u32) -> Option<(u16, u32)> {
        (self.shortest as u32..=count).find_map(|length| {
            let code = (bits >> (count - length)) as i32;
            if code >= self.ends[length as usize] {
                return None;
            }
            let place = usize::try_from(code + self.offsets[length as usize]).ok()?;
            (place < self.symbols).then(|| (self.order[place], length))
        })
    }
}
