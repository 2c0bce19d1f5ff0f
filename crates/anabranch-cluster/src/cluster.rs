//! The connection of a program.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{self, Handle};
use tokio::sync::{mpsc, oneshot};

use crate::address::Address;
use crate::error::Error;
use crate::function::Function;
use crate::functions::{Functions, Named};
use crate::options::ClusterOptions;
use crate::program::Run;
use crate::wire::{self, Line};

/// The environment variable with the address of the server, for [`Cluster::from_env`].
pub const ADDRESS: &str = "ANABRANCH_CLUSTER";

/// How long the end of a program waits for the server.
const GOODBYE: Duration = Duration::from_secs(1);

/// Where the functions of a program run: on the workers of a server, or here. Its clones are the same cluster.
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
}

/// A connection and its thread.
pub(crate) struct Link {
    pub(crate) address: Address,
    pub(crate) options: ClusterOptions,
    pub(crate) line: Line,
    runtime: Handle,
    /// The end of the thread: it waits until the tasks have dropped their senders.
    ends: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    tasks: mpsc::Sender<()>,
}

impl Link {
    fn new(url: &str, options: ClusterOptions) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Thread)?;
        let line = runtime.block_on(Line::connect(&address, &options, options.wait.unwrap_or_default()))?;
        runtime.spawn(wire::sweep(line.clone()));
        let handle = runtime.handle().clone();
        let (tasks, mut left) = mpsc::channel(1);
        let (end, ended) = oneshot::channel();
        let goodbye = line.clone();
        let life = async move {
            let _ = ended.await;
            let last = async {
                // All tasks have ended when the last sender is gone.
                while left.recv().await.is_some() {}
                let _ = goodbye.bodies.flush().await;
                let _ = goodbye.beats.flush().await;
            };
            let _ = tokio::time::timeout(GOODBYE, last).await;
        };
        let thread = thread::Builder::new()
            .name("anabranch-cluster".to_owned())
            .spawn(move || runtime.block_on(life))
            .map_err(Error::Thread)?;
        Ok(Self { address, options, line, runtime: handle, ends: Some((end, thread)), tasks })
    }

    /// Waits for a future on the thread of the connection.
    pub(crate) fn wait<F>(&self, future: F) -> F::Output
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (done, result) = std::sync::mpsc::sync_channel(1);
        self.runtime.spawn(async move {
            let _ = done.send(future.await);
        });
        result.recv().expect("the thread lives as long as the link")
    }

    /// Starts a task. The thread lives until it has ended, but not longer than a second behind the end of the link.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let counted = self.tasks.clone();
        self.runtime.spawn(async move {
            task.await;
            drop(counted);
        });
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The receiver waits until no sender is left, and this one never sends.
        self.tasks = mpsc::channel(1).0;
        if let Some((end, thread)) = self.ends.take() {
            let _ = end.send(());
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Link").field(&self.address).finish()
    }
}
