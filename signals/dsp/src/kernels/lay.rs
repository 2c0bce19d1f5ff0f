//! Networks whose stages turn slices into slices.

use std::ops::ControlFlow::{Break, Continue};

use anabranch_network::{All, Dealt, Horizon, Network, Reader, Writer};

use crate::slices::Joined;
use crate::{Error, Run};

/// The number of bursts that a record holds. A worker that is woken then has work for longer than the wake-up took.
const BURSTS: usize = 16;

/// A reader: the only one of its record, or one of several that all see every item.
pub(super) enum View<T> {
    Own(Reader<T>),
    Every(Reader<T, All>),
}

/// Adds stages and records to a network.
pub(super) struct Lay<'r, 'env> {
    pub(super) net: Network<'env, Error>,
    run: &'r Run,
}

impl<'r, 'env> Lay<'r, 'env> {
    pub(super) fn new(run: &'r Run) -> Self {
        Self { net: Network::new(), run }
    }

    /// A record for bursts of this number of items.
    pub(super) fn record<T: Send + 'env>(&mut self, name: &str, burst: usize) -> (Writer<T>, View<T>) {
        let (give, take) = self.net.record(Horizon::of(BURSTS * burst).named(name));
        (give, View::Own(take))
    }

    /// A record whose readers all see every item.
    pub(super) fn fork<T: Send + Sync + 'env>(
        &mut self,
        name: &str,
        burst: usize,
        readers: usize,
    ) -> (Writer<T>, Vec<View<T>>) {
        let (give, takes) = self.net.broadcast(Horizon::of(BURSTS * burst).named(name), readers);
        (give, takes.into_iter().map(View::Every).collect())
    }

    /// A record whose writers take turns, each with a burst.
    pub(super) fn join<T: Send + 'env>(
        &mut self,
        name: &str,
        burst: usize,
        writers: usize,
    ) -> (Vec<Writer<T>>, View<T>) {
        let (gives, take) = self.net.merge(Horizon::of(BURSTS * burst * writers).named(name), writers, burst);
        (gives, View::Own(take))
    }

    /// A record whose writers take turns, and whose readers all see every item.
    pub(super) fn cross<T: Send + Sync + 'env>(
        &mut self,
        name: &str,
        burst: usize,
        writers: usize,
        readers: usize,
    ) -> (Vec<Writer<T>>, Vec<View<T>>) {
        let horizon = Horizon::of(BURSTS * burst * writers).named(name);
        let (gives, takes) = self.net.shared(horizon, Dealt::of(writers, burst), All::of(readers));
        (gives, takes.into_iter().map(View::Every).collect())
    }

    /// A stage that writes a burst `firings` times.
    pub(super) fn source<T: Copy + Default + Send + 'static>(
        &mut self,
        name: &str,
        firings: u64,
        (give, burst): (Writer<T>, usize),
        mut code: impl FnMut(&mut [T]) + Send + 'env,
    ) {
        let (meter, mut joined, mut left) = (self.run.meters().stage(name), Joined::new(), firings);
        self.net.rule(name, (), give.produces(burst), move |(), to| {
            if left == 0 {
                return Ok(Break(()));
            }
            left -= 1;
            joined.write(to, |to| meter.time(|| code(to)));
            Ok(Continue(()))
        });
    }

    /// A stage that turns bursts into bursts.
    pub(super) fn stage<T: Copy + Default + Send + Sync + 'static, U: Copy + Default + Send + 'static>(
        &mut self,
        name: &str,
        (take, takes): (View<T>, usize),
        (give, gives): (Writer<U>, usize),
        mut code: impl FnMut(&[T], &mut [U]) + Send + 'env,
    ) {
        let meter = self.run.meters().stage(name);
        let (mut before, mut after) = (Joined::new(), Joined::new());
        let give = give.produces(gives);
        match take {
            View::Own(take) => self.net.rule(name, take.consumes(takes), give, move |from, to| {
                before.read(from, |from| after.write(to, |to| meter.time(|| code(from, to))));
                Ok(())
            }),
            View::Every(take) => self.net.rule(name, take.consumes(takes), give, move |from, to| {
                before.read(from, |from| after.write(to, |to| meter.time(|| code(from, to))));
                Ok(())
            }),
        }
    }

    /// A stage that reads bursts.
    pub(super) fn sink<T: Copy + Default + Send + Sync + 'static>(
        &mut self,
        name: &str,
        (take, takes): (View<T>, usize),
        mut code: impl FnMut(&[T]) + Send + 'env,
    ) {
        let (meter, mut joined) = (self.run.meters().stage(name), Joined::new());
        match take {
            View::Own(take) => self.net.rule(name, take.consumes(takes), (), move |from, ()| {
                joined.read(from, |from| meter.time(|| code(from)));
                Ok(())
            }),
            View::Every(take) => self.net.rule(name, take.consumes(takes), (), move |from, ()| {
                joined.read(from, |from| meter.time(|| code(from)));
                Ok(())
            }),
        }
    }
}
