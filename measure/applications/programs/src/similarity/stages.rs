//! The four parallel stages.

use super::{Image, Input, SIDE};

/// How many segments an image has at most.
const MOST_SEGMENTS: usize = 8;
/// How far a colour may be from that of its segment, as the sum of the differences.
const NEAR: u32 = 96;
/// A candidate is one of so many images whose colours are the nearest.
const CANDIDATES: usize = 32;
/// How many images a query finds.
const FOUND: usize = 4;

/// An image, and the number of the segment of each point.
#[derive(Debug)]
pub struct Segments<'a> {
    image: &'a Image,
    number: Vec<u8>,
}

fn difference(one: [u8; 3], other: [u8; 3]) -> u32 {
    one.iter().zip(other).map(|(&one, other)| u32::from(one.abs_diff(other))).sum()
}

/// The first stage: each point belongs to the first colour that is near it. The last segment has what is near none.
pub fn segment(image: &Image) -> Segments<'_> {
    let mut colours: Vec<[u8; 3]> = Vec::with_capacity(MOST_SEGMENTS);
    let number = image.0.iter().map(|&point| {
        if let Some(near) = colours.iter().position(|&colour| difference(colour, point) <= NEAR) {
            return near as u8;
        }
        if colours.len() < MOST_SEGMENTS {
            colours.push(point);
        }
        colours.len() as u8 - 1
    });
    Segments { number: number.collect(), image }
}

/// What describes an image: for each segment its size, its mean colour, and its mean place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    segments: [[u32; 6]; MOST_SEGMENTS],
    /// The mean colour of the image.
    colour: [u32; 3],
}

/// The second stage: describes the segments.
pub fn describe(segments: Segments<'_>) -> Features {
    let mut sums = [[0u32; 6]; MOST_SEGMENTS];
    let mut colour = [0u32; 3];
    for (at, (point, &number)) in segments.image.0.iter().zip(&segments.number).enumerate() {
        let of = &mut sums[usize::from(number)];
        of[0] += 1;
        for (band, &value) in point.iter().enumerate() {
            of[1 + band] += u32::from(value);
            colour[band] += u32::from(value);
        }
        of[4] += (at / SIDE) as u32;
        of[5] += (at % SIDE) as u32;
    }
    for of in &mut sums {
        let size = of[0].max(1);
        of[1..].iter_mut().for_each(|sum| *sum /= size);
    }
    sums.sort_unstable_by(|one, other| other.cmp(one));
    Features { segments: sums, colour: colour.map(|sum| sum / (SIDE * SIDE) as u32) }
}

/// An image, and the images of the database that may be like it.
#[derive(Debug)]
pub struct Candidates {
    features: Features,
    numbers: Vec<u32>,
}

impl Candidates {
    /// The size in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&self.numbers[..])
    }
}

/// The third stage: the images of the database whose mean colours are the nearest.
pub fn candidates(input: &Input, features: Features) -> Candidates {
    let distance = |known: &Features| -> u32 {
        known.colour.iter().zip(features.colour).map(|(&one, other)| one.abs_diff(other)).sum()
    };
    let mut nearest: Vec<(u32, u32)> =
        (0..).zip(&input.database).map(|(n, known)| (distance(known), n)).collect();
    if nearest.len() > CANDIDATES {
        nearest.select_nth_unstable(CANDIDATES);
        nearest.truncate(CANDIDATES);
    }
    nearest.sort_unstable();
    Candidates { features, numbers: nearest.into_iter().map(|(_, number)| number).collect() }
}

/// An image that was found, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    distance: u64,
    number: u32,
}

impl Match {
    /// The number and the distance as bytes.
    pub fn bytes(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.distance.to_le_bytes());
        bytes[8..].copy_from_slice(&self.number.to_le_bytes());
        bytes
    }
}

/// The fourth stage: the most similar of the candidates. Each segment is held against each of the other image; what costs the
/// least counts, and more if the segment is large.
pub fn rank(input: &Input, candidates: Candidates) -> Vec<Match> {
    let Candidates { features, numbers } = candidates;
    let cost = |one: &[u32; 6], other: &[u32; 6]| -> u64 {
        let sizes = u64::from(one[0].abs_diff(other[0])) / 16;
        sizes
            + one[1..]
                .iter()
                .zip(&other[1..])
                .map(|(&one, &other)| u64::from(one.abs_diff(other)))
                .sum::<u64>()
    };
    let distance = |known: &Features| -> u64 {
        let present = |segment: &&[u32; 6]| segment[0] > 0;
        let least = |one: &[u32; 6]| {
            let costs = known.segments.iter().filter(present).map(|other| cost(one, other));
            u64::from(one[0]) * costs.min().unwrap_or(u64::from(u32::MAX))
        };
        features.segments.iter().filter(present).map(least).sum()
    };
    let matches =
        numbers.iter().map(|&number| Match { distance: distance(&input.database[number as usize]), number });
    let mut matches: Vec<Match> = matches.collect();
    matches.sort_unstable();
    matches.truncate(FOUND);
    matches
}
