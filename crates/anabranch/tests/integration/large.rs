//! Items as large as the documentation allows pass through each stage: on the stack that the calling thread needs, and on those of
//! the threads that a run starts.

use std::thread;
use std::time::Duration;

use anabranch::{CountWindows, Lap, Offload, Shards, Source, Stream};

const BYTES: usize = 128 << 10;
type Item = [u8; BYTES];

/// The stack that the calling thread needs, in bytes.
const STACK: usize = if cfg!(debug_assertions) { 12 << 20 } else { 4 << 20 };

fn item(n: u8) -> Item {
    [n; BYTES]
}

fn one(item: Item) -> u64 {
    u64::from(item[5])
}

fn items(workers: usize) -> Stream<'static, Item> {
    Stream::from_iter((0..12).map(item)).workers(workers).window(4).burst(1)
}

/// A stream with a stage, and the sum of the first bytes of what comes out.
type Run = fn(usize) -> u64;

#[allow(clippy::result_large_err, reason = "errors may be as large as items")]
fn runs() -> Vec<(&'static str, Run)> {
    vec![
        ("map", |w| items(w).map(|a| a).map(one).sum()),
        ("filter", |w| items(w).filter(|a| a[0] < 200).map(one).sum()),
        ("filter_map", |w| items(w).filter_map(Some).map(one).sum()),
        ("flat_map", |w| items(w).flat_map(|a| [a]).map(one).sum()),
        ("flat_map_vec", |w| items(w).flat_map(|a| vec![a, a]).map(one).sum()),
        ("flatten", |w| items(w).map(|a| vec![a]).flatten().map(one).sum()),
        ("serial", |w| items(w).serial_map(|a| a).map(one).sum()),
        ("serial_flat_map", |w| items(w).serial_flat_map(|a| vec![a, a]).map(one).sum()),
        ("serial_flat_map_array", |w| items(w).serial_flat_map(|a| [a]).map(one).sum()),
        ("serial_spread", |w| {
            items(w)
                .serial_spread(0, |_, a| {
                    if a[0] > 3 {
                        None
                    } else {
                        a[0] += 1;
                        Some(*a)
                    }
                })
                .map(one)
                .sum()
        }),
        ("spread", |w| items(w).flat_map(|a| vec![a]).spread().map(one).sum()),
        ("enumerate", |w| items(w).enumerate().map(|(_, a)| one(a)).sum()),
        ("zip", |w| items(w).zip(0..100u8).map(|(a, _)| one(a)).sum()),
        ("zip2", |w| items(w).zip((0..12u8).map(item)).map(|(a, _)| one(a)).sum()),
        ("chain", |w| items(w).chain((0..3u8).map(item)).map(one).sum()),
        ("interleave", |w| items(w).interleave((0..3u8).map(item)).map(one).sum()),
        ("take", |w| items(w).take(9).map(one).sum()),
        ("skip", |w| items(w).skip(1).map(one).sum()),
        ("step_by", |w| items(w).step_by(2).map(one).sum()),
        ("take_while", |w| items(w).take_while(|a| a[0] < 9).map(one).sum()),
        ("map_while", |w| items(w).map_while(Some).map(one).sum()),
        ("scan", |w| items(w).scan(0, |_, a| Some(a)).map(one).sum()),
        ("chunks", |w| items(w).chunks(2).map(|c| one(c[0])).sum()),
        ("ready_chunks", |w| items(w).ready_chunks(2).map(|c| one(c[0])).sum()),
        ("chunk_by", |w| items(w).chunk_by(|a| a[0] / 2).map(|c| one(c.1[0])).sum()),
        ("chunks_timeout", |w| items(w).chunks_timeout(2, Duration::from_secs(1)).map(|c| one(c[0])).sum()),
        ("select_all", |w| Stream::select_all([items(w), items(w)]).map(one).sum()),
        ("sorted", |w| items(w).sorted_within_by_key(2, |a| a[0]).map(one).sum()),
        ("map_init", |w| items(w).map_init(|| 0, |_, a| a).map(one).sum()),
        ("inspect", |w| items(w).inspect(|_| ()).map(one).sum()),
        ("map_sharded", |w| {
            items(w).map_sharded(Shards::by_key(2, |a: &Item| a[0]), || 0, |_, a| a).map(one).sum()
        }),
        ("map_dependent", |w| {
            items(w)
                .map_dependent(2, |n, _| n.checked_sub(1), |a, _| a)
                .map(|a| one(*a))
                .sum::<u64>()
                .unwrap()
        }),
        ("map_async", |w| items(w).map_async(2, |a| async move { a }).map(one).sum()),
        ("windows", |w| items(w).windows(CountWindows::tumbling(2)).map(|w| one(w.value[0])).sum()),
        ("windows_sliding", |w| items(w).windows(CountWindows::sliding(4, 2)).map(|w| one(w.value[0])).sum()),
        ("aggregate_windows", |w| {
            items(w)
                .aggregate_windows(
                    CountWindows::sliding(4, 2),
                    |a| a,
                    |a: Item, b: Item| if a[0] > b[0] { a } else { b },
                )
                .map(|w| one(w.value))
                .sum()
        }),
        ("broadcast", |w| {
            items(w)
                .broadcast()
                .branch(|l| l.map(|a| a))
                .branch(|l| l.serial_map(|a| a))
                .merge()
                .map(one)
                .sum()
        }),
        ("broadcast_zip", |w| {
            items(w)
                .broadcast()
                .branch(|l| l.map(|a| a))
                .branch(|l| l.map(|a| a[0]))
                .zip()
                .map(|(a, _)| one(a))
                .sum()
        }),
        ("split", |w| {
            items(w)
                .split(|a: &Item| (a[0] % 2) as usize)
                .branch(|l| l.map(|a| a))
                .branch(|l| l.serial_map(|a| a))
                .join()
                .map(one)
                .sum()
        }),
        ("feedback", |w| {
            items(w)
                .feedback(2, |l| {
                    l.map(|mut a| {
                        if a[0] < 100 {
                            a[0] += 100;
                            Lap::Again(a)
                        } else {
                            Lap::Done(a)
                        }
                    })
                })
                .map(one)
                .sum()
        }),
        ("unordered", |w| items(w).unordered().map(|a| a).map(one).sum()),
        ("throttle", |w| items(w).throttle(1000, Duration::from_millis(1)).map(one).sum()),
        ("in_blocks", |w| {
            Source::new((0..12u8).map(item)).in_blocks().into_stream().workers(w).window(4).map(one).sum()
        }),
        ("fold", |w| {
            items(w).fold(item(0), |mut acc: Item, a| {
                acc[0] ^= a[0];
                acc
            })[5] as u64
        }),
        ("reduce", |w| items(w).reduce(|a, _| a).map_or(0, one)),
        ("max", |w| items(w).max().map_or(0, one)),
        ("collect", |w| items(w).collect::<Vec<_>>().len() as u64),
        ("find", |w| items(w).find(|a| a[0] == 3).map_or(0, one)),
        ("into_iter", |w| items(w).into_iter().map(one).sum()),
        ("channel", |w| {
            let (p, c) = Stream::channel(2);
            let post = move || (0..5).for_each(|n| p.send(item(n)).unwrap());
            let t = thread::Builder::new().stack_size(STACK).spawn(post).unwrap();
            let x = c.workers(w).map(one).sum();
            t.join().unwrap();
            x
        }),
        ("try_map", |w| items(w).try_map(Ok::<Item, u8>).map(one).sum::<u64>().unwrap()),
        ("try_map_err", |w| {
            items(w).try_map(|a| if a[0] > 5 { Err(a) } else { Ok(a) }).map(one).sum::<u64>().unwrap_err()[5]
                as u64
        }),
        ("offload", |w| {
            let mut f = Offload::start(w, 4, |a: Item| a);
            for n in 0..5u8 {
                f.offload(item(n));
            }
            f.get().map_or(0, one)
        }),
    ]
}

#[test]
fn the_largest_items_pass_through_each_stage() {
    for (name, run) in runs() {
        for workers in 1..=3 {
            let call = move || run(workers);
            let thread =
                thread::Builder::new().name(format!("{name} with {workers}")).stack_size(STACK).spawn(call);
            assert!(thread.unwrap().join().unwrap() < 1_000_000, "{name}");
        }
    }
}

#[test]
fn the_largest_items_fit_on_the_stacks_of_helpers() {
    let run = || {
        // The helpers work on items too: each pair of calls waits for one another.
        let met = std::sync::Barrier::new(2);
        let add = |mut item: Item| {
            met.wait();
            item[1] += 1;
            item
        };
        let items = Stream::from_iter((0..40).map(item)).workers(2).window(4).burst(1);
        let sums = items.map(add).serial_map(|item| item).map(|item| item).map(|item| u64::from(item[1]));
        sums.sum::<u64>()
    };
    let thread = thread::Builder::new().stack_size(STACK).spawn(run);
    assert_eq!(thread.expect("a thread").join().expect("no panic"), (1..=40).sum::<u64>());
}
