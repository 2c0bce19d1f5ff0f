//! The recovery of damaged files: finding undamaged parts, and deciding which to write.

mod judge;
mod outcome;
mod search;

use std::sync::atomic::{AtomicU64, Ordering};

use abz_codec::salvage::Salvage;

use crate::error::Error;
use crate::pipes::{Pipe, Threads, maps, parts};
use crate::positional::ReadAt;
use crate::run_options::RunOptions;
use judge::Judge;
pub(crate) use outcome::To;
pub use outcome::{Gap, Recovered};
use search::{Candidates, Prober};

/// The settings of a recovery.
pub(crate) struct How {
    /// The number of threads that work, at least 1.
    pub(crate) workers: usize,
    /// Writes zeros for missing contents if the file records their size.
    pub(crate) fill: bool,
    /// An approximate limit of memory for parts in bytes, if there is to be one.
    pub(crate) memory_limit: Option<u64>,
}

/// The function that recovers a format: [`carry`] for its implementation of [`Salvage`].
pub(crate) type Recover = fn(&How, RunOptions<'_>, &dyn ReadAt, To<'_>) -> Result<Recovered, Error>;

/// Writes the contents of all undamaged parts of `input`, and reports each gap.
pub(crate) fn carry<S: Salvage + 'static>(
    how: &How,
    options: RunOptions<'_>,
    input: &dyn ReadAt,
    to: To<'_>,
) -> Result<Recovered, Error> {
    let window = parts::window(how.workers);
    let room = how.memory_limit.map_or(u64::MAX, |limit| limit / (window as u64 + 1));
    let hold = S::HOLD.min(usize::try_from(room).unwrap_or(usize::MAX));
    let passed = AtomicU64::new(0);
    let mut judge = Judge::<S>::new(input, to, how.fill, &passed)?;
    let candidates = Candidates::<S>::new(input);
    let attempt = maps(
        || Prober::<S>::new(input, hold),
        |prober, start| {
            // The judge would ignore a start that lies inside an accepted part.
            let tried = (start >= passed.load(Ordering::Relaxed)).then(|| prober.attempt(start));
            Ok((start, tried.transpose()?))
        },
    );
    let threads = Threads { workers: how.workers, window, pool: options.pool };
    let stream = Pipe::new("abz recover", threads, ("look for parts", candidates), Some(("try", attempt)));
    stream.carry_out(&options, |(start, tried)| match tried {
        Some(tried) => judge.take(start, tried),
        None => Ok(()),
    })?;
    judge.finish()
}
