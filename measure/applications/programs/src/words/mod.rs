//! Counts the words of a text, piece by piece.

mod observed;
mod sequential;

use std::collections::{BTreeMap, HashMap};

use crate::data::TEXT;
use crate::random::Random;
use crate::{About, Data, Output, Scale, Workload};

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
        let text = String::from_utf8(Random::new(23).text(length(scale))).expect("letters and spaces");
        (name == "text").then_some(Self { text })
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        // Dictionaries have some bytes that are not UTF-8, and the last character may be cut.
        let text = |bytes: Vec<u8>| Self { text: String::from_utf8_lossy(&bytes).into_owned() };
        (name == "text").then(|| data.bytes(TEXT, length(scale)).map(text))
    }

    fn amount(&self) -> f64 {
        self.text.len() as f64 / 1e6
    }
}

/// How many bytes the text has.
fn length(scale: Scale) -> usize {
    scale.choose(200_000, 2_500_000, 24_000_000)
}

impl Input {
    /// The source: the pieces.
    pub fn pieces(&self) -> impl Iterator<Item = &str> + Send {
        let mut rest = &self.text[..];
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let begin = (PIECE_BYTES..rest.len()).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
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
