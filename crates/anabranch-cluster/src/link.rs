//! The connection of a program, with its thread.

use std::fmt;
use std::future::Future;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{self, Handle};
use tokio::sync::{mpsc, oneshot};

use crate::address::Address;
use crate::error::Error;
use crate::options::ClusterOptions;
use crate::wire::{self, Line};

/// How long the end of a program waits for the server.
const GOODBYE: Duration = Duration::from_secs(1);

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
    pub(crate) fn new(url: &str, options: ClusterOptions) -> Result<Self, Error> {
        let address = Address::parse(url)?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Thread)?;
        let line = runtime.block_on(wire::connect(&address, &options, options.wait.unwrap_or_default()))?;
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
