//! The conditions that a source waits for in addition to room in its window.

use std::fmt;
use std::sync::Arc as StdArc;

use anabranch_record::lane::Domain;
use anabranch_record::sync::{Arc, AtomicU64, Ordering};
use anabranch_record::{EventCount, WaitKey};

/// A supply of items from outside, which come one now and then. No worker waits for them in the source.
pub(crate) trait Feed: Send + Sync {
    /// Whether the calling worker should ask the source: it has something to give, or has ended. Only looks.
    fn is_ready(&self) -> bool;

    /// Whether so much waits that it is worth the waking of another worker. Only looks.
    fn is_enough(&self) -> bool;

    /// Where workers wait.
    fn event(&self) -> &Arc<EventCount>;

    /// Waits on the event, as [`EventCount::wait`], unless a last `look` finds something to do.
    fn wait(&self, ticket: WaitKey, look: &dyn Fn() -> bool);
}

impl fmt::Debug for dyn Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feed")
    }
}

/// The conditions that a source waits for in addition to room in its window.
#[derive(Debug)]
pub(super) struct Gate {
    domain: Arc<Domain>,
    /// The number of indices that must be given back before the source is asked again. It is larger than the number that
    /// were given back while the window is full by weight. The holder of the source's baton writes it.
    indices: AtomicU64,
    /// Items come from outside.
    feed: Option<StdArc<dyn Feed>>,
}

impl Gate {
    pub(super) fn new(domain: &Arc<Domain>, feed: Option<StdArc<dyn Feed>>) -> Self {
        Self { domain: Arc::clone(domain), indices: AtomicU64::new(0), feed }
    }

    /// Says before the baton is let go how many indices must be given back.
    pub(super) fn set(&self, indices: u64) {
        self.indices.store(indices, Ordering::Relaxed);
    }

    /// Whether what is in flight is light enough.
    pub(super) fn is_light(&self) -> bool {
        self.domain.released() >= self.indices.load(Ordering::Relaxed)
    }

    /// Whether the calling worker would get something from outside.
    pub(super) fn is_fed(&self) -> bool {
        self.feed.as_ref().is_none_or(|feed| feed.is_ready())
    }

    /// Whether the source is worth the waking of a worker.
    pub(super) fn is_wide_open(&self) -> bool {
        self.is_light() && self.feed.as_ref().is_none_or(|feed| feed.is_enough())
    }
}
