//! Networks of firing rules as plans: rates, bounds, errors that name nodes, predictions and passes.

use std::collections::BTreeMap;

use anabranch_network::plan::{Bottleneck, Cores};
use anabranch_network::plan::{
    Flow, ItemType, Machine, Node, NodeId, Pass, Passes, Placement, Plan, PlanError, Record, State, Views,
};
use proptest::prelude::*;

/// A network of rules without names of their own, with edges between them.
fn network(rules: usize, edges: &[(usize, usize, Flow)]) -> Plan {
    let mut plan = Plan::network(2);
    for at in 0..rules {
        plan.rule(Node::rule("k").named(["a", "b", "c", "d", "e"][at]));
    }
    for (from, to, flow) in edges {
        plan.record(NodeId(*from), NodeId(*to), ItemType::of::<f32>(), *flow);
    }
    plan
}

fn message(plan: &Plan) -> String {
    plan.validate().unwrap_err().to_string()
}

#[test]
fn repetitions_are_the_smallest_whole_numbers() {
    // The example of the paper by Bhattacharyya, Murthy and Lee (1999): a sample rate converter.
    let steps = [(1, 1), (2, 3), (2, 7), (8, 7), (5, 1)];
    let mut plan = Plan::network(1);
    let rules: Vec<NodeId> = (0..6).map(|_| plan.rule(Node::rule("k"))).collect();
    for (at, (produces, consumes)) in steps.into_iter().enumerate() {
        plan.record(rules[at], rules[at + 1], ItemType::of::<i16>(), Flow::of(produces, consumes));
    }
    assert_eq!(plan.repetitions().unwrap(), [147, 147, 98, 28, 32, 160]);
    // Parts without an edge between them are counted apart.
    let plan = network(4, &[(0, 1, Flow::of(2, 4)), (2, 3, Flow::of(3, 1))]);
    assert_eq!(plan.repetitions().unwrap(), [2, 1, 1, 3]);
}

/// Two rules that write a record, one that reads it, and a process.
fn shared_record(writers: Views, range: Option<usize>) -> Plan {
    let mut plan = network(3, &[]);
    plan.rule(Node::process("p"));
    let item = ItemType::of::<f32>();
    let readers = Views { count: 1, dropped: 0 };
    let record = Record { item: item.clone(), flow: Flow::of(0, 0).horizon(8), writers, readers };
    let record = plan.rule(Node::record("r", record));
    for rule in [0, 1] {
        plan.record(NodeId(rule), record, item.clone(), Flow { range, ..Flow::of(2, 0) });
    }
    plan.record(record, NodeId(2), item, Flow::of(0, 4));
    plan
}

#[test]
fn a_record_with_several_writers_is_a_node() {
    let two = Views { count: 2, dropped: 0 };
    let plan = shared_record(two, Some(2));
    plan.validate().unwrap();
    // Both writers together give 4 items when each has fired once.
    assert_eq!(plan.repetitions().unwrap()[..3], [1, 1, 1]);
    assert!(plan.to_dot().contains("\"r\\nrecord of f32"), "{}", plan.to_dot());
    assert!(plan.to_svg().contains(">r<"), "{}", plan.to_svg());
    let text = plan.to_string();
    assert!(text.contains("2 writers"), "{text}");
    // The predictions and passes need all rates, and a process has none.
    let mut plan = plan;
    plan.nodes.iter_mut().for_each(|node| node.cost = Some(100));
    let error = plan.predict_network(&Machine::new(2), 2).unwrap_err().to_string();
    assert!(error.contains("`p`"), "{error}");

    let message = message(&shared_record(two, Some(3)));
    assert!(message.contains("dealt in ranges of 3"), "{message}");
}

#[test]
fn a_record_without_writers_is_refused() {
    let message = message(&shared_record(Views { count: 2, dropped: 2 }, Some(2)));
    assert!(message.contains("no writer") && message.contains("`c`"), "{message}");
}

