//! Wakes the other side of a one-to-one record, without a fence while items flow.
//!
//! The side that has published an index must learn whether the other side sleeps. The side that is about to
//! sleep must see what was published. Each side stores a value and then loads what the other has stored, so
//! each needs a fence between the two (see [`EventCount`]). The publisher would pay for its fence with every
//! burst, although the other side hardly ever sleeps. The fence takes about a third of the time of a burst of
//! 64 words.
//!
//! The fences can be asymmetric where the system supports it (as in the C++ proposal P1202, and with Linux's
//! `membarrier(2)`). The publisher then only keeps the compiler from reordering. The sleeper makes every
//! running thread of the process pass a full fence, at a point that the sleeper chooses. At that point the
//! publisher is either before its store, and will see the sleeper, or after it, and the sleeper will see the
//! store.
//!
//! Such a fence costs the sleeper some 10 us. Therefore the notifier is *light* only while its listener has not
//! slept for a while. If a listener sleeps often, the notifier stays heavy, and both sides pass fences of their
//! own.

use crate::record::sleep::{Announced, Sleep, sleep_until};
use anabranch_record::mutant::Mutant;
use anabranch_record::{
    EventCount,
    backoff::{Backoff, Polling},
    everybody,
    sync::{AtomicBool, Ordering, Padded, fence},
};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const NO_FENCE_IN_ANNOUNCE_ALONE: Mutant = Mutant("no_fence_in_announce_alone");
const NO_FENCE_IN_RING: Mutant = Mutant("no_fence_in_ring");
const ANNOUNCEMENT_ENDS_AFTER_THE_HOOK: Mutant = Mutant("announcement_ends_after_the_hook");
const NO_FENCE_BEFORE_THE_LAST_HOOK: Mutant = Mutant("no_fence_before_the_last_hook");

/// A notifier with one listener: the other side notifies it, and the listener wakes up.
///
/// While the listener does not wait, a notification reads one cache line only.
pub(super) struct Notifier(Padded<Parts>);

struct Parts {
    /// Whether a thread may notify without a fence. Only the listener writes it. Before the listener sleeps it
    /// clears the flag and then makes every thread pass a fence. The flag is never set where the system has
    /// no such fence.
    light: AtomicBool,
    /// Whether one thread is on both sides. No fence is needed then.
    is_alone: AtomicBool,
    /// Whether the listener waits for the hook, if there is one.
    announced: AtomicBool,
    wakes: Wakes,
}

/// The way in which a notification wakes a listener that waits.
enum Wakes {
    /// It wakes the listener's thread.
    Thread(Box<EventCount>),
    /// It calls this function. The user of the record has arranged that it wakes the listener.
    Hook(Box<dyn Fn() + Send + Sync>),
}

impl Notifier {
    pub(super) fn new() -> Self {
        Self::that(Wakes::Thread(Box::default()))
    }

    /// A notifier that calls `hook` instead of waking its listener.
    pub(super) fn with_hook(hook: Box<dyn Fn() + Send + Sync>) -> Self {
        Self::that(Wakes::Hook(hook))
    }

    fn that(wakes: Wakes) -> Self {
        let flag = || AtomicBool::new(false);
        Self(Padded::new(Parts { light: flag(), is_alone: flag(), announced: flag(), wakes }))
    }

    /// From now on one thread both notifies and listens, so the program order is enough and no fence is needed.
    pub(super) fn set_alone(&self) {
        self.0.is_alone.store(true, Ordering::Relaxed);
        self.0.light.store(true, Ordering::Relaxed);
    }

    /// Wakes the listener if it sleeps. The caller must have stored before what the listener is to find.
    #[inline]
    pub(super) fn notify(&self) {
        if self.0.light.load(Ordering::Relaxed) {
            everybody::light();
        } else {
            if !NO_FENCE_IN_RING.is_on() {
                fence(Ordering::SeqCst);
            }
        }
        match &self.0.wakes {
            Wakes::Thread(event) => {
                if event.sleepers() > 0 {
                    notify_sleeper(event);
                }
            }
            Wakes::Hook(hook) => {
                if self.0.announced.load(Ordering::Relaxed) {
                    self.call(hook);
                }
            }
        }
    }

    /// Calls the hook for a listener that has announced itself.
    #[inline(never)]
    fn call(&self, hook: &(dyn Fn() + Send + Sync)) {
        if !ANNOUNCEMENT_ENDS_AFTER_THE_HOOK.is_on() {
            self.end_announcement();
        }
        hook();
        if ANNOUNCEMENT_ENDS_AFTER_THE_HOOK.is_on() {
            self.end_announcement();
        }
    }

