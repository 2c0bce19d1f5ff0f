//! The blocks of a picture, MCU after MCU.

use crate::{Input, Result};

use super::Block;
use super::bits::Bits;
use super::frame::Frame;
use super::progressive::{self, Coefficients};
use super::segments::{Scan, Tables, next_scan, open};
use super::sequential::{Restarts, sequential};

/// The source of the blocks.
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
    /// The number of MCUs that were read.
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

    /// Returns the quantisers of a component.
    pub(super) fn quantisers(&self, component: usize) -> &[u16; 64] {
        &self.quantisers[component]
    }

    /// Appends the blocks of the next `mcus` MCUs to those of each component. Behind the end of the picture the blocks
    /// are zeros.
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

/// Stores the quantisers of the components of which this is the first scan.
fn latch(scan: &Scan, frame: &Frame, tables: &Tables, quantisers: &mut [Option<[u16; 64]>]) {
    for part in &scan.parts {
        let quantisers = &mut quantisers[part.component];
        *quantisers = quantisers.or(tables.quantisers[frame.components[part.component].table]);
    }
}
