//! Promises of streams beyond the generator's plain loop: sums and ends by the order of equal items, iterators that go on after
//! their end, sorting, lengths and time.

use std::time::{Duration, Instant};

use crate::contract_support::random;
use crate::contract_support::watchdog::within;
use anabranch::Stream;
use anabranch::prelude::*;
use proptest::prelude::*;

/// Runs `property` for random items, a number of workers and a window.
fn for_all(property: impl Fn(Vec<i32>, usize, usize) -> Result<(), TestCaseError> + Send + 'static) {
    random::within(60, move |config| {
        let strategy = (prop::collection::vec(-50..50i32, 0..200), 1..4usize, 1..9usize);
        random::for_all(config, strategy, |(items, workers, window)| property(items, workers, window));
    });
}

/// An item that is compared by its key.
#[derive(Debug)]
struct Keyed {
    key: i32,
    at: usize,
}

impl PartialEq for Keyed {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Keyed {}

impl PartialOrd for Keyed {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Keyed {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

#[test]
fn what_depends_on_the_order_of_items_is_that_of_the_iterator() {
    for_all(|items, workers, window| {
        let stream = || Stream::from_slice(&items).workers(workers).window(window).map(Clone::clone);
        let iter = || items.iter().copied();
        prop_assert_eq!(
            stream().map(f64::from).map(|x| x / 7.0).sum::<f64>().to_bits(),
            iter().map(|x| f64::from(x) / 7.0).sum::<f64>().to_bits()
        );
        // The first of equal items is the least, and the last of them the greatest.
        let numbered = || stream().enumerate().map(|(at, n)| Keyed { key: n / 10, at });
        let numbered_iter = || iter().enumerate().map(|(at, n)| Keyed { key: n / 10, at });
        prop_assert_eq!(numbered().min().map(|item| item.at), numbered_iter().min().map(|item| item.at));
        prop_assert_eq!(numbered().max().map(|item| item.at), numbered_iter().max().map(|item| item.at));
        prop_assert_eq!(stream().with_iter(|items| items.last()), iter().last());
        prop_assert_eq!(stream().with_iter(|items| items.nth(7)), iter().nth(7));
        let try_all = |n: i32| if n == -50 { Err("least") } else { Ok(n) };
        let collected: Result<Vec<i32>, &str> = stream().map(try_all).try_map(|result| result).collect();
        prop_assert_eq!(collected, iter().map(try_all).collect());
        let lists = [items.clone(), items.iter().rev().copied().collect()];
        let flat: Vec<i32> = Stream::from_iter(lists.clone()).workers(workers).flatten().collect();
        prop_assert_eq!(flat, lists.concat());
        Ok(())
    });
}

/// An iterator that gives `None` after each third item, and then goes on.
fn broken() -> impl Iterator<Item = i32> + Send {
    let mut n = 0;
    std::iter::from_fn(move || {
        n += 1;
        (n % 4 != 0 && n < 1_000).then_some(n)
    })
}

#[test]
fn an_iterator_that_goes_on_after_its_end_has_ended() {
    for_all(|items, workers, window| {
        let stream = || Stream::from_iter(items.clone()).workers(workers).window(window);
        let iter = || items.iter().copied();
        let ends = || broken().fuse();
        prop_assert_eq!(
            stream().chain(broken()).collect::<Vec<_>>(),
            iter().chain(ends()).collect::<Vec<_>>()
        );
        let mut expected = Vec::new();
        let (mut own, mut other) = (iter(), ends());
        loop {
            let pair = [own.next(), other.next()];
            expected.extend(pair.into_iter().flatten());
            if pair == [None, None] {
                break;
            }
        }
        prop_assert_eq!(stream().interleave(broken()).collect::<Vec<_>>(), expected);
        let source = Stream::from_iter(broken()).workers(workers).window(window);
        prop_assert_eq!(source.collect::<Vec<_>>(), [1, 2, 3]);
        let zipped = stream().zip(broken()).collect::<Vec<_>>();
        prop_assert_eq!(zipped, iter().zip(ends()).collect::<Vec<_>>());
        let times = items.len();
        let all: Vec<i32> = std::iter::repeat_n([1, 2, 3], times).flatten().collect();
        prop_assert_eq!(stream().flat_map(|_| broken()).collect::<Vec<_>>(), all.clone());
        prop_assert_eq!(stream().serial_flat_map(|_| broken()).collect::<Vec<_>>(), all.clone());
        let spread = stream().flat_map(|_| broken()).spread().map(|n| n);
        prop_assert_eq!(spread.collect::<Vec<_>>(), all);
        Ok(())
    });
}

#[test]
fn what_is_out_of_order_within_a_window_is_sorted_and_equal_items_keep_their_order() {
    for_all(|items, workers, window| {
        for reach in [0, 1, 4, 30] {
            // Blocks of so many items are shuffled by reversing them: nothing is further from its place.
            let mut sorted: Vec<(i32, usize)> =
                items.iter().copied().enumerate().map(|(at, n)| (n / 10, at)).collect();
            sorted.sort();
            let numbered: Vec<(i32, usize)> =
                sorted.iter().enumerate().map(|(at, item)| (item.0, at)).collect();
            let mut mixed = numbered.clone();
            mixed.chunks_mut(reach + 1).for_each(<[(i32, usize)]>::reverse);
            let stream = Stream::from_iter(mixed.clone()).workers(workers).window(window).map(|item| item);
            prop_assert_eq!(
                stream.sorted_within_by_key(reach, |item| *item).collect::<Vec<_>>(),
                numbered.clone()
            );
            // By a key, equal ones keep the order in which they came.
            let by_key: Vec<_> =
                Stream::from_iter(mixed.clone()).sorted_within_by_key(reach, |item| item.0).collect();
            let mut expected = mixed;
            expected.sort_by_key(|item| item.0);
            prop_assert_eq!(by_key, expected);
        }
        Ok(())
    });
}

#[test]
fn a_failure_comes_behind_what_it_follows_and_what_is_held_back_is_dropped() {
    within(|| {
        for workers in 1..4 {
            let numbers = Stream::from_iter(0..100u32).workers(workers);
            let failing = numbers.try_map(|n| if n == 50 { Err("fifty") } else { Ok(n) });
            let mut seen = Vec::new();
            let result = failing.sorted_within_by_key(10, |n| *n).for_each(|n| seen.push(n));
            assert_eq!((seen, result), ((0..40).collect(), Err("fifty")));
            let pieces = Stream::from_iter([1u32, 2, 3]).workers(workers).try_flat_map(|n| {
                (0..n).map(move |m| if (n, m) == (3, 1) { Err("three") } else { Ok(10 * n + m) })
            });
            let mut seen = Vec::new();
            assert_eq!(pieces.for_each(|n| seen.push(n)), Err("three"));
            assert_eq!(seen, [10, 20, 21, 30]);
        }
    });
}

#[test]
fn a_parallel_map_knows_its_length_where_its_source_does() {
    within(|| {
        let mut squares = vec![1, 2, 3].par_map_ordered(|n: u64| n * n);
        for left in (0..3).rev() {
            assert!(squares.next().is_some());
            assert_eq!((squares.len(), squares.size_hint()), (left, (left, Some(left))));
        }
        assert_eq!(squares.next(), None);
        let some = (0..10).filter(|n| n % 2 == 0).par_map_ordered(|n| n);
        assert_eq!(some.size_hint(), (0, Some(10)));
        assert_eq!(some.count(), 5);
    });
}

#[test]
fn no_more_items_go_through_in_a_stretch_of_time_than_was_said() {
    within(|| {
        for (workers, most) in [(1, 1), (2, 3), (3, 7)] {
            let per = Duration::from_millis(4);
            let began = Instant::now();
            let numbers: Vec<u32> = Stream::from_iter(0..20).workers(workers).throttle(most, per).collect();
            assert_eq!(numbers, (0..20).collect::<Vec<_>>());
            // Each item goes through a stretch of time or more behind the one that is so many before it.
            assert!(began.elapsed() >= per * (19 / most as u32));
        }
    });
}
