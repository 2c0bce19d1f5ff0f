//! A parallel unit. Workers claim ranges of the items that are ready, and carry them across the unit (rule
//! 4).

use anabranch_record::lane::{Cell, Hop, Stop};
use anabranch_record::sync::{AtomicUsize, Ordering, fence, spin_hint};

use super::clock::{Mean, Moment};
use super::code::{Hand, Placed};
use super::failure::{Cause, caught, caught_drop};
use super::line::{Poked, Station};
use super::measures::Tally;
use super::run::Run;

/// A claim has at least as many items as this many nanoseconds are enough for, at the mean cost of an item.
/// This minimum is at most [`CLAIM_LEAST_ITEMS`].
const CLAIM_LEAST_NS: u64 = 4_000;
/// The upper limit of the minimum that [`CLAIM_LEAST_NS`] sets, in items.
const CLAIM_LEAST_ITEMS: u64 = 256;
/// A claim has at most as many items as this many nanoseconds are enough for, at the mean cost of an item.
/// One item is always allowed.
const CLAIM_MOST_NS: u64 = 20_000;
/// A worker that finds few items ready pokes the node before, if the mean cost of that node's calls is less
/// than this many nanoseconds. Only a source reports a cost.
pub(super) const QUICK_SOURCE_NS: u64 = 1_000;
/// How long a worker waits for more items while another thread holds the baton of the node before, in
/// nanoseconds.
const HUNGRY_NS: u64 = 1_000;

/// A parallel unit of a line.
pub(crate) trait Parallel: Sync {
    /// Whether items are ready and a claim is allowed now. Only looks.
    fn is_ready(&self) -> bool;

    /// How many indices were claimed.
    fn taken(&self) -> u64;

    /// Creates one worker's side of the unit.
    fn carrier(&self) -> Box<dyn Carrier + '_>;
}

/// One worker's side of a parallel unit: the worker's state of the stages, and its measurements of their
/// cost.
pub(crate) trait Carrier {
    /// Claims a fair share of the items that are ready and carries them across. If few are ready, it first
    /// makes the node `before` give more. `elsewhere` says whether the line has other work, see
    /// [`SerialNode::poke`]. Returns whether anything was carried.
    ///
    /// [`SerialNode::poke`]: super::line::SerialNode::poke
    fn carry(&mut self, before: &Station<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool;
}

/// The limits of a unit's claims, and the number of claims under way.
#[derive(Debug)]
pub(super) struct Claims {
    /// How many claims may be under way at once. `usize::MAX` means any number.
    replicas: usize,
    /// The number of items in each claim. 0 means that the cost of the items decides.
    burst: u64,
    /// How many claims are under way. Not counted if any number may be.
    now: AtomicUsize,
}

impl Claims {
    pub(super) fn new(replicas: Option<usize>, burst: u64) -> Self {
        Self { replicas: replicas.unwrap_or(usize::MAX), burst, now: AtomicUsize::new(0) }
    }

