//! A crew: threads that are made once and help with one job after the other, whose closures may borrow.
//!
//! ```
//! use anabranch_record::crew::{Crew, Guest, Stay};
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! let crew = Crew::new(2, "helper");
//! let next = AtomicU32::new(0);
//! let work = || while next.fetch_add(1, Ordering::Relaxed) < 1_000 {};
//! let job = |_: &Guest<'_>| {
//!     work();
//!     Stay::Done
//! };
//! crew.lend(1, &job, &|| (), |offer| {
//!     offer.call(); // helpers may come from now on
//!     work(); // the caller can do it alone, if none does
//! }); // when this returns, no helper is in `job` any more
//! ```
//!
//! It promises that [`Crew::lend`] returns, or unwinds, only after every helper has left the job; that a job
//! never waits for a helper (so recursion cannot deadlock); and that callers and helpers who are inside a job
//! are at most as many as the crew was made for, or as the callers if those are more.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::sync::{
    Arc, AtomicBool, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock, spin_hint, thread, thread_local,
};

/// Threads that help with jobs. Dropping it ends them.
pub struct Crew {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

struct Shared {
    /// Callers and helpers inside jobs are at most so many, or the callers alone if those are more.
    size: usize,
    /// Threads outside the crew that are inside `lend`.
    callers: AtomicUsize,
    /// Helpers inside jobs.
    helpers: AtomicUsize,
    /// Bumped when a job calls for helpers: what an idle helper polls before it sleeps.
    calls: AtomicUsize,
    /// A helper polls. One is enough.
    polling: AtomicBool,
    /// The last job was long enough for helpers to be of use.
    was_long: AtomicBool,
    state: Mutex<State>,
    /// Idle helpers wait here for a job.
    idle: Condvar,
    /// Callers wait here for their helpers to leave.
    left: Condvar,
}

struct State {
    jobs: Vec<Entry>,
    next: usize,
    sleeping: usize,
    closing: bool,
}

/// A job on offer.
struct Entry {
    id: usize,
    job: Erased<JobFn<'static>>,
    /// Makes helpers that wait inside the job look up.
    nudge: Erased<NudgeFn<'static>>,
    /// Helpers may enter: the job has called, and its caller has not left.
    open: bool,
    /// At most so many helpers at once.
    wants: usize,
    inside: usize,
}

/// A closure of a job with its lifetime erased.
///
/// Invariant: `job` is called only by helpers that are counted in `inside` of its entry, `nudge` only while the
/// state is locked and the entry is in it. `lend` leaves the borrows that the two were made of only after the
/// entry is closed, `inside` is 0, and the entry is taken out.
struct Erased<F: ?Sized>(*const F);

impl<F: ?Sized> Clone for Erased<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: ?Sized> Copy for Erased<F> {}

// SAFETY: the closure behind the pointer is `Sync` in both uses, and is only called.
unsafe impl<F: ?Sized + Sync> Send for Erased<F> {}

type JobFn<'a> = dyn Fn(&Guest<'_>) -> Stay + Sync + 'a;
type NudgeFn<'a> = dyn Fn() + Sync + 'a;

fn erase_job(job: &JobFn<'_>) -> Erased<JobFn<'static>> {
    // SAFETY: the two types differ in a lifetime only, and the invariant keeps the calls within it.
    Erased(unsafe { std::mem::transmute::<*const JobFn<'_>, *const JobFn<'static>>(job) })
}

fn erase_nudge(nudge: &NudgeFn<'_>) -> Erased<NudgeFn<'static>> {
    // SAFETY: as in `erase_job`.
    Erased(unsafe { std::mem::transmute::<*const NudgeFn<'_>, *const NudgeFn<'static>>(nudge) })
}

/// What a helper says when it comes back from a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// It gave way: there may be more to do.
    Away,
    /// There is nothing left to do: nobody need come again.
    Done,
}

/// A helper's visit to a job.
pub struct Guest<'c> {
    shared: &'c Shared,
    id: usize,
}

impl fmt::Debug for Guest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Guest<'_> {
    /// Whether the helper should leave at its next opportunity, because more callers have come.
    #[inline]
    pub fn is_overstaffed(&self) -> bool {
        self.shared.is_overstaffed()
    }

    /// Says that the helper leaves because it finds nothing to do here: if it is the last one, the job is closed to
    /// helpers until it [calls](Offer::call) again. Otherwise two idle jobs would hand a helper to and fro. Takes a
    /// lock.
    pub fn close_behind(&self) {
        let mut state = self.shared.lock();
        if let Some(entry) = state.entry(self.id)
            && entry.inside == 1
            && cfg!(not(mutant = "idle_jobs_stay_open"))
        {
            entry.open = false;
        }
    }

    /// Whether another job has no helper yet: one that finds nothing to do here should leave for it. Takes a lock.
    pub fn is_wanted_elsewhere(&self) -> bool {
        let state = self.shared.lock();
        state
            .jobs
            .iter()
            .any(|entry| entry.id != self.id && entry.open && entry.inside == 0 && entry.wants > 0)
    }
}

