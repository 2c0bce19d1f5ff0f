//! Process networks. Three things are measured: one producer and one consumer against `rtrb`, the hand-off
//! between processes that sleep against the hand-off between bare threads, and a ring of firing rules.

use std::ops::ControlFlow::{Break, Continue};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anabranch_network::Network;

use super::{Setup, nanos};
use measure_harness::builds;
use measure_harness::rival::Rival;
use measure_harness::rounds::{Contender, Unmeasured, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

/// How many items a record and rtrb's buffer hold.
const CAPACITY: usize = 8_192;
const BURSTS: [usize; 4] = [1, 16, 256, 4_096];
/// The largest number of pauses between two looks at rtrb's buffer. rtrb does not wait, so its loops poll, in
/// the same way as a record does.
const PAUSES: u32 = 16;
const RULES: usize = 1_000;
/// Blocking processes in a ring.
const PROCESSES: usize = 100;
/// Views on the wider side of a broadcast or merge.
const VIEWS: usize = 4;

pub fn rows(setup: &Setup) -> Vec<Row> {
    let mut rows: Vec<Row> = BURSTS.into_iter().map(|burst| pair(setup, burst)).collect();
    rows.extend(several(setup));
    rows.push(hand_off(setup));
    rows.extend(ring(setup));
    rows.push(ring_of_processes(setup));
    rows
}

fn digest(sum: u64) -> Digest {
    Digest::EMPTY.with(sum)
}

/// A producer and a consumer.
fn pair(setup: &Setup, burst: usize) -> Row {
    let items: usize = if setup.quick { 4_000_000 } else { 20_000_000 };
    let items = items / burst * burst;
    let expected = digest((0..items as u64).fold(0, u64::wrapping_add));
    let contenders = vec![
        Contender::timed("rtrb", expected, move || digest(rtrb(items, burst))),
        Contender::timed("network", expected, move || digest(network(items, burst))),
    ];
    let rounds = measure(setup.budget, Some(setup.probe()), contenders);
    let what = format!("network, one producer and one consumer, bursts of {burst} u64: times rtrb");
    Row::new("networks", what, (Target::AtLeast(0.95), Unit::Times), &rounds, |rounds| {
        let each = |at: usize| nanos(rounds.median(|round| round.samples[at]), items as u64);
        (
            rounds.summary(|round| round.samples[0] / round.samples[1]),
            format!("network {:.3} ns an item, rtrb {:.3}", each(1), each(0)),
        )
    })
}

fn network(items: usize, burst: usize) -> u64 {
    let mut sum = 0u64;
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u64>(CAPACITY);
    net.process("produce", move |_| {
        if burst == 1 {
            (0..items as u64).for_each(|n| give.push(n).expect("the consumer stays to the end"));
            return Ok(());
        }
        for first in (0..items as u64).step_by(burst) {
            let mut slots = give.stall(burst).map_err(|closed| closed.to_string())?;
            slots.with_slices(|at, slice| {
                slice.iter_mut().zip(first + at as u64..).for_each(|(slot, n)| *slot = n);
            });
            slots.commit();
        }
        Ok(())
    });
    net.process("consume", |_| {
        if burst == 1 {
            take.by_ref().for_each(|n| sum = sum.wrapping_add(n));
            return Ok(());
        }
        loop {
            let items = take.receive(burst);
            if items.is_empty() {
                return Ok(());
            }
            items.with_slices(|_, slice| sum = slice.iter().fold(sum, |sum, &n| sum.wrapping_add(n)));
            items.release();
        }
    });
    net.run().expect("nothing fails");
    sum
}

/// Polls in the same way as a record does.
fn poll<R>(mut look: impl FnMut() -> Option<R>) -> R {
    let mut pauses = 1;
    loop {
        if let Some(found) = look() {
            return found;
        }
        (0..pauses).for_each(|_| std::hint::spin_loop());
        pauses = PAUSES.min(2 * pauses);
    }
}

fn rtrb(items: usize, burst: usize) -> u64 {
    let (mut producer, mut consumer) = rtrb::RingBuffer::<u64>::new(CAPACITY);
    thread::scope(|scope| {
        scope.spawn(move || {
            if burst == 1 {
                (0..items as u64).for_each(|n| poll(|| producer.push(n).ok()));
                return;
            }
            for first in (0..items as u64).step_by(burst) {
                poll(|| (producer.slots() >= burst).then_some(()));
                let chunk = producer.write_chunk_uninit(burst).expect("the slots are there");
                chunk.fill_from_iter(first..);
            }
        });
        let mut sum = 0u64;
        if burst == 1 {
            (0..items).for_each(|_| sum = sum.wrapping_add(poll(|| consumer.pop().ok())));
            return sum;
        }
        for _ in 0..items / burst {
            poll(|| (consumer.slots() >= burst).then_some(()));
            let chunk = consumer.read_chunk(burst).expect("the items are there");
            let (first, second) = chunk.as_slices();
            sum = first.iter().chain(second).fold(sum, |sum, &n| sum.wrapping_add(n));
            chunk.commit_all();
        }
        sum
    })
}

/// One producer whose items are all seen by several consumers, and several producers that take turns with one
/// consumer.
fn several(setup: &Setup) -> Vec<Row> {
    const BURST: usize = 256;
    let items: u64 =
        if setup.quick { 2_000_000 } else { 8_000_000 } / (VIEWS * BURST) as u64 * (VIEWS * BURST) as u64;
    let expected = digest((0..items).fold(0, u64::wrapping_add));
    let contenders = vec![
        Contender::timed("broadcast", expected, move || digest(broadcast(items, BURST))),
        Contender::timed("merge", expected, move || digest(merge(items, BURST))),
    ];
    // Five threads run on however many cores there are, so the times are stated without a ceiling.
    let rounds = measure(setup.budget, None, contenders);
    let row = |(at, what): (usize, &str)| {
        let what = format!("network, {what}, bursts of {BURST} u64");
        Row::new("networks", what, (Target::None, Unit::Nanoseconds), &rounds, |rounds| {
            (rounds.summary(|round| nanos(round.samples[at], items)), "for each index".into())
        })
    };
    ["one producer, four consumers of every item", "four producers in turn, one consumer"]
        .into_iter()
        .enumerate()
        .map(row)
        .collect()
}

fn broadcast(items: u64, burst: usize) -> u64 {
    let mut sums = [0u64; VIEWS];
    let mut net = Network::<String>::new();
    let (mut give, takes) = net.broadcast::<u64>(CAPACITY, VIEWS);
    net.process("produce", move |_| {
        for first in (0..items).step_by(burst) {
            let mut slots = give.stall(burst).map_err(|closed| closed.to_string())?;
            slots.fill(first..);
            slots.commit();
        }
        Ok(())
    });
    for (mut take, sum) in takes.into_iter().zip(&mut sums) {
        net.process("consume", move |_| {
            loop {
                let items = take.receive(burst);
                if items.is_empty() {
                    return Ok(());
                }
                items.with_slices(|_, slice| *sum = slice.iter().fold(*sum, |sum, &n| sum.wrapping_add(n)));
                items.release();
            }
        });
    }
    net.run().expect("nothing fails");
    assert!(sums.iter().all(|&sum| sum == sums[0]), "every consumer sees every item");
    sums[0]
}

fn merge(items: u64, burst: usize) -> u64 {
    let mut sum = 0u64;
    let mut net = Network::<String>::new();
    let (gives, mut take) = net.merge::<u64>(CAPACITY, VIEWS, burst);
    for mut give in gives {
        net.process("produce", move |_| {
            for _ in 0..items as usize / burst / VIEWS {
                let mut slots = give.stall(burst).map_err(|closed| closed.to_string())?;
                let first = slots.index();
                slots.fill(first..);
                slots.commit();
            }
            Ok(())
        });
    }
    net.process("consume", |_| {
        loop {
            let items = take.receive(burst);
            if items.is_empty() {
                return Ok(());
            }
            items.with_slices(|_, slice| sum = slice.iter().fold(sum, |sum, &n| sum.wrapping_add(n)));
            items.release();
        }
    });
    net.run().expect("nothing fails");
    sum
}

/// A token that two sleeping processes hand to each other.
fn hand_off(setup: &Setup) -> Row {
    let trips: u64 = if setup.quick { 5_000 } else { 20_000 };
    let contenders = vec![
        Contender::timed("threads", digest(trips), move || digest(threads(trips))),
        Contender::timed("processes", digest(trips), move || digest(processes(trips))),
    ];
    let rounds = measure(setup.budget, None, contenders);
    let what =
        "hand-off between two processes that sleep: times a round trip of bare threads through futexes";
    Row::new("networks", what, (Target::AtMost(1.2), Unit::Times), &rounds, |rounds| {
        let each = |at: usize| 1e-3 * nanos(rounds.median(|round| round.samples[at]), trips);
        (
            rounds.summary(|round| round.samples[1] / round.samples[0]),
            format!("processes {:.2} us a round trip, threads {:.2}", each(1), each(0)),
        )
    })
}

/// The same with bare threads that park: each thread waits for its turn and wakes the other.
fn threads(trips: u64) -> u64 {
    let turn = Arc::new(AtomicU64::new(0));
    let wait = |turn: &AtomicU64, mine: u64| {
        while turn.load(Ordering::Acquire) != mine {
            thread::park();
        }
    };
    let first = thread::current();
    let other = Arc::clone(&turn);
    let second = thread::spawn(move || {
        for trip in 0..trips {
            wait(&other, 2 * trip + 1);
            other.store(2 * trip + 2, Ordering::Release);
            first.unpark();
        }
    });
    for trip in 0..trips {
        turn.store(2 * trip + 1, Ordering::Release);
        second.thread().unpark();
        wait(&turn, 2 * trip + 2);
    }
    second.join().expect("it does not panic");
    turn.load(Ordering::Relaxed) / 2
}

fn processes(trips: u64) -> u64 {
    let mut last = 0;
    let mut net = Network::<String>::new().workers(1);
    let (mut give, take) = net.record::<u64>(1);
    let (mut back, mut early) = net.record::<u64>(1);
    net.process("first", |_| {
        for trip in 0..trips {
            give.push(trip).map_err(|closed| closed.to_string())?;
            last = early.next().ok_or("the other one has ended")? + 1;
        }
        Ok(())
    });
    net.process("second", move |_| {
        for trip in take {
            if back.push(trip).is_err() {
                break;
            }
        }
        Ok(())
    });
    net.run().expect("nothing fails");
    last
}

/// A token that passes through a ring of firing rules, and through rings of tokio tasks and of goroutines, all on one
/// thread.
fn ring(setup: &Setup) -> Vec<Row> {
    let firings: u64 = if setup.quick { 500_000 } else { 2_000_000 };
    let rivals = [
        ("tokio tasks with channels", Rival::of_package(&builds::source("rivals"), "promise-rivals")),
        ("goroutines with channels", goroutines()),
    ];
    let expected = Digest::of_number(firings);
    let mut contenders = vec![Contender::timed("rules", expected, move || Digest::of_number(rules(firings)))];
    let mut rows: Vec<(String, Result<usize, String>)> = Vec::new();
    for (name, rival) in rivals {
        let what = format!(
            "ring of {RULES} {name}, one token, one thread: a hop, times a firing of the ring of rules"
        );
        let mut rival = match rival {
            Ok(rival) => rival,
            Err(why) => {
                rows.push((what, Err(why)));
                continue;
            }
        };
        rows.push((what, Ok(contenders.len())));
        contenders.push(Contender::sampled(name, expected, move || {
            rival.sample(&format!("ring {RULES} {firings}"))
        }));
    }
    // Each contender has one thread, so it does not matter whether the machine has a second core to give.
    let rounds = measure(setup.budget, None, contenders);
    let what = format!("ring of {RULES} firing rules, one token, one worker: a firing");
    let mut all =
        vec![Row::new("networks", what, (Target::AtMost(60.0), Unit::Nanoseconds), &rounds, |rounds| {
            (rounds.summary(|round| nanos(round.samples[0], firings)), "with making the ring".into())
        })];
    all.extend(rows.into_iter().map(|(what, at)| match at {
        Ok(at) => Row::new("networks", what, (Target::None, Unit::Times), &rounds, |rounds| {
            let each = nanos(rounds.median(|round| round.samples[at]), firings);
            (rounds.summary(|round| round.samples[at] / round.samples[0]), format!("{each:.1} ns a hop"))
        }),
        Err(why) => {
            Row::without("networks", what, (Target::None, Unit::Times), Unmeasured::NotInstalled(why))
        }
    }));
    all
}

/// Builds and starts a ring of goroutines, if Go is installed.
fn goroutines() -> Result<Rival, String> {
    let program = builds::folder().join("rivals-ring-go");
    let source = builds::source("rivals/promises/ring.go");
    builds::run(Command::new("go").arg("build").arg("-o").arg(&program).arg(source))?;
    Rival::start(Command::new(program))
}

fn rules(firings: u64) -> u64 {
    let mut last = 0;
    let mut net = Network::<String>::new().workers(1);
    let (first, mut take) = net.record_with::<u64>(2, [0]);
    for _ in 1..RULES {
        let (give, next) = net.record::<u64>(2);
        net.rule("pass", take.consumes(1), give.produces(1), |n, out| {
            out.push(n[0] + 1);
            Ok(())
        });
        take = next;
    }
    net.rule("count", take.consumes(1), first.produces(1), |n, out| {
        last = n[0] + 1;
        if last >= firings {
            return Ok(Break(()));
        }
        out.push(last);
        Ok(Continue(()))
    });
    net.run().expect("nothing fails");
    last
}

/// A token that passes through a ring of processes, each of which has a thread.
fn ring_of_processes(setup: &Setup) -> Row {
    let hops: u64 = if setup.quick { 10_000 } else { 20_000 };
    let contenders = vec![Contender::timed("processes", digest(hops), move || digest(blocking(hops)))];
    let rounds = measure(setup.budget, None, contenders);
    let what = format!("ring of {PROCESSES} blocking processes, one token: a hop");
    Row::new("networks", what, (Target::None, Unit::Nanoseconds), &rounds, |rounds| {
        (
            rounds.summary(|round| nanos(round.samples[0], hops)),
            "beside the ring of rules; with making the ring".into(),
        )
    })
}

fn blocking(hops: u64) -> u64 {
    let mut last = 0;
    let mut net = Network::<String>::new().workers(1);
    let (mut first, mut take) = net.record_with::<u64>(2, [0]);
    for _ in 1..PROCESSES {
        let (mut give, next) = net.record::<u64>(2);
        net.process("pass", move |_| {
            for n in take {
                if give.push(n + 1).is_err() {
                    break;
                }
            }
            Ok(())
        });
        take = next;
    }
    net.process("count", |_| {
        for n in &mut take {
            last = n + 1;
            if last >= hops || first.push(last).is_err() {
                break;
            }
        }
        Ok(())
    });
    net.run().expect("nothing fails");
    // The token stops at the counter, which is the last of the ring.
    last.min(hops)
}
