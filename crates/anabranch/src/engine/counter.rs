//! Counts of the cells that are pushed through a node.

use anabranch_record::sync::Arc;

use super::clock::Moment;
use super::measures::{Measures, Tally};
use super::run::Run;
use super::site::Site;

/// Counts the cells that are pushed through a node. It counts nothing unless the run is reported or watched.
pub(super) struct Counter {
    mode: Mode,
    is_inline: bool,
    /// The counts that were not yet handed in.
    tally: Tally,
}

enum Mode {
    /// Nobody asks.
    Off,
    /// The head of the unit asks after each serving, and reads the clock.
    Served,
    /// The node reads the clock itself, for some of the items: the inline executor has no servings.
    Alone(Arc<Run>, usize),
}

impl Counter {
    /// The counter of node `id`, of a run of the inline executor or of another one.
    pub(super) fn new(run: &Arc<Run>, id: usize, is_inline: bool) -> Self {
        let mode = match run.measures() {
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

    /// Reads the clock before a call, if this one is measured.
    #[inline]
    pub(super) fn begin(&self) -> Option<Moment> {
        if self.is_on() { self.begin_measured() } else { None }
    }

    #[cold]
    fn begin_measured(&self) -> Option<Moment> {
        let Mode::Alone(run, _) = &self.mode else { return None };
        run.measures().filter(|measures| measures.weight() > 0).map(|_| Moment::now())
    }

    /// Marks the calling thread as working in the node, for spans, until the guard is dropped. With other executors the
    /// head of the unit does that, once a serving.
    #[inline]
    pub(super) fn enter<'s>(&self, site: &'s Site) -> impl Sized + 's {
        (cfg!(feature = "tracing") && self.is_inline).then(|| site.enter())
    }

    /// Counts what passed. If that was measured since it began, hands in what was counted.
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
