//! Windows are those of a plain loop that follows their rules, in streams on any number of threads (C1, C2). The generator draws
//! windows whose items come in time. Here items have any times, so some are late, and sessions merge.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use crate::contract_support::random;
use crate::contract_support::watchdog::within;
use anabranch::{CountWindows, Pool, SessionWindows, Stream, TimeWindows};
use proptest::prelude::*;

/// An event: its key, its time, and its number.
type Event = (u8, i64, usize);

/// A window: its key, its start and its end, and the numbers of its events.
type Found = (u8, i64, i64, Vec<usize>);

/// How windows lie.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Count { size: usize, step: usize },
    Time { length: i64, step: i64, lateness: i64 },
    Session { gap: i64, lateness: i64 },
}

impl Kind {
    fn strategy() -> impl Strategy<Value = Self> {
        prop_oneof![
            (1..9usize, 1..9usize).prop_map(|(size, step)| Kind::Count { size, step }),
            (1..9usize).prop_map(|size| Kind::Count { size, step: size }),
            (1..30i64, 1..30i64, 0..20i64).prop_map(|(length, step, lateness)| Kind::Time {
                length,
                step,
                lateness
            }),
            (1..30i64, 0..20i64).prop_map(|(length, lateness)| Kind::Time { length, step: length, lateness }),
            (1..40i64, 0..20i64).prop_map(|(gap, lateness)| Kind::Session { gap, lateness }),
            // Many windows are open at once, and sessions merge.
            (1..4i64, 1..4i64, 0..600i64).prop_map(|(length, step, lateness)| Kind::Time {
                length,
                step,
                lateness
            }),
            (1..30i64, 0..600i64).prop_map(|(gap, lateness)| Kind::Session { gap, lateness }),
        ]
    }
}

/// The windows of `events` and the numbers of those that came too late. If the stream does not end behind them, only the
/// windows that have closed.
fn oracle(events: &[Event], kind: Kind, ends: bool) -> (Vec<Found>, Vec<usize>) {
    match kind {
        Kind::Count { size, step } => (counted(events, size, step, ends), Vec::new()),
        Kind::Time { length, step, lateness } => timed(events, length, step, lateness, ends),
        Kind::Session { gap, lateness } => sessions(events, gap, lateness, ends),
    }
}

fn counted(events: &[Event], size: usize, step: usize, ends: bool) -> Vec<Found> {
    let mut of_keys = BTreeMap::<u8, Vec<usize>>::new();
    for &(key, _, number) in events {
        of_keys.entry(key).or_default().push(number);
    }
    // Complete ones come before the others, and each with its last event.
    let mut found = Vec::new();
    for (key, numbers) in of_keys {
        let mut start = 0;
        let mut covered = 0;
        while start + size <= numbers.len() {
            let items = numbers[start..start + size].to_vec();
            found.push((false, items[size - 1], (key, start as i64, (start + size) as i64, items)));
            covered = start + size;
            start += step;
        }
        if ends && covered < numbers.len() && start < numbers.len() {
            let items = numbers[start..].to_vec();
            let last = items[items.len() - 1];
            found.push((true, last, (key, start as i64, numbers.len() as i64, items)));
        }
    }
    found.sort();
    found.into_iter().map(|(_, _, found)| found).collect()
}

fn timed(events: &[Event], length: i64, step: i64, lateness: i64, ends: bool) -> (Vec<Found>, Vec<usize>) {
    let mut windows = BTreeMap::<(i64, u8), Vec<(i64, usize)>>::new();
    let mut late = Vec::new();
    let mut watermark = i64::MIN;
    for &(key, time, number) in events {
        let starts: Vec<i64> =
            (time - length + 1..=time).filter(|start| start.rem_euclid(step) == 0).collect();
        if starts.iter().any(|start| start + length <= watermark) {
            late.push(number);
        } else {
            for start in starts {
                windows.entry((start + length, key)).or_default().push((time, number));
            }
        }
        watermark = watermark.max(time - lateness);
    }
    let stretch = (1..=length).rev().find(|n| length % n == 0 && step % n == 0).unwrap();
    let mut found: Vec<_> = windows
        .into_iter()
        .filter(|((end, _), _)| ends || *end <= watermark)
        .map(|((end, key), mut items)| {
            let first = items.iter().map(|item| item.1).min().unwrap();
            items.sort_by_key(|item| item.0.div_euclid(stretch));
            ((end, first), (key, end - length, end, items.into_iter().map(|item| item.1).collect()))
        })
        .collect();
    found.sort();
    (found.into_iter().map(|(_, found)| found).collect(), late)
}

