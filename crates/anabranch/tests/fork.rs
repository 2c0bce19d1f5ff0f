//! Forked processes, at any moment of their parent's runs: a new run gives its results, and a run of the parent
//! says that the process was forked. Nothing hangs.
//!
//! A program of its own, because it forks, and ends its children by a signal if they hang.

#![cfg(all(target_os = "linux", not(shuttle)))]
#![allow(unsafe_code, reason = "the standard library has no fork")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anabranch::ssp::{self, collect, parallel, pipeline};
use anabranch::{CancelToken, Items, Monitor, Offload, Pool, ReportSlot, Sender, Stream};
use anabranch_network::Network;
use fastrand::Rng;
use futures::executor::block_on_stream;

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    safe fn waitpid(process: i32, status: Option<&mut i32>, options: i32) -> i32;
    safe fn alarm(seconds: u32) -> u32;
}

/// After this many seconds a child that still runs is ended by SIGALRM.
const LIMIT_S: u32 = 60;
/// The status of a child that SIGABRT has ended.
const ABORTED: i32 = 6;

/// Takes about a microsecond.
fn work(n: u64) -> u64 {
    (0..200).fold(n, |n, by| std::hint::black_box(n.rotate_left(3) ^ by))
}

/// The sum of what a stream of `items` items gives.
fn sum(items: u64) -> u64 {
    (0..items).map(work).fold(0, u64::wrapping_add)
}

fn stream(items: u64) -> Stream<'static, u64> {
    Stream::from_iter(0..items)
}

fn add(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

/// Adds up the items of an asynchronous stream.
fn awaited(items: anabranch::AsyncItems<u64>) -> u64 {
    block_on_stream(items).fold(0, add)
}

/// A stream of posted items that the threads of a pool alone run.
fn posted(pool: &Arc<Pool>, items: u64) -> Stream<'static, u64> {
    let (sender, stream) = Stream::channel(items as usize);
    (0..items).for_each(|n| sender.send(n).unwrap());
    stream.pool(pool).map(work)
}

/// A network with a rule between two processes, and the sum of its results.
fn network(items: u64, rule: impl Fn(u64) -> u64 + Send) -> u64 {
    let mut net = Network::<String>::new().workers(2);
    let (mut give, take) = net.record::<u64>(4);
    let (made, mut end) = net.record::<u64>(4);
    let mut sum = 0;
    net.process("source", move |_| {
        (0..items).for_each(|n| give.push(n).unwrap());
        Ok(())
    });
    net.rule("work", take.consumes(1), made.produces(1), move |n, out| {
        out.push(rule(n[0]));
        Ok(())
    });
    net.process("sum", |_| {
        sum = (&mut end).fold(0, add);
        Ok(())
    });
    net.run().unwrap();
    sum
}

/// A run with the sum of its results. It needs nothing of the parent.
type New = fn(u64) -> u64;

/// Each kind of run.
const NEW: [(&str, New); 16] = [
    ("inline", |items| stream(items).inline().map(work).fold(0, add)),
    ("one worker", |items| stream(items).workers(1).map(work).fold(0, add)),
    ("own threads", |items| stream(items).workers(3).map(work).fold(0, add)),
    ("a dedicated stage", |items| {
        stream(items).workers(2).dedicated().serial_map(work).map(|n| n).fold(0, add)
    }),
    ("a new pool", |items| stream(items).pool(&Pool::new(3)).map(work).fold(0, add)),
    ("into_iter", |items| stream(items).workers(2).map(work).into_iter().fold(0, add)),
    ("with_iter", |items| stream(items).workers(2).map(work).with_iter(|sums| sums.fold(0, add))),
    ("into_async", |items| awaited(stream(items).workers(2).map(work).into_async())),
    ("detached", |items| posted(&Arc::new(Pool::new(2)), items).into_iter().fold(0, add)),
    ("detached and async", |items| awaited(posted(&Arc::new(Pool::new(2)), items).into_async())),
    ("from_async", |items| {
        Stream::from_async(futures::stream::iter(0..items)).workers(2).map(work).fold(0, add)
    }),
    ("select_all", |items| {
        let half = items / 2;
        let parts = [(0, half), (half, items)].map(|(from, to)| Stream::from_iter(from..to).map(work));
        Stream::select_all(parts).fold(0, add)
    }),
    ("Offload", |items| {
        let mut farm = Offload::start(2, 16, work);
        let mut sum = 0;
        for n in 0..items {
            farm.offload(n);
            while let Some(result) = farm.try_get() {
                sum = add(sum, result);
            }
        }
        while let Some(result) = farm.get() {
            sum = add(sum, result);
        }
        sum
    }),
    ("a network", |items| network(items, work)),
    ("ssp", |items| {
        let pipeline = pipeline![parallel!(|n: u64| Some(work(n)), 2), collect!()];
        (0..items).for_each(|n| pipeline.post(n).unwrap());
        pipeline.collect().into_iter().fold(0, add)
    }),
    ("a report, a token and a monitor", |items| {
        let (token, monitor) = (CancelToken::new(), Monitor::new());
        let stream = stream(items).workers(2).cancel_by(&token).watch(&monitor).map(work);
        let slot = ReportSlot::new();
        let sum = stream.report_to(&slot).fold(0, add);
        let report = slot.take().unwrap();
        assert!(report.to_string().contains("map") && monitor.snapshots().is_empty());
        sum
    }),
];

