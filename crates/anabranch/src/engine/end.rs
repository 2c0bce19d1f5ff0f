//! The end of a line: what happens behind the sink's code, the same for every type.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Exit, Turn};
use anabranch_record::sync::{Arc, Ordering};

use super::failure::Cause;
use super::measures::Mark;
use super::room::RoomNotice;
use super::run::Run;
use super::site::Site;
use crate::progress::Reporter;

/// The end of a line: what happens there is the same for every type.
pub(super) struct LineEnd<'run> {
    exit: Exit,
    /// The source of the sink's domain is told of room. The inline executor has nobody to tell.
    notice: Option<RoomNotice>,
    mark: Mark,
    reporter: Option<Reporter<'run>>,
    run: Arc<Run>,
    has_stopped: bool,
}

impl<'run> LineEnd<'run> {
    pub(super) fn new(
        exit: Exit,
        notice: Option<RoomNotice>,
        mark: Mark,
        reporter: Option<Reporter<'run>>,
        run: &Arc<Run>,
    ) -> Self {
        Self { exit, notice, mark, reporter, run: Arc::clone(run), has_stopped: false }
    }

    /// The item of this turn is through.
    #[inline(always)]
    pub(super) fn pass(&mut self, turn: &mut Turn) {
        let index = turn.index();
        if self.reporter.is_some() {
            self.report(index + 1);
        }
        self.exit.release(turn);
        if let Some(notice) = &self.notice {
            notice.give();
        }
        self.mark.has_left(index);
    }

    #[cold]
    fn report(&mut self, items: u64) {
        if let Some(reporter) = &mut self.reporter {
            reporter.passed(items, false);
        }
    }

    /// The stream has stopped at this turn, with a cell that counts as an item or not.
    #[cold]
    pub(super) fn stop(&mut self, turn: &Turn, is_item: bool, site: &Site) {
        let items = turn.index() + u64::from(is_item);
        let run = &*self.run;
        self.has_stopped = true;
        run.delivered.store(items, Ordering::Relaxed);
        run.ended_on_item.store(is_item, Ordering::Relaxed);
        if let Some(reporter) = &mut self.reporter
            && let Err(payload) = catch_unwind(AssertUnwindSafe(|| reporter.passed(items, true)))
        {
            site.halt(turn.index(), Cause::Panic(payload));
        }
        run.finish();
    }
}

/// A run that was cancelled has no cell that stops it.
impl Drop for LineEnd<'_> {
    fn drop(&mut self) {
        if !self.has_stopped {
            self.run.delivered.store(self.exit.next(), Ordering::Relaxed);
        }
    }
}
