//! Turns: the right to act for one index of a domain.

use std::sync::atomic::AtomicU64 as StdAtomicU64;

use crate::sync::Ordering;

/// How many domains this process has created. The number identifies a domain; it does not wrap in practice,
/// since that takes 2^64 domains.
static DOMAINS: StdAtomicU64 = StdAtomicU64::new(1);

/// The number of a new domain, which no other domain of this process has.
pub(super) fn new_domain() -> u64 {
    DOMAINS.fetch_add(1, Ordering::Relaxed)
}

/// The right to act for one index of a domain, on the thread that has it.
///
/// A turn is *open* from the moment at which a port gives its index until the index is used up, by
/// [`Writer::put`](super::Writer::put) or [`Exit::release`](super::Exit::release). A port lends its turn as
/// `&mut`, and gives no further index while the turn is open.
///
/// Invariant: an index of a domain that was created and not yet released is in exactly one place: in an open
/// turn, in a claim, in a permit, or stored in one lane. Turns cannot be copied or created by users of this
/// module, so they cannot break this. It is the reason why slots may be written again. Index *i* + capacity
/// is created only after index *i* was released, and the thread that released *i* had taken it out of every
/// lane in which it was ever stored.
#[derive(Debug)]
pub struct Turn {
    /// The number of the domain.
    domain: u64,
    /// The index for which the turn was last opened.
    index: u64,
    is_open: bool,
}

impl Turn {
    pub(super) fn closed(domain: u64) -> Self {
        Self { domain, index: 0, is_open: false }
    }

    /// The index that the turn is for, or was last for.
    #[inline]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Whether the index is not used up yet.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Opens the turn for `index`. The caller moves the index here from where it was.
    #[inline]
    pub(super) fn open(&mut self, index: u64) {
        debug_assert!(!self.is_open);
        self.index = index;
        self.is_open = true;
    }

    /// Uses up the turn, for a port of `domain` whose next index is `next`.
    ///
    /// # Panics
    /// If the turn is used up, belongs to another domain, or is for another index.
    #[inline]
    pub(super) fn close(&mut self, domain: u64, next: u64) {
        let is_right = self.is_open & (self.domain == domain) & (self.index == next);
        assert!(is_right, "a turn can be used once only, in its own domain, and in the order of the indices");
        self.is_open = false;
    }
}
