//! Many services and a network that wait on one pool: how much of a core they use together, and how many threads the services use.

use std::sync::Arc;
use std::sync::mpsc::{self, channel};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

use anabranch::{Items, Pool, Sender, Stream};
use anabranch_network::{Fill, Network, Window};

use super::Setup;
use super::idle::{Clock, no_clock};
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

const GROUP: &str = "idle-streams";
const STREAMS: u64 = 50;
const RULES: usize = 1_000;
const PROCESSES: usize = 50;
const THREADS: usize = 2;

pub fn rows(setup: &Setup) -> Vec<Row> {
    let (rounds, pause) = if setup.quick { (7, 500) } else { (15, 1_000) };
    let budget = Budget { wanted: rounds, least: rounds, time: Duration::from_secs(40) };
    let pause = Duration::from_millis(pause);
    let before = threads();
    let pool = Arc::new(Pool::new(THREADS));
    let services = Services::start(&pool);
    let more = || threads().zip(before).map(|(now, before)| now.saturating_sub(before) as f64);
    let count = Contender::sampled("threads", Digest::EMPTY, || (more().unwrap_or(f64::NAN), Digest::EMPTY));
    let counted = match before {
        Some(_) => measure(budget, None, vec![count]),
        None => Err(Unmeasured::Impossible("this system does not tell the threads of a process".into())),
    };
    let network = IdleNetwork::start(&pool);
    let share = Contender::sampled("processor time", Digest::EMPTY, || {
        let clock = Clock::now();
        sleep(pause);
        (clock.share().unwrap_or(f64::NAN), Digest::EMPTY)
    });
    let rounds = match Clock::now().share() {
        Some(_) => measure(budget, None, vec![share]),
        None => Err(no_clock()),
    };
    network.end();
    drop(services);
    vec![
        Row::new(
            GROUP,
            format!(
                "{STREAMS} idle streams, {RULES} idle rules and {PROCESSES} idle processes on a pool of {THREADS}: share of \
                 a core, all together"
            ),
            (Target::AtMost(0.02), Unit::Percent),
            &rounds,
            |rounds| (rounds.summary(|round| round.samples[0]), String::new()),
        ),
        Row::new(
            GROUP,
            format!("{STREAMS} idle streams on a pool of {THREADS}: threads, with those of the pool"),
            (Target::AtMost(THREADS as f64), Unit::Threads),
            &counted,
            |rounds| {
                let remark = "each stream ends in an iterator, and its source is a channel";
                (rounds.summary(|round| round.samples[0]), remark.into())
            },
        ),
    ]
}

/// Services that have answered a request each, and wait for more.
#[derive(Debug)]
struct Services(#[allow(dead_code)] Vec<(Sender<u64>, Items<u64>)>);

impl Services {
    fn start(pool: &Arc<Pool>) -> Self {
        let start = |n| {
            let (sender, requests) = Stream::channel(4);
            let mut results = requests.pool(pool).map(|n: u64| n * n).into_iter();
            sender.send(n).expect("it runs");
            assert_eq!(results.next(), Some(n * n));
            (sender, results)
        };
        Self((0..STREAMS).map(start).collect())
    }
}

/// A line of rules and of processes behind a process that waits for something else. It has handed an item on once.
#[derive(Debug)]
struct IdleNetwork {
    end: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl IdleNetwork {
    fn start(pool: &Arc<Pool>) -> Self {
        let pool = Arc::clone(pool);
        let (end, ended) = channel();
        let (arrived, first) = channel();
        let run = move || {
            let mut net = Network::<String>::new().pool(&pool);
            let (mut give, mut take) = net.record::<u64>(1);
            net.process("source", move |_| {
                let _ = give.push(1);
                let _ = ended.recv();
                Ok(())
            });
            for _ in 0..RULES {
                let (give, next) = net.record::<u64>(1);
                let pass = |items: &mut Window<'_, u64>, out: &mut Fill<'_, u64>| {
                    out.push(items[0]);
                    Ok(())
                };
                net.rule("rule", take.consumes(1), give.produces(1), pass);
                take = next;
            }
            for _ in 0..PROCESSES {
                let (mut give, next) = net.record::<u64>(1);
                net.process("process", move |_| {
                    for item in &mut take {
                        let _ = give.push(item);
                    }
                    Ok(())
                });
                take = next;
            }
            net.process("sink", move |_| {
                take.for_each(|_| arrived.send(()).expect("it is waited for"));
                Ok(())
            });
            net.run().expect("no process fails");
        };
        let thread = thread::spawn(run);
        first.recv().expect("the network runs");
        Self { end, thread }
    }

    fn end(self) {
        drop(self.end);
        self.thread.join().expect("the network ends");
    }
}

/// How many threads this process has.
fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}
