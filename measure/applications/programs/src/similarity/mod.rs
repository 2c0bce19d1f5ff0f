//! Searches for similar images, like the program ferret of the PARSEC suite: segment the image, describe its segments, look
//! for candidates in an index, and rank them.
//!
//! All arithmetic is in whole numbers, so results are the same everywhere.

mod observed;
mod sequential;
mod stages;

use crate::data::PHOTOGRAPHS;
use crate::random::Random;
use crate::{About, Data, Picture, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;
pub use stages::{Candidates, Features, Match, Segments, candidates, describe, rank, segment};

/// The images to look for, and the features of those among which they are looked for.
#[derive(Debug)]
pub struct Input {
    queries: Vec<Image>,
    database: Vec<Features>,
}

/// The number of rows and columns of an image.
const SIDE: usize = 64;

/// An image of 64 by 64 points, with a byte for each of three colours.
#[derive(Debug)]
pub struct Image(Vec<[u8; 3]>);

/// Some rectangles of one colour each on a background, with noise.
fn image(random: &mut Random) -> Image {
    let colour = |random: &mut Random| [0; 3].map(|_: u8| (random.bits() >> 56) as u8);
    let mut points = vec![colour(random); SIDE * SIDE];
    for _ in 0..6 {
        let (fill, top, left) = (colour(random), random.below(SIDE), random.below(SIDE));
        let (bottom, right) = (top + random.below(SIDE - top), left + random.below(SIDE - left));
        for row in points.chunks_exact_mut(SIDE).take(bottom).skip(top) {
            row[left..right].fill(fill);
        }
    }
    for point in &mut points {
        let noise = random.below(8) as u8;
        *point = point.map(|value| value.saturating_add(noise));
    }
    Image(points)
}

/// The squares into which a photograph is cut, once at half of a size and once at that size. A square is as large as an image.
fn parts(photograph: &Picture) -> Vec<Image> {
    let mut parts = Vec::new();
    for (across, down) in [(6, 4), (12, 8)] {
        let photograph = photograph.cover(across * SIDE, down * SIDE);
        for at in 0..across * down {
            let part = photograph.part(at % across * SIDE, at / across * SIDE, SIDE, SIDE);
            parts.push(Image(part.pixels));
        }
    }
    parts
}

/// How many images are looked for, and among how many.
fn sizes(scale: Scale) -> (usize, usize) {
    (scale.choose(8, 120, 3_000), scale.choose(16, 400, 2_000))
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "similarity",
        what: "searches a database for similar images in four stages, like PARSEC's ferret",
        item: "an image of 64 by 64 points",
        unit: "images",
        workloads: &["images"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let mut random = Random::new(23);
        let (queries, known) = sizes(scale);
        let queries = (0..queries).map(|_| image(&mut random)).collect();
        let database = (0..known).map(|_| describe(segment(&image(&mut random)))).collect();
        (name == "images").then_some(Self { queries, database })
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        let (queries, known) = sizes(scale);
        let searched = |parts: Vec<Vec<Image>>| {
            // The parts of all photographs in turn, so that the images to look for are of the same photographs as the others.
            let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
            let mut all =
                (0..longest).flat_map(|at| parts.iter().filter_map(move |part| part.get(at))).cycle();
            Self {
                database: all.by_ref().take(known).map(|image| describe(segment(image))).collect(),
                queries: all.take(queries).map(|image| Image(image.0.clone())).collect(),
            }
        };
        (name == "images").then(|| data.pictures(PHOTOGRAPHS, usize::MAX, parts).map(searched))
    }

    fn amount(&self) -> f64 {
        self.queries.len() as f64
    }
}

impl Input {
    /// The source: the images to look for.
    pub fn queries(&self) -> impl Iterator<Item = &Image> + Send {
        self.queries.iter()
    }
}
