//! Streams inside of streams, and the settings that hold for the whole wherever they are set: tokens, pools, runtimes, monitors
//! and reports. A random tree of streams has some settings at each place. It is drained or cancelled while posts go on.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anabranch::plan::Executor;
use anabranch::{CancelToken, Lap, Monitor, Pool, ReportSlot, Sender, Stopped, Stream, TrySendError};
use proptest::prelude::*;

use crate::contract_support::random::{for_all, within};

type Line = Stream<'static, u64>;

/// A stream with streams inside.
#[derive(Debug, Clone)]
enum Tree {
    /// A channel.
    Posted,
    /// An iterator that gives a few numbers.
    Numbers,
    Select(Vec<Placed>),
    Chunks(Box<Placed>),
    Chain(Box<Placed>, Box<Placed>),
    Interleave(Box<Placed>, Box<Placed>),
    Source(Box<Placed>),
    Branches(Box<Placed>),
    Loop(Box<Placed>),
    Mapped(Box<Placed>),
    /// Another one behind an iterator that this thread takes.
    Futures(Box<Placed>),
}

/// A stream, and the settings that are called on it.
#[derive(Debug, Clone)]
struct Placed {
    tree: Tree,
    settings: Vec<Setting>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Setting {
    Token,
    OwnPool,
    BorrowedPool,
    Runtime,
    Watch,
    Workers(usize),
    Inline,
    Window(usize),
    Title,
}

fn setting() -> impl Strategy<Value = Setting> {
    prop_oneof![
        3 => Just(Setting::Token),
        1 => Just(Setting::OwnPool),
        1 => Just(Setting::BorrowedPool),
        1 => Just(Setting::Runtime),
        1 => Just(Setting::Watch),
        1 => (1usize..4).prop_map(Setting::Workers),
        1 => Just(Setting::Inline),
        1 => (1usize..40).prop_map(Setting::Window),
        1 => Just(Setting::Title),
    ]
}

fn placed(tree: impl Strategy<Value = Tree>) -> impl Strategy<Value = Placed> {
    (tree, prop::collection::vec(setting(), 0..3)).prop_map(|(tree, settings)| Placed { tree, settings })
}

fn tree() -> impl Strategy<Value = Placed> {
    let leaf = placed(prop_oneof![4 => Just(Tree::Posted), 1 => Just(Tree::Numbers)]);
    leaf.prop_recursive(3, 8, 3, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        placed(prop_oneof![
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::Select),
            2 => one().prop_map(Tree::Chunks),
            1 => (one(), one()).prop_map(|(first, second)| Tree::Chain(first, second)),
            1 => (one(), one()).prop_map(|(first, second)| Tree::Interleave(first, second)),
            1 => one().prop_map(Tree::Source),
            1 => one().prop_map(Tree::Branches),
            1 => one().prop_map(Tree::Loop),
            1 => one().prop_map(Tree::Mapped),
            1 => one().prop_map(Tree::Futures),
        ])
    })
}

/// A token, and the channels that it must close: those of the stream on which it was set.
struct Set {
    token: CancelToken,
    posts: std::ops::Range<usize>,
    /// How many items iterators give there.
    numbers: u64,
}

#[derive(Default)]
struct World {
    posts: Vec<Sender<u64>>,
    numbers: u64,
    tokens: Vec<Set>,
    /// The tokens that were set on the stream that is being built. Items that are put into it later belong to them.
    own: Vec<usize>,
    monitor: Monitor,
    titles: usize,
}

/// How many items a [`Tree::Numbers`] gives.
const NUMBERS: u64 = 20;

thread_local! {
    static POOL: &'static Pool = Box::leak(Box::new(Pool::new(2)));
    static RUNTIME: tokio::runtime::Runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
}

impl World {
    /// Builds a stream that becomes a stream inside of another one.
    fn inner(&mut self, placed: &Placed) -> Line {
        let own = std::mem::take(&mut self.own);
        let line = self.build(placed);
        self.own = own;
        line
    }

