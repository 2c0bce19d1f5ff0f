//! A plan that is saved and read again is the same plan. No plan, valid or not, makes a printer panic.

use anabranch_plan::{
    Burst, Domain, Edge, EdgeKind, Executor, ItemType, JsonError, Machine, Node, NodeId, Passes, Placement,
    Plan, Rate, Role, Schedule, Settings, State, Wait,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn number() -> impl Strategy<Value = usize> {
    prop_oneof![0..9usize, any::<usize>(), Just(usize::MAX)]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("map".to_owned()), vec(any::<char>(), 0..60).prop_map(String::from_iter)]
}

fn burst() -> impl Strategy<Value = Burst> {
    prop_oneof![Just(Burst::Adaptive), number().prop_map(Burst::Fixed)]
}

fn settings() -> impl Strategy<Value = Settings> {
    let wait = prop_oneof![Just(Wait::Park), Just(Wait::Spin)];
    let executor = prop_oneof![Just(Executor::Inline), Just(Executor::Threads), Just(Executor::Pool)];
    let bytes = proptest::option::of(1..u64::MAX);
    (number(), number(), bytes, burst(), wait, executor, any::<bool>()).prop_map(
        |(workers, window, window_bytes, burst, wait, executor, pinned)| Settings {
            workers,
            window,
            window_bytes,
            burst,
            wait,
            executor,
            pinned,
        },
    )
}

fn node() -> impl Strategy<Value = Node> {
    let role = prop_oneof![Just(Role::Source), Just(Role::Parallel), Just(Role::Serial), Just(Role::Sink)];
    let state =
        prop_oneof![Just(State::None), Just(State::PerWorker), Just(State::PerReplica), Just(State::Serial)];
    let placement = prop_oneof![Just(Placement::Workers), Just(Placement::Dedicated)];
    let schedule = prop_oneof![
        Just(Schedule::OnDemand),
        Just(Schedule::Dealt),
        Just(Schedule::ByKey),
        Just(Schedule::Custom)
    ];
    let names = (number(), text(), text());
    let policies = (role, any::<bool>(), option::of(number()), state, placement, schedule, any::<bool>());
    let rate = (any::<u64>(), any::<u64>()).prop_map(|(given, taken)| Rate { given, taken });
    let costs = (option::of(any::<u64>()), option::of(any::<u64>()), option::of(rate), any::<bool>());
    let places = (number(), number(), any::<bool>(), number());
    (names, policies, costs, places).prop_map(
        |(
            (id, name, operator),
            (role, ordered, replicas, state, placement, schedule, fallible),
            (cost, waits, rate, in_blocks),
            (domain, branch, in_loop, unit),
        )| {
            Node {
                id: NodeId(id),
                name: name.into(),
                operator: operator.into(),
                role,
                ordered,
                replicas,
                state,
                placement,
                schedule,
                fallible,
                cost,
                waits,
                rate,
                in_blocks,
                domain,
                branch,
                in_loop,
                unit,
            }
        },
    )
}

