//! Counts the cells that are pushed through a node.

use anabranch_record::sync::Arc;

use super::clock::Moment;
use super::measures::{Measures, Tally};
use super::run::Run;
use super::site::Site;

/// Counts the cells that are pushed through a node, if the run is reported or watched.
pub(super) struct Counter {
    mode: Mode,
    is_inline: bool,
    /// The counts that were not handed in yet.
    tally: Tally,
}

enum Mode {
    /// Nobody needs the counts.
    Off,
    /// The head of the unit takes the counts after each serving, and reads the clock.
    Served,
    /// The node reads the clock itself, for some of the items, and hands its counts in. The inline executor
    /// does this, because it has no servings.
    Alone(Arc<Run>, usize),
}

impl Counter {
    /// Creates the counter of node `id`. `is_inline` says whether the inline executor runs the plan, and `takes_blocks`
    /// whether the source needs to know what an item costs at the node.
    pub(super) fn new(run: &Arc<Run>, id: usize, is_inline: bool, takes_blocks: bool) -> Self {
        let mode = match run.measures() {
            None if takes_blocks && !is_inline => Mode::Served,
            None => Mode::Off,
            Some(_) if is_inline => Mode::Alone(Arc::clone(run), id),
            Some(_) => Mode::Served,
        };
        Self { mode, is_inline, tally: Tally::default() }
    }

    /// Whether anything is counted.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        !matches!(self.mode, Mode::Off)
    }

    /// Reads the clock before a call, if this call is to be timed.
    #[inline]
    pub(super) fn begin(&self) -> Option<Moment> {
        if self.is_on() { self.begin_measured() } else { None }
    }

    #[cold]
    fn begin_measured(&self) -> Option<Moment> {
        let Mode::Alone(run, _) = &self.mode else { return None };
        run.measures().filter(|measures| measures.weight() > 0).map(|_| Moment::now())
    }

    /// Enters the node's span until the guard is dropped, in the inline executor. In other executors the head
    /// of the unit does this, once a serving.
    #[inline]
    pub(super) fn enter<'s>(&self, site: &'s Site) -> impl Sized + 's {
        (cfg!(feature = "tracing") && self.is_inline).then(|| site.enter())
    }

    /// Adds to the counts. If the call was timed, hands the counts in with the time since `began`.
    #[inline]
    pub(super) fn add(&mut self, began: Option<Moment>, tally: Tally) {
        if self.is_on() {
            self.tally.add(tally);
            if began.is_some() {
                self.hand_in(began);
            }
        }
    }

    #[cold]
    fn hand_in(&mut self, began: Option<Moment>) {
        if let (Mode::Alone(run, id), Some(began)) = (&self.mode, began)
            && let Some(measures) = run.measures()
        {
            measures.end_alone(*id, std::mem::take(&mut self.tally), began);
        }
    }

    /// Takes the counts since the last call.
    pub(super) fn take(&mut self) -> Tally {
        std::mem::take(&mut self.tally)
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Mode::Alone(run, id) = &self.mode
            && let Some(measures) = run.measures()
        {
            Measures::count(measures, *id, self.tally);
        }
    }
}
