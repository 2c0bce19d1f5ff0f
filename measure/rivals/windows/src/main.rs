//! Tumbling windows by key with other libraries. The words of a request are `NAME EVENTS`.
//!
//! Event *n* has the time *n* / 10, a key of 100,000, and the value *n*. Every thread makes its share of the events. A result
//! is the sum of the values of a key in a window of 100,000 units of time.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;

use measure_harness::machine::locked_version;
use measure_harness::rival::{Answer, number, serve};
use renoir::operator::StreamElement;
use renoir::operator::window::{WindowAccumulator, WindowDescription, WindowManager, WindowResult};
use renoir::{RuntimeConfig, StreamContext};

const KEYS: u64 = 100_000;
const EVENTS_A_UNIT: u64 = 10;
const LENGTH: u64 = 100_000;

/// Another number for each number (the finaliser of SplitMix64).
fn scrambled(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

fn key(event: u64) -> u64 {
    scrambled(event) % KEYS
}

/// The part of the digest that one result has.
fn result(key: u64, start: u64, sum: u64) -> u64 {
    scrambled(key ^ sum ^ (start << 20))
}

// As in timely's own examples, capabilities are keys: their times do not change.
#[allow(clippy::mutable_key_type)]
fn timely(events: u64, threads: usize) -> u64 {
    use timely::dataflow::InputHandle;
    use timely::dataflow::channels::pact::Exchange;
    use timely::dataflow::operators::{Input, Inspect, Operator, Probe};
    let digest = Arc::new(AtomicU64::new(0));
    let all = Arc::clone(&digest);
    let guards = timely::execute(timely::Config::process(threads), move |worker| {
        let total = Arc::clone(&all);
        let mut input = InputHandle::new();
        let probe = worker.dataflow::<u64, _, _>(|scope| {
            let exchange = Exchange::new(|&(key, _): &(u64, u64)| scrambled(key));
            scope
                .input_from(&mut input)
                .container::<Vec<(u64, u64)>>()
                .unary_frontier(exchange, "windows", |_, _| {
                    let mut windows = HashMap::new();
                    let mut spare: Vec<HashMap<u64, u64, foldhash::fast::FixedState>> = Vec::new();
                    move |(input, frontier), output| {
                        input.for_each_time(|time, batches| {
                            let sums = windows
                                .entry(time.retain())
                                .or_insert_with(|| spare.pop().unwrap_or_default());
                            for batch in batches {
                                for (key, value) in batch.drain(..) {
                                    *sums.entry(key).or_insert(0) += value;
                                }
                            }
                        });
                        windows.retain(|time, sums| {
                            if frontier.less_equal(time.time()) {
                                return true;
                            }
                            let start = *time.time() * LENGTH;
                            let mut session = output.session(time);
                            sums.drain().for_each(|(key, sum)| session.give((key, start, sum)));
                            spare.push(std::mem::take(sums));
                            false
                        });
                    }
                })
                .container::<Vec<(u64, u64, u64)>>()
                .inspect(move |&(key, start, sum)| {
                    total.fetch_add(result(key, start, sum), Ordering::Relaxed);
                })
                .probe()
        });
        let of_window = EVENTS_A_UNIT * LENGTH;
        let peers = worker.peers() as u64;
        let mut event = worker.index() as u64;
        for window in 0..events.div_ceil(of_window) {
            let end = ((window + 1) * of_window).min(events);
            let mut unstepped = 0;
            while event < end {
                input.send((key(event), event));
                event += peers;
                unstepped += 1;
                if unstepped == 1 << 14 {
                    unstepped = 0;
                    worker.step();
                }
            }
            input.advance_to(window + 1);
            worker.step();
        }
        input.close();
        while !probe.done() {
            worker.step();
        }
    });
    drop(guards.expect("it starts"));
    digest.load(Ordering::Relaxed)
}

/// Windows that begin at the multiples of their length. Those of Renoir begin with the first event of a key, so an event of
/// another thread that is a little older would be in none.
#[derive(Clone)]
struct Aligned;

impl WindowDescription<u64> for Aligned {
    type Manager<A: WindowAccumulator<In = u64>> = Open<A>;

    fn build<A: WindowAccumulator<In = u64>>(&self, init: A) -> Open<A> {
        Open { init, windows: Vec::new() }
    }
}

/// The windows of a key that are open, each with its beginning.
#[derive(Clone)]
struct Open<A> {
    init: A,
    windows: Vec<(i64, A)>,
}

impl<A: WindowAccumulator<In = u64>> Open<A> {
    fn close(&mut self, is_over: impl Fn(i64) -> bool) -> Vec<WindowResult<A::Out>> {
        let closed = self.windows.extract_if(.., |(start, _)| is_over(*start));
        closed.map(|(start, window)| WindowResult::Timestamped(window.output(), start)).collect()
    }
}

impl<A: WindowAccumulator<In = u64>> WindowManager for Open<A> {
    type In = u64;
    type Out = A::Out;
    type Output = Vec<WindowResult<A::Out>>;

    fn process(&mut self, element: StreamElement<u64>) -> Self::Output {
        match element {
            StreamElement::Timestamped(event, start) => {
                let at = self.windows.iter().position(|window| window.0 == start).unwrap_or_else(|| {
                    self.windows.push((start, self.init.clone()));
                    self.windows.len() - 1
                });
                self.windows[at].1.process(&event);
                Vec::new()
            }
            StreamElement::Watermark(time) => self.close(|start| start < time),
            StreamElement::FlushAndRestart | StreamElement::Terminate => self.close(|_| true),
            _ => Vec::new(),
        }
    }

    fn recycle(&self) -> bool {
        self.windows.is_empty()
    }
}

fn renoir(events: u64, threads: usize) -> u64 {
    let digest = Arc::new(AtomicU64::new(0));
    let total = Arc::clone(&digest);
    let context = StreamContext::new(RuntimeConfig::local(threads as u64).expect("one thread or more"));
    let start = |event: u64| event / EVENTS_A_UNIT / LENGTH * LENGTH;
    let mut last = 0;
    context
        .stream_par_iter(move |first, peers| (first..events).step_by(peers as usize))
        // The time of an event is the beginning of its window. A new time is the watermark too.
        .add_timestamps(
            move |&event| start(event) as i64,
            move |_, &time| (std::mem::replace(&mut last, time) != time).then_some(time),
        )
        .group_by(|&event| key(event))
        .window(Aligned)
        .fold((0, 0), move |window: &mut (u64, u64), event| {
            window.0 = start(*event);
            window.1 += event;
        })
        .for_each(move |(key, (start, sum))| {
            total.fetch_add(result(key, start, sum), Ordering::Relaxed);
        });
    context.execute_blocking();
    digest.load(Ordering::Relaxed)
}

/// Name, package, and the run.
type Run = fn(u64, usize) -> u64;

const RIVALS: [(&str, Run); 2] = [("timely", timely), ("renoir", renoir)];

fn main() -> io::Result<()> {
    let forms = RIVALS.map(|(name, _)| (name, locked_version(include_str!("../../Cargo.lock"), name)));
    let threads = available_parallelism().map_or(1, usize::from);
    serve(&forms, "", |words| {
        let rival = RIVALS.into_iter().find(|rival| Some(&rival.0) == words.first());
        let (_, run) = rival.ok_or_else(|| format!("no form is called \"{}\"", words.join(" ")))?;
        let events = number(words, 1)?;
        Ok(Answer::timed(|| run(events, threads)))
    })
}
