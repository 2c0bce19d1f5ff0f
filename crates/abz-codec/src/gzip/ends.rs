//! Finding the bit at which a deflate stream ends and the bit at which its last block begins, from code to code and
//! without decoding the contents. Joining streams requires these places, and an encoder of whole streams does not
//! report them.

/// The number of bits of a code that are looked up at once.
const TABLE_BITS: u32 = 12;

/// The number of entries of a table. The table of distances follows that of literals and lengths.
const TABLE: usize = 1 << TABLE_BITS;

/// The length of the longest code in bits (RFC 1951, section 3.2.7).
const LONGEST: usize = 15;

/// The number of bytes behind a stream that may be loaded with its last bits. Their values do not matter.
pub(super) const SLACK: usize = 16;

/// Places in a stream, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// The first bit of the last block, which marks it as the last.
    pub(super) last_block: usize,
    /// The first bit behind the stream.
    pub(super) end: usize,
}

/// An entry of a table. It has the number of the next bits that belong to one or several codes, with their extra bits,
/// and the table for the bits behind them. A step from code to code therefore needs no branch that is hard to predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry(u16);

impl Entry {
    /// The lowest bits hold the number of bits.
    const BITS: u16 = 31;
    /// A distance follows. The value is also the index of the table of distances.
    const DISTANCE: u16 = TABLE as u16;
    /// The block ends.
    const END: u16 = 1 << 14;
    /// The code is longer than the bits that are looked up, or the bits are no code.
    const LONG: Entry = Entry(1 << 15);

    /// Creates the entry of a code of `bits` bits behind which a literal or a length follows.
    fn new(bits: u32) -> Entry {
        Entry(bits as u16)
    }

    fn bits(self) -> u32 {
        u32::from(self.0 & Entry::BITS)
    }

    /// Returns the index at which the table for the next code begins.
    fn next(self) -> usize {
        usize::from(self.0 & Entry::DISTANCE)
    }

    fn is_special(self) -> bool {
        self.0 & (Entry::END | Entry::LONG.0) != 0
    }

    fn is_end(self) -> bool {
        self.0 & Entry::END != 0
    }
}

/// Walks through streams. It keeps its tables.
pub(super) struct Walker {
    /// The table of literals and lengths, and the table of distances.
    tables: Box<[Entry; 2 * TABLE]>,
    /// The number of bits that the codes of each entry have, without the extra bits behind them.
    code_bits: Box<[u8; 2 * TABLE]>,
    long_literals: Canonical,
    long_distances: Canonical,
}

impl Walker {
    pub(super) fn new() -> Self {
        Walker {
            tables: Box::new([Entry::LONG; 2 * TABLE]),
            code_bits: Box::new([0; 2 * TABLE]),
            long_literals: Canonical::default(),
            long_distances: Canonical::default(),
        }
    }

    /// Returns the ends of the stream at the start of `bytes`, which must have [`SLACK`] bytes behind it. `None` if the
    /// stream breaks the rules of RFC 1951.
    pub(super) fn ends(&mut self, bytes: &[u8]) -> Option<Ends> {
        let mut bits = Bits { bytes, at: 0, held: 0, count: 0 };
        loop {
            let last_block = bits.position();
            bits.refill()?;
            let (is_last, kind) = (bits.take(1) == 1, bits.take(2));
            match kind {
                0 => bits.pass_stored()?,
                1 => {
                    self.fixed();
                    self.block(&mut bits)?;
                }
                2 => {
                    self.read_codes(&mut bits)?;
                    self.block(&mut bits)?;
                }
                _ => return None,
            }
            if is_last {
                return Some(Ends { last_block, end: bits.position() });
            }
        }
    }

