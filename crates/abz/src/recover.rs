//! Recovery of the undamaged parts of a damaged file.

use std::io::Write;

use crate::error::Error;
use crate::format::Format;
use crate::positional::ReadAt;
use crate::recovery::{Gap, How, Recover, Recovered, To};
use crate::run_options::RunOptions;

/// The settings of a recovery: it reads the undamaged parts of a damaged file. These are blocks of bzip2, or members of
/// lzip or gzip. Each part is found by its first bytes, wherever it lies, and counts only if its checksum is right.
///
/// ```
/// use abz::program::{Gap, Recovery, RunOptions};
/// use abz::{Compression, Format, compress};
///
/// let text = b"a branch of a river that leaves the main stream and joins it again\n".repeat(1000);
/// let mut file = Vec::new();
/// compress(&text[..], &mut file, &Compression { block_size: Some(16 << 10), ..Compression::default() })?;
/// file[100] ^= 1;
///
/// let mut recovery = Recovery::new(Format::Gzip).expect("it has members");
/// recovery.fill = true;
/// let (mut back, mut gaps) = (Vec::new(), Vec::new());
/// let note = |gap: Gap| gaps.push((gap.at, gap.missing));
/// let recovered = recovery.run(RunOptions::default(), &file, &mut back, note)?;
/// assert_eq!((recovered.parts, recovered.gaps), (4, 1));
/// assert_eq!(gaps, [(0, Some(16 << 10))]);
/// assert!(back[16 << 10..] == text[16 << 10..]);
/// # Ok::<(), abz::Error>(())
/// ```
///
/// # Guarantees
///
/// - Only verified contents are written, apart from zeros if [`fill`](Recovery::fill) is set.
/// - The output does not depend on the number of workers.
/// - Memory is bounded, whatever the file says: at most one part more than there are workers is held, each of up to 16
///   MiB (lzip: 64 MiB). Larger parts are decoded twice: once to verify them, and once to write them.
/// - Time is proportional to the size of the file, even for a file that was made to look like a start at every byte. A
///   try gives up at the seventeenth place that looks like a start. One thread then tries again without that limit;
///   such tries read the file at most sixteen times in all. After that, a part is skipped if an earlier failed try has
///   read past its start.
#[derive(Clone, Debug)]
pub struct Recovery {
    format: Format,
    recover: Recover,
    /// The number of threads that work, including the caller's; at least 1.
    pub workers: usize,
    /// Writes zeros for missing contents if the file records their size, so that the contents after them keep their
    /// offset.
    pub fill: bool,
    /// An approximate limit of memory for parts in bytes, if there is to be one.
    pub memory_limit: Option<u64>,
}

impl Recovery {
    /// Makes a recovery for files of a format, with as many workers as the process may use cores. Returns `None` if
    /// this crate cannot recover that format.
    pub fn new(format: Format) -> Option<Recovery> {
        let recover = format.reads().recover()?;
        let workers = anabranch::default_workers();
        Some(Recovery { format, recover, workers, fill: false, memory_limit: None })
    }

    /// The format whose parts are looked for.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes the contents of all undamaged parts of `input` to `output`, in order, and passes each gap to `tell`.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output cannot be written. Damage is no error.
    ///
    /// # Panics
    ///
    /// If there are no workers.
    pub fn run(
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
