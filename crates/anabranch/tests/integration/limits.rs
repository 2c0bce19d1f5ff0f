//! Numbers that a user can set, at both ends of their ranges.

use std::time::Duration;

use crate::contract_support::watchdog::{message, panic_of, within};
use anabranch::{
    BoxStream, CountWindows, Lap, Recycler, SessionWindows, Shards, Stream, TimeWindows, Workers,
};

/// Both ends of the range of a number.
const ENDS: [usize; 6] = [0, 1, 2, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX];
/// How many items a stream has.
const ITEMS: usize = 100;

/// A method with a number, and the items that a loop would give of 0 to 99. `None` if the method panics with this number.
struct Method {
    name: &'static str,
    add: fn(BoxStream<'static, usize>, usize) -> BoxStream<'static, usize>,
    expected: fn(usize) -> Option<Vec<usize>>,
}

/// All items, for each number but 0.
fn all(n: usize) -> Option<Vec<usize>> {
    (n > 0).then(|| (0..ITEMS).collect())
}

fn sums(chunks: impl Iterator<Item = Vec<usize>>) -> Vec<usize> {
    chunks.map(|chunk| chunk.into_iter().sum()).collect()
}

fn chunks(n: usize) -> Option<Vec<usize>> {
    let all: Vec<usize> = (0..ITEMS).collect();
    (n > 0).then(|| sums(all.chunks(n).map(<[usize]>::to_vec)))
}

const METHODS: &[Method] = &[
    Method { name: "workers", add: |stream, n| stream.workers(n).map(|n| n).boxed(), expected: all },
    Method {
        name: "workers_from",
        add: |stream, n| stream.workers_from(&Workers::new(n)).map(|n| n).boxed(),
        expected: all,
    },
    Method { name: "window", add: |stream, n| stream.window(n).map(|n| n).boxed(), expected: all },
    Method { name: "burst", add: |stream, n| stream.burst(n).map(|n| n).boxed(), expected: all },
    Method { name: "replicate", add: |stream, n| stream.map(|n| n).replicate(n).boxed(), expected: all },
    Method {
        name: "take",
        add: |stream, n| stream.take(n).boxed(),
        expected: |n| Some((0..ITEMS).take(n).collect()),
    },
    Method {
        name: "skip",
        add: |stream, n| stream.skip(n).boxed(),
        expected: |n| Some((0..ITEMS).skip(n).collect()),
    },
    Method {
        name: "step_by",
        add: |stream, n| stream.step_by(n).boxed(),
        expected: |n| (n > 0).then(|| (0..ITEMS).step_by(n).collect()),
    },
    Method {
        name: "chunks",
        add: |stream, n| stream.chunks(n).map(|chunk| chunk.into_iter().sum()).boxed(),
        expected: chunks,
    },
    Method {
        name: "batch",
        add: |stream, n| stream.batch(n).map(|chunk| chunk.into_iter().sum()).boxed(),
        expected: chunks,
    },
    Method {
        name: "ready_chunks",
        add: |stream, n| stream.ready_chunks(n).flat_map(|chunk| chunk).boxed(),
        expected: all,
    },
    Method {
        name: "chunks_timeout",
        add: |stream, n| stream.chunks_timeout(n, Duration::MAX).map(|chunk| chunk.into_iter().sum()).boxed(),
        expected: chunks,
    },
    Method {
        name: "sorted_within",
        add: |stream, n| stream.sorted_within(n).boxed(),
        expected: |_| Some((0..ITEMS).collect()),
    },
    Method {
        name: "feedback",
        // Each item goes round once, so they come out in their order whatever the places are.
        add: |stream, n| {
            let lap = |(item, is_old)| if is_old { Lap::Done(item) } else { Lap::Again((item, true)) };
            stream.map(|item| (item, false)).feedback(n, |laps| laps.map(lap)).boxed()
        },
        expected: all,
    },
    Method {
        name: "windows by count",
        add: |stream, n| {
            stream.windows(CountWindows::tumbling(n)).map(|window| window.value.into_iter().sum()).boxed()
        },
        expected: chunks,
    },
    Method {
        name: "sliding windows by key",
        add: |stream, n| {
            let windows = CountWindows::sliding(1, n);
            stream.aggregate_windows_by_key(|_| 0, windows, |n| n, |a, b| a + b).map(|w| w.value).boxed()
        },
        expected: |n| (n > 0).then(|| (0..ITEMS).step_by(n).collect()),
    },
    Method {
        name: "windows by time",
        add: |stream, n| {
            let windows = TimeWindows::tumbling(n as i64, |n: &usize| *n as i64).lateness(n as i64);
            stream.windows(windows).map(|window| window.value.into_iter().sum()).boxed()
        },
        expected: |n| chunks(n).filter(|_| i64::try_from(n).is_ok()),
    },
    Method {
        name: "sessions",
        add: |stream, n| {
            let windows = SessionWindows::new(n as i64, |n: &usize| 2 * *n as i64).lateness(n as i64);
            stream.windows(windows).map(|window| window.value.into_iter().sum()).boxed()
        },
        expected: |n| match n {
            1 | 2 => Some((0..ITEMS).collect()),
            n if n > i64::MAX as usize => None,
            _ => chunks(n),
        },
    },
];

#[test]
fn a_number_at_either_end_of_its_range_is_refused_or_means_what_it_says() {
    within(|| {
        for Method { name, add, expected } in METHODS {
            for n in ENDS {
                for workers in [1, 3] {
                    let run = move || {
                        let source = Stream::from_iter(0..ITEMS).workers(workers).map(|n| n);
                        add(source.boxed(), n).collect::<Vec<_>>()
                    };
                    match expected(n) {
                        Some(expected) => assert_eq!(run(), expected, "{name}({n}), {workers} workers"),
                        None => {
                            let text = message(&*panic_of(run));
                            let says =
                                text.contains(&n.to_string()) || text.contains(&(n as i64).to_string());
                            assert!(says, "{name}({n}): {text}");
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn numbers_of_sources_and_stores_may_be_at_either_end() {
    within(|| {
        for n in ENDS {
            let (post, stream) = Stream::channel(n);
            let posts = std::thread::spawn(move || (0..ITEMS).for_each(|item| post.post(item).unwrap()));
            assert_eq!(stream.count(), ITEMS);
            posts.join().unwrap();
            let recycler = Recycler::new(n, Vec::<u8>::new);
            drop((recycler.take(), recycler.take()));
            assert!(recycler.idle() <= n.min(2));
        }
        // Each shard has a state and a queue, so their number is one of this machine's.
        for shards in [1, 2, 1 << 12] {
            let sharded =
                Stream::from_iter(0..ITEMS).map_sharded(Shards::dealt(shards), || 1, |one, n| n + *one);
            assert_eq!(sharded.collect::<Vec<_>>(), (1..=ITEMS).collect::<Vec<_>>());
        }
    });
}
