//! The conditions other than room in the window that a source waits for.

use std::fmt;
use std::sync::Arc as StdArc;

use anabranch_record::lane::Domain;
use anabranch_record::sync::{Arc, AtomicU64, Ordering};
use anabranch_record::{EventCount, WaitKey};

/// The threads of a run, as the feed of the run sees them.
pub trait RunThreads: Send + Sync {
    /// How many threads look for work: the workers, and the threads of dedicated stages.
    fn threads(&self) -> usize;

    /// Whether some of them are threads of dedicated stages.
    fn has_dedicated(&self) -> bool;

    /// Wakes every waiting thread, so that it looks again.
    fn wake_all(&self);
}

/// A source's supply of items that other threads post at any time. No worker blocks in such a source.
pub trait Feed: Send + Sync {
    /// Whether the calling worker should ask the source, because the feed has items or has ended. Only looks.
    fn is_ready(&self) -> bool;

    /// Whether enough items wait to be worth waking another worker, or the source has ended. Only looks.
    fn is_enough(&self) -> bool;

    /// The event at which workers wait.
    fn event(&self) -> &Arc<EventCount>;

    /// Waits at the event, as [`EventCount::wait`] does, unless a last `look` finds something to do. `look` looks for
    /// the calling worker, and `any` for all threads of the run.
    fn wait(&self, key: WaitKey, look: &dyn Fn() -> bool, any: &dyn Fn() -> bool);

    /// Waits at the event of a dedicated thread. `any` looks for all threads of the run.
    fn wait_at(&self, own: &EventCount, key: WaitKey, _any: &dyn Fn() -> bool) {
        own.wait(key);
    }

    /// Whether workers may spin instead of waiting, if the stream is set so.
    fn may_spin(&self) -> bool {
        true
    }

    /// Tells the feed which run it supplies. Called once.
    fn starts(&self, _run: Arc<dyn RunThreads>) {}

    /// Called by each thread of the run when it begins to look for work. A direct line does not call it.
    fn enter(&self) {}

    /// Called by each thread that has entered, when it looks for no more work.
    fn leave(&self) {}
}

impl fmt::Debug for dyn Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feed")
    }
}

/// The conditions other than room in the window that a source waits for.
#[derive(Debug)]
pub(crate) struct Gate {
    domain: Arc<Domain>,
    /// How many indices must have been given back before the source is asked again. While the window is full
    /// by weight, this is more than were given back. The holder of the source's baton writes it.
    indices: AtomicU64,
    /// The supply of items, if they come from outside.
    feed: Option<StdArc<dyn Feed>>,
}

impl Gate {
    pub(crate) fn new(domain: &Arc<Domain>, feed: Option<StdArc<dyn Feed>>) -> Self {
        Self { domain: Arc::clone(domain), indices: AtomicU64::new(0), feed }
    }

    /// Sets how many indices must have been given back. To be called before the baton is released.
    pub(crate) fn set(&self, indices: u64) {
        self.indices.store(indices, Ordering::Relaxed);
    }

    /// Whether the weight of the items in flight allows another one.
    pub(crate) fn allows_weight(&self) -> bool {
        self.domain.released() >= self.indices.load(Ordering::Relaxed)
    }

    /// Whether the feed has something for the calling worker. Always true without a feed.
    pub(crate) fn is_fed(&self) -> bool {
        self.feed.as_ref().is_none_or(|feed| feed.is_ready())
    }

    /// Returns whether it is worth waking a worker for the source.
    pub(crate) fn is_worth_waking(&self) -> bool {
        self.allows_weight() && self.feed.as_ref().is_none_or(|feed| feed.is_enough())
    }
}
