//! Items get the results of the other items that they need, in any schedule; needs that cannot be met are errors (C1, C2, C9).
//! The generator draws needs that can be met, with failures and panics. Here needs are any, so the reference is a recursion that
//! knows which are never met.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use crate::contract_support::random;
use crate::contract_support::watchdog::{Gate, within};
use anabranch::{CancelToken, Pool, Stream, Unmet};
use proptest::prelude::*;

/// The needs of items: for each, numbers relative to its own.
type Needs = Vec<Vec<i64>>;

/// The known state of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Result(u64),
    Never,
}

/// The numbers that item `at` needs. None is below 0.
fn needed(needs: &Needs, at: usize) -> Vec<u64> {
    needs[at].iter().filter_map(|away| u64::try_from(at as i64 + away).ok()).collect()
}

/// The items that `at` needs, directly or not, and itself if it is in a cycle.
fn closure(needs: &Needs, at: usize) -> BTreeSet<usize> {
    let (mut all, mut open) = (BTreeSet::new(), vec![at]);
    while let Some(next) = open.pop() {
        if next < needs.len() {
            open.extend(needed(needs, next).into_iter().map(|n| n as usize).filter(|n| all.insert(*n)));
        }
    }
    all
}

fn mixed(item: u64, results: impl Iterator<Item = u64>) -> u64 {
    results.fold(item, |mixed, result| (mixed ^ result).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7))
}

/// The results of the items, by a plain recursion.
fn oracle(needs: &Needs, reach: usize) -> Vec<Fate> {
    let is_bad = |at: usize| {
        let all = closure(needs, at);
        let far = |n: u64| n.abs_diff(at as u64) > reach as u64;
        all.contains(&at)
            || needed(needs, at).into_iter().any(far)
            || all.iter().any(|&n| n >= needs.len() || n > at + reach)
    };
    let is_never = |at: usize| is_bad(at) || closure(needs, at).into_iter().any(is_bad);
    fn result(needs: &Needs, at: usize) -> u64 {
        mixed(at as u64, needed(needs, at).into_iter().map(|n| result(needs, n as usize)))
    }
    let never: Vec<bool> = (0..needs.len()).map(is_never).collect();
    never
        .iter()
        .enumerate()
        .map(|(at, &never)| if never { Fate::Never } else { Fate::Result(result(needs, at)) })
        .collect()
}

/// Whether the error tells the truth.
fn holds(unmet: &Unmet, needs: &Needs, reach: usize) -> bool {
    let needs_it = |item: u64, other: u64| needed(needs, item as usize).contains(&other);
    match unmet {
        Unmet::Cycle { items } => {
            let next = items.iter().cycle().skip(1);
            items.iter().zip(next).all(|(&item, &next)| needs_it(item, next))
        }
        Unmet::OutOfReach { item, needed, reach: said } => {
            let waits =
                needs_it(*item, *needed) || closure(needs, *item as usize).contains(&(*needed as usize));
            *said == reach && waits && item.abs_diff(*needed) > reach as u64
        }
        Unmet::Missing { item, needed, items } => {
            *items == needs.len() as u64 && needs_it(*item, *needed) && needed >= items
        }
    }
}

/// Runs `property` for random needs. Most of them can be met if `meets` is set.
fn for_all(
    meets: bool,
    property: impl Fn(Needs, usize, (usize, usize, u8), &Pool) -> Result<(), TestCaseError> + Send + 'static,
) {
    random::within(150, move |config| {
        let pool = Pool::new(2);
        // Chains are short, so that the plain recursion ends soon.
        let kinds = prop_oneof![
            4 => Just(vec![]),
            2 => (-2..0i64, prop::bool::ANY).prop_map(|(away, two)| if two { vec![away, 1] } else { vec![away] }),
            1 => (1..3i64).prop_map(|away| vec![away]),
        ];
        let wild = prop::collection::vec(-4..5i64, 0..2);
        let mixed = prop_oneof![12 => kinds.clone(), 1 => wild];
        let needs = if meets {
            // Every second item needs its neighbours, or what is before it.
            prop::collection::vec(kinds, 0..80)
                .prop_map(|mut needs| {
                    let len = needs.len();
                    for (at, of_item) in needs.iter_mut().enumerate() {
                        let even = at % 2 == 0;
                        of_item.retain(|&away| if even { away == -2 } else { away % 2 != 0 });
                        of_item.retain(|&away| at as i64 + away >= 0 && at as i64 + away < len as i64);
                        if even && at % 8 == 0 {
                            of_item.clear();
                        }
                    }
                    needs
                })
                .boxed()
        } else {
            prop::collection::vec(mixed, 0..60).boxed()
        };
        let strategy = (needs, 0..6usize, (1..5usize, 1..20usize, 0..3u8));
        random::for_all(config, strategy, |(needs, reach, setting)| property(needs, reach, setting, &pool));
    });
}

