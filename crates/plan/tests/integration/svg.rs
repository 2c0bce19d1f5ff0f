//! The pictures: they are well-formed for any content, and complete here, so that every change of them is
//! reviewed.

use anabranch_plan::{
    Burst, Domain, EdgeKind, ItemType, Machine, Measured, Node, NodeId, Overlay, Plan, Settings, Sketch,
    State,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn item(name: &'static str, size: usize) -> ItemType {
    ItemType { name: name.into(), size }
}

fn compressor() -> Plan {
    let mut plan = Plan::new(Settings::new(4, 64)).named("abz");
    plan.push(Node::source("try_from_iter").named("read blocks").fallible().cost(1_234));
    plan.then(
        item("abz::block::Block", 48),
        Node::parallel("map_init").named("encode").state(State::PerWorker).cost(310_000),
    );
    plan.compose(item("Result<Member, Error>", 24), Node::parallel("try_map").fallible().cost(85));
    plan.then(item("abz::Member", 24), Node::sink("try_for_each").named("write").fallible().cost(12_000));
    plan
}

fn measured() -> Overlay {
    let of = |busy: f64, cost: u64, occupancy: f64| Measured {
        items: Some(12_345),
        busy: Some(busy),
        cost: Some(cost),
        occupancy: Some(occupancy),
        waiting: Some((occupancy * 85_300.0) as u64),
    };
    let source = Measured { occupancy: None, waiting: None, ..of(0.016, 1_300, 0.0) };
    Overlay::new()
        .node(NodeId(0), source)
        .node(NodeId(1), of(0.97, 320_000, 7.3))
        .node(NodeId(3), of(0.14, 11_000, 1.2))
        .bottleneck(NodeId(1))
        .per_item(85_300.0)
}

/// An element: its name, and the text of its attributes.
type Element = (String, Vec<(String, String)>);

/// Parses XML as strictly as a viewer does, for the part of XML that the pictures use. Returns the elements
/// in their order, and the texts between tags.
fn parse(svg: &str) -> Result<(Vec<Element>, Vec<String>), String> {
    let (mut elements, mut texts, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = svg;
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        check_text(text)?;
        if !text.trim().is_empty() {
            texts.push(text.to_owned());
        }
        let end = at + rest[at..].find('>').ok_or("a tag that does not end")?;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop().as_deref() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
            continue;
        }
        let closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut read = Vec::new();
        while !attributes.trim().is_empty() {
            let (key, value) = attributes.trim_start().split_once("=\"").ok_or(format!("in <{tag}>"))?;
            let (value, after) = value.split_once('"').ok_or(format!("in <{tag}>"))?;
            check_text(value)?;
            read.push((key.to_owned(), value.to_owned()));
            attributes = after;
        }
        elements.push((name.to_owned(), read));
        if !closed {
            open.push(name.to_owned());
        }
    }
    check_text(rest)?;
    if open.is_empty() { Ok((elements, texts)) } else { Err(format!("{open:?} stay open")) }
}

fn check_text(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('&') {
        if !["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|entity| text[at..].starts_with(entity)) {
            return Err(format!("a bare & in {text}"));
        }
    }
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        Some(c) => Err(format!("{c:?} in {text}")),
        None => Ok(()),
    }
}

fn get<'a>((_, attributes): &'a Element, key: &str) -> Option<&'a str> {
    attributes.iter().find(|(found, _)| found == key).map(|(_, value)| value.as_str())
}

fn number(element: &Element, key: &str) -> f64 {
    get(element, key).map_or(0.0, |value| value.parse().expect("a number"))
}

/// Every shape has finite coordinates inside the picture.
fn check_bounds(elements: &[Element]) {
    let (width, height) = (number(&elements[0], "width"), number(&elements[0], "height"));
    for element in elements {
        let (x, y) = match element.0.as_str() {
            "rect" => (
                number(element, "x") + number(element, "width"),
                number(element, "y") + number(element, "height"),
            ),
            "circle" => (number(element, "cx"), number(element, "cy")),
            "text" => (number(element, "x"), number(element, "y")),
            "polyline" | "polygon" => {
                let points = get(element, "points").unwrap().split([' ', ',']);
                let points: Vec<f64> = points.map(|n| n.parse().expect("a number")).collect();
                let most =
                    |skip: usize| points.iter().skip(skip).step_by(2).fold(0.0, |a, b| f64::max(a, *b));
                assert!(points.iter().all(|n| *n >= 0.0), "{element:?}");
                (most(0), most(1))
            }
            _ => continue,
        };
        assert!((0.0..=width + 0.1).contains(&x) && (0.0..=height + 0.1).contains(&y), "{element:?}");
    }
}

