//! The description of a stream, as C has built it.

use std::ffi::c_int;
use std::fmt;
use std::sync::Mutex;

use anabranch::{CancelToken, Pool, TryStream};

use crate::border::{Code, Destroy, Failure, Given, Local, Owned, ProgressFn, Stage, WeighFn};

/// The kind of a stage: parallel or serial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The stage runs for several items at once.
    Parallel,
    /// The stage runs for one item at a time, in order.
    Serial,
}

/// A stage of the line.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) stage: Stage,
    pub(crate) name: Option<String>,
    /// The largest number of simultaneous calls.
    pub(crate) replicas: Option<usize>,
}

/// A stream of the user's items.
pub(crate) type Items<'env> = TryStream<'env, Owned, Failure>;

/// The threads and settings of a line whose items are sent.
pub(crate) struct Host<'h> {
    pub(crate) pool: &'h Pool,
    pub(crate) workers: usize,
    /// The number of items that may be in the stages.
    pub(crate) window: usize,
}

/// A function that runs a line.
pub(crate) type RunLine = for<'env> fn(&'env Line, Items<'env>, Option<Host<'env>>) -> Ended;

/// The settings of the user.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) title: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) workers: Option<usize>,
    pub(crate) window: Option<usize>,
    pub(crate) burst: Option<usize>,
    pub(crate) spin: bool,
    pub(crate) inline: bool,
    /// Whether the source never waits, so that its items can travel in blocks.
    pub(crate) in_blocks: bool,
    /// The function that runs the line and measures the run, if it is measured. Its code is large. A program that is
    /// linked with the static library has it only if it measures something, because nothing else refers to this
    /// function.
    pub(crate) measured: Option<RunLine>,
    pub(crate) traces: bool,
    /// The first stage that takes items in any order.
    pub(crate) unordered_from: Option<usize>,
    /// Destroys errors.
    pub(crate) error: Option<Destroy>,
    pub(crate) tokens: Vec<CancelToken>,
    pub(crate) progress: Option<Mutex<Code<ProgressFn>>>,
    pub(crate) weigher: Option<(u64, Code<WeighFn>)>,
}

impl Settings {
    /// The name of the source in plans and reports.
    pub(crate) fn source_name(&self) -> &str {
        self.source.as_deref().unwrap_or("source")
    }
}

/// The description of a stream, as C has built it.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) nodes: Vec<Node>,
    pub(crate) settings: Settings,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The first failure, in the order of the items.
    pub(crate) result: Result<(), Failure>,
    pub(crate) report: Option<ShowReport>,
}

/// Writes a report in one of the formats of the interface, if there is such a format of reports.
pub(crate) struct ShowReport(pub(crate) Box<dyn Fn(c_int) -> Option<String> + Send>);

impl fmt::Debug for ShowReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShowReport")
    }
}

/// Neighbouring parallel stages, which run as one unit.
#[derive(Debug)]
pub(crate) struct Group<'l> {
    pub(crate) nodes: &'l [Node],
    pub(crate) unordered: bool,
    error: Option<Destroy>,
}

impl Group<'_> {
    pub(crate) fn locals(&self) -> Vec<Local> {
        self.nodes.iter().map(|node| node.stage.local()).collect()
    }

    pub(crate) fn call(&self, locals: &mut [Local], mut item: Owned) -> Given {
        for (node, local) in self.nodes.iter().zip(locals) {
            match node.stage.call(local, item, self.error)? {
                Some(given) => item = given,
                None => return Ok(None),
            }
        }
        Ok(Some(item))
    }

    pub(crate) fn name(&self) -> String {
        let names = self.nodes.iter().map(|node| node.name.as_deref().unwrap_or("map"));
        names.collect::<Vec<_>>().join(" + ")
    }

    pub(crate) fn replicas(&self) -> Option<usize> {
        self.nodes[0].replicas
    }
}

/// A serial stage. Between two groups with different limits of simultaneous calls, it may be an empty stage.
#[derive(Debug)]
pub(crate) struct Border<'l> {
    node: Option<&'l Node>,
    pub(crate) unordered: bool,
    error: Option<Destroy>,
}

impl Border<'_> {
    pub(crate) fn name(&self) -> &str {
        self.node.map_or("hand over", |node| node.name.as_deref().unwrap_or("serial_map"))
    }

    pub(crate) fn call(&mut self, item: Owned) -> Given {
        match self.node {
            Some(node) => node.stage.call(&mut Local::none(), item, self.error),
            None => Ok(Some(item)),
        }
    }
}

/// A group, if there is one, and the serial stage behind it. Only the last segment may have no serial stage.
pub(crate) type Segment<'l> = (Option<Group<'l>>, Option<Border<'l>>);

impl Line {
    /// Returns the stages, in the form that the builder can run.
    pub(crate) fn segments(&self) -> Vec<Segment<'_>> {
        let error = self.settings.error;
        let is_unordered = |at: usize| self.settings.unordered_from.is_some_and(|from| at >= from);
        let is_one_group = |a: &Node, b: &Node| {
            a.kind == Kind::Parallel && b.kind == Kind::Parallel && a.replicas == b.replicas
        };
        let mut segments: Vec<Segment<'_>> = Vec::new();
        let mut at = 0;
        for nodes in self.nodes.chunk_by(is_one_group) {
            // All stages of a unit have the same order. If the last stage gives up the order, the others do
            // too.
            let unordered = is_unordered(at + nodes.len() - 1);
            let border = |node| Some(Border { node, unordered, error });
            match (nodes[0].kind, segments.last_mut()) {
                (Kind::Serial, Some((_, open @ None))) => *open = border(Some(&nodes[0])),
                (Kind::Serial, _) => segments.push((None, border(Some(&nodes[0])))),
                (Kind::Parallel, last) => {
                    if let Some((_, open @ None)) = last {
                        *open = border(None);
                    }
                    segments.push((Some(Group { nodes, unordered, error }), None));
                }
            }
            at += nodes.len();
        }
        segments
    }

    /// Returns the number of threads that can work in the stages at the same time.
    pub(crate) fn useful_workers(&self, processors: usize) -> usize {
        let replicas = |node: &Node| match node.kind {
            Kind::Serial => 1,
            Kind::Parallel => node.replicas.unwrap_or(processors),
        };
        let most = self.nodes.iter().map(replicas).max().unwrap_or(1);
        let all = self.nodes.iter().map(replicas).fold(0, usize::saturating_add);
        most.max(all.min(processors))
    }
}
