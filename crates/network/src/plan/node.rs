//! Nodes: firing rules, processes, and records that are more than an edge.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use super::{Flow, ItemType, NodeId, State};

/// A node of a network.
///
/// [`Node::rule`], [`Node::process`] and [`Node::record`] create a node, and the other methods change it.
/// [`Plan::rule`](super::Plan::rule) adds it to a plan and sets its `id` and `unit`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Node {
    /// Its index in the plan.
    pub id: NodeId,
    /// The name that people see. Without one, the name of the kernel.
    pub name: Cow<'static, str>,
    /// The kernel of a firing rule. For other nodes, `process` or `record`.
    pub operator: Cow<'static, str>,
    /// Its kind.
    pub role: Role,
    /// How many copies of a firing rule run at once, at least 1. `None` is 1.
    #[cfg_attr(feature = "json", serde(default))]
    pub replicas: Option<usize>,
    /// The state that a firing rule keeps from one firing to the next: [`State::None`], or another one.
    #[cfg_attr(feature = "json", serde(default))]
    pub state: State,
    /// Which threads should run a firing rule.
    #[cfg_attr(feature = "json", serde(default))]
    pub placement: Placement,
    /// The mean time of a firing, in nanoseconds, if it was set or measured.
    #[cfg_attr(feature = "json", serde(default))]
    pub cost: Option<u64>,
    /// The unit that it belongs to. The rules of a unit are fired by turns on one thread.
    pub unit: usize,
    /// The values that the kernel of a firing rule is made with, by their names.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    pub parameters: BTreeMap<String, String>,
    /// How many times in a row a firing rule may fire before another rule has its turn. At least 1. `None` if
    /// the executor chooses.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub firings: Option<usize>,
    /// The views, the delay and the horizon of a record that is a node. `None` for other nodes.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub record: Option<Box<Record>>,
}

impl Node {
    fn new(role: Role, operator: impl Into<Cow<'static, str>>) -> Self {
        let operator = operator.into();
        Node {
            id: NodeId(0),
            name: operator.clone(),
            operator,
            role,
            replicas: None,
            state: State::Serial,
            placement: Placement::Workers,
            cost: None,
            unit: 0,
            parameters: BTreeMap::new(),
            firings: None,
            record: None,
        }
    }

    /// Creates a firing rule, which runs the kernel of this name. It has state, so that its
    /// firings run one after the other. A rule without state says so with `.state(State::None)`.
    pub fn rule(kernel: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Rule, kernel)
    }

    /// Creates a process: code with a thread of its own. A plan does not know which records it reads and writes.
    pub fn process(name: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Process, "process").named(name)
    }

    /// Creates a record that is a node, because it has several readers or writers, or because some of them
    /// belong to no rule.
    pub fn record(name: impl Into<Cow<'static, str>>, record: Record) -> Self {
        Node { record: Some(Box::new(record)), ..Node::new(Role::Record, "record").named(name) }
    }

    /// Sets the name that people see.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets how many copies run at once.
    pub fn replicate(mut self, replicas: usize) -> Self {
        self.replicas = Some(replicas);
        self
    }

    /// Sets the state that a rule keeps from one firing to the next.
    pub fn state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    /// Sets a value that the kernel of a firing rule is made with.
    ///
    /// ```
    /// let filter = anabranch_network::plan::Node::rule("fir").named("low pass").with("taps", 64);
    /// assert_eq!(filter.parameters["taps"], "64");
    /// ```
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.parameters.insert(name.to_owned(), value.to_string());
        self
    }

    /// Sets the mean time of a firing, in nanoseconds.
    pub fn cost(mut self, nanoseconds: u64) -> Self {
        self.cost = Some(nanoseconds);
        self
    }
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Role {
    /// A firing rule: runs its kernel whenever its records have enough items and room.
    Rule,
    /// A process: code with a thread of its own, which waits for its items.
    Process,
    /// A record that is more than an edge between two firing rules.
    Record,
}

/// Which threads should run a firing rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Placement {
    /// Any worker.
    #[default]
    Workers,
    /// The worker on this core is preferred. Cores are numbered from 0, in the order of the
    /// processors that the program may use, as in [`Cores`](super::Cores).
    Core(usize),
}

/// A record that is a [node](Node::record). Its name is that of its node. An edge leads to it from each firing rule that writes
/// it, and from it to each firing rule that reads it. Other views belong to processes, which are not known before the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Record {
    /// The type of the items.
    pub item: ItemType,
    /// The delay and the horizon. Its rates mean nothing.
    pub flow: Flow,
    /// The views that write it.
    pub writers: Views,
    /// The views that read it.
    pub readers: Views,
}

/// The views on one side of a record before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Views {
    /// How many there are. 0 if processes register them while the network runs.
    pub count: usize,
    /// How many of them were dropped before the run.
    pub dropped: usize,
}

impl Views {
    /// Whether there were views, and all of them were dropped.
    pub fn are_gone(self) -> bool {
        self.count > 0 && self.dropped == self.count
    }
}
