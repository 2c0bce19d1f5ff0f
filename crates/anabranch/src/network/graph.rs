//! A network as plain data, and the mistakes in it that can be found before it runs.

use std::fmt::Write;

use anabranch_record::sync::lock;

use super::{board::Board, ports::PortInfo, records::Side};

/// A network as plain data, made by [`Network::graph`](super::Network::graph).
///
/// Processes and records are identified by their positions in the two vectors. The ports of firing rules are
/// known. The views that a process with a thread uses are not known before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// The processes and firing rules, in the order of creation.
    pub processes: Vec<ProcessNode>,
    /// The records, in the order of creation.
    pub records: Vec<RecordEdge>,
}

/// A process or firing rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessNode {
    /// Its name. Several processes may have the same name.
    pub name: String,
    /// Whether it is a firing rule. If not, it is a process with a thread.
    pub is_rule: bool,
}

/// A record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordEdge {
    /// The name or number of the record and the type of its items, as in messages.
    pub title: String,
    /// The size of an item in bytes.
    pub item_bytes: usize,
    /// How many items the record may hold.
    pub horizon: usize,
    /// How many items the record may hold if it has to grow to avoid a deadlock.
    pub grows_to: usize,
    /// How many items are in the record from the start.
    pub initial: usize,
    /// The ports of rules that write the record.
    pub writers: Vec<Port>,
    /// The ports of rules that read the record.
    pub readers: Vec<Port>,
    /// How many writers the record has, including those that belong to no rule.
    pub writer_count: usize,
    /// How many readers the record has, including those that belong to no rule.
    pub reader_count: usize,
    /// How many writers were dropped without having been used.
    pub dropped_writers: usize,
    /// How many readers were dropped without having been used.
    pub dropped_readers: usize,
}

/// A rule's port on a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// The position of the rule in [`Graph::processes`].
    pub process: usize,
    /// How many items a firing consumes or produces.
    pub rate: usize,
    /// How many items or free slots a firing needs.
    pub needs: usize,
    /// How many indices in a row are dealt to this port, if indices are dealt in turn to several ports.
    pub range: Option<usize>,
}

impl Graph {
    pub(super) fn of<E>(board: &Board<'_, E>) -> Self {
        let hub = &board.hub;
        let processes = lock(&hub.processes)
            .iter()
            .map(|process| ProcessNode { name: process.name.clone(), is_rule: process.is_rule })
            .collect();
        let mut records: Vec<RecordEdge> = lock(&hub.records)
            .iter()
            .map(|record| {
                let (writers, readers) = (lock(&record.writers), lock(&record.readers));
                RecordEdge {
                    title: record.title(),
                    item_bytes: record.item_bytes,
                    horizon: record.horizon(),
                    grows_to: record.most,
                    initial: record.initial,
                    writers: Vec::new(),
                    readers: Vec::new(),
                    writer_count: writers.len(),
                    reader_count: readers.len(),
                    dropped_writers: writers.iter().filter(|view| !view.is_open()).count(),
                    dropped_readers: readers.iter().filter(|view| !view.is_open()).count(),
                }
            })
            .collect();
        for cell in board.rules.iter() {
            let Some(mut held) = cell.baton.try_acquire() else { continue };
            for member in held.state().iter() {
                let ports = member.body.as_ref().map_or(Vec::new(), |body| body.describe());
                for PortInfo { record, side, rate, needs, range } in ports {
                    let Some(edge) = records.get_mut(record.index) else { continue };
                    let port = Port { process: member.process.index, rate, needs, range };
                    match side {
                        Side::Writers => edge.writers.push(port),
                        Side::Readers => edge.readers.push(port),
                    }
                }
            }
            held.let_go();
        }
        Self { processes, records }
    }

    /// Whether only rules write and read the record.
    pub(super) fn is_between_rules(&self, record: usize) -> bool {
        let edge = &self.records[record];
        edge.writers.len() == edge.writer_count && edge.readers.len() == edge.reader_count
    }

