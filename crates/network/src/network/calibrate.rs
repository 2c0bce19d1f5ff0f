//! Measures what firings cost on this machine, for predictions.

use std::ops::ControlFlow::{Break, Continue};
use std::time::Instant;

use anabranch_plan::Overhead;

use super::Network;

/// How many rules the ring has: more than the first cache of a core holds.
const RULES: usize = 256;
/// How many firings are measured.
const FIRINGS: u64 = 100_000;
/// The horizon of the line, and so the number of firings in a turn.
const ROOM: u64 = 64;
/// The number of measurements, of which the shortest counts.
const ROUNDS: usize = 5;

/// Measures what a firing and a turn of a rule cost on this machine, which takes about 0.1 s. The other costs are
/// those of [`Overhead::MEASURED`].
///
/// Two networks run on one worker. In a ring with one token, each turn has one firing. In a line, it has 64.
///
/// ```
/// use anabranch_network::measured_overhead;
/// use anabranch_network::plan::{Flow, ItemType, Machine, Node, Plan};
///
/// let mut plan = Plan::network(1);
/// let source = plan.rule(Node::rule("source").cost(40));
/// let sink = plan.rule(Node::rule("sink").cost(60));
/// plan.record(source, sink, ItemType::of::<f32>(), Flow::of(1, 1));
/// let machine = Machine::new(1).overhead(measured_overhead());
/// assert!(plan.predict_network(&machine, 1).unwrap().iteration > 100.0);
/// ```
pub fn measured_overhead() -> Overhead {
    let shortest = |run: &dyn Fn() -> f64| (0..ROUNDS).map(|_| run()).fold(f64::INFINITY, f64::min);
    let (ring, line) = (shortest(&ring), shortest(&line));
    // ring = firing + turn, line = firing + turn / ROOM
    let turn = ((ring - line) / (1.0 - 1.0 / ROOM as f64)).max(0.0);
    Overhead { firing: (ring - turn).max(0.0), turn, ..Overhead::MEASURED }
}

/// The time of a firing in a ring, in nanoseconds.
fn ring() -> f64 {
    let mut net = Network::<()>::new().workers(1);
    let (first, mut take) = net.record_with::<u64>(2, [0]);
    for _ in 1..RULES {
        let (give, next) = net.record::<u64>(2);
        net.rule("pass", take.consumes(1), give.produces(1), |n, out| {
            out.push(n[0] + 1);
            Ok(())
        });
        take = next;
    }
    net.rule("count", take.consumes(1), first.produces(1), |n, out| {
        if n[0] >= FIRINGS {
            return Ok(Break(()));
        }
        out.push(n[0] + 1);
        Ok(Continue(()))
    });
    time(net, FIRINGS)
}

/// The time of a firing in a line whose turns have as many firings as its records have room.
fn line() -> f64 {
    let mut net = Network::<()>::new().workers(1);
    let (give, take) = net.record::<u64>(ROOM as usize);
    let mut next = 0;
    net.rule("give", (), give.produces(1), move |(), out| {
        if next == FIRINGS / 2 {
            return Ok(Break(()));
        }
        out.push(next);
        next += 1;
        Ok(Continue(()))
    });
    net.rule("take", take.consumes(1), (), |n, ()| {
        std::hint::black_box(n[0]);
        Ok(())
    });
    time(net, FIRINGS)
}

/// The time of a run in nanoseconds, divided by its firings.
fn time(net: Network<'_, ()>, firings: u64) -> f64 {
    let began = Instant::now();
    // None of the two networks can fail.
    let _ = net.run();
    began.elapsed().as_secs_f64() * 1e9 / firings as f64
}
