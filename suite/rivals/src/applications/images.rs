//! The application `images`.

use anabranch_applications::Output;
use anabranch_applications::images::{Input, emboss, gamma, grayscale, saturation, sharpen};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let filters = |image| grayscale(sharpen(gamma(emboss(saturation(image)))));
    for image in O::map(input.images(), workers, filters) {
        output.write(image.bytes());
    }
    output
}