#[test]
fn the_least_horizon_of_one_edge_is_the_known_one() {
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    for (p, c) in [(1, 1), (2, 3), (3, 2), (4, 6), (7, 5), (160, 147), (1, 64)] {
        let plan = network(2, &[(0, 1, Flow::of(p, c))]);
        assert_eq!(plan.least_horizons().unwrap(), [p + c - gcd(p, c)], "{p} to {c}");
    }
}

#[test]
fn bounds_are_enough_and_one_edge_less_is_too_little() {
    let plan = network(3, &[(0, 1, Flow::of(2, 3)), (1, 2, Flow::of(1, 2)), (0, 2, Flow::of(1, 3))]);
    assert_eq!(plan.repetitions().unwrap(), [3, 2, 1]);
    let least = plan.least_horizons().unwrap();
    let with = |horizons: &[usize]| {
        let mut plan = plan.clone();
        for (edge, items) in plan.edges.iter_mut().zip(horizons) {
            let flow = &mut edge.flow;
            flow.horizon = Some(*items);
        }
        plan
    };
    assert_eq!(with(&least).validate(), Ok(()));
    assert_eq!(with(&least).least_horizons().unwrap(), least);
    let mut less = least.clone();
    less[2] = 1;
    let text = with(&less).validate().unwrap_err().to_string();
    assert!(text.contains("`a` (#0) to `c` (#2)") && text.contains("3 or more"), "{text}");
    // Long enough for each firing, but not for the cycle over the other edges.
    let plan =
        network(3, &[(0, 1, Flow::of(1, 1)), (1, 2, Flow::of(1, 4)), (0, 2, Flow::of(1, 4).horizon(4))]);
    assert_eq!(plan.validate(), Ok(()));
    let plan = network(2, &[(0, 1, Flow::of(2, 3).horizon(3))]);
    assert!(message(&plan).contains("a horizon is too small"), "{}", message(&plan));
}

#[test]
fn inconsistent_rates_are_told_at_the_edge_that_breaks_them() {
    let plan = network(3, &[(0, 1, Flow::of(1, 1)), (1, 2, Flow::of(1, 1)), (0, 2, Flow::of(2, 1))]);
    let text = message(&plan);
    for part in ["inconsistent at the edge from `a` (#0) to `c` (#2)", "writes 2", "consumes 1"] {
        assert!(text.contains(part), "{text}");
    }
    let plan = network(1, &[(0, 0, Flow::of(2, 1).delay(2))]);
    assert!(message(&plan).contains("inconsistent at the edge from `a` (#0) to `a` (#0)"));
}

#[test]
fn a_cycle_without_enough_items_is_told_with_its_rules() {
    let cycle = |delay| {
        network(3, &[(0, 1, Flow::of(1, 1)), (1, 2, Flow::of(2, 1)), (2, 1, Flow::of(1, 2).delay(delay))])
    };
    let text = message(&cycle(1));
    for part in ["stands still", "`b` (#1)", "`c` (#2)", "a delay of"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("`a`"), "{text}");
    assert_eq!(cycle(2).validate(), Ok(()));
}

