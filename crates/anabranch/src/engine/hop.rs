//! A parallel unit. Workers claim ranges of the items that are ready, and carry them across the unit (rule
//! 4).

use anabranch_record::lane::{Cell, Hop, Stop};

use super::claims::{Claims, Refill};
use super::clock::Mean;
use super::code::{Placed, UnitRunner};
use super::failure::{Cause, caught, caught_drop};
use super::measures::Tally;
use super::node::{Carrier, Parallel, SerialUnit};

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
        Box::new(HopCarrier { node: self, runner: self.placed.code.runner(), mean: Mean::default() })
    }
}

struct HopCarrier<'n, A: Send, B: Send> {
    node: &'n HopNode<'n, A, B>,
    runner: Box<dyn UnitRunner<A, B> + 'n>,
    mean: Mean,
}

impl<A: Send, B: Send> HopCarrier<'_, A, B> {
    /// Claims up to `size` items and carries them across. Returns whether it claimed any.
    fn claim(&mut self, size: u64) -> bool {
        let Self { node, runner, mean } = self;
        let site = &node.placed.site;
        let Some(mut claim) = node.hop.claim(size) else { return false };
        if cfg!(not(mutant = "no_notice_after_claim")) && node.hop.ready() > 0 {
            site.run.event.notify();
        }
        let items = claim.remaining();
        let began = site.clock();
        let _entered = site.enter();
        let mut tally = Tally::default();
        let carried = caught(&mut || runner.carry(&mut claim, node.hop.domain(), &mut tally));
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
            runner.forget();
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
    fn carry(&mut self, before: &SerialUnit<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool {
        let HopNode { hop, claims, placed } = self.node;
        let refill = Refill { before, window, elsewhere };
        claims.carry(&placed.site.run, self.mean, &|| hop.ready(), refill, |size| self.claim(size))
    }
}
