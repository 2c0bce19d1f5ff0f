//! How a run is carried out and watched.

use std::fmt;
use std::sync::OnceLock;
use std::thread;

use anabranch::{Pool, Report};

/// How a run is carried out and watched. Nothing of it changes what comes out.
#[derive(Clone, Copy, Default)]
pub struct Conduct<'a> {
    /// Takes the threads from here instead of starting them.
    pub pool: Option<&'a Pool>,
    /// Gets a report when the run is over, whether it failed or not.
    pub report: Option<&'a dyn Fn(&Report)>,
    /// Is told each time that some bytes of the input are done with: how many. They are encoded, or decoded, or as good as that.
    /// It may be called by any thread.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// The report has what each thread did and when, for [`Report::to_trace`].
    pub traces: bool,
}

impl<'a> Conduct<'a> {
    /// How what is done is told.
    pub(crate) fn advance(&self) -> Advance<'a> {
        Advance(self.progress)
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

impl fmt::Debug for Conduct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conduct")
            .field("pool", &self.pool)
            .field("report", &self.report.is_some())
            .field("progress", &self.progress.is_some())
            .field("traces", &self.traces)
            .finish()
    }
}
