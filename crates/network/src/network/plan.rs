//! The plan of a network, as far as it is known before the network runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::{Flow, ItemType, Node, NodeId, Plan, PlanError, Record, Views};
use anabranch_record::sync::{Arc, lock};

use super::{
    contents::{Contents, RuleCell},
    ports::PortInfo,
    records::{RecordInfo, Side},
};

impl<'env, E: Send> Contents<'env, E> {
    /// The network as a plan for this number of workers. Also returns the indices of the records that are edges, because their
    /// two ends are rules.
    pub(super) fn plan(&self, workers: usize) -> (Plan, BTreeSet<usize>) {
        let mut plan = Plan::network(workers);
        for process in lock(&self.network.processes).iter() {
            push(&mut plan, process.node.clone());
        }
        let mut ports = Vec::new();
        for (_, cell) in &self.rules {
            let own = ports_of(cell);
            let unit = own.first().map_or(0, |(index, _)| *index);
            own.iter().for_each(|(index, _)| plan.nodes[*index].unit = unit);
            ports.extend(own);
        }
        let inside = add_records(&mut plan, &lock(&self.network.records), ports, false);
        (plan, inside)
    }

    /// Ends the network with an error if the rates of a new rule are not possible. Before a run, the check of
    /// the whole plan finds this.
    pub(super) fn check_ports(&self, cell: &RuleCell<'env, E>) {
        let mut plan = Plan::network(1);
        let mut ports = ports_of(cell);
        let mut records = BTreeMap::new();
        for (index, own) in &mut ports {
            let process = Arc::clone(&lock(&self.network.processes)[*index]);
            *index = push(&mut plan, process.node.clone()).0;
            records.extend(own.iter().map(|port| (port.record.index, Arc::clone(&port.record))));
        }
        let records: Vec<Arc<RecordInfo>> = records.into_values().collect();
        add_records(&mut plan, &records, ports, true);
        if let Some(message) = misuse(&plan) {
            self.network.misuse(message);
        }
    }
}

/// Returns the message for the first mistake in the network's views or rates. A network may have larger numbers of firings than
/// a plan, so these are no mistake.
pub(super) fn misuse(plan: &Plan) -> Option<String> {
    match plan.repetitions() {
        Ok(_) | Err(PlanError::TooManyFirings { .. }) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Adds a node in a unit of its own. [`Plan::rule`] looks at the units of all nodes, which takes long if there are thousands.
fn push(plan: &mut Plan, node: Node) -> NodeId {
    let at = plan.nodes.len();
    plan.nodes.push(Node { id: NodeId(at), unit: at, ..node });
    NodeId(at)
}

/// The ports of each rule of a cell that does not run, by the index of the rule.
fn ports_of<E>(cell: &RuleCell<'_, E>) -> Vec<(usize, Vec<PortInfo>)> {
    let Some(mut held) = cell.baton.try_acquire() else { return Vec::new() };
    let ports = held
        .state()
        .iter()
        .map(|member| (member.index, member.body.as_ref().map_or(Vec::new(), |body| body.describe())));
    let ports = ports.collect();
    held.let_go();
    ports
}

/// Adds records to the plan of their rules, each of which comes with its ports. A record is an edge if its two ends are rules, and
/// otherwise a node. Returns the indices of those that are edges. In a network that runs already, views that were dropped are no
/// mistake.
fn add_records(
    plan: &mut Plan,
    records: &[Arc<RecordInfo>],
    rules: Vec<(usize, Vec<PortInfo>)>,
    runs: bool,
) -> BTreeSet<usize> {
    let mut ports: BTreeMap<usize, Vec<(NodeId, PortInfo)>> = BTreeMap::new();
    for (node, own) in rules {
        own.into_iter()
            .for_each(|port| ports.entry(port.record.index).or_default().push((NodeId(node), port)));
    }
    let mut inside = BTreeSet::new();
    for info in records {
        let mut ports = ports.remove(&info.index).unwrap_or_default();
        let views = |side: Side| {
            let views = lock(info.views(side));
            let dropped = views.iter().filter(|view| !runs && !view.is_open()).count();
            Views { count: views.len(), dropped }
        };
        let (writers, readers) = (views(Side::Writers), views(Side::Readers));
        let item = ItemType { name: info.type_name.into(), size: info.item_bytes };
        let horizon = info.horizon();
        let flow = Flow::of(0, 0).delay(info.initial).horizon(horizon);
        let flow = if info.most > horizon { flow.grow_to(info.most) } else { flow };
        ports.sort_by_key(|(_, port)| port.side == Side::Readers);
        if let ([(from, give), (to, take)], 1, 1) = (&ports[..], writers.count, readers.count) {
            let flow = Flow { produces: give.rate, consumes: take.rate, ..flow.peeks(take.needs) };
            plan.record(*from, *to, item, flow);
            plan.edges.last_mut().expect("it was just added").name = Some(info.title());
            inside.insert(info.index);
            continue;
        }
        let record = Record { item: item.clone(), flow, writers, readers };
        let record = push(plan, Node::record(info.title(), record));
        for (node, PortInfo { side, rate, needs, range, .. }) in ports {
            let (from, to, flow) = match side {
                Side::Writers => (node, record, Flow::of(rate, 0)),
                Side::Readers => (record, node, Flow::of(0, rate).peeks(needs)),
            };
            plan.record(from, to, item.clone(), Flow { range, ..flow });
        }
    }
    inside
}