thread_local! {
    /// The crew that the current thread works for, by the address of its shared state; 0 for none.
    #[allow(clippy::missing_const_for_thread_local)] // the models' macro knows no `const`
    static CREW: std::cell::Cell<usize> = std::cell::Cell::new(0);
}

/// Idle helpers poll so many times before they sleep: some tens of microseconds.
const POLLS: usize = 2_000;

/// A job is long if it lasts for so many nanoseconds: then the next one calls its helpers at once.
const LONG: u128 = 50_000;

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("size", &self.shared.size).finish_non_exhaustive()
    }
}

impl Crew {
    /// A crew for jobs of up to `size` threads, the caller's among them: it has `size - 1` helpers, called
    /// `name-1` and so on. Where the system gives fewer threads, there are fewer helpers.
    ///
    /// # Panics
    /// If `size` is 0.
    pub fn new(size: usize, name: &str) -> Self {
        assert!(size > 0, "a crew is 1 thread or more, not 0");
        let shared = Arc::new(Shared {
            size,
            callers: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            polling: AtomicBool::new(false),
            was_long: AtomicBool::new(true),
            state: Mutex::new(State { jobs: Vec::new(), next: 0, sleeping: 0, closing: false }),
            idle: Condvar::new(),
            left: Condvar::new(),
        });
        let threads = (1..size)
            .map_while(|number| {
                let shared = Arc::clone(&shared);
                thread::Builder::new().name(format!("{name}-{number}")).spawn(move || shared.help()).ok()
            })
            .collect();
        Self { shared, threads }
    }

    /// How many threads may be inside jobs at once.
    pub fn size(&self) -> usize {
        self.shared.size
    }

    /// Runs `body` on the calling thread while up to `helpers` threads of the crew may run `job`.
    ///
    /// `job` is called by a helper once the offer has [called](Offer::call); it should return when there is
    /// nothing left to do, or when the [guest](Guest) should leave. `nudge` makes helpers that wait inside the
    /// job look up: another job has come. A panic in `job` is resumed here, unless `body` panics itself.
    pub fn lend<R>(
        &self,
        helpers: usize,
        job: &(dyn Fn(&Guest<'_>) -> Stay + Sync),
        nudge: &(dyn Fn() + Sync),
        body: impl FnOnce(&Offer<'_>) -> R,
    ) -> R {
        let shared = &*self.shared;
        let address = std::ptr::from_ref(shared).addr();
        // A thread that is inside a job of this crew already is counted.
        let outer = CREW.with(|crew| crew.replace(address));
        if outer != address {
            shared.callers.fetch_add(1, Ordering::Relaxed);
        }
        let panic = Mutex::new(None);
        let guarded = |guest: &Guest<'_>| {
            catch_unwind(AssertUnwindSafe(|| job(guest))).unwrap_or_else(|payload| {
                lock(&panic).get_or_insert(payload);
                Stay::Done
            })
        };
        let mut state = shared.lock();
        let id = state.next;
        state.next += 1;
        let (job, nudge) = (erase_job(&guarded), erase_nudge(nudge));
        state.jobs.push(Entry { id, job, nudge, open: false, wants: helpers, inside: 0 });
        drop(state);

        let result = {
            let offer = Offer { shared, id, called: AtomicBool::new(false), outer, address };
            if shared.was_long.load(Ordering::Relaxed) {
                offer.call();
            }
            let began = Clock::now();
            let result = body(&offer);
            shared.was_long.store(began.is_long(), Ordering::Relaxed);
            result
        }; // the offer's drop waits for the helpers, also when `body` unwinds
        if let Some(payload) = panic.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            resume_unwind(payload);
        }
        result
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.calls.fetch_add(1, Ordering::Release);
        self.shared.idle.notify_all();
        for thread in self.threads.drain(..) {
            // A helper catches every panic of a job; a join that fails has nothing to tell.
            let _ = thread.join();
        }
    }
}

/// A job that is on offer to the crew, while its caller is inside [`Crew::lend`].
pub struct Offer<'c> {
    shared: &'c Shared,
    id: usize,
    called: AtomicBool,
    outer: usize,
    address: usize,
}

impl fmt::Debug for Offer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offer").field("called", &self.called).finish_non_exhaustive()
    }
}

