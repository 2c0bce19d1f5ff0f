//! The texts of plans. They are complete, so that every change of the layout is reviewed.

use anabranch_plan::{
    Burst, Domain, Executor, ItemType, Node, NodeId, Plan, Schedule, Settings, State, Wait,
};

fn item(name: impl Into<std::borrow::Cow<'static, str>>, size: usize) -> ItemType {
    ItemType { name: name.into(), size }
}

fn compressor(settings: Settings) -> Plan {
    let mut plan = Plan::new(settings).named("abz");
    plan.push(Node::source("try_from_iter").named("read blocks").fallible().cost(1_234));
    plan.then(
        item("abz::block::Block", 48),
        Node::parallel("map_init").named("encode").state(State::PerWorker).cost(310_000),
    );
    plan.compose(
        item("core::result::Result<abz::Member, std::io::Error>", 24),
        Node::parallel("try_map").fallible().cost(85),
    );
    plan.then(item("abz::Member", 24), Node::sink("try_for_each").named("write").fallible().cost(12_000));
    plan
}

#[test]
fn a_compressor_shows_the_parallel_part_as_three_lines() {
    let plan = compressor(Settings::new(4, 64));
    plan.validate().unwrap();
    assert_eq!(plan.explain(), include_str!("snapshots/compressor.txt"));
    let predicted =
        plan.explain().strip_prefix(&plan.to_string()).map(|rest| rest.starts_with("\nPredicted  "));
    assert_eq!(predicted, Some(true));
}

#[test]
fn the_inline_executor_has_no_slots_and_one_thread() {
    assert_eq!(compressor(Settings::inline(64)).explain(), include_str!("snapshots/inline.txt"));
}

#[test]
fn every_policy_that_is_not_the_default_is_said() {
    let settings = Settings {
        burst: Burst::Fixed(8),
        wait: Wait::Spin,
        executor: Executor::Pool,
        ..Settings::new(8, 256)
    };
    let mut plan = Plan::new(settings);
    plan.push(Node::source("channel").dedicated());
    plan.then(
        item("net::Request", 128),
        Node::parallel("map").named("parse").replicate(2).schedule(Schedule::Dealt),
    );
    plan.then(item("Parsed", 64), Node::parallel("map").named("price").schedule(Schedule::ByKey));
    plan.then(item("Priced", 64), Node::serial("serial").named("number"));
    plan.then(item("Priced", 64), Node::serial("serial").named("journal"));
    plan.compose(item("Priced", 64), Node::serial("inspect"));
    plan.then(
        item("Priced", 64),
        Node::parallel("map").named("reply").schedule(Schedule::Custom).replicate(100),
    );
    plan.then(item("()", 0), Node::sink("for_each").dedicated());
    plan.edges[1].kind = anabranch_plan::EdgeKind::Lane { window: 512, burst: Burst::Fixed(1) };
    plan.validate().unwrap();
    assert_eq!(plan.explain(), include_str!("snapshots/policies.txt"));
}

#[test]
fn each_domain_has_its_own_window_and_order() {
    let mut plan = Plan::new(Settings::new(2, 4)).named("archive");
    plan.push(Node::source("from_iter").named("files"));
    plan.then(item("std::path::PathBuf", 24), Node::parallel("map").named("open"));
    plan.open_domain(Domain { window: 64, ordered: true });
    plan.then(item("Blocks", 40), Node::serial("serial_flat_map").named("split"));
    plan.then(item("Block", 24), Node::parallel("map").named("encode"));
    plan.open_domain(Domain { window: 16, ordered: false });
    plan.then(item("Member", 24), Node::serial("unordered").unordered());
    plan.then(item("Member", 24), Node::sink("for_each").named("count").unordered());
    plan.validate().unwrap();
    assert_eq!(plan.explain(), include_str!("snapshots/domains.txt"));
}

