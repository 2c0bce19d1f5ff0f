//! The lengths of the codes of a dynamic block (RFC 1951, section 3.2.7).

use super::Damaged;
use super::bits::Bits;
use super::table::count;

/// The largest numbers of literal/length codes and distance codes that a block may state.
pub(super) const MOST_LITLENS: usize = 286;
pub(super) const MOST_DISTANCES: usize = 30;

/// The order of the code lengths of code lengths.
pub(super) const ORDER: [u8; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The length of the longest code of a code length, in bits.
const BITS: u32 = 7;

/// Reads the code lengths step by step, as input comes.
pub(super) struct Lengths {
    stage: Stage,
    litlens: usize,
    distances: usize,
    codes: usize,
    /// The number of lengths that are known in this stage.
    known: usize,
    /// Whether there is no code for any code length.
    has_no_codes: bool,
    /// The decoding table of code lengths: the symbol in the upper bits, the length of its code in the lowest four.
    table: [u16; 1 << BITS],
    lens: [u8; MOST_LITLENS + MOST_DISTANCES],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Numbers,
    Codes,
    Lengths,
}

impl Lengths {
    pub(super) fn new() -> Self {
        Lengths {
            stage: Stage::Numbers,
            litlens: 0,
            distances: 0,
            codes: 0,
            known: 0,
            has_no_codes: false,
            table: [0; 1 << BITS],
            lens: [0; MOST_LITLENS + MOST_DISTANCES],
        }
    }

    /// Begins a block.
    pub(super) fn begin(&mut self) {
        (self.stage, self.has_no_codes) = (Stage::Numbers, false);
    }

    /// Returns whether the bits read so far cannot begin a block, whatever follows.
    pub(super) fn are_hopeless(&self) -> bool {
        self.has_no_codes
    }

    /// Reads more lengths. Returns `true` when all are read.
    ///
    /// # Errors
    ///
    /// If the numbers or the lengths are not valid. The fault is in the bits that were taken last.
    pub(super) fn read(&mut self, bits: &mut Bits<'_>) -> Result<bool, Damaged> {
        if self.stage == Stage::Numbers {
            let Some(numbers) = bits.peek(14) else { return Ok(false) };
            bits.take(14);
            self.litlens = 257 + (numbers & 31) as usize;
            self.distances = 1 + (numbers >> 5 & 31) as usize;
            self.codes = 4 + (numbers >> 10) as usize;
            if self.litlens > MOST_LITLENS || self.distances > MOST_DISTANCES {
                return Err(Damaged);
            }
            self.known = 0;
            self.lens[..ORDER.len()].fill(0);
            self.stage = Stage::Codes;
        }
        if self.stage == Stage::Codes {
            while self.known < self.codes {
                let Some(len) = bits.peek(3) else { return Ok(false) };
                bits.take(3);
                self.lens[usize::from(ORDER[self.known])] = len as u8;
                self.known += 1;
            }
            self.build()?;
            self.known = 0;
            self.stage = Stage::Lengths;
        }
        let all = self.litlens + self.distances;
        while self.known < all {
            if bits.count < BITS {
                bits.fill();
            }
            let entry = self.table[bits.hold as usize & ((1 << BITS) - 1)];
            let (symbol, len) = (entry >> 4, u32::from(entry & 15));
            let (extra, least) = match symbol {
                0..16 => (0, 1),
                16 => (2, 3),
                17 => (3, 3),
                _ => (7, 11),
            };
            if bits.count < len {
                return Ok(false);
            }
            let Some(read) = bits.peek(len + extra) else { return Ok(false) };
            bits.take(len + extra);
            let value = match symbol {
                0..16 => symbol as u8,
                16 if self.known == 0 => return Err(Damaged),
                16 => self.lens[self.known - 1],
                _ => 0,
            };
            let times = least + (read >> len) as usize;
            let Some(places) = self.lens[..all].get_mut(self.known..self.known + times) else {
                return Err(Damaged);
            };
            places.fill(value);
            self.known += times;
        }
        // A block without a code for its end is not valid.
        if self.lens[256] == 0 { Err(Damaged) } else { Ok(true) }
    }

    /// Returns whether the lengths are those of complete codes.
    pub(super) fn are_right(&self) -> bool {
        let (litlens, distances) = self.get();
        count(litlens).is_ok() && count(distances).is_ok()
    }

    /// Returns the code lengths of literals and lengths, and of distances.
    pub(super) fn get(&self) -> (&[u8], &[u8]) {
        self.lens[..self.litlens + self.distances].split_at(self.litlens)
    }

    /// Makes the table for code lengths.
    fn build(&mut self) -> Result<(), Damaged> {
        let lens = &self.lens[..ORDER.len()];
        let counts = count(lens)?;
        if counts[1..].iter().all(|&count| count == 0) {
            // As in zlib: each bit stands for a missing code, so that in the end the code of the block's end is
            // missing.
            self.table.fill(1);
            self.has_no_codes = true;
            return Ok(());
        }
        if counts[1] == 1 && counts[2..].iter().all(|&count| count == 0) {
            return Err(Damaged);
        }
        let mut code = 0;
        for len in 1..=BITS {
            code <<= 1;
            for (symbol, _) in lens.iter().enumerate().filter(|&(_, &of)| u32::from(of) == len) {
                let first = (code as u32).reverse_bits() >> (32 - len);
                for at in (first as usize..1 << BITS).step_by(1 << len) {
                    self.table[at] = (symbol as u16) << 4 | len as u16;
                }
                code += 1;
            }
        }
        Ok(())
    }
}
