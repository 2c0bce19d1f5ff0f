//! The threads of a pool: how they start, and how they are joined.

use super::core::{POOL, PoolCore};
use crate::mutant::Mutant;
use crate::sync::{Arc, lock, thread_local};

// Each of these mutants takes a rule out, to show that a model notices: scripts/mutants.md.
const JOINS_ITSELF: Mutant = Mutant("joins_itself");

thread_local! {
    /// The pool of which the current thread is a thread, as the address of its shared state, and the thread's number. 0 means
    /// none.
    #[allow(clippy::missing_const_for_thread_local)] // the model checkers' macro has no `const` form
    static HOME: std::cell::Cell<(usize, usize)> = std::cell::Cell::new((0, 0));
}

impl PoolCore {
    /// Notes that the current thread is thread `number` of this pool.
    pub(super) fn is_home(&self, number: usize) {
        let address = std::ptr::from_ref(self).addr();
        POOL.with(|pool| pool.set(address));
        HOME.with(|home| home.set((address, number)));
    }

    /// Starts threads that help until there are `wanted`, or fewer if the system refuses. Returns how many there are.
    pub(super) fn start_threads(this: &Arc<Self>, wanted: usize) -> usize {
        loop {
            let mut state = this.lock();
            if state.started >= wanted {
                return state.started;
            }
            state.started += 1;
            drop(state);
            let shared = Arc::clone(this);
            if !this.spawn(move |number| Self::help(&shared, number, false)) {
                let mut state = this.lock();
                state.started -= 1;
                return state.started;
            }
        }
    }

    /// Starts a thread of the pool. Returns whether the system could start one.
    pub(super) fn spawn(&self, body: impl FnOnce(usize) + Send + 'static) -> bool {
        let mut threads = lock(&self.threads);
        let number = threads.next;
        let name = format!("{}-{number}", self.name);
        #[cfg(not(any(loom, shuttle)))]
        let builder = crate::sync::named_thread(&name);
        #[cfg(any(loom, shuttle))]
        let builder = crate::sync::thread::Builder::new().name(name);
        let Ok(thread) = builder.spawn(move || body(number)) else { return false };
        threads.next += 1;
        // A thread that has ended keeps its stack until it is joined.
        #[cfg(not(any(loom, shuttle)))]
        threads.list.retain(|(_, thread)| !thread.is_finished());
        threads.list.push((number, thread));
        true
    }

    /// Waits until all threads have ended, except the current one.
    pub(super) fn join(&self) {
        let (home, own) = HOME.with(std::cell::Cell::get);
        let is_home = home == std::ptr::from_ref(self).addr();
        loop {
            // A thread that starts another one adds it to the list before it ends.
            let next = lock(&self.threads).list.pop();
            match next {
                None => return,
                // The last owner of the pool was a task. This thread ends when it has looked at `closing`.
                Some((number, _)) if is_home && number == own && !JOINS_ITSELF.is_on() => {}
                // A helper catches every panic of a job, so a failed join has nothing to report.
                Some((_, thread)) => _ = thread.join(),
            }
        }
    }
}