/// The stream of the results, which runs as the setting says: workers, window, and how.
macro_rules! stream {
    ($needs:expr, $reach:expr, $setting:expr, $pool:expr, $f:expr) => {{
        let (workers, window, how) = $setting;
        let stream = Stream::from_iter(0..$needs.len() as u64).window(window);
        let stream = match how {
            0 => stream.workers(workers),
            1 => stream.pool($pool),
            _ => stream.workers(workers).inline(),
        };
        stream.map_dependent($reach, |number, _: &u64| needed($needs, number as usize), $f)
    }};
}

fn compare(
    needs: &Needs,
    reach: usize,
    setting: (usize, usize, u8),
    pool: &Pool,
) -> Result<(), TestCaseError> {
    let fates = oracle(needs, reach);
    let expected: Vec<u64> = fates
        .iter()
        .map_while(|fate| if let Fate::Result(result) = fate { Some(*result) } else { None })
        .collect();
    let mut found = Vec::new();
    let compute = |item: u64, others: &[std::sync::Arc<u64>]| mixed(item, others.iter().map(|other| **other));
    let ended = stream!(needs, reach, setting, pool, compute).for_each(|result| found.push(*result));
    prop_assert_eq!(&found, &expected);
    match ended {
        Ok(()) => prop_assert_eq!(found.len(), needs.len()),
        Err(unmet) => {
            prop_assert!(found.len() < needs.len());
            prop_assert!(holds(&unmet, needs, reach), "{unmet}");
        }
    }
    Ok(())
}

#[test]
fn results_are_those_of_the_recursion() {
    for_all(true, |needs, _, setting, pool| compare(&needs, 5, setting, pool));
}

#[test]
fn needs_that_are_not_met_are_errors_at_the_first_item_that_waits_for_ever() {
    for_all(false, |needs, reach, setting, pool| compare(&needs, reach, setting, pool));
}

#[test]
fn errors_name_the_items() {
    let run = |needs: &[(u64, &[u64])], reach| {
        let needs = |number: u64, _: &u64| {
            let of_item = needs.iter().find(|(item, _)| *item == number);
            of_item.map_or(vec![], |(_, needs)| needs.to_vec())
        };
        let count =
            Stream::from_iter(0..10u64).workers(2).map_dependent(reach, needs, |item, _| item).count();
        count.unwrap_err().to_string()
    };
    assert_eq!(
        run(&[(2, &[4]), (4, &[3]), (3, &[2])], 3),
        "items need the results of each other: 2 needs 4 needs 3 needs 2"
    );
    assert_eq!(run(&[(5, &[5])], 3), "item 5 needs its own result");
    assert_eq!(run(&[(5, &[1])], 3), "item 5 waits for item 1, which is more than 3 items away");
    assert_eq!(run(&[(1, &[3]), (3, &[6])], 3), "item 1 waits for item 6, which is more than 3 items away");
    assert_eq!(
        run(&[(8, &[9]), (9, &[11])], 3),
        "item 9 needs the result of item 11, but the stream has 10 items"
    );
}

#[test]
fn a_worker_goes_on_while_an_item_waits() {
    within(|| {
        // Item 1 needs item 0, which ends only when items 2 to 9 have: the other worker must go on to them.
        let (sender, receiver) = channel();
        let receiver = std::sync::Mutex::new(receiver);
        let needs = |number: u64, _: &u64| (number == 1).then_some(0);
        let stream = Stream::from_iter(0..10u64).workers(2).map_dependent(1, needs, |item, _| {
            match item {
                0 => (0..8).for_each(|_| receiver.lock().unwrap().recv().unwrap()),
                1 => {}
                _ => sender.send(()).unwrap(),
            }
            item
        });
        let results = stream.map(|result| *result).collect::<Vec<_>>();
        assert_eq!(results, Ok((0..10).collect()));
    });
}

/// A chain: each item needs the one before it.
fn chain(number: u64, _: &u64) -> Option<u64> {
    number.checked_sub(1)
}

