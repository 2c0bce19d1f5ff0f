//! Kernels by name, and the network that a plan makes of them.

mod build;
mod ends;
mod error;
mod kernel;

pub use ends::{Ends, KernelPorts};
pub use error::{BuildError, KernelError};
pub use kernel::{Arguments, Firing};

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt;

use ends::{Initial, ItemKind};
use kernel::Kernel;

/// The records of a network may take this much memory, in bytes, if [`Kernels::most_bytes`] does not say
/// otherwise.
const MOST_BYTES: usize = 1 << 30;

/// Kernels of firing rules by their names. A [plan of a network](crate::plan) names kernels, rates
/// and delays, and [`build`](Self::build) makes a [`Network`](super::Network) of it that runs. So another
/// program, a compiler for example, can write a network as JSON (`Plan::from_json`).
///
/// Kernels may borrow for the lifetime `'env`, and fail with the error `E`.
///
/// ```
/// use anabranch_network::{Input, Kernels, Output};
/// use anabranch_network::plan::{Flow, ItemType, Node, Plan};
/// use std::ops::ControlFlow::{Break, Continue};
/// use std::sync::Mutex;
///
/// let seen = Mutex::new(Vec::new());
/// let mut kernels = Kernels::<String>::new();
/// kernels.rule::<(), Output<f32>>("ramp", |arguments| {
///     let mut numbers = 0..arguments.get::<u16>("count")?;
///     Ok(arguments.fires(move |(), out| {
///         let Some(n) = numbers.next() else { return Ok(Break(())) };
///         out.push(f32::from(n));
///         Ok(Continue(()))
///     }))
/// });
/// kernels.rule::<Input<f32>, Output<f32>>("mean", |arguments| {
///     Ok(arguments.fires(|window, out| Ok(out.push(window.iter().sum::<f32>() / window.len() as f32))))
/// });
/// kernels.rule::<Input<f32>, ()>("keep", |arguments| {
///     Ok(arguments.fires(|n, ()| Ok(seen.lock().unwrap().push(n[0]))))
/// });
///
/// let mut plan = Plan::network(2);
/// let ramp = plan.rule(Node::rule("ramp").with("count", 8));
/// let mean = plan.rule(Node::rule("mean"));
/// let keep = plan.rule(Node::rule("keep"));
/// plan.record(ramp, mean, ItemType::of::<f32>(), Flow::of(1, 2).peeks(4));
/// plan.record(mean, keep, ItemType::of::<f32>(), Flow::of(1, 1));
/// kernels.build(&plan)?.run().unwrap();
/// assert_eq!(*seen.lock().unwrap(), [1.5, 3.5, 5.5]);
/// # Ok::<(), anabranch_network::BuildError>(())
/// ```
pub struct Kernels<'env, E> {
    kernels: BTreeMap<String, Kernel<'env, E>>,
    /// The types of items that kernels read or write, by the names that edges use.
    items: BTreeMap<String, ItemKind<'env, E>>,
    /// For a type, a function that makes items that are there from the start.
    initial: Initial,
    most_bytes: usize,
}

impl<'env, E: Send + 'env> Kernels<'env, E> {
    /// Creates a registry without kernels.
    pub fn new() -> Self {
        Self {
            kernels: BTreeMap::new(),
            items: BTreeMap::new(),
            initial: Initial::new(),
            most_bytes: MOST_BYTES,
        }
    }

    /// Adds a kernel. `make` gets the parameters of a node, and makes the code of its firings with
    /// [`Arguments::fires`]. It is called once for each node, and for each copy of
    /// it.
    ///
    /// `I` and `O` are the inputs and outputs: `()`, an [`Input`](super::Input) or [`Output`](super::Output), or
    /// a tuple or vector of these. Their rates come from the edges of the node, in the order of the plan. A
    /// vector takes all edges that are left. Edges name the type of their items as
    /// [`ItemType::of`](crate::plan::ItemType::of) does.
    ///
    /// A kernel of the same name is replaced.
    pub fn rule<I, O>(
        &mut self,
        name: &str,
        make: impl Fn(&Arguments<'_, 'env, I, O, E>) -> Result<Firing<'env, I, O, E>, KernelError>
        + Send
        + Sync
        + 'env,
    ) -> &mut Self
    where
        I: KernelPorts + Send + 'env,
        O: KernelPorts + Send + 'env,
    {
        I::kinds(&mut self.items);
        O::kinds(&mut self.items);
        self.kernels.insert(name.to_owned(), Kernel::new::<I, O>(make));
        self
    }

    /// Sets the value of the items of type `T` that are in records from the start, because their edges have a
    /// delay.
    pub fn initial<T: Clone + Send + Sync + 'static>(&mut self, value: T) -> &mut Self {
        self.initial.insert(TypeId::of::<T>(), Box::new(ends::Filler::of(value)));
        self
    }

    /// Sets how much memory the records of a network may take, in bytes, without what the items own. It is
    /// 1 GiB if it is not set. A plan that asks for more is not built.
    pub fn most_bytes(&mut self, bytes: usize) -> &mut Self {
        self.most_bytes = bytes;
        self
    }

    /// The names of the kernels, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kernels.keys().map(String::as_str)
    }
}

impl<'env, E: Send + 'env> Default for Kernels<'env, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for Kernels<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernels").field("names", &self.kernels.keys()).finish_non_exhaustive()
    }
}
