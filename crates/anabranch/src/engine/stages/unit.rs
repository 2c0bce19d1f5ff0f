//! Parallel units: parallel stages that follow each other. A worker claims cells, and takes each through all of the stages.
//!
//! A stage knows only the types of the cells that it takes and gives. The first stage has the loop over the cells of a claim, and the
//! user's function is inlined there. It calls the next stage for each cell. The last stage puts its results into the lane.

use anabranch_record::lane::{Cell, Claim, Dealer, Outlet, Putter, Turn};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::Arc;

use super::stage::Stage;
use crate::clock::Mean;
use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::{self, Consumer, End};
use crate::engine::build::upstream::Upstream;
use crate::engine::nodes::claims::{Claims, Refill};
use crate::engine::nodes::input::{Feed, Lane};
use crate::engine::nodes::node::{Carrier, Parallel as ParallelNode, SerialUnit};
use crate::engine::nodes::op::{Parallel, Serial};
use crate::engine::nodes::quantum::Quantum;
use crate::engine::nodes::step::{Kernel, Step, stop_at_panic};
use crate::engine::state::failure::{Cause, ErrorSlot, Payload, caught, caught_drop, discard};
use crate::engine::state::site::Site;
use crate::measures::Tally;

// This mutant takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_NOTICE_AFTER_CLAIM: Mutant = Mutant("no_notice_after_claim");

/// A parallel stage and everything before it.
pub(crate) struct ParallelUpstream<'env, T: Send, E, Op, K> {
    pub(crate) before: Box<dyn Upstream<T> + 'env>,
    pub(crate) errors: Arc<ErrorSlot<E>>,
    pub(crate) op: Op,
    pub(crate) id: usize,
    /// The kind of the unit that begins with the stage.
    pub(crate) kind: K,
}

/// The items that a parallel stage gives.
type OutOf<T, E, Op> = <<Op as Parallel<T, E>>::Side as Serial<T, E>>::Out;

impl<T, E, Op, K> Upstream<OutOf<T, E, Op>> for ParallelUpstream<'_, T, E, Op, K>
where
    T: Send,
    E: Send,
    Op: Parallel<T, E>,
    K: UnitKind<T>,
{
    fn connect<'run>(
        self: Box<Self>,
        assembly: &mut Assembly<'run>,
        consumer: Consumer<'run, OutOf<T, E, Op>>,
    ) where
        Self: 'run,
    {
        let Self { before, errors, op, id, kind } = *self;
        let spot = assembly.spot(assembly.first_of_unit(id), &errors);
        if assembly.is_direct() {
            let stage = Stage::new(spot, op.side(), consumer.into_direct());
            let consumer = Consumer::direct(assembly, id, stage);
            return before.connect(assembly, consumer);
        }
        let gives_arrivals = spot.gives_arrivals;
        let step: MakeStep<'run, T, OutOf<T, E, Op>> = Box::new(move |out| {
            let (spot, side) = (spot.clone(), op.side());
            match out {
                WorkerOut::Call(next) => Box::new(Stage::new(spot, side, next)),
                WorkerOut::Lane(putter) => Box::new(Stage::new(spot, side, putter)),
            }
        });
        let stage = ParallelStage { step, id, kind, gives_arrivals, consumer };
        before.connect(assembly, Consumer { id, end: End::Parallel(Box::new(stage)) });
    }
}

/// How the cells of a parallel unit come to the workers.
pub(crate) trait UnitKind<A: Send>: Copy + Send {
    /// Adds a unit to the line. Its first stage is the node `id`, whose cells come from `dealer`.
    fn add<'run>(self, assembly: &mut Assembly<'run>, id: usize, dealer: Dealer<A>, kernel: Kernel<'run, A>)
    where
        A: 'run;
}

/// Any worker may claim the next cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claimed;

impl<A: Send> UnitKind<A> for Claimed {
    fn add<'run>(self, assembly: &mut Assembly<'run>, id: usize, dealer: Dealer<A>, kernel: Kernel<'run, A>)
    where
        A: 'run,
    {
        let (site, claims) = (assembly.site(id), assembly.claims(assembly.unit_of(id)));
        assembly.parallel(id, UnitNode { site, dealer, claims, kernel });
    }
}

