//! Nodes: the source, the stages and the sink.

use std::borrow::Cow;
use std::fmt;

/// The index of a node in [`Plan::nodes`](crate::Plan::nodes). Front ends keep closures outside of the plan,
/// under this key.
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
/// [`Node::source`], [`Node::parallel`], [`Node::serial`] and [`Node::sink`] create a node, and the other
/// methods change it. [`Plan::push`](crate::Plan::push), [`Plan::then`](crate::Plan::then) and
/// [`Plan::compose`](crate::Plan::compose) add it to a plan and set its `id`, `domain` and `unit`.
///
/// ```
/// use anabranch_plan::{Node, State};
///
/// let encode = Node::parallel("map_init").named("encode").state(State::PerWorker).replicate(4);
/// assert_eq!(encode.name, "encode");
/// assert_eq!(encode.operator, "map_init");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Node {
    /// Its index in the plan.
    pub id: NodeId,
    /// The name that the user gave to the stage. Without one, the name of the operator.
    pub name: Cow<'static, str>,
    /// The name of the operator in the front end: `map`, `filter`, `serial_map`, `for_each` and so on.
    pub operator: Cow<'static, str>,
    /// Its role: where it is in the plan, and whether it may run for several items at once.
    pub role: Role,
    /// Whether the node hands on items in the order of its domain's index. For a sink, whether it takes them in
    /// this order.
    #[cfg_attr(feature = "json", serde(default = "yes"))]
    pub ordered: bool,
    /// The most simultaneous calls, at least 1. `None` means as many as there are workers. For a node that is
    /// not parallel, 1 or `None`.
    #[cfg_attr(feature = "json", serde(default))]
    pub replicas: Option<usize>,
    /// The state that it keeps from one item to the next.
    #[cfg_attr(feature = "json", serde(default))]
    pub state: State,
    /// Which threads may run it.
    #[cfg_attr(feature = "json", serde(default))]
    pub placement: Placement,
    /// Which worker gets which item.
    #[cfg_attr(feature = "json", serde(default))]
    pub schedule: Schedule,
    /// Whether the node may return an error that ends the run.
    #[cfg_attr(feature = "json", serde(default))]
    pub fallible: bool,
    /// The mean time for an item that it takes, in nanoseconds, if it was set or measured. For a source, for
    /// an item that it gives. If a unit was measured as one, its first node has the cost and the others have
    /// 0.
    #[cfg_attr(feature = "json", serde(default))]
    pub cost: Option<u64>,
    /// The part of `cost` in which its thread waits (for a disk, a network or a timer) and needs no
    /// processor, in nanoseconds. `None` is 0. A value above `cost` counts as `cost`.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub waits: Option<u64>,
    /// How many items it gives for those that it takes. `None` is one for one. For a source it has no
    /// meaning.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "Option::is_none"))]
    pub rate: Option<Rate>,
    /// Whether the items travel in blocks, as a source that never waits gives them. Only a source may set it.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub in_blocks: bool,
    /// The index of its domain in [`Plan::domains`](crate::Plan::domains).
    #[cfg_attr(feature = "json", serde(default))]
    pub domain: usize,
    /// The branch of a fork that it belongs to. Branches are numbered from 1, along the plan. 0 for a node of the main
    /// line. The branches of a fork share the indices and the window of their domain.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "crate::edge::is_zero"))]
    pub branch: usize,
    /// Whether the node is inside a loop: its items may go round again, to the entry of the loop.
    #[cfg_attr(feature = "json", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub in_loop: bool,
    /// The unit that it belongs to. A unit is a run of neighbouring nodes that are executed as one piece of
    /// code. Units are numbered along the plan, from 0.
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
            in_blocks: false,
            domain: 0,
            branch: 0,
            in_loop: false,
            unit: 0,
        }
    }

    /// Creates a source, which gives the items. One call runs at a time.
    pub fn source(operator: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Source, operator, State::Serial)
    }

    /// Creates a stage that may run for several items at once.
    pub fn parallel(operator: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Parallel, operator, State::None)
    }

    /// Creates a stage that runs for one item at a time.
    pub fn serial(operator: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Serial, operator, State::Serial)
    }

    /// Creates a sink, which consumes the items. One call runs at a time.
    pub fn sink(operator: impl Into<Cow<'static, str>>) -> Self {
        Node::new(Role::Sink, operator, State::Serial)
    }

    /// Whether its results are taken in the order in which they finish: it is parallel and gives up order.
    pub fn gives_arrivals(&self) -> bool {
        self.role.is_parallel() && !self.ordered
    }

    /// Whether the node keeps the order of its domain's indices also where the items have come in any order: branches are joined by
    /// these indices, and a loop lets items enter by them.
    pub fn keeps_indices(&self) -> bool {
        self.branch > 0 || self.in_loop
    }

    /// The name of a unit: the names of its nodes, joined by `+`.
    pub fn unit_name(unit: &[Node]) -> String {
        unit.iter().map(|node| &*node.name).collect::<Vec<_>>().join(" + ")
    }

    /// Sets the name that people see.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Gives up order at this node.
    pub fn unordered(mut self) -> Self {
        self.ordered = false;
        self
    }

    /// Sets the most simultaneous calls.
    pub fn replicate(mut self, replicas: usize) -> Self {
        self.replicas = Some(replicas);
        self
    }

    /// Sets the state that the node keeps from one item to the next.
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

    /// Marks a source as one that never waits, so that its items may travel in blocks.
    pub fn in_blocks(mut self) -> Self {
        self.in_blocks = true;
        self
    }

    /// Marks the node as one that may return an error that ends the run.
    pub fn fallible(mut self) -> Self {
        self.fallible = true;
        self
    }

    /// Sets the mean time for an item, in nanoseconds.
    pub fn cost(mut self, nanoseconds: u64) -> Self {
        self.cost = Some(nanoseconds);
        self
    }

    /// Sets the part of the mean time for an item in which the thread waits and needs no processor, in
    /// nanoseconds.
    ///
    /// ```
    /// let fetch = anabranch_plan::Node::parallel("map").named("fetch").cost(2_000_000).waits(1_990_000);
    /// assert_eq!(fetch.waits, Some(1_990_000));
    /// ```
    pub fn waits(mut self, nanoseconds: u64) -> Self {
        self.waits = Some(nanoseconds);
        self
    }

    /// Sets how many items the node gives for those that it takes, on average. A filter that passes one item
    /// in four gives 1 for 4. A `flat_map` that makes ten items of each gives 10 for 1. `taken` must be at
    /// least 1.
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