/// The things that a parent has while its runs go on.
struct Parents {
    pool: Arc<Pool>,
    items: Items<u64>,
    detached: Items<u64>,
    asynchronous: anabranch::AsyncItems<u64>,
    sender: Sender<u64>,
    farm: Offload<u64, u64>,
    pooled_farm: Offload<u64, u64>,
    pipeline: ssp::Pipeline<u64, u64>,
    monitor: Monitor,
    token: CancelToken,
}

impl Parents {
    /// Starts runs of each kind that has an object outside of it.
    fn start(token: &CancelToken, taken: &Arc<AtomicU64>) -> (Self, thread::JoinHandle<()>) {
        let (pool, monitor) = (Arc::new(Pool::new(3)), Monitor::new());
        let (sender, posted) = Stream::channel(2);
        let (counted, watched) = (Arc::clone(taken), monitor.clone());
        let token = token.clone();
        let stopping = token.clone();
        let taker = thread::spawn(move || {
            let stream = posted.workers(2).cancel_by(&stopping).watch(&watched).map(work);
            stream.for_each(|_| _ = counted.fetch_add(1, Ordering::Relaxed));
        });
        sender.send(0).unwrap();
        while taken.load(Ordering::Relaxed) == 0 {
            thread::yield_now(); // the run has begun when it has taken an item
        }
        let (never, idle) = Stream::channel(4);
        let waiting = idle.pool(&pool).map(work).into_iter();
        never.keep_unhandled();
        std::mem::forget(never); // so that the stream waits
        let parents = Parents {
            items: stream(u64::MAX).workers(2).cancel_by(&token).map(work).into_iter(),
            detached: waiting,
            asynchronous: stream(u64::MAX).workers(2).map(work).into_async(),
            farm: Offload::start(2, 4, work),
            pooled_farm: Offload::through(4, |tasks| tasks.pool(&pool).map(work)),
            pipeline: pipeline![parallel!(|n: u64| Some(work(n)), 2), collect!()],
            pool,
            sender,
            monitor,
            token,
        };
        (parents, taker)
    }

    /// Uses all objects in a forked child. Returns what is wrong.
    fn misuse(mut self, draw: &mut Rng) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut says = |what: &str, call: &mut dyn FnMut()| match catch_unwind(AssertUnwindSafe(call)) {
            Ok(()) => wrong.push(format!("{what} returns")),
            Err(payload) => {
                let text = payload.downcast_ref::<String>().cloned();
                let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| text.to_string()));
                let text = text.unwrap_or_default();
                if !text.contains("forked") {
                    wrong.push(format!("{what} says: {text}"));
                }
            }
        };
        says("the pool", &mut || _ = stream(9).pool(&self.pool).map(work).fold(0, add));
        says("a stream on the pool alone", &mut || _ = posted(&self.pool, 9).into_iter().count());
        says("Items", &mut || _ = self.items.next());
        says("Items on a pool", &mut || _ = self.detached.next());
        says("AsyncItems", &mut || _ = block_on_stream(&mut self.asynchronous).next());
        says("Sender", &mut || _ = self.sender.send(1));
        says("try_post", &mut || _ = self.sender.try_send(1));
        says("Offload", &mut || self.farm.offload(1));
        says("Offload on a pool", &mut || self.pooled_farm.offload(1));
        says("Pipeline", &mut || _ = self.pipeline.post(1));
        says("the end of a Pipeline", &mut || self.pipeline.end_and_wait());
        if !self.pool.is_forked() {
            wrong.push("`is_forked` is false".to_owned());
        }
        if !self.monitor.snapshots().is_empty() {
            wrong.push("a monitor shows streams of the parent".to_owned());
        }
        // A token of the parent stops what runs here.
        let stopped = stream(u64::MAX).workers(2).cancel_by(&self.token).map(work);
        let mut seen = 0;
        let token = self.token.clone();
        stopped.for_each(|_| {
            seen += 1;
            if seen == 5 {
                token.drain();
            }
        });
        if self.token.wait(Duration::from_secs(20)).is_none() {
            wrong.push("a token waits for runs of the parent".to_owned());
        }
        // The drops, in either order.
        let Parents { pool, items, detached, asynchronous, sender, farm, pooled_farm, pipeline, .. } = self;
        let mut drops: Vec<Box<dyn FnOnce()>> = vec![
            Box::new(|| drop(pool)),
            Box::new(|| drop(items)),
            Box::new(|| drop(detached)),
            Box::new(|| drop(asynchronous)),
            Box::new(|| drop(sender)),
            Box::new(|| drop(farm)),
            Box::new(|| drop(pooled_farm)),
            Box::new(|| drop(pipeline)),
        ];
        while !drops.is_empty() {
            let next = drops.swap_remove(draw.u64(..drops.len() as u64) as usize);
            if catch_unwind(AssertUnwindSafe(next)).is_err() {
                wrong.push("a drop panics".to_owned());
            }
        }
        wrong
    }
}