/// The way on from a stage of a parallel unit.
enum WorkerOut<'run, A: Send> {
    /// To the next stage of the unit.
    Call(Box<dyn Step<A> + 'run>),
    /// Into the lane behind the unit.
    Lane(Arc<Putter<A>>),
}

/// Makes a worker's step of one stage, in front of the way on.
type MakeStep<'run, A, B> = Box<dyn Fn(WorkerOut<'run, B>) -> Box<dyn Step<A> + 'run> + Send + Sync + 'run>;

/// A parallel stage with those behind it, while a line is built.
struct ParallelStage<'run, A, B: Send, K> {
    step: MakeStep<'run, A, B>,
    id: usize,
    kind: K,
    /// Whether the results are taken in the order in which they are done.
    gives_arrivals: bool,
    consumer: Consumer<'run, B>,
}

impl<'run, A: Send + 'run, B: Send + 'run, K: UnitKind<A>> consumer::Parallel<'run, A>
    for ParallelStage<'run, A, B, K>
{
    fn kernel(self: Box<Self>, assembly: &mut Assembly<'run>, outlet: Outlet) -> Kernel<'run, A> {
        let Self { step, gives_arrivals, consumer, .. } = *self;
        let consumer = match consumer.end {
            End::Parallel(next) => {
                let next = next.kernel(assembly, outlet);
                return Box::new(move || step(WorkerOut::Call(next())));
            }
            end => Consumer { end, ..consumer },
        };
        let (putter, lane) = if gives_arrivals {
            let (putter, lane) = outlet.unordered_lane();
            (putter, Lane::Arrived(lane))
        } else {
            let (putter, lane) = outlet.lane();
            (putter, Lane::Stamped(lane))
        };
        assembly.read(consumer, lane);
        let putter = Arc::new(putter);
        Box::new(move || step(WorkerOut::Lane(Arc::clone(&putter))))
    }

    fn unit(self: Box<Self>, assembly: &mut Assembly<'run>, dealer: Dealer<A>, outlet: Outlet) {
        let (id, kind) = (self.id, self.kind);
        let kernel = self.kernel(assembly, outlet);
        kind.add(assembly, id, dealer, kernel);
    }
}

/// A worker's side of a parallel unit.
pub(crate) struct WorkerSide<'n, 'run, A: Send> {
    site: &'n Site,
    kernel: &'n Kernel<'run, A>,
    step: Box<dyn Step<A> + 'run>,
}

impl<'n, 'run, A: Send> WorkerSide<'n, 'run, A> {
    pub(crate) fn new(site: &'n Site, kernel: &'n Kernel<'run, A>) -> Self {
        Self { site, kernel, step: kernel() }
    }

    /// Takes the cells of a claim to the end of the unit, until the stream stops or no cell is left. Drops the cells that are left
    /// then. Returns the counts of what was taken and given.
    fn carry(&mut self, claim: Claim<'_, A>, turn: Turn) -> Tally {
        let first = claim.index();
        let mut feed = Feed::Claim { claim, turn, domain: &self.site.domain };
        let (step, mut quantum) = (&mut self.step, Quantum::unlimited());
        if let Err(payload) = caught(&mut || _ = step.serve(&mut feed, &mut quantum, &self.site.run)) {
            self.stop_at_panic(payload, feed.turn());
        }
        let Feed::Claim { claim, turn, .. } = feed else { unreachable!("the feed has the claim") };
        let cells = claim.index() - first;
        if claim.remaining() > 0 {
            self.drop_late(claim, turn);
        }
        quantum.gain = self.step.take_gain();
        quantum.tally_of(cells)
    }

    /// Takes one cell to the end of the unit. A cell behind the index at which the stream has stopped is dropped. Adds to the counts.
    pub(crate) fn carry_one(&mut self, turn: &mut Turn, cell: Cell<A>, tally: &mut Tally) {
        let items = cell.len();
        if self.site.is_late(turn.index()) {
            return self.pass_stop(turn, cell);
        }
        let (step, mut cell) = (&mut self.step, Some(cell));
        if let Err(payload) = caught(&mut || _ = cell.take().map(|cell| step.cell(turn, cell))) {
            self.stop_at_panic(payload, turn);
        }
        let given = items.saturating_add_signed(self.step.take_gain());
        tally.add(Tally { cells: 1, items, given });
    }

    /// Notes a panic of user code. The worker gets another step, because a panic may have left its states half-changed, and an item
    /// with a lower index may still come (rule 13). If a drop of these states panics too, that panic is lost.
    #[cold]
    fn stop_at_panic(&mut self, payload: Payload, turn: &mut Turn) {
        let step = &mut self.step;
        stop_at_panic(self.site, payload, turn, |turn, cell| step.cell(turn, cell));
        discard(std::mem::replace(step, (self.kernel)()));
    }

    /// Drops the cells that are left of a claim, which are behind the index at which the stream has stopped.
    #[cold]
    fn drop_late(&mut self, mut claim: Claim<'_, A>, mut turn: Turn) {
        while self.passes_stops()
            && let Some(cell) = claim.take()
        {
            self.pass_stop(&mut turn, cell);
        }
        if let Err(payload) = caught_drop(claim) {
            self.site.halt(turn.index(), Cause::Panic(payload));
        }
    }

    /// Whether stops behind the index at which the stream has stopped go on. Without an order, the first stop that arrives at the next
    /// node closes it, whatever its index is.
    fn passes_stops(&self) -> bool {
        self.site.gives_arrivals && !self.site.run.is_ending()
    }

    /// Drops a cell that is late, and passes its stop on if stops go on.
    #[cold]
    fn pass_stop(&mut self, turn: &mut Turn, cell: Cell<A>) {
        let stop = cell.stop().map_or(Cell::Empty, Cell::Stop);
        if let Err(payload) = caught_drop(cell) {
            self.site.halt(turn.index(), Cause::Panic(payload));
        }
        if self.passes_stops() {
            self.step.cell(turn, stop);
        }
    }
}

/// The node of a parallel unit whose cells any worker may claim (rule 4).
struct UnitNode<'run, A: Send> {
    site: Site,
    dealer: Dealer<A>,
    claims: Claims,
    kernel: Kernel<'run, A>,
}