#[test]
fn an_end_that_needs_no_more_stops_a_chain() {
    // One worker takes each result to the end before it computes the next one.
    let calls = AtomicUsize::new(0);
    let results =
        Stream::from_iter(0..2_000u64).workers(1).window(4_096).map_dependent(1, chain, |item, _| {
            calls.fetch_add(1, Ordering::Relaxed);
            item
        });
    assert_eq!(results.take(3).map(|result| *result).collect::<Vec<_>>(), Ok(vec![0, 1, 2]));
    assert_eq!(calls.into_inner(), 3);
}

#[test]
fn a_cancel_stops_items_that_need_others_within_an_item() {
    let star = |number: u64, _: &u64| (number > 0).then_some(0);
    for workers in 1..=4 {
        for is_chain in [true, false] {
            let (token, calls) = (CancelToken::new(), AtomicUsize::new(0));
            let is_cancelled = AtomicBool::new(false);
            let needs = |number, item: &u64| if is_chain { chain(number, item) } else { star(number, item) };
            let stream = Stream::from_iter(0..2_000u64).workers(workers).window(4_096).cancel_by(&token);
            let results = stream.map_dependent(4_096, needs, |item, _| {
                if is_cancelled.load(Ordering::SeqCst) {
                    calls.fetch_add(1, Ordering::Relaxed);
                }
                if item == 25 {
                    token.cancel();
                    is_cancelled.store(true, Ordering::SeqCst);
                }
                item
            });
            assert!(results.count().is_ok_and(|count| count <= 2_000));
            let calls = calls.into_inner();
            assert!(calls < workers, "{calls} calls of {workers} workers began after the cancel");
        }
    }
}

#[test]
fn items_that_need_one_result_run_at_the_same_time() {
    within(|| {
        // Each of the first calls behind item 0 waits until another one has begun.
        let (begun, others) = (AtomicUsize::new(0), Gate::default());
        let star = |number: u64, _: &u64| (number > 0).then_some(0);
        let results = Stream::from_iter(0..64u64).workers(2).burst(1).map_dependent(64, star, |item, _| {
            if item > 0 && begun.fetch_add(1, Ordering::SeqCst) == 0 {
                others.pass();
            } else if item > 0 {
                others.open();
            }
            item
        });
        assert_eq!(results.count(), Ok(64));
    });
}

#[test]
fn a_long_chain_is_dropped_without_recursion() {
    within(|| {
        // The first item ends the run, and no other item was computed.
        let (items, token) = (200_000u64, CancelToken::new());
        let has_come = Gate::default();
        let needs = |number, item: &u64| {
            if number + 1 == items {
                has_come.open();
            }
            chain(number, item)
        };
        let stream = Stream::from_iter(0..items).workers(2).window(items as usize).cancel_by(&token);
        let results = stream.map_dependent(1, needs, |item, _| {
            has_come.pass();
            token.cancel();
            item
        });
        assert!(results.count().is_ok());
    });
}

#[test]
fn many_items_that_wait_for_a_far_one_are_no_search_for_cycles() {
    within(|| {
        // Items of two chains, of which the odd one waits for the last item. Each even item is needed when it comes.
        let far = 16_001u64;
        let needs = |number: u64, _: &u64| match number {
            _ if number == far => vec![],
            1 => vec![far],
            _ if number % 2 == 1 => vec![number - 2, number + 1],
            2 => vec![1],
            0 => vec![],
            _ => vec![number - 3],
        };
        let stream = Stream::from_iter(0..=far).workers(2).map_dependent(far as usize, needs, |item, _| item);
        assert_eq!(stream.map(|item| *item).sum::<u64>(), Ok(far * (far + 1) / 2));
    });
}

#[test]
fn the_first_of_several_errors_counts() {
    #[derive(Debug, PartialEq)]
    enum Trouble {
        Input(u64),
        Unmet(Unmet),
    }
    impl From<Unmet> for Trouble {
        fn from(unmet: Unmet) -> Self {
            Trouble::Unmet(unmet)
        }
    }
    let run = |fails_at: u64, needs_at: u64| {
        Stream::from_iter(0..100u64)
            .workers(2)
            .try_map(|n| if n == fails_at { Err(Trouble::Input(n)) } else { Ok(n) })
            .try_map_dependent(
                3,
                |number, _| (number == needs_at).then_some(number),
                |item, _: &[_]| {
                    if item == 70 { Err(Trouble::Input(item)) } else { Ok(item) }
                },
            )
            .map(|item| *item)
            .collect::<Vec<_>>()
    };
    assert_eq!(run(50, 60), Err(Trouble::Input(50)));
    assert_eq!(run(60, 50), Err(Trouble::Unmet(Unmet::Cycle { items: vec![50] })));
    assert_eq!(run(100, 100), Err(Trouble::Input(70)));
}
