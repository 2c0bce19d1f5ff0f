//! Counts how often each word is in a text. `tests/integration/examples.rs` checks that the five forms of the
//! loop agree.
//!
//! `cargo run --release --example words [FILE]`

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::thread;

use anabranch::{Stream, default_workers};
use crossbeam_channel::bounded;
use rayon::prelude::*;

/// How often each word occurs.
pub type Counts = BTreeMap<String, usize>;

/// The words of a line in lower case, without anything that is not a letter.
fn words(line: &str) -> Vec<String> {
    let words = line.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The plain loop.
pub fn sequential(text: impl BufRead + Send) -> io::Result<Counts> {
    let mut counts = Counts::new();
    for line in text.lines() {
        let line = line?;
        let words = words(&line);
        for word in words {
            *counts.entry(word).or_default() += 1;
        }
    }
    Ok(counts)
}

/// The loop with annotations.
#[anabranch::stream]
pub fn annotated(text: impl BufRead + Send) -> io::Result<Counts> {
    let mut counts = Counts::new();
    #[to_stream]
    for line in text.lines() {
        let line = line?;
        #[stage(replicate)]
        let words = words(&line);
        for word in words {
            *counts.entry(word).or_default() += 1;
        }
    }
    Ok(counts)
}

/// The loop as a stream.
pub fn builder(text: impl BufRead + Send) -> io::Result<Counts> {
    let mut counts = Counts::new();
    Stream::try_from_iter(text.lines()).map(|line: String| words(&line)).for_each(|words| {
        for word in words {
            *counts.entry(word).or_default() += 1;
        }
    })?;
    Ok(counts)
}

/// With rayon. Each piece of the text has counts of its own, which are added up at the end.
pub fn with_rayon(text: impl BufRead + Send) -> io::Result<Counts> {
    let words = text.lines().par_bridge().map(|line| line.map(|line| words(&line)));
    let counts = words.try_fold(Counts::new, |mut counts, words| {
        for word in words? {
            *counts.entry(word).or_default() += 1;
        }
        Ok(counts)
    });
    counts.try_reduce(Counts::new, |mut all, counts| {
        for (word, count) in counts {
            *all.entry(word).or_default() += count;
        }
        Ok(all)
    })
}

/// With threads and channels, in any order.
pub fn with_channels(text: impl BufRead + Send) -> io::Result<Counts> {
    let (lines, work) = bounded(64);
    let (results, done) = bounded(64);
    let mut counts = Counts::new();
    thread::scope(|scope| {
        let reader = scope.spawn(move || -> io::Result<()> {
            for line in text.lines() {
                if lines.send(line?).is_err() {
                    break;
                }
            }
            Ok(())
        });
        for _ in 0..default_workers() {
            let (work, results) = (work.clone(), results.clone());
            scope.spawn(move || work.iter().for_each(|line: String| results.send(words(&line)).unwrap()));
        }
        drop(results);
        for word in done.iter().flatten() {
            *counts.entry(word).or_default() += 1;
        }
        reader.join().unwrap()
    })?;
    Ok(counts)
}

fn main() -> io::Result<()> {
    let path = std::env::args()
        .nth(1)
        .unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs").to_owned());
    let open = || File::open(&path).map(BufReader::new);
    let counts = annotated(open()?)?;
    assert_eq!(counts, sequential(open()?)?);
    assert_eq!(counts, builder(open()?)?);
    let mut most: Vec<_> = counts.into_iter().map(|(word, count)| (count, word)).collect();
    most.sort_unstable_by(|a, b| b.cmp(a));
    for (count, word) in most.iter().take(10) {
        println!("{count:6} {word}");
    }
    Ok(())
}
