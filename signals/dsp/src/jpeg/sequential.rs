//! The common parts of sequential and progressive scans: restart markers; and the blocks of sequential scans.

use crate::Result;

use super::bits::Bits;
use super::huffman::Huffman;
use super::segments::ZIGZAG;

/// The restart markers of a scan (T.81, E.1.4).
#[derive(Debug)]
pub(super) struct Restarts {
    interval: usize,
    left: usize,
    number: u8,
}

impl Restarts {
    pub(super) fn new(interval: usize) -> Self {
        Self { interval, left: interval, number: 0 }
    }

    /// Takes the marker that is due before the next MCU. Returns whether there was one.
    #[inline]
    pub(super) fn before_mcu(&mut self, bits: &mut Bits<'_>) -> Result<bool> {
        if self.interval == 0 {
            return Ok(false);
        }
        if self.left > 0 {
            self.left -= 1;
            return Ok(false);
        }
        bits.restart(self.number)?;
        self.number = (self.number + 1) % 8;
        self.left = self.interval - 1;
        Ok(true)
    }
}

/// Decodes a block of a sequential scan (T.81, F.2.2).
#[inline]
pub(super) fn sequential(
    bits: &mut Bits<'_>,
    dc: &Huffman,
    ac: &Huffman,
    prediction: &mut i32,
    block: &mut [i16; 64],
) -> Result<()> {
    let size = bits.symbol(dc)?;
    if size > 15 {
        bits.damaged("a coefficient has too many bits; the file is damaged");
    }
    *prediction = prediction.wrapping_add(bits.signed(u32::from(size & 15)));
    block[0] = *prediction as i16;
    let mut place = 1;
    while place < 64 {
        let symbol = bits.symbol(ac)?;
        let (zeros, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
        if size == 0 {
            if zeros < 15 {
                break;
            }
            place += 16;
            continue;
        }
        place += zeros;
        if place > 63 {
            bits.damaged("a block has more than 64 coefficients; the file is damaged");
            break;
        }
        block[usize::from(ZIGZAG[place]) & 63] = bits.signed(size) as i16;
        place += 1;
    }
    bits.check()
}
