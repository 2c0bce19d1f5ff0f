//! The pool that lends helpers to jobs, with every interleaving and every outcome that the memory model
//! allows.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-record --release --test integration loom_
//!
//! Every model drops its pool, so a lost helper shows as a deadlock. A job borrows a cell whose accesses loom
//! checks, so a helper that touches it after `lend` has returned shows as a race.

use crate::model::check;
use anabranch_record::pool::{JobContext, Stay, ThreadPool};
use anabranch_record::sync::{Arc, AtomicUsize, Condvar, Mutex, Ordering, RawCell, lock};
use loom::thread;

/// A value that a caller lends. Only the caller uses it before and after the job, and only the helpers use it
/// during the job.
struct Lent(RawCell<u64>);

// SAFETY: the models check it, and loom with them: while the job is lent, all threads only read.
unsafe impl Sync for Lent {}

impl Lent {
    fn new() -> Self {
        Self(RawCell::new(7))
    }

    fn look(&self) {
        // SAFETY: loom fails the model if another thread may write at the same time.
        self.0.with(|value| assert_eq!(unsafe { *value }, 7, "a job was called that is over"));
    }

    fn take_back(&mut self) {
        // SAFETY: loom fails the model if another thread may read at the same time.
        self.0.with_mut(|value| unsafe { *value = 0 });
    }
}

/// A counter on which threads can wait.
struct Gate(Mutex<usize>, Condvar);

impl Gate {
    fn new() -> Self {
        Self(Mutex::new(0), Condvar::new())
    }

    fn pass(&self) {
        *lock(&self.0) += 1;
        self.1.notify_all();
    }

    fn wait_for(&self, count: usize) {
        let mut now = lock(&self.0);
        while *now < count {
            now = self.1.wait(now).unwrap();
        }
    }
}

#[test]
fn a_helper_that_comes_late_or_not_at_all() {
    // The first job calls at once and its body ends at once. The second calls before its body ends.
    check(3, || {
        let pool = ThreadPool::new(2, "helper");
        for _ in 0..2 {
            let mut lent = Lent::new();
            let job = |_: &JobContext<'_>| {
                lent.look();
                Stay::Done
            };
            pool.lend(1, &job, &|| (), |offer| offer.call());
            lent.take_back();
        }
    });
}

#[test]
fn a_helper_that_gives_way_and_may_come_again() {
    check(3, || {
        let pool = ThreadPool::new(2, "helper");
        let mut lent = Lent::new();
        let visits = AtomicUsize::new(0);
        let job = |_: &JobContext<'_>| {
            lent.look();
            let again = visits.fetch_add(1, Ordering::Relaxed) == 0;
            if again { Stay::Away } else { Stay::Done }
        };
        pool.lend(1, &job, &|| (), |_| ());
        assert!(visits.load(Ordering::Relaxed) <= 2, "a helper came after there was nothing left");
        lent.take_back();
    });
}

#[test]
fn a_helper_that_gives_way_is_not_waited_for_in_another_job() {
    // The helper goes from the inner job back to the outer one, and stays there until the inner `lend` has
    // returned.
    check(3, || {
        let pool = ThreadPool::new(2, "helper");
        let returned = Gate::new();
        let visits = AtomicUsize::new(0);
        let stays = |_: &JobContext<'_>| {
            if visits.fetch_add(1, Ordering::Relaxed) == 0 {
                return Stay::Away;
            }
            returned.wait_for(1);
            Stay::Done
        };
        pool.lend(1, &stays, &|| (), |_| {
            let mut lent = Lent::new();
            let gives_way = |_: &JobContext<'_>| {
                lent.look();
                Stay::Away
            };
            pool.lend(1, &gives_way, &|| (), |offer| offer.call());
            lent.take_back();
            returned.pass();
        });
    });
}

#[test]
fn two_helpers_leave_one_job() {
    check(2, || {
        let pool = ThreadPool::new(3, "helper");
        let mut lent = Lent::new();
        let visits = AtomicUsize::new(0);
        let job = |_: &JobContext<'_>| {
            lent.look();
            // A helper that always gave way would come back for ever.
            let again = visits.fetch_add(1, Ordering::Relaxed) == 0;
            if again { Stay::Away } else { Stay::Done }
        };
        pool.lend(2, &job, &|| (), |_| ());
        lent.take_back();
    });
}

