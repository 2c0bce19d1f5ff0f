//! Scans with a part of the picture: those of progressive files (T.81, annex G), and those of sequential files with a
//! scan for each component.

use crate::Result;

use super::Block;
use super::bits::Bits;
use super::frame::Frame;
use super::huffman::Huffman;
use super::segments::{Scan, Tables, ZIGZAG};
use super::sequential::{Restarts, sequential};

/// The largest memory for coefficients in bytes.
const MOST_BYTES: usize = 1 << 30;

/// The coefficients of a picture.
#[derive(Debug)]
pub(super) struct Coefficients {
    /// For each component.
    planes: Vec<Plane>,
}

#[derive(Debug)]
struct Plane {
    values: Vec<i16>,
    /// Blocks of a row.
    width: usize,
}

impl Plane {
    fn block(&mut self, row: usize, column: usize) -> Option<&mut [i16; 64]> {
        self.values[64 * (row * self.width + column)..].first_chunk_mut()
    }
}

impl Coefficients {
    /// Creates coefficients of zero, which take memory only when they are changed.
    pub(super) fn new(frame: &Frame) -> std::result::Result<Self, String> {
        let size = |component: &super::frame::Component| {
            64 * component.blocks_in_row * component.down * frame.mcu_rows
        };
        let bytes = 2 * frame.components.iter().map(size).sum::<usize>();
        if bytes > MOST_BYTES {
            return Err(format!(
                "a progressive picture of {} x {} samples needs {} MiB of memory, and {} MiB are allowed; convert it to \
                 a baseline file with jpegtran",
                frame.width,
                frame.height,
                bytes >> 20,
                MOST_BYTES >> 20
            ));
        }
        let plane = |component: &super::frame::Component| Plane {
            values: vec![0; size(component)],
            width: component.blocks_in_row,
        };
        Ok(Self { planes: frame.components.iter().map(plane).collect() })
    }

    pub(super) fn block(&self, component: usize, row: usize, column: usize) -> Block {
        let plane = &self.planes[component];
        let values = plane.values[64 * (row * plane.width + column)..].first_chunk();
        values.map_or(Block::default(), |values| Block(*values))
    }
}

/// Reads a scan.
pub(super) fn read(
    bits: &mut Bits<'_>,
    tables: &Tables,
    frame: &Frame,
    scan: &Scan,
    coefficients: &mut Coefficients,
) -> Result<()> {
    let mut restarts = Restarts::new(tables.restart);
    let mut predictions = [0; 3];
    // The number of blocks that have no more coefficients in this scan.
    let mut empty = 0;
    let has_dc = scan.first == 0 && scan.high == 0;
    let mut codes = Vec::new();
    for part in &scan.parts {
        let (dc, ac) = (&tables.dc[part.dc], &tables.ac[part.ac]);
        if has_dc && dc.is_none() || scan.last > 0 && ac.is_none() {
            return Err(Tables::missing(&bits.stream, "Huffman table"));
        }
        codes.push((part.component, dc.as_ref(), ac.as_ref()));
    }
    let mut block =
        |bits: &mut Bits<'_>, component: usize, at: (usize, usize), is_fresh: bool| -> Result<()> {
            if is_fresh {
                (predictions, empty) = ([0; 3], 0);
            }
            let Some(&(_, dc, ac)) = codes.iter().find(|(of, ..)| *of == component) else { return Ok(()) };
            let Some(block) = coefficients.planes[component].block(at.0, at.1) else { return Ok(()) };
            match (dc, ac) {
                (Some(dc), Some(ac)) if !frame.is_progressive => {
                    *block = [0; 64];
                    sequential(bits, dc, ac, &mut predictions[component], block)
                }
                (Some(dc), _) if has_dc => first_dc(bits, dc, scan.low, &mut predictions[component], block),
                _ if scan.first == 0 => later_dc(bits, scan.low, block),
                (_, Some(ac)) if scan.high == 0 => first_ac(bits, ac, scan, &mut empty, block),
                (_, Some(ac)) => later_ac(bits, ac, scan, &mut empty, block),
                _ => Ok(()),
            }
        };
    if let [part] = scan.parts[..] {
        // A scan of one component has its blocks row after row.
        let component = &frame.components[part.component];
        for row in 0..component.height.div_ceil(8) {
            for column in 0..component.width.div_ceil(8) {
                let is_fresh = restarts.before_mcu(bits)?;
                block(bits, part.component, (row, column), is_fresh)?;
            }
        }
        return Ok(());
    }
    for mcu in 0..frame.mcu_rows * frame.mcus_in_row {
        let mut is_fresh = restarts.before_mcu(bits)?;
        let (row, column) = (mcu / frame.mcus_in_row, mcu % frame.mcus_in_row);
        for part in &scan.parts {
            let component = &frame.components[part.component];
            for place in 0..component.across * component.down {
                let at = (
                    row * component.down + place / component.across,
                    column * component.across + place % component.across,
                );
                block(bits, part.component, at, is_fresh)?;
                is_fresh = false;
            }
        }
    }
    Ok(())
}

