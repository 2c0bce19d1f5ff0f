//! The passes: what they change, what they leave alone, and that they change only the time of a run.

use anabranch_plan::passes::{choose_burst, choose_replicas, choose_window, fuse_serial_neighbours};
use anabranch_plan::{
    Burst, Domain, EdgeKind, ItemType, Machine, Node, NodeId, Note, Overhead, Pass, Passes, Plan, Schedule,
    Settings, State,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn line(workers: usize, window: usize, nodes: impl IntoIterator<Item = Node>) -> Plan {
    let mut plan = Plan::new(Settings::new(workers, window));
    for node in nodes {
        plan.then(ItemType::of::<u64>(), node);
    }
    plan.validate().unwrap();
    plan
}

fn texts(notes: &[Note]) -> Vec<String> {
    notes.iter().map(Note::to_string).collect()
}

fn units(plan: &Plan) -> Vec<usize> {
    plan.nodes.iter().map(|node| node.unit).collect()
}

/// read, number -> encode -> check, write
fn cheap_serial(workers: usize) -> Plan {
    line(
        workers,
        1_024,
        [
            Node::source("read").cost(300),
            Node::serial("number").cost(20),
            Node::parallel("encode").cost(9_000),
            Node::serial("check").cost(100),
            Node::sink("write").cost(901),
        ],
    )
}

#[test]
fn cheap_serial_neighbours_become_one_unit() {
    let mut plan = cheap_serial(4);
    let notes = fuse_serial_neighbours(&mut plan, &Machine::new(4));
    assert_eq!(
        texts(&notes),
        [
            "fuse: `read` and `number` run as one: both are serial, and 320 ns an item are too little to hand over"
        ]
    );
    // `check` and `write` take 1,001 ns together.
    assert_eq!(units(&plan), [0, 0, 1, 2, 3]);
    assert_eq!(plan.edges[0].kind, EdgeKind::Call);
    assert!(plan.edges[1..].iter().all(|edge| edge.kind.is_lane()));
    plan.nodes[4].cost = Some(900);
    fuse_serial_neighbours(&mut plan, &Machine::new(4));
    assert_eq!(units(&plan), [0, 0, 1, 2, 2]);
    assert_eq!(plan.validate(), Ok(()));
}

#[test]
fn one_worker_fuses_whatever_is_serial_and_needs_no_costs() {
    let nodes =
        [Node::source("read"), Node::serial("a"), Node::serial("b"), Node::parallel("c"), Node::sink("d")];
    let mut plan = line(1, 8, nodes);
    let notes = fuse_serial_neighbours(&mut plan, &Machine::new(4));
    assert_eq!(units(&plan), [0, 0, 0, 1, 2]);
    assert_eq!(
        texts(&notes)[1],
        "fuse: `read`, `a` and `b` run as one: all are serial, and with one worker there is no other to hand items to"
    );
}

#[test]
fn serial_neighbours_stay_apart_where_that_pays() {
    // Units are not fused if together they would be the bottleneck, in different domains, with threads of
    // their own, or at branches.
    let mut slow = line(8, 64, [Node::source("a").cost(500), Node::sink("b").cost(500)]);
    assert!(fuse_serial_neighbours(&mut slow, &Machine::new(8)).is_empty());
    let mut domains = Plan::new(Settings::new(2, 8));
    domains.push(Node::source("a").cost(1));
    domains.open_domain(Domain { window: 8, ordered: true });
    domains.then(ItemType::of::<u64>(), Node::sink("b").cost(1));
    let mut dedicated = line(2, 8, [Node::source("a").cost(1).dedicated(), Node::sink("b").cost(1)]);
    let mut branches = Plan::new(Settings::new(1, 8));
    let source = branches.push(Node::source("a"));
    branches.then(ItemType::of::<u64>(), Node::parallel("b"));
    let zip = branches.then(ItemType::of::<u64>(), Node::serial("zip"));
    branches.connect(source, zip, ItemType::of::<u64>());
    branches.then(ItemType::of::<u64>(), Node::sink("end"));
    for plan in [&mut domains, &mut dedicated] {
        assert!(fuse_serial_neighbours(plan, &Machine::new(2)).is_empty());
    }
    fuse_serial_neighbours(&mut branches, &Machine::new(2));
    assert_eq!(units(&branches), [0, 1, 2, 2]);
    assert_eq!(branches.validate(), Ok(()));
}

#[test]
fn a_stage_that_needs_few_workers_gets_few_replicas() {
    let nodes = || {
        [
            Node::source("read").cost(1_000),
            Node::parallel("parse").cost(4_000).state(State::PerWorker),
            Node::parallel("fetch").cost(1_000_000).waits(999_000),
            Node::sink("write").cost(10_000),
        ]
    };
    let mut plan = line(64, 4_096, nodes());
    let notes = choose_replicas(&mut plan, &Machine::new(64));
    assert_eq!(
        texts(&notes),
        [
            "replicas: `parse` runs at most one at once: it keeps one worker busy for 25 % of the time, and twice that \
          leaves room for uneven items"
        ]
    );
    assert_eq!((plan.nodes[1].replicas, plan.nodes[2].replicas), (Some(1), None));
    let mut chosen = line(64, 4_096, nodes());
    chosen.nodes[1].replicas = Some(7);
    chosen.nodes[2].schedule = Schedule::ByKey;
    assert!(choose_replicas(&mut chosen, &Machine::new(64)).is_empty());
}

#[test]
fn windows_become_as_narrow_as_the_items_allow() {
    let coarse = |workers: usize| {
        let nodes =
            [Node::source("a").cost(100), Node::parallel("b").cost(50_000), Node::sink("c").cost(100)];
        line(workers, 4_096, nodes)
    };
    let mut plan = coarse(4);
    let notes = choose_window(&mut plan, &Machine::new(4), None);
    assert_eq!(
        texts(&notes),
        ["window: at most 64 items of domain 0 in flight, not 4096: 16 a worker keep all of them busy"]
    );
    assert_eq!((plan.settings.window, plan.domains[0].window), (64, 64));
    let is_64 =
        |edge: &anabranch_plan::Edge| edge.kind == EdgeKind::Lane { window: 64, burst: Burst::Adaptive };
    assert!(plan.edges.iter().all(is_64));

    let mut fine = coarse(4);
    fine.nodes[1].cost = Some(1_000);
    choose_window(&mut fine, &Machine::new(4), None);
    assert_eq!(fine.domains[0].window, 320);
    fine.nodes[1].cost = Some(20);
    assert!(choose_window(&mut fine, &Machine::new(4), None).is_empty());
    let notes = choose_window(&mut fine, &Machine::new(4), Some(1_000));
    assert!(notes[0].text.ends_with("not 320: more would help, but is not allowed"), "{}", notes[0]);
    choose_window(&mut fine, &Machine::new(4), Some(usize::MAX));
    assert_eq!(fine.domains[0].window, 4_096);
}

#[test]
fn items_that_wait_get_the_window_that_littles_law_asks_for() {
    let nodes = [
        Node::source("a").cost(10_000),
        Node::parallel("b").cost(10_000_000).waits(10_000_000),
        Node::sink("c").cost(100),
    ];
    let mut plan = line(2_000, 64, nodes);
    let notes = choose_window(&mut plan, &Machine::new(4), Some(usize::MAX));
    // 16 items for each worker are more than twice the 1,000 items in flight.
    assert_eq!(plan.domains[0].window, 32_000);
    assert!(notes[0].text.ends_with("16 a worker keep all of them busy"));
    assert!(plan.predict(2_000).unwrap().per_item <= 10_100.0);
}

#[test]
fn a_burst_is_ten_microseconds_of_work_and_leaves_some_for_the_others() {
    let mut plan = cheap_serial(4);
    plan.nodes[2].cost = Some(500);
    let notes = choose_burst(&mut plan, &Machine::new(4));
    assert_eq!(
        texts(&notes),
        ["burst: `encode` takes 20 items at once: that is 10 µs of work, and a claim costs 0.3 µs"]
    );
    let bursts = |plan: &Plan| -> Vec<Option<Burst>> {
        let burst = |edge: &anabranch_plan::Edge| match edge.kind {
            EdgeKind::Lane { burst, .. } => Some(burst),
            EdgeKind::Call | EdgeKind::Back { .. } => None,
        };
        plan.edges.iter().map(burst).collect()
    };
    assert_eq!(bursts(&plan)[1], Some(Burst::Fixed(20)));
    assert_eq!(bursts(&plan)[2], Some(Burst::Adaptive));

    let mut narrow = line(4, 32, cheap_serial(4).nodes);
    narrow.nodes[2].cost = Some(500);
    choose_burst(&mut narrow, &Machine::new(4));
    assert_eq!(bursts(&narrow)[1], Some(Burst::Fixed(4)));
    let mut unknown = cheap_serial(4);
    unknown.nodes[2].cost = None;
    assert!(choose_burst(&mut unknown, &Machine::new(4)).is_empty());
}

#[test]
fn each_pass_can_be_switched_off() {
    let machine = Machine::new(4);
    let all = vec![Pass::Fuse, Pass::Replicas, Pass::Window, Pass::Burst];
    let ran = |passes: Passes| -> Vec<Pass> {
        let mut plan = cheap_serial(40);
        let mut ran: Vec<Pass> = passes.apply(&mut plan, &machine).iter().map(|note| note.pass).collect();
        ran.dedup();
        ran
    };
    assert_eq!(ran(Passes::all()), all);
    assert_eq!(ran(Passes::default()), all);
    assert!(ran(Passes::none()).is_empty());
    // The other passes are for networks.
    for pass in Pass::ALL {
        let alone: Vec<Pass> = all.iter().copied().filter(|other| *other == pass).collect();
        assert_eq!(ran(Passes::none().with(pass)), alone);
        let rest: Vec<Pass> = all.iter().copied().filter(|other| *other != pass).collect();
        assert_eq!(ran(Passes::all().without(pass)), rest);
        assert!(Passes::all().contains(pass) && !Passes::all().without(pass).contains(pass));
    }
}

#[test]
fn a_plan_that_is_not_valid_is_left_alone() {
    let mut plan = cheap_serial(4);
    plan.edges.clear();
    let before = plan.clone();
    assert!(Passes::all().apply(&mut plan, &Machine::new(4)).is_empty());
    assert_eq!(plan, before);
}

fn stage() -> impl Strategy<Value = (Node, bool, Option<usize>)> {
    let cost = option::weighted(0.9, prop_oneof![0..50u64, 0..2_000u64, 0..10_000_000u64]);
    let waits = option::of(0..100_000u64);
    let rate = option::weighted(0.2, (0..5u64, 1..5u64));
    let replicas = option::weighted(0.3, 1..20usize);
    let opens = option::weighted(0.2, 1..5_000usize);
    (any::<bool>(), cost, waits, rate, replicas, opens, any::<[bool; 2]>()).prop_map(
        |(parallel, cost, waits, rate, replicas, opens, [dedicated, joins])| {
            let mut node = if parallel { Node::parallel("map") } else { Node::serial("serial") };
            (node.cost, node.waits) = (cost, waits);
            if parallel {
                node.replicas = replicas;
            } else if dedicated {
                node = node.dedicated();
            }
            if let Some((given, taken)) = rate {
                node = node.gives(given, taken);
            }
            (node, joins, opens)
        },
    )
}

fn any_line() -> impl Strategy<Value = Plan> {
    let burst = option::weighted(0.3, 1..64usize);
    let settings = (1..40usize, 1..5_000usize, burst, any::<bool>());
    (settings, 0..2_000u64, vec(stage(), 0..8)).prop_map(
        |((workers, window, burst, inline), source, stages)| {
            let mut settings = Settings::new(workers, window);
            settings.burst = burst.map_or(Burst::Adaptive, Burst::Fixed);
            if inline && workers == 1 {
                settings = Settings::inline(window);
            }
            let mut plan = Plan::new(settings);
            plan.push(Node::source("source").cost(source));
            for (node, joins, opens) in stages {
                if let Some(window) = opens {
                    plan.open_domain(Domain { window, ordered: true });
                }
                let same =
                    plan.nodes.last().is_some_and(|last| last.role.is_parallel() == node.role.is_parallel());
                if joins && same && opens.is_none() {
                    plan.compose(ItemType::of::<u64>(), node);
                } else {
                    plan.then(ItemType::of::<u64>(), node);
                }
            }
            plan.then(ItemType::of::<u64>(), Node::sink("sink").cost(300));
            plan
        },
    )
}

/// The plan without the parts that passes may change.
fn meaning(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.settings.window = 0;
    for domain in &mut plan.domains {
        domain.window = 0;
    }
    for node in &mut plan.nodes {
        (node.unit, node.replicas) = (0, None);
    }
    for edge in &mut plan.edges {
        edge.kind = EdgeKind::Call;
    }
    plan
}

proptest! {
    #[test]
    fn passes_keep_the_meaning_of_a_plan_and_its_bounds(plan in any_line(), cores in 1..9usize) {
        let mut after = plan.clone();
        for note in Passes::all().apply(&mut after, &Machine::new(cores)) {
            prop_assert!(after.node(note.node).is_some() && !note.text.is_empty());
        }
        prop_assert_eq!(after.validate(), Ok(()));
        prop_assert_eq!(meaning(&after), meaning(&plan));
        for (domain, before) in after.domains.iter().zip(&plan.domains) {
            prop_assert!(domain.window <= before.window);
        }
        for (node, before) in after.nodes.iter().zip(&plan.nodes) {
            prop_assert!(before.replicas.is_none() || node.replicas == before.replicas);
        }
    }

    #[test]
    fn passes_again_change_nothing(plan in any_line(), cores in 1..9usize, most in option::of(1..9_000usize)) {
        let passes = most.map_or(Passes::all(), |most| Passes::all().window_up_to(most));
        let mut once = plan;
        passes.apply(&mut once, &Machine::new(cores));
        let mut twice = once.clone();
        prop_assert_eq!(texts(&passes.apply(&mut twice, &Machine::new(cores))), Vec::<String>::new());
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn no_pass_makes_a_plan_slower_by_its_bounds(plan in any_line(), cores in 1..9usize) {
        let overhead = Overhead { meeting: 0.0, crowding: 0.0, ..Overhead::MEASURED };
        let machine = Machine::new(cores).overhead(overhead);
        let workers = plan.settings.workers;
        let Ok(before) = plan.predict_on(&machine, workers) else { return Ok(()) };
        for pass in Pass::ALL {
            let mut after = plan.clone();
            Passes::none().with(pass).apply(&mut after, &machine);
            let after = after.predict_on(&machine, workers).unwrap();
            prop_assert!(after.per_item <= before.per_item * (1.0 + 1e-6), "{pass}: {after} for {before}");
        }
    }
}

#[test]
fn a_note_names_its_node() {
    let mut plan = cheap_serial(40);
    let notes = Passes::all().apply(&mut plan, &Machine::new(4));
    let named: Vec<(Pass, NodeId)> = notes.iter().map(|note| (note.pass, note.node)).collect();
    assert_eq!(
        named,
        [
            (Pass::Fuse, NodeId(0)),
            (Pass::Replicas, NodeId(2)),
            (Pass::Window, NodeId(0)),
            (Pass::Burst, NodeId(2)),
        ]
    );
}
