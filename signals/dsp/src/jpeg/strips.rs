//! Rows of MCUs: from samples to pixels.

use super::Block;
use super::colour;
use super::frame::{Colours, Component, Frame};
use super::idct::transform;
use super::upsample::Upsampler;

/// The samples of a component in a row of MCUs.
#[derive(Debug, Clone, Default)]
pub(super) struct Strip {
    pub(super) samples: Vec<u8>,
    /// The number of samples of a row.
    pub(super) stride: usize,
}

impl Strip {
    pub(super) fn new(component: &Component) -> Self {
        let (stride, rows) = component.strip();
        Self { samples: vec![0; stride * rows], stride }
    }

    /// Transforms the blocks of a row of MCUs.
    pub(super) fn transformed(component: &Component, quantisers: &[u16; 64], blocks: &[Block]) -> Self {
        let mut strip = Self::new(component);
        let mut samples = [0; 64];
        for (number, block) in blocks.iter().enumerate() {
            transform(&block.0, quantisers, &mut samples);
            strip.place(component, number, &samples);
        }
        strip
    }

    /// Places the samples of block number `number`, in the order of MCUs.
    #[inline]
    pub(super) fn place(&mut self, component: &Component, number: usize, samples: &[u8; 64]) {
        let in_mcu = component.across * component.down;
        let (mcu, place) = (number / in_mcu, number % in_mcu);
        let column = mcu * component.across + place % component.across;
        let first = 8 * (place / component.across * self.stride + column);
        let rows = self.samples[first..].chunks_mut(self.stride);
        for (row, samples) in rows.zip(samples.as_chunks::<8>().0) {
            row[..8].copy_from_slice(samples);
        }
    }

    fn row(&self, row: usize) -> &[u8] {
        &self.samples[row * self.stride..][..self.stride]
    }
}

/// Makes a component as large as the picture, strip after strip.
#[derive(Debug, Clone)]
pub(super) struct Widener {
    component: Component,
    upsampler: Upsampler,
    /// The last row of the strip before.
    above: Vec<u8>,
}

impl Widener {
    pub(super) fn new(frame: &Frame, component: &Component) -> Self {
        Self { component: component.clone(), upsampler: Upsampler::new(frame, component), above: Vec::new() }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.upsampler.is_whole()
    }

    /// Computes the wide form of strip number `number`. `next` is the strip below, if the picture has one.
    pub(super) fn widen(&mut self, number: usize, strip: &Strip, next: Option<&Strip>, wide: &mut Strip) {
        let (_, rows) = self.component.strip();
        let left = self.component.height - (number * rows).min(self.component.height);
        let (rows, count) = (rows.min(left), self.upsampler.rows());
        // A whole number of samples, some of which may lie beyond the picture.
        let stride = strip.stride * 4;
        wide.stride = stride;
        wide.samples.resize(stride * rows * count, 0);
        for (row, wide) in wide.samples.chunks_exact_mut(stride * count).enumerate() {
            let here = strip.row(row);
            let above = match row {
                0 if number == 0 => here,
                0 => &self.above,
                _ => strip.row(row - 1),
            };
            let below = match next {
                _ if row + 1 < rows => strip.row(row + 1),
                Some(next) if left > rows => next.row(0),
                _ => here,
            };
            self.upsampler.row([above, here, below], wide, stride);
        }
        if self.upsampler.needs_neighbours() && rows > 0 {
            self.above.clear();
            self.above.extend_from_slice(strip.row(rows - 1));
        }
    }
}

/// Makes pixels of strips that are as large as the picture.
#[derive(Debug, Clone)]
pub(super) struct Pixels {
    colours: Colours,
    width: usize,
    height: usize,
    /// The number of rows of pixels in a row of MCUs.
    rows: usize,
}

impl Pixels {
    pub(super) fn new(frame: &Frame) -> Self {
        Self { colours: frame.colours, width: frame.width, height: frame.height, rows: 8 * frame.down }
    }

    /// Writes the pixels of strip number `number`.
    pub(super) fn make(&self, number: usize, strips: &[&Strip], pixels: &mut Vec<u8>) {
        let rows = self.rows.min(self.height - (number * self.rows).min(self.height));
        let bytes = if self.colours == Colours::Grey { self.width } else { 3 * self.width };
        pixels.resize(rows * bytes, 0);
        for (row, pixels) in pixels.chunks_exact_mut(bytes).enumerate() {
            let row_of = |component: usize| &strips[component].row(row)[..self.width];
            match self.colours {
                Colours::Grey => pixels.copy_from_slice(row_of(0)),
                Colours::YCbCr => colour::to_rgb([0, 1, 2].map(row_of), pixels),
                Colours::Rgb => colour::interleave([0, 1, 2].map(row_of), pixels),
            }
        }
    }
}

/// Makes pixels of strips, with the memory that this needs.
#[derive(Debug)]
pub(super) struct Painter {
    wideners: Vec<Widener>,
    wide: Vec<Strip>,
    pixels: Pixels,
    painted: Vec<u8>,
}

impl Painter {
    pub(super) fn new(frame: &Frame) -> Self {
        let wideners: Vec<Widener> =
            frame.components.iter().map(|component| Widener::new(frame, component)).collect();
        let wide = vec![Strip::default(); wideners.len()];
        Self { wideners, wide, pixels: Pixels::new(frame), painted: Vec::new() }
    }

    /// Returns the pixels of strip number `number`. `strips` are its components, and `next` those of the strip below,
    /// if there is one.
    pub(super) fn paint(&mut self, number: usize, strips: &[Strip], next: &[Strip]) -> &[u8] {
        let mut large = Vec::with_capacity(strips.len());
        for (component, ((widener, wide), strip)) in
            self.wideners.iter_mut().zip(&mut self.wide).zip(strips).enumerate()
        {
            if widener.is_whole() {
                large.push(strip);
            } else {
                widener.widen(number, strip, next.get(component), wide);
                large.push(&*wide);
            }
        }
        self.pixels.make(number, &large, &mut self.painted);
        &self.painted
    }
}
