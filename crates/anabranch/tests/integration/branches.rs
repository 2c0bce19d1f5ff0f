//! Streams with branches and loops, case by case. `generator` draws them at random.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

use crate::contract_support::watchdog::{Gate, PLANTED, hush, message, panic_of, within};
use anabranch::{CancelToken, Lap, Monitor, ReportSlot, Stream};

/// A token that knows how many of its kind live.
#[derive(Debug)]
struct Token {
    origin: u64,
    value: u64,
    live: Arc<AtomicI64>,
}

impl Token {
    fn new(origin: u64, value: u64, live: &Arc<AtomicI64>) -> Self {
        live.fetch_add(1, Ordering::Relaxed);
        Self { origin, value, live: Arc::clone(live) }
    }

    fn with(&self, value: u64) -> Self {
        Self::new(self.origin, value, &self.live)
    }
}

impl Clone for Token {
    fn clone(&self) -> Self {
        self.with(self.value)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn serial_stages_of_two_branches_run_at_the_same_time() {
    within(|| {
        let meeting = Barrier::new(2);
        let meet = |n: u32| {
            meeting.wait();
            n
        };
        let pairs = Stream::from_iter(0..100)
            .workers(2)
            .broadcast()
            .branch(|items| items.serial_map(meet))
            .branch(|items| items.serial_map(meet))
            .zip();
        assert_eq!(pairs.count(), 100);
    });
}

#[test]
fn a_branch_is_at_most_one_window_ahead() {
    within(|| {
        let (slow, ahead) = (AtomicU64::new(0), AtomicU64::new(0));
        let pairs = Stream::from_iter(0..2_000u64)
            .workers(3)
            .window(16)
            .broadcast()
            .branch(|items| {
                items.serial_map(|n| {
                    ahead.fetch_max(n - slow.load(Ordering::SeqCst).min(n), Ordering::SeqCst);
                })
            })
            .branch(|items| {
                items.serial_map(|n| {
                    (0..200).for_each(|n| _ = std::hint::black_box(n));
                    slow.store(n, Ordering::SeqCst);
                })
            })
            .zip();
        assert_eq!(pairs.count(), 2_000);
        assert!(ahead.load(Ordering::SeqCst) <= 16, "{ahead:?}");
    });
}

/// A source that gives its second item only after the result of the first one was seen.
fn second_after(seen: &Gate) -> Stream<'_, i32> {
    Stream::from_iter([1, 2].into_iter().inspect(|&given| {
        if given == 2 {
            seen.pass();
        }
    }))
}

#[test]
fn a_result_of_branches_does_not_wait_for_the_source() {
    within(|| {
        for workers in [1, 2, 3] {
            let seen = Gate::default();
            let source = second_after(&seen);
            let pairs = source
                .workers(workers)
                .broadcast()
                .branch(|items| items.map(|n| n + 1))
                .branch(|items| items.serial_map(|n| n + 2))
                .zip();
            pairs.for_each(|_| seen.open());
        }
    });
}

#[test]
fn an_item_in_a_loop_does_not_wait_for_the_source() {
    within(|| {
        for workers in [1, 2] {
            let seen = Gate::default();
            let source = second_after(&seen);
            let lap = |n: i32| if n < 100 { Lap::Again(n + 10) } else { Lap::Done(n) };
            source.workers(workers).feedback(1, |laps| laps.map(lap)).for_each(|_| seen.open());
        }
    });
}

#[test]
fn an_end_that_breaks_off_stops_branches_and_loops() {
    within(|| {
        let live = Arc::new(AtomicI64::new(0));
        let count = Arc::clone(&live);
        let numbers = Stream::from_iter((0..).map(move |n| Token::new(n, n, &count)));
        let lap = |item: Token| {
            if item.value.is_multiple_of(3) { Lap::Done(item) } else { Lap::Again(item.with(item.value + 1)) }
        };
        let found = numbers
            .workers(3)
            .window(32)
            .broadcast()
            .branch(|items| items.map(|item| item))
            .branch(|items| items.serial_map(|item| item))
            .merge()
            .feedback(8, |laps| laps.map(lap))
            .find(|item| item.origin == 500);
        assert_eq!(found.map(|item| item.origin), Some(500));
        assert_eq!(live.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_token_stops_branches_and_loops() {
    within(|| {
        let token = CancelToken::new();
        let stop = token.clone();
        let lap = |n: u64| Lap::<u64, u64>::Again(n + 1);
        let endless = Stream::from_iter(0..10u64).workers(2).cancel_by(&token);
        let endless = endless.broadcast().branch(|items| items).branch(|items| items.map(|n| n)).merge();
        let endless = endless.feedback(4, |laps| laps.map(lap).inspect(move |_| stop.cancel()));
        assert_eq!(endless.count(), 0);
        assert!(token.stopped().is_some());
    });
}

#[test]
fn many_items_come_of_one_in_a_loop() {
    within(|| {
        // A tree of 2^15 leaves.
        let grow = |(depth, n): (u32, u64)| {
            if depth == 15 {
                vec![Lap::Done(n)]
            } else {
                vec![Lap::Again((depth + 1, 2 * n)), Lap::Again((depth + 1, 2 * n + 1))]
            }
        };
        let leaves = |workers: usize| {
            let stream = Stream::from_iter([(0, 0u64)]).workers(workers).window(64);
            stream.feedback(64, |nodes| nodes.flat_map(grow)).collect::<Vec<_>>()
        };
        let alone = leaves(1);
        assert_eq!(leaves(3), alone);
        let mut sorted = alone;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1 << 15).collect::<Vec<u64>>());
    });
}

#[test]
fn a_farm_of_workers_that_differ_keeps_the_order() {
    within(|| {
        let mut calls = [0, 0, 0];
        let workers: Vec<Box<dyn FnMut(u64) -> u64 + Send>> = calls
            .iter_mut()
            .map(|calls| -> Box<dyn FnMut(u64) -> u64 + Send> {
                Box::new(move |n| {
                    *calls += 1;
                    n * n
                })
            })
            .collect();
        let squares = Stream::from_iter(0..1_000).workers(4).farm(workers).collect::<Vec<_>>();
        assert_eq!(squares, (0..1_000).map(|n| n * n).collect::<Vec<_>>());
        assert_eq!(calls.iter().sum::<u64>(), 1_000);
    });
}

#[test]
fn a_farm_fails_as_the_loop_would() {
    hush();
    within(|| {
        for workers in 1..4 {
            let fails = |n: u64| if n % 50 == 49 { Err(n) } else { Ok(n) };
            let failed = Stream::from_iter(0..1_000).workers(workers).try_farm([fails; 3]).count();
            assert_eq!(failed, Err(49));
            let panics = |n: u64| assert!(n % 50 != 49, "{PLANTED}{n}");
            let run = || Stream::from_iter(0..1_000).workers(workers).farm([panics; 3]).count();
            assert_eq!(message(&*panic_of(run)), format!("{PLANTED}49"));
        }
    });
}

#[test]
fn errors_of_branches_become_one_error() {
    let parse = |text: &str| text.parse::<u32>().map_err(|_| text.len());
    let run = |texts: [&'static str; 2]| {
        Stream::from_iter(texts)
            .broadcast()
            .branch(|texts| texts.try_map(parse))
            .branch(|texts| texts.map(str::len))
            .branch(|texts| texts.try_serial_map(|text| text.parse::<i8>()).map_err(|_| 0))
            .zip()
            .collect::<Vec<_>>()
    };
    assert_eq!(run(["1", "20"]), Ok(vec![(1, 1, 1), (20, 2, 20)]));
    assert_eq!(run(["1", "x"]), Err(1));
    assert_eq!(run(["300", "x"]), Err(0));
}

#[test]
fn what_cannot_be_in_a_branch_says_so() {
    hush();
    let told = |body: &mut dyn FnMut()| message(&*panic_of(body));
    let spread = told(&mut || {
        let _ = Stream::from_iter(0..2).broadcast().branch(|items| items.serial_flat_map(|n| 0..n));
    });
    assert!(spread.contains("use `flat_map` in the branch"), "{spread}");
    let unordered = told(&mut || {
        let _ = Stream::from_iter(0..2).broadcast().branch(|items| items.unordered());
    });
    assert!(unordered.contains("use `unordered` before the fork"), "{unordered}");
    let other = told(&mut || {
        let _ = Stream::from_iter(0..2).broadcast().branch(|_| Stream::from_iter(0..2));
    });
    assert!(other.contains("must return the stream that it was given"), "{other}");
    let looped = told(&mut || {
        let lap = Lap::<i32, i32>::Done;
        let _ = Stream::from_iter(0..2).feedback(1, |laps| laps.spread().map(lap));
    });
    assert!(looped.contains("a stage of a feedback must not"), "{looped}");
}

#[test]
fn a_plan_shows_branches_and_loops() {
    let stream = Stream::from_iter(0..10u64)
        .broadcast()
        .branch(|items| items.named("double").map(|n| n))
        .branch(|items| items.named("count").serial_map(|n| n))
        .zip()
        .map(|(n, _)| n)
        .feedback(8, |laps| laps.map(Lap::<u64, u64>::Done));
    let plan = stream.plan();
    assert_eq!(plan.validate(), Ok(()));
    let text = plan.to_string();
    for part in
        ["branch 1", "branch 2", "to count (#3)", "to zip (#4)", "again 8 places later, to feedback (#6)"]
    {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let dot = plan.to_dot();
    for part in ["n1 -> n2", "n1 -> n3", "n2 -> n4", "n3 -> n4", "n8 -> n6", "style=dotted"] {
        assert!(dot.contains(part), "{part} is missing in\n{dot}");
    }
    assert!(plan.to_svg().contains("again 8 places later"));
    assert_eq!(stream.count(), 10);
}

#[test]
fn reports_and_monitors_see_branches_and_loops() {
    within(|| {
        let monitor = Monitor::new();
        let lap = |n: u64| if n < 1_000 { Lap::Again(n + 300) } else { Lap::Done(n) };
        let stream = Stream::from_iter(0..1_000u64).workers(2).watch(&monitor);
        let stream = stream
            .broadcast()
            .branch(|items| items.map(|n| n))
            .branch(|items| items.serial_map(|n| n))
            .merge();
        let slot = ReportSlot::new();
        let count = stream.feedback(16, |laps| laps.map(lap)).report_to(&slot).count();
        let report = slot.take().unwrap();
        assert_eq!(count, 2_000);
        let items = |name: &str| report.nodes().iter().find(|node| node.name == name).map(|node| node.items);
        assert_eq!((items("broadcast"), items("feedback")), (Some(1_000), Some(2_000)), "{report}");
    });
}

#[test]
fn branches_follow_blocks_and_streams_without_order() {
    within(|| {
        let squares = |workers: usize| {
            let stream = Stream::from_range(0..5_000).workers(workers).map(|n| n + 1).broadcast();
            let stream = stream.branch(|items| items.map(|n| n * n)).branch(|items| items.serial_map(|n| n));
            stream.zip().collect::<Vec<(u64, u64)>>()
        };
        assert_eq!(squares(3), squares(1));
        let stream = Stream::from_iter(0..2_000u64).workers(3).unordered().map(|n| n + 1).broadcast();
        let pairs = stream.branch(|items| items.map(|n| n * n)).branch(|items| items.serial_map(|n| n)).zip();
        let mut pairs: Vec<(u64, u64)> = pairs.collect();
        pairs.sort_unstable();
        assert_eq!(pairs, (1..=2_000).map(|n| (n * n, n)).collect::<Vec<_>>());
    });
}
