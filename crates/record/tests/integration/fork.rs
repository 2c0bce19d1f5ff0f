//! A pool in a process that was forked while the pool was busy: it says so, and neither hangs nor panics when it is dropped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Barrier;

use anabranch_record::pool::{JobContext, Stay, ThreadPool};

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    safe fn alarm(seconds: u32) -> u32;
}

/// Lets two threads of the pool meet, and calls `body` while one of them is inside a job.
fn meet(pool: &ThreadPool, body: impl FnOnce()) {
    let (met, leaves) = (Barrier::new(2), Barrier::new(2));
    let job = |_: &JobContext<'_>| {
        met.wait();
        leaves.wait();
        Stay::Done
    };
    pool.lend(1, &job, &|| (), |handle| {
        handle.call();
        met.wait();
        body();
        leaves.wait();
    });
}

/// The program of the child. Returns what is wrong, as a number.
fn in_child(pool: &mut Option<ThreadPool>) -> i32 {
    let Some(forked) = pool.take() else { return 1 };
    if !forked.is_forked() {
        return 2;
    }
    let lent = catch_unwind(AssertUnwindSafe(|| forked.lend(1, &|_| Stay::Done, &|| (), |_| ())));
    let Err(payload) = lent else { return 3 };
    if !payload.downcast_ref::<String>().is_some_and(|text| text.contains("forked"))
        && !payload.downcast_ref::<&str>().is_some_and(|text| text.contains("forked"))
    {
        return 4;
    }
    if catch_unwind(AssertUnwindSafe(|| forked.dispatcher().is_some())).is_ok() {
        return 5;
    }
    if catch_unwind(AssertUnwindSafe(|| drop(forked))).is_err() {
        return 6;
    }
    let own = ThreadPool::new(2, "own");
    meet(&own, || ());
    0
}

#[test]
fn a_forked_pool_says_so_and_a_new_one_works() {
    const ALONE: &str = "ANABRANCH_FORKS_ALONE";
    if std::env::var_os(ALONE).is_none() {
        // A process of its own, in which no other test holds a lock at the fork.
        let mut itself = Command::new(std::env::current_exe().unwrap());
        itself.args(["--exact", "fork::a_forked_pool_says_so_and_a_new_one_works"]).env(ALONE, "1");
        let output = itself.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    std::panic::set_hook(Box::new(|_| ()));
    let mut pool = Some(ThreadPool::new(2, "busy"));
    let handle = pool.as_ref().expect("a pool").again();
    let mut wrong = -1;
    meet(&handle, || {
        let child = fork();
        if child == 0 {
            alarm(60); // ends a child that hangs
            _exit(in_child(&mut pool));
        }
        // SAFETY: `wrong` may be written.
        assert_eq!(unsafe { waitpid(child, &mut wrong, 0) }, child);
    });
    assert_eq!(wrong, 0, "the status of the child");
    assert!(!handle.is_forked());
}