/// Prints the faults in a child, and ends it with a status that says whether there are any.
fn report(wrong: &[String]) -> ! {
    wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
    _exit(i32::from(!wrong.is_empty()))
}

/// Waits for a child, and returns its status as of `waitpid`.
fn status_of(child: i32) -> i32 {
    let mut status = -1;
    assert_eq!(waitpid(child, Some(&mut status), 0), child);
    status
}

/// One parent with runs of all kinds, whose children are forked at random moments.
fn fork_beside_runs(seed: u64) {
    let mut draw = Rng::with_seed(seed);
    let (token, taken) = (CancelToken::new(), Arc::new(AtomicU64::new(0)));
    let (parents, taker) = Parents::start(&token, &taken);
    let mut parents = Some(parents);
    let pool = Arc::clone(&parents.as_ref().unwrap().pool);
    let over = AtomicBool::new(false);
    let mut statuses = Vec::new();
    thread::scope(|scope| {
        // Runs that begin and end all the time, on threads of their own and on the pool.
        for (own, pool) in [(true, None), (false, Some(pool))] {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    match &pool {
                        Some(pool) => _ = stream(50).pool(pool).map(work).fold(0, add),
                        None => {
                            let slot = ReportSlot::new();
                            let workers = if own { 3 } else { 1 };
                            _ = stream(50).workers(workers).map(work).report_to(&slot).fold(0, add)
                        }
                    }
                }
            });
        }
        for _ in 0..3 {
            // Some progress of the runs, and then any moment.
            let until = draw.u64(..40);
            let running = parents.as_mut().unwrap();
            for n in 0..until {
                running.sender.send(n).unwrap();
                running.farm.offload(n);
                running.items.next();
            }
            (0..draw.u64(..2_000)).for_each(|n| _ = work(n));
            let child_seed = 1 + draw.u64(..u64::MAX >> 12);
            let child = fork();
            if child == 0 {
                alarm(LIMIT_S);
                IS_CHILD.store(true, Ordering::Relaxed);
                let mut draw = Rng::with_seed(child_seed);
                let mut wrong = Vec::new();
                for _ in 0..3 {
                    let (name, run) = NEW[draw.u64(..NEW.len() as u64) as usize];
                    let items = draw.u64(..60);
                    match catch_unwind(|| run(items)) {
                        Ok(found) if found == sum(items) => {}
                        Ok(_) => wrong.push(format!("{name}: another sum")),
                        Err(_) => wrong.push(format!("{name}: a panic")),
                    }
                }
                wrong.extend(parents.take().unwrap().misuse(&mut draw));
                report(&wrong);
            }
            statuses.push(status_of(child));
        }
        over.store(true, Ordering::Relaxed);
    });
    token.cancel();
    drop(parents);
    taker.join().unwrap();
    assert_eq!(statuses, [0; 3], "the children of seed {seed} (14 means that one hung)");
}

/// Whether this process was forked by [`fork_within`].
static IS_CHILD: AtomicBool = AtomicBool::new(false);
/// The child that was forked last.
static CHILD: AtomicU64 = AtomicU64::new(0);

/// Works on an item. One of the items forks the process, and the child goes on as if nothing had happened.
fn fork_at(at: u64) -> impl Fn(u64) -> u64 + Copy + Send + Sync + 'static {
    move |n| {
        if n == at && !IS_CHILD.load(Ordering::Relaxed) {
            match fork() {
                0 => {
                    alarm(LIMIT_S);
                    IS_CHILD.store(true, Ordering::Relaxed);
                }
                child => CHILD.store(child as u64, Ordering::Relaxed),
            }
        }
        work(n)
    }
}

/// A run in which the function forks the process.
type Within = fn(u64, u64) -> u64;

