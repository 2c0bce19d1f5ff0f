//! Random runs with random faults, compared with the loop.
//!
//! `CLUSTER_RUNS=2000 CLUSTER_SEED=7 cargo test -p anabranch-cluster --release --test integration random::` tries 2,000 other ones.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anabranch::Stream;
use anabranch_cluster::{Cluster, RemoteError, prelude::*};
use bytes::Bytes;
use fastrand::Rng;

use crate::fleet::Fleet;
use crate::link::Link;
use crate::proxy::{Proxy, Trouble};
use crate::support::{
    Act, Fault as Own, Job, Server, functions, have_server, options, role, within, work, worker,
};

/// How many runs are under way at once, each with a server and workers of its own. Most of their time is waiting.
const LANES: u64 = 10;

/// The number of workers that have a link that can be cut.
const LINKS: u64 = 2;

/// This may take longer than 10 s: fewer runs reach too few faults at too few moments.
#[test]
fn random_runs_with_random_faults_give_what_the_loop_gives() {
    if !have_server() {
        return;
    }
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (runs, seed) = (number("CLUSTER_RUNS", 200), number("CLUSTER_SEED", 20_261_125));
    within(Duration::from_secs(60 + runs), move || {
        let next = AtomicU64::new(0);
        thread::scope(|scope| {
            for lane in 0..LANES {
                let next = &next;
                scope.spawn(move || {
                    let mut lane = Lane::new(lane < LINKS);
                    loop {
                        let run = next.fetch_add(1, Ordering::Relaxed);
                        if run >= runs {
                            return;
                        }
                        let case = Case::draw(
                            &mut Rng::with_seed(seed.wrapping_mul(1 << 32) + run),
                            lane.link.is_some(),
                        );
                        let said = format!("run {run} of seed {seed}: {case:?}");
                        if catch_unwind(AssertUnwindSafe(|| lane.check(case))).is_err() {
                            panic!("{said}");
                        }
                    }
                });
            }
        });
    });
}

/// A fault, when the end has so many results.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Kill,
    /// Stops a worker, and lets it go on after a time.
    Stop(Duration),
    Leave,
    Server(Duration),
    Cut(Duration),
    /// Another program is there for the time, and is killed.
    OtherProgram(Duration),
    /// The line of the program or of the first worker has a trouble after so many more messages.
    Line {
        is_the_programs: bool,
        after: u64,
        trouble: Trouble,
    },
    /// The server stands still for the time.
    Still(Duration),
}

#[derive(Debug)]
struct Case {
    window: usize,
    workers: usize,
    threads: usize,
    lengths: Vec<(usize, usize)>,
    /// The time of an item. Each eighth takes 8 times as long.
    time: Duration,
    /// The time of the end.
    end: Duration,
    bad: Option<(usize, Act)>,
    faults: Vec<(usize, Fault)>,
}

impl Case {
    fn draw(random: &mut Rng, has_link: bool) -> Self {
        let (count, longest) = match random.u64(..20) {
            0 => (2..7, 8 << 20),
            1..3 => (5..20, 1 << 20),
            3..8 => (10..60, 64 << 10),
            _ => (1..150, 300),
        };
        let count = random.usize(count);
        let length = |random: &mut Rng| match random.u64(..4) {
            0 => 0,
            1 => longest,
            _ => random.u64(..longest as u64 + 1) as usize,
        };
        let lengths: Vec<_> = (0..count).map(|_| (length(random), length(random))).collect();
        let mut faults = Vec::new();
        for _ in 0..random.u64(..3) {
            let time = |random: &mut Rng, most| Duration::from_millis(random.u64(..most));
            let fault = match random.u64(..if has_link { 12 } else { 11 }) {
                0 | 1 => Fault::Kill,
                2 => Fault::Stop(time(random, 1_200)),
                3 => Fault::Leave,
                4 => Fault::Server(time(random, 500)),
                5 => Fault::OtherProgram(time(random, 300)),
                6 => Fault::Still(time(random, 1_500)),
                7..11 => Fault::Line {
                    is_the_programs: random.u64(..2) == 0,
                    after: random.u64(..120),
                    trouble: match random.u64(..4) {
                        0 => Trouble::Cut,
                        1 => Trouble::Cuts(random.usize(2..9) as u32, 20 + random.u64(..80)),
                        2 => Trouble::Pause(time(random, 1_500)),
                        3 if random.u64(..2) == 0 => Trouble::Refuse(time(random, 800)),
                        _ => Trouble::Slow(200_000, time(random, 1_000)),
                    },
                },
                _ => Fault::Cut(time(random, 1_500)),
            };
            faults.push((random.usize(0..count + 1), fault));
        }
        // An item that ends its workers comes with no other deaths, so that no other item can be lost.
        let bad = match random.u64(..6) {
            0 => Some(Act::Fail),
            1 => Some(Act::Panic),
            2 => {
                faults.clear();
                Some(Act::Abort)
            }
            _ => None,
        };
        Self {
            window: random.usize(1..65),
            workers: random.usize(1..6),
            threads: random.usize(1..5),
            time: Duration::from_micros([0, 100, 1_000, 3_000][random.u64(..4) as usize]),
            end: Duration::from_micros([0, 0, 0, 2_000][random.u64(..4) as usize]),
            bad: bad.map(|act| (random.usize(0..count), act)),
            lengths,
            faults,
        }
    }