fn sessions(events: &[Event], gap: i64, lateness: i64, ends: bool) -> (Vec<Found>, Vec<usize>) {
    struct Session {
        key: u8,
        start: i64,
        last: i64,
        items: Vec<usize>,
    }
    let grain = (gap / 16).max(1);
    let (mut all, mut late) = (Vec::<Session>::new(), Vec::new());
    let mut watermark = i64::MIN;
    for &(key, time, number) in events {
        let touches = |session: &Session| {
            session.key == key
                && session.last + gap > watermark
                && session.last + gap > time
                && session.start < time + gap
        };
        let (mut joined, others): (Vec<_>, Vec<_>) = all.into_iter().partition(touches);
        all = others;
        joined.sort_by_key(|session| session.start);
        match joined.into_iter().reduce(|mut left, right| {
            left.items.extend(right.items);
            left.last = right.last;
            left
        }) {
            Some(mut session) => {
                session.items.push(number);
                // In the order in which they came.
                session.items.sort_unstable();
                session.start = session.start.min(time);
                session.last = session.last.max(time);
                all.push(session);
            }
            None if time + gap <= watermark => late.push(number),
            None => all.push(Session { key, start: time, last: time, items: vec![number] }),
        }
        watermark = watermark.max((time - lateness).div_euclid(grain) * grain);
    }
    let mut found: Vec<_> = all
        .into_iter()
        .filter(|session| ends || session.last + gap <= watermark)
        .map(|Session { key, start, last, items }| {
            let first = *items.iter().min().unwrap();
            ((last + gap, first), (key, start, last + gap, items))
        })
        .collect();
    found.sort();
    (found.into_iter().map(|(_, found)| found).collect(), late)
}

/// Gives the windows of a stream to an expression.
macro_rules! with_windows {
    ($kind:expr, $late:ident, |$windows:ident| $body:expr) => {
        match $kind {
            Kind::Count { size, step } => {
                let $windows = CountWindows::sliding(size, step);
                $body
            }
            Kind::Time { length, step, lateness } => {
                let $windows = TimeWindows::sliding(length, step, |event: &Event| event.1)
                    .lateness(lateness)
                    .on_late(|event: Event| $late.push(event.2));
                $body
            }
            Kind::Session { gap, lateness } => {
                let $windows = SessionWindows::new(gap, |event: &Event| event.1)
                    .lateness(lateness)
                    .on_late(|event: Event| $late.push(event.2));
                $body
            }
        }
    };
}

/// How a stream runs.
#[derive(Debug, Clone, Copy)]
struct Setting {
    workers: usize,
    window: usize,
    is_inline: bool,
    on_pool: bool,
    source: Source,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Single,
    Blocks,
    FlatMap,
}

impl Setting {
    fn strategy() -> impl Strategy<Value = Self> {
        let source = prop_oneof![Just(Source::Single), Just(Source::Blocks), Just(Source::FlatMap)];
        (1..5usize, 1..80usize, prop::bool::weighted(0.2), prop::bool::weighted(0.3), source).prop_map(
            |(workers, window, is_inline, on_pool, source)| Self {
                workers,
                window,
                is_inline,
                on_pool,
                source,
            },
        )
    }

    fn stream<'e>(&self, events: &[Event], pool: &'e Pool) -> Stream<'e, Event> {
        let events = events.to_vec();
        let stream = match self.source {
            Source::Single => Stream::from_iter(events).map(|event| event),
            Source::Blocks => anabranch::Source::new(events).in_blocks().into_stream().map(|event| event),
            Source::FlatMap => {
                let parts: Vec<Vec<Event>> = events.chunks(7).map(<[Event]>::to_vec).collect();
                Stream::from_iter(parts).flat_map(|part| part)
            }
        };
        let stream = stream.window(self.window);
        let stream = if self.on_pool { stream.pool(pool) } else { stream.workers(self.workers) };
        if self.is_inline { stream.inline() } else { stream }
    }
}

