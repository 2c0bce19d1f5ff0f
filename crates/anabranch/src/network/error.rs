//! Why a network has failed.

use std::fmt;

use super::deadlock::Deadlock;

/// Why [`Network::run`](super::Network::run) did not end well.
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

    /// The name of the process that failed, and with what. Of several that failed independently of one another, it is
    /// the one that was created first.
    pub fn failure(&self) -> Option<(&str, &E)> {
        match &self.0 {
            Kind::Failure { process, error } => Some((process, error)),
            Kind::Deadlock(_) | Kind::Misuse(_) => None,
        }
    }

    /// As [`failure`](Self::failure), by value.
    ///
    /// # Errors
    /// The error itself, if no process has failed.
    pub fn into_failure(self) -> Result<(String, E), Self> {
        match self.0 {
            Kind::Failure { process, error } => Ok((process, error)),
            Kind::Deadlock(_) | Kind::Misuse(_) => Err(self),
        }
    }

    /// Whether the network stood still while processes waited for one another.
    pub fn is_deadlock(&self) -> bool {
        self.deadlock().is_some()
    }

    /// Who waited for what, if it was a deadlock.
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