    /// Whether another claim may begin. Only looks.
    pub(super) fn is_free(&self) -> bool {
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
            #[cfg(not(mutant = "no_fence_after_replica"))]
            fence(Ordering::SeqCst);
            if cfg!(not(mutant = "no_notice_after_replica")) && ready() > 0 {
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
    pub(super) fn carry(
        &self,
        run: &Run,
        mean: Mean,
        ready: &dyn Fn() -> u64,
        feeding: Feeding<'_>,
        claim: impl FnOnce(u64) -> bool,
    ) -> bool {
        let size = self.size(run, mean, ready, feeding);
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
    fn size(&self, run: &Run, mean: Mean, ready: &dyn Fn() -> u64, feeding: Feeding<'_>) -> u64 {
        let (least, most) = self.share(mean);
        let workers = run.workers.load(Ordering::Relaxed).max(1) as u64;
        let enough = (2 * workers).saturating_mul(least).min(feeding.window.div_ceil(2));
        let mut found = ready();
        let before = feeding.before;
        if !run.is_alone()
            && found < enough
            && before.own.is_none()
            && before.node.mean_ns() < QUICK_SOURCE_NS
        {
            let is_elsewhere = if before.node.is_ready() {
                before.node.poke(feeding.elsewhere) == Poked::Elsewhere
            } else {
                before.node.is_held()
            };
            found = if is_elsewhere { wait_hungrily(ready, enough) } else { ready() };
        }
        if found == 0 || !self.enter(run, ready) {
            return 0;
        }
        (found / (2 * workers)).clamp(least, most.max(least))
    }
}

/// The place from which a worker that is about to claim gets more items.
pub(super) struct Feeding<'f> {
    pub(super) before: &'f Station<'f>,
    pub(super) window: u64,
    pub(super) elsewhere: &'f dyn Fn() -> bool,
}

/// Waits up to [`HUNGRY_NS`] until `enough` items are ready, while another thread feeds the lane. Returns how
/// many items are ready afterwards.
fn wait_hungrily(ready: &dyn Fn() -> u64, enough: u64) -> u64 {
    let began = Moment::now();
    loop {
        let found = ready();
        if found >= enough || began.elapsed() >= HUNGRY_NS || cfg!(any(loom, shuttle)) {
            return found;
        }
        for _ in 0..16 {
            spin_hint();
        }
    }
}

/// The node of a parallel unit whose items any worker may claim.
pub(super) struct HopNode<'run, A: Send, B: Send> {
    placed: Placed<'run, A, B>,
    hop: Hop<A, B>,
    claims: Claims,
}

impl<'run, A: Send, B: Send> HopNode<'run, A, B> {
    pub(super) fn new(placed: Placed<'run, A, B>, hop: Hop<A, B>, claims: Claims) -> Self {
        Self { placed, hop, claims }
    }
}

impl<A: Send, B: Send> Parallel for HopNode<'_, A, B> {
    fn is_ready(&self) -> bool {
        self.hop.ready() > 0 && self.claims.is_free()
    }

    fn taken(&self) -> u64 {
        self.hop.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        Box::new(HopCarrier { node: self, hand: self.placed.code.hand(), mean: Mean::default() })
    }
}

struct HopCarrier<'n, A: Send, B: Send> {
    node: &'n HopNode<'n, A, B>,
    hand: Box<dyn Hand<A, B> + 'n>,
    mean: Mean,
}

impl<A: Send, B: Send> HopCarrier<'_, A, B> {
    /// Claims up to `size` items and carries them across. Returns whether it claimed any.
    fn claim(&mut self, size: u64) -> bool {
        let Self { node, hand, mean } = self;
        let site = &node.placed.site;
        let Some(mut claim) = node.hop.claim(size) else { return false };
        if cfg!(not(mutant = "no_notice_after_claim")) && node.hop.ready() > 0 {
            site.run.event.notify();
        }
        let items = claim.remaining();
        let began = site.clock();
        let _entered = site.enter();
        let mut tally = Tally::default();
        let carried = caught(&mut || hand.carry(&mut claim, node.hop.domain(), &mut tally));
        if let Some(began) = began {
            let nanos = began.elapsed();
            mean.update(nanos, items - claim.remaining());
            tally.cells = items - claim.remaining();
            if node.placed.traits.takes_batches {
                site.run.costs.note(site.id, nanos, tally.items);
            }
            site.measure(tally, began, nanos);
        }
        if let Err(payload) = carried {
            site.halt(claim.index(), Cause::Panic(payload));
            // The panic may have come from the factory of the state, before the item was taken.
            let item = claim.take();
            #[cfg(not(mutant = "no_stop_after_panic"))]
            claim.put(Cell::Stop(None, Stop::Fail));
            // If these drops panic too, the panic that was noted first counts.
            hand.forget();
            let _ = caught_drop(item);
        }
        if claim.remaining() > 0 {
            let index = claim.index();
            if let Err(payload) = caught_drop(claim) {
                site.halt(index, Cause::Panic(payload));
            }
        }
        true
    }
}

impl<A: Send, B: Send> Carrier for HopCarrier<'_, A, B> {
    fn carry(&mut self, before: &Station<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool {
        let HopNode { hop, claims, placed } = self.node;
        let feeding = Feeding { before, window, elsewhere };
        claims.carry(&placed.site.run, self.mean, &|| hop.ready(), feeding, |size| self.claim(size))
    }
}
