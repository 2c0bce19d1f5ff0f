//! The blocks of a picture, MCU after MCU.

use crate::{Input, Result};

use super::Block;
use super::bits::Bits;
use super::frame::Frame;
use super::huffman::Huffman;
use super::progressive::{self, Coefficients};
use super::segments::{Scan, Tables, ZIGZAG, next_scan, open};

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

/// Where the blocks come from.
#[derive(Debug)]
enum From {
    /// The only scan, which has all components.
    Scan { scan: Scan, predictions: [i32; 3], restarts: Restarts },
    /// Memory, after all scans.
    Memory(Coefficients),
}

/// The blocks of a picture.
#[derive(Debug)]
pub(super) struct Blocks<'a> {
    bits: Bits<'a>,
    tables: Tables,
    frame: Frame,
    /// For each component.
    quantisers: Vec<[u16; 64]>,
    from: From,
    /// The MCUs that were read.
    mcu: usize,
}

impl<'a> Blocks<'a> {
    /// Opens a file. If its first scan does not have the whole picture, all scans are read.
    pub(super) fn open(input: Input<'a>) -> Result<Self> {
        let (stream, mut tables, frame, scan) = open(input)?;
        let mut bits = Bits::new(stream);
        let mut quantisers = vec![None; frame.components.len()];
        let from = if !frame.is_progressive && scan.parts.len() == frame.components.len() {
            latch(&scan, &frame, &tables, &mut quantisers);
            for part in &scan.parts {
                if tables.dc[part.dc].is_none() || tables.ac[part.ac].is_none() {
                    return Err(Tables::missing(&bits.stream, "Huffman table"));
                }
            }
            From::Scan { scan, predictions: [0; 3], restarts: Restarts::new(tables.restart) }
        } else {
            let mut coefficients = Coefficients::new(&frame).map_err(|what| bits.stream.error(what))?;
            let mut next = Some(scan);
            let mut again = Some(frame.clone());
            while let Some(scan) = next {
                latch(&scan, &frame, &tables, &mut quantisers);
                progressive::read(&mut bits, &tables, &frame, &scan, &mut coefficients)?;
                bits.align();
                next = next_scan(&mut bits.stream, &mut tables, &mut again)?;
            }
            From::Memory(coefficients)
        };
        let quantisers: Option<Vec<[u16; 64]>> = quantisers.into_iter().collect();
        let Some(quantisers) = quantisers else {
            return Err(Tables::missing(&bits.stream, "table of quantisers"));
        };
        Ok(Self { bits, tables, frame, quantisers, from, mcu: 0 })
    }

    pub(super) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The quantisers of a component.
    pub(super) fn quantisers(&self, component: usize) -> &[u16; 64] {
        &self.quantisers[component]
    }

    /// Appends the blocks of the next `mcus` MCUs to those of each component. Behind the end of the picture the
    /// blocks are zeros.
    pub(super) fn read(&mut self, mcus: usize, blocks: &mut [Vec<Block>]) -> Result<()> {
        let all = self.frame.mcus_in_row * self.frame.mcu_rows;
        for _ in 0..mcus {
            if self.mcu >= all {
                for (blocks, component) in blocks.iter_mut().zip(&self.frame.components) {
                    blocks.resize(blocks.len() + component.across * component.down, Block::default());
                }
                continue;
            }
            match &mut self.from {
                From::Scan { scan, predictions, restarts } => {
                    if restarts.before_mcu(&mut self.bits)? {
                        *predictions = [0; 3];
                    }
                    for part in &scan.parts {
                        let component = &self.frame.components[part.component];
                        let (Some(dc), Some(ac)) = (&self.tables.dc[part.dc], &self.tables.ac[part.ac])
                        else {
                            return Err(Tables::missing(&self.bits.stream, "Huffman table"));
                        };
                        for _ in 0..component.across * component.down {
                            let mut block = Block::default();
                            let prediction = &mut predictions[part.component];
                            sequential(&mut self.bits, dc, ac, prediction, &mut block.0)?;
                            blocks[part.component].push(block);
                        }
                    }
                }
                From::Memory(coefficients) => {
                    let (row, column) =
                        (self.mcu / self.frame.mcus_in_row, self.mcu % self.frame.mcus_in_row);
                    for (component, blocks) in self.frame.components.iter().zip(&mut *blocks) {
                        for place in 0..component.across * component.down {
                            let row = row * component.down + place / component.across;
                            let column = column * component.across + place % component.across;
                            blocks.push(coefficients.block(component.index, row, column));
                        }
                    }
                }
            }
            self.mcu += 1;
            if self.mcu == all && matches!(self.from, From::Scan { .. }) {
                self.end()?;
            }
        }
        Ok(())
    }

    /// Checks that the picture ends behind its only scan.
    fn end(&mut self) -> Result<()> {
        self.bits.align();
        let mut frame = Some(self.frame.clone());
        match next_scan(&mut self.bits.stream, &mut self.tables, &mut frame)? {
            None => Ok(()),
            Some(_) => Err(self
                .bits
                .stream
                .error("a scan follows the one with the whole picture; the file is damaged")),
        }
    }
}

/// Notes the quantisers of the components whose first scan this is.
fn latch(scan: &Scan, frame: &Frame, tables: &Tables, quantisers: &mut [Option<[u16; 64]>]) {
    for part in &scan.parts {
        let quantisers = &mut quantisers[part.component];
        *quantisers = quantisers.or(tables.quantisers[frame.components[part.component].table]);
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
