//! The branches of a fork as types: a list of their ends, and the ways to join what they give.

use std::convert::Infallible;
use std::fmt;

use anabranch_record::lane::{Cell, Stop, Watch};

use super::fork::Deal;
use super::join::{BranchEnd, Combine, Ends, Port, Ports};
use crate::engine::Assembly;
use crate::operators::Route;

/// The last of a list of branches, and the list of those before it. It gives items `V`.
pub struct Branch<'env, L, V: Send> {
    pub(crate) before: L,
    pub(crate) end: BranchEnd<'env, V>,
}

impl<L: fmt::Debug, V: Send> fmt::Debug for Branch<'_, L, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Branch").field("before", &self.before).finish_non_exhaustive()
    }
}

/// The same list in a line.
#[doc(hidden)]
pub struct BranchPort<P, V: Send> {
    before: P,
    port: Port<V>,
}

/// The results of the branches for an index: the last, and those before it. A branch that dropped the item has nothing.
#[derive(Debug)]
pub struct Got<P, V> {
    before: P,
    cell: Cell<V>,
}

impl<P, V: Send> fmt::Debug for BranchPort<P, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BranchPort")
    }
}

impl<'env> Ends<'env> for () {
    type Ports = ();

    #[allow(private_interfaces)]
    fn connect<'run>(self, _: &mut Assembly<'run>, _: usize)
    where
        'env: 'run,
    {
    }
}

impl<'env, L: Ends<'env>, V: Send + 'env> Ends<'env> for Branch<'env, L, V> {
    type Ports = BranchPort<L::Ports, V>;

    #[allow(private_interfaces)]
    fn connect<'run>(self, assembly: &mut Assembly<'run>, id: usize) -> Self::Ports
    where
        'env: 'run,
    {
        let before = self.before.connect(assembly, id);
        BranchPort { before, port: self.end.connect(assembly, id) }
    }
}

impl Ports for () {
    type Values = ();
    type Watches = ();

    fn are_ready(&mut self) -> bool {
        true
    }

    fn take(&mut self, _: &mut Option<Stop>) {}

    fn watch(&self) {}

    fn look((): &()) -> bool {
        true
    }
}

impl<P: Ports, V: Send> Ports for BranchPort<P, V> {
    type Values = Got<P::Values, V>;
    type Watches = (P::Watches, Watch<V>);

    #[inline]
    fn are_ready(&mut self) -> bool {
        self.before.are_ready() && self.port.is_ready()
    }

    #[inline]
    fn take(&mut self, stop: &mut Option<Stop>) -> Self::Values {
        let before = self.before.take(stop);
        Got { before, cell: self.port.take(stop) }
    }

    fn watch(&self) -> Self::Watches {
        (self.before.watch(), self.port.watch())
    }

    fn look((before, watch): &Self::Watches) -> bool {
        P::look(before) && watch.is_ready()
    }
}

/// Joins what all branches give for an item into a tuple.
#[derive(Debug)]
pub struct Zip(Infallible);

/// The tuple of one result of each branch.
pub trait Tuple: Sized {
    /// The tuple.
    type Out: Send;

    /// `None` if a branch has nothing.
    #[doc(hidden)]
    fn tuple(self) -> Option<Self::Out>;
}

impl<G: Tuple> Combine<G> for Zip {
    type Out = G::Out;

    #[inline]
    fn combine(got: G) -> Cell<G::Out> {
        Cell::of_one(got.tuple(), None)
    }
}

/// The list of what branches have, from the types of their results.
macro_rules! got {
    (@ $list:ty;) => { $list };
    (@ $list:ty; $first:ident $($rest:ident)*) => { got!(@ Got<$list, $first>; $($rest)*) };
    ($($types:ident)*) => { got!(@ (); $($types)*) };
}