    fn name(&self, process: usize) -> &str {
        self.processes.get(process).map_or("?", |process| &process.name)
    }

    /// The first mistake in the network, and how to correct it.
    pub(super) fn defect(&self) -> Option<String> {
        self.records
            .iter()
            .find_map(|edge| self.missing(edge).or_else(|| self.port_defect(edge)))
            .or_else(|| self.inconsistency())
    }

    /// The message for a record with views on one side only.
    fn missing(&self, edge: &RecordEdge) -> Option<String> {
        let gone = |count, dropped| count > 0 && dropped == count;
        let no_writer = gone(edge.writer_count, edge.dropped_writers);
        let no_reader = gone(edge.reader_count, edge.dropped_readers);
        if no_writer == no_reader {
            return None;
        }
        let (side, others, what, verb) = if no_writer {
            ("writer", &edge.readers, "written", "read by")
        } else {
            ("reader", &edge.writers, "read", "written by")
        };
        let names: Vec<String> =
            others.iter().map(|port| format!("\"{}\"", self.name(port.process))).collect();
        let others =
            if names.is_empty() { String::new() } else { format!(" It is {verb} {}.", names.join(", ")) };
        Some(format!(
            "{} has no {side}: it was dropped before the run, so nothing will be {what}.{others} Move the {side} into \
             the process that is to use it",
            edge.title
        ))
    }

    /// The message for a port with rates that are not possible with its record.
    fn port_defect(&self, edge: &RecordEdge) -> Option<String> {
        let of = |ports: &[Port], side| {
            ports.iter().find_map(|port| {
                let &Port { rate, needs, range, .. } = port;
                let rates = Rates { side, rate, needs, range };
                rates.defect(self.name(port.process), &edge.title, edge.grows_to)
            })
        };
        of(&edge.readers, Side::Readers).or_else(|| of(&edge.writers, Side::Writers))
    }

    /// The message for a record whose rates of writing and reading cannot be balanced by any numbers of
    /// firings (E. Lee and D. Messerschmitt, *Static Scheduling of Synchronous Data Flow Programs*, 1987,
    /// section III).
    fn inconsistency(&self) -> Option<String> {
        // How often each rule fires, relative to the first rule of its connected part of the graph.
        let mut firings: Vec<Option<Ratio>> = vec![None; self.processes.len()];
        let edges = self.balances();
        let mut of: Vec<Vec<usize>> = vec![Vec::new(); self.processes.len()];
        for (at, balance) in edges.iter().enumerate() {
            of[balance.from].push(at);
            of[balance.to].push(at);
        }
        for start in 0..self.processes.len() {
            if firings[start].is_some() || of[start].is_empty() {
                continue;
            }
            firings[start] = Some(Ratio::ONE);
            let mut todo = vec![start];
            while let Some(process) = todo.pop() {
                let Some(known) = firings[process] else { continue };
                for balance in of[process].iter().map(|&at| &edges[at]) {
                    let forth = balance.from == process;
                    let (other, gives, takes) = if forth {
                        (balance.to, balance.written, balance.read)
                    } else {
                        (balance.from, balance.read, balance.written)
                    };
                    // A ratio that needs more than 128 bits is not checked.
                    let Some(wanted) = known.times(gives, takes) else { continue };
                    match firings[other] {
                        None => {
                            firings[other] = Some(wanted);
                            todo.push(other);
                        }
                        Some(found) if found != wanted => return Some(self.tell(balance)),
                        Some(_) => {}
                    }
                }
            }
        }
        None
    }

    fn tell(&self, balance: &Balance) -> String {
        let title = &self.records[balance.record].title;
        let (from, to) = (self.name(balance.from), self.name(balance.to));
        format!(
            "the rates are inconsistent at {title}: rule \"{from}\" writes {} and rule \"{to}\" reads {} items in each \
             firing, but by the other records between them they do not fire as often as that takes, so that items would \
             pile up or run out; change one of the rates",
            balance.written, balance.read
        )
    }

