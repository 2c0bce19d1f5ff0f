//! tokio: a task for each item, and a queue of tasks in order, as `buffered` of the crate futures keeps it.

use std::collections::VecDeque;
use std::sync::OnceLock;

use ::tokio::runtime::{Builder, Runtime};
use ::tokio::task::JoinSet;

use super::Ordered;

/// How many tasks there are at most, for each worker.
const TASKS: usize = 64;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// See above.
pub struct Tokio;

/// The first run of the process sets the number of threads, and all others have the same.
fn runtime(workers: usize) -> &'static Runtime {
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(workers).build().expect("threads for tokio")
    })
}

impl Ordered for Tokio {
    const NAME: &'static str = "tokio";

    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let runtime = runtime(workers);
        let (mut source, mut tasks) = (source.fuse(), VecDeque::new());
        std::iter::from_fn(move || {
            while tasks.len() < TASKS * workers {
                let Some(item) = source.next() else { break };
                tasks.push_back(runtime.spawn(async move { map(item) }));
            }
            let task = tasks.pop_front()?;
            Some(runtime.block_on(task).expect("no stage panics"))
        })
    }

    fn map_in_any_order<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let runtime = runtime(workers);
        let (mut source, mut tasks) = (source.fuse(), JoinSet::new());
        std::iter::from_fn(move || {
            while tasks.len() < TASKS * workers {
                let Some(item) = source.next() else { break };
                tasks.spawn_on(async move { map(item) }, runtime.handle());
            }
            let task = runtime.block_on(tasks.join_next())?;
            Some(task.expect("no stage panics"))
        })
    }
}