impl<A: Send> ParallelNode for UnitNode<'_, A> {
    fn is_ready(&self) -> bool {
        self.dealer.ready() > 0 && self.claims.is_free()
    }

    fn taken(&self) -> u64 {
        self.dealer.claimed()
    }

    fn carrier(&self) -> Box<dyn Carrier + '_> {
        let side = WorkerSide::new(&self.site, &self.kernel);
        Box::new(UnitCarrier { node: self, side, mean: Mean::default() })
    }
}

struct UnitCarrier<'n, 'run, A: Send> {
    node: &'n UnitNode<'run, A>,
    side: WorkerSide<'n, 'run, A>,
    mean: Mean,
}

impl<A: Send> UnitCarrier<'_, '_, A> {
    /// Claims up to `size` cells and carries them through the stages. Returns whether there were any.
    fn claim(&mut self, size: u64) -> bool {
        let Self { node, side, mean } = self;
        let site = &node.site;
        let Some((claim, turn)) = node.dealer.claim(size) else { return false };
        if !NO_NOTICE_AFTER_CLAIM.is_on() && node.dealer.ready() > 0 {
            site.run.event.notify();
        }
        let began = site.clock();
        let _entered = site.enter();
        let tally = side.carry(claim, turn);
        if let Some(began) = began {
            let nanos = began.elapsed();
            mean.update(nanos, tally.cells);
            site.run.costs.note(site.id, nanos, tally.items);
            site.measure(tally, began, nanos);
        }
        true
    }
}

impl<A: Send> Carrier for UnitCarrier<'_, '_, A> {
    fn carry(&mut self, before: &SerialUnit<'_>, window: u64, elsewhere: &dyn Fn() -> bool) -> bool {
        let UnitNode { site, dealer, claims, .. } = self.node;
        let refill = Refill { before, window, elsewhere };
        claims.carry(&site.run, self.mean, &|| dealer.ready(), refill, |size| self.claim(size))
    }
}
