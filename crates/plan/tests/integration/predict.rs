//! The cost model: it equals computations by hand, stays within its bounds, is near to measurements, and
//! names the right limit.

use anabranch_plan::{
    Burst, Domain, EdgeKind, ItemType, Limit, Machine, Measured, Node, NodeId, Overhead, Overlay, Plan,
    PredictError, Prediction, Settings,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A line of nodes, each in a unit of its own, with a window that never limits.
fn line(workers: usize, nodes: impl IntoIterator<Item = Node>) -> Plan {
    let mut plan = Plan::new(Settings::new(workers, 4_096));
    for node in nodes {
        plan.then(ItemType::of::<u64>(), node);
    }
    plan.validate().unwrap();
    plan
}

fn ideal(cores: usize) -> Machine {
    Machine::new(cores).overhead(Overhead::NONE)
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{value} is not {expected}");
}

fn compressor() -> Plan {
    line(
        8,
        [
            Node::source("read").cost(1_000),
            Node::parallel("encode").cost(30_000),
            Node::sink("write").cost(5_000),
        ],
    )
}

#[test]
fn one_worker_is_the_plain_loop() {
    let one = compressor().predict(1).unwrap();
    near(one.per_item, 36_000.0);
    near(one.throughput, 1e9 / 36_000.0);
    near(one.speedup, 1.0);
    near(one.latency, 36_000.0);
    assert_eq!((one.limit, one.bottleneck), (Limit::Workers, NodeId(1)));
}

#[test]
fn without_overhead_the_bounds_are_the_textbooks() {
    let plan = compressor();
    let on = |cores: usize, workers: usize| plan.predict_on(&ideal(cores), workers).unwrap();
    near(on(64, 4).per_item, 9_000.0);
    near(on(64, 4).speedup, 4.0);
    assert_eq!(on(64, 4).enough_workers, Some(8)); // 36 / 5, rounded up
    near(on(64, 7).per_item, 36_000.0 / 7.0);
    near(on(64, 8).per_item, 5_000.0);
    assert_eq!((on(64, 8).limit, on(64, 8).bottleneck), (Limit::Serial, NodeId(2)));
    near(on(2, 8).per_item, 18_000.0);
    assert_eq!((on(2, 8).limit, on(2, 8).bottleneck), (Limit::Cores, NodeId(1)));
}

#[test]
fn overhead_is_half_a_lane_at_each_end() {
    let plan = compressor();
    let machine = Machine::new(64).overhead(Overhead { lane: 100.0, sharing: 0.1, ..Overhead::NONE });
    let on = |workers: usize| plan.predict_on(&machine, workers).unwrap();
    near(on(4).per_item, (36_000.0 + 200.0) * 1.1 / 4.0);
    near(on(16).per_item, 5_050.0);
    near(on(16).shortest_latency, 36_200.0);
}

#[test]
fn waiting_takes_a_worker_and_no_core() {
    let plan = line(
        16,
        [
            Node::source("urls").cost(100),
            Node::parallel("fetch").cost(2_000_000).waits(1_990_000),
            Node::sink("store").cost(900),
        ],
    );
    let on = |workers: usize| plan.predict_on(&ideal(2), workers).unwrap();
    near(on(16).per_item, 2_001_000.0 / 16.0);
    assert_eq!((on(16).limit, on(16).bottleneck), (Limit::Workers, NodeId(1)));
    near(on(64).speedup, 64.0);
    assert_eq!(on(64).enough_workers, Some(364)); // 2,001 µs over 5.5 µs of a core
    near(on(1_000).per_item, 11_000.0 / 2.0);
    assert_eq!(on(1_000).limit, Limit::Cores);
    // Falling asleep and waking up use a processor, if the overhead counts them.
    let waking = Machine::new(2).overhead(Overhead { wake: 9_000.0, ..Overhead::NONE });
    near(plan.predict_on(&waking, 1_000).unwrap().per_item, 20_000.0 / 2.0);
    let shorter = line(16, [Node::source("timer").cost(6_000).waits(5_000), Node::sink("tick").cost(4_000)]);
    near(shorter.predict_on(&waking, 16).unwrap().per_item, 6_000.0);
}

#[test]
fn a_thread_of_its_own_is_no_workers_affair_but_needs_a_core() {
    let nodes = || {
        [
            Node::source("socket").cost(3_000),
            Node::parallel("parse").cost(9_000),
            Node::sink("count").cost(1_000),
        ]
    };
    let [source, parse, sink] = nodes();
    let own = line(2, [source.dedicated(), parse, sink]);
    near(own.predict_on(&ideal(8), 1).unwrap().per_item, 10_000.0);
    near(own.predict_on(&ideal(8), 2).unwrap().per_item, 5_000.0);
    near(own.predict_on(&ideal(2), 2).unwrap().per_item, 6_500.0);
    near(line(2, nodes()).predict_on(&ideal(8), 2).unwrap().per_item, 6_500.0);
}

#[test]
fn replicas_bound_a_stage() {
    let mut plan = compressor();
    plan.nodes[1].replicas = Some(3);
    let eight = plan.predict_on(&ideal(8), 8).unwrap();
    near(eight.per_item, 10_000.0);
    assert_eq!((eight.limit, eight.bottleneck), (Limit::Replicas, NodeId(1)));
    assert!(eight.advice.contains("`encode` has 3 replicas, and all of them are busy"), "{}", eight.advice);
}

#[test]
fn a_full_window_bounds_by_littles_law() {
    let mut plan = compressor();
    plan.domains[0].window = 3;
    let eight = plan.predict_on(&ideal(8), 8).unwrap();
    near(eight.per_item, 12_000.0);
    near(eight.latency, 36_000.0);
    assert_eq!((eight.limit, eight.bottleneck), (Limit::Window, NodeId(1)));
    assert!(eight.advice.ends_with("Widen it to 8 or more."), "{}", eight.advice);
    plan.domains[0].window = 8;
    assert_eq!(plan.predict_on(&ideal(8), 8).unwrap().limit, Limit::Serial);
}

#[test]
fn a_burst_that_is_large_for_the_window_leaves_few_claims() {
    let mut plan = compressor();
    plan.domains[0].window = 64;
    plan.edges[0].kind = EdgeKind::Lane { window: 64, burst: Burst::Fixed(32) };
    let eight = plan.predict_on(&ideal(8), 8).unwrap();
    near(eight.per_item, 15_000.0);
    assert_eq!((eight.limit, eight.bottleneck), (Limit::Burst, NodeId(1)));
    assert!(eight.advice.contains("handed 32 items at a time"), "{}", eight.advice);
}

#[test]
fn a_unit_is_as_dear_as_its_nodes() {
    let mut plan = compressor();
    plan.nodes[2].role = anabranch_plan::Role::Serial;
    plan.compose(ItemType::of::<u64>(), Node::sink("sum").cost(4_000));
    let many = plan.predict_on(&ideal(64), 64).unwrap();
    near(many.per_item, 9_000.0);
    assert_eq!((many.limit, many.bottleneck), (Limit::Serial, NodeId(2)));
}

#[test]
fn rates_change_how_often_the_rest_is_visited() {
    // Each of 8 files gives 10 blocks, and every other block is kept: 5 writes a file.
    let mut plan = Plan::new(Settings::new(4, 4_096));
    plan.push(Node::source("files").cost(1_000));
    plan.open_domain(Domain { window: 4_096, ordered: true });
    plan.then(ItemType::of::<u64>(), Node::serial("split").cost(2_000).gives(10, 1));
    plan.then(ItemType::of::<u64>(), Node::parallel("changed").cost(700).gives(1, 2));
    plan.then(ItemType::of::<u64>(), Node::sink("write").cost(600));
    let one = plan.predict(1).unwrap();
    near(one.per_item, 1_000.0 + 2_000.0 + 7_000.0 + 3_000.0);
    let many = plan.predict_on(&ideal(64), 64).unwrap();
    near(many.per_item, 3_000.0);
    assert_eq!(many.bottleneck, NodeId(3));
    // The slot of a dropped item is passed on too. So the last lane passes 10 slots, and the sink has half of
    // their cost.
    let machine = Machine::new(64).overhead(Overhead { lane: 100.0, ..Overhead::NONE });
    near(plan.predict_on(&machine, 64).unwrap().per_item, 3_500.0);
    // Little's law counts the items of the domain itself: 10 for each file.
    near(many.latency, (4_096.0 + 409.6) * 3_000.0);
}

#[test]
fn measured_units_take_the_place_of_what_was_guessed() {
    let mut plan = Plan::new(Settings::new(2, 64));
    plan.push(Node::source("lines").cost(77));
    plan.then(ItemType::of::<u64>(), Node::parallel("parse").cost(1_000).gives(1, 2));
    plan.compose(ItemType::of::<u64>(), Node::parallel("check").cost(1_000));
    plan.then(ItemType::of::<u64>(), Node::sink("store").cost(500));
    let took =
        |items: u64, cost: u64| Measured { items: Some(items), cost: Some(cost), ..Measured::default() };
    let run = Overlay::new().node(NodeId(1), took(900, 4_000)).node(NodeId(3), took(300, 600));
    let measured = plan.with_measured(&run);
    let costs: Vec<Option<u64>> = measured.nodes.iter().map(|node| node.cost).collect();
    assert_eq!(costs, [Some(77), Some(4_000), Some(0), Some(600)]);
    near(measured.predict(1).unwrap().per_item, 77.0 + 4_000.0 + 200.0);
    assert_eq!(plan.with_measured(&Overlay::new()), plan);
}

#[test]
fn a_node_with_two_inputs_takes_one_item_of_each() {
    let mut plan = Plan::new(Settings::new(8, 4_096));
    let source = plan.push(Node::source("source").cost(1_000));
    let double = plan.then(ItemType::of::<u64>(), Node::parallel("double").cost(20_000));
    let zip = plan.push(Node::serial("zip").cost(3_000));
    plan.connect(source, zip, ItemType::of::<u64>());
    plan.connect(double, zip, ItemType::of::<u64>());
    plan.then(ItemType::of::<u64>(), Node::sink("sink").cost(500));
    plan.edges.sort_by_key(|edge| (edge.from, edge.to));
    near(plan.predict(1).unwrap().per_item, 24_500.0);
    let many = plan.predict_on(&ideal(64), 64).unwrap();
    near(many.per_item, 3_000.0);
    assert_eq!((many.limit, many.bottleneck), (Limit::Serial, zip));
    // Three lanes end or begin at it.
    let machine = Machine::new(64).overhead(Overhead { lane: 100.0, ..Overhead::NONE });
    near(plan.predict_on(&machine, 64).unwrap().per_item, 3_150.0);
}

#[test]
fn where_items_are_cheap_one_worker_is_quicker_and_that_is_said() {
    let plan = line(2, [Node::source("count").cost(1), Node::parallel("map"), Node::sink("sum").cost(1)]);
    let two = plan.predict(2).unwrap();
    assert!(two.speedup < 0.5);
    assert!(two.advice.contains("one worker is quicker"), "{}", two.advice);
    assert_eq!(two.unknown, [NodeId(1)]);
    assert!(two.advice.ends_with("Not counted: `map`. Its cost is not known."), "{}", two.advice);
}

#[test]
fn one_core_is_named_and_not_the_handing_over() {
    let on_one = compressor().predict_on(&Machine::new(1), 4).unwrap();
    assert!(on_one.speedup < 1.0);
    assert_eq!(
        on_one.advice,
        "The core is busy, 83 % of the time with `encode`. Make that cheaper, or use more cores; more workers \
         gain nothing."
    );
}

/// Measurements with two workers on two cores (`measure/RESULTS.md`): nanoseconds an item of the plain loop, the
/// number of lanes, and nanoseconds an item of the executor.
const MEASURED: [(f64, usize, f64); 5] =
    [(55.5, 2, 43.8), (102.4, 2, 65.0), (1_014.3, 2, 524.5), (10_058.3, 2, 5_190.3), (1_014.3, 4, 556.1)];

#[test]
fn predictions_are_within_a_tenth_of_what_was_measured() {
    for (sequential, lanes, measured) in MEASURED {
        // In tenths of a nanosecond, since costs are whole.
        let mut plan = Plan::new(Settings::new(2, 4_096));
        plan.push(Node::source("count").cost(0));
        for lane in 1..lanes {
            let share = (sequential * 10.0 / (lanes / 2) as f64) as u64;
            let node = if lane % 2 == 1 { Node::parallel("work").cost(share) } else { Node::serial("pass") };
            plan.then(ItemType::of::<u64>(), node);
        }
        plan.then(ItemType::of::<u64>(), Node::sink("fold"));
        let tenths = Overhead { lane: 10.0 * anabranch_plan::LANE_NS, ..Overhead::MEASURED };
        let two = plan.predict_on(&Machine::new(2).overhead(tenths), 2).unwrap();
        let off = measured / (two.per_item / 10.0) - 1.0;
        assert!(
            off.abs() < 0.1,
            "{sequential} ns over {lanes} lanes: {} for {measured}",
            two.per_item / 10.0
        );
    }
}

#[test]
fn stages_that_sleep_and_serial_ones_between_are_within_a_tenth_too() {
    // The same table: sleeps of 2.08 ms on 16 workers, 7,626 items a second; a serial stage of 10 µs between
    // two parallel ones of 5 µs on two workers, 10.83 µs an item.
    let sleeps = line(
        16,
        [
            Node::source("count").cost(0),
            Node::parallel("sleep").cost(2_080_000).waits(2_080_000),
            Node::sink("fold").cost(0),
        ],
    );
    let off = sleeps.predict_on(&Machine::new(2), 16).unwrap().throughput / 7_626.0 - 1.0;
    assert!(off.abs() < 0.1, "{off}");
    let serial = line(
        2,
        [
            Node::source("count").cost(0),
            Node::parallel("before").cost(5_025),
            Node::serial("between").cost(10_050),
            Node::parallel("after").cost(5_025),
            Node::sink("fold").cost(0),
        ],
    );
    // With four workers on the two cores it was 12.51 µs.
    for (workers, measured) in [(2, 10_830.0), (4, 12_510.0)] {
        let off = measured / serial.predict_on(&Machine::new(2), workers).unwrap().per_item - 1.0;
        assert!(off.abs() < 0.05, "{workers}: {off}");
    }
}

/// A pipeline of ten stages, every other one of them parallel, with one planted bottleneck.
fn planted(at: usize) -> (Plan, Limit, usize) {
    let costs: [u64; 10] = [800, 40_000, 700, 30_000, 900, 55_000, 600, 25_000, 1_000, 750];
    let nodes = costs.iter().enumerate().map(|(id, &cost)| match id {
        0 => Node::source("source").cost(cost),
        9 => Node::sink("sink").cost(cost),
        _ if id % 2 == 1 => Node::parallel(format!("parallel {id}")).cost(cost),
        _ => Node::serial(format!("serial {id}")).cost(cost),
    });
    let mut plan = line(64, nodes);
    let cost = |plan: &mut Plan, id: usize, cost: u64| plan.nodes[id].cost = Some(cost);
    let (limit, id) = match at {
        // A serial stage, the source or the sink costs much more or a little more than the others.
        0..6 => (Limit::Serial, [0, 2, 4, 6, 8, 9][at]),
        6..12 => (Limit::Serial, [0, 2, 4, 6, 8, 9][at - 6]),
        // A parallel stage has few replicas.
        12..16 => (Limit::Replicas, [1, 3, 5, 7][at - 12]),
        // The work itself is the limit, and most of it is in one stage.
        16..19 => (Limit::Workers, [1, 3, 7][at - 16]),
        _ => (Limit::Window, 5),
    };
    match at {
        0..6 => cost(&mut plan, id, 20_000),
        6..12 => cost(&mut plan, id, 3_200),
        12..16 => plan.nodes[id].replicas = Some(2),
        16..19 => cost(&mut plan, id, 400_000),
        _ => {
            plan.domains[0].window = 16;
        }
    }
    (plan, limit, id)
}

#[test]
fn twenty_planted_bottlenecks_are_named() {
    for at in 0..20 {
        let (plan, limit, id) = planted(at);
        let found = plan.predict(64).unwrap();
        assert_eq!((found.limit, found.bottleneck), (limit, NodeId(id)), "plan {at}: {}", found.advice);
        assert!(found.advice.contains(&format!("`{}`", plan.nodes[id].name)), "{}", found.advice);
        // Without the bottleneck, the plan is faster.
        let mut mended = plan.clone();
        match limit {
            Limit::Window => mended.domains[0].window = 4_096,
            Limit::Replicas => mended.nodes[id].replicas = None,
            _ => mended.nodes[id].cost = Some(100),
        }
        assert!(mended.predict(64).unwrap().per_item < found.per_item, "plan {at}");
    }
}

#[test]
fn what_cannot_be_predicted_is_refused_with_the_reason() {
    let bare = line(2, [Node::source("a"), Node::sink("b")]);
    assert_eq!(bare.predict(2), Err(PredictError::NoCosts));
    assert_eq!(compressor().predict(0), Err(PredictError::NoWorkers));
    assert_eq!(compressor().predict_on(&Machine::new(0), 2), Err(PredictError::NoCores));
    assert_eq!(compressor().predict_range([]).unwrap_err(), PredictError::NoPoints);
    let empty = Plan::new(Settings::new(2, 8));
    assert_eq!(empty.predict(2).unwrap_err().to_string(), "the plan has no nodes");
}

#[test]
fn a_line_of_numbers_and_one_of_words() {
    let four = compressor().predict_on(&ideal(64), 4).unwrap();
    assert_eq!(
        four.to_string(),
        "111 k items/s, 9 µs an item with 4 workers: 4 times as fast as the sequential loop; an item is under \
         way for 216 µs"
    );
    assert_eq!(
        four.advice,
        "All 4 workers are busy, 83 % of the time with `encode`. More workers help, up to 8."
    );
    let eight = compressor().predict_on(&ideal(64), 8).unwrap();
    assert_eq!(
        eight.advice,
        "`write` is serial and busy all the time, 5 µs an item: more than 8 workers gain nothing. Make it \
         cheaper, or move work from it into a parallel stage."
    );
}

fn stage() -> impl Strategy<Value = (Node, Option<usize>)> {
    let cost = prop_oneof![0..50u64, 0..100_000u64, 0..100_000_000u64];
    let waits = option::of(0..100_000u64);
    let rate = option::weighted(0.2, (0..5u64, 1..5u64));
    let replicas = option::weighted(0.3, 1..20usize);
    let opens = option::weighted(0.2, 1..500usize);
    (any::<bool>(), cost, waits, rate, replicas, opens, any::<bool>()).prop_map(
        |(parallel, cost, waits, rate, replicas, opens, dedicated)| {
            let mut node = if parallel { Node::parallel("map") } else { Node::serial("serial") }.cost(cost);
            node.waits = waits;
            if parallel {
                node.replicas = replicas;
            } else if dedicated {
                node = node.dedicated();
            }
            if let Some((given, taken)) = rate {
                node = node.gives(given, taken);
            }
            (node, opens)
        },
    )
}

fn any_line() -> impl Strategy<Value = Plan> {
    let burst = option::of(1..64usize);
    (1..200usize, 1..10_000u64, vec(stage(), 0..7), burst).prop_map(|(window, source, stages, burst)| {
        let mut settings = Settings::new(4, window);
        settings.burst = burst.map_or(Burst::Adaptive, Burst::Fixed);
        let mut plan = Plan::new(settings);
        plan.push(Node::source("source").cost(source));
        for (node, opens) in stages {
            if let Some(window) = opens {
                plan.open_domain(Domain { window, ordered: true });
            }
            plan.then(ItemType::of::<u64>(), node);
        }
        plan.then(ItemType::of::<u64>(), Node::sink("sink").cost(300));
        plan
    })
}

fn check(prediction: &Prediction) {
    assert!(prediction.per_item.is_finite() && prediction.per_item > 0.0);
    near(prediction.throughput * prediction.per_item, 1e9);
    assert!(prediction.latency >= prediction.shortest_latency * (1.0 - 1e-9) || prediction.workers == 1);
    assert!(!prediction.advice.is_empty());
}

proptest! {
    #[test]
    fn nothing_is_quicker_than_its_bounds(plan in any_line(), workers in 1..200usize, cores in 1..80usize) {
        let machine = Machine::new(cores);
        let prediction = plan.predict_on(&machine, workers).unwrap();
        check(&prediction);
        let dedicated = plan.nodes.iter().filter(|n| n.placement == anabranch_plan::Placement::Dedicated);
        let threads = workers + dedicated.count();
        prop_assert!(prediction.speedup <= threads as f64 * (1.0 + 1e-9));
        // How often each node is visited, by hand: the plan is a line.
        let mut visits = 1.0;
        let mut processor = 0.0;
        for node in &plan.nodes {
            let time = visits * node.cost.unwrap() as f64;
            processor += visits * node.cost.unwrap().saturating_sub(node.waits.unwrap_or(0)) as f64;
            let most = if node.role.is_parallel() { node.replicas.unwrap_or(workers).min(workers) } else { 1 };
            prop_assert!(prediction.per_item * (1.0 + 1e-9) >= time / most as f64);
            visits *= node.rate.map_or(1.0, |rate| rate.given as f64 / rate.taken as f64);
        }
        prop_assert!(prediction.per_item * (1.0 + 1e-9) >= processor / cores as f64);
    }

    #[test]
    fn more_workers_are_never_slower(plan in any_line(), cores in 1..80usize) {
        // From one worker to two the overhead comes in, which is left out first.
        let ideal = plan.predict_range_on(&ideal(cores), 1..=80).unwrap();
        let real = plan.predict_range_on(&Machine::new(cores), 2..=80).unwrap();
        for (curve, may_crowd) in [(ideal, false), (real, true)] {
            for pair in curve.points.windows(2) {
                // More workers than cores may crowd a serial unit.
                if !may_crowd || pair[1].workers <= cores {
                    prop_assert!(pair[1].per_item <= pair[0].per_item * (1.0 + 1e-9));
                }
            }
        }
    }

    #[test]
    fn enough_workers_are_enough_and_one_fewer_is_not(plan in any_line(), cores in 1..80usize) {
        // By the bounds: near the last of them some percent more are lost.
        let overhead = Overhead { meeting: 0.0, crowding: 0.0, ..Overhead::MEASURED };
        let machine = Machine::new(cores).overhead(overhead);
        let at = |workers: usize| plan.predict_on(&machine, workers).unwrap();
        let enough = at(4).enough_workers.expect("cores bound");
        prop_assume!(enough < 1_000_000);
        let many = at(10_000_000).per_item;
        if enough == 1 {
            prop_assert!(many >= at(1).per_item * (1.0 - 1e-6) || at(1).per_item <= many * 1.03);
        } else {
            prop_assert!(at(enough).per_item <= many * (1.0 + 1e-6));
            prop_assert!(enough == 2 || at(enough - 1).per_item > many);
        }
    }

    #[test]
    fn the_curve_is_the_points(plan in any_line(), cores in 1..9usize) {
        let machine = Machine::new(cores);
        let curve = plan.predict_range_on(&machine, [1, 3, 2]).unwrap();
        for (point, workers) in curve.points.iter().zip([1, 3, 2]) {
            prop_assert_eq!(point, &plan.predict_on(&machine, workers).unwrap());
        }
    }
}
