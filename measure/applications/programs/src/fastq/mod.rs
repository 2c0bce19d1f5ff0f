//! Trims reads of a sequencer by their quality and drops those that become too short. The data are in the
//! format FASTQ, with four lines for each read (P. Cock and others, *The Sanger FASTQ file format for sequences
//! with quality scores*, 2010).

mod observed;
mod sequential;

use crate::data::READS;
use crate::random::Random;
use crate::{About, Data, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;

/// The reads.
#[derive(Debug)]
pub struct Input {
    text: Vec<u8>,
    reads: usize,
}

const LENGTH: usize = 150;

/// How many reads there are.
fn reads(scale: Scale) -> usize {
    scale.choose(200, 80_000, 400_000)
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "fastq",
        what: "trims the reads of a sequencer by their quality and drops short ones",
        item: "a read of 150 bases (of about 100 with --data)",
        unit: "reads",
        workloads: &["reads"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let reads = reads(scale);
        let mut random = Random::new(5);
        let mut text = Vec::with_capacity(reads * (2 * LENGTH + 24));
        for read in 0..reads {
            text.extend(format!("@read.{read}\n").bytes());
            text.extend((0..LENGTH).map(|_| b"ACGT"[random.below(4)]));
            text.extend(b"\n+\n");
            // The quality falls along the read, with some reads that are bad from the beginning.
            let (begin, slope) = (20 + random.below(20), 1 + random.below(30));
            text.extend((0..LENGTH).map(|at| {
                let quality = (begin + random.below(6)).saturating_sub(slope * at / LENGTH);
                b'!' + quality.clamp(2, 41) as u8
            }));
            text.push(b'\n');
        }
        (name == "reads").then_some(Self { text, reads })
    }

    fn read(name: &str, scale: Scale, data: &Data) -> Option<Result<Self, String>> {
        let first = |file: String| {
            // If the file has fewer reads, they come again.
            let lines = file.split_inclusive('\n').cycle();
            let text: String = lines.take(4 * reads(scale)).collect();
            Self { text: text.into_bytes(), reads: reads(scale) }
        };
        (name == "reads").then(|| data.text(READS).map(first))
    }

    fn amount(&self) -> f64 {
        self.reads as f64
    }
}

/// A read.
#[derive(Debug, Clone, Copy)]
pub struct Read<'a> {
    name: &'a [u8],
    bases: &'a [u8],
    qualities: &'a [u8],
}

impl Input {
    /// The source: the reads.
    pub fn reads(&self) -> impl Iterator<Item = Read<'_>> + Send {
        let mut lines = self.text.split(|&byte| byte == b'\n');
        std::iter::from_fn(move || {
            let (name, bases) = (lines.next()?, lines.next()?);
            let (_plus, qualities) = (lines.next()?, lines.next()?);
            Some(Read { name, bases, qualities })
        })
    }
}

const WINDOW: usize = 4;
const LEAST_QUALITY: u32 = 20;
const SHORTEST: usize = 36;

/// The parallel stage: cuts the read where four bases together are worse than quality 20. Returns `None` if
/// fewer than 36 bases are left, or if more than one wrong base is expected among them.
pub fn trim(read: Read<'_>) -> Option<Read<'_>> {
    let quality = |&byte: &u8| u32::from(byte.saturating_sub(b'!'));
    let is_bad = |window: &[u8]| window.iter().map(quality).sum::<u32>() < LEAST_QUALITY * WINDOW as u32;
    let length = read.qualities.windows(WINDOW).position(is_bad).unwrap_or(read.qualities.len());
    let length = length.min(read.bases.len());
    let kept = Read { bases: &read.bases[..length], qualities: &read.qualities[..length], ..read };
    // An error of 1 is 2^20 here, so that the sum is exact. 10^(-q/10) is taken in steps of 3, where it halves.
    let expected: u32 = kept.qualities.iter().map(|byte| (1 << 20) >> (quality(byte) / 3)).sum();
    (length >= SHORTEST && expected <= 1 << 20).then_some(kept)
}

impl Read<'_> {
    /// The read in four lines.
    pub fn line(&self, text: &mut Vec<u8>) {
        text.clear();
        for (part, end) in [(self.name, "\n"), (self.bases, "\n+\n"), (self.qualities, "\n")] {
            text.extend_from_slice(part);
            text.extend_from_slice(end.as_bytes());
        }
    }
}
