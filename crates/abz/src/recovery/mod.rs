//! What is whole in a damaged file.

mod judge;
mod search;

use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use abz_codec::salvage::{Reason, Salvage};

use crate::conduct::Conduct;
use crate::pipes::{begin, carry_out, parts};
use crate::{Error, Format, ReadAt};
use judge::Judge;
use search::{Candidates, Prober};

/// How to read what is whole in a damaged file: blocks of bzip2, members of lzip and of gzip. Each is found wherever it
/// lies, by what it begins with, and counts only if all of it checks.
///
/// ```
/// use abz::{Compression, Format, Recovery};
///
/// let text = b"a branch of a river that leaves the main stream and joins it again\n".repeat(1000);
/// let mut file = Vec::new();
/// Compression { block_size: Some(16 << 10), ..Compression::default() }.run(&text[..], &mut file)?;
/// file[100] ^= 1;
///
/// let mut recovery = Recovery::new(Format::GZIP).expect("it has members");
/// recovery.fill = true;
/// let (mut back, mut gaps) = (Vec::new(), Vec::new());
/// let recovered = recovery.run(&file, &mut back, |gap| gaps.push((gap.at, gap.missing)))?;
/// assert_eq!((recovered.parts, recovered.gaps), (4, 1));
/// assert_eq!(gaps, [(0, Some(16 << 10))]);
/// assert!(back[16 << 10..] == text[16 << 10..]);
/// # Ok::<(), abz::Error>(())
/// ```
///
/// # What it promises
///
/// - Nothing is written that does not check, but for zeros where [`fill`](Recovery::fill) asks for them.
/// - The output does not depend on the number of workers.
/// - Memory is bounded, whatever the file says: one part more is held than there are workers, of up to 16 MiB each (lzip:
///   64 MiB). Larger ones are decoded twice: to know, and to write.
/// - A file that was made to have a part tried at every byte takes time in proportion to its size. A try is left where
///   it passes over a seventeenth place that looks like a start; tries without that limit are for one thread, and read the
///   file at most sixteen times. Then, a part in front of which another try read on and failed may be passed over.
#[derive(Clone, Debug)]
pub struct Recovery {
    format: Format,
    recover: Recover,
    /// Threads that work, the caller's among them; at least 1.
    pub workers: usize,
    /// Writes zeros for what is missing, where the file tells its size, so that all behind it is where it was.
    pub fill: bool,
    /// The most memory to take for parts, in bytes and about, if there shall be a limit.
    pub memory_limit: Option<u64>,
}

/// What [`Recovery::run`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Parts with contents that were written.
    pub parts: u64,
    /// Bytes of theirs.
    pub bytes: u64,
    /// Zeros that were written instead of what is missing.
    pub filled: u64,
    /// Places where something is missing or wrong: 0 if the file is whole.
    pub gaps: u64,
    /// Bytes of the compressed file that belong to nothing that was written.
    pub lost: u64,
}

/// A place in a file where something is missing or wrong.
#[derive(Debug)]
pub struct Gap {
    /// Where in the compressed file, in bits. It is empty where something ends too early, or where all parts are right and do
    /// not fit together.
    pub bits: Range<u64>,
    /// Where in the output what is missing would be, or is in zeros.
    pub at: u64,
    /// The size of the missing contents in bytes, if the file tells it. It is not verified.
    pub missing: Option<u64>,
    /// So many zeros stand for them.
    pub filled: u64,
    /// What was expected where it begins, and what was found.
    pub reason: Reason,
}

impl Gap {
    /// Where in the compressed file, in bytes: all of which it has a bit.
    pub fn bytes(&self) -> Range<u64> {
        self.bits.start / 8..self.bits.end.div_ceil(8)
    }
}

impl Recovery {
    /// For damaged files of a format, with as many workers as the process may use cores. `None` for a format in which one
    /// cannot go on behind damage here.
    pub fn new(format: Format) -> Option<Recovery> {
        let recover = format.reads().recover()?;
        let workers = anabranch::default_workers();
        Some(Recovery { format, recover, workers, fill: false, memory_limit: None })
    }

    /// The format that is looked for.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes all that is whole in `input` to `output`, in order, and tells each gap.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output not written. No damage is an error.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn run(
        &self,
        input: &dyn ReadAt,
        output: impl Write + Send,
        tell: impl FnMut(Gap) + Send,
    ) -> Result<Recovered, Error> {
        self.conduct(Conduct::default(), input, output, tell)
    }

    /// As [`run`](Recovery::run), carried out and watched as `conduct` says.
    ///
    /// # Errors
    ///
    /// As [`run`](Recovery::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Recovery::run).
    pub fn conduct(
        &self,
        conduct: Conduct<'_>,
        input: &dyn ReadAt,
        mut output: impl Write + Send,
        mut tell: impl FnMut(Gap) + Send,
    ) -> Result<Recovered, Error> {
        let to = To { output: &mut output, tell: &mut tell };
        (self.recover)(self, conduct, input, to)
    }

    pub(crate) fn carry<S: Salvage + 'static>(
        &self,
        conduct: Conduct<'_>,
        input: &dyn ReadAt,
        to: To<'_>,
    ) -> Result<Recovered, Error> {
        let window = parts::window(self.workers);
        let room = self.memory_limit.map_or(u64::MAX, |limit| limit / (window as u64 + 1));
        let hold = S::HOLD.min(usize::try_from(room).unwrap_or(usize::MAX));
        let passed = AtomicU64::new(0);
        let mut judge = Judge::<S>::new(input, to, self.fill, &passed)?;
        let candidates = Candidates::<S>::new(input);
        let stream = begin(candidates, "abz recover", self.workers, window, conduct.pool)
            .name("look for parts")
            .try_map_with(
                || Prober::<S>::new(input, hold),
                |prober, start| {
                    // The judge would not look at it: it lies in a part.
                    let tried = (start >= passed.load(Ordering::Relaxed)).then(|| prober.attempt(start));
                    Ok((start, tried.transpose()?))
                },
            )
            .name("try");
        carry_out(stream, &conduct, |(start, tried)| match tried {
            Some(tried) => judge.take(start, tried),
            None => Ok(()),
        })?;
        judge.finish()
    }
}

/// How a format does it: [`Recovery::carry`], with what knows its parts.
pub(crate) type Recover = fn(&Recovery, Conduct<'_>, &dyn ReadAt, To<'_>) -> Result<Recovered, Error>;

/// Where all goes.
pub(crate) struct To<'a> {
    output: &'a mut (dyn Write + Send),
    tell: &'a mut (dyn FnMut(Gap) + Send),
}