    /// The pairs of rules that share a record.
    fn balances(&self) -> Vec<Balance> {
        let mut balances = Vec::new();
        for (record, edge) in self.records.iter().enumerate() {
            // With dealt indices, each view gets one of `count` ranges.
            let share =
                |port: &Port, count: usize| port.rate as u128 * port.range.map_or(1, |_| count as u128);
            for from in &edge.writers {
                for to in &edge.readers {
                    balances.push(Balance {
                        record,
                        from: from.process,
                        to: to.process,
                        written: share(from, edge.writer_count),
                        read: share(to, edge.reader_count),
                    });
                }
            }
        }
        balances
    }

    /// The network in Graphviz's language. Processes and rules are boxes, with rounded corners for processes.
    /// Records are nodes without a frame. Edges lead from rules to the records that they write, and from
    /// records to the rules that read them.
    pub fn dot(&self) -> String {
        let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = String::from("digraph network {\n    rankdir=LR;\n    node [shape=box];\n");
        for (index, process) in self.processes.iter().enumerate() {
            let style = if process.is_rule { "" } else { ", style=rounded" };
            let _ = writeln!(text, "    p{index} [label=\"{}\"{style}];", quote(&process.name));
        }
        for (index, edge) in self.records.iter().enumerate() {
            let initial =
                if edge.initial > 0 { format!(", {} at first", edge.initial) } else { String::new() };
            let label = format!("{}\\nhorizon {}{initial}", quote(&edge.title), edge.horizon);
            let _ = writeln!(text, "    r{index} [label=\"{label}\", shape=plaintext];");
            for port in &edge.writers {
                let _ = writeln!(text, "    p{} -> r{index} [taillabel=\"{}\"];", port.process, port.rate);
            }
            for port in &edge.readers {
                let peeks =
                    if port.needs > port.rate { format!(" of {}", port.needs) } else { String::new() };
                let _ =
                    writeln!(text, "    r{index} -> p{} [headlabel=\"{}{peeks}\"];", port.process, port.rate);
            }
        }
        text.push_str("}\n");
        text
    }
}

/// The rates of a port.
pub(super) struct Rates {
    side: Side,
    rate: usize,
    needs: usize,
    range: Option<usize>,
}

impl Rates {
    pub(super) fn of(port: &PortInfo) -> Self {
        let &PortInfo { side, rate, needs, range, .. } = port;
        Self { side, rate, needs, range }
    }

    /// The message if the port of rule `name` cannot have these rates at a record that may hold `most` items.
    pub(super) fn defect(&self, name: &str, title: &str, most: usize) -> Option<String> {
        let &Self { side, rate, needs, range } = self;
        let reads = side == Side::Readers;
        if rate == 0 {
            let verb = if reads { "consumes" } else { "produces" };
            return Some(format!(
                "rule \"{name}\" {verb} 0 items of {title} in each firing: the rate of a port is 1 or more"
            ));
        }
        if needs > most {
            let verb = if reads { "peeks at" } else { "produces" };
            return Some(format!(
                "rule \"{name}\" {verb} {needs} items of {title} in each firing, but its horizon is {most}: make the \
                 record with a horizon of {needs} or more"
            ));
        }
        let range = range.filter(|range| range % rate != 0 || needs > rate)?;
        Some(format!(
            "rule \"{name}\" has {rate} items of {title} in each firing and sees {needs}, but they are dealt in ranges \
             of {range}: with ranges the rate must divide {range}, and the rule sees no more than that"
        ))
    }
}

/// A record between two rules, and how many items each of them writes or reads in a firing.
struct Balance {
    record: usize,
    from: usize,
    to: usize,
    written: u128,
    read: u128,
}

/// A fraction in its lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ratio(u128, u128);

impl Ratio {
    const ONE: Self = Self(1, 1);

    /// The product of this ratio and `by / of`. `None` if it needs more than 128 bits.
    fn times(self, by: u128, of: u128) -> Option<Self> {
        let (up, down) = (self.0.checked_mul(by)?, self.1.checked_mul(of)?);
        let divisor = gcd(up, down).max(1);
        Some(Self(up / divisor, down / divisor))
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
