//! The application `images`.

use measure_programs::Output;
use measure_programs::images::{Input, emboss, gamma, grayscale, saturation, sharpen};

use crate::ordered::Ordered;

/// Runs with this many workers.
pub fn run<O: Ordered>(input: &'static Input, workers: usize, mut output: Output) -> Output {
    let filters = |image| grayscale(sharpen(gamma(emboss(saturation(image)))));
    for image in O::map(input.images(), workers, filters) {
        output.write(image.bytes());
    }
    output
}