#[test]
fn a_compressor_is_drawn() {
    let svg = compressor().to_svg();
    let (elements, _) = parse(&svg).unwrap();
    check_bounds(&elements);
    assert_eq!(svg, include_str!("snapshots/compressor.svg"));
}

#[test]
fn measured_values_are_laid_over_it() {
    let svg = compressor().to_svg_with(&measured());
    let (elements, texts) = parse(&svg).unwrap();
    check_bounds(&elements);
    assert_eq!(svg, include_str!("snapshots/measured.svg"));
    for text in [
        "bottleneck · 12345 items · 320 µs an item",
        "7.3 waiting before it, 623 µs each",
        "busy 97 %",
        "Predicted: 82.5 µs an item, 12.1 k items/s",
        "Measured: 85.3 µs an item, 11.7 k items/s, 3 % more time than predicted",
    ] {
        assert!(texts.iter().any(|found| found == text), "no {text}");
    }
}

#[test]
fn the_curve_has_its_limits_and_what_was_measured() {
    let curve = compressor().predict_range(1..=64).unwrap();
    let svg = curve.to_svg(&[(1, 330_000.0), (2, 164_000.0), (4, 85_300.0), (8, f64::NAN)]);
    let (elements, texts) = parse(&svg).unwrap();
    check_bounds(&elements);
    assert_eq!(svg, include_str!("snapshots/curve.svg"));
    for text in ["limit: workers", "limit: write (serial)", "measured"] {
        assert!(texts.iter().any(|found| found == text), "no {text}");
    }
    let circles = elements.iter().filter(|element| element.0 == "circle" && get(element, "r") == Some("5"));
    assert_eq!(circles.count(), 3 + 1); // one is in the legend
    assert!(!curve.to_svg(&[]).contains("measured"));
}

#[test]
fn the_prediction_beside_the_measurement_is_for_its_machine() {
    let on_two = compressor().to_svg_with(&measured().on(Machine::new(2)));
    assert!(on_two.contains("Predicted: 165 µs an item"), "{on_two}");
    assert!(on_two.contains("48 % less time than predicted"));
    assert!(on_two.contains("Both cores are busy, 96 % of the time with `encode`."));
}

#[test]
fn serial_and_parallel_differ_in_shape() {
    let shapes = |node: Node| {
        let mut plan = Plan::new(Settings::new(2, 8));
        plan.push(Node::source("from_iter"));
        plan.then(item("u64", 8), node);
        plan.then(item("u64", 8), Node::sink("for_each"));
        let (elements, _) = parse(&plan.to_svg()).unwrap();
        let paint = elements.iter().filter(|e| e.0 == "rect" && number(e, "width") > 200.0);
        // The ground, the frame, the source and the sink are the same in both.
        let (round, square): (Vec<_>, Vec<_>) = paint.partition(|e| get(e, "rx").is_some());
        (round.len(), square.len())
    };
    assert_eq!(shapes(Node::serial("scan")), (1, 4));
    assert_eq!(shapes(Node::parallel("map")), (4, 3));
}

#[test]
fn what_is_odd_in_a_name_is_escaped() {
    let mut plan = Plan::new(Settings::new(1, 1)).named("<b>\"Tom\" & Jerry</b>");
    plan.push(Node::source("from_iter").named("a<b\u{1}"));
    plan.then(item("Two\nLines<'&\u{0}'>", 1), Node::sink("for_each"));
    let svg = plan.to_svg();
    parse(&svg).unwrap();
    assert!(svg.contains("&lt;b&gt;&quot;Tom&quot; &amp; Jerry&lt;/b&gt;"), "{svg}");
    assert!(!svg.contains("<b>"), "{svg}");
}

#[test]
fn domains_are_frames_and_edges_that_skip_go_round() {
    let mut plan = Plan::new(Settings::new(2, 4)).named("archive");
    let files = plan.push(Node::source("from_iter").named("files"));
    plan.open_domain(Domain { window: 64, ordered: true });
    plan.then(item("PathBuf", 24), Node::serial("serial_flat_map").named("split").gives(10, 1));
    plan.then(item("Block", 24), Node::parallel("map").named("fetch").cost(2_000_000).waits(1_990_000));
    plan.edges[1].kind = EdgeKind::Lane { window: 64, burst: Burst::Fixed(4) };
    let end = plan.then(item("Member", 24), Node::sink("for_each").named("count"));
    plan.connect(files, end, item("u64", 8));
    plan.validate().unwrap();
    let (elements, texts) = parse(&plan.to_svg()).unwrap();
    check_bounds(&elements);
    for text in [
        "Domain 1: in source order, at most 64 items in flight",
        "Block, 24 B · 64 slots, 4 at a time",
        "in order · waits 1.99 ms · 2 ms an item",
        "in order · gives 10 for 1",
        "#0 to #3, u64, 8 B · 4 slots",
    ] {
        assert!(texts.iter().any(|found| found == text), "no {text} in {texts:?}");
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just("map".to_owned()), vec(any::<char>(), 0..60).prop_map(String::from_iter)]
}