#[test]
fn a_call_is_heard() {
    // The helper of the first job goes back to sleep while the second job calls, and waits for it.
    check(3, || {
        let pool = ThreadPool::new(2, "helper");
        for _ in 0..2 {
            let came = Gate::new();
            let job = |_: &JobContext<'_>| {
                came.pass();
                Stay::Done
            };
            pool.lend(1, &job, &|| (), |offer| {
                offer.call();
                came.wait_for(1);
            });
        }
    });
}

#[test]
fn a_helper_comes_once_a_caller_has_gone() {
    // Two callers are as many as the pool has threads. The helper comes to one when the other has ended.
    check(2, || {
        let pool = Arc::new(ThreadPool::new(2, "helper"));
        let other = Arc::clone(&pool);
        let caller = thread::spawn(move || other.lend(1, &|_| Stay::Done, &|| (), |_| ()));
        let came = Gate::new();
        let job = |_: &JobContext<'_>| {
            came.pass();
            Stay::Done
        };
        pool.lend(1, &job, &|| (), |offer| {
            offer.call();
            came.wait_for(1);
        });
        caller.join().unwrap();
    });
}

#[test]
fn a_helper_that_waits_in_one_job_is_called_to_another() {
    check(2, || {
        let pool = ThreadPool::new(2, "helper");
        let (outer, inner) = (Gate::new(), Gate::new());
        let nudged = AtomicUsize::new(0);
        let waits = |job: &JobContext<'_>| {
            inner.pass();
            outer.wait_for(1);
            if job.is_wanted_elsewhere() { Stay::Away } else { Stay::Done }
        };
        let wake = || {
            nudged.fetch_add(1, Ordering::Relaxed);
            outer.pass();
        };
        pool.lend(1, &waits, &wake, |offer| {
            offer.call();
            inner.wait_for(1);
            // A job inside a job: its caller is counted once, so the pool has room for its helper.
            let came = Gate::new();
            let job = |_: &JobContext<'_>| {
                came.pass();
                Stay::Done
            };
            pool.lend(1, &job, &|| (), |offer| {
                offer.call();
                came.wait_for(1);
            });
        });
        assert_ne!(nudged.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_crew_that_is_dropped_before_its_helper_looks_or_while_it_falls_asleep() {
    check(3, || drop(ThreadPool::new(2, "helper")));
}

#[test]
fn a_task_is_done_whether_the_thread_starts_works_or_falls_asleep() {
    check(3, || {
        let pool = ThreadPool::new(1, "helper");
        let dispatcher = pool.dispatcher().unwrap();
        for _ in 0..2 {
            let done = Arc::new(Gate::new());
            let pass = Arc::clone(&done);
            dispatcher.send(Box::new(move |_| pass.pass()));
            done.wait_for(1);
        }
    });
}

#[test]
fn a_task_is_done_while_the_thread_of_a_crew_helps_a_job() {
    // The pool has two threads, of which one helps.
    check(2, || {
        let pool = ThreadPool::new(2, "helper");
        let dispatcher = pool.dispatcher().unwrap();
        let (done, came) = (Arc::new(Gate::new()), Gate::new());
        let job = |_: &JobContext<'_>| {
            came.pass();
            done.wait_for(1);
            Stay::Done
        };
        pool.lend(1, &job, &|| (), |offer| {
            offer.call();
            came.wait_for(1);
            let pass = Arc::clone(&done);
            dispatcher.send(Box::new(move |_| pass.pass()));
            done.wait_for(1);
        });
    });
}

#[test]
fn the_last_share_of_a_crew_may_be_a_tasks() {
    check(3, || {
        let pool = Arc::new(ThreadPool::new(1, "helper"));
        let dispatcher = pool.dispatcher().unwrap();
        let share = Arc::clone(&pool);
        dispatcher.send(Box::new(move |_| drop(share)));
        drop(pool);
    });
}
