//! Passes choose the settings that were not set, say what they did, and change only the time of a run.

use std::time::Duration;

use anabranch::plan::{Burst, EdgeKind, Pass, Passes, Plan};
use anabranch::{ReportSlot, Source, Stream, TryStream};

const MICRO: Duration = Duration::from_micros(1);

/// A stream with known costs: two serial stages, a cheap parallel stage and a costly one.
fn costed<'env>(workers: usize) -> TryStream<'env, u64, u64> {
    let stream = Source::new(0..5_000u64)
        .cost(MICRO / 2)
        .into_stream()
        .workers(workers)
        .named("cheap")
        .cost(MICRO)
        .map(|n| n + 1)
        .named("triple")
        .cost(MICRO / 10)
        .serial_map(|n| n * 3)
        .named("odd")
        .cost(MICRO / 10)
        .serial_filter_map(|n| (n % 2 == 1).then_some(n))
        .named("twice")
        .cost(30 * MICRO)
        .flat_map(|n| [n, n + 1])
        .cost(MICRO)
        .try_map(|n| if n < 11_000 { Ok(n) } else { Err(n) });
    let mut costs = stream.plan();
    costs.nodes.last_mut().unwrap().cost = Some(100);
    stream.costs_from(costs)
}

/// The items at the end, and the first error.
fn outcome<'env>(stream: TryStream<'env, u64, u64>) -> (Vec<u64>, Option<u64>) {
    let mut seen = Vec::new();
    let result = stream.try_for_each(|n| {
        seen.push(n);
        Ok::<(), u64>(())
    });
    (seen, result.err())
}

#[test]
fn passes_change_nothing_that_comes_out() {
    let expected = outcome(costed(1).inline());
    assert!(expected.0.len() > 1_000 && expected.1.is_some());
    let mut each = vec![Passes::all(), Passes::none()];
    each.extend(Pass::ALL.map(|pass| Passes::none().with(pass)));
    each.extend(Pass::ALL.map(|pass| Passes::all().without(pass)));
    for passes in each {
        for workers in [1, 2, 5] {
            assert_eq!(outcome(costed(workers).passes(passes)), expected, "{passes:?}, {workers} workers");
            let narrow = costed(workers).window(1).passes(passes);
            assert_eq!(outcome(narrow), expected, "{passes:?}, {workers} workers, a window of 1");
        }
    }
}

fn bursts(plan: &Plan) -> Vec<Burst> {
    let lanes = plan.edges.iter().filter_map(|edge| match edge.kind {
        EdgeKind::Lane { burst, .. } if plan.nodes[edge.to.0].role.is_parallel() => Some(burst),
        _ => None,
    });
    lanes.collect()
}

#[test]
fn each_pass_does_its_part_and_can_be_switched_off() {
    let plan = |passes| costed(16).passes(passes).plan();
    let all = plan(Passes::all());
    assert_eq!(all.nodes[1].replicas.map(|replicas| replicas < 16), Some(true), "{all}");
    assert!(all.domains[0].window < 4_096);
    assert!(bursts(&all).iter().all(|burst| matches!(burst, Burst::Fixed(_))));
    let without = plan(Passes::all().without(Pass::Replicas));
    assert_eq!(without.nodes[1].replicas, None);
    let without = plan(Passes::all().without(Pass::Window));
    assert_eq!(without.domains[0].window, 4_096);
    let without = plan(Passes::all().without(Pass::Burst));
    assert!(bursts(&without).iter().all(|burst| *burst == Burst::Adaptive));
    assert_eq!(plan(Passes::none()), costed(16).plan());
    // The settings of the user do not change, and a window becomes no wider.
    let set = costed(16).window(8).burst(3).passes(Passes::all()).plan();
    assert_eq!((set.domains[0].window, set.settings.burst), (8, Burst::Fixed(3)));
}

#[test]
fn explain_says_who_chooses_what() {
    let text = costed(16).passes(Passes::all()).explain();
    for said in [
        "Predicted",
        "Choices",
        "`cheap` runs at most",
        "in flight, not 4096",
        "at once: ",
        "`triple` and `odd` run as one: both are serial",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let text = costed(4).explain();
    assert_eq!(text.matches("(no pass was asked for)").count(), 4, "{text}");
    let text = costed(4).passes(Passes::all().without(Pass::Burst)).explain();
    assert!(text.contains("4 to 20 µs of work at once (the pass is switched off)"), "{text}");
    let text = Stream::from_iter(0..10).workers(2).map(|n| n).passes(Passes::all()).explain();
    assert!(text.contains("(not all costs are known)"), "{text}");
    let text = Stream::from_iter(0..10).workers(1).map(|n| n).explain();
    assert!(text.contains("one thread takes each item through all stages"), "{text}");
}

#[test]
fn costs_can_be_those_of_an_earlier_run() {
    let stream = || {
        Stream::from_iter(0..400u64).workers(2).filter(|n| n % 4 == 0).named("nap").serial_map(|n| {
            std::thread::sleep(Duration::from_millis(2));
            n
        })
    };
    let slot = ReportSlot::new();
    stream().report_to(&slot).count();
    let first = slot.take().unwrap();
    let plan = stream().costs_from(&first).plan();
    assert!(plan.nodes[2].cost.unwrap() >= 2_000_000);
    assert_eq!(plan.nodes[1].rate, first.measured_plan().nodes[1].rate);
    let prediction = plan.predict(2).unwrap();
    assert_eq!(prediction.bottleneck.0, 2, "{prediction}");
    // Another stream has other stages, so only equal stages get their costs.
    let other = Stream::from_iter(0..10).map(|n| n + 1).costs_from(&first).plan();
    assert_eq!(other.nodes[1].cost, None);
    let slot = ReportSlot::new();
    let count = stream().costs_from(&first).passes(Passes::all()).report_to(&slot).count();
    let report = slot.take().unwrap();
    assert_eq!((count, report.nodes()[1].items), (100, 400));
}
