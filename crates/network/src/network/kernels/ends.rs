//! The ends of records whose types are known only by name, and how they become the ports of a kernel.

use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use crate::plan::{Flow, ItemType};
use crate::record::Dealt;

use super::KernelError;
use crate::network::{
    Horizon,
    contents::Contents,
    ports::{Input, Output, Ports},
    reader::Reader,
    records::Side,
    writer::Writer,
};

/// A reader or a writer of a record, with the rates of its edge.
pub(super) struct End {
    pub(super) view: Box<dyn Any>,
    pub(super) flow: Flow,
    /// The name of the items' type.
    pub(super) item: String,
}

/// The ends of a node's records on one side, in the order of its edges.
pub struct Ends {
    ends: VecDeque<End>,
    side: Side,
    /// How many ends there were.
    count: usize,
}

impl Ends {
    pub(super) fn new(side: Side, ends: VecDeque<End>) -> Self {
        Self { side, count: ends.len(), ends }
    }

    /// Makes all ends the ports of a kernel.
    pub(super) fn fill<P: KernelPorts>(&mut self) -> Result<P, KernelError> {
        let ports = P::from_ends(self)?;
        if self.ends.is_empty() {
            return Ok(ports);
        }
        let taken = self.count - self.ends.len();
        Err(format!("{} edges are its {}, but the kernel has {taken}", self.count, self.what()).into())
    }

    fn what(&self) -> &'static str {
        match self.side {
            Side::Readers => "inputs",
            Side::Writers => "outputs",
        }
    }

    /// The next end, as a view of items of type `T`.
    fn take<V: 'static, T>(&mut self) -> Result<(V, Flow), KernelError> {
        let at = self.count - self.ends.len();
        let Some(End { view, flow, item }) = self.ends.pop_front() else {
            return Err(
                format!("{} edges are its {}, but the kernel has more", self.count, self.what()).into()
            );
        };
        let view = view.downcast::<V>().map_err(|_| {
            let what = self.what().trim_end_matches('s');
            format!("its {what} {at} has items of {item}, but the kernel's are of {}", type_name::<T>())
        })?;
        Ok((*view, flow))
    }
}

impl fmt::Debug for Ends {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").field("count", &self.count).finish_non_exhaustive()
    }
}

/// The inputs or outputs of a kernel: `()`, an [`Input`] or [`Output`], or a tuple or vector of these.
pub trait KernelPorts: Ports + Sized {
    #[doc(hidden)]
    fn from_ends(ends: &mut Ends) -> Result<Self, KernelError>;

    /// Notes the types of the items.
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn kinds<'env, E: Send + 'env>(kinds: &mut Kinds<'env, E>);
}

/// The types of items by name.
pub(super) type Kinds<'env, E> = BTreeMap<String, ItemKind<'env, E>>;

impl<T: Send + 'static> KernelPorts for Input<T> {
    fn from_ends(ends: &mut Ends) -> Result<Self, KernelError> {
        let (reader, flow) = ends.take::<Reader<T>, T>()?;
        Ok(reader.consumes(flow.consumes).peeks(flow.sees()))
    }

    #[allow(private_interfaces)]
    fn kinds<'env, E: Send + 'env>(kinds: &mut Kinds<'env, E>) {
        kinds.insert(type_name::<T>().to_owned(), ItemKind::of::<T>());
    }
}

impl<T: Send + 'static> KernelPorts for Output<T> {
    fn from_ends(ends: &mut Ends) -> Result<Self, KernelError> {
        let (writer, flow) = ends.take::<Writer<T>, T>()?;
        Ok(writer.produces(flow.produces))
    }

    #[allow(private_interfaces)]
    fn kinds<'env, E: Send + 'env>(kinds: &mut Kinds<'env, E>) {
        kinds.insert(type_name::<T>().to_owned(), ItemKind::of::<T>());
    }
}

impl<P: KernelPorts> KernelPorts for Vec<P> {
    fn from_ends(ends: &mut Ends) -> Result<Self, KernelError> {
        let mut ports = Vec::new();
        while !ends.ends.is_empty() {
            ports.push(P::from_ends(ends)?);
        }
        Ok(ports)
    }

