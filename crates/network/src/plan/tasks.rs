//! From dependent tasks to processes.
//!
//! A loop whose body is a list of tasks, each of which reads and writes named values, is a graph of dependences.
//! A runtime of tasks makes every task anew in every iteration, and finds its dependences anew. Here each task
//! becomes one firing rule that lives as long as the loop, and each dependence becomes a record (C. Miranda and
//! others, *Erbium*, CASES 2010, section 7, for the tasks of OpenMP).
//!
//! Only true dependences are left. If two tasks write one value, each write has a place of its own in a
//! record, so that iterations overlap.

use std::collections::BTreeMap;
use std::fmt;

use crate::plan::{Flow, ItemType, Machine, Node, NodeId, Plan};
use anabranch_plan::drawing::plain;

/// A loop over tasks that depend on one another through named values. It becomes a network by
/// [`to_network`](Self::to_network).
///
/// ```
/// use anabranch_network::plan::Tasks;
/// use anabranch_network::plan::{ItemType, Node};
///
/// let mut body = Tasks::new();
/// body.value("samples", ItemType::of::<f32>()).value("gain", ItemType::of::<f32>());
/// body.task(Node::rule("read"), &[], &["samples"]);
/// body.task(Node::rule("scale"), &["samples", "gain"], &["samples"]); // the gain of the iteration before
/// body.task(Node::rule("measure"), &["samples"], &["gain"]);
/// let (plan, notes) = body.to_network(2)?;
/// assert_eq!(plan.edges.len(), 3);
/// assert!(notes.iter().any(|note| note.contains("of the iteration before")));
/// # Ok::<(), anabranch_network::plan::TaskError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    values: BTreeMap<String, ItemType>,
    tasks: Vec<Task>,
}

#[derive(Clone, Debug)]
struct Task {
    node: Node,
    reads: Vec<String>,
    writes: Vec<String>,
}

/// The reason why tasks do not make a network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// A task names a value that was not declared.
    UnknownValue {
        /// The task.
        task: String,
        /// The value.
        value: String,
    },
    /// A task reads a value that no task writes.
    NeverWritten {
        /// The task.
        task: String,
        /// The value.
        value: String,
    },
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TaskError::UnknownValue { task, value } => write!(
                f,
                "task `{}` names the value `{}`, which was not declared: declare it with Tasks::value",
                plain(task),
                plain(value)
            ),
            TaskError::NeverWritten { task, value } => write!(
                f,
                "task `{}` reads the value `{}`, which no task writes: add the task that makes it",
                plain(task),
                plain(value)
            ),
        }
    }
}

impl std::error::Error for TaskError {}

/// A true dependence: `reader` reads what `writer` has written.
struct Dependence<'t> {
    writer: usize,
    reader: usize,
    value: &'t str,
    /// Whether the value was written in the iteration before.
    is_carried: bool,
}

impl Tasks {
    /// Creates a loop without tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a value and its type.
    pub fn value(&mut self, name: &str, item: ItemType) -> &mut Self {
        self.values.insert(name.into(), item);
        self
    }

    /// Adds a task to the end of the body. `node` names its kernel.
    ///
    /// The inputs of the kernel are `reads`, in this order. It has an output for each reader of each value that
    /// it writes, in the order in which the body reads them.
    pub fn task(&mut self, node: Node, reads: &[&str], writes: &[&str]) -> &mut Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        self.tasks.push(Task { node, reads: names(reads), writes: names(writes) });
        self
    }

    /// The true dependences, in the order in which the body reads.
    fn dependences(&self) -> Result<Vec<Dependence<'_>>, TaskError> {
        let mut dependences = Vec::new();
        for (reader, task) in self.tasks.iter().enumerate() {
            let name = || task.node.name.clone().into_owned();
            let unknown = |value: &&String| !self.values.contains_key(*value);
            if let Some(value) = task.reads.iter().chain(&task.writes).find(unknown) {
                return Err(TaskError::UnknownValue { task: name(), value: value.clone() });
            }
            for value in &task.reads {
                let writes = |at: &usize| self.tasks[*at].writes.contains(value);
                let before = (0..reader).rev().find(writes);
                // Otherwise the last write of the iteration before counts.
                let Some(writer) = before.or_else(|| (0..self.tasks.len()).rev().find(writes)) else {
                    return Err(TaskError::NeverWritten { task: name(), value: value.clone() });
                };
                dependences.push(Dependence { writer, reader, value, is_carried: before.is_none() });
            }
        }
        Ok(dependences)
    }

    /// Makes a network whose rules are the tasks, each in a unit of its own, and says what it did and why. A value
    /// of the iteration before becomes a delay of one item.
    ///
    /// # Errors
    /// A value is not declared, or is read and not written.
    pub fn to_network(&self, workers: usize) -> Result<(Plan, Vec<String>), TaskError> {
        self.lower(workers, true)
    }

    /// Like [`to_network`](Self::to_network), but all tasks share a unit: one worker at a time runs the body, as
    /// the loop does. The items are the same.
    ///
    /// # Errors
    /// As for [`to_network`](Self::to_network).
    pub fn to_one_unit(&self, workers: usize) -> Result<Plan, TaskError> {
        self.lower(workers, false).map(|(plan, _)| plan)
    }

    /// The network as text, with the notes.
    ///
    /// # Errors
    /// As for [`to_network`](Self::to_network).
    pub fn explain(&self, workers: usize, machine: &Machine) -> Result<String, TaskError> {
        let (plan, notes) = self.to_network(workers)?;
        let mut text = plan.explain_on(machine) + "\nProcesses\n";
        notes.iter().for_each(|note| text += &format!("  {note}\n"));
        Ok(text)
    }

    fn lower(&self, workers: usize, splits: bool) -> Result<(Plan, Vec<String>), TaskError> {
        let dependences = self.dependences()?;
        let mut plan = Plan::network(workers);
        let ids: Vec<NodeId> = self.tasks.iter().map(|task| plan.rule(task.node.clone())).collect();
        if !splits {
            plan.nodes.iter_mut().for_each(|node| (node.unit, node.firings) = (0, Some(1)));
        }
        let name = |at: usize| plain(&self.tasks[at].node.name);
        let mut notes = Vec::new();
        for (at, task) in self.tasks.iter().enumerate() {
            notes.push(format!("task `{}` is a rule for the whole loop, and is not made anew", name(at)));
            for value in &task.writes {
                let others = (0..at).rev().find(|other| self.tasks[*other].writes.contains(value));
                if let Some(other) = others {
                    notes.push(format!(
                        "`{}` writes `{}` as `{}` does: each write has a place of its own, so neither waits for the \
                         readers of the other",
                        name(at),
                        plain(value),
                        name(other)
                    ));
                }
                let is_read = |dependence: &Dependence<'_>| {
                    dependence.writer == at && dependence.value == value.as_str()
                };
                if !dependences.iter().any(is_read) {
                    notes.push(format!(
                        "`{}` of `{}` has no record, because no task reads it",
                        plain(value),
                        name(at)
                    ));
                }
            }
        }
        for Dependence { writer, reader, value, is_carried } in dependences {
            let Some(item) = self.values.get(value) else { continue };
            let flow = Flow::of(1, 1).delay(usize::from(is_carried));
            plan.record(ids[writer], ids[reader], item.clone(), flow);
            let when =
                if is_carried { " of the iteration before, so one item is there at first" } else { "" };
            notes.push(format!(
                "`{}` gets `{}` from `{}`{when}: a record",
                name(reader),
                plain(value),
                name(writer)
            ));
        }
        Ok((plan, notes))
    }
}
