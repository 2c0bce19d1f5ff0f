//! Sources that never wait: their items travel in blocks, and nothing but the time shows it. The random streams of
//! `generator` check the contract for them too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use anabranch::plan::Plan;
use anabranch::{CancelToken, Monitor, ReportSlot, Shards, Source, Stream, Watch};

/// The message of the panic that `f` ends with.
fn panic_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| payload.downcast_ref::<&str>().unwrap().to_string())
}

#[test]
fn a_source_that_never_waits_is_asked_for_a_block_before_the_first_item_goes_on() {
    let asked = AtomicU64::new(0);
    let numbers = (0..500u64).inspect(|_| {
        asked.fetch_add(1, Ordering::Relaxed);
    });
    let mut seen = Vec::new();
    Source::new(numbers).in_blocks().into_stream().burst(50).inline().for_each(|n| {
        assert_eq!(asked.load(Ordering::Relaxed), (n / 50 + 1) * 50);
        seen.push(n);
    });
    assert_eq!(seen, (0..500).collect::<Vec<_>>());
}

#[test]
fn the_sources_in_memory_give_all_their_items_in_order() {
    for workers in [1, 2, 3, 8] {
        for items in [0, 1, 2, 7, 100, 30_000u64] {
            let numbers: Vec<u64> = (0..items).collect();
            let doubled: Vec<u64> = numbers.iter().map(|n| 2 * n).collect();
            assert_eq!(
                Stream::from_slice(&numbers).workers(workers).map(|n| 2 * n).collect::<Vec<_>>(),
                doubled
            );
            assert_eq!(
                Stream::from_range(0..items).workers(workers).map(|n| 2 * n).collect::<Vec<_>>(),
                doubled
            );
            assert_eq!(
                Source::new(numbers)
                    .in_blocks()
                    .into_stream()
                    .workers(workers)
                    .map(|n| 2 * n)
                    .collect::<Vec<_>>(),
                doubled
            );
        }
    }
    let (later, earlier) = (7, 3);
    assert_eq!(Stream::from_range(later..earlier).count(), 0);
    assert_eq!(Stream::from_range(u64::MAX - 2..u64::MAX).map(|n| n - u64::MAX / 2).count(), 2);
}

#[test]
fn no_more_items_than_the_window_allows_are_in_flight() {
    for workers in [1, 2, 5] {
        for window in [1, 2, 3, 10, 64, 1_000] {
            for burst in [None, Some(1), Some(7), Some(10_000)] {
                let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let numbers = (0..5_000u64).inspect(|_| {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                });
                let mut stream =
                    Source::new(numbers).in_blocks().into_stream().workers(workers).window(window);
                if let Some(burst) = burst {
                    stream = stream.burst(burst);
                }
                stream.map(|n| n + 1).for_each(|_| {
                    now.fetch_sub(1, Ordering::SeqCst);
                });
                let most = most.into_inner();
                assert!(most <= window, "{workers} workers, window {window}, burst {burst:?}: {most}");
            }
        }
    }
}

#[test]
fn dear_items_behind_cheap_ones_are_shared_by_the_workers() {
    // After 20,000 cheap items, two must be in the stage at once. Each waits for the other one.
    let met = std::sync::Barrier::new(2);
    let dear = |n: u64| {
        if n >= 20_000 {
            std::thread::sleep(Duration::from_millis(2));
        }
        if n == 20_100 || n == 20_101 {
            met.wait();
        }
        n
    };
    let stream = Stream::from_range(0..20_102).workers(2).map(dear);
    assert_eq!(stream.sum::<u64>(), (0..20_102u64).sum::<u64>());
}

#[test]
fn the_error_of_a_source_comes_behind_the_items_before_it() {
    for workers in [1, 2, 4] {
        for at in [0, 1, 40, 999] {
            let items = (0..1_000u64).map(|n| if n == at { Err(n) } else { Ok(n) });
            let mut seen = Vec::new();
            let stream =
                Source::try_new(items).in_blocks().into_stream().workers(workers).burst(64).map(|n| n);
            assert_eq!(stream.for_each(|n| seen.push(n)), Err(at));
            assert_eq!(seen, (0..at).collect::<Vec<_>>());

            let seen = Mutex::new(Vec::new());
            let numbers = (0..1_000u64).inspect(|&n| assert!(n != at, "item {n}"));
            let stream = Source::new(numbers).in_blocks().into_stream().workers(workers).burst(64).map(|n| n);
            let message = panic_of(|| stream.for_each(|n| seen.lock().unwrap().push(n)));
            assert_eq!(message, format!("item {at}"));
            assert_eq!(seen.into_inner().unwrap(), (0..at).collect::<Vec<_>>());
        }
    }
}

#[test]
fn an_endless_source_is_not_asked_for_ever() {
    for workers in [1, 2, 4] {
        let asked = AtomicUsize::new(0);
        let numbers = (0u64..).inspect(|_| {
            asked.fetch_add(1, Ordering::Relaxed);
        });
        let stream = Source::new(numbers).in_blocks().into_stream().workers(workers).window(100);
        assert_eq!(stream.map(|n| n * n).find(|&n| n >= 10_000), Some(10_000));
        assert!(asked.into_inner() <= 201);
    }
}

