//! Counts the words of a text, piece by piece.

mod observed;
mod sequential;

use std::collections::{BTreeMap, HashMap};

use crate::random::Random;
use crate::{About, Output, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The text.
#[derive(Debug)]
pub struct Input {
    text: String,
}

/// A piece ends at the first space after so many bytes.
const PIECE_BYTES: usize = 16 << 10;

impl Workload for Input {
    const ABOUT: About = About {
        name: "words",
        what: "counts the words of a text, and remembers the first piece with each word",
        item: "a piece of 16 KiB of text",
        unit: "MB",
        workloads: &["text"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let bytes = Random::new(23).text(scale.choose(200_000, 6_000_000, 48_000_000));
        let text = String::from_utf8(bytes).expect("letters and spaces");
        (name == "text").then_some(Self { text })
    }

    fn amount(&self) -> f64 {
        self.text.len() as f64 / 1e6
    }
}

impl Input {
    /// The source: the pieces.
    pub fn pieces(&self) -> impl Iterator<Item = &str> + Send {
        let mut rest = &self.text[..];
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let begin = rest.len().min(PIECE_BYTES);
            let end = rest[begin..].find(' ').map_or(rest.len(), |at| begin + at + 1);
            let (piece, behind) = rest.split_at(end);
            rest = behind;
            Some(piece)
        })
    }
}

/// The words of a piece, and how often each occurs in it.
pub type Counts<'a> = HashMap<&'a str, u64>;

/// The parallel stage: counts the words of a piece.
pub fn count(piece: &str) -> Counts<'_> {
    let mut counts = Counts::new();
    for word in piece.split_ascii_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// The serial stage: the counts of all words, and the number of the first piece with each.
#[derive(Debug, Default)]
pub struct Total<'a> {
    words: BTreeMap<&'a str, (u64, u64)>,
    pieces: u64,
}

impl<'a> Total<'a> {
    /// Adds the counts of a piece.
    pub fn add(&mut self, counts: Counts<'a>) {
        for (word, count) in counts {
            self.words.entry(word).or_insert((0, self.pieces)).0 += count;
        }
        self.pieces += 1;
    }

    /// Writes all counts.
    pub fn write(&self, output: &mut Output) {
        for (word, (count, first)) in &self.words {
            output.write(format!("{word} {count} {first}").as_bytes());
        }
    }
}
