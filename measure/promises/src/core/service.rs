//! A service at half load: how long a request takes from its post to its result, beside services that are made of channels
//! and threads by hand.
//!
//! A request is four stages of 50 us. One thread posts requests at random moments, half as many as two threads could handle.
//! The posts of all contenders have the same moments.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anabranch::Stream;

use super::Setup;
use measure_harness::rounds::{Contender, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::{Digest, Work};

const GROUP: &str = "service";
const STAGES: usize = 4;
const WORKERS: usize = 2;
/// How many requests may wait before the stages.
const WAITING: usize = 16;
/// The time of all stages of a request.
const REQUEST: Duration = Duration::from_micros(50 * STAGES as u64);

pub fn rows(setup: &Setup) -> Vec<Row> {
    let service = Service { work: Work::of(5e4), requests: if setup.quick { 500 } else { 1_500 } };
    vec![
        service.beside(
            setup,
            "parallel stages: times two threads that share a channel",
            Service::parallel,
            Service::shared,
        ),
        service.beside(
            setup,
            "serial stages: times a thread and a channel for each stage",
            Service::serial,
            Service::chain,
        ),
    ]
}

/// A request: its number, and when it was posted.
type Request = (u64, Instant);

#[derive(Debug, Clone, Copy)]
struct Service {
    /// The work of a stage.
    work: Work,
    requests: u64,
}

/// The sum of the results, and the time of each request, in seconds.
#[derive(Debug, Default)]
struct Results {
    sum: u64,
    times: Vec<f64>,
}

impl Results {
    fn take(&mut self, (result, posted): Request) {
        self.sum = self.sum.wrapping_add(result);
        self.times.push(posted.elapsed().as_secs_f64());
    }

    /// The time that 99 of 100 requests do not exceed, and the digest.
    fn sample(mut self) -> (f64, Digest) {
        self.times.sort_unstable_by(f64::total_cmp);
        (self.times[self.times.len() * 99 / 100], Digest::of_number(self.sum))
    }
}

impl Service {
    /// The 99 % quantile of `own`, divided by that of `other`.
    fn beside(self, setup: &Setup, how: &str, own: fn(&Self) -> Results, other: fn(&Self) -> Results) -> Row {
        let sum = (0..self.requests)
            .fold(0u64, |sum, n| sum.wrapping_add((0..STAGES).fold(n, |n, _| self.stage(n))));
        let expected = Digest::of_number(sum);
        let contenders = vec![
            Contender::sampled("anabranch", expected, || own(&self).sample()),
            Contender::sampled("by hand", expected, || other(&self).sample()),
        ];
        let rounds = measure(setup.budget, Some(setup.probe()), contenders);
        let what =
            format!("service at half load, 4 stages of 50 us, 2 workers, p99 from post to result, {how}");
        Row::new(GROUP, what, (Target::AtMost(1.2), Unit::Times), &rounds, |rounds| {
            let [own, other] = [0, 1].map(|at| 1e6 * rounds.median(|round| round.samples[at]));
            (
                rounds.summary(|round| round.samples[0] / round.samples[1]),
                format!("{own:.0} us, by hand {other:.0}; {} requests a round", self.requests),
            )
        })
    }

    fn stage(&self, n: u64) -> u64 {
        self.work.run(n)
    }

    fn step(&self, (n, posted): Request) -> Request {
        (self.stage(n), posted)
    }

    /// Posts the requests, each at its moment or as soon as the one before it was accepted. Their times count from their moments.
    fn post(&self, mut accept: impl FnMut(Request)) {
        let begin = Instant::now();
        let mut due = Duration::ZERO;
        for n in 0..self.requests {
            due += gap(n);
            thread::sleep(due.saturating_sub(begin.elapsed()));
            accept((n, begin + due));
        }
    }

    fn parallel(&self) -> Results {
        self.served_by(|requests| {
            let requests = requests.map(|request| self.step(request)).map(|request| self.step(request));
            requests.map(|request| self.step(request)).map(|request| self.step(request))
        })
    }

    fn serial(&self) -> Results {
        self.served_by(|requests| {
            let requests =
                requests.serial_map(|request| self.step(request)).serial_map(|request| self.step(request));
            requests.serial_map(|request| self.step(request)).serial_map(|request| self.step(request))
        })
    }

    /// Posts the requests to a stream, to which `stages` adds the stages.
    fn served_by<'s>(&'s self, stages: impl FnOnce(Stream<'s, Request>) -> Stream<'s, Request>) -> Results {
        let (sender, requests) = Stream::channel(WAITING);
        let mut results = Results::default();
        thread::scope(|scope| {
            scope.spawn(move || self.post(|request| sender.send(request).expect("the service runs")));
            stages(requests).workers(WORKERS).for_each(|request| results.take(request));
        });
        results
    }

    /// Two threads take requests from one channel, and run all stages of a request.
    fn shared(&self) -> Results {
        let (sender, requests) = sync_channel::<Request>(WAITING);
        let requests = Mutex::new(requests);
        let (give, take) = channel();
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                let (give, requests) = (give.clone(), &requests);
                scope.spawn(move || {
                    loop {
                        let request = requests.lock().expect("nobody panics").recv();
                        let Ok(request) = request else { break };
                        let request = (0..STAGES).fold(request, |request, _| self.step(request));
                        give.send(request).expect("the results are taken");
                    }
                });
            }
            drop(give);
            scope.spawn(move || self.post(|request| sender.send(request).expect("the service runs")));
            taken(take)
        })
    }

    /// Each stage has a thread, and a channel to the next one.
    fn chain(&self) -> Results {
        let (sender, mut last) = sync_channel::<Request>(WAITING);
        thread::scope(|scope| {
            for _ in 0..STAGES {
                let (give, next) = sync_channel(WAITING);
                let take = std::mem::replace(&mut last, next);
                scope.spawn(move || {
                    take.iter().for_each(|request| give.send(self.step(request)).expect("it is taken"));
                });
            }
            scope.spawn(move || self.post(|request| sender.send(request).expect("the service runs")));
            taken(last)
        })
    }
}

fn taken(take: Receiver<Request>) -> Results {
    let mut results = Results::default();
    take.iter().for_each(|request| results.take(request));
    results
}

/// The time between request `n` and the one before it: exponentially distributed, with the mean of half load.
fn gap(n: u64) -> Duration {
    let mean = REQUEST.as_secs_f64() * 2.0 / WORKERS as f64;
    let bits = super::windows::scrambled(n + 1) >> 11;
    let uniform = (bits as f64 + 1.0) / (1u64 << 53) as f64;
    Duration::from_secs_f64(-mean * uniform.ln())
}