    /// Walks through the codes of a block.
    fn block(&self, bits: &mut Bits<'_>) -> Option<()> {
        let mut table = 0;
        loop {
            // A distance takes at most 25 bits here, and the code before or behind it 17.
            bits.refill()?;
            let mut entry = self.tables[(table | bits.peek(TABLE_BITS)) & (2 * TABLE - 1)];
            if !entry.is_special() {
                bits.drop(entry.bits());
                table = entry.next();
                entry = self.tables[(table | bits.peek(TABLE_BITS)) & (2 * TABLE - 1)];
                if !entry.is_special() {
                    bits.drop(entry.bits());
                    table = entry.next();
                    continue;
                }
            }
            if entry == Entry::LONG {
                bits.refill()?;
                entry = match table {
                    0 => self
                        .long_literals
                        .find(bits.held)
                        .and_then(|(symbol, len)| of_literal(symbol, len))?,
                    _ => self
                        .long_distances
                        .find(bits.held)
                        .and_then(|(symbol, len)| of_distance(symbol, len))?,
                };
            }
            bits.drop(entry.bits());
            if entry.is_end() {
                return Some(());
            }
            table = entry.next();
        }
    }

    /// Reads the codes of a dynamic block (RFC 1951, section 3.2.7).
    fn read_codes(&mut self, bits: &mut Bits<'_>) -> Option<()> {
        const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        let literals = 257 + bits.take(5);
        let distances = 1 + bits.take(5);
        let count = 4 + bits.take(4);
        let mut lengths = [0; 19];
        for &symbol in &ORDER[..count] {
            bits.refill()?;
            lengths[symbol] = bits.take(3) as u8;
        }
        let codes = Canonical::new(&lengths);
        let mut lengths = [0u8; 320];
        let mut filled = 0;
        while filled < literals + distances {
            bits.refill()?;
            let (symbol, len) = codes.find(bits.held)?;
            bits.drop(len);
            let (value, times) = match symbol {
                16 => (*lengths.get(filled.checked_sub(1)?)?, 3 + bits.take(2)),
                17 => (0, 3 + bits.take(3)),
                18 => (0, 11 + bits.take(7)),
                len => (len as u8, 1),
            };
            lengths.get_mut(filled..filled + times)?.fill(value);
            filled += times;
        }
        if filled > literals + distances {
            return None;
        }
        self.set(&lengths[..literals], &lengths[literals..filled]);
        Some(())
    }

    /// Sets the codes of a fixed block (RFC 1951, section 3.2.6).
    fn fixed(&mut self) {
        let mut lengths = [8; 288];
        lengths[144..256].fill(9);
        lengths[256..280].fill(7);
        self.set(&lengths, &[5; 30]);
    }

    fn set(&mut self, literals: &[u8], distances: &[u8]) {
        self.long_literals = Canonical::new(literals);
        self.long_distances = Canonical::new(distances);
        let (of_literals, of_distances) = self.tables.split_at_mut(TABLE);
        let (literal_bits, distance_bits) = self.code_bits.split_at_mut(TABLE);
        fill(of_literals, literal_bits, literals, of_literal);
        fill(of_distances, distance_bits, distances, of_distance);
        // If a literal leaves bits for another literal or for a length, both become one step.
        for at in 0..TABLE {
            let entry = of_literals[at];
            if entry.is_special() || entry.next() != 0 {
                continue;
            }
            // Entries of fewer bits are complete already. Such an entry may stand for several codes.
            let behind = at >> entry.bits();
            let (next, code_bits) = (of_literals[behind], literal_bits[at] + literal_bits[behind]);
            if !next.is_special() && u32::from(code_bits) <= TABLE_BITS {
                of_literals[at] = Entry(next.0 + entry.0);
                literal_bits[at] = code_bits;
            }
        }
    }
}

/// Returns the entry of a code for a literal, a length or the end, with its extra bits (RFC 1951, section 3.2.5).
fn of_literal(symbol: usize, len: u32) -> Option<Entry> {
    let extra = match symbol {
        0..=255 => return Some(Entry::new(len)),
        256 => return Some(Entry(Entry::END | len as u16)),
        257..=264 | 285 => 0,
        265..=284 => (symbol - 261) / 4,
        _ => return None,
    };
    Some(Entry(Entry::DISTANCE | (len as u16 + extra as u16)))
}

