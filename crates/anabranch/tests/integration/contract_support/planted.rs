//! Failures that tests plant, and that must come back unchanged.

use std::panic::panic_any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use anabranch::Unmet;

/// The error or panic payload of a planted fault: at which node, for which item of the source, and for which child of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    pub node: usize,
    pub origin: u64,
    pub path: u64,
    pub bomb: Bomb,
}

/// The node of the panic of a failure that was dropped.
const DROPPED: usize = usize::MAX - 2;
/// The node of the error of an item that waits for one that does not come.
pub const UNMET: usize = usize::MAX - 1;

impl From<Unmet> for Planted {
    fn from(_: Unmet) -> Self {
        Self { node: UNMET, origin: 0, path: 0, bomb: Bomb::default() }
    }
}

/// Panics when it is dropped, unless it was disarmed. A stream drops the failures that do not count: the one that does comes
/// through all the same.
#[derive(Debug, Default)]
pub struct Bomb(AtomicBool);

impl Bomb {
    pub fn armed() -> Self {
        Self(AtomicBool::new(true))
    }

    pub fn disarm(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// A copy is for tests to look at.
impl Clone for Bomb {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Bomb {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Bomb {}

impl Drop for Bomb {
    fn drop(&mut self) {
        if *self.0.get_mut() && !thread::panicking() {
            panic_any(Planted { node: DROPPED, origin: 0, path: 0, bomb: Self::default() });
        }
    }
}

/// The failure of item `origin` in tests with one node that fails.
pub fn planted(origin: u64) -> Planted {
    Planted { node: 7, origin, path: 3, bomb: Bomb::default() }
}

/// An item that is counted, and that panics when it is dropped if it is touchy.
pub struct Touchy<'c> {
    pub n: u64,
    pub touchy: bool,
    pub drops: &'c AtomicUsize,
}

impl Drop for Touchy<'_> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
        if self.touchy && !thread::panicking() {
            panic_any(planted(self.n));
        }
    }
}

/// Mixes a number into a key.
pub fn mix(key: u64, mark: u64) -> u64 {
    let mut x = key ^ mark.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