    fn build(&mut self, placed: &Placed) -> Line {
        let (first, numbers) = (self.posts.len(), self.numbers);
        let mut line = match &placed.tree {
            Tree::Posted => {
                let (sender, line) = Stream::channel(4);
                self.posts.push(sender);
                line
            }
            Tree::Numbers => {
                self.numbers += NUMBERS;
                Stream::from_iter((0..NUMBERS).map(|n| u64::MAX - n))
            }
            Tree::Select(trees) => {
                let lines: Vec<Line> = trees.iter().map(|tree| self.inner(tree)).collect();
                Stream::select_all(lines)
            }
            Tree::Chunks(tree) => {
                let chunks = self.inner(tree).chunks_timeout(3, Duration::from_millis(1));
                chunks.serial_flat_map(|chunk| chunk)
            }
            Tree::Chain(first, second) => {
                let first = self.build(first);
                self.add(first, second, Line::chain)
            }
            Tree::Interleave(first, second) => {
                let first = self.build(first);
                self.add(first, second, Line::interleave)
            }
            Tree::Source(tree) => Stream::from_iter(self.inner(tree)),
            Tree::Branches(tree) => {
                let settings = placed.settings.clone();
                let branches = self.build(tree).split(|n: &u64| (n % 2) as usize);
                // The settings may be called in a branch too.
                let branches = branches.branch(|line| line.map(|n| n));
                let mut inside = Vec::new();
                let joined = branches
                    .branch(|line| {
                        let line = line.serial_map(|n| n);
                        inside = settings;
                        self.set_all(&inside, line, first, numbers)
                    })
                    .join();
                return joined;
            }
            Tree::Loop(tree) => self.build(tree).feedback(4, |line| {
                let line = self.set_all(&placed.settings, line, first, numbers);
                line.map(Lap::Done)
            }),
            Tree::Mapped(tree) => self.build(tree).map(|n| n).filter(|_| true),
            Tree::Futures(tree) => self.build(tree).map_async(2, |n| async move { n }),
        };
        if !matches!(placed.tree, Tree::Loop(_)) {
            line = self.set_all(&placed.settings, line, first, numbers);
        }
        line
    }

    /// Puts a stream into another one. The tokens of that one stop it too.
    fn add(&mut self, line: Line, other: &Placed, add: fn(Line, Line) -> Line) -> Line {
        let numbers = self.numbers;
        let line = add(line, self.inner(other));
        for &at in &self.own {
            self.tokens[at].posts.end = self.posts.len();
            self.tokens[at].numbers += self.numbers - numbers;
        }
        line
    }

    fn set_all(&mut self, settings: &[Setting], line: Line, first: usize, numbers: u64) -> Line {
        settings.iter().fold(line, |line, setting| match setting {
            Setting::Token => {
                let token = CancelToken::new();
                let line = line.cancel_by(&token);
                let posts = first..self.posts.len();
                self.own.push(self.tokens.len());
                self.tokens.push(Set { token, posts, numbers: self.numbers - numbers });
                line
            }
            Setting::OwnPool => line.pool(Arc::new(Pool::new(2))),
            Setting::BorrowedPool => line.pool(POOL.with(|pool| *pool)),
            Setting::Runtime => RUNTIME.with(|runtime| line.on(runtime.handle())),
            Setting::Watch => line.watch(&self.monitor),
            Setting::Workers(workers) => line.workers(*workers),
            Setting::Inline => line.inline(),
            Setting::Window(window) => line.window(*window),
            Setting::Title => {
                self.titles += 1;
                line.title(format!("stream {}", self.titles))
            }
        })
    }
}

#[derive(Debug, Clone, Copy)]
enum Stop {
    Drain,
    Cancel,
}

