//! Breaks each rule of `Plan::validate` alone, and checks the message.

use anabranch_plan::{
    Burst, Domain, EdgeKind, ItemType, Node, NodeId, Placement, Plan, Rate, Role, Settings, State,
};

/// read -> encode, check (one unit) -> write
fn valid() -> Plan {
    let mut plan = Plan::new(Settings::new(4, 64));
    plan.push(Node::source("from_iter").named("read"));
    plan.then(ItemType::of::<u64>(), Node::parallel("map").named("encode"));
    plan.compose(ItemType::of::<u64>(), Node::parallel("map").named("check"));
    plan.then(ItemType::of::<u64>(), Node::sink("for_each").named("write"));
    plan.validate().expect("valid before it is broken");
    plan
}

fn broken(change: impl FnOnce(&mut Plan)) -> String {
    let mut plan = valid();
    change(&mut plan);
    plan.validate().expect_err("valid").to_string()
}

/// Makes a test of each line: the name of the rule, how it is broken, and the message.
macro_rules! rules {
    ($($name:ident: |$plan:ident| $change:expr => $message:literal;)*) => {
        $(#[test]
        fn $name() {
            assert_eq!(broken(|$plan| { $change; }), $message);
        })*
    };
}

rules! {
    a_plan_has_nodes: |plan| plan.nodes.clear() => "the plan has no nodes";
    there_is_a_worker: |plan| plan.settings.workers = 0 => "the plan has 0 workers; at least 1 is needed";
    there_is_a_window: |plan| plan.settings.window = 0 => "the plan's window is 0; at least 1 is needed";
    bursts_are_not_empty: |plan| plan.settings.burst = Burst::Fixed(0) =>
        "the plan's bursts are of 0 items; at least 1 is needed";
    each_domain_has_a_window: |plan| plan.domains[0].window = 0 => "domain 0 has a window of 0; at least 1 is needed";
    each_domain_has_nodes: |plan| plan.open_domain(Domain { window: 1, ordered: true }) => "domain 1 has no nodes";
    an_id_is_the_index: |plan| plan.nodes.swap(1, 2) => "node `check` (#2) stands at index 1; a node's id is its index";
    the_first_is_the_source: |plan| plan.nodes[0].role = Role::Serial =>
        "the plan begins with `read` (#0), which is not a source";
    the_last_is_the_sink: |plan| plan.nodes[3].role = Role::Serial =>
        "the plan ends with `write` (#3), which is not a sink";
    no_source_is_inside: |plan| plan.nodes[1].role = Role::Source => "the source `encode` (#1) is not the first node";
    no_sink_is_inside: |plan| plan.nodes[2].role = Role::Sink => "the sink `check` (#2) is not the last node";
    replicas_are_not_0: |plan| plan.nodes[1].replicas = Some(0) =>
        "node `encode` (#1) has 0 replicas; at least 1 is needed";
    rates_are_ratios: |plan| plan.nodes[1].rate = Some(Rate { given: 3, taken: 0 }) =>
        "node `encode` (#1) gives 3 items for 0 taken; a rate is for 1 item or more";
    serial_nodes_are_not_replicated: |plan| plan.nodes[3].replicas = Some(2) =>
        "node `write` (#3) has 2 replicas, but only a parallel node may have more than 1";
    parallel_nodes_share_no_state: |plan| plan.nodes[1].state = State::Serial =>
        "the parallel node `encode` (#1) has serial state, which its simultaneous calls would share";
    domains_are_known: |plan| plan.nodes[3].domain = 1 =>
        "node `write` (#3) is in domain 1, which the plan does not have";
    domains_begin_at_0: |plan| {
        plan.open_domain(Domain { window: 1, ordered: true });
        plan.nodes[0].domain = 1
    } => "node `read` (#0) is in domain 1; expected domain 0, or 0 + 1 to open one";
    domains_do_not_return: |plan| {
        plan.open_domain(Domain { window: 1, ordered: true });
        for node in &mut plan.nodes[1..3] {
            node.domain = 1;
        }
    } => "node `write` (#3) is in domain 0; expected domain 1, or 1 + 1 to open one";
    units_begin_at_0: |plan| plan.nodes[0].unit = 1 =>
        "node `read` (#0) is in unit 1; expected unit 0, or 0 + 1 to begin one";
    units_do_not_return: |plan| plan.nodes[3].unit = 0 =>
        "node `write` (#3) is in unit 0; expected unit 1, or 1 + 1 to begin one";
    a_unit_is_serial_or_parallel: |plan| plan.nodes[3].unit = 1 =>
        "unit 1 has both `check` (#2) and `write` (#3), of which only one is parallel";
    a_unit_is_in_one_domain: |plan| {
        plan.open_domain(Domain { window: 1, ordered: true });
        for node in &mut plan.nodes[2..] {
            node.domain = 1;
        }
    } => "unit 1 has both `encode` (#1) and `check` (#2), which are in different domains";
    order_does_not_come_back: |plan| plan.nodes[1].ordered = false =>
        "node `check` (#2) is ordered, but `encode` (#1) before it in the same domain is not";
    an_unordered_domain_orders_nothing: |plan| plan.domains[0].ordered = false =>
        "node `read` (#0) is ordered, but its domain 0 is not";
    a_parallel_node_has_no_thread_of_its_own: |plan| plan.nodes[1].placement = Placement::Dedicated =>
        "the parallel node `encode` (#1) has a thread of its own; only a source, a serial stage or a sink may";
    arrivals_begin_a_domain: |plan| {
        for node in &mut plan.nodes[1..] {
            node.ordered = false;
        }
    } => "`check` (#2) gives its results in the order in which they are done, so `write` (#3) must begin a domain (`give_order_up`)";
    edges_begin_in_the_plan: |plan| plan.edges[0].from = NodeId(9) =>
        "an edge goes from #9, which is not in the plan, to #1";
    edges_end_in_the_plan: |plan| plan.edges[2].to = NodeId(9) =>
        "an edge goes from `check` (#2) to #9, which is not in the plan";
    edges_go_forward: |plan| plan.edges[2].to = NodeId(1) =>
        "an edge goes from `check` (#2) back to `encode` (#1)";
    edges_are_not_doubled: |plan| plan.edges.push(plan.edges[0].clone()) =>
        "two edges go from `read` (#0) to `encode` (#1)";
    a_call_stays_in_its_unit: |plan| plan.edges[0].kind = EdgeKind::Call =>
        "the edge from `read` (#0) to `encode` (#1) is a plain call, but they are in different units";
    a_lane_leaves_its_unit: |plan| plan.edges[1].kind = plan.edges[0].kind =>
        "the edge from `encode` (#1) to `check` (#2) is a lane, but they are in one unit";
    a_lane_has_a_window: |plan| plan.edges[0].kind = EdgeKind::Lane { window: 0, burst: Burst::Adaptive } =>
        "the lane from `read` (#0) to `encode` (#1) has a window of 0; at least 1 is needed";
    a_lane_holds_its_domains_window: |plan| plan.domains[0].window = 65 =>
        "the lane from `read` (#0) to `encode` (#1) has a window of 64, but 65 of its domain may be in flight";
    a_lanes_bursts_are_not_empty: |plan|
        plan.edges[0].kind = EdgeKind::Lane { window: 64, burst: Burst::Fixed(0) } =>
        "the lane from `read` (#0) to `encode` (#1) has bursts of 0 items; at least 1 is needed";
    the_source_gives: |plan| plan.edges.remove(0) => "no edge goes from `read` (#0)";
    a_node_inside_gives: |plan| {
        plan.edges[2].from = NodeId(1)
    } => "no edge goes from `check` (#2)";
    a_node_inside_takes: |plan| {
        plan.edges[0].to = NodeId(2);
        plan.edges.remove(1)
    } => "no edge goes to `encode` (#1)";
}

#[test]
fn order_may_be_given_up_to_the_end() {
    let mut plan = valid();
    plan.give_order_up(NodeId(1));
    assert_eq!(plan.validate(), Ok(()));
    let ordered: Vec<bool> = plan.nodes.iter().map(|node| node.ordered).collect();
    assert_eq!(ordered, [true, false, false, false]);
    let domains: Vec<usize> = plan.nodes.iter().map(|node| node.domain).collect();
    assert_eq!(domains, [0, 0, 0, 1]);
    assert_eq!(plan.domains[1], Domain { window: 64, ordered: false });
    assert_eq!(plan.opener(1), Some(NodeId(1)));
}

#[test]
fn a_source_may_give_to_a_sink_at_once() {
    let mut plan = Plan::new(Settings::new(1, 1));
    plan.push(Node::source("from_iter"));
    plan.compose(ItemType::of::<()>(), Node::sink("for_each"));
    assert_eq!(plan.validate(), Ok(()));
}
