//! The door for schedulers that host streams, as `anabranch-network` does: a stream whose source belongs to the scheduler, and
//! what its threads share with those of a stream. This module is for the crates of this repository alone, and may change in any
//! version.

use std::sync::Arc;

use anabranch_plan::Node;
use anabranch_record::pool::ThreadPool;

use crate::stream::Stream;

pub use crate::clock::Moment;
pub use crate::engine::nodes::pull::{Pull, Pulled};
pub use crate::engine::walk::affinity::Processors;
pub use crate::engine::{Feed, Kept, KeptPanic, RunThreads, discard, processors};

/// A stream of the items of `source`, which the threads of the scheduler post. Its workers do not wait in the source: they ask
/// `feed`, and wait there.
pub fn stream<'env, P>(source: P, name: &'static str, feed: Arc<dyn Feed>) -> Stream<'env, P::Item>
where
    P: Pull<Error = std::convert::Infallible> + 'env,
    P::Item: 'env,
{
    Stream::pulled(source, Node::source(name), None).fed(feed)
}

/// The threads of a pool.
pub fn threads(pool: &crate::Pool) -> &ThreadPool {
    &pool.inner
}
