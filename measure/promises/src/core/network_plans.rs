//! Networks as plans: the prediction against the measured time, and what fusion saves.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::atomic::{AtomicU64, Ordering};

use anabranch::default_workers;
use anabranch_network::plan::{Flow, ItemType, Machine, Node, NodeId, Pass, Passes, Plan};
use anabranch_network::{Input, Kernels, Output, measured_overhead};

use super::{Setup, nanos};
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

pub fn rows(setup: &Setup) -> Vec<Row> {
    let scale = if setup.quick { 1 } else { 4 };
    let mut rows =
        vec![predicted(setup, "ring of 1,000 rules, 1 worker", &ring(), Work::of(0.0), 500_000 * scale)];
    let work = Work::of(2_000.0);
    for workers in [1, 2] {
        let mut plan = line(&[2_000, 4_000, 2_000, 4_000, 2_000]);
        plan.workers = workers;
        let what = format!("line of 5 rules of 2 and 4 us, {workers} workers");
        rows.push(predicted(setup, &what, &plan, work, 10_000 * scale));
    }
    for workers in [1, 2] {
        let mut pair = line(&[]);
        pair.workers = workers;
        let what = format!("one producer and one consumer as rules, {workers} workers");
        rows.push(predicted(setup, &what, &pair, work, 2_000_000 * scale));
        let mut forked = fork(&[4_000, 4_000]);
        forked.workers = workers;
        let what = format!("fork and join around 2 rules of 4 us, {workers} workers");
        rows.push(predicted(setup, &what, &forked, work, 10_000 * scale));
    }
    rows.push(fused(setup, 400_000 * scale));
    rows
}

/// A source, rules that work for these times in nanoseconds, and a sink.
fn line(costs: &[u64]) -> Plan {
    let mut plan = Plan::network(1);
    let mut last = plan.rule(Node::rule("source").cost(2));
    for (at, cost) in costs.iter().enumerate() {
        let rule =
            plan.rule(Node::rule("work").named(format!("rule {at}")).with("times", cost / 2_000).cost(*cost));
        plan.record(last, rule, ItemType::of::<u64>(), Flow::of(1, 1));
        last = rule;
    }
    let sink = plan.rule(Node::rule("sink").cost(2));
    plan.record(last, sink, ItemType::of::<u64>(), Flow::of(1, 1));
    plan
}

/// A source whose items go to rules that work for these times in nanoseconds, and a sink behind all of them.
fn fork(costs: &[u64]) -> Plan {
    let mut plan = Plan::network(1);
    let [source, split] = ["source", "split"].map(|kernel| plan.rule(Node::rule(kernel).cost(2)));
    plan.record(source, split, ItemType::of::<u64>(), Flow::of(1, 1));
    let works: Vec<NodeId> = costs
        .iter()
        .map(|cost| plan.rule(Node::rule("work").with("times", cost / 2_000).cost(*cost)))
        .collect();
    let [join, sink] = ["join", "sink"].map(|kernel| plan.rule(Node::rule(kernel).cost(2)));
    for work in works {
        plan.record(split, work, ItemType::of::<u64>(), Flow::of(1, 1));
        plan.record(work, join, ItemType::of::<u64>(), Flow::of(1, 1));
    }
    plan.record(join, sink, ItemType::of::<u64>(), Flow::of(1, 1));
    plan
}

/// A ring with one token.
fn ring() -> Plan {
    const RULES: usize = 1_000;
    let mut plan = Plan::network(1);
    for at in 0..RULES {
        plan.rule(Node::rule(if at == 0 { "count" } else { "pass" }).cost(2));
    }
    for at in 0..RULES {
        let flow = Flow::of(1, 1).delay(usize::from(at == RULES - 1)).horizon(2);
        plan.record(NodeId(at), NodeId((at + 1) % RULES), ItemType::of::<u64>(), flow);
    }
    plan
}