/// The first scan of the DC coefficients (G.1.2.1).
fn first_dc(
    bits: &mut Bits<'_>,
    dc: &Huffman,
    low: u32,
    prediction: &mut i32,
    block: &mut [i16; 64],
) -> Result<()> {
    let size = bits.symbol(dc)?;
    if size > 15 {
        bits.damaged("a coefficient has too many bits; the file is damaged");
    }
    *prediction = prediction.wrapping_add(bits.signed(u32::from(size & 15)));
    block[0] = (*prediction << low) as i16;
    bits.check()
}

/// A later scan of the DC coefficients: one bit of each.
fn later_dc(bits: &mut Bits<'_>, low: u32, block: &mut [i16; 64]) -> Result<()> {
    block[0] |= (bits.number(1)? << low) as i16;
    bits.check()
}

/// A first scan of AC coefficients (G.1.2.2).
fn first_ac(
    bits: &mut Bits<'_>,
    ac: &Huffman,
    scan: &Scan,
    empty: &mut u32,
    block: &mut [i16; 64],
) -> Result<()> {
    if *empty > 0 {
        *empty -= 1;
        return Ok(());
    }
    let mut place = scan.first;
    while place <= scan.last {
        let symbol = bits.symbol(ac)?;
        let (zeros, size) = (u32::from(symbol >> 4), u32::from(symbol & 15));
        if size == 0 {
            if zeros < 15 {
                *empty = (1 << zeros) - 1 + bits.after_symbol(zeros);
                break;
            }
            place += 16;
            continue;
        }
        place += zeros as usize;
        if place > scan.last {
            bits.damaged("a block has too many coefficients; the file is damaged");
            break;
        }
        block[usize::from(ZIGZAG[place])] = (bits.signed(size) << scan.low) as i16;
        place += 1;
    }
    bits.check()
}

/// A later scan of AC coefficients (G.1.2.3): one bit of each coefficient that is not 0, and coefficients that
/// become 1 or -1 in this bit.
fn later_ac(
    bits: &mut Bits<'_>,
    ac: &Huffman,
    scan: &Scan,
    empty: &mut u32,
    block: &mut [i16; 64],
) -> Result<()> {
    let bit = 1_i16 << scan.low;
    let mut place = scan.first;
    if *empty == 0 {
        while place <= scan.last {
            let symbol = bits.symbol(ac)?;
            let (mut zeros, size) = (u32::from(symbol >> 4), symbol & 15);
            let value = match size {
                0 if zeros < 15 => {
                    *empty = (1 << zeros) + bits.after_symbol(zeros);
                    break;
                }
                0 => 0,
                1 if bits.after_symbol(1) == 1 => bit,
                1 => -bit,
                _ => {
                    bits.damaged("a coefficient grows by more than a bit; the file is damaged");
                    0
                }
            };
            // Goes over as many zeros, and corrects what lies between them.
            let mut is_placed = false;
            while place <= scan.last {
                let coefficient = &mut block[usize::from(ZIGZAG[place])];
                place += 1;
                if *coefficient != 0 {
                    correct(bits, coefficient, bit)?;
                } else if zeros == 0 {
                    *coefficient = value;
                    is_placed = true;
                    break;
                } else {
                    zeros -= 1;
                }
            }
            if !is_placed && value != 0 {
                bits.damaged("a block has too many coefficients; the file is damaged");
            }
            bits.check()?;
        }
    }
    if *empty > 0 {
        for place in place..=scan.last {
            let coefficient = &mut block[usize::from(ZIGZAG[place])];
            if *coefficient != 0 {
                correct(bits, coefficient, bit)?;
            }
        }
        *empty -= 1;
    }
    bits.check()
}

/// Corrects a coefficient that is not 0 by one bit.
fn correct(bits: &mut Bits<'_>, coefficient: &mut i16, bit: i16) -> Result<()> {
    if bits.number(1)? == 1 && *coefficient & bit == 0 {
        *coefficient = coefficient.wrapping_add(if *coefficient > 0 { bit } else { -bit });
    }
    Ok(())
}
