//! The [`RunOptions`] of a run: its threads, and the callbacks that observe it.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[cfg(doc)]
use abz_codec::parts::Giving;
use anabranch::{Pool, Report};

use crate::tools::{Lender, Tools};

/// The threads, reports and progress of a run. None of it changes the output for an undamaged file.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// A pool to take threads from. Without one, a run starts its own.
    pub pool: Option<&'a Pool>,
    /// Receives a report when the run is over, whether it failed or not.
    pub report: Option<&'a dyn Fn(&Report)>,
    /// Receives the number of further bytes of input that have been encoded or decoded. Some formats count bytes as
    /// soon as they are read. Any thread may call it.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Returns true if the input has paused: it has not ended, but has given no bytes for some hundredths of a second.
    /// An incomplete lzip member is then decoded as far as it has come, as [`Giving::prompt`] says. Without this
    /// function, an input never pauses.
    pub pauses: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Records in the report what each thread did and when, for [`Report::to_trace`].
    pub traces: bool,
    /// Encoders, decoders and buffers that are kept for the next run. With them, the calling thread works alone.
    pub tools: Option<&'a Tools>,
}

impl<'a> RunOptions<'a> {
    pub(crate) fn advance(&self) -> Advance<'a> {
        Advance(self.progress)
    }

    /// Returns true if the calling thread works without a stream, which only a report needs then.
    pub(crate) fn is_alone(&self) -> bool {
        self.tools.is_some() && self.report.is_none()
    }

    /// Returns the lender of encoders, decoders and buffers.
    pub(crate) fn lender(&self) -> Lender {
        self.tools.map(Tools::lender).unwrap_or_default()
    }

    /// Returns the tools and the observer of the steps.
    pub(crate) fn equipment(&self) -> Equipment<'a> {
        Equipment { lender: self.lender(), advance: self.advance() }
    }

    /// Returns the test for pauses of the input.
    pub(crate) fn pauses(&self) -> Pauses<'a> {
        Pauses(self.pauses)
    }
}

/// The number of cores that the process may use, when this is first called. To count them, the system's files about the limits
/// of the process are read.
pub(crate) fn cores() -> usize {
    static CORES: AtomicUsize = AtomicUsize::new(0);
    kept(&CORES, anabranch::default_workers)
}

/// The value that is kept in `place`, or that of `find`, which is 1 or more. Several threads may find it at once: a process that
/// was forked while another thread has a lock would wait for that thread for ever.
fn kept(place: &AtomicUsize, find: impl FnOnce() -> usize) -> usize {
    match place.load(Ordering::Relaxed) {
        0 => {
            let found = find();
            place.store(found, Ordering::Relaxed);
            found
        }
        found => found,
    }
}

/// Returns how many of `workers` work at once on this machine: at most as many as this process may use processors, or
/// two if that is one. More would only hold memory, each for a block and tables. No output depends on it.
pub fn at_work(workers: usize) -> usize {
    static PROCESSORS: AtomicUsize = AtomicUsize::new(0);
    let processors = kept(&PROCESSORS, || thread::available_parallelism().map_or(1, usize::from));
    workers.min(processors.max(2))
}

/// Reports progress to [`RunOptions::progress`].
#[derive(Clone, Copy, Default)]
pub(crate) struct Advance<'a>(Option<&'a (dyn Fn(u64) + Sync)>);

impl Advance<'_> {
    /// Reports that `bytes` more of the input have been processed.
    pub(crate) fn by(self, bytes: usize) {
        if let Some(progress) = self.0 {
            progress(bytes as u64);
        }
    }
}

/// The tools and the observer of the steps of a run. By default, no tools are kept and nobody observes.
#[derive(Clone, Default)]
pub(crate) struct Equipment<'a> {
    pub(crate) lender: Lender,
    pub(crate) advance: Advance<'a>,
}

/// Asks [`RunOptions::pauses`].
#[derive(Clone, Copy, Default)]
pub(crate) struct Pauses<'a>(Option<&'a (dyn Fn() -> bool + Sync)>);

impl Pauses<'_> {
    /// Returns true if the input has paused.
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
            .field("tools", &self.tools.is_some())
            .finish()
    }
}
