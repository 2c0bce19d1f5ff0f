//! The graph of a region, as a plan of Anabranch, which can be printed and drawn.

use anabranch::plan::{ItemType, Node, Plan, Settings};

use crate::annotation::Replicas;
use crate::options::Options;
use crate::places::Places;
use crate::region::Region;
use crate::source::Source;

/// Returns the plan of a region. A number of replicas that is not written as a literal is left out.
pub fn plan(source: &Source, region: &Region, places: &Places, options: Options) -> Plan {
    let (line, _) = source.position(region.annotation.span.start);
    let mut plan = Plan::new(Settings::new(anabranch::default_workers(), WINDOW));
    plan.name = Some(format!("{}:{line}", source.name));
    let mut loops = Node::source("loop");
    loops.name = format!("loop, line {line}").into();
    plan.push(loops);
    let last = region.stages.len() - 1;
    for (at, stage) in region.stages.iter().enumerate() {
        let (line, _) = source.position(stage.body.start);
        let mut node = match &stage.annotation.replicas {
            Replicas::Serial if at == last => Node::sink("serial stage"),
            Replicas::Serial => Node::serial("serial stage"),
            _ => Node::parallel("replicated stage"),
        };
        if let Replicas::Count(count, _) = &stage.annotation.replicas {
            node.replicas = count.parse().ok();
        }
        node.name = format!("stage {}, line {line}", at + 1).into();
        node.ordered = options.is_ordered;
        plan.then(item(places, at), node);
    }
    if region.stages[last].annotation.replicas.is_parallel() {
        plan.then(item(places, last), Node::sink("end"));
    }
    plan
}

/// Returns the type of the items before a stage. Items are pointers, and the name lists the variables that the stage
/// uses.
fn item(places: &Places, stage: usize) -> ItemType {
    let names = places.needs[stage].iter().filter_map(|&field| places.fields.get(field));
    let names: Vec<&str> = names.map(|field| &*field.name).collect();
    let mut item = ItemType::of::<usize>();
    item.name = names.join(", ").into();
    item
}

/// The window of the plan, in items. It is the default of the library for small items.
const WINDOW: usize = 4_096;
