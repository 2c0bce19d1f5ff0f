//! The connection of a program.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{ADDRESS, Error};
use crate::function::Function;
use crate::functions::{Functions, Named};
use crate::journal::Journal;
use crate::link::Link;
use crate::options::ClusterOptions;
use crate::program::Run;

/// The place where the functions of a program run: the workers of a server, or here. Its clones are the same cluster.
///
/// A cluster has one thread for its connection. It ends when the last [`Function`] of the cluster is dropped.
#[derive(Debug, Clone)]
pub struct Cluster {
    link: Option<Arc<Link>>,
}

impl Cluster {
    /// Functions run in this process, on the threads of the stream. Nothing is encoded or sent, and results and failures are the
    /// same.
    pub fn local() -> Self {
        Self { link: None }
    }

    /// Connects to the server at the address in the environment variable `ANABRANCH_CLUSTER`. If it is unset or empty, functions
    /// run here: [`Cluster::local`].
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect).
    pub fn from_env() -> Result<Self, Error> {
        match std::env::var(ADDRESS) {
            Ok(url) if !url.is_empty() => Self::connect(&url),
            _ => Ok(Self::local()),
        }
    }

    /// Connects to a NATS server with JetStream, such as `nats://build:4222`. Several addresses of one cluster of servers are
    /// separated by commas.
    ///
    /// # Errors
    /// If no server answers, it does not accept the credentials, or it has no JetStream.
    pub fn connect(url: &str) -> Result<Self, Error> {
        Self::connect_with(url, ClusterOptions::new())
    }

    /// Connects with settings.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect). Also if a file that the settings name cannot be read.
    pub fn connect_with(url: &str, options: ClusterOptions) -> Result<Self, Error> {
        Ok(Self { link: Some(Arc::new(Link::new(url, options)?)) })
    }

    /// Whether functions run in this process.
    pub fn is_local(&self) -> bool {
        self.link.is_none()
    }

    /// A function of a set, to be called by streams. On a server it gets a queue of its own, which is deleted when the last clone of
    /// the function is dropped.
    ///
    /// # Errors
    /// If the set has no function of this name and these types, or the server makes no queue.
    pub fn function<T, U, E>(
        &self,
        functions: &Functions,
        name: impl Into<Named<T, U, E>>,
    ) -> Result<Function<T, U, E>, Error>
    where
        T: Serialize + DeserializeOwned + 'static,
        U: Serialize + DeserializeOwned + 'static,
        E: Serialize + DeserializeOwned + 'static,
    {
        let name = name.into();
        let name = name.name();
        let Some(link) = &self.link else { return Function::here(functions, name) };
        // The types are checked here, too.
        let (_, signature) = functions.typed::<T, U, E>(name)?;
        Ok(Function::away(Run::start(link, functions, name)?, &signature))
    }

    /// Opens a journal, or creates it.
    ///
    /// `key` says what the program computes, such as the names of its input and its settings. A journal that was created with another
    /// key is refused, so that no program goes on where another one was. One that was created without a key, by an earlier version, is
    /// taken.
    ///
    /// # Errors
    /// If the file cannot be opened or read, is something else, has another key, or if another program has it open.
    pub fn journal(&self, path: impl AsRef<Path>, key: impl AsRef<[u8]>) -> Result<Journal, Error> {
        Journal::open(path.as_ref(), key.as_ref())
    }
}
