//! The [`RunOptions`] of a run: its threads, and the callbacks that observe it.

use std::fmt;
use std::sync::OnceLock;
use std::thread;

#[cfg(doc)]
use abz_codec::parts::Giving;
use anabranch::{Pool, Report};

/// Threads, progress and reports of a run. None of them changes the output for an undamaged file.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// A pool to take threads from. Without one, a run starts its own.
    pub pool: Option<&'a Pool>,
    /// Called with a report at the end of the run, even if the run failed.
    pub report: Option<&'a dyn Fn(&Report)>,
    /// Called with a number of bytes each time that many more bytes of the input have been encoded or decoded, or
    /// have been read where that is nearly the same. Any thread may call it.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Returns `true` if the input pauses: it has not ended, but for some hundredths of a second no bytes have
    /// arrived. The decoded beginning of an incomplete lzip member is then written, as [`Giving::prompt`] describes.
    /// Without this function, the input never counts as paused.
    pub pauses: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Records what each thread did and when in the report, for [`Report::to_trace`].
    pub traces: bool,
}

impl<'a> RunOptions<'a> {
    pub(crate) fn advance(&self) -> Advance<'a> {
        Advance(self.progress)
    }

    pub(crate) fn pauses(&self) -> Pauses<'a> {
        Pauses(self.pauses)
    }
}

/// Returns how many of `workers` threads run at once on this machine: at most the number of processors available to
/// this process, and at least two of them if there are as many workers. More threads would only hold memory, each a
/// block and its tables. The output does not depend on it.
pub fn at_work(workers: usize) -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let processors = PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from));
    workers.min((*processors).max(2))
}

/// Reports progress to [`RunOptions::progress`].
#[derive(Clone, Copy)]
pub(crate) struct Advance<'a>(Option<&'a (dyn Fn(u64) + Sync)>);

impl Advance<'_> {
    /// Reports that `bytes` more bytes of the input are done.
    pub(crate) fn by(self, bytes: usize) {
        if let Some(progress) = self.0 {
            progress(bytes as u64);
        }
    }
}

/// Asks [`RunOptions::pauses`].
#[derive(Clone, Copy, Default)]
pub(crate) struct Pauses<'a>(Option<&'a (dyn Fn() -> bool + Sync)>);

impl Pauses<'_> {
    /// Returns `true` if the input pauses.
    pub(crate) fn is_one(self) -> bool {
        self.0.is_some_and(|pauses| pauses())
    }
}

impl fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("pool", &self.pool)
            .field("report", &self.report.is_some())
            .field("progress", &self.progress.is_some())
            .field("pauses", &self.pauses.is_some())
            .field("traces", &self.traces)
            .finish()
    }
}
