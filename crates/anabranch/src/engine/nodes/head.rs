//! The head of a serial unit. It reads a lane in order, on one thread at a time (rules 6 and 7).

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc as StdArc;

use anabranch_record::Word;
use anabranch_record::sync::{Arc, Ordering};

use super::input::{Feed, Input, InputWatch};
use super::quantum::{Quantum, Served};
use super::serving::{ServedNode, Serving};
use super::step::{Demand, Step, stop_at_panic};
use crate::engine::state::run::Run;
use crate::engine::state::site::Site;

/// Takes the results of a detached run. Its sink never waits, but is served only while there is room.
pub(crate) trait ResultQueue: Send + Sync {
    /// Whether another result may come. Only looks. When it becomes true, the run's event must be notified.
    fn has_room(&self) -> bool;
}

pub(crate) struct HeadState<'run, S: Send> {
    input: Input<S>,
    unit: Box<dyn Step<S> + Send + 'run>,
}

/// The head of a serial unit.
pub(crate) struct Head<'run, S: Send> {
    site: Site,
    state: PhantomData<fn(HeadState<'run, S>)>,
    watch: InputWatch<S>,
    /// Whether taking a cell needs room in a window, because the unit begins a domain.
    needs_room: bool,
    /// Whether the unit ends with the sink.
    is_sink: bool,
    /// The queue of the results, if the unit ends with the sink of a detached run.
    queue: Option<StdArc<dyn ResultQueue>>,
}

impl<'run, S: Send> Head<'run, S> {
    /// Creates the head of `unit`. `word` is the word of its baton, if other nodes have got the word already.
    pub(crate) fn new(
        site: Site,
        input: Input<S>,
        unit: Box<dyn Step<S> + Send + 'run>,
        word: Option<Arc<Word>>,
        is_sink: bool,
        queue: Option<StdArc<dyn ResultQueue>>,
    ) -> ServedNode<Self> {
        let (watch, needs_room) = (input.watch(), input.needs_room());
        let state = HeadState { input, unit };
        let head = Self { site, state: PhantomData, watch, needs_room, is_sink, queue };
        match word {
            Some(word) => ServedNode::with_word(head, state, word),
            None => ServedNode::new(head, state),
        }
    }
}

/// Like [`Step::serve`], but takes a cell only while the queue has room. Without room the quantum is used up: the holder looks
/// again after it has released the baton.
#[cold]
fn serve_while_room<S: Send>(
    queue: &dyn ResultQueue,
    unit: &mut dyn Step<S>,
    feed: &mut Feed<'_, S>,
    quantum: &mut Quantum,
    run: &Run,
) -> Served {
    while !run.is_ending() && queue.has_room() {
        let Some((turn, cell)) = feed.take() else { return Served::Drained };
        quantum.count_items(cell.len());
        if unit.cell(turn, cell) == Demand::Nothing {
            return Served::Closed;
        }
        if quantum.count() {
            break;
        }
    }
    Served::Quantum
}

impl<'run, S: Send> Serving for Head<'run, S> {
    type State = HeadState<'run, S>;

    fn site(&self) -> &Site {
        &self.site
    }

    fn serve(&self, HeadState { input, unit }: &mut HeadState<'run, S>, quantum: &mut Quantum) -> Served {
        let run = &*self.site.run;
        let mut feed = input.feed();
        let served = catch_unwind(AssertUnwindSafe(|| match &self.queue {
            None => unit.serve(&mut feed, quantum, run),
            Some(queue) => serve_while_room(&**queue, &mut **unit, &mut feed, quantum, run),
        }));
        let served = served.unwrap_or_else(|payload| {
            stop_at_panic(&self.site, payload, feed.turn(), |turn, cell| unit.cell(turn, cell));
            Served::Closed
        });
        drop(feed);
        input.show();
        if run.measures().is_some() {
            quantum.gain += unit.take_gain();
        }
        served
    }

    fn has_work(&self) -> bool {
        self.watch.is_ready() && self.queue.as_ref().is_none_or(|queue| queue.has_room())
    }

    fn needs_room(&self) -> bool {
        self.needs_room
    }

    fn cells(&self) -> u64 {
        self.watch.taken()
    }

    fn is_closed_by_an_item(&self) -> bool {
        self.is_sink && self.site.run.ended_on_item.load(Ordering::Relaxed)
    }
}
