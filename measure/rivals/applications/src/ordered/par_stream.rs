//! par-stream: an ordered `par_map` on asynchronous streams, on the runtime of tokio.

use std::sync::OnceLock;

use ::par_stream::ParParamsConfig;
use ::par_stream::prelude::*;
use futures::StreamExt;
use futures::executor::block_on_stream;
use tokio::runtime::{Builder, Runtime};

use super::Ordered;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// See above.
pub struct ParStream;

/// The first run of the process sets the number of threads, and all others have the same.
fn runtime(workers: usize) -> &'static Runtime {
    RUNTIME.get_or_init(|| {
        Builder::new_multi_thread().worker_threads(workers).build().expect("threads for tokio")
    })
}

impl Ordered for ParStream {
    const NAME: &'static str = "par-stream";

    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let runtime = runtime(workers);
        // The workers are started with the stream, which needs the runtime around it.
        let _inside = runtime.enter();
        let workers = ParParamsConfig::FixedWorkers { num_workers: workers };
        let results = futures::stream::iter(source).par_map(workers, move |item| move || map(item));
        block_on_stream(results.boxed())
    }

    fn map_in_any_order<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let runtime = runtime(workers);
        let _inside = runtime.enter();
        let workers = ParParamsConfig::FixedWorkers { num_workers: workers };
        let results = futures::stream::iter(source).par_map_unordered(workers, move |item| move || map(item));
        block_on_stream(results.boxed())
    }
}