#[test]
fn waiting_and_rates_are_said_beside_the_cost() {
    let mut plan = Plan::new(Settings::new(2, 8));
    plan.push(Node::source("files"));
    plan.then(ItemType::of::<u64>(), Node::parallel("fetch").cost(2_000_000).waits(1_990_000).fallible());
    plan.then(ItemType::of::<u64>(), Node::parallel("matching").gives(1, 4));
    plan.then(ItemType::of::<u64>(), Node::sink("count"));
    let text = plan.explain();
    assert!(text.contains("in order  2 ms  may fail, waits 1.99 ms\n"), "{text}");
    assert!(text.contains("gives 1 for 4\n"), "{text}");
    assert!(plan.to_dot().contains("waits 1.99 ms"), "{}", plan.to_dot());
}

#[test]
fn no_line_of_a_prediction_is_long() {
    let mut plan = Plan::new(Settings::new(2, 8));
    plan.push(Node::source("s").named("name ".repeat(9)).cost(1_000));
    plan.then(ItemType::of::<u64>(), Node::parallel("p").named("x".repeat(100)).cost(2_000));
    plan.then(ItemType::of::<u64>(), Node::sink("for_each").named("y".repeat(100)));
    for workers in [1, 2, 64] {
        plan.settings.workers = workers;
        let text = plan.explain();
        let predicted = text.split_once("\nPredicted").expect("a prediction").1;
        assert!(predicted.lines().count() > 2, "{text}");
        assert!(predicted.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn one_worker_changes_no_threads() {
    let mut plan = Plan::new(Settings::new(1, 1));
    plan.push(Node::source("from_iter"));
    plan.then(ItemType::of::<u64>(), Node::sink("fold"));
    plan.validate().unwrap();
    assert_eq!(plan.explain(), include_str!("snapshots/one-worker.txt"));
}

#[test]
fn edges_past_the_next_node_say_where_they_go() {
    let mut plan = Plan::new(Settings::new(2, 8));
    let source = plan.push(Node::source("from_iter"));
    let double = plan.then(ItemType::of::<u64>(), Node::parallel("map").named("double"));
    let zip = plan.push(Node::serial("zip"));
    plan.connect(source, zip, ItemType::of::<u64>());
    plan.connect(double, zip, ItemType::of::<u64>());
    plan.then(item("(u64, u64)", 16), Node::sink("for_each"));
    plan.edges.sort_by_key(|edge| (edge.from, edge.to));
    plan.validate().unwrap();
    assert_eq!(plan.explain(), include_str!("snapshots/branches.txt"));
}

#[test]
fn a_plan_that_is_not_valid_is_shown_all_the_same() {
    let mut plan = Plan::new(Settings::new(0, 0));
    assert_eq!(
        plan.explain(),
        "Plan: 0 workers, threads of this run; window 0; adaptive bursts; idle workers park\n"
    );
    plan.domains.clear();
    plan.push(Node::sink("for_each"));
    plan.nodes[0].domain = 7;
    plan.edges.push(anabranch_plan::Edge {
        from: NodeId(0),
        to: NodeId(9),
        item: ItemType::of::<u8>(),
        kind: anabranch_plan::EdgeKind::Call,
    });
    let text = plan.explain();
    assert!(text.contains("Domain 7: not described"), "{text}");
    assert!(text.contains("u8, 1 B, to #9 (not in the plan)"), "{text}");
}

#[test]
fn names_stay_on_one_line_and_are_cut() {
    let mut plan = Plan::new(Settings::new(1, 1)).named("two\nlines");
    plan.push(Node::source("s").named("x".repeat(100)));
    plan.then(item(format!("Vec<{}>", "y".repeat(100)), 24), Node::sink("for_each").named("tab\tbed"));
    let text = plan.explain();
    assert!(text.contains("Plan \"two\\nlines\""), "{text}");
    assert!(text.contains("tab\\tbed"), "{text}");
    assert!(text.contains(&format!("  {}…  s  ", "x".repeat(47))), "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 120), "{text}");
}