/// Posts to the channels until each refuses. Returns how many each has accepted.
fn post_all(posts: Vec<(u64, Sender<u64>)>, accepted: &[AtomicU64]) {
    let mut open = posts;
    while !open.is_empty() {
        open.retain(|(channel, sender)| {
            let count = &accepted[*channel as usize];
            match sender.try_send((channel << 32) | count.load(Ordering::Relaxed)) {
                Ok(()) => _ = count.fetch_add(1, Ordering::Relaxed),
                Err(TrySendError::Closed(_)) => return false,
                Err(TrySendError::Full(_)) => std::thread::yield_now(),
            }
            true
        });
    }
}

/// Whether each item came once, and those of each channel without a gap.
fn are_whole(seen: &[u64], accepted: &[AtomicU64], numbers: RangeInclusive<u64>) -> Result<(), String> {
    let distinct: HashSet<u64> = seen.iter().copied().filter(|n| *n < u64::MAX / 2).collect();
    let posted = seen.iter().filter(|n| **n < u64::MAX / 2).count();
    let all: u64 = accepted.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    let others = (seen.len() - posted) as u64;
    if distinct.len() != posted || posted as u64 != all || !numbers.contains(&others) {
        return Err(format!(
            "{posted} items came, {} of them distinct, but {all} were accepted, and {others} others",
            distinct.len()
        ));
    }
    Ok(())
}

/// Drains or cancels the stream by one of its tokens, or by one that is set at its end.
fn hold(placed: &Placed, stop: Stop, which: prop::sample::Index) -> Result<(), TestCaseError> {
    let mut world = World::default();
    let line = world.build(placed);
    let last = CancelToken::new();
    let line = line.cancel_by(&last);
    world.tokens.push(Set { token: last, posts: 0..world.posts.len(), numbers: world.numbers });
    let set = &world.tokens[which.index(world.tokens.len())];
    let accepted: Arc<Vec<AtomicU64>> = Arc::new(world.posts.iter().map(|_| AtomicU64::new(0)).collect());
    let (came, comes) = channel();
    let (began, begins): (_, Receiver<()>) = channel();
    let run = std::thread::spawn(move || {
        let mut seen = Vec::new();
        line.for_each(|n| {
            seen.push(n);
            let _ = came.send(());
        });
        drop(began);
        seen
    });
    let posts: Vec<(u64, Sender<u64>)> = (0..).zip(world.posts.iter().cloned()).collect();
    let poster = std::thread::spawn({
        let accepted = Arc::clone(&accepted);
        move || post_all(posts, &accepted)
    });
    // Until some items came, or all that there are.
    let _ = comes.iter().take(30).count();
    match stop {
        Stop::Drain => set.token.drain(),
        Stop::Cancel => set.token.cancel(),
    }
    // The channels inside refuse by themselves, the others are closed.
    let closed = |at: usize| world.posts[at].is_closed();
    while !set.posts.clone().all(closed) {
        std::thread::yield_now();
    }
    world
        .posts
        .iter()
        .enumerate()
        .filter(|(at, _)| !set.posts.contains(at))
        .for_each(|(_, sender)| sender.close());
    poster.join().unwrap();
    let seen = run.join().unwrap();
    let _ = begins.recv();
    let count = |at: usize| accepted[at].load(Ordering::Relaxed);
    let mine: u64 = set.posts.clone().map(count).sum();
    let Some(Stopped { delivered, dropped }) = set.token.stopped() else {
        if set.posts.is_empty() {
            return Ok(()); // it may have ended before
        }
        return Err(TestCaseError::fail("the token has stopped nothing"));
    };
    match stop {
        Stop::Drain => {
            // An iterator that is drained may give fewer.
            let numbers = world.numbers - set.numbers..=world.numbers;
            are_whole(&seen, &accepted, numbers).map_err(TestCaseError::fail)?;
            let expected = mine..=mine + set.numbers;
            prop_assert!(expected.contains(&delivered) && dropped == 0, "{delivered} {dropped} of {mine}");
        }
        Stop::Cancel => {
            let all = delivered + dropped;
            let expected = mine..=mine + set.numbers;
            prop_assert!(expected.contains(&all), "{delivered} {dropped} of {mine}");
        }
    }
    Ok(())
}

