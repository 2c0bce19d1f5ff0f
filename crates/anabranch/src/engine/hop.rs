//! A parallel stage: workers claim ranges of what is ready and carry them across (rule 4).

use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_record::lane::{Cell, Hop, Stop};
use anabranch_record::sync::{AtomicUsize, Ordering, fence, spin_hint};

use super::assembly::{Poked, Station};
use super::cell::{items_in, through};
use super::clock::{Mean, Moment};
use super::measures::Tally;
use super::run::{Cause, Site};
use crate::shape::Shape;
use crate::unit::{Apply, Unit};

/// A claim is worth at least so many nanoseconds at the mean cost, but never more than [`LEAST_ITEMS`]...
const LEAST: u64 = 4_000;
const LEAST_ITEMS: u64 = 256;
/// ... and at most so many, but always one item.
const MOST: u64 = 20_000;
/// A worker that finds little feeds itself from a source whose `next` takes less than this.
const QUICK_SOURCE: u64 = 1_000;
/// Where somebody else holds the feeder's baton, it waits so long for more.
const HUNGRY: u64 = 1_000;

/// A hop of a line.
pub(crate) trait Parallel: Sync {
    /// Whether there is something to claim, and a claim is allowed now. Only looks.
    fn is_ready(&self) -> bool;

    /// The id of the unit's first node in the plan, and how many items were claimed.
    fn taken(&self) -> (usize, u64);

    /// Makes a worker's side of it.
    fn carrier(&self) -> Box<dyn Carrier + '_>;
}

/// One worker's side of a hop: its state and what it knows of the cost.
pub(crate) trait Carrier {
    /// Claims what is a fair share and carries it across, having fed the lane from `before` if it runs low.
    /// Says whether anything was carried.
    fn carry(&mut self, before: &Station<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool;
}

/// The lanes around a unit.
pub(super) type UnitHop<U> = Hop<
    <<U as Unit>::From as Shape>::Slot<<U as Unit>::In>,
    <<U as Unit>::To as Shape>::Slot<<U as Unit>::Out>,
>;

/// What holds for the claims of a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// At most so many at once.
    pub(super) replicas: Option<usize>,
    /// Each is so many items; 0 is as many as their cost allows.
    pub(super) burst: u64,
}

/// The hop of a unit.
pub(super) struct HopNode<U: Unit, E> {
    site: Site<E>,
    hop: UnitHop<U>,
    unit: U,
    /// At most so many claims at once.
    replicas: usize,
    burst: u64,
    claims: AtomicUsize,
}

impl<U: Unit, E> HopNode<U, E> {
    pub(super) fn new(site: Site<E>, hop: UnitHop<U>, unit: U, limits: Limits) -> Self {
        let Limits { replicas, burst } = limits;
        let replicas = replicas.unwrap_or(usize::MAX);
        Self { site, hop, unit, replicas, burst, claims: AtomicUsize::new(0) }
    }

    /// Takes one of the replicas, if there is a limit and it is not reached.
    fn enter(&self) -> bool {
        if self.replicas == usize::MAX {
            return true;
        }
        if self.claims.fetch_add(1, Ordering::SeqCst) < self.replicas {
            return true;
        }
        self.leave();
        false
    }

    fn leave(&self) {
        if self.replicas != usize::MAX {
            self.claims.fetch_sub(1, Ordering::SeqCst);
            // Between the count and the look: who is told of an item meanwhile sees the replica free, or is seen.
            #[cfg(not(mutant = "no_fence_after_replica"))]
            fence(Ordering::SeqCst);
            if cfg!(not(mutant = "no_notice_after_replica")) && self.hop.ready() > 0 {
                self.site.run.event.notify();
            }
        }
    }
}

impl<U: Apply<E>, E: Send> Parallel for HopNode<U, E> {
    fn is_ready(&self) -> bool {
        self.hop.ready() > 0 && self.claims.load(Ordering::SeqCst) < self.replicas
    }

