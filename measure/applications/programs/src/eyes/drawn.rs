//! Drawn faces, and cascades that find them: for runs without real data.
//!
//! A cascade is made of samples of what it shall find. Its features are chosen at random among those that have the same sign in
//! all samples, and a stump asks whether a feature is as strong as in the weakest of them. Each stage has more stumps than the one
//! before, as in trained cascades.

use super::cascade::{Area, Cascade, Feature, Next, Node, Stage, Tree};
use super::film::swing;
use super::{Cast, FILM, Frame, Light, Rectangle};
use crate::random::Random;

/// The side of the windows, in pixels.
const SIDE: usize = 20;
/// How many stumps the stages have.
const STUMPS: [usize; 8] = [5, 10, 20, 30, 40, 50, 60, 70];
/// The share of its stumps that must agree for a stage to be passed.
const QUORUM: f32 = 0.97;
/// Weaker features would see the noise.
const LEAST_VALUE: f64 = 0.03;

/// The shade of a face at a place, where the face goes from 0 to 1 in both directions. `None` outside of it.
fn shade(x: f64, y: f64) -> Option<u8> {
    let within = |centre: (f64, f64), radii: (f64, f64)| {
        let (across, down) = ((x - centre.0) / radii.0, (y - centre.1) / radii.1);
        across * across + down * down <= 1.0
    };
    let at_either = |y, radii| within((0.3, y), radii) || within((0.7, y), radii);
    Some(match () {
        () if !within((0.5, 0.5), (0.46, 0.5)) => return None,
        () if at_either(0.4, (0.06, 0.06)) => 20,
        () if at_either(0.4, (0.13, 0.08)) => 235,
        () if at_either(0.25, (0.14, 0.03)) => 50,
        () if within((0.5, 0.56), (0.05, 0.05)) => 140,
        () if within((0.5, 0.77), (0.2, 0.05)) => 70,
        () => 185,
    })
}

/// Draws a face of this size, in pixels, with its upper left corner at a place.
fn face(frame: &mut Frame, (left, top): (usize, usize), side: usize) {
    for y in 0..side {
        for x in 0..side {
            let place = |at: usize| (at as f64 + 0.5) / side as f64;
            if let Some(shade) = shade(place(x), place(y)) {
                let at = (top + y) * frame.width + left + x;
                frame.pixels[at] = [shade, shade - shade / 8, shade - shade / 5];
            }
        }
    }
}

/// A frame of the film: faces that move before clouds.
pub(super) fn frame(cast: Cast, number: usize, width: usize, height: usize) -> Frame {
    let mut random = Random::new(number as u64 + 31);
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let light = 60
                + swing(x + number, width) * 50 / width
                + swing(y, height) * 30 / height
                + random.below(16);
            pixels.push([light as u8, light as u8, light as u8 + 20]);
        }
    }
    let mut frame = Frame { width, height, pixels };
    for (place, side) in places(cast, number, width, height) {
        face(&mut frame, place, side);
    }
    frame
}

/// The upper left corners and the sides of the faces in a frame, in pixels. Each face moves in a part of the frame, and comes
/// nearer and goes away again.
fn places(
    cast: Cast,
    number: usize,
    width: usize,
    height: usize,
) -> impl Iterator<Item = ((usize, usize), usize)> {
    let count = match cast {
        Cast::None | Cast::Mixed => 0,
        Cast::One => 1,
        Cast::Several => 3,
    };
    let part = width / count.max(1);
    (0..count).map(move |face| {
        let least = height * 4 / 10;
        let side = (least + swing(number + 37 * face, 100) * height / 500).min(part - 4);
        let left = face * part + (part - side) * swing(number + 11 * face, 75) / 75;
        ((left, (height - side) * swing(number + 53 * face, 45) / 45), side)
    })
}