impl Offer<'_> {
    /// Lets helpers come: to be called once the job shows to be worth it, and again when the last helper has
    /// [closed it behind itself](Guest::close_behind). Takes a lock.
    #[cold]
    pub fn call(&self) {
        self.called.store(true, Ordering::Relaxed);
        let mut state = self.shared.lock();
        let wanted = state.entry(self.id).map_or(0, |entry| {
            entry.open = true;
            entry.wants
        });
        if cfg!(not(mutant = "call_without_a_count")) {
            self.shared.calls.fetch_add(1, Ordering::Release);
        }
        if wanted == 0 {
            return;
        }
        match state.sleeping {
            // Perhaps some helpers wait inside other jobs.
            0 => {
                for entry in state.jobs.iter().filter(|entry| entry.id != self.id && entry.inside > 0) {
                    // SAFETY: the state is locked and the entry is in it.
                    unsafe { (*entry.nudge.0)() };
                }
            }
            _ if wanted == 1 => self.shared.idle.notify_one(),
            _ => self.shared.idle.notify_all(),
        }
    }

    /// Whether helpers may come already.
    #[inline]
    pub fn is_called(&self) -> bool {
        self.called.load(Ordering::Relaxed)
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if cfg!(not(mutant = "job_stays_open"))
            && let Some(entry) = state.entry(self.id)
        {
            entry.open = false;
        }
        while cfg!(not(mutant = "no_wait_for_helpers"))
            && state.entry(self.id).is_some_and(|entry| entry.inside > 0)
        {
            state = self.shared.left.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.jobs.retain(|entry| entry.id != self.id);
        CREW.with(|crew| crew.set(self.outer));
        if self.outer != self.address {
            // One caller less: another job may have one helper more. Counted as a call, since a helper that found
            // no room for itself may be about to sleep.
            self.shared.callers.fetch_sub(1, Ordering::Relaxed);
            if state.jobs.iter().any(|entry| entry.open) {
                if cfg!(not(mutant = "no_call_for_room")) {
                    self.shared.calls.fetch_add(1, Ordering::Release);
                }
                if state.sleeping > 0 {
                    self.shared.idle.notify_one();
                }
            }
        }
    }
}

impl State {
    fn entry(&mut self, id: usize) -> Option<&mut Entry> {
        self.jobs.iter_mut().find(|entry| entry.id == id)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn is_overstaffed(&self) -> bool {
        let helpers = self.helpers.load(Ordering::Relaxed);
        helpers > 0 && helpers + self.callers.load(Ordering::Relaxed) > self.size
    }

    /// The life of a helper.
    fn help(&self) {
        CREW.with(|crew| crew.set(std::ptr::from_ref(self).addr()));
        let mut state = self.lock();
        let mut last = None;
        loop {
            if state.closing {
                return;
            }
            if let Some((id, job)) = self.enter(&mut state, last) {
                last = Some(id);
                drop(state);
                let guest = Guest { shared: self, id };
                // SAFETY: we are counted in the entry's `inside`, so the caller is still inside `lend`.
                let stay = unsafe { (*job.0)(&guest) };
                state = self.lock();
                self.leave(&mut state, id, stay);
                continue;
            }
            let seen = self.calls.load(Ordering::Acquire);
            drop(state);
            let called = self.poll(seen);
            state = self.lock();
            let closing = state.closing && cfg!(not(mutant = "no_look_at_closing"));
            if !called && !closing && self.calls.load(Ordering::Acquire) == seen {
                state.sleeping += 1;
                state = self.idle.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                state.sleeping -= 1;
            }
        }
    }

    /// Enters the open job that has the fewest helpers, if there is one and the crew has room. Of several, not the
    /// one it was in last: it may have left that one for another.
    fn enter(&self, state: &mut State, last: Option<usize>) -> Option<(usize, Erased<JobFn<'static>>)> {
        let entry =
            state.jobs.iter_mut().filter(|entry| entry.open && entry.inside < entry.wants).min_by_key(
                |entry| (entry.inside, cfg!(not(mutant = "back_to_the_last_job")) && last == Some(entry.id)),
            )?;
        if self.helpers.load(Ordering::Relaxed) + self.callers.load(Ordering::Relaxed) >= self.size {
            return None;
        }
        self.helpers.fetch_add(1, Ordering::Relaxed);
        entry.inside += 1;
        Some((entry.id, entry.job))
    }

    fn leave(&self, state: &mut State, id: usize, stay: Stay) {
        self.helpers.fetch_sub(1, Ordering::Relaxed);
        if let Some(entry) = state.entry(id) {
            entry.inside -= 1;
            entry.open &= stay == Stay::Away || cfg!(mutant = "done_is_forgotten");
            if entry.inside == 0 && !entry.open && cfg!(not(mutant = "no_notice_on_leaving")) {
                self.left.notify_all();
            }
        }
    }

    /// Polls for a call, if no other helper does. Says whether one came.
    fn poll(&self, seen: usize) -> bool {
        if cfg!(any(loom, shuttle)) || self.polling.swap(true, Ordering::Relaxed) {
            return false;
        }
        let mut called = false;
        for _ in 0..POLLS {
            called = self.calls.load(Ordering::Acquire) != seen;
            if called {
                break;
            }
            spin_hint();
        }
        self.polling.store(false, Ordering::Relaxed);
        called
    }
}

/// How long a body took. Models have no clock.
struct Clock {
    #[cfg(not(any(loom, shuttle)))]
    began: std::time::Instant,
}

impl Clock {
    fn now() -> Self {
        Self {
            #[cfg(not(any(loom, shuttle)))]
            began: std::time::Instant::now(),
        }
    }

    fn is_long(&self) -> bool {
        #[cfg(not(any(loom, shuttle)))]
        return self.began.elapsed().as_nanos() >= LONG;
        // So that a model's first job calls its helpers at once and the later ones when they choose to.
        #[cfg(any(loom, shuttle))]
        (LONG == 0)
    }
}