#[test]
fn items_that_somebody_counts_on_their_way_travel_one_by_one() {
    let in_blocks = |plan: Plan| plan.nodes[0].in_blocks;
    let stream = || Stream::from_range(0..1_000).workers(2);
    assert!(in_blocks(stream().plan()));
    assert!(in_blocks(stream().map(|n| n).serial_map(|n| n).plan()));
    assert!(!in_blocks(Stream::from_iter(0..1_000).plan()));
    assert!(!in_blocks(stream().cancel_by(&CancelToken::new()).plan()));
    assert!(!in_blocks(stream().watch(Watch::progress(|_| ())).plan()));
    assert!(!in_blocks(stream().watch(&Monitor::new()).plan()));
    assert!(!in_blocks(stream().watch(Watch::stalls(Duration::from_secs(60), |_| ())).plan()));
    let weighed = Source::new(0..1_000).in_blocks().window_bytes(100, |_| 8).into_stream();
    assert!(!in_blocks(weighed.plan()));
    assert!(!in_blocks(stream().unordered().map(|n| n).serial_map(|n| n).plan()));
    assert!(stream().explain().contains("in blocks"), "{}", stream().explain());

    let mut last = 0;
    stream().watch(Watch::progress(|progress| last = progress.items)).for_each(drop);
    assert_eq!(last, 1_000);

    let token = CancelToken::new();
    let stopped = Mutex::new(0);
    stream().burst(100).cancel_by(&token).window(10).map(|n| n).for_each(|n| {
        *stopped.lock().unwrap() += 1;
        if n == 500 {
            token.cancel();
        }
    });
    assert!(stopped.into_inner().unwrap() <= 511);
}

#[test]
fn a_report_counts_items_and_not_blocks() {
    for workers in [1, 2] {
        let stream = Stream::from_range(0..10_000).workers(workers).filter(|n| n % 4 == 0).serial_map(|n| n);
        let slot = ReportSlot::new();
        let count = stream.report_to(&slot).count();
        let report = slot.take().unwrap();
        assert_eq!(count, 2_500);
        let items: Vec<u64> = report.nodes().iter().map(|node| node.items).collect();
        assert_eq!(items[0], 10_000, "{workers} workers: {items:?}");
        assert_eq!(items[1..], [10_000, 2_500, 2_500][..], "{workers} workers: {items:?}");
    }
}

#[test]
fn the_plan_says_whether_items_travel_in_blocks_and_is_obeyed() {
    let asked = AtomicU64::new(0);
    let numbers = (0..100u64).inspect(|_| {
        asked.fetch_add(1, Ordering::Relaxed);
    });
    let stream = Source::new(numbers).in_blocks().into_stream().burst(10).inline();
    stream.with_plan(|plan| plan.nodes[0].in_blocks = false).for_each(|n| {
        assert_eq!(asked.load(Ordering::Relaxed), n + 1);
    });

    let single = Stream::from_iter(0..10).with_plan(|plan| plan.nodes[0].in_blocks = true);
    assert_eq!(
        panic_of(|| single.for_each(drop)),
        "with_plan: the blocks of node `from_iter` (#0) cannot be changed: the code that runs was made for the old one"
    );
    let stage = Stream::from_range(0..10).map(|n| n).with_plan(|plan| plan.nodes[1].in_blocks = true);
    assert_eq!(
        panic_of(|| stage.for_each(drop)),
        "with_plan: node `map` (#1) is to give its items in blocks, which only a source does"
    );

    // The order is given up in the plan, so the blocks are too.
    let arrived = Stream::from_range(0..1_000).workers(3).map(|n| n).serial_map(|n| n);
    let stream = arrived.with_plan(|plan| plan.give_order_up(plan.nodes[1].id));
    assert!(!stream.plan().nodes[0].in_blocks);
    assert_eq!(stream.sum::<u64>(), 499_500);
}

#[test]
fn blocks_become_single_items_where_a_stage_needs_them() {
    let numbers: Vec<u64> = (0..5_000).collect();
    let boxed: Stream<u64> = Stream::from_slice(&numbers).map(|n| n + 1);
    assert_eq!(boxed.map(|n| n - 1).collect::<Vec<_>>(), numbers);

    let totals =
        |stream: Vec<(u64, u64)>| stream.iter().fold(0u64, |sum, pair| sum.wrapping_mul(31) + pair.1);
    let sharded = Stream::from_slice(&numbers).workers(3).map_sharded(
        Shards::by_key(4, |n: &&u64| **n % 7),
        std::collections::HashMap::<u64, u64>::new,
        |sums, n| {
            let sum = sums.entry(n % 7).or_default();
            *sum += n;
            (*n, *sum)
        },
    );
    let mut sums = [0; 7];
    let plain = numbers.iter().map(|&n| {
        sums[n as usize % 7] += n;
        (n, sums[n as usize % 7])
    });
    let plain: Vec<(u64, u64)> = plain.collect();
    assert_eq!(totals(sharded.collect()), totals(plain));

    let flat = Source::new(vec![1u64, 2, 3]).in_blocks().into_stream().flat_map(|n| 0..n).map_sharded(
        Shards::dealt(2),
        || 0,
        |seen: &mut u64, n| {
            *seen += 1;
            n
        },
    );
    assert_eq!(flat.collect::<Vec<_>>(), [0, 0, 1, 0, 1, 2]);
}