/// A change to a plan, and a part of the message for it.
type Wrong = (fn(&mut Plan), &'static str);

#[test]
fn wrong_nodes_and_edges_are_named() {
    let cases: [Wrong; 10] = [
        (|plan| plan.nodes[1].id = NodeId(7), "stands at index 1"),
        (|plan| plan.nodes[1].replicas = Some(0), "`b` (#1) has 0 replicas"),
        (|plan| plan.nodes[1].replicas = Some(2), "`b` (#1) has 2 replicas, but keeps a state"),
        (|plan| plan.nodes[1].replicas = Some(usize::MAX), "at most 1024"),
        (|plan| plan.nodes[1].firings = Some(0), "`b` (#1) may fire 0 times"),
        (|plan| plan.edges[0].to = NodeId(9), "from `a` (#0) to #9, which is not in the plan"),
        (|plan| plan.edges[0].from = NodeId(usize::MAX), "which is not in the plan, to #1"),
        (|plan| plan.edges[0].flow = Flow::of(0, 1), "`a` (#0) produces 0 items"),
        (|plan| plan.edges[0].flow = Flow::of(1, 1).peeks(usize::MAX), "at most 2^32"),
        (|plan| plan.edges[0].flow = Flow::of(1, 3).horizon(2), "needs 3 or more"),
    ];
    for (break_it, said) in cases {
        let mut plan = network(2, &[(0, 1, Flow::of(1, 1))]);
        break_it(&mut plan);
        let text = message(&plan);
        assert!(text.contains(said), "{said}: {text}");
        // Whatever is wrong, it can be looked at.
        assert!(
            !plan.explain().is_empty()
                && plan.to_dot().starts_with("digraph")
                && plan.to_svg().starts_with("<svg")
        );
        assert!(
            plan.predict_network(&Machine::new(2), 2).is_err()
                && Passes::all().apply(&mut plan, &Machine::new(2)).is_empty()
        );
    }
}

#[test]
fn rates_whose_numbers_do_not_fit_are_told() {
    let mut plan = Plan::network(1);
    let rules: Vec<NodeId> = (0..40).map(|_| plan.rule(Node::rule("k"))).collect();
    for pair in rules.windows(2) {
        plan.record(pair[0], pair[1], ItemType::of::<u8>(), Flow::of(4_294_967_291, 4_294_967_279));
    }
    assert!(matches!(plan.validate(), Err(PlanError::TooManyFirings { .. })));
}

#[test]
fn json_of_a_network_may_leave_out_what_is_usual() {
    let text = r#"{ "version": 1, "plan": {
        "name": "sum", "workers": 2,
        "nodes": [
            { "id": 0, "name": "numbers", "operator": "count", "role": "rule", "state": "serial", "unit": 0, "parameters": { "to": "10" } },
            { "id": 1, "name": "sums", "operator": "sum", "role": "rule", "cost": 120, "unit": 1 }
        ],
        "edges": [
            { "from": 0, "to": 1, "item": { "name": "u64", "size": 8 }, "flow": { "produces": 1, "consumes": 2, "peeks": 3 } }
        ] } }"#;
    let plan = Plan::from_json(text).unwrap();
    assert_eq!(plan.validate(), Ok(()));
    let mut same = Plan::network(2).named("sum");
    let numbers = same.rule(Node::rule("count").named("numbers").with("to", 10));
    let sums = same.rule(Node::rule("sum").named("sums").state(State::None).cost(120));
    same.record(numbers, sums, ItemType::of::<u64>(), Flow::of(1, 2).peeks(3));
    assert_eq!(plan, same);
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
}