    #[allow(private_interfaces)]
    fn kinds<'env, E: Send + 'env>(kinds: &mut Kinds<'env, E>) {
        P::kinds(kinds);
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: KernelPorts),*> KernelPorts for ($($name,)*) {
            #[allow(clippy::unused_unit, unused_variables)]
            fn from_ends(ends: &mut Ends) -> Result<Self, KernelError> {
                Ok(($($name::from_ends(ends)?,)*))
            }

            #[allow(private_interfaces, unused_variables)]
            fn kinds<'env, Err: Send + 'env>(kinds: &mut Kinds<'env, Err>) {
                $($name::kinds(kinds);)*
            }
        }
    };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D F);
tuples!(A B C D F G);

/// Makes items that are in a record from the start.
pub(super) struct Filler<T>(Box<dyn Fn(usize) -> Vec<T> + Send + Sync>);

impl<T: Clone + Send + Sync + 'static> Filler<T> {
    pub(super) fn of(value: T) -> Self {
        Self(Box::new(move |count| vec![value.clone(); count]))
    }
}

/// For a type of items, its [`Filler`].
pub(super) type Initial = HashMap<TypeId, Box<dyn Any + Send + Sync>>;
/// Items whose type is not known.
type Items = Vec<Box<dyn Any>>;
type MakeRecord<'env, E> = fn(&Contents<'env, E>, Horizon, Copies, Items) -> Sides;

/// The functions of a type of items by which records of it are made.
pub(super) struct ItemKind<'env, E> {
    pub(super) size: usize,
    make: MakeRecord<'env, E>,
    fill: fn(&Initial, usize) -> Option<Items>,
}

/// The views of a record: its writers and its readers.
pub(super) type Sides = (Vec<Box<dyn Any>>, Vec<Box<dyn Any>>);

/// How the indices of a record are dealt to the copies of the rules at its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copies {
    /// How many copies write, and how many items each of them writes in its turn.
    pub(super) writers: (usize, usize),
    pub(super) readers: (usize, usize),
}

impl<'env, E: Send + 'env> ItemKind<'env, E> {
    fn of<T: Send + 'static>() -> Self {
        let fill = |initial: &Initial, count: usize| {
            let filler = initial.get(&TypeId::of::<T>())?.downcast_ref::<Filler<T>>()?;
            Some((filler.0)(count).into_iter().map(|item| Box::new(item) as Box<dyn Any>).collect())
        };
        Self { size: size_of::<T>(), make: make::<T, E>, fill }
    }

    /// Makes a record with these items to begin with.
    pub(super) fn make(
        &self,
        contents: &Contents<'env, E>,
        horizon: Horizon,
        copies: Copies,
        items: Items,
    ) -> Sides {
        (self.make)(contents, horizon, copies, items)
    }

    /// Makes items to begin with. `None` if their value is not known.
    pub(super) fn fill(&self, initial: &Initial, count: usize) -> Option<Items> {
        if count == 0 { Some(Vec::new()) } else { (self.fill)(initial, count) }
    }

    /// A complaint about the type that an edge names.
    pub(super) fn misfit(&self, item: &ItemType) -> Option<String> {
        (self.size != item.size)
            .then(|| format!("has items of {} bytes, but a {} has {}", item.size, item.name, self.size))
    }
}

fn make<'env, T: Send + 'static, E: Send + 'env>(
    contents: &Contents<'env, E>,
    horizon: Horizon,
    copies: Copies,
    items: Items,
) -> Sides {
    let boxed = |writers: Vec<Writer<T>>, readers: Vec<Reader<T>>| {
        let writers = writers.into_iter().map(|view| Box::new(view) as Box<dyn Any>).collect();
        (writers, readers.into_iter().map(|view| Box::new(view) as Box<dyn Any>).collect())
    };
    if copies.writers.0 == 1 && copies.readers.0 == 1 {
        let items =
            items.into_iter().filter_map(|item| item.downcast::<T>().ok()).map(|item| *item).collect();
        let (writer, reader) = contents.record(horizon, items);
        return boxed(vec![writer], vec![reader]);
    }
    let dealt =
        |(copies, range): (usize, usize)| if copies == 1 { Dealt::one() } else { Dealt::of(copies, range) };
    let (writers, readers) = contents.shared(horizon, dealt(copies.writers), dealt(copies.readers));
    boxed(writers, readers)
}
