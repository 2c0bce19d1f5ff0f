//! A parallel unit: workers claim ranges of what is ready and carry them across (rule 4).

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Hop, Stop};
use anabranch_record::sync::{AtomicUsize, Ordering, fence, spin_hint};

use super::cell::{items_in, through};
use super::clock::{Mean, Moment};
use super::failure::Cause;
use super::line::{Poked, Station};
use super::measures::Tally;
use super::run::Run;
use super::site::Spot;
use crate::shape::Shape;
use crate::unit::{Apply, Given, Taken, Unit};

/// A claim holds at least what takes this many nanoseconds at the mean cost, but never more than this many items...
const CLAIM_LEAST_NS: u64 = 4_000;
const CLAIM_LEAST_ITEMS: u64 = 256;
/// ... and at most what takes this many nanoseconds, but always one item.
const CLAIM_MOST_NS: u64 = 20_000;
/// A worker that finds little pulls for itself from a source whose `next` takes less than this many nanoseconds.
const QUICK_SOURCE_NS: u64 = 1_000;
/// Where another thread holds the baton of the node before, a worker waits this many nanoseconds for more items.
const HUNGRY_NS: u64 = 1_000;

/// A parallel node of a line.
pub(crate) trait Parallel: Sync {
    /// Whether there is something to claim, and a claim is allowed now. Only looks.
    fn is_ready(&self) -> bool;

    /// How many indices were claimed.
    fn taken(&self) -> u64;

    /// Makes a worker's side of it.
    fn carrier(&self) -> Box<dyn Carrier + '_>;
}

/// One worker's side of a parallel node: its state and what it knows of the cost.
pub(crate) trait Carrier {
    /// Claims a fair share and carries it across, having fed the lane from `before` if it runs low. Says whether anything
    /// was carried.
    fn carry(&mut self, before: &Station<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool;
}

/// The limits of a unit's claims, and how many claims there are now.
#[derive(Debug)]
pub(super) struct Claims {
    /// At most this many at once; `usize::MAX` is any number.
    replicas: usize,
    /// Each is of this many items; 0 is as many as their cost allows.
    burst: u64,
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

    /// Takes one of the replicas, if there is a limit and it is not reached.
    fn enter(&self, run: &Run, ready: impl Fn() -> u64) -> bool {
        if self.replicas == usize::MAX {
            return true;
        }
        if self.now.fetch_add(1, Ordering::SeqCst) < self.replicas {
            return true;
        }
        self.leave(run, ready);
        false
    }

    fn leave(&self, run: &Run, ready: impl Fn() -> u64) {
        if self.replicas != usize::MAX {
            self.now.fetch_sub(1, Ordering::SeqCst);
            // Between the count and the look: a thread that is told of an item meanwhile sees the replica free, or its
            // item is seen here.
            #[cfg(not(mutant = "no_fence_after_replica"))]
            fence(Ordering::SeqCst);
            if cfg!(not(mutant = "no_notice_after_replica")) && ready() > 0 {
                run.event.notify();
            }
        }
    }

    /// How many items a claim should hold at least, and at most.
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

    /// Decides how many items to claim, having fed the lane from `before` if it runs low: 0 if none are ready, or no
    /// replica is free. Otherwise the caller has a replica, and must [`leave`](Self::leave) it.
    fn size(&self, run: &Run, mean: Mean, ready: &dyn Fn() -> u64, feeding: Feeding<'_>) -> u64 {
        let (least, most) = self.share(mean);
        let workers = run.workers.load(Ordering::Relaxed).max(1) as u64;
        let enough = (2 * workers * least).min(feeding.window.div_ceil(2));
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

/// Where a worker that is about to claim gets more items from.
pub(super) struct Feeding<'f> {
    pub(super) before: &'f Station<'f>,
    pub(super) window: u64,
    pub(super) elsewhere: &'f dyn Fn() -> bool,
}

/// Another thread feeds the lane: waits a moment until `enough` items are ready. Gives how many are ready then.
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

/// The node of a unit whose items go to whoever is free.
pub(super) struct HopNode<U: Unit, E> {
    spot: Spot<E>,
    hop: Hop<Taken<U>, Given<U>>,
    unit: U,
    claims: Claims,
}

impl<U: Unit, E> HopNode<U, E> {
    pub(super) fn new(spot: Spot<E>, hop: Hop<Taken<U>, Given<U>>, unit: U, claims: Claims) -> Self {
        Self { spot, hop, unit, claims }
    }
}

impl<U: Apply<E>, E: Send> Parallel for HopNode<U, E> {
    fn is_ready(&self) -> bool {
        self.hop.ready() > 0 && self.claims.is_free()
    }