#[test]
fn what_stops_a_stream_stops_the_streams_inside_and_counts_each_item() {
    within(60, |config| {
        let stop = prop_oneof![2 => Just(Stop::Drain), 1 => Just(Stop::Cancel)];
        for_all(config, (tree(), stop, any::<prop::sample::Index>()), |(tree, stop, which)| {
            hold(&tree, stop, which)
        });
    });
}

type Compose = fn(Line) -> Line;

/// The ways to put a stream into another one.
fn compositions() -> [(&'static str, Compose); 7] {
    [
        ("select_all", |line| Stream::select_all([line])),
        ("chunks_timeout", |line| line.chunks_timeout(1, Duration::ZERO).flat_map(|chunk| chunk)),
        ("from_iter", |line| Stream::from_iter(line)),
        ("interleave", |line| Stream::from_iter([]).map(|n| n).interleave(line).filter(|_| true)),
        ("chain", |line| Stream::from_iter([]).chain(line)),
        ("interleave", |line| Stream::from_iter([]).interleave(line)),
        ("zip", |line| Stream::from_iter(0u64..).zip(line).map(|(_, item)| item)),
    ]
}

#[test]
fn a_pool_a_runtime_a_monitor_and_a_report_hold_for_the_streams_inside() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let pool = Pool::with_name(3, "lent");
    for (name, compose) in compositions() {
        let monitor = Monitor::new();
        let inside = || {
            Stream::from_iter(0..10u64).map_async(2, |n| async move {
                tokio::time::sleep(Duration::from_micros(1)).await; // panics outside of a runtime
                n
            })
        };
        let asked = monitor.clone();
        // The inner stream has ended when the last items are here, but not before the first.
        let mut most = 0;
        let whole = compose(inside()).pool(&pool).on(runtime.handle()).watch(&monitor);
        let slot = ReportSlot::new();
        let sum = whole.report_to(&ReportSlot::new()).inspect(|_| ()).report_to(&slot).fold(0, |sum, n| {
            most = most.max(asked.snapshots().len());
            sum + n
        });
        let report = slot.take().unwrap();
        assert_eq!(sum, 45, "{name}");
        let [stream] = report.streams() else { panic!("{name}: {} reports", report.streams().len()) };
        assert_eq!(stream.nodes()[0].items, 10, "{name}");
        assert_eq!(stream.plan().settings.executor, Executor::Pool, "{name}");
        assert_eq!(stream.plan().settings.workers, 3, "{name}");
        assert!(report.to_string().contains("A stream inside: 10 items"), "{name}: {report}");
        assert!(report.to_json().contains("\"streams\""), "{name}");

        // Its own settings win.
        let own = Arc::new(Pool::new(2));
        let (other, unasked) = (Monitor::new(), monitor.clone());
        let seen = Arc::new(AtomicU64::new(0));
        let counts = Arc::clone(&seen);
        let monitored = other.clone();
        let inner = inside().on(runtime.handle()).pool(&own).watch(&other).map(move |n| {
            counts.fetch_max(monitored.snapshots().len() as u64, Ordering::Relaxed);
            n
        });
        let slot = ReportSlot::new();
        compose(inner).pool(&pool).report_to(&slot).watch(&unasked).for_each(drop);
        let report = slot.take().unwrap();
        assert_eq!(report.streams()[0].plan().settings.workers, 2, "{name}");
        assert_eq!(seen.load(Ordering::Relaxed), 1, "{name}");
    }
}