/// Runs a plan until its last rule, or the counter of a ring, has fired `firings` times.
fn run(plan: &Plan, work: Work, firings: u64) -> Digest {
    let last = AtomicU64::new(0);
    let mut kernels = Kernels::<String>::new();
    kernels.rule::<(), Output<u64>>("source", |arguments| {
        let mut next = 0;
        Ok(arguments.fires(move |(), out| {
            if next == firings {
                return Ok(Break(()));
            }
            out.push(next);
            next += 1;
            Ok(Continue(()))
        }))
    });
    kernels.rule::<Input<u64>, Output<u64>>("work", |arguments| {
        let times: u64 = arguments.get("times")?;
        Ok(arguments.fires(move |n, out| {
            (0..times).for_each(|_| _ = std::hint::black_box(work.run(n[0])));
            out.push(n[0]);
            Ok(())
        }))
    });
    kernels.rule::<Input<u64>, Output<u64>>("pass", |arguments| {
        Ok(arguments.fires(|n, out| {
            out.push(n[0] + 1);
            Ok(())
        }))
    });
    kernels.rule::<Input<u64>, Output<u64>>("count", |arguments| {
        Ok(arguments.fires(|n, out| {
            if n[0] >= firings {
                last.store(firings, Ordering::Relaxed);
                return Ok(Break(()));
            }
            out.push(n[0] + 1);
            Ok(Continue(()))
        }))
    });
    kernels.rule::<Input<u64>, Vec<Output<u64>>>("split", |arguments| {
        Ok(arguments.fires(|n, outs| {
            outs.iter_mut().for_each(|out| out.push(n[0]));
            Ok(())
        }))
    });
    kernels.rule::<Vec<Input<u64>>, Output<u64>>("join", |arguments| {
        Ok(arguments.fires(|ins, out| {
            out.push(ins[0][0]);
            Ok(())
        }))
    });
    kernels.rule::<Input<u64>, ()>("sink", |arguments| {
        Ok(arguments.fires(|n, ()| {
            last.store(n[0] + 1, Ordering::Relaxed);
            Ok(())
        }))
    });
    kernels.initial(0u64);
    kernels.build(plan).expect("the plan fits the kernels").run().expect("nothing fails");
    Digest::EMPTY.with(last.load(Ordering::Relaxed))
}

/// The time of an iteration against its prediction.
fn predicted(setup: &Setup, what: &str, plan: &Plan, work: Work, firings: u64) -> Row {
    let machine = Machine::new(default_workers()).overhead(measured_overhead());
    let workers = plan.workers;
    let prediction = plan.predict_network(&machine, workers).expect("the costs are known");
    // In a ring, an iteration is a firing of every rule.
    let iterations = if plan.nodes[0].operator == "count" {
        firings as f64 / plan.nodes.len() as f64
    } else {
        firings as f64
    };
    let expected = Digest::EMPTY.with(firings);
    let contenders = vec![Contender::timed("network", expected, || run(plan, work, firings))];
    let rounds = measure(setup.budget, Some(setup.probe()), contenders);
    let what = format!("network as a plan, {what}: measured above predicted");
    Row::new("network-plans", what, (Target::Within(10.0), Unit::Percent), &rounds, |rounds| {
        let each = |sample: f64| 1e9 * sample / iterations;
        (
            rounds.summary(|round| 100.0 * (each(round.samples[0]) / prediction.iteration - 1.0)),
            format!(
                "an iteration takes {:.0} ns, predicted {:.0}",
                each(rounds.median(|round| round.samples[0])),
                prediction.iteration
            ),
        )
    })
}

/// Eight cheap rules on one worker, fused and not.
fn fused(setup: &Setup, firings: u64) -> Row {
    let apart = line(&[2; 8]);
    let mut together = apart.clone();
    Passes::none().with(Pass::Fuse).apply(&mut together, &Machine::new(1));
    let expected = Digest::EMPTY.with(firings);
    let work = Work::of(0.0);
    let contenders = vec![
        Contender::timed("apart", expected, || run(&apart, work, firings)),
        Contender::timed("fused", expected, || run(&together, work, firings)),
    ];
    let rounds = measure(setup.budget, Some(setup.probe()), contenders);
    let what = "network as a plan, line of 10 cheap rules, 1 worker: fused, times not fused".to_owned();
    Row::new("network-plans", what, (Target::None, Unit::Times), &rounds, |rounds| {
        let each = |at: usize| nanos(rounds.median(|round| round.samples[at]), 10 * firings);
        (
            rounds.summary(|round| round.samples[1] / round.samples[0]),
            format!("{:.1} ns a firing, fused {:.1}", each(0), each(1)),
        )
    })
}
