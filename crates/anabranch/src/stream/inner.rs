//! Streams inside of a stream: the sources of `select_all`, or the other items of `chain`. They begin to run when the stream
//! around them does, with those of its settings that hold for all of it.

use std::cell::RefCell;
use std::sync::Arc;

use super::account::{Account, Joins};
use super::attached::{Handed, Inner};
use super::{Mode, Stream};
use crate::control::{PoolShare, Watch};
use crate::engine::Supply;

thread_local! {
    /// The list in which streams leave themselves that become iterators: the innermost [`adopt`] on this thread.
    static ADOPTING: RefCell<Option<(&'static str, Left)>> = const { RefCell::new(None) };
}

/// Lets a stream run that became an iterator.
type Start = Box<dyn FnOnce(&Handed) + Send>;

/// The streams that have become iterators.
type Left = Vec<(Arc<Account>, Start)>;

/// Turns `items` into an iterator, for a `call` of the user. Also returns the streams that it is made of. They are not running yet.
pub(crate) fn adopt<I: IntoIterator>(
    items: I,
    joins: Joins,
    call: &'static str,
) -> (I::IntoIter, Vec<Inner<'static>>) {
    /// Puts the list of the calls around this one back, even if `into_iter` panics.
    struct Around(Option<(&'static str, Left)>);
    impl Drop for Around {
        fn drop(&mut self) {
            ADOPTING.set(self.0.take());
        }
    }
    let around = Around(ADOPTING.replace(Some((call, Vec::new()))));
    let items = items.into_iter();
    let streams = ADOPTING.take().map(|(_, streams)| streams).unwrap_or_default();
    drop(around);
    (items, streams.into_iter().map(|(account, start)| Inner { joins, account, start }).collect())
}

/// The call that makes a stream which becomes an iterator on this thread a part of another stream, if there is one.
pub(crate) fn adopter() -> Option<&'static str> {
    ADOPTING.with_borrow(|adopting| adopting.as_ref().map(|(call, _)| *call))
}

/// Leaves a stream that has an [adopter] to the stream around it, which lets it run.
pub(crate) fn leave(account: Arc<Account>, start: Start) {
    ADOPTING.with_borrow_mut(|adopting| {
        if let Some((_, streams)) = adopting {
            streams.push((account, start));
        }
    });
}

impl<T: Send, M: Mode> Stream<'static, T, M> {
    /// Takes the settings of the stream around, which is about to run. The settings of this stream go before. Tokens add up.
    pub(crate) fn inside(mut self, handed: &Handed, account: &Arc<Account>) -> Self {
        let attached = &mut self.draft.attached;
        attached.outer_tokens.extend(handed.tokens.iter().cloned());
        if attached.pool.is_none() {
            attached.pool = handed.pool.clone().map(PoolShare::Shared);
        }
        if let Some(monitor) = &handed.monitor
            && attached.watch.as_ref().is_none_or(|watch| watch.monitor().is_none())
        {
            attached.watch_by(Watch::from(monitor));
        }
        attached.finish = handed.finish.or(attached.finish);
        attached.account = Some(Arc::clone(account));
        #[cfg(feature = "tokio")]
        if attached.runtime.wanted.is_none() {
            attached.runtime.wanted.clone_from(&handed.runtime);
        }
        self
    }
}

impl<'env, T: Send, M: Mode> Stream<'env, T, M> {
    /// Adds streams that are a part of this one.
    pub(crate) fn with_inner(mut self, inner: Vec<Inner<'env>>) -> Self {
        self.draft.attached.inner.extend(inner);
        self
    }

    /// Says that the items of the source are those of inner streams. An order that drains or pauses this stream holds for them.
    pub(crate) fn fed_by_inner(mut self, inner: Vec<Inner<'env>>) -> Self {
        if !inner.is_empty() {
            self.draft.attached.supply = Some(Arc::new(Supply::of_streams()));
        }
        self.with_inner(inner)
    }
}