/// Returns the entry of a code for a distance, with its extra bits.
fn of_distance(symbol: usize, len: u32) -> Option<Entry> {
    let extra = match symbol {
        0..=3 => 0,
        4..=29 => symbol as u32 / 2 - 1,
        _ => return None,
    };
    Some(Entry::new(len + extra))
}

/// Fills a table with the codes that are short enough for it.
fn fill(table: &mut [Entry], code_bits: &mut [u8], lengths: &[u8], entry: fn(usize, u32) -> Option<Entry>) {
    table.fill(Entry::LONG);
    let most = table.len().ilog2();
    let mut next = first_codes(&counts(lengths));
    for (symbol, &len) in lengths.iter().enumerate() {
        if len == 0 {
            continue;
        }
        let code = next[usize::from(len)];
        next[usize::from(len)] += 1;
        let len = u32::from(len);
        if len > most {
            continue;
        }
        let Some(entry) = entry(symbol, len) else { continue };
        let reversed = (code.reverse_bits() >> (32 - len)) as usize;
        // The places of surplus codes, which make a code oversubscribed, lie behind the end of the table.
        for place in (reversed..table.len()).step_by(1 << len) {
            (table[place], code_bits[place]) = (entry, len as u8);
        }
    }
}

fn counts(lengths: &[u8]) -> [u32; LONGEST + 1] {
    let mut counts = [0; LONGEST + 1];
    lengths.iter().filter(|&&len| len > 0).for_each(|&len| counts[usize::from(len)] += 1);
    counts
}

/// Returns the first code of each length.
fn first_codes(counts: &[u32; LONGEST + 1]) -> [u32; LONGEST + 1] {
    let mut next = [0; LONGEST + 1];
    for len in 1..=LONGEST {
        next[len] = (next[len - 1] + if len > 1 { counts[len - 1] } else { 0 }) << 1;
    }
    next
}

/// A canonical code, to be read bit by bit.
#[derive(Default)]
struct Canonical {
    counts: [u32; LONGEST + 1],
    /// The symbols, ordered by the lengths of their codes, and then by value.
    symbols: Vec<u16>,
}

impl Canonical {
    fn new(lengths: &[u8]) -> Self {
        let counts = counts(lengths);
        let mut places = [0; LONGEST + 2];
        for len in 1..=LONGEST {
            places[len + 1] = places[len] + counts[len] as usize;
        }
        let mut symbols = vec![0; places[LONGEST + 1]];
        for (symbol, &len) in lengths.iter().enumerate().filter(|(_, len)| **len > 0) {
            symbols[places[usize::from(len)]] = symbol as u16;
            places[usize::from(len)] += 1;
        }
        Canonical { counts, symbols }
    }

