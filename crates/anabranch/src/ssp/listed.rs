//! The stages that a `pipeline!` lists, one after the other.
//!
//! The first stage must know what the last one needs, so the line is built when all are listed. Each stage is an
//! argument of [`then`] or [`end`], as it stands in the program, behind the stages before it: the compiler then
//! knows which items it gets, and marks it if it takes others.

use std::marker::PhantomData;

use super::line::Line;
use super::pipeline::Pipeline;
use super::stages::{Kind, Stage};
use super::wish::Wish;
use super::{In, InOut};

/// The stages that were listed so far.
pub trait Listed: Sized {
    /// The items that are posted.
    type Posted: Send + 'static;
    /// The items that come out of the last of these stages.
    type Item: Send + 'static;

    /// Adds what these stages need to `wishes`.
    fn wishes(&self, wishes: &mut Vec<Wish>);

    /// Joins the stages to a line, of which `wishes` are all.
    fn join(self, wishes: &[Wish]) -> Line<Self::Posted, Self::Item>;
}

/// No stage yet.
#[derive(Debug)]
pub struct Opened<P>(PhantomData<fn() -> P>);

/// Some stages and another one, which gives items `V`.
#[derive(Debug)]
pub struct Then<L, S, K, V> {
    before: L,
    stage: Stage<S, K>,
    item: PhantomData<fn() -> V>,
}

impl<P: Send + 'static> Listed for Opened<P> {
    type Posted = P;
    type Item = P;

    fn wishes(&self, _: &mut Vec<Wish>) {}

    fn join(self, wishes: &[Wish]) -> Line<P, P> {
        Line::open(wishes)
    }
}

impl<L, S, K, V> Listed for Then<L, S, K, V>
where
    L: Listed,
    S: InOut<L::Item, V> + Send + 'static,
    K: Kind,
    V: Send + 'static,
{
    type Posted = L::Posted;
    type Item = V;

    fn wishes(&self, wishes: &mut Vec<Wish>) {
        self.before.wishes(wishes);
        wishes.push(self.stage.wish());
    }

    fn join(self, wishes: &[Wish]) -> Line<L::Posted, V> {
        K::join(self.stage, self.before.join(wishes))
    }
}

/// Begins a list of stages.
pub fn open<P: Send + 'static>() -> Opened<P> {
    Opened(PhantomData)
}

/// Adds a stage that is not the last one.
pub fn then<L, S, K, T, V>(before: L, stage: Stage<S, K>) -> Then<L, S, K, V>
where
    L: Listed<Item = T>,
    S: InOut<T, V> + Send + 'static,
    K: Kind,
    V: Send + 'static,
{
    Then { before, stage, item: PhantomData }
}

/// Adds the last stage and starts the pipeline.
pub fn end<L, S, K, P, T, R>((before,): (L,), stage: Stage<S, K>) -> Pipeline<P, R>
where
    L: Listed<Posted = P, Item = T>,
    P: Send + 'static,
    T: Send + 'static,
    S: In<T, R> + Send + 'static,
    K: Kind,
    R: Send + 'static,
{
    let mut wishes = Vec::new();
    before.wishes(&mut wishes);
    wishes.push(stage.wish());
    K::close(stage, before.join(&wishes))
}
