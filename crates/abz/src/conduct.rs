//! How a run is carried out and watched.

use std::fmt;
use std::sync::OnceLock;
use std::thread;

#[cfg(doc)]
use abz_codec::parts::Giving;
use anabranch::{Pool, Report};

/// How a run is carried out and watched. Nothing of it changes what comes out of a whole file.
#[derive(Clone, Copy, Default)]
pub struct Conduct<'a> {
    /// Takes the threads from here instead of starting them.
    pub pool: Option<&'a Pool>,
    /// Gets a report when the run is over, whether it failed or not.
    pub report: Option<&'a dyn Fn(&Report)>,
    /// Is told each time that some bytes of the input are done with: how many. They are encoded, or decoded, or as good as that.
    /// It may be called by any thread.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Returns true if the input has paused: it has not ended, and for a moment, some hundredths of a second, nothing comes. Then
    /// what can be decoded of a member of lzip that is not there as a whole comes out, as [`Giving::prompt`] says. Without this, an
    /// input never pauses.
    pub pauses: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// The report has what each thread did and when, for [`Report::to_trace`].
    pub traces: bool,
}

impl<'a> Conduct<'a> {
    /// How what is done is told.
    pub(crate) fn advance(&self) -> Advance<'a> {
        Advance(self.progress)
    }

    /// How it is found out that the input pauses.
    pub(crate) fn pauses(&self) -> Pauses<'a> {
        Pauses(self.pauses)
    }
}

/// How many of so many workers work at once on this machine: as many as it has processors for this process, and two if it has
/// one. More would only hold memory, each of them a block and its tables. No output depends on it.
pub fn at_work(workers: usize) -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let processors = PROCESSORS.get_or_init(|| thread::available_parallelism().map_or(1, usize::from));
    workers.min((*processors).max(2))
}

/// Tells what is done.
#[derive(Clone, Copy)]
pub(crate) struct Advance<'a>(Option<&'a (dyn Fn(u64) + Sync)>);

impl Advance<'_> {
    /// `bytes` more of the input are done with.
    pub(crate) fn by(self, bytes: usize) {
        if let Some(progress) = self.0 {
            progress(bytes as u64);
        }
    }
}

/// Finds out that the input pauses.
#[derive(Clone, Copy, Default)]
pub(crate) struct Pauses<'a>(Option<&'a (dyn Fn() -> bool + Sync)>);

impl Pauses<'_> {
    /// True if the input has no more at the moment.
    pub(crate) fn is_one(self) -> bool {
        self.0.is_some_and(|pauses| pauses())
    }
}

impl fmt::Debug for Conduct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conduct")
            .field("pool", &self.pool)
            .field("report", &self.report.is_some())
            .field("progress", &self.progress.is_some())
            .field("pauses", &self.pauses.is_some())
            .field("traces", &self.traces)
            .finish()
    }
}
