//! The side that computes.

mod outbox;
mod pace;
mod runs;
mod serving;
mod threads;
mod work;

use std::fmt;
use std::future::{Future, pending};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures_util::future::FutureExt;
use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;

use crate::address::Address;
use crate::error::ADDRESS;
use crate::error::Error;
use crate::events::Event;
use crate::functions::Functions;
use crate::options::ClusterOptions;
use crate::wire::{self, Line};

use serving::Serving;
use threads::Threads;

/// How long a worker that is to end waits for a server that is away.
const WITHOUT_SERVER: Duration = Duration::from_secs(5);

/// How long a worker waits for a server that is not there yet.
const WAIT: Duration = Duration::from_secs(60);

/// The time between two looks at the connection meanwhile.
const LOOK: Duration = Duration::from_millis(100);

/// A process that runs the functions of programs. Any number of them serve a program, on any machine, and may come and go at any
/// time.
///
/// ```no_run
/// # use anabranch_cluster::{Functions, Worker};
/// # fn functions() -> Functions { Functions::new("thumbnails", "1.0") }
/// Worker::connect("nats://build:4222")?.threads(16).serve(functions())?;
/// # Ok::<(), anabranch_cluster::Error>(())
/// ```
///
/// # Trust
/// Items are data: they are decoded into the types of the functions, and no code comes with them. Everybody who may send messages to
/// the server can call the functions with any items. So a worker must trust all of them, as far as its functions can do harm. The
/// server's credentials and permissions decide who they are.
pub struct Worker {
    runtime: Runtime,
    line: Line,
    /// Without the credentials.
    address: String,
    options: ClusterOptions,
    threads: usize,
}

impl Worker {
    /// Connects to a NATS server with JetStream. A server that is not there yet is waited for, for a minute:
    /// [`ClusterOptions::wait_for_server`].
    ///
    /// # Errors
    /// If no server answers, it does not accept the credentials, or it has no JetStream.
    pub fn connect(url: &str) -> Result<Self, Error> {
        Self::connect_with(url, ClusterOptions::new())
    }

    /// Connects to the server at the address in the environment variable `ANABRANCH_CLUSTER`.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect). Also if the variable is not set.
    pub fn from_env() -> Result<Self, Error> {
        let url = std::env::var(ADDRESS).ok().filter(|url| !url.is_empty());
        Self::connect(&url.ok_or(Error::NoAddress)?)
    }

    /// Connects with settings.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect). Also if a file that the settings name cannot be read.
    pub fn connect_with(url: &str, options: ClusterOptions) -> Result<Self, Error> {
        Self::connect_to(&Address::parse(url)?, options)
    }

    fn connect_to(address: &Address, options: ClusterOptions) -> Result<Self, Error> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Thread)?;
        let wait = options.wait.unwrap_or(WAIT);
        let line = runtime.block_on(wire::connect(address, &options, wait))?;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { runtime, line, address: address.to_string(), options, threads })
    }

    /// Sets how many items are computed at once. The default is the number of processors.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn threads(mut self, threads: usize) -> Self {
        assert!(threads > 0, "a worker needs 1 thread or more, not 0");
        self.threads = threads;
        self
    }

    /// Serves programs until the process gets the signal SIGTERM or SIGINT (Ctrl-C). Then it finishes the items that it has, and takes
    /// no more.
    ///
    /// Programs that end, also by a crash, are forgotten within a few seconds, with their items. If the server goes away, the worker
    /// waits until it is there again. After a signal it waits for 5 seconds only, and then ends: other workers compute its items.
    ///
    /// # Errors
    /// If threads or the signal cannot be had.
    pub fn serve(self, functions: Functions) -> Result<(), Error> {
        let stop = self.runtime.block_on(async { terminated() })?;
        self.serve_until(functions, stop)
    }

    fn serve_until(self, functions: Functions, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let Self { runtime, line, address, options, threads } = self;
        options.events.tell(&Event::Started {
            name: options.name.clone(),
            address,
            functions: functions.identity().to_string(),
            threads,
        });
        let (threads, finished) = Threads::start(threads).map_err(Error::Thread)?;
        let stop = stop.shared();
        let cut_off = cut_off(line.clone(), stop.clone());
        let serving = Serving::new(line, options, functions, threads);
        runtime.block_on(async {
            tokio::select! {
                served = serving.serve(finished, stop) => served,
                () = cut_off => Ok(()),
            }
        })
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("options", &self.options).field("threads", &self.threads).finish()
    }
}

/// Ends when the worker is to end and its server has been away for [`WITHOUT_SERVER`].
async fn cut_off(line: Line, stop: impl Future<Output = ()>) {
    stop.await;
    let mut connected = Instant::now();
    while connected.elapsed() < WITHOUT_SERVER {
        if line.is_connected() {
            connected = Instant::now();
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The signals SIGTERM and SIGINT.
#[cfg(unix)]
fn terminated() -> Result<impl Future<Output = ()>, Error> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Thread)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Thread)?;
    Ok(async move {
        tokio::select! {
            Some(()) = terminate.recv() => {}
            Some(()) = interrupt.recv() => {}
            else => pending().await,
        }
    })
}

/// Other systems have no such signal.
#[cfg(not(unix))]
fn terminated() -> Result<impl Future<Output = ()>, Error> {
    Ok(pending())
}

/// A worker inside of a program. It leaves when it is dropped.
pub(crate) struct Helper {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    pub(crate) fn start(
        address: &Address,
        options: &ClusterOptions,
        functions: Functions,
    ) -> Result<Self, Error> {
        let options = options.clone().name(format!("{} itself", options.name)).quiet();
        let worker = Worker::connect_to(address, options)?;
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            let _ = stopped.await;
        };
        let thread = thread::Builder::new()
            .name("anabranch-worker".to_owned())
            .spawn(move || {
                // It has its threads already, so nothing fails.
                let _ = worker.serve_until(functions, stopped);
            })
            .map_err(Error::Thread)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
