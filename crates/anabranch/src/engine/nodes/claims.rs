//! How many items a worker claims at a parallel unit, and how many claims are under way (rules 4 and 14).

use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{AtomicUsize, Ordering, fence, spin_hint};

use super::node::{Poked, SerialUnit};
use crate::clock::{Mean, Moment};
use crate::engine::state::run::Run;

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_FENCE_AFTER_REPLICA: Mutant = Mutant("no_fence_after_replica");
const NO_NOTICE_AFTER_REPLICA: Mutant = Mutant("no_notice_after_replica");

/// A worker asks for at least as many items as take this many nanoseconds, at the mean cost of an item. This minimum is at most
/// [`CLAIM_LEAST_ITEMS`]. A claim is smaller if fewer items are ready.
const CLAIM_LEAST_NS: u64 = 4_000;
/// The upper limit of the minimum that [`CLAIM_LEAST_NS`] sets, in items.
const CLAIM_LEAST_ITEMS: u64 = 256;
/// A claim has at most as many items as take this many nanoseconds, at the mean cost of an item. One item is always
/// allowed.
const CLAIM_MOST_NS: u64 = 20_000;
/// A source is quick if it takes less than this many nanoseconds for an item, with the stages that are fused to it. A worker
/// that finds few items ready pokes a quick source; a worker that has pulled from a source that is not quick pulls from it
/// again while another worker sleeps (rules 4 and 8).
pub(crate) const QUICK_SOURCE_NS: u64 = 1_000;
/// How long a worker waits for more items while another thread holds the baton of the node before, in
/// nanoseconds.
const REFILL_WAIT_NS: u64 = 1_000;

/// The limits of a unit's claims, and the number of claims under way.
#[derive(Debug)]
pub(crate) struct Claims {
    /// How many claims may be under way at once. `usize::MAX` means any number.
    replicas: usize,
    /// The largest number of items in a claim. 0 means that the cost of the items decides.
    burst: u64,
    /// How many claims are under way. Not counted if any number may be.
    now: AtomicUsize,
}

impl Claims {
    pub(crate) fn new(replicas: Option<usize>, burst: u64) -> Self {
        Self { replicas: replicas.unwrap_or(usize::MAX), burst, now: AtomicUsize::new(0) }
    }

    /// Whether another claim may begin. Only looks.
    pub(crate) fn is_free(&self) -> bool {
        self.now.load(Ordering::SeqCst) < self.replicas
    }

    /// Takes a replica, if one is free or any number may be. Returns whether it did.
    fn enter(&self, run: &Run, ready: &dyn Fn() -> u64) -> bool {
        if self.replicas == usize::MAX {
            return true;
        }
        if self.now.fetch_add(1, Ordering::SeqCst) < self.replicas {
            return true;
        }
        self.leave(run, ready);
        false
    }

    /// Gives a replica back, and wakes a worker if items are ready (rule 14).
    fn leave(&self, run: &Run, ready: &dyn Fn() -> u64) {
        if self.replicas != usize::MAX {
            self.now.fetch_sub(1, Ordering::SeqCst);
            // Orders the subtraction before the look. If another thread is told of an item at this time,
            // either that thread sees the free replica, or this look sees the item.
            if !NO_FENCE_AFTER_REPLICA.is_on() {
                fence(Ordering::SeqCst);
            }
            if !NO_NOTICE_AFTER_REPLICA.is_on() && ready() > 0 {
                run.event.notify();
            }
        }
    }

    /// The smallest and the largest number of items that a claim should have.
    fn share(&self, mean: Mean) -> (u64, u64) {
        if self.burst > 0 {
            return (self.burst, self.burst);
        }
        if !mean.is_known() {
            return (1, 1);
        }
        (mean.items_in(CLAIM_LEAST_NS).min(CLAIM_LEAST_ITEMS), mean.items_in(CLAIM_MOST_NS))
    }

    /// Claims a fair share by `claim`, if something is `ready` and a replica is free. Says whether anything was carried.
    #[inline]
    pub(crate) fn carry(
        &self,
        run: &Run,
        mean: Mean,
        ready: &dyn Fn() -> u64,
        refill: Refill<'_>,
        claim: impl FnOnce(u64) -> bool,
    ) -> bool {
        let size = self.size(run, mean, ready, refill);
        if size == 0 {
            return false;
        }
        let carried = claim(size);
        self.leave(run, ready);
        carried
    }

    /// Decides how many items to claim. If few are ready, it first makes the node before give more.
    ///
    /// Returns 0 if no items are ready or no replica is free. Otherwise the caller has a replica, and must
    /// give it back with [`leave`](Self::leave).
    fn size(&self, run: &Run, mean: Mean, ready: &dyn Fn() -> u64, refill: Refill<'_>) -> u64 {
        let (least, most) = self.share(mean);
        let workers = run.workers.load(Ordering::Relaxed).max(1) as u64;
        let enough = (2 * workers).saturating_mul(least).min(refill.window.div_ceil(2));
        let mut found = ready();
        let before = refill.before;
        if !run.is_alone()
            && found < enough
            && before.own.is_none()
            && before.node.mean_ns() < QUICK_SOURCE_NS
        {
            let is_elsewhere = if before.node.is_ready() {
                before.node.poke(refill.elsewhere) == Poked::Elsewhere
            } else {
                before.node.is_held()
            };
            found = if is_elsewhere { wait_for_items(ready, enough) } else { ready() };
        }
        if found == 0 || !self.enter(run, ready) {
            return 0;
        }
        (found / (2 * workers)).clamp(least, most.max(least))
    }
}

/// Lets a worker that is about to claim get more items: the serial unit before the lane, the window, and whether the line has
/// other work.
pub(crate) struct Refill<'f> {
    pub(crate) before: &'f SerialUnit<'f>,
    pub(crate) window: u64,
    pub(crate) elsewhere: &'f dyn Fn() -> bool,
}

/// Waits up to [`REFILL_WAIT_NS`] until `enough` items are ready, while another thread feeds the lane. Returns how
/// many items are ready afterwards.
fn wait_for_items(ready: &dyn Fn() -> u64, enough: u64) -> u64 {
    let began = Moment::now();
    loop {
        let found = ready();
        if found >= enough || began.elapsed() >= REFILL_WAIT_NS || cfg!(any(loom, shuttle)) {
            return found;
        }
        for _ in 0..16 {
            spin_hint();
        }
    }
}