fn edge() -> impl Strategy<Value = Edge> {
    let kind = prop_oneof![
        Just(EdgeKind::Call),
        (number(), burst()).prop_map(|(window, burst)| EdgeKind::Lane { window, burst }),
        number().prop_map(|places| EdgeKind::Back { places })
    ];
    (number(), number(), text(), number(), kind).prop_map(|(from, to, item, size, kind)| Edge {
        from: NodeId(from),
        to: NodeId(to),
        item: ItemType { name: item.into(), size },
        kind,
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let domain = (number(), any::<bool>()).prop_map(|(window, ordered)| Domain { window, ordered });
    (option::of(text()), settings(), vec(domain, 0..4), vec(node(), 0..8), vec(edge(), 0..8))
        .prop_map(|(name, settings, domains, nodes, edges)| Plan { name, settings, domains, nodes, edges })
}

/// A line of stages as a front end builds it: for every stage whether it is parallel, may join the unit
/// before it, and opens a domain with which window.
fn line() -> impl Strategy<Value = Plan> {
    let stage = (any::<bool>(), any::<bool>(), option::weighted(0.2, 1..99usize));
    (1..9usize, 1..99usize, vec(stage, 0..9)).prop_map(|(workers, window, stages)| {
        let mut plan = Plan::new(Settings::new(workers, window));
        plan.push(Node::source("from_iter"));
        for (parallel, joins, opens) in stages {
            let node = if parallel { Node::parallel("map") } else { Node::serial("serial") };
            if let Some(window) = opens {
                plan.open_domain(Domain { window, ordered: true });
            }
            let same_kind = plan.nodes.last().is_some_and(|last| last.role.is_parallel() == parallel);
            if joins && same_kind && opens.is_none() {
                plan.compose(ItemType::of::<u64>(), node);
            } else {
                plan.then(ItemType::of::<u64>(), node);
            }
        }
        plan.then(ItemType::of::<u64>(), Node::sink("for_each"));
        plan
    })
}

proptest! {
    #[test]
    fn json_gives_the_same_plan_back(plan in plan()) {
        prop_assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
    }

    #[test]
    fn no_plan_makes_printing_or_validating_panic(plan in plan()) {
        let _ = plan.validate();
        prop_assert!(plan.explain().starts_with("Plan"));
        prop_assert!(plan.to_dot().ends_with("}\n"), "not closed");
        prop_assert!(plan.to_svg().ends_with("</svg>\n"), "not closed");
        prop_assert_eq!(plan.predict(plan.settings.workers).is_err(), plan.validate().is_err() || plan.nodes.iter().all(|n| n.cost.unwrap_or(0) == 0));
    }

    #[test]
    fn no_plan_is_too_odd_for_the_passes(mut plan in plan()) {
        let valid = plan.validate().is_ok();
        let before = plan.clone();
        let notes = Passes::all().apply(&mut plan, &Machine::new(2));
        prop_assert!(valid || (notes.is_empty() && plan == before));
    }

    #[test]
    fn what_a_front_end_builds_is_valid(plan in line()) {
        prop_assert_eq!(plan.validate(), Ok(()));
        let lines = plan.nodes.len() + plan.edges.len();
        prop_assert!(plan.explain().lines().count() >= lines);
    }
}

fn small() -> Plan {
    let mut plan = Plan::new(Settings::new(2, 8)).named("small");
    plan.push(Node::source("from_iter"));
    plan.then(ItemType { name: "u64".into(), size: 8 }, Node::sink("for_each"));
    plan
}

#[test]
fn the_format_of_version_1_is_still_read() {
    assert_eq!(Plan::from_json(include_str!("snapshots/version-1.json")).unwrap(), small());
    assert_eq!(small().to_json() + "\n", include_str!("snapshots/version-1.json"));
}

#[test]
fn another_version_is_refused_by_its_number() {
    let text = small().to_json().replace("\"version\": 1", "\"version\": 2");
    let error = Plan::from_json(&text).unwrap_err();
    assert!(matches!(error, JsonError::Version { found: 2 }));
    assert_eq!(
        error.to_string(),
        "the plan has format version 2, but this program reads version 1: write the plan again with the version of \
         Anabranch that reads it"
    );
}

#[test]
fn a_field_that_is_unknown_or_missing_is_named() {
    let unknown = small().to_json().replace("\"workers\"", "\"wrokers\"");
    assert!(Plan::from_json(&unknown).unwrap_err().to_string().contains("unknown field `wrokers`"));
    let missing = small().to_json().replace("\"workers\": 2,", "");
    assert!(Plan::from_json(&missing).unwrap_err().to_string().contains("missing field `workers`"));
    assert!(matches!(Plan::from_json("[1, 2"), Err(JsonError::Shape(_))));
}