/// The cascades of faces and of eyes.
pub(super) fn cascades() -> (Cascade, Cascade) {
    let (width, height) = (320, 180);
    let (mut faces, mut eyes) = (Vec::new(), Vec::new());
    for (number, cast) in (0..FILM).step_by(15).zip([Cast::One, Cast::Several].into_iter().cycle()) {
        let light = Light::of(&frame(cast, number, width, height)).equalised();
        let add = |samples: &mut Vec<Sample>, centre: (f64, f64), side: f64| {
            // A window is found although it is somewhat beside, and somewhat larger or smaller.
            for (x, y, size) in [(0.0, 0.0, 1.0), (0.05, 0.05, 1.05), (-0.05, 0.05, 0.95), (0.05, -0.05, 1.0)]
            {
                let side = side * size;
                let edge = |centre: f64, off: f64| (centre + (off - 0.5) * side) as i32;
                let (x, y, side) = (edge(centre.0, x), edge(centre.1, y), side as i32);
                if x >= 0 && y >= 0 && x + side <= width as i32 && y + side <= height as i32 {
                    samples.push(Sample::of(&light, Rectangle { x, y, width: side, height: side }));
                }
            }
        };
        for ((left, top), side) in places(cast, number, width, height) {
            let side = side as f64;
            let at = |x: f64, y: f64| (left as f64 + x * side, top as f64 + y * side);
            add(&mut faces, at(0.5, 0.5), side);
            add(&mut eyes, at(0.3, 0.4), side / 2.0);
            add(&mut eyes, at(0.7, 0.4), side / 2.0);
        }
    }
    (cascade(&faces, 3), cascade(&eyes, 5))
}

/// A window, scaled to the size of the cascade.
struct Sample {
    /// The sums of the light above and to the left of each corner of a pixel.
    sums: [[i32; SIDE + 1]; SIDE + 1],
    /// Its deviation, as a detector computes it: of the pixels that are not at the border, times their number.
    deviation: f64,
}

impl Sample {
    fn of(light: &Light, window: Rectangle) -> Self {
        let mut pixels = Vec::new();
        light.part(window).scaled_to(SIDE, SIDE, &mut pixels);
        let mut sums = [[0; SIDE + 1]; SIDE + 1];
        for (y, row) in pixels.chunks_exact(SIDE).enumerate() {
            let mut sum = 0;
            for (x, &pixel) in row.iter().enumerate() {
                sum += i32::from(pixel);
                sums[y + 1][x + 1] = sums[y][x + 1] + sum;
            }
        }
        let rows = pixels.chunks_exact(SIDE).skip(1).take(SIDE - 2);
        let inner: Vec<f64> = rows.flat_map(|row| &row[1..SIDE - 1]).map(|&pixel| f64::from(pixel)).collect();
        let (sum, squares) =
            (inner.iter().sum::<f64>(), inner.iter().map(|light| light * light).sum::<f64>());
        Self { sums, deviation: (inner.len() as f64 * squares - sum * sum).sqrt() }
    }

    /// The value of a feature.
    fn value(&self, feature: &Feature) -> f64 {
        let weighed = |&(Area { x, y, width, height }, weight): &(Area, f32)| {
            let (above, below) = (&self.sums[y], &self.sums[y + height]);
            f64::from(below[x + width] - below[x] - above[x + width] + above[x]) * f64::from(weight)
        };
        feature.0.iter().map(weighed).sum::<f64>() / self.deviation
    }
}

/// A cascade that finds what is like these samples.
fn cascade(samples: &[Sample], seed: u64) -> Cascade {
    let mut random = Random::new(seed);
    let (mut features, mut stages) = (Vec::new(), Vec::new());
    for stumps in STUMPS {
        let mut trees = Vec::new();
        while trees.len() < stumps {
            let feature = any_feature(&mut random);
            let values = || samples.iter().map(|sample| sample.value(&feature));
            let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN, f64::max));
            // The first leaf is for less than the threshold.
            let (threshold, leaves) = if least > LEAST_VALUE {
                (least, vec![0.0, 1.0])
            } else if most < -LEAST_VALUE {
                (most, vec![1.0, 0.0])
            } else {
                continue;
            };
            let (left, right) = (Next::Leaf(0), Next::Leaf(1));
            let node = Node { feature: features.len(), threshold: (0.8 * threshold) as f32, left, right };
            features.push(feature);
            trees.push(Tree { nodes: vec![node], leaves });
        }
        stages.push(Stage { threshold: QUORUM * stumps as f32, trees });
    }
    Cascade { width: SIDE, height: SIDE, stages, features }
}

/// A rectangle whose one half, or middle third, is held against the rest.
fn any_feature(random: &mut Random) -> Feature {
    let parts = 2 + random.below(2);
    let (along, across) = (1 + random.below(SIDE / parts), 1 + random.below(SIDE));
    let (place, beside) = (random.below(SIDE - along * parts + 1), random.below(SIDE - across + 1));
    let is_upright = random.below(2) == 0;
    let area = |from: usize, length: usize| {
        if is_upright {
            Area { x: beside, y: from, width: across, height: length }
        } else {
            Area { x: from, y: beside, width: length, height: across }
        }
    };
    let part = area(place + along, along);
    Feature(vec![(area(place, along * parts), -1.0), (part, parts as f32)])
}