const WITHIN: [(&str, Within); 13] = [
    ("inline", |items, at| stream(items).inline().map(fork_at(at)).fold(0, add)),
    ("one worker", |items, at| stream(items).workers(1).map(fork_at(at)).fold(0, add)),
    ("a parallel stage", |items, at| stream(items).workers(3).map(fork_at(at)).fold(0, add)),
    ("a serial stage", |items, at| stream(items).workers(3).serial_map(fork_at(at)).map(|n| n).fold(0, add)),
    ("a pool", |items, at| stream(items).pool(&Pool::new(3)).map(fork_at(at)).fold(0, add)),
    ("the sink", |items, at| stream(items).workers(3).map(|n| n).fold(0, |sum, n| add(sum, fork_at(at)(n)))),
    ("the source", |items, at| {
        Stream::from_iter((0..items).map(fork_at(at))).workers(2).map(|n| n).fold(0, add)
    }),
    ("the reader", |items, at| {
        stream(items).workers(2).map(|n| n).with_iter(|items| items.map(fork_at(at)).fold(0, add))
    }),
    ("an iterator's run", |items, at| stream(items).workers(2).map(fork_at(at)).into_iter().fold(0, add)),
    ("a task", |items, at| {
        let mut farm = Offload::start(2, items as usize, fork_at(at));
        (0..items).for_each(|n| farm.offload(n));
        std::iter::from_fn(|| farm.get()).fold(0, add)
    }),
    ("a watched run", |items, at| {
        let monitor = Monitor::new();
        let slot = ReportSlot::new();
        stream(items).workers(3).watch(&monitor).map(fork_at(at)).report_to(&slot).fold(0, add)
    }),
    ("a process", |items, at| {
        let mut net = Network::<String>::new().workers(2);
        let (mut give, take) = net.record::<u64>(4);
        let mut sum = 0;
        net.process("source", move |_| {
            let made = fork_at(at);
            (0..items).for_each(|n| give.push(made(n)).unwrap());
            Ok(())
        });
        net.process("sum", |_| {
            sum = take.into_iter().fold(0, add);
            Ok(())
        });
        net.run().unwrap();
        sum
    }),
    ("a rule", |items, at| network(items, fork_at(at))),
];

/// Forks within a function of each kind of run. The child ends with a message that names the fork, or with the results if the run has
/// no other thread.
fn fork_within_runs(seed: u64) -> usize {
    let mut draw = Rng::with_seed(seed);
    let mut aborted = 0;
    for (name, run) in WITHIN {
        let items = 1 + draw.u64(..60);
        let result = run(items, draw.u64(..items));
        let is_right = result == sum(items);
        if IS_CHILD.load(Ordering::Relaxed) {
            _exit(i32::from(!is_right));
        }
        assert!(is_right, "{name}, in the parent");
        let status = status_of(CHILD.load(Ordering::Relaxed) as i32);
        let status = status & 0xff7f; // without the note that memory was dumped
        assert!(
            status == 0 || status == ABORTED,
            "seed {seed}, {name}: {status} (14 means that the child hung)"
        );
        let is_alone = name == "inline" || name == "one worker";
        assert!(status == 0 || !is_alone, "{name}: nothing is missing in the child");
        aborted += usize::from(status == ABORTED);
    }
    aborted
}

/// Runs a test in a process of its own, in which no other test holds a lock at a fork. Returns what it has written to standard error.
fn alone(test: &str, body: fn(u64) -> usize) -> Option<(usize, String)> {
    const ALONE: &str = "ANABRANCH_FORKS_ALONE";
    let seeds = std::env::var("FORKS").map_or(20, |forks| forks.parse().unwrap());
    if std::env::var_os(ALONE).is_some() {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_CHILD.load(Ordering::Relaxed) {
                hook(panic);
            }
        }));
        let count: usize = (1..=seeds).map(|seed| body(seed * 0x9e37_79b9)).sum();
        println!("\nended: {count}");
        return None;
    }
    let mut itself = Command::new(std::env::current_exe().unwrap());
    let output = itself.args(["--exact", test, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    let ended = out.lines().find_map(|line| line.strip_prefix("ended: ")).unwrap().parse().unwrap();
    Some((ended, error.into_owned()))
}

#[test]
fn children_that_are_forked_beside_runs_run_what_is_new_and_are_told_of_the_fork_by_what_is_not() {
    let test = "children_that_are_forked_beside_runs_run_what_is_new_and_are_told_of_the_fork_by_what_is_not";
    alone(test, |seed| {
        fork_beside_runs(seed);
        0
    });
}

#[test]
fn children_that_are_forked_within_a_run_end_with_its_results_or_with_a_message() {
    let test = "children_that_are_forked_within_a_run_end_with_its_results_or_with_a_message";
    if let Some((ended, error)) = alone(test, fork_within_runs) {
        assert_eq!(error.matches("has forked this process").count(), ended, "{error}");
    }
}
