//! What is whole in a damaged file, of whatever format it is.

use std::io::Write;

use crate::conduct::Conduct;
use crate::error::Error;
use crate::formats::Format;
use crate::places::ReadAt;
use crate::recovery::{Gap, How, Recover, Recovered, To};

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
        let how = How { workers: self.workers, fill: self.fill, memory_limit: self.memory_limit };
        let to = To { output: &mut output, tell: &mut tell };
        (self.recover)(&how, conduct, input, to)
    }
}