macro_rules! tuples {
    ($($last:ident $($types:ident)*: $($before:ident)*;)*) => {$(
        impl<$last: Send $(, $types: Send)*> Tuple for got!($($types)* $last) {
            type Out = ($($types,)* $last,);

            #[inline]
            #[allow(non_snake_case)]
            fn tuple(self) -> Option<Self::Out> {
                let Got { before: rest, cell: $last } = self;
                $(let Got { before: rest, cell: $before } = rest;)*
                let () = rest;
                Some(($($types.into_items().next()?,)* $last.into_items().next()?,))
            }
        }
    )*};
}

// The types of a tuple with the last first, and those before the last from the last to the first.
tuples! {
    A: ;
    B A: A;
    C A B: B A;
    D A B C: C B A;
    F A B C D: D C B A;
    G A B C D F: F D C B A;
    H A B C D F G: G F D C B A;
    I A B C D F G H: H G F D C B A;
}

/// Joins what the branches give for an item into one sequence, branch after branch.
#[derive(Debug)]
pub struct Merge(Infallible);

/// A list of branches that all give items `V`.
pub trait AllOf<V> {
    /// The number of items that the branches have.
    #[doc(hidden)]
    fn items(&self) -> u64;

    /// Adds the items to `all`, in the order of the branches.
    #[doc(hidden)]
    fn gather(self, all: &mut Vec<V>);
}

impl<V> AllOf<V> for () {
    fn items(&self) -> u64 {
        0
    }

    fn gather(self, _: &mut Vec<V>) {}
}

impl<V: Send, P: AllOf<V>> AllOf<V> for Got<P, V> {
    #[inline]
    fn items(&self) -> u64 {
        self.before.items() + self.cell.len()
    }

    #[inline]
    fn gather(self, all: &mut Vec<V>) {
        self.before.gather(all);
        all.extend(self.cell.into_items());
    }
}

impl<V: Send, P: AllOf<V>> Combine<Got<P, V>> for Merge {
    type Out = V;

    #[inline]
    fn combine(got: Got<P, V>) -> Cell<V> {
        let items = got.items();
        if items == 0 {
            return Cell::Empty;
        }
        let mut all = Vec::with_capacity(items as usize);
        got.gather(&mut all);
        Cell::of(all, None)
    }
}

/// Joins branches of which each item goes to one.
#[derive(Debug)]
pub struct OneOf(Infallible);

/// A list of branches of which one at most has an item `V` for an index.
#[diagnostic::on_unimplemented(
    message = "these branches cannot be joined",
    label = "the branches give items of different types",
    note = "end each branch with a `map` into one type, for example an enum with a variant for each branch"
)]
pub trait AnyOf<V> {
    #[doc(hidden)]
    fn any(self) -> Option<V>;
}

impl<V> AnyOf<V> for () {
    fn any(self) -> Option<V> {
        None
    }
}

impl<V: Send, P: AnyOf<V>> AnyOf<V> for Got<P, V> {
    #[inline]
    fn any(self) -> Option<V> {
        let Self { before, cell } = self;
        before.any().or_else(|| cell.into_items().next())
    }
}

impl<V: Send, P: AnyOf<V>> Combine<Got<P, V>> for OneOf {
    type Out = V;

    #[inline]
    fn combine(got: Got<P, V>) -> Cell<V> {
        Cell::of_one(got.any(), None)
    }
}

/// Each branch gets each item.
#[derive(Debug)]
pub struct Broadcast;

impl<T: Clone> Deal<T> for Broadcast {
    #[inline]
    fn deal(&mut self, item: T, branches: &mut [Option<T>]) {
        if let Some((first, others)) = branches.split_first_mut() {
            for place in others {
                *place = Some(item.clone());
            }
            *first = Some(item);
        }
    }
}

/// One branch gets an item.
pub struct Split<R>(pub(crate) R);

impl<R> fmt::Debug for Split<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Split")
    }
}

impl<T, R: Route<T>> Deal<T> for Split<R> {
    #[inline]
    fn deal(&mut self, item: T, branches: &mut [Option<T>]) {
        let at = self.0.shard(&item) % branches.len();
        branches[at] = Some(item);
    }
}
