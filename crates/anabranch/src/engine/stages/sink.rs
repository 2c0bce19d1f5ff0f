//! The sink of a line. It takes results in order, and gives their indices back (rule 6).

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use anabranch_record::lane::{Stop, Turn};
use anabranch_record::sync::Arc;

use super::stage::{by_pointer, several, stopped};
use crate::engine::build::assembly::Assembly;
use crate::engine::build::consumer::Consumer;
use crate::engine::nodes::end::LineEnd;
use crate::engine::nodes::op::Serial;
use crate::engine::nodes::step::{Demand, Step};
use crate::engine::state::failure::ErrorSlot;
use crate::engine::state::progress::Reporter;
use crate::engine::state::site::Spot;

/// Creates the sink of a line, as the consumer of the last node before it.
pub(crate) fn sink<'run, T, E, Op>(
    assembly: &mut Assembly<'run>,
    op: Op,
    errors: &Arc<ErrorSlot<E>>,
    reporter: Option<Reporter<'run>>,
) -> Consumer<'run, T>
where
    T: Send + 'run,
    E: Send + 'run,
    Op: Serial<T, E, Out = Infallible> + Send + 'run,
{
    let id = assembly.sink();
    let spot = assembly.spot(id, errors);
    let (end, takes) = (assembly.line_end(id, reporter), PhantomData);
    if assembly.is_direct() {
        return Consumer::direct(assembly, id, Sink::<_, _, _, true> { spot, op, end, takes });
    }
    Consumer::serial(id, Sink::<_, _, _, false> { spot, op, end, takes })
}

/// The sink as a step. `DIRECT` says whether the line is direct.
struct Sink<'run, T, E, Op, const DIRECT: bool> {
    spot: Spot<E>,
    op: Op,
    end: LineEnd<'run>,
    takes: PhantomData<fn(T)>,
}

impl<T, E, Op, const DIRECT: bool> Step<T> for Sink<'_, T, E, Op, DIRECT>
where
    T: Send,
    Op: Serial<T, E, Out = Infallible>,
{
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn item(&mut self, turn: &mut Turn, item: T) -> Demand {
        let Self { spot, op, end, .. } = self;
        match op.one(item, &mut None) {
            ControlFlow::Continue(()) => end.pass::<DIRECT>(turn),
            ControlFlow::Break(halt) => {
                stopped(spot, turn.index(), halt, &mut |given| op.finish(given), &mut Vec::new());
                end.stop(turn.index(), false, spot)
            }
        }
    }

    fn items(&mut self, turn: &mut Turn, items: &mut Vec<T>, stop: Option<Stop>) -> Demand {
        let Self { spot, op, end, .. } = self;
        if items.is_empty() && stop.is_none() {
            return end.pass::<DIRECT>(turn);
        }
        let is_item = spot.run.is_item(items, stop);
        let op = by_pointer!(op, Serial<T, E, Out = Infallible>);
        match several(spot, turn.index(), items, stop, op, &mut Vec::new()) {
            None => end.pass::<DIRECT>(turn),
            Some(_) => end.stop(turn.index(), is_item, spot),
        }
    }

    fn take_gain(&mut self) -> i64 {
        0
    }
}
