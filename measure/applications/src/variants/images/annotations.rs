//! The loop with annotations.

use measure_programs::Output;
use measure_programs::images::{Input, emboss, gamma, grayscale, saturation, sharpen};

/// Runs with this many workers.
#[anabranch::stream]
pub fn run(input: &'static Input, workers: usize, mut output: Output) -> Output {
    #[to_stream(workers = workers)]
    for image in input.images() {
        #[stage(replicate)]
        let image = saturation(image);
        #[stage(replicate)]
        let image = emboss(image);
        #[stage(replicate)]
        let image = gamma(image);
        #[stage(replicate)]
        let image = sharpen(image);
        #[stage(replicate)]
        let image = grayscale(image);
        output.write(image.bytes());
    }
    output
}