#[test]
fn a_drained_zip_pairs_what_both_have_accepted() {
    let token = CancelToken::new();
    let ((left, lefts), (right, rights)) = (Stream::channel(20), Stream::channel(20));
    (0..20u64).for_each(|n| left.send(n).unwrap());
    (0..13u64).for_each(|n| right.send(n).unwrap());
    token.drain();
    let pairs: Vec<(u64, u64)> = lefts.zip(rights).cancel_by(&token).collect();
    assert!(pairs.into_iter().eq((0..13).map(|n| (n, n))));
    assert_eq!(token.stopped(), Some(Stopped { delivered: 13, dropped: 7 }));
}

#[test]
fn a_stream_inside_that_was_not_run_is_dropped_and_its_channel_refuses() {
    for (name, compose) in compositions() {
        let (sender, line) = Stream::channel(3);
        sender.send(1).unwrap();
        drop(compose(line));
        assert!(sender.send(2).is_err(), "{name}");
        if matches!(name, "chain" | "interleave") {
            continue; // its last items are asked for
        }
        let (sender, line) = Stream::channel(3);
        assert_eq!(compose(line).take(0).count(), 0, "{name}");
        assert!(sender.send(2).is_err(), "{name}");
    }
}

/// An iterator that asks a stream for an item while it is made.
struct Eager(Option<Line>);

impl IntoIterator for Eager {
    type Item = u64;
    type IntoIter = Box<dyn Iterator<Item = u64> + Send>;

    fn into_iter(self) -> Self::IntoIter {
        let mut items = self.0.unwrap().into_iter();
        let first = items.next();
        Box::new(first.into_iter().chain(items))
    }
}

#[test]
fn a_stream_that_is_asked_while_it_becomes_a_part_runs() {
    let line = |n: u64| Stream::from_iter(0..n).map(|n| n);
    assert_eq!(Stream::from_iter(Eager(Some(line(5)))).chain(Eager(Some(line(3)))).sum::<u64>(), 13);
}

#[test]
fn of_two_settings_that_contradict_each_other_the_last_counts() {
    let one = || Stream::from_iter(0..10u64).map(|n| n);
    let plan = |line: Line| line.plan().settings;
    assert_eq!(plan(one().workers(4).inline()).executor, Executor::Inline);
    assert_eq!(
        (plan(one().inline().workers(4)).executor, plan(one().inline().workers(4)).workers),
        (Executor::Threads, 4)
    );
    assert_eq!(plan(one().inline().pool(Arc::new(Pool::new(2)))).executor, Executor::Pool);
    assert_eq!(plan(one().pool(Arc::new(Pool::new(2))).inline()).executor, Executor::Inline);
    assert_eq!(plan(one().pool(Arc::new(Pool::new(2))).pool(Arc::new(Pool::new(3)))).workers, 3);
    assert_eq!(plan(one().window(7).window(9)).window, 9);
    // A runtime that has ended runs no timer.
    let runtime =
        || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let (first, last) = (runtime(), runtime());
    let timed = one().on(first.handle()).map_async(2, |_| tokio::time::sleep(Duration::from_micros(1)));
    let timed = timed.on(last.handle());
    drop(first);
    assert_eq!(timed.count(), 10);
}

#[test]
fn a_branch_may_ask_for_the_report_of_the_stream() {
    let numbers = || Stream::from_iter(0..10u64).broadcast();
    let slot = ReportSlot::new();
    let pairs =
        numbers().branch(|line| line.report_to(&slot)).branch(|line| line.map(|n| 2 * n)).zip().count();
    let report = slot.take().unwrap();
    assert_eq!((pairs, report.nodes()[0].items), (10, 10));
    let slot = ReportSlot::new();
    let result = numbers()
        .branch(|line| line.try_map(Ok::<u64, String>))
        .branch(|line| line.report_to(&slot))
        .branch(|line| line.report_to(&slot).try_map(Ok::<u64, String>))
        .zip()
        .count();
    assert_eq!((result, slot.take().is_some()), (Ok(10), true));
}
