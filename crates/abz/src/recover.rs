//! Recovery of the undamaged parts of a damaged file of any format.

use std::io::Write;

use crate::error::Error;
use crate::formats::Format;
use crate::places::ReadAt;
use crate::recovery::{Gap, How, Recover, Recovered, To};
use crate::run_options::RunOptions;

/// Recovers the undamaged parts of a damaged file: the blocks of bzip2, the members of lzip and gzip. Each part is
/// found by its magic number wherever it lies, and is used only if its checksums match.
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
/// # Guarantees
///
/// - Only verified contents are written, and zeros if [`fill`](Recovery::fill) is set.
/// - The output does not depend on the number of workers.
/// - Memory is bounded for any file: one part for each worker and one more, of up to 16 MiB each (lzip: 64 MiB).
///   Larger parts are decoded twice, once to verify them and once to write them.
/// - Time is proportional to the size of the file, even of one crafted to look like a part at every byte. An attempt
///   is postponed when it reads past its seventeenth candidate start. Postponed attempts run on one thread without
///   that limit, and together read the file at most sixteen times. A part may then be missed if an attempt that began
///   before it has read past it and failed.
#[derive(Clone, Debug)]
pub struct Recovery {
    format: Format,
    recover: Recover,
    /// The number of worker threads, including the caller's; at least 1.
    pub workers: usize,
    /// Writes zeros for missing contents whose size the file records, so that everything after them keeps its offset.
    pub fill: bool,
    /// The approximate memory limit for parts in bytes, if any.
    pub memory_limit: Option<u64>,
}

impl Recovery {
    /// Creates a recovery for files of `format`, with a worker for each core that the process may use. Returns `None`
    /// if the format has no parts that can be found after damage.
    pub fn new(format: Format) -> Option<Recovery> {
        let recover = format.reads().recover()?;
        let workers = anabranch::default_workers();
        Some(Recovery { format, recover, workers, fill: false, memory_limit: None })
    }

    /// Returns the format of the parts to find.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes all undamaged contents of `input` to `output`, in order, and calls `tell` for each gap.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output cannot be written. Damage is not an error.
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
        self.run_with(RunOptions::default(), input, output, tell)
    }

    /// As [`run`](Recovery::run), with the threads, progress and report that `options` sets.
    ///
    /// # Errors
    ///
    /// As [`run`](Recovery::run).
    ///
    /// # Panics
    ///
    /// As [`run`](Recovery::run).
    pub fn run_with(
        &self,
        options: RunOptions<'_>,
        input: &dyn ReadAt,
        mut output: impl Write + Send,
        mut tell: impl FnMut(Gap) + Send,
    ) -> Result<Recovered, Error> {
        let how = How { workers: self.workers, fill: self.fill, memory_limit: self.memory_limit };
        let to = To { output: &mut output, tell: &mut tell };
        (self.recover)(&how, options, input, to)
    }
}
