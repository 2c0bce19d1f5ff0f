//! The plain loop.

use super::{Input, emboss, gamma, grayscale, saturation, sharpen};
use crate::Output;

/// Filters and writes one image after the other.
pub fn run(input: &'static Input, _workers: usize, mut output: Output) -> Output {
    for image in input.images() {
        let image = saturation(image);
        let image = emboss(image);
        let image = gamma(image);
        let image = sharpen(image);
        let image = grayscale(image);
        output.write(image.bytes());
    }
    output
}