    fn taken(&self) -> u64 {
        self.hop.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        Box::new(HopCarrier { node: self, local: None, mean: Mean::default() })
    }
}

struct HopCarrier<'n, U: Unit, E> {
    node: &'n HopNode<U, E>,
    local: Option<U::Local>,
    mean: Mean,
}

impl<U: Apply<E>, E: Send> HopCarrier<'_, U, E> {
    /// Carries up to `size` items. Says whether there was any.
    fn claim(&mut self, size: u64) -> bool {
        let Self { node, local, mean } = self;
        let spot = &node.spot;
        let Some(mut claim) = node.hop.claim(size) else { return false };
        if cfg!(not(mutant = "no_notice_after_claim")) && node.hop.ready() > 0 {
            spot.run.event.notify();
        }
        let items = claim.remaining();
        let (domain, run) = (node.hop.domain(), &*spot.run);
        let began = spot.clock();
        let _entered = spot.enter();
        let mut tally = Tally::default();
        let carried = catch_unwind(AssertUnwindSafe(|| {
            let local = local.get_or_insert_with(|| node.unit.local());
            while claim.remaining() > 0
                && !run.is_ending()
                && claim.index() <= domain.stop() - u64::from(cfg!(mutant = "drop_at_the_stop"))
            {
                let Some(cell) = claim.take() else { break };
                tally.items += items_in::<U::From, U::In>(&cell);
                let cell =
                    through::<U::From, U::To, U::In, U::Out, E>(spot, claim.index(), cell, |item, gather| {
                        node.unit.apply(local, item, &mut |item| {
                            U::To::push(gather, item);
                            ControlFlow::Continue(())
                        })
                    });
                tally.given += items_in::<U::To, U::Out>(&cell);
                claim.put(cell);
            }
        }));
        if let Some(began) = began {
            let nanos = began.elapsed();
            mean.update(nanos, items - claim.remaining());
            tally.cells = items - claim.remaining();
            spot.measure(tally, began, nanos);
        }
        if let Err(payload) = carried {
            // The state may be half-changed: a lower index that still needs one gets a new one.
            let broken = local.take();
            spot.halt(claim.index(), Cause::Panic(payload));
            // The factory may have panicked before the item was taken.
            let item = claim.take();
            #[cfg(not(mutant = "no_stop_after_panic"))]
            claim.put(Cell::Stop(None, Stop::Fail));
            // A panic of these drops comes after the panic that is already noted.
            let _ = catch_unwind(AssertUnwindSafe(move || drop((broken, item))));
        }
        if claim.remaining() > 0 {
            let index = claim.index();
            if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(claim))) {
                spot.halt(index, Cause::Panic(payload));
            }
        }
        true
    }
}

impl<U: Apply<E>, E: Send> Carrier for HopCarrier<'_, U, E> {
    fn carry(&mut self, before: &Station<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool {
        let HopNode { hop, claims, spot, .. } = self.node;
        let feeding = Feeding { before, window, elsewhere };
        claims.carry(&spot.run, self.mean, &|| hop.ready(), feeding, |size| self.claim(size))
    }
}
