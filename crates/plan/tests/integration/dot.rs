//! The complete Graphviz drawing, so that every change of it is reviewed.

use anabranch_plan::{Domain, ItemType, Node, Plan, Settings, State};

fn item(name: &'static str, size: usize) -> ItemType {
    ItemType { name: name.into(), size }
}

#[test]
fn domains_and_units_are_clusters() {
    let mut plan = Plan::new(Settings::new(2, 4)).named("archive");
    plan.push(Node::source("from_iter").named("files"));
    plan.open_domain(Domain { window: 64, ordered: true });
    plan.then(item("std::path::PathBuf", 24), Node::serial("serial_flat_map").named("split").fallible());
    plan.then(
        item("Block", 24),
        Node::parallel("map_init").named("encode").state(State::PerWorker).cost(310_000),
    );
    plan.compose(item("Member", 24), Node::parallel("inspect"));
    plan.then(item("Member", 24), Node::sink("for_each").named("write"));
    plan.validate().unwrap();
    assert_eq!(plan.to_dot(), include_str!("snapshots/archive.dot"));
}

#[test]
fn labels_are_escaped() {
    let mut plan = Plan::new(Settings::new(1, 1)).named("say \"hi\"");
    plan.push(Node::source("from_iter").named("back\\slash and \"quotes\""));
    plan.then(item("Two\nLines<\"\\N\">", 1), Node::sink("for_each"));
    let dot = plan.to_dot();
    assert!(dot.contains(r#"label="Plan \"say \"#), "{dot}");
    assert!(
        dot.contains(r#"n0 [label="back\\slash and \"quotes\" (from_iter)\nserial source, in order"];"#),
        "{dot}"
    );
    assert!(dot.contains(r#"label="Two\\nLines<\"\\N\">, 1 B\n1 slot""#), "{dot}");
}
