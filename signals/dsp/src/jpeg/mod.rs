//! A decoder for JPEG (ITU-T T.81): baseline and progressive, with 8 bits a sample, in grey or in colour.
//!
//! [`decode`] reads a JPEG file and writes its picture as a portable pixmap (PPM), or a portable graymap (PGM) if it
//! is grey. Its samples are those of the reference decoder with exact integers and smooth interpolation of the
//! colours, `djpeg -dct int`.
//!
//! Colours may be sampled at half the rate in both directions, in one, or in none; samples of other whole ratios are
//! repeated. Arithmetic coding, 12 bits a sample, lossless and hierarchical files, and four components are errors. So
//! is a file that ends early or contradicts itself; the message states the offset.
//!
//! # The network
//!
//! `entropy` decodes the coefficients and gives each component its blocks. Copies of `idct` take turns with bursts of
//! blocks. `rows` puts the blocks of a component in rows, `upsample` interpolates rows between the rows above and
//! below, `colour` makes pixels, and `write` writes them. A baseline file is decoded row by row. The coefficients of
//! a progressive file are kept in memory until its last scan; they may take up to 1 GiB.

mod bits;
mod colour;
pub mod command;
mod entropy;
mod frame;
mod huffman;
mod idct;
mod network;
mod progressive;
mod segments;
mod sequential;
mod stream;
mod strips;
mod upsample;

use crate::by_frame::ByFrame;
use crate::{Executor, Input, Output, Result, Run};

use entropy::Blocks;
use strips::{Painter, Strip};

/// Coefficients of 8 × 8 samples, row after row of frequencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block(pub(crate) [i16; 64]);

impl Default for Block {
    fn default() -> Self {
        Self([0; 64])
    }
}

/// The number of MCUs that pass through the network in one firing by default.
pub const DEFAULT_BURST: usize = 64;

/// Decodes the JPEG file `input`, and writes its picture to `output`. The network passes on `burst` MCUs (minimum
/// coded units, of 1 to 10 blocks) at a time, at least 1.
///
/// # Errors
/// If the file is not a JPEG file of a supported kind, is damaged or ends early, or if a file cannot be read or
/// written.
pub fn decode(input: Input<'_>, output: &mut Output<'_>, burst: usize, run: &Run) -> Result<()> {
    let blocks = Blocks::open(input)?;
    if run.is_inline() {
        inline(blocks, output, run)
    } else {
        network::decode(blocks, output, burst.max(1), run)
    }
}

/// Decodes pictures, and writes them one behind the other. `engine` computes some of them side by side.
///
/// # Errors
/// The errors of [`decode`].
pub fn decode_by<'a>(
    engine: &impl ByFrame,
    mut pictures: impl Iterator<Item = Input<'a>> + Send,
    output: &mut Output<'_>,
) -> Result<()> {
    let code = |(): &mut (), input: Input<'a>| -> Result<Vec<u8>> {
        let mut picture = Vec::new();
        decode(input, &mut Output::from_writer("memory", &mut picture), 1, &Run::new(Executor::Inline))?;
        Ok(picture)
    };
    engine.run(|| Ok(pictures.next()), || (), code, |picture: Result<Vec<u8>>| output.put(&picture?))
}

/// The sequential form: a loop over the rows of MCUs.
fn inline(mut blocks: Blocks<'_>, output: &mut Output<'_>, run: &Run) -> Result<()> {
    let stage = |name| run.meters().stage(name);
    let (entropy, transform, paint, write) =
        (stage("entropy"), stage("idct"), stage("paint"), stage("write"));
    let mut painter = Painter::new(blocks.frame());
    output.put(blocks.frame().header().as_bytes())?;
    let rows = blocks.frame().mcu_rows;
    let components = blocks.frame().components.len();
    let mut coefficients = vec![Vec::new(); components];
    let mut held: Vec<Strip> = Vec::new();
    for row in 0..=rows {
        let mut strips = Vec::with_capacity(components);
        if row < rows {
            coefficients.iter_mut().for_each(Vec::clear);
            let mcus = blocks.frame().mcus_in_row;
            entropy.time(|| blocks.read(mcus, &mut coefficients))?;
            for (component, coefficients) in coefficients.iter().enumerate() {
                let component = &blocks.frame().components[component];
                let quantisers = blocks.quantisers(component.index);
                strips.push(transform.time(|| Strip::transformed(component, quantisers, coefficients)));
            }
        }
        if row > 0 {
            let pixels = paint.time(|| painter.paint(row - 1, &held, &strips));
            write.time(|| output.put(pixels))?;
        }
        held = strips;
    }
    Ok(())
}