    /// Returns the symbol whose code is at the start of `bits`, and the length of the code.
    fn find(&self, mut bits: u64) -> Option<(usize, u32)> {
        let (mut code, mut first, mut index) = (0u32, 0u32, 0u32);
        for len in 1..=LONGEST {
            code |= (bits & 1) as u32;
            bits >>= 1;
            let count = self.counts[len];
            if code < first + count {
                return Some((self.symbols[(index + code - first) as usize].into(), len as u32));
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

/// A reader of bits, from the lowest of each byte on.
struct Bits<'a> {
    bytes: &'a [u8],
    /// The index of the first byte that is not held completely.
    at: usize,
    held: u64,
    /// The number of bits that are held for certain.
    count: u32,
}

impl Bits<'_> {
    /// Loads bits, so that at least 56 are held.
    #[inline(always)]
    fn refill(&mut self) -> Option<()> {
        let word = u64::from_le_bytes(*self.bytes.get(self.at..)?.first_chunk()?);
        self.held |= word << self.count;
        self.at += ((63 - self.count) >> 3) as usize;
        self.count |= 56;
        Some(())
    }

    #[inline(always)]
    fn peek(&self, count: u32) -> usize {
        (self.held & ((1 << count) - 1)) as usize
    }

    #[inline(always)]
    fn drop(&mut self, count: u32) {
        self.held >>= count;
        self.count -= count;
    }

    fn take(&mut self, count: u32) -> usize {
        let taken = self.peek(count);
        self.drop(count);
        taken
    }

    fn position(&self) -> usize {
        8 * self.at - self.count as usize
    }

    /// Skips a stored block (RFC 1951, section 3.2.4).
    fn pass_stored(&mut self) -> Option<()> {
        let at = self.position().div_ceil(8);
        let &[low, high, not_low, not_high] = self.bytes.get(at..)?.first_chunk()?;
        let len = u16::from_le_bytes([low, high]);
        if len != !u16::from_le_bytes([not_low, not_high]) {
            return None;
        }
        self.at = at + 4 + usize::from(len);
        (self.held, self.count) = (0, 0);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use libdeflater::{CompressionLvl, Compressor};

    use super::super::inflate::Inflater;
    use super::*;

    fn noise(len: usize, seed: u64) -> Vec<u8> {
        let mut bytes = vec![0; len];
        fastrand::Rng::with_seed(seed).fill(&mut bytes);
        bytes
    }

    #[test]
    fn streams_end_where_they_end_and_go_on_where_they_are_joined() {
        let words: Vec<u8> = noise(300_000, 5).iter().flat_map(|n| [b'a' + n % 7, b' ']).collect();
        let mixed = [&words[..200_000], &noise(100_000, 9), &[0; 300_000], &words[..100_000]].concat();
        let skewed: Vec<u8> =
            noise(200_000, 11).iter().map(|n| (n.trailing_zeros() as u8 * 31) ^ (n & 1)).collect();
        let few: Vec<u8> = noise(50_000, 3).iter().map(|n| n & n >> 3 & n >> 5).collect();
        let mut walker = Walker::new();
        for data in [&words[..], &mixed, &skewed, &few, b"", b"a", &[7; 1000], &noise(40_000, 1)] {
            for level in 0..=12 {
                let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
                let mut stream = vec![0; compressor.deflate_compress_bound(data.len()) + SLACK];
                let len = compressor.deflate_compress(data, &mut stream).unwrap();
                let ends = walker.ends(&stream[..len + SLACK]).unwrap();
                assert_eq!(ends.end.div_ceil(8), len, "level {level}");
                let (at, bit) = (ends.last_block / 8, ends.last_block % 8);
                assert_eq!(stream[at] >> bit & 1, 1);
                // The stream as blocks in the middle of another stream, and then once more as its end.
                let mut joined = stream[..len].to_vec();
                joined[at] &= !(1 << bit);
                if ends.end.is_multiple_of(8) || ends.end % 8 > 5 {
                    joined.push(0);
                }
                joined.extend([0, 0, 0xff, 0xff]);
                joined.extend_from_slice(&stream[..len]);
                let (mut inflater, mut out) = (Inflater::new(), vec![0; 2 * data.len() + 1]);
                let (mut read, mut filled) = (0, 0);
                loop {
                    let step = inflater.step(&joined[read..], &mut out[filled..]).unwrap();
                    read += step.consumed;
                    filled += step.produced;
                    if step.ended {
                        break;
                    }
                }
                assert!(read == joined.len() && out[..filled] == data.repeat(2), "level {level}");
            }
        }
    }

    #[test]
    fn what_is_no_stream_has_no_ends() {
        let mut walker = Walker::new();
        for seed in 0..300 {
            let _ = walker.ends(&noise(500, seed * 7 + 1));
        }
        assert_eq!(walker.ends(&[7; 40]), None);
        assert_eq!(walker.ends(&[]), None);
    }
}