    fn taken(&self) -> (usize, u64) {
        (self.site.id, self.hop.claimed())
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
    /// What a claim should hold at least, and at most.
    fn share(&self) -> (u64, u64) {
        let burst = self.node.burst;
        if burst > 0 {
            return (burst, burst);
        }
        if !self.mean.is_known() {
            return (1, 1);
        }
        (self.mean.items_in(LEAST).min(LEAST_ITEMS), self.mean.items_in(MOST))
    }

    /// Carries up to `size` items. Says whether there was any.
    fn claim(&mut self, size: u64) -> bool {
        let Self { node, local, mean } = self;
        let site = &node.site;
        let Some(mut claim) = node.hop.claim(size) else { return false };
        if cfg!(not(mutant = "no_notice_after_claim")) && node.hop.ready() > 0 {
            site.run.event.notify();
        }
        let items = claim.remaining();
        let (stop, run) = (node.hop.domain(), &*site.run);
        let began = site.clock();
        let _entered = site.enter();
        let mut tally = Tally::default();
        let carried = catch_unwind(AssertUnwindSafe(|| {
            let local = local.get_or_insert_with(|| node.unit.local());
            while claim.remaining() > 0
                && !run.is_ending()
                && claim.index() <= stop.stop() - u64::from(cfg!(mutant = "drop_at_the_stop"))
            {
                let Some(cell) = claim.take() else { break };
                tally.items += items_in::<U::From, U::In>(&cell);
                let cell =
                    through::<U::From, U::To, U::In, U::Out, E>(site, claim.index(), cell, |item, gather| {
                        node.unit.apply(local, item, &mut |item| {
                            U::To::push(gather, item);
                            std::ops::ControlFlow::Continue(())
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
            site.measure(tally, began, nanos);
        }
        if let Err(payload) = carried {
            // The state may be half-changed: who comes to need it makes a new one.
            let broken = local.take();
            site.halt(claim.index(), Cause::Panic(payload));
            // The factory may have panicked before the item was taken.
            let item = claim.take();
            #[cfg(not(mutant = "no_stop_after_panic"))]
            claim.put(Cell::Stop(None, Stop::Fail));
            // What these drops may panic with comes after the panic that is already noted.
            let _ = catch_unwind(AssertUnwindSafe(move || drop((broken, item))));
        }
        if claim.remaining() > 0 {
            let place = claim.index();
            if let Err(payload) = catch_unwind(AssertUnwindSafe(move || drop(claim))) {
                site.halt(place, Cause::Panic(payload));
            }
        }
        true
    }
}

impl<U: Apply<E>, E: Send> Carrier for HopCarrier<'_, U, E> {
    fn carry(&mut self, before: &Station<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool {
        let hop = &self.node.hop;
        let (least, most) = self.share();
        let workers = self.node.site.run.workers.load(Ordering::Relaxed).max(1) as u64;
        let enough = (2 * workers * least).min(window.div_ceil(2));
        let mut ready = hop.ready();
        let feeds = !self.node.site.run.is_alone();
        if feeds && ready < enough && before.own.is_none() && before.node.mean() < QUICK_SOURCE {
            let elsewhere = if before.node.is_ready() {
                before.node.poke(elsewhere) == Poked::Elsewhere
            } else {
                before.node.is_held()
            };
            ready = if elsewhere { self.wait_hungrily(enough) } else { hop.ready() };
        }
        if ready == 0 || !self.node.enter() {
            return false;
        }
        let size = (ready / (2 * workers)).clamp(least, most.max(least));
        let carried = self.claim(size);
        self.node.leave();
        carried
    }
}

impl<U: Apply<E>, E: Send> HopCarrier<'_, U, E> {
    /// Somebody else feeds the lane: waits a moment for `enough`. Gives what is ready then.
    fn wait_hungrily(&self, enough: u64) -> u64 {
        let began = Moment::now();
        loop {
            let ready = self.node.hop.ready();
            if ready >= enough || began.elapsed() >= HUNGRY || cfg!(any(loom, shuttle)) {
                return ready;
            }
            for _ in 0..16 {
                spin_hint();
            }
        }
    }
}
