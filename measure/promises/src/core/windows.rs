//! Windows: a long sliding window beside a short one, many that are open at once, and windows by key beside those of other
//! libraries.

use std::cell::RefCell;
use std::collections::BTreeMap;

use anabranch::{CountWindows, SessionWindows, Stream, TimeWindows};

use super::{Setup, nanos};
use measure_harness::builds;
use measure_harness::rival::Rival;
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

const GROUP: &str = "windows";

pub fn rows(setup: &Setup) -> Vec<Row> {
    let mut rows = vec![long_beside_short(setup)];
    rows.extend(many_open(setup));
    rows.extend(by_key(setup));
    rows
}

/// How many items are in the short and in the long window.
const SIZES: [usize; 2] = [10, 1_000];

fn long_beside_short(setup: &Setup) -> Row {
    let items = setup.bare_items() / 4;
    let contenders = SIZES.map(|size| {
        Contender::timed(format!("of {size}"), highest(items, size), move || highest(items, size))
    });
    let rounds = measure(setup.budget, Some(setup.probe()), contenders.into());
    let what = "sliding window of 1,000 with `combine`: times one of 10";
    Row::new(GROUP, what, (Target::AtMost(3.0), Unit::Times), &rounds, |rounds| {
        let [short, long] = [0, 1].map(|at| nanos(rounds.median(|round| round.samples[at]), items));
        (
            rounds.summary(|round| round.samples[1] / round.samples[0]),
            format!("{short:.1} ns and {long:.1} ns an item"),
        )
    })
}

fn highest(items: u64, size: usize) -> Digest {
    Stream::from_range(0..items)
        .map(scrambled)
        .aggregate_windows(CountWindows::sliding(size, 1), |n| n, u64::max)
        .fold(Digest::EMPTY, |digest, window| digest.with(window.value))
}

/// How many items a stream has whose windows are all open at once.
const OPEN_ITEMS: u64 = 80_000;
/// A day, in seconds.
const DAY: i64 = 86_400;

/// Times 2 seconds apart.
fn in_order(n: u64) -> i64 {
    2 * n as i64
}

/// The same times in random order.
fn in_disorder(n: u64) -> i64 {
    // The factor has no common divisor with the number of items, so each time comes once.
    2 * (n * 48_271 % OPEN_ITEMS) as i64
}

/// The number of items of each window by time, of the windows in the order of their ends.
fn windows_of(time: fn(u64) -> i64, length: i64, lateness: i64) -> Digest {
    let windows = TimeWindows::tumbling(length, move |&n: &u64| time(n)).lateness(lateness);
    Stream::from_range(0..OPEN_ITEMS)
        .inline()
        .aggregate_windows(windows, |_| 1, |a, b| a + b)
        .fold(Digest::EMPTY, |digest, window| digest.with(window.start as u64).with(window.value))
}

/// The number of items of each session, of the sessions in the order of their ends.
fn sessions_of(time: fn(u64) -> i64, lateness: i64) -> Digest {
    let windows = SessionWindows::new(1, move |&n: &u64| time(n)).lateness(lateness);
    Stream::from_range(0..OPEN_ITEMS)
        .inline()
        .aggregate_windows(windows, |_| 1, |a, b| a + b)
        .fold(Digest::EMPTY, |digest, window| digest.with(window.start as u64).with(window.value))
}

/// The results of both, computed with a map, if each item is in a window of its own.
fn by_hand(time: fn(u64) -> i64) -> Digest {
    let mut open = BTreeMap::<i64, u64>::new();
    (0..OPEN_ITEMS).for_each(|n| *open.entry(time(n)).or_default() += 1);
    open.into_iter().fold(Digest::EMPTY, |digest, (start, count)| digest.with(start as u64).with(count))
}