/// The value of `ordered` in a text that leaves it out.
#[cfg(feature = "json")]
fn yes() -> bool {
    true
}

/// How many items a node gives for those that it takes, on average. It is a ratio of two counts, so the
/// counts of a run can be used directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Rate {
    /// The number of items that are given.
    pub given: u64,
    /// The number of items for which they are given. At least 1.
    pub taken: u64,
}

/// The role of a node: where it is in the plan, and whether it may run for several items at once.
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
    /// The name, such as `source`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Source => "source",
            Role::Parallel => "parallel",
            Role::Serial => "serial",
            Role::Sink => "sink",
        }
    }

    /// Whether the node may run for several items at once.
    pub fn is_parallel(self) -> bool {
        self == Role::Parallel
    }
}

/// The state that a node keeps from one item to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "json", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum State {
    /// No state: a call depends only on its item.
    #[default]
    None,
    /// A value for each worker, created and dropped on the worker's thread.
    PerWorker,
    /// A value for each replica, which one call at a time uses. Items of the same replica share it, in their
    /// order.
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
    /// A worker takes the next item when it is free.
    #[default]
    OnDemand,
    /// In turn, by index. The same worker gets the same items in every run.
    Dealt,
    /// Items with the same key go to the same worker.
    ByKey,
    /// A function of the user decides.
    Custom,
}
