//! Many services that wait for requests on one pool: how much of a core and how many threads they use together.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use anabranch::{Items, Pool, Post, Stream};

use super::Setup;
use super::idle::{Clock, no_clock};
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

const GROUP: &str = "idle-streams";
const STREAMS: u64 = 50;
const THREADS: usize = 2;

pub fn rows(setup: &Setup) -> Vec<Row> {
    let (rounds, pause) = if setup.quick { (7, 500) } else { (15, 1_000) };
    let budget = Budget { wanted: rounds, least: rounds, time: Duration::from_secs(40) };
    let pause = Duration::from_millis(pause);
    let before = threads();
    let services = Services::start();
    let more = || threads().zip(before).map(|(now, before)| now.saturating_sub(before) as f64);
    let share = Contender::sampled("processor time", Digest::EMPTY, || {
        let clock = Clock::now();
        sleep(pause);
        (clock.share().unwrap_or(f64::NAN), Digest::EMPTY)
    });
    let count = Contender::sampled("threads", Digest::EMPTY, || (more().unwrap_or(f64::NAN), Digest::EMPTY));
    let rounds = match Clock::now().share() {
        Some(_) => measure(budget, None, vec![share, count]),
        None => Err(no_clock()),
    };
    drop(services);
    let counted = match before {
        Some(_) => &rounds,
        None => &Err(Unmeasured::Impossible("this system does not tell the threads of a process".into())),
    };
    vec![
        Row::new(
            GROUP,
            format!("{STREAMS} idle streams on a pool of {THREADS}: share of a core"),
            (Target::AtMost(0.2), Unit::Percent),
            &rounds,
            |rounds| (rounds.summary(|round| round.samples[0]), String::new()),
        ),
        Row::new(
            GROUP,
            format!("{STREAMS} idle streams on a pool of {THREADS}: threads, with those of the pool"),
            (Target::AtMost(THREADS as f64), Unit::Threads),
            counted,
            |rounds| {
                let remark = "each stream ends in an iterator, and its source is a channel";
                (rounds.summary(|round| round.samples[1]), remark.into())
            },
        ),
    ]
}

/// Services that have answered a request each, and wait for more.
#[derive(Debug)]
struct Services(#[allow(dead_code)] Vec<(Post<u64>, Items<u64>)>);

impl Services {
    fn start() -> Self {
        let pool = Arc::new(Pool::new(THREADS));
        let start = |n| {
            let (post, requests) = Stream::channel(4);
            let mut results = requests.pool(&pool).map(|n: u64| n * n).into_iter();
            post.post(n).expect("it runs");
            assert_eq!(results.next(), Some(n * n));
            (post, results)
        };
        Self((0..STREAMS).map(start).collect())
    }
}

/// How many threads this process has.
fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}
