//! Nodes: the source, the stages and the sink.

use std::borrow::Cow;
use std::fmt;

/// A node's place in [`Plan::nodes`](crate::Plan::nodes). Front ends keep closures beside a plan under this key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct NodeId(pub usize);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// One operator of a plan.
///
/// Made by [`Node::source`], [`Node::parallel`], [`Node::serial`] or [`Node::sink`], refined by the methods
/// that follow, and put in place by [`Plan::push`](crate::Plan::push), [`Plan::then`](crate::Plan::then) or
/// [`Plan::compose`](crate::Plan::compose), which fill in `id`, `domain` and `unit`.
///
/// ```
/// use anabranch_plan::{Node, State};
///
/// let encode = Node::parallel("map_with").named("encode").state(State::PerWorker).replicate(4);
/// assert_eq!(encode.name, "encode");
/// assert_eq!(encode.operator, "map_with");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Node {
    /// Its index in the plan.
    pub id: NodeId,
    /// The name that the user gave to the stage, else the operator's.
    pub name: Cow<'static, str>,
    /// What the front end calls it: `map`, `filter`, `serial`, `for_each`, ...
    pub operator: Cow<'static, str>,
    /// Where it stands and whether it may run for several items at once.
    pub role: Role,
    /// Whether it passes items on in the order of its domain's index (a sink: whether it sees them so).
    pub ordered: bool,
    /// The most simultaneous calls; `None` is as many as there are workers. At least 1; for a node that
    /// is not parallel, 1 or `None`.
    pub replicas: Option<usize>,
    /// What it keeps from one item to the next.
    pub state: State,
    /// Which threads may run it.
    pub placement: Placement,
    /// Which worker gets which item.
    pub schedule: Schedule,
    /// Whether it may give an error that ends the run.
    pub fallible: bool,
    /// Mean time for an item that it takes (a source: that it gives), in nanoseconds, where it was given or
    /// measured. Where a unit was measured as one, its first node has the cost and the others have 0.
    pub cost: Option<u64>,
    /// How much of `cost` its thread waits in (for a disk, a network, a timer) and needs no processor, in
    /// nanoseconds; `None` is 0, and more than `cost` counts as `cost`.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub waits: Option<u64>,
    /// How many items it gives for those that it takes; `None` is one for one. A source's says nothing.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub rate: Option<Rate>,
    /// Index into [`Plan::domains`](crate::Plan::domains): the stretch whose index and window it shares.
    pub domain: usize,
    /// The unit it belongs to: a run of neighbouring nodes that are executed as one piece of code. Units
    /// are numbered along the plan, from 0.
    pub unit: usize,
}

impl Node {
    fn new(role: Role, operator: impl Into<Cow<'static, str>>, state: State) -> Self {
        let operator = operator.into();
        Node {
            id: NodeId(0),
            name: operator.clone(),
            operator,
            role,
            ordered: true,
            replicas: None,
            state,
            placement: Placement::Workers,
            schedule: Schedule::OnDemand,
            fallible: false,
            cost: None,
            waits: None,
            rate: None,
            domain: 0,
            unit: 0,
        }
    }

    /// Where items come from: one caller at a time.
    pub fn source(operator: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Source, operator, State::Serial)
    }

    /// A stage that may run for several items at once.
    pub fn parallel(operator: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Parallel, operator, State::None)
    }

    /// A stage that runs for one item at a time.
    pub fn serial(operator: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Serial, operator, State::Serial)
    }

    /// Where items end: one caller at a time.
    pub fn sink(operator: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Sink, operator, State::Serial)
    }

    /// Whether its results are taken as they are done: it is parallel and gives order up.
    pub fn gives_arrivals(&self) -> bool {
        self.role.is_parallel() && !self.ordered
    }

    /// The name of a unit: those of its nodes, joined by `+`.
    pub fn unit_name(unit: &[Node]) -> String {
        unit.iter().map(|node| &*node.name).collect::<Vec<_>>().join(" + ")
    }

    /// Sets the name that people see.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Gives order up at this node.
    pub fn unordered(mut self) -> Self {
        self.ordered = false;
        self
    }

    /// Sets the most simultaneous calls.
    pub fn replicate(mut self, replicas: usize) -> Self {
        self.replicas = Some(replicas);
        self
    }

    /// Sets what the node keeps from one item to the next.
    pub fn state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    /// Gives the node a thread of its own.
    pub fn dedicated(mut self) -> Self {
        self.placement = Placement::Dedicated;
        self
    }

    /// Sets which worker gets which item.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Says that the node may give an error that ends the run.
    pub fn fallible(mut self) -> Self {
        self.fallible = true;
        self
    }

    /// Sets the mean time for an item, in nanoseconds.
    pub fn cost(mut self, nanoseconds: u64) -> Self {
        self.cost = Some(nanoseconds);
        self
    }

    /// Sets how much of the mean time for an item the thread waits and needs no processor, in nanoseconds.
    ///
    /// ```
    /// let fetch = anabranch_plan::Node::parallel("map").named("fetch").cost(2_000_000).waits(1_990_000);
    /// assert_eq!(fetch.waits, Some(1_990_000));
    /// ```
    pub fn waits(mut self, nanoseconds: u64) -> Self {
        self.waits = Some(nanoseconds);
        self
    }

    /// Sets how many items the node gives for so many taken, on the mean: a filter that passes one item in
    /// four gives 1 for 4, a `flat_map` that makes ten of each gives 10 for 1. `taken` is at least 1.
    ///
    /// ```
    /// use anabranch_plan::{Node, Rate};
    ///
    /// let even = Node::parallel("filter").named("even").gives(1, 2);
    /// assert_eq!(even.rate, Some(Rate { given: 1, taken: 2 }));
    /// ```
    pub fn gives(mut self, given: u64, taken: u64) -> Self {
        self.rate = Some(Rate { given, taken });
        self
    }
}

/// How many items a node gives for those that it takes, on the mean: the ratio of two counts, so that it can be
/// taken from a run as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Rate {
    /// So many are given...
    pub given: u64,
    /// ... for so many taken. At least 1.
    pub taken: u64,
}

/// Where a node stands and whether it may run for several items at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Role {
    /// Gives the items, one at a time.
    Source,
    /// May run for several items at once.
    Parallel,
    /// Runs for one item at a time.
    Serial,
    /// Consumes the items, one at a time.
    Sink,
}

impl Role {
    /// Whether it may run for several items at once.
    pub fn is_parallel(self) -> bool {
        self == Role::Parallel
    }
}

/// What a node keeps from one item to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum State {
    /// Nothing: a call depends on its item alone.
    #[default]
    None,
    /// A value per worker, made and dropped on the worker's thread.
    PerWorker,
    /// A value per replica, seen by one call at a time: items that share a replica share it, in their order.
    PerReplica,
    /// One value that only one call at a time can see.
    Serial,
}

/// Which threads may run a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Placement {
    /// Any worker.
    #[default]
    Workers,
    /// A thread of its own, for a node that blocks (a socket, a device).
    Dedicated,
}

/// Which worker gets which item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Schedule {
    /// Whoever is free takes the next.
    #[default]
    OnDemand,
    /// By index, in turn: the same worker gets the same items in every run.
    Dealt,
    /// Items of one key go to one worker.
    ByKey,
    /// A function of the user's chooses.
    Custom,
}