    /// Takes the announcement back before the hook is called: the woken listener looks, and announces itself again if
    /// it still has to wait. It takes long until the woken thread runs. Notifications in this time are as cheap as those
    /// without a listener.
    ///
    /// This may end a second announcement, which the listener has made since the notification has seen the first. Then the swap
    /// makes the listener's earlier stores visible, and the hook is called after the swap, so it wakes the listener
    /// again.
    #[inline]
    fn end_announcement(&self) {
        if self.0.is_alone.load(Ordering::Relaxed) {
            self.0.announced.store(false, Ordering::Relaxed);
        } else {
            self.0.announced.swap(false, Ordering::AcqRel);
        }
    }

    /// Wakes the listener for the last time, when the notifying side closes.
    pub(super) fn notify_last(&self) {
        match &self.0.wakes {
            Wakes::Thread(event) => event.notify_all(),
            Wakes::Hook(hook) => {
                if !NO_FENCE_BEFORE_THE_LAST_HOOK.is_on() {
                    fence(Ordering::SeqCst);
                }
                if self.0.announced.load(Ordering::Relaxed) {
                    hook();
                }
            }
        }
    }
}

impl Announced for Notifier {
    /// The listener announces that it is about to wait for the hook. It must look once more afterwards.
    #[inline]
    fn announce(&self) {
        self.0.announced.store(true, Ordering::Release);
        if self.0.is_alone.load(Ordering::Relaxed) {
            return;
        }
        if !NO_FENCE_IN_ANNOUNCE_ALONE.is_on() {
            fence(Ordering::SeqCst);
        }
        if self.0.light.load(Ordering::Relaxed) {
            self.0.light.store(false, Ordering::Relaxed);
            everybody::fence();
        }
    }

    /// Takes back the announcement.
    #[inline]
    fn withdraw(&self) {
        self.0.announced.store(false, Ordering::Release);
    }
}

#[cold]
#[inline(never)]
fn notify_sleeper(event: &EventCount) {
    event.notify();
}

/// After this many waits without sleep the notifier becomes light.
const CALM_WAITS: u8 = 16;

/// The listener's side of a notifier.
#[derive(Debug, Default)]
pub(super) struct Listener {
    backoff: Backoff,
    /// How many waits have passed since the last sleep, up to `CALM_WAITS`. The notifier is light only at
    /// `CALM_WAITS`.
    calm: u8,
}

impl Listener {
    /// Calls `look` until it returns a value. A thread that makes `look` succeed must call `notifier.notify()` afterwards.
    #[cold]
    pub(super) fn until<R>(&mut self, notifier: &Notifier, mut look: impl FnMut() -> Option<R>) -> R {
        if let Some(found) = self.poll(notifier, &mut look) {
            return found;
        }
        let Wakes::Thread(event) = &notifier.0.wakes else {
            panic!("use `stall_by` or `receive_by` to wait for a record with hooks");
        };
        loop {
            let key = event.prepare();
            if notifier.0.light.load(Ordering::Relaxed) {
                notifier.0.light.store(false, Ordering::Relaxed);
                everybody::fence();
            }
            match look() {
                Some(found) => {
                    event.leave();
                    return found;
                }
                None => event.wait(key),
            }
        }
    }
}

impl Listener {
    /// Looks and polls, and remembers whether this found something.
    fn poll<R>(&mut self, notifier: &Notifier, look: &mut impl FnMut() -> Option<R>) -> Option<R> {
        let found = look().or_else(|| self.backoff.poll(Polling::Busy, look));
        if found.is_none() {
            self.calm = 0;
        } else if self.calm < CALM_WAITS {
            self.calm += 1;
            let light = self.calm == CALM_WAITS && everybody::can_be_fenced();
            notifier.0.light.store(light || notifier.0.is_alone.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        found
    }

    /// Calls `look` until it returns a value, and sleeps by means of `how`. Returns `None` if `how` gives up.
    #[cold]
    pub(super) fn until_by<R>(
        &mut self,
        notifier: &Notifier,
        how: &impl Sleep,
        mut look: impl FnMut() -> Option<R>,
    ) -> Option<R> {
        self.poll(notifier, &mut look).or_else(|| sleep_until(how, notifier, look))
    }
}
