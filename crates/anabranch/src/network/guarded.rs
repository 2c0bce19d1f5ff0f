//! A network that drops its processes if it is not run.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::{Error, Network};

/// A [`Network`] that [drops](Network::guarded) the captures of its processes if it is not run. It has the
/// methods of a network.
#[must_use = "a network does nothing until it is run"]
pub struct Guarded<'env, E: Send + 'env> {
    /// `None` only while the network is run or dropped.
    pub(super) net: Option<Network<'env, E>>,
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
