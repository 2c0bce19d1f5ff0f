//! The plan decides how a stream runs: a change of the plan changes the run, and a change that is not
//! possible is an error.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread::{self, ThreadId};

use anabranch::plan::{
    Burst, EdgeKind, Executor, Machine, Pass, Passes, Placement, Plan, PlanError, Schedule,
};
use anabranch::{Shards, Stream};

/// Counts how many threads are inside at once, and the largest number so far.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Inside {
    fn enter(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
    }

    fn leave(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// The largest number of items between the source and the sink of a stream whose plan is changed.
fn most_in_flight(workers: usize, change: impl Fn(&mut Plan) + Send) -> usize {
    let inside = Inside::default();
    let source = (0..500u64).inspect(|_| inside.enter());
    Stream::from_iter(source).workers(workers).map(|n| n + 1).with_plan(change).for_each(|_| inside.leave());
    inside.most()
}

#[test]
fn a_window_that_is_changed_in_the_plan_is_kept() {
    for workers in [1, 2, 4] {
        assert!(most_in_flight(workers, |plan| plan.domains[0].window = 3) <= 3);
        assert!(most_in_flight(workers, |plan| plan.settings.window = 2) <= 2);
        assert!(most_in_flight(workers, |plan| plan.set_window(1)) <= 1);
    }
}

#[test]
fn a_wider_window_takes_as_many_items_as_it_says() {
    // The sink takes nothing before the source has given ten items, so the window must hold them.
    let met = Barrier::new(2);
    let source = (0..10u64).inspect(|&n| {
        if n == 9 {
            met.wait();
        }
    });
    let mut first = true;
    let stream = Stream::from_iter(source).window(1).with_plan(|plan| plan.domains[0].window = 10);
    let wait = |n: u64| {
        if std::mem::take(&mut first) {
            met.wait();
        }
        n
    };
    assert_eq!(stream.workers(2).named("wait").serial_map(wait).count(), 10);
}

#[test]
fn replicas_that_are_changed_in_the_plan_are_kept() {
    let inside = Inside::default();
    let stream = Stream::from_iter(0..200u64).workers(4).burst(1).map(|n| {
        inside.enter();
        thread::yield_now();
        inside.leave();
        n
    });
    stream.with_plan(|plan| plan.nodes[1].replicas = Some(2)).for_each(drop);
    assert!(inside.most() <= 2, "{}", inside.most());
}

#[test]
fn a_stage_that_gets_a_thread_of_its_own_in_the_plan_runs_on_it() {
    let names = Mutex::new(HashSet::new());
    let note = |n: u64| {
        names.lock().unwrap().insert(thread::current().name().map(str::to_owned));
        n
    };
    let stream = Stream::from_iter(0..100u64).title("own").workers(2).map(|n| n).serial_map(note);
    stream.with_plan(|plan| plan.nodes[2].placement = Placement::Dedicated).for_each(drop);
    let names = names.into_inner().unwrap();
    assert_eq!(names, HashSet::from([Some("own-stage-0".to_owned())]));
}

#[test]
fn order_that_is_given_up_in_the_plan_lets_later_items_through_first() {
    // Item 0 waits until another item has reached the sink. If the order were kept, it would wait for ever.
    let passed = Barrier::new(2);
    let mut seen = Vec::new();
    let stream = Stream::from_iter(0..20u64).workers(2).burst(1).map(|n| {
        if n == 0 {
            passed.wait();
        }
        n
    });
    stream.with_plan(|plan| plan.nodes[1].ordered = false).for_each(|n| {
        if seen.is_empty() {
            passed.wait();
        }
        seen.push(n);
    });
    assert_ne!(seen[0], 0);
    seen.sort_unstable();
    assert_eq!(seen, (0..20).collect::<Vec<_>>());
}

#[test]
fn workers_and_the_executor_are_those_of_the_plan() {
    let threads = Mutex::new(HashSet::new());
    let note = |_: u64| {
        threads.lock().unwrap().insert(thread::current().id());
    };
    Stream::from_iter(0..100u64)
        .workers(4)
        .map(note)
        .with_plan(|plan| plan.settings.workers = 1)
        .for_each(drop);
    Stream::from_iter(0..100u64)
        .workers(4)
        .map(note)
        .with_plan(|plan| plan.settings.executor = Executor::Inline)
        .for_each(drop);
    assert_eq!(*threads.lock().unwrap(), HashSet::from([thread::current().id()]));
}

#[test]
fn a_burst_that_is_changed_in_the_plan_is_a_claim() {
    // The two items wait for each other, which works only if no worker claims both.
    let met = Barrier::new(2);
    let stream = Stream::from_iter(0..2u64).workers(2).map(|_| met.wait().is_leader());
    let leaders =
        stream.with_plan(|plan| plan.settings.burst = Burst::Fixed(1)).fold(0, |sum, is| sum + u64::from(is));
    assert_eq!(leaders, 1);
    let plan =
        Stream::from_iter(0..2u64).map(|n| n).with_plan(|plan| plan.settings.burst = Burst::Fixed(7)).plan();
    assert!(matches!(plan.edges[0].kind, EdgeKind::Lane { burst: Burst::Fixed(7), .. }));
}

/// Fuses all neighbouring serial stages, however much they cost.
fn fuse(plan: &mut Plan) {
    for node in &mut plan.nodes {
        node.cost = Some(1);
    }
    let cores = Machine::new(2);
    Passes::none().with(Pass::Fuse).apply(plan, &cores);
    for node in &mut plan.nodes {
        node.cost = None;
    }
}

#[test]
fn fused_serial_stages_run_an_item_to_the_end_before_the_next() {
    // Between the calls of two fused stages for one item, no other call of them runs, and the thread stays
    // the same.
    let last: Mutex<Option<(u64, ThreadId)>> = Mutex::new(None);
    let begin = |n: u64| {
        assert!(last.lock().unwrap().replace((n, thread::current().id())).is_none());
        n
    };
    let end = |n: u64| {
        assert_eq!(last.lock().unwrap().take(), Some((n, thread::current().id())));
        n
    };
    let stream =
        Stream::from_iter(0..5_000u64).workers(3).map(|n| n).serial_map(begin).serial_map(end).map(|n| n);
    let stream = stream.with_plan(fuse);
    let plan = stream.plan();
    assert_eq!(plan.nodes[2].unit, plan.nodes[3].unit, "{plan}");
    assert_eq!(stream.collect::<Vec<_>>(), (0..5_000).collect::<Vec<_>>());
}

/// The items at the end of a stream of many serial stages, and its result.
fn serial_stages(
    workers: usize,
    fails_at: Option<u64>,
    panics: bool,
    fused: bool,
) -> (Vec<u64>, Option<u64>, bool) {
    let seen = Mutex::new(Vec::new());
    let source = (0..300u64).inspect(|_| ());
    let mut sum = 0;
    let stream = Stream::from_iter(source).workers(workers).window(9);
    let stream = stream
        .serial_map(move |n| {
            sum += n;
            (n, sum)
        })
        .serial_filter_map(|(n, sum)| (n % 3 != 1).then_some((n, sum)))
        .try_serial_map(move |(n, sum)| match fails_at {
            Some(at) if at == n && panics => panic!("planted"),
            Some(at) if at == n => Err(n),
            _ => Ok(n + sum),
        })
        .chunks(4)
        .flat_map(|batch| batch)
        .serial_map(|n| n * 2)
        .serial_map(|n| n + 1);
    let stream = if fused { stream.with_plan(fuse) } else { stream };
    let run = AssertUnwindSafe(|| {
        stream.try_for_each(|n| {
            seen.lock().unwrap().push(n);
            Ok::<(), u64>(())
        })
    });
    match catch_unwind(run) {
        Ok(result) => (seen.into_inner().unwrap(), result.err(), false),
        Err(_) => (seen.into_inner().unwrap(), None, true),
    }
}

#[test]
fn fused_stages_give_what_the_inline_executor_gives_and_fail_where_it_fails() {
    for fails_at in [None, Some(0), Some(44), Some(299)] {
        for panics in [false, true] {
            let expected = serial_stages(1, fails_at, panics, false);
            assert_eq!(expected.2, panics && fails_at.is_some());
            for workers in [2, 3, 5] {
                let found = serial_stages(workers, fails_at, panics, true);
                assert_eq!(found, expected, "{fails_at:?}, {panics}, {workers} workers");
            }
        }
    }
}

#[test]
fn a_source_that_is_fused_to_the_sink_runs_on_threads_too() {
    let stream = || Stream::from_iter(0..1_000u64).workers(2).serial_map(|n| n + 1).with_plan(fuse);
    assert!(stream().plan().edges.iter().all(|edge| edge.kind == EdgeKind::Call));
    assert_eq!(stream().fold(0, |sum, n| sum + n), 500_500);
    assert_eq!(stream().find(|&n| n == 700), Some(700));
    let result = stream().try_for_each(|n| if n == 400 { Err(n) } else { Ok(()) });
    assert_eq!(result, Err(400));
}

fn refused(change: impl Fn(&mut Plan) + Send) -> String {
    let stream = Stream::from_iter(0..10u64)
        .map(|n| n)
        .serial_map(|n| n)
        .map_sharded(Shards::dealt(3), || 0, |_, n| n)
        .with_plan(change);
    let payload = catch_unwind(AssertUnwindSafe(|| stream.count())).expect_err("refused");
    payload.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_change_that_cannot_be_is_refused_with_the_plans_own_error() {
    crate::contract_support::watchdog::hush();
    let plan = Stream::from_iter(0..10u64).plan();
    assert_eq!(plan.check_against(&plan), Ok(()));
    assert_eq!(refused(|plan| plan.settings.workers = 0), format!("with_plan: {}", PlanError::NoWorkers));
    for (change, said) in [
        ((|plan: &mut Plan| plan.domains[0].window = 0) as fn(&mut Plan), "a window of 0"),
        (|plan| plan.nodes[1].replicas = Some(0), "node `map` (#1) has 0 replicas"),
        (|plan| plan.nodes[2].replicas = Some(2), "only a parallel node may have more than 1"),
        (|plan| plan.nodes[1].placement = Placement::Dedicated, "has a thread of its own; only"),
        (|plan| plan.nodes[4].replicas = Some(5), "the number of shards of node"),
        (
            |plan| plan.nodes[1].schedule = Schedule::Dealt,
            "the schedule of node `map` (#1) cannot be changed",
        ),
        (|plan| plan.nodes[2].operator = "map".into(), "the operator of node"),
        (|plan| plan.nodes[2].role = anabranch::plan::Role::Parallel, "serial state"),
        (|plan| drop(plan.edges.pop()), "no edge goes"),
        (|plan| drop(plan.nodes.pop()), "the plan ends with"),
    ] {
        let message = refused(change);
        assert!(message.starts_with("with_plan: ") && message.contains(said), "{message}");
    }
}

/// Counts when the thread that owns it has dropped it.
struct Marker<'m>(&'m AtomicUsize);

thread_local! {
    static KEPT: std::cell::RefCell<Option<Marker<'static>>> = const { std::cell::RefCell::new(None) };
}

impl Drop for Marker<'_> {
    fn drop(&mut self) {
        thread::sleep(std::time::Duration::from_millis(20));
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn what_helpers_keep_in_thread_local_variables_is_dropped_when_the_call_returns() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    let caller = thread::current().id();
    let met = Barrier::new(3);
    Stream::from_iter(0..3u64).workers(3).burst(1).map(|_| met.wait()).for_each(|_| {});
    Stream::from_iter(0..300u64)
        .workers(3)
        .burst(1)
        .map(|_| {
            if thread::current().id() != caller {
                KEPT.with_borrow_mut(|kept| {
                    kept.get_or_insert_with(|| {
                        MADE.fetch_add(1, Ordering::SeqCst);
                        Marker(&DROPPED)
                    });
                });
            }
        })
        .for_each(drop);
    assert_eq!(DROPPED.load(Ordering::SeqCst), MADE.load(Ordering::SeqCst));
}