    fn jobs(&self) -> Vec<Job> {
        let jobs = self.lengths.iter().enumerate().map(|(n, (item, result))| {
            let time = if n % 8 == 7 { self.time * 8 } else { self.time };
            let act = self.bad.clone().filter(|(bad, _)| *bad == n).map_or(Act::Compute, |(_, act)| act);
            Job::new(n as u64).sized(*item, *result).time(time).act(act)
        });
        jobs.collect()
    }
}

/// A server and its workers.
struct Lane {
    cluster: Cluster,
    threads: Arc<Mutex<usize>>,
    fleet: Fleet,
    server: Mutex<Server>,
    link: Option<Arc<Link>>,
    /// The lines of the program and of the first worker.
    lines: [Arc<Proxy>; 2],
}

impl Lane {
    fn new(has_link: bool) -> Self {
        let link = if has_link { Link::new().map(Arc::new) } else { None };
        if has_link && link.is_none() {
            abz_foreign::leave_out("a cut link (network namespaces need root and the program ip)");
        }
        let address = link.as_ref().map_or("127.0.0.1".to_owned(), |link| link.address());
        let server = Server::at(&address, &["-js"]);
        let threads = Arc::new(Mutex::new(1));
        let lines = [(); 2].map(|()| Arc::new(Proxy::new(&address, server.port())));
        let start = {
            let (threads, link, url, line) =
                (Arc::clone(&threads), link.clone(), server.url(), Arc::clone(&lines[1]));
            move |n| {
                let threads = *threads.lock().unwrap();
                // The first one is at the other side of the link, or of its line.
                match &link {
                    Some(link) if n == 0 => link.inside(worker(&url, threads)),
                    None if n == 0 => worker(&line.url(), threads),
                    _ => worker(&url, threads),
                }
            }
        };
        let cluster = Cluster::connect_with(&lines[0].url(), options()).unwrap();
        Self { cluster, threads, fleet: Fleet::new(1, start), server: Mutex::new(server), link, lines }
    }

    fn check(&mut self, case: Case) {
        *self.threads.lock().unwrap() = case.threads;
        self.fleet.resize(case.workers);
        let jobs = case.jobs();
        let good = case.bad.as_ref().map_or(jobs.len(), |(bad, _)| *bad);
        let loops = |job: &Job| work(Job { time: 0, ..job.clone() }).unwrap();
        let expected: Vec<_> = jobs[..good].iter().map(loops).collect();
        let failure = case.bad.as_ref().map(|(bad, act)| match (*bad as u64, act) {
            (item, Act::Fail) => RemoteError::Own(Own(item)),
            (item, Act::Panic) => RemoteError::Panic { item, message: format!("job {item} panics") },
            (item, _) => RemoteError::Lost { item, workers: 3 },
        });
        let this = &*self;
        let mut seen = Vec::new();
        let run = thread::scope(|scope| {
            let begin = |at: usize| {
                for (_, fault) in case.faults.iter().filter(|(when, _)| *when == at) {
                    let fault = *fault;
                    scope.spawn(move || this.fault(fault));
                }
            };
            begin(0);
            // The queue is not made if a fault cuts off the request. That is an error at once, and another try may follow.
            let asked = || self.cluster.function::<Job, Bytes, Own>(&functions(), "work");
            let remote = (0..10).find_map(|_| asked().ok()).expect("the queue can be made");
            Stream::from_iter(jobs).window(case.window).map_remote(&remote).for_each(|result| {
                seen.push(result);
                thread::sleep(case.end);
                begin(seen.len());
            })
        });
        self.lines.iter().for_each(|line| line.heal());
        assert_eq!(run.err(), failure);
        assert_eq!(seen.len(), expected.len());
        assert!(seen == expected, "a result is not that of the loop, or not in its place");
    }

    fn fault(&self, fault: Fault) {
        match fault {
            Fault::Kill => self.fleet.workers()[0].signal("KILL"),
            Fault::Leave => self.fleet.workers()[0].signal("TERM"),
            Fault::Stop(time) => {
                let stopped = self.fleet.workers()[0].id();
                let signal = |name: &str, worker: &crate::support::Process| {
                    // It may have been killed meanwhile.
                    if worker.id() == stopped {
                        worker.signal(name);
                    }
                };
                signal("STOP", &self.fleet.workers()[0]);
                thread::sleep(time);
                signal("CONT", &self.fleet.workers()[0]);
            }
            Fault::Server(time) => self.server.lock().unwrap().restart_after(time),
            Fault::Cut(time) => {
                let Some(link) = &self.link else { return };
                link.cut();
                thread::sleep(time);
                link.mend();
            }
            Fault::Line { is_the_programs, after, trouble } => {
                self.lines[usize::from(!is_the_programs)].trouble(after, trouble);
            }
            Fault::Still(time) => {
                let server = self.server.lock().unwrap();
                server.signal("STOP");
                thread::sleep(time);
                server.signal("CONT");
            }
            Fault::OtherProgram(time) => {
                let url = self.server.lock().unwrap().url();
                let program = role("long run", &url).start();
                thread::sleep(time);
                drop(program);
            }
        }
    }
}
