//! The error of a network.

use std::fmt;

use super::deadlock::Deadlock;

/// The reason why [`Network::run`](super::Network::run) has failed.
#[derive(Debug)]
pub struct Error<E>(Kind<E>);

#[derive(Debug)]
enum Kind<E> {
    Failure { process: String, error: E },
    Deadlock(Box<Deadlock>),
    Misuse(String),
}

impl<E> Error<E> {
    pub(super) fn failed(process: &str, error: E) -> Self {
        Self(Kind::Failure { process: process.into(), error })
    }

    pub(super) fn deadlocked(deadlock: Deadlock) -> Self {
        Self(Kind::Deadlock(Box::new(deadlock)))
    }

    pub(super) fn misused(message: String) -> Self {
        Self(Kind::Misuse(message))
    }

    /// The name of the process that has failed, and its error. If several processes have failed independently
    /// of one another, it is the one that was created first. `None` if no process has failed.
    pub fn failure(&self) -> Option<(&str, &E)> {
        match &self.0 {
            Kind::Failure { process, error } => Some((process, error)),
            Kind::Deadlock(_) | Kind::Misuse(_) => None,
        }
    }

    /// Like [`failure`](Self::failure), but returns the name and the error by value.
    ///
    /// # Errors
    /// If no process has failed, this value is returned unchanged.
    pub fn into_failure(self) -> Result<(String, E), Self> {
        match self.0 {
            Kind::Failure { process, error } => Ok((process, error)),
            Kind::Deadlock(_) | Kind::Misuse(_) => Err(self),
        }
    }

    /// Whether the network was in a deadlock.
    pub fn is_deadlock(&self) -> bool {
        self.deadlock().is_some()
    }

    /// The deadlock, if there was one: which process waited for what.
    pub fn deadlock(&self) -> Option<&Deadlock> {
        match &self.0 {
            Kind::Deadlock(deadlock) => Some(deadlock),
            Kind::Failure { .. } | Kind::Misuse(_) => None,
        }
    }
}

impl<E: fmt::Display> fmt::Display for Error<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Failure { process, error } => write!(f, "process \"{process}\" failed: {error}"),
            Kind::Deadlock(deadlock) => deadlock.fmt(f),
            Kind::Misuse(message) => f.write_str(message),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for Error<E> {}