#[test]
fn explain_shows_rates_and_bounds() {
    let mut plan = network(2, &[(0, 1, Flow::of(3, 2).peeks(4).delay(1))]);
    (plan.nodes[0].cost, plan.nodes[1].cost) = (Some(1_000), Some(3_000));
    let text = plan.explain();
    for said in [
        "Network: 2 workers",
        "a  rule `k`; 2 firings an iteration; 1 µs a firing",
        "to b: f32, 4 B; 3 → 2, sees 4, delay 1, horizon",
        "Predicted",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// The costs of a line of rules, in nanoseconds.
fn line(costs: &[u64], stateless: bool) -> Plan {
    let mut plan = Plan::network(2);
    for (at, cost) in costs.iter().enumerate() {
        let state = if stateless { State::None } else { State::Serial };
        let rule = plan.rule(Node::rule("k").named(format!("rule {at}")).state(state).cost(*cost));
        if at > 0 {
            plan.record(NodeId(at - 1), rule, ItemType::of::<f32>(), Flow::of(1, 1));
        }
    }
    plan
}

#[test]
fn predictions_keep_the_bounds_of_work_and_of_the_dearest_rule() {
    let plan = line(&[20_000, 50_000, 30_000, 40_000], false);
    for workers in [1, 2, 3, 4, 16, 1_024] {
        let prediction = plan.predict_network(&Machine::ample(), workers).unwrap();
        let bound = f64::max(140_000.0 / workers as f64, 50_000.0);
        assert!((0.995 * bound..1.1 * bound).contains(&prediction.iteration), "{workers}: {prediction:?}");
        assert!(prediction.nodes.iter().all(|node| node.utilization <= 1.0));
    }
    assert_eq!(plan.predict_network(&Machine::ample(), 1).unwrap().bottleneck, Bottleneck::Workers);
    assert_eq!(plan.predict_network(&Machine::ample(), 4).unwrap().bottleneck, Bottleneck::Rule(NodeId(1)));
}

#[test]
fn a_cycle_bounds_the_throughput_by_its_items() {
    // One item goes round a cycle of 4 rules of 10 µs: one rule fires at a time.
    let mut plan = line(&[10_000; 4], false);
    plan.record(NodeId(3), NodeId(0), ItemType::of::<f32>(), Flow::of(1, 1).delay(1));
    for workers in [1, 2, 4, 1_000] {
        let prediction = plan.predict_network(&Machine::ample(), workers).unwrap();
        assert!((39_900.0..41_000.0).contains(&prediction.iteration), "{prediction}");
    }
}

#[test]
fn passes_do_what_they_say_and_can_be_switched_off() {
    let machine = Machine::new(4);
    let mut plan = line(&[100, 40_000, 200, 100], true);
    plan.workers = 4;
    let with = |passes: Passes| {
        let mut plan = plan.clone();
        let notes = passes.apply(&mut plan, &machine);
        (plan, notes)
    };
    let (all, notes) = with(Passes::all());
    assert_eq!(all.validate(), Ok(()));
    assert_eq!(all.nodes[1].replicas, Some(4));
    assert_eq!(all.nodes[2].unit, all.nodes[3].unit);
    assert_eq!(all.nodes[1].firings, Some(1));
    assert!(all.edges.iter().all(|edge| edge.flow.horizon.is_some()));
    for pass in [Pass::Fission, Pass::Fuse, Pass::Burst, Pass::Horizon] {
        assert!(notes.iter().any(|note| note.pass == pass), "{pass}: {notes:?}");
        let (_, notes) = with(Passes::all().without(pass));
        assert!(notes.iter().all(|note| note.pass != pass), "{pass}: {notes:?}");
    }
    assert!(with(Passes::none()).1.is_empty());
    // A second time, nothing is left to do.
    let mut again = all.clone();
    let notes = Passes::all().apply(&mut again, &machine);
    assert!(notes.iter().all(|note| note.pass == Pass::Horizon) && again == all, "{notes:?}");
    let faster = all.predict_network(&machine, 4).unwrap().iteration;
    let before = plan.predict_network(&machine, 4).unwrap().iteration;
    assert!(faster < 0.5 * before, "{faster} of {before}");
}

#[test]
fn strips_fit_into_the_cache() {
    let mut plan = Plan::network(1);
    let (a, b) =
        (plan.rule(Node::rule("k").named("a").cost(50)), plan.rule(Node::rule("k").named("b").cost(50)));
    let block = ItemType { name: "[u8; 4096]".into(), size: 4_096 };
    plan.record(a, b, block, Flow::of(1, 64));
    let notes = Passes::all().apply(&mut plan, &Machine::new(1));
    assert!(notes.iter().any(|note| note.pass == Pass::Fuse), "{notes:?}");
    // 64 blocks of 4 KiB are needed, whatever the cache holds.
    assert_eq!(plan.validate(), Ok(()));

    let mut plan = Plan::network(1);
    let (a, b) =
        (plan.rule(Node::rule("k").named("a").cost(50)), plan.rule(Node::rule("k").named("b").cost(50)));
    let row = ItemType { name: "[u8; 256]".into(), size: 256 };
    plan.record(a, b, row.clone(), Flow::of(4, 1));
    plan.record(a, b, row.clone(), Flow::of(4, 1));
    plan.record(a, b, row, Flow::of(4, 1));
    let mut set = plan.clone();
    let notes = Passes::all().without(Pass::Horizon).apply(&mut plan, &Machine::new(1));
    let strip = notes.iter().find(|note| note.pass == Pass::Strip).unwrap();
    assert!(
        strip.text.contains("`a` and `b` fire at most") && strip.text.contains("and not 192 KiB"),
        "{strip}"
    );
    // Turns that were set stay.
    set.nodes.iter_mut().for_each(|node| node.firings = Some(200));
    let notes = Passes::all().without(Pass::Horizon).apply(&mut set, &Machine::new(1));
    assert!(notes.iter().all(|note| note.pass != Pass::Strip), "{notes:?}");
    assert!(set.nodes.iter().all(|node| node.firings == Some(200)));
}

#[test]
fn horizons_shrink_as_far_as_the_throughput_allows() {
    let mut plan = line(&[5_000, 10_000, 5_000], false);
    let ample = plan.horizons().unwrap();
    let before = plan.predict_network(&Machine::new(2), 2).unwrap().iteration;
    Passes::none().with(Pass::Horizon).apply(&mut plan, &Machine::new(2));
    let after = plan.predict_network(&Machine::new(2), 2).unwrap().iteration;
    let horizons = plan.horizons().unwrap();
    assert!(after <= before / 0.95 * 1.001, "{after} after {before}");
    assert!(horizons.iter().zip(&ample).all(|(now, before)| now < before), "{horizons:?} of {ample:?}");
    // A horizon that was set stays.
    let mut plan = network(2, &[(0, 1, Flow::of(1, 1).horizon(50))]);
    (plan.nodes[0].cost, plan.nodes[1].cost) = (Some(100), Some(100));
    Passes::all().apply(&mut plan, &Machine::new(2));
    assert_eq!(plan.horizons().unwrap(), [50]);
}

/// Any small network, valid or not.
fn any_network() -> impl Strategy<Value = Plan> {
    let number = prop_oneof![0..5usize, Just(usize::MAX), Just(1 << 32)];
    let flow =
        (number.clone(), number.clone(), number.clone(), number.clone(), prop::option::of(number.clone()));
    let edge =
        (0..7usize, 0..7usize, flow).prop_map(|(from, to, (produces, consumes, peeks, delay, horizon))| {
            (NodeId(from), NodeId(to), Flow { peeks, delay, horizon, ..Flow::of(produces, consumes) })
        });
    let node = (
        prop::option::of(number.clone()),
        prop::option::of(number),
        any::<bool>(),
        prop::option::of(any::<u64>()),
        0..9usize,
    );
    (prop::collection::vec(node, 0..6), prop::collection::vec(edge, 0..8), 0..4usize).prop_map(
        |(nodes, edges, workers)| {
            let mut plan = Plan::network(workers);
            for (replicas, firings, is_stateless, cost, unit) in nodes {
                let state = if is_stateless { State::None } else { State::Serial };
                let id = plan.rule(Node { replicas, firings, cost, ..Node::rule("k").state(state) });
                if unit < 4 {
                    plan.nodes[id.0].unit = unit;
                }
            }
            for (from, to, flow) in edges {
                plan.record(from, to, ItemType::of::<u64>(), flow);
            }
            plan
        },
    )
}

proptest! {
    /// Whatever is in a plan, it is shown, checked and rewritten without a panic, and stays valid.
    #[test]
    fn no_plan_is_too_odd(plan in any_network()) {
        prop_assert_eq!(&Plan::from_json(&plan.to_json()).unwrap(), &plan);
        prop_assert!(plan.to_dot().len() + plan.to_svg().len() + plan.to_string().len() > 0);
        let valid = plan.validate();
        if valid.is_ok() {
            let firings = plan.repetitions().unwrap();
            for edge in &plan.edges {
                let flow = edge.flow;
                let written = u128::from(firings[edge.from.0]) * flow.produces as u128;
                prop_assert_eq!(written, u128::from(firings[edge.to.0]) * flow.consumes as u128);
            }
            let mut changed = plan.clone();
            Passes::all().apply(&mut changed, &Machine::new(3));
            prop_assert_eq!(changed.validate(), Ok(()));
            // Neither is any machine.
            let mut placed = plan.clone();
            let notes = Passes::none().with(Pass::Place).apply_on(&mut placed, &Machine::new(3), &pairs(5));
            prop_assert_eq!(placed.validate(), Ok(()));
            prop_assert_eq!(notes.len(), placed.cores_of_rules().len());
            prop_assert_eq!(&Plan::from_json(&placed.to_json()).unwrap(), &placed);
        }
    }
}

/// Cores of which every two share a cache: cores 0 and 1, 2 and 3, and so on.
fn pairs(count: usize) -> Cores {
    Cores::new(count, |a, b| if a / 2 == b / 2 { 40.0 } else { 250.0 })
}

fn core(plan: &Plan, rule: usize) -> usize {
    match plan.nodes[rule].placement {
        Placement::Core(core) => core,
        other => panic!("rule {rule} is placed {other:?}"),
    }
}

#[test]
fn rules_that_exchange_items_are_placed_on_cores_that_are_near_each_other() {
    // Lines of two rules. The rules of a line are not neighbours in the plan.
    for lines in 2..=4 {
        let mut plan = Plan::network(2 * lines);
        for at in 0..2 * lines {
            plan.rule(Node::rule("k").named(format!("rule {at}")).cost(5_000));
        }
        for line in 0..lines {
            plan.record(
                NodeId(line),
                NodeId(2 * lines - 1 - line),
                ItemType::of::<[u8; 640]>(),
                Flow::of(1, 1),
            );
        }
        let passes = Passes::none().with(Pass::Place);
        let notes = passes.apply_on(&mut plan, &Machine::new(8), &pairs(8));
        assert_eq!(plan.validate(), Ok(()));
        assert_eq!(notes.len(), 2 * lines, "each rule has a core: {notes:?}");
        for line in 0..lines {
            let [from, to] = [line, 2 * lines - 1 - line].map(|rule| core(&plan, rule));
            assert!(from != to && from / 2 == to / 2, "{plan}");
        }
        // 10 cache lines of 40 ns for each line, and 250 ns if the cores take the rules in turn.
        let said = format!("takes {} ns of an iteration", 400 * lines);
        assert!(notes[0].text.contains(&said) || lines > 2, "{}", notes[0]);
        assert!(plan.explain().contains("on core 0"));
        // A rule that is placed stays.
        assert!(passes.apply_on(&mut plan, &Machine::new(8), &pairs(8)).is_empty());
    }
}

#[test]
fn placed_rules_keep_the_work_of_the_cores_even() {
    // All rules exchange items with the first. With one core for all of them there would be no hand-over.
    let mut plan = Plan::network(4);
    let hub = plan.rule(Node::rule("k").cost(10_000));
    for _ in 0..12 {
        let rule = plan.rule(Node::rule("k").cost(10_000));
        plan.record(hub, rule, ItemType::of::<u64>(), Flow::of(1, 1));
    }
    Passes::none().with(Pass::Place).apply_on(&mut plan, &Machine::new(4), &pairs(6));
    let mut rules = BTreeMap::new();
    for rule in 0..plan.nodes.len() {
        *rules.entry(core(&plan, rule)).or_insert(0) += 1;
    }
    assert_eq!(rules.len(), 4, "as many cores as workers: {rules:?}");
    assert!(rules.values().all(|count| (3..=4).contains(count)), "{rules:?}");
    // Both cores of two pairs, and not three pairs.
    assert!(rules.keys().all(|core| rules.contains_key(&(core ^ 1))), "{rules:?}");
}

#[test]
fn on_cores_that_are_alike_nothing_is_placed_and_the_text_says_so() {
    let before = line(&[5_000, 5_000], false);
    for cores in
        [Cores::new(2, |_, _| 50.0), Cores::new(4, |a, _| 50.0 + a as f64), Cores::new(1, |_, _| 0.0)]
    {
        let mut plan = before.clone();
        assert!(cores.are_alike());
        assert!(Passes::none().with(Pass::Place).apply_on(&mut plan, &Machine::new(2), &cores).is_empty());
        assert_eq!(plan, before);
    }
    let text = Passes::all().explain_on(&before, &Machine::new(2), &Cores::new(2, |_, _| 50.0));
    assert!(text.contains("the cores are alike: between any two, a cache line takes 50 ns)"), "{text}");
    let text = Passes::all().explain(&before, &Machine::new(2));
    assert!(text.contains("place     (nothing to be changed; what the cores take"), "{text}");
    let text = Passes::all().without(Pass::Place).explain_on(&before, &Machine::new(2), &pairs(4));
    assert!(text.contains("place     (switched off)"), "{text}");
}

#[test]
fn copies_and_rules_that_are_placed_already_are_left_alone() {
    let mut copied = line(&[5_000; 3], true);
    copied.nodes[1].replicas = Some(2);
    Passes::none().with(Pass::Place).apply_on(&mut copied, &Machine::new(4), &pairs(4));
    assert_eq!(copied.nodes[1].placement, Placement::Workers);
    assert_ne!(copied.nodes[0].placement, Placement::Workers);
    let mut placed = line(&[5_000; 3], true);
    placed.nodes[2].placement = Placement::Core(3);
    let before = placed.clone();
    assert!(Passes::none().with(Pass::Place).apply_on(&mut placed, &Machine::new(4), &pairs(4)).is_empty());
    assert_eq!(placed, before);
    // Two workers are on two cores at most.
    for (rule, core) in [(0, 0), (1, 7)] {
        placed.nodes[rule].placement = Placement::Core(core);
    }
    assert_eq!(message(&placed), "the rules are placed on 3 cores, but the network has 2 workers");
}

#[test]
fn passes_decide_by_what_firings_and_turns_cost_on_the_machine() {
    use anabranch_plan::Overhead;

    let chosen = |overhead: Overhead| {
        let mut plan = Plan::network(2);
        let source = plan.rule(Node::rule("source").cost(100));
        let work = plan.rule(Node::rule("work").state(State::None).cost(4_000));
        let sink = plan.rule(Node::rule("sink").cost(100));
        plan.record(source, work, ItemType::of::<f32>(), Flow::of(1, 1));
        plan.record(work, sink, ItemType::of::<f32>(), Flow::of(1, 1));
        let passes = Passes::none().with(Pass::Fission).with(Pass::Burst);
        passes.apply(&mut plan, &Machine::new(2).overhead(overhead));
        (plan.nodes[1].replicas, plan.nodes[0].firings)
    };
    // With the usual overhead, `work` is worth a copy, and 10 µs of `source` are a turn.
    assert_eq!(chosen(Overhead::MEASURED), (Some(2), Some(81)));
    // If a firing costs ten times as much, a copy saves nothing. If a turn costs half, turns may be shorter.
    assert_eq!(chosen(Overhead { firing: 220.0, ..Overhead::MEASURED }).0, None);
    assert_eq!(chosen(Overhead { turn: 15.0, ..Overhead::MEASURED }).1, Some(40));
}
