//! A network that drops its processes if it is not run.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::{Error, Network};

/// A [`Network`] that [drops](Network::guarded) the captures of its processes if it is not run. It has the
/// methods of a network.
#[must_use = "a network does nothing until it is run"]
pub struct Guarded<'env, E: Send + 'env> {
    /// `None` only while the network is run or dropped.
    net: Option<Network<'env, E>>,
}

impl<'env, E: Send + 'env> Network<'env, E> {
    /// Makes the network drop the captures of its processes if it is dropped without having been run, for
    /// example because a `?` returns early while it is built.
    ///
    /// A network without a guard cannot do so: its processes may borrow data that was declared after it, and
    /// that is gone when the network is dropped. It closes its views, and keeps the captures of its processes
    /// for good, unless it is [run](Self::run) or [discarded](Self::discard). The processes of a guarded network
    /// borrow only data that was declared before it; views are moved into them.
    ///
    /// ```
    /// use anabranch_network::Network;
    ///
    /// # fn main() -> Result<(), String> {
    /// let mut sum = 0;
    /// let mut net = Network::new().workers(2).guarded();
    /// let (mut give, take) = net.record::<u64>(8);
    /// let most = "100".parse::<u64>().map_err(|error| error.to_string())?; // drops `net` if it fails
    /// net.process("count", move |_| Ok::<(), String>((0..most).for_each(|n| drop(give.push(n)))));
    /// net.process("sum", |_| Ok(sum += take.sum::<u64>()));
    /// net.run().map_err(|error| error.to_string())?;
    /// assert_eq!(sum, 4_950);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The compiler refuses data that was declared later:
    ///
    /// ```compile_fail,E0597
    /// # use anabranch_network::Network;
    /// let mut net = Network::<String>::new().guarded();
    /// let words = vec!["a".to_string()];
    /// net.process("words", |_| Ok(drop(words.len())));
    /// net.run().unwrap();
    /// ```
    pub fn guarded(self) -> Guarded<'env, E> {
        Guarded { net: Some(self) }
    }
}

impl<'env, E: Send + 'env> Guarded<'env, E> {
    /// Runs the network. See [`Network::run`].
    ///
    /// # Errors
    /// As [`Network::run`].
    ///
    /// # Panics
    /// As [`Network::run`].
    pub fn run(mut self) -> Result<(), Error<E>> {
        self.net.take().map_or(Ok(()), Network::run)
    }
}

impl<'env, E: Send + 'env> Deref for Guarded<'env, E> {
    type Target = Network<'env, E>;

    fn deref(&self) -> &Self::Target {
        self.net.as_ref().expect("the network is there until it is run")
    }
}

impl<'env, E: Send + 'env> DerefMut for Guarded<'env, E> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.net.as_mut().expect("the network is there until it is run")
    }
}

impl<'env, E: Send + 'env> Drop for Guarded<'env, E> {
    fn drop(&mut self) {
        if let Some(net) = self.net.take() {
            net.discard();
        }
    }
}

impl<'env, E: Send + 'env> fmt::Debug for Guarded<'env, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guarded").field(&self.net).finish()
    }
}
