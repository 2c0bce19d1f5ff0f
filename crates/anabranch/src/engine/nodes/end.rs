//! The end of a line: the work that follows the sink's code for each item. It is the same for every item
//! type.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Exit, Turn};
use anabranch_record::sync::{Arc, Ordering};

use super::step::Demand;
use crate::engine::state::failure::Cause;
use crate::engine::state::progress::Reporter;
use crate::engine::state::room::RoomNotice;
use crate::engine::state::run::Run;
use crate::engine::state::site::Site;
use crate::measures::Mark;

/// The end of a line.
pub(crate) struct LineEnd<'run> {
    /// Takes the indices back, and tells the source of the sink's domain that the window has room. `None` in a direct line, whose
    /// indices are just numbers.
    exit: Option<(Exit, RoomNotice)>,
    mark: Mark,
    reporter: Option<Reporter<'run>>,
    run: Arc<Run>,
    has_stopped: bool,
    /// How many items of a direct line have passed.
    passed: u64,
}

impl<'run> LineEnd<'run> {
    pub(crate) fn new(
        exit: Option<(Exit, RoomNotice)>,
        mark: Mark,
        reporter: Option<Reporter<'run>>,
        run: &Arc<Run>,
    ) -> Self {
        Self { exit, mark, reporter, run: Arc::clone(run), has_stopped: false, passed: 0 }
    }

    /// The sink is done with the item of this turn: gives its index back. `DIRECT` says whether the line is direct.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn pass<const DIRECT: bool>(&mut self, turn: &mut Turn) -> Demand {
        if DIRECT {
            self.passed += 1;
            return if self.reporter.is_some() { self.report(self.passed) } else { Demand::More };
        }
        let index = turn.index();
        if self.reporter.is_some() {
            self.report(index + 1);
        }
        if let Some((exit, notice)) = &mut self.exit {
            exit.release(turn);
            notice.give();
            self.mark.has_left(index);
        }
        Demand::More
    }

    #[cold]
    fn report(&mut self, items: u64) -> Demand {
        if let Some(reporter) = &mut self.reporter {
            reporter.passed(items, false);
        }
        Demand::More
    }

    /// The stream has stopped at this index: ends the run. `is_item` says whether the cell that stopped it
    /// counts as an item.
    #[cold]
    pub(crate) fn stop(&mut self, index: u64, is_item: bool, site: &Site) -> Demand {
        let items = index + u64::from(is_item);
        let run = &*self.run;
        self.has_stopped = true;
        run.delivered.store(items, Ordering::Relaxed);
        run.ended_on_item.store(is_item, Ordering::Relaxed);
        if let Some(reporter) = &mut self.reporter
            && let Err(payload) = catch_unwind(AssertUnwindSafe(|| reporter.passed(items, true)))
        {
            site.halt(index, Cause::Panic(payload));
        }
        run.finish();
        Demand::Nothing
    }
}

/// A run that was cancelled has no cell that stops it, so the number of items is stored here.
impl Drop for LineEnd<'_> {
    fn drop(&mut self) {
        if !self.has_stopped {
            let passed = self.exit.as_ref().map_or(self.passed, |(exit, _)| exit.next());
            self.run.delivered.store(passed, Ordering::Relaxed);
        }
    }
}