/// Runs `property` for random events, windows and settings.
fn for_all(
    property: impl Fn(Vec<Event>, Kind, Setting, &Pool) -> Result<(), TestCaseError> + Send + 'static,
) {
    random::within(150, move |config| {
        let pool = Pool::new(2);
        let event = (0..5u8, -9..10i64, prop::bool::weighted(0.1));
        let disorder = prop_oneof![2 => Just(1), 1 => 2..60i64];
        let events = (prop::collection::vec(event, 0..200), disorder);
        let strategy = (events, Kind::strategy(), Setting::strategy());
        random::for_all(config, strategy, |((events, disorder), kind, setting)| {
            // Times go forward by a little, out of order, and sometimes leap. In some streams the order is lost.
            let mut now = 0;
            let number = |(number, (key, delta, leaps)): (usize, (u8, i64, bool))| {
                now += if leaps { 50 } else { 1 };
                (key, now + disorder * delta, number)
            };
            property(events.into_iter().enumerate().map(number).collect(), kind, setting, &pool)
        });
    });
}

#[test]
fn windows_by_key_are_those_of_the_loop() {
    for_all(|events, kind, setting, pool| {
        let (expected, too_late) = oracle(&events, kind, true);
        let mut late = Vec::new();
        let found: Vec<Found> = with_windows!(kind, late, |windows| {
            let windows = setting.stream(&events, pool).windows_by_key(|event| event.0, windows);
            windows
                .map(|w| (w.key, w.start, w.end, w.value.into_iter().map(|event| event.2).collect()))
                .collect()
        });
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(&late, &too_late);
        late.clear();
        // Putting vectors together is associative, and not commutative.
        let joined: Vec<Found> = with_windows!(kind, late, |windows| {
            let join = |left: Vec<usize>, right: Vec<usize>| [left, right].concat();
            let stream = setting.stream(&events, pool);
            let windows =
                stream.aggregate_windows_by_key(|event| event.0, windows, |event| vec![event.2], join);
            windows.map(|w| (w.key, w.start, w.end, w.value)).collect()
        });
        prop_assert_eq!(&joined, &expected);
        prop_assert_eq!(&late, &too_late);
        Ok(())
    });
}

#[test]
fn windows_of_the_whole_stream_are_those_of_the_loop() {
    for_all(|mut events, kind, setting, pool| {
        events.iter_mut().for_each(|event| event.0 = 0);
        let (expected, too_late) = oracle(&events, kind, true);
        let mut late = Vec::new();
        let found: Vec<Found> = with_windows!(kind, late, |windows| {
            let windows = setting.stream(&events, pool).windows(windows);
            windows.map(|w| (0, w.start, w.end, w.value.into_iter().map(|event| event.2).collect())).collect()
        });
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(&late, &too_late);
        late.clear();
        let joined: Vec<Found> = with_windows!(kind, late, |windows| {
            let join = |left: Vec<usize>, right: Vec<usize>| [left, right].concat();
            let windows =
                setting.stream(&events, pool).aggregate_windows(windows, |event| vec![event.2], join);
            windows.map(|w| (0, w.start, w.end, w.value)).collect()
        });
        prop_assert_eq!(&joined, &expected);
        prop_assert_eq!(&late, &too_late);
        Ok(())
    });
}

#[test]
fn the_items_of_merged_sessions_are_in_the_order_in_which_they_came() {
    let stream = || Stream::from_iter([0, 15, 8]);
    let sessions = || SessionWindows::new(10, |time: &i64| *time).lateness(100);
    let items: Vec<_> = stream().windows(sessions()).map(|session| session.value).collect();
    assert_eq!(items, [[0, 15, 8]]);
    let newest = stream().aggregate_windows(sessions(), |time| time, |_, newer| newer);
    assert_eq!(
        newest.map(|session| (session.start, session.end, session.value)).collect::<Vec<_>>(),
        [(0, 25, 8)]
    );
}

/// The payload of a planted panic.
#[derive(Debug, PartialEq, Eq)]
struct Planted;

/// The place at which an event fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Stage,
    Key,
    Lift,
}