fn plan() -> impl Strategy<Value = Plan> {
    let stage = (text(), text(), any::<bool>(), any::<bool>(), option::weighted(0.2, 1..99usize));
    let cost = option::of(prop_oneof![0..100u64, any::<u64>()]);
    (text(), 1..9usize, vec((stage, cost), 0..9)).prop_map(|(name, workers, stages)| {
        let mut plan = Plan::new(Settings::new(workers, 64)).named(&name);
        plan.push(Node::source("from_iter").cost(100));
        for ((name, operator, parallel, joins, opens), cost) in stages {
            let node = if parallel { Node::parallel(operator) } else { Node::serial(operator) };
            let mut node = node.named(name);
            node.cost = cost;
            if let Some(window) = opens {
                plan.open_domain(Domain { window, ordered: true });
            }
            let same = plan.nodes.last().is_some_and(|last| last.role.is_parallel() == parallel);
            if joins && same && opens.is_none() {
                plan.compose(ItemType::of::<u64>(), node);
            } else {
                plan.then(ItemType::of::<Vec<u64>>(), node);
            }
        }
        plan.then(ItemType::of::<u64>(), Node::sink("for_each"));
        plan
    })
}

fn overlay() -> impl Strategy<Value = Overlay> {
    let (number, real) = (|| option::of(any::<u64>()), || option::of(any::<f64>()));
    let measured =
        (number(), real(), number(), number(), real()).prop_map(|(items, busy, cost, waiting, occupancy)| {
            Measured { items, busy, cost, waiting, occupancy }
        });
    (vec((0..12usize, measured), 0..9), 0..12usize, any::<f64>()).prop_map(|(nodes, worst, per_item)| {
        let overlay = Overlay::new().bottleneck(NodeId(worst)).per_item(per_item);
        nodes.into_iter().fold(overlay, |overlay, (id, measured)| overlay.node(NodeId(id), measured))
    })
}

proptest! {
    #[test]
    fn every_picture_of_a_plan_is_well_formed(plan in plan(), overlay in overlay()) {
        for svg in [plan.to_svg(), plan.to_svg_with(&overlay)] {
            let (elements, texts) = parse(&svg).map_err(TestCaseError::fail)?;
            check_bounds(&elements);
            prop_assert!(texts.len() > plan.nodes.len());
        }
    }

    #[test]
    fn arrows_beside_boxes_have_ends_of_their_own(
        boxes in 1..7usize,
        arrows in vec((0..7usize, 0..7usize, text()), 0..10),
    ) {
        let mut sketch = Sketch::new("arrows");
        (0..boxes).for_each(|n| _ = sketch.tile([format!("box {n}")]));
        for (from, to, label) in &arrows {
            sketch.arrow(from % boxes, to % boxes, label, false);
        }
        let (elements, _) = parse(&sketch.to_svg()).map_err(TestCaseError::fail)?;
        check_bounds(&elements);
        let lines = elements.iter().filter(|element| element.0 == "polyline");
        let points = |line| -> Vec<f64> {
            get(line, "points").unwrap().split([' ', ',']).map(|n| n.parse().unwrap()).collect()
        };
        // An arrow beside the boxes has four points: out, down or up, and back.
        let beside: Vec<Vec<f64>> = lines.map(points).filter(|points| points.len() == 8).collect();
        let mut heights: Vec<f64> = beside.iter().flat_map(|points| [points[1], points[7]]).collect();
        heights.sort_by(f64::total_cmp);
        prop_assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 0.5), "{:?}", heights);
    }

    #[test]
    fn every_picture_of_a_curve_is_well_formed(
        plan in plan(),
        cores in 1..100usize,
        workers in vec(1..2_000usize, 1..20),
        measured in vec((1..2_000usize, any::<f64>()), 0..5),
    ) {
        let curve = plan.predict_range_on(&Machine::new(cores), workers).unwrap();
        let (elements, _) = parse(&curve.to_svg(&measured)).map_err(TestCaseError::fail)?;
        check_bounds(&elements);
    }
}
