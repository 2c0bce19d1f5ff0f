//! Searches for similar images, like the program ferret of the PARSEC suite: segment the image, describe its segments, look
//! for candidates in an index, and rank them.
//!
//! All arithmetic is in whole numbers, so results are the same everywhere.

mod observed;
mod sequential;
mod stages;

use crate::random::Random;
use crate::{About, Scale, Workload};

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
        let queries = (0..scale.choose(8, 300, 3_000)).map(|_| image(&mut random)).collect();
        let known = scale.choose(16, 1_000, 2_000);
        let database = (0..known).map(|_| describe(segment(&image(&mut random)))).collect();
        (name == "images").then_some(Self { queries, database })
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