#[test]
fn a_failure_comes_behind_the_windows_that_closed_before_it() {
    for_all(|events, kind, setting, pool| {
        for (fault, at) in [Fault::Stage, Fault::Key, Fault::Lift].into_iter().zip([3, 40, 90]) {
            let Some(before) = events.get(..at) else { continue };
            if at == events.len() {
                continue;
            }
            let (expected, too_late) = oracle(before, kind, false);
            // A late item is not lifted, so nothing fails there; nor is one between windows.
            let lifted = |events: &[Event]| {
                let (found, _) = oracle(events, kind, true);
                found.iter().any(|found| found.3.contains(&at))
            };
            if fault == Fault::Lift && !lifted(&events[..=at]) {
                continue;
            }
            let meet = move |fails: Fault, number: usize| {
                if fails == fault && number == at {
                    panic_any(Planted);
                }
            };
            let (mut late, mut found) = (Vec::new(), Vec::new());
            let run = with_windows!(kind, late, |windows| {
                let events = setting.stream(&events, pool).map(|event| {
                    meet(Fault::Stage, event.2);
                    event
                });
                let key = |event: &Event| {
                    meet(Fault::Key, event.2);
                    event.0
                };
                let lift = |event: Event| {
                    meet(Fault::Lift, event.2);
                    vec![event.2]
                };
                let join = |left: Vec<usize>, right: Vec<usize>| [left, right].concat();
                let windows = events.aggregate_windows_by_key(key, windows, lift, join);
                catch_unwind(AssertUnwindSafe(|| {
                    windows.for_each(|w| found.push((w.key, w.start, w.end, w.value)));
                }))
            });
            prop_assert!(run.unwrap_err().is::<Planted>());
            prop_assert_eq!(&found, &expected, "{:?} at {}", fault, at);
            prop_assert_eq!(&late, &too_late);
        }
        Ok(())
    });
}

#[test]
fn a_window_comes_out_while_the_source_waits() {
    within(|| {
        for workers in [2, 4] {
            let (sender, stream) = Stream::channel(4);
            let (results, receiver) = std::sync::mpsc::channel();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    stream
                        .workers(workers)
                        .aggregate_windows_by_key(|n| n % 2, CountWindows::tumbling(3), |n| n, |a, b| a + b)
                        .for_each(|window| results.send(window.value).unwrap());
                });
                // Nothing else is posted until the window is there.
                for round in 0..5u32 {
                    (0..3).for_each(|n| sender.send(100 * round + 2 * n).unwrap());
                    assert_eq!(receiver.recv().unwrap(), 300 * round + 6);
                }
                drop(sender);
            });
        }
    });
}

#[test]
fn ready_chunks_wait_for_no_item() {
    within(|| {
        let (sender, stream) = Stream::channel(16);
        let (results, receiver) = std::sync::mpsc::channel();
        let run = std::thread::spawn(move || {
            stream.workers(2).ready_chunks(10).for_each(|chunk| results.send(chunk.len()).unwrap());
        });
        for _ in 0..20 {
            (0..5).for_each(|n| sender.send(n).unwrap());
            // The five come out before anything else is posted.
            let mut came = 0;
            while came < 5 {
                came += receiver.recv().unwrap();
            }
        }
        drop(sender);
        run.join().unwrap();
    });
}

#[test]
fn times_at_the_ends_of_their_range_neither_panic_nor_hang() {
    within(|| {
        let times = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX, 5];
        for (length, step) in [(1, 1), (7, 3), (3, 7), (i64::MAX, i64::MAX)] {
            let windows = TimeWindows::sliding(length, step, |time: &i64| *time).lateness(i64::MAX);
            let counts = Stream::from_iter(times).aggregate_windows(windows, |_| 1, |a, b| a + b);
            assert!(counts.map(|window| window.value).sum::<u32>() <= 8 * 3);
            let sessions = SessionWindows::new(length, |time: &i64| *time).lateness(i64::MAX);
            let counts = Stream::from_iter(times).workers(2).aggregate_windows_by_key(
                |_| 0,
                sessions,
                |_| 1,
                |a, b| a + b,
            );
            assert_eq!(counts.map(|window| window.value).sum::<u32>(), 8);
        }
    });
}
