//! The plain loop, with each stage measured.

use super::{Image, Input, emboss, gamma, grayscale, saturation, sharpen};
use crate::{Output, Probe};

/// As the sequential program.
pub fn run(input: &'static Input, mut output: Output, probe: &mut Probe) -> Output {
    let bytes = |image: &Image| image.bytes().len();
    let mut images = input.images();
    while let Some(image) = probe.next("generate", &mut images, bytes) {
        let image = probe.stage("saturation", || saturation(image), bytes);
        let image = probe.stage("emboss", || emboss(image), bytes);
        let image = probe.stage("gamma", || gamma(image), bytes);
        let image = probe.stage("sharpen", || sharpen(image), bytes);
        let image = probe.stage("grayscale", || grayscale(image), bytes);
        probe.stage("write", || output.write(image.bytes()), |()| bytes(&image));
    }
    output
}
