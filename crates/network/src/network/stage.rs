//! Stages of a stream as a part of a network.

use std::sync::Arc;

use crate::plan::Node;

use super::inlet::{Inlet, Outflow, Outlet};
use super::{Here, Network, Reader, Writer};
use anabranch::host::{self, Feed};
use anabranch::{May, Mode, Stream, Sure};

/// A mode whose failures a network with the error `E` can have.
#[diagnostic::on_unimplemented(
    message = "these stages fail with an error that the network's `{E}` cannot be made from",
    note = "to convert the error, end the stages with `.map_err(..)`"
)]
pub trait FailsInto<E>: Mode {
    /// The result of a process that has run a stream in this mode.
    #[doc(hidden)]
    fn result(output: Self::Output<bool>) -> Result<(), E>;
}

impl<E> FailsInto<E> for Sure {
    fn result(_: bool) -> Result<(), E> {
        Ok(())
    }
}

impl<X: Send, E: From<X>> FailsInto<E> for May<X> {
    fn result(output: Result<bool, X>) -> Result<(), E> {
        output.map(drop).map_err(E::from)
    }
}

impl<'env, E: Send + 'env> Network<'env, E> {
    /// Adds stages of a stream: what `take` reads goes through them, and `give` writes their results. The stages run on the
    /// workers of the stream, which is a stream of its own with its own settings.
    ///
    /// The stream keeps its contract, so the network stays deterministic. It ends when the record that `take` reads has
    /// ended, when the stages need no more items, or when nobody reads what `give` writes. If it fails, the network
    /// fails.
    ///
    /// Two processes hand the items over, `name` and one that is called `to` and the name. As many items as `take` has a
    /// horizon wait before the stream. A deadlock in which the stream takes part is detected like any other: the network
    /// sees when all threads of the stream wait. Items that the stages keep to themselves, and the room in the stream's
    /// window, do not count as room of a record.
    ///
    /// ```
    /// use anabranch_network::Network;
    ///
    /// let mut net = Network::<String>::new();
    /// let (mut give, texts) = net.record::<&str>(8);
    /// let (numbers, mut take) = net.record::<u64>(8);
    /// let mut sum = 0;
    /// net.process("texts", move |_| Ok(drop(["1", "20", "300"].map(|text| give.push(text)))));
    /// net.stage("parse", texts, numbers, |texts| {
    ///     texts.workers(2).try_map(|text| text.parse::<u64>().map_err(|_| format!("{text} is no number")))
    /// });
    /// net.process("sum", |_| Ok(sum += take.by_ref().sum::<u64>()));
    /// net.run().unwrap();
    /// assert_eq!(sum, 321);
    /// ```
    pub fn stage<T, V, M, F>(&mut self, name: &str, take: Reader<T>, give: Writer<V>, stages: F)
    where
        T: Send + 'env,
        V: Send + 'env,
        M: FailsInto<E> + Mode<Error: 'env>,
        F: FnOnce(Stream<'env, T>) -> Stream<'env, V, M> + Send + 'env,
    {
        let feeder = self.parts.contents.new_process(Node::process(format!("to {name}")));
        let runner = self.parts.contents.new_process(Node::process(name.to_owned()));
        let inlet = Inlet::new(&self.parts.contents, &feeder, &runner, take.horizon());
        let mut outlet = Outlet::new(give, &inlet.link);
        let feed = Arc::clone(&inlet.link) as Arc<dyn Feed>;
        let items = host::stream(Outflow(Arc::clone(&inlet)), "stage", feed);
        let feed = move |_: &Here<'_, 'env, E>| {
            for item in take {
                if !inlet.put(item) {
                    break; // the stream has ended
                }
            }
            Ok(())
        };
        let run =
            move |_: &Here<'_, 'env, E>| M::result(stages(items).any(|result| outlet.push(result).is_err()));
        self.parts.processes.push((feeder, Box::new(feed)));
        self.parts.processes.push((runner, Box::new(run)));
    }
}