/// One worker, because the stage runs on one thread at a time.
fn many_open(setup: &Setup) -> Vec<Row> {
    let whole = 2 * OPEN_ITEMS as i64;
    let expected = by_hand(in_order);
    let contenders = vec![
        Contender::timed("a map", expected, || by_hand(in_disorder)),
        Contender::timed("sessions", expected, || sessions_of(in_order, DAY)),
        Contender::timed("windows", expected, || windows_of(in_order, 1, DAY)),
        Contender::timed("sessions in disorder", expected, move || sessions_of(in_disorder, whole)),
        Contender::timed("windows in disorder", expected, move || windows_of(in_disorder, 1, whole)),
    ];
    let rounds = measure(setup.budget, None, contenders);
    let each = |what: &str, at: usize| {
        Row::new(GROUP, what, (Target::AtMost(1.0), Unit::Microseconds), &rounds, |rounds| {
            let an_item = 1e6 / OPEN_ITEMS as f64;
            (rounds.summary(|round| an_item * round.samples[at]), "one worker".to_owned())
        })
    };
    let all = |what: &str, at: usize| {
        Row::new(GROUP, what, (Target::AtMost(40.0), Unit::Milliseconds), &rounds, |rounds| {
            let by_hand = 1e3 * rounds.median(|round| round.samples[0]);
            (
                rounds.summary(|round| 1e3 * round.samples[at]),
                format!("one worker; a `BTreeMap` by hand {by_hand:.1} ms"),
            )
        })
    };
    vec![
        each("sessions with a lateness of a day, one each 2 s: an item", 1),
        each("tumbling windows of 1 s with a lateness of a day, an item each 2 s: an item", 2),
        all("80,000 sessions in random order, all open at once", 3),
        all("80,000 windows in random order, all open at once", 4),
    ]
}

/// How many keys there are.
const KEYS: u64 = 100_000;
/// How many events each unit of time has.
const EVENTS_A_UNIT: u64 = 10;
/// The length of a window, in units of time.
const LENGTH: i64 = 100_000;

/// Another number for each number (the finaliser of SplitMix64).
pub(super) fn scrambled(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

/// The sum of the events of each key in each window: a digest that does not depend on the order, as that of the rivals
/// is not defined.
fn sums(items: u64) -> Digest {
    let windows = TimeWindows::tumbling(LENGTH, |&event: &u64| (event / EVENTS_A_UNIT) as i64);
    let sum = Stream::from_range(0..items)
        .aggregate_windows_by_key(|&event| scrambled(event) % KEYS, windows, |event| event, |a, b| a + b)
        .fold(0u64, |sum, window| {
            sum.wrapping_add(scrambled(window.key ^ window.value ^ ((window.start as u64) << 20)))
        });
    Digest::of_number(sum)
}

/// The rivals, and how many times our time they take at least.
const RIVALS: [(&str, f64); 2] = [("timely", 0.6), ("renoir", 1.5)];

fn by_key(setup: &Setup) -> Vec<Row> {
    let items = if setup.quick { 2_000_000 } else { 10_000_000 };
    let expected = sums(items);
    let peer = Rival::of_package(&builds::source("rivals"), "window-rivals").map(RefCell::new);
    let mut contenders = vec![Contender::timed("anabranch", expected, || sums(items))];
    if let Ok(peer) = &peer {
        contenders.extend(RIVALS.map(|(name, _)| {
            Contender::sampled(name, expected, move || peer.borrow_mut().sample(&format!("{name} {items}")))
        }));
    }
    // A round takes longer than those of other groups.
    let budget = Budget { time: 4 * setup.budget.time, ..setup.budget };
    let rounds = measure(budget, Some(setup.probe()), contenders);
    let missing = peer.as_ref().err().map(|why| Err(Unmeasured::NotInstalled(why.clone())));
    let millions = items / 1_000_000;
    RIVALS
        .iter()
        .zip(1..)
        .map(|((name, least), at)| {
            let what = format!(
                "tumbling windows by key, {millions} million events, 100,000 keys: {name}, times ours"
            );
            Row::new(
                GROUP,
                what,
                (Target::AtLeast(*least), Unit::Times),
                missing.as_ref().unwrap_or(&rounds),
                |rounds| {
                    let [own, other] =
                        [0, at].map(|at| nanos(rounds.median(|round| round.samples[at]), items));
                    (
                        rounds.summary(|round| round.samples[at] / round.samples[0]),
                        format!("{own:.1} ns an event, {name} {other:.1}"),
                    )
                },
            )
        })
        .collect()
}
