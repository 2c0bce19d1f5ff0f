//! Compares random networks with a slow interpreter of Kahn networks as in a textbook: unbounded queues, one
//! step at a time.
//!
//! The processes are careless. They ignore [`Closed`](anabranch_network::Closed) and go on. In networks without cycles they
//! whose records grow they also ask a stream that has ended again, and write something when their input has ended. In some networks one process
//! fails in the middle.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::contract_support::{random, watchdog};
use anabranch::{Lap, Pool, Stream};
use anabranch_network::{All, Dealt, Fill, Here, Horizon, Network, Reader, Registry, Window, Writer};
use proptest::prelude::*;

/// The program of a process: a small machine that both the network and the interpreter run.
#[derive(Debug, Clone)]
enum Kind {
    /// Writes `count` numbers.
    Source { count: u64, seed: u64 },
    /// Reads one item of each input in turn, and writes a mixture to each output. Ends with the first input.
    Zip,
    /// Reads a header `h` of its first input, then `h % 4` items of the last one, and writes their sum to all
    /// outputs: its mode changes with the input.
    Modes,
    /// Reads its inputs in turn, `rates` items of each before the next; writes each to the outputs in turn.
    Turns { rates: Vec<u64> },
    /// Lets a child of its own do what [`Kind::Zip`] does, through records of its own.
    Parent,
    /// Three copies of a process share the items of the one input by ranges of `burst`.
    Copies { burst: usize },
    /// Three readers see each item. One of them writes it to the output, and another one ends after `few` items.
    Broadcast { few: usize },
    /// Items pass through a record with which views register while the network runs. Its one id is handed on `hops` times, each time
    /// after `items` items and with a wider view, while an observer looks on.
    Registered { items: usize, hops: usize },
    /// A stage of a stream with so many workers and such a window.
    Stage { workers: usize, window: usize, inside: Inside },
    /// A firing rule: consumes, peeks, produces; one input, one output. A process creates it while the network
    /// runs, if it is `late`.
    Rule { consumes: usize, peeks: usize, produces: usize, late: bool },
}

/// The stream of a [`Kind::Stage`].
#[derive(Debug, Clone, Copy)]
enum Inside {
    /// A parallel stage.
    Parallel,
    /// A parallel stage behind a serial one.
    Serial,
    /// Items go round so many times.
    Rounds(usize),
    /// A network for each item.
    Network,
}

#[derive(Debug, Clone)]
struct Node {
    kind: Kind,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
}

/// An edge has one writer and one reader.
#[derive(Debug, Clone)]
struct Edge {
    horizon: usize,
    initial: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Case {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Whether records grow before the network stands still because they are too small.
    grows: bool,
    /// Whether the network, the streams in its stages and the networks in those share a pool.
    is_pooled: bool,
    fails: Option<Fails>,
}

/// A process that fails.
#[derive(Debug, Clone, Copy)]
struct Fails {
    /// Its index among the nodes.
    node: usize,
    /// How many items it reads and writes before.
    after: u64,
    panics: bool,
}

impl Kind {
    /// Whether the process is one machine. It may fail then.
    fn is_machine(&self) -> bool {
        matches!(self, Self::Source { .. } | Self::Zip | Self::Modes | Self::Turns { .. })
    }
}

impl Case {
    /// How many items the process of `node` reads and writes before it fails.
    fn budget(&self, node: usize) -> u64 {
        self.fails.filter(|fails| fails.node == node).map_or(u64::MAX, |fails| fails.after)
    }

    /// Whether all processes may have to wait. Then a process may get the end of a stream whose writer no process has used
    /// yet, before the network notices that this is a deadlock.
    fn may_stand_still(&self) -> bool {
        !self.grows || self.edges.iter().any(|edge| !edge.initial.is_empty())
    }

    /// Runs the machine of a node.
    fn run_node(&self, kind: &Kind, io: &mut impl Streams, inputs: usize, outputs: usize) {
        run_machine(kind, io, inputs, outputs);
        if kind.is_machine() && !self.may_stand_still() {
            go_on(io, inputs, outputs);
        }
    }
}

fn mix(a: u64, b: u64) -> u64 {
    (a ^ b.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ a >> 7
}

/// The interface between a process and the network or interpreter that runs it.
trait Streams {
    /// `None` at the end of the input, and if the process fails here.
    fn read(&mut self, input: usize) -> Option<u64>;
    /// Returns false if the process fails here.
    fn write(&mut self, output: usize, item: u64) -> bool;
    /// Whether the process has failed.
    fn has_failed(&self) -> bool;
}

/// Stands before an item that a process has read after the end of an input.
const AFTER_THE_END: u64 = 0xbad;
/// The last item that a process writes to each output.
const LAST: u64 = 0x1a57;

/// Does what no process needs to do after its machine has ended: reads the inputs on, and writes more items.
fn go_on(io: &mut impl Streams, inputs: usize, outputs: usize) {
    for input in 0..inputs {
        if io.has_failed() {
            return;
        }
        // The machine ends with its first input, so the others may have many items left.
        for _ in 0..2 {
            io.read(input);
        }
    }
    for output in 0..outputs {
        if !io.has_failed() {
            io.write(output, LAST);
        }
    }
}

/// Runs a machine on streams. `None` means that it ends.
fn zip(io: &mut impl Streams, inputs: usize, outputs: usize) -> Option<()> {
    loop {
        let mut mixture = 1;
        for input in 0..inputs {
            mixture = mix(mixture, io.read(input)?);
        }
        for output in 0..outputs {
            io.write(output, mix(mixture, output as u64)).then_some(())?;
        }
    }
}

fn run_machine(kind: &Kind, io: &mut impl Streams, inputs: usize, outputs: usize) -> Option<()> {
    match kind {
        Kind::Source { count, seed } => {
            for n in 0..*count {
                for output in 0..outputs {
                    io.write(output, mix(*seed, n)).then_some(())?;
                }
            }
            None
        }
        Kind::Zip | Kind::Parent => zip(io, inputs, outputs),
        Kind::Modes => loop {
            let header = io.read(0)?;
            let mut sum = header;
            for _ in 0..header % 4 {
                sum = mix(sum, io.read(inputs - 1)?);
            }
            for output in 0..outputs {
                io.write(output, sum).then_some(())?;
            }
        },
        Kind::Turns { rates } => {
            let mut next = 0;
            loop {
                for input in 0..inputs {
                    for _ in 0..rates[input % rates.len()] {
                        let item = io.read(input)?;
                        io.write(next % outputs, item).then_some(())?;
                        next += 1;
                    }
                }
            }
        }
        Kind::Copies { .. } | Kind::Broadcast { .. } | Kind::Registered { .. } | Kind::Stage { .. } => loop {
            let item = io.read(0)?;
            io.write(0, mix(item, 3)).then_some(())?;
        },
        Kind::Rule { consumes, peeks, produces, .. } => {
            let mut window = VecDeque::new();
            loop {
                while window.len() < *peeks {
                    window.push_back(io.read(0)?);
                }
                let sum = window.iter().fold(0, |sum, &n| mix(sum, n));
                for k in 0..*produces {
                    io.write(0, mix(sum, k as u64)).then_some(())?;
                }
                window.drain(..*consumes);
            }
        }
    }
}

/// The interpreter's state of a network.
#[derive(Debug, PartialEq)]
struct Textbook {
    /// The items that each edge has carried.
    streams: Vec<Vec<u64>>,
    /// Whether the process that fails has got so far.
    has_failed: bool,
}

/// The interpreter. It has no threads. It runs each process again and again from its beginning, with the
/// items that its inputs have so far. Each run must give the same items as before, and perhaps more. It ends
/// when nothing changes.
fn interpret(case: &Case) -> Textbook {
    struct Replay<'a> {
        inputs: Vec<&'a [u64]>,
        /// Which inputs get no more items.
        ended: Vec<bool>,
        outputs: Vec<Vec<u64>>,
        at: Vec<usize>,
        budget: u64,
        /// Whether the process waits for an item. Its actions after that do not count.
        waits: bool,
    }
    impl Streams for Replay<'_> {
        fn read(&mut self, input: usize) -> Option<u64> {
            if self.has_failed() || self.waits {
                return None;
            }
            let Some(item) = self.inputs[input].get(self.at[input]).copied() else {
                self.waits = !self.ended[input];
                return None;
            };
            self.at[input] += 1;
            self.budget -= 1;
            Some(item)
        }

        fn write(&mut self, output: usize, item: u64) -> bool {
            if self.has_failed() || self.waits {
                return false;
            }
            self.outputs[output].push(item);
            self.budget -= 1;
            true
        }

        fn has_failed(&self) -> bool {
            self.budget == 0
        }
    }
    let mut streams: Vec<Vec<u64>> = case.edges.iter().map(|edge| edge.initial.clone()).collect();
    let mut ended = vec![false; streams.len()];
    let mut has_failed = false;
    loop {
        let mut changed = false;
        for (index, node) in case.nodes.iter().enumerate() {
            let mut replay = Replay {
                inputs: node.inputs.iter().map(|&edge| streams[edge].as_slice()).collect(),
                ended: node.inputs.iter().map(|&edge| ended[edge]).collect(),
                outputs: vec![Vec::new(); node.outputs.len()],
                at: vec![0; node.inputs.len()],
                budget: case.budget(index),
                waits: false,
            };
            case.run_node(&node.kind, &mut replay, node.inputs.len(), node.outputs.len());
            has_failed |= replay.has_failed();
            let is_over = !replay.waits;
            let outputs = replay.outputs;
            for (&edge, written) in node.outputs.iter().zip(outputs) {
                let initial = case.edges[edge].initial.len();
                if written.len() > streams[edge].len() - initial {
                    assert!(written.starts_with(&streams[edge][initial..]), "streams only grow");
                    streams[edge].truncate(initial);
                    streams[edge].extend(written);
                    changed = true;
                }
                changed |= is_over && !ended[edge];
                ended[edge] |= is_over;
            }
        }
        if !changed {
            return Textbook { streams, has_failed };
        }
    }
}

/// A machine on the views of a network.
struct Views<'a> {
    readers: &'a mut [Reader<u64>],
    writers: &'a mut [Writer<u64>],
    /// The items that each input has given, for comparison.
    seen: &'a mut [Vec<u64>],
    /// Which inputs have ended.
    ended: Vec<bool>,
    /// How many items the process reads and writes before it fails.
    budget: u64,
}

impl<'a> Views<'a> {
    fn new(
        readers: &'a mut [Reader<u64>],
        writers: &'a mut [Writer<u64>],
        seen: &'a mut [Vec<u64>],
        budget: u64,
    ) -> Self {
        let ended = vec![false; readers.len()];
        Self { readers, writers, seen, ended, budget }
    }
}

impl Streams for Views<'_> {
    fn read(&mut self, input: usize) -> Option<u64> {
        if self.has_failed() {
            return None;
        }
        let Some(item) = self.readers[input].next() else {
            self.ended[input] = true;
            return None;
        };
        if let Some(seen) = self.seen.get_mut(input) {
            // No stream of the textbook has this item, so the test fails and shows where.
            seen.extend(self.ended[input].then_some(AFTER_THE_END));
            seen.push(item);
        }
        self.budget -= 1;
        Some(item)
    }

    fn write(&mut self, output: usize, item: u64) -> bool {
        if self.has_failed() {
            return false;
        }
        // Goes on for the other readers: in the textbook, the queue of this reader would take the item too.
        let _ = self.writers[output].push(item);
        self.budget -= 1;
        true
    }

    fn has_failed(&self) -> bool {
        self.budget == 0
    }
}

type Seen = Vec<Vec<u64>>;

fn parent<'env>(
    here: &Here<'_, 'env, String>,
    mut readers: Vec<Reader<u64>>,
    mut writers: Vec<Writer<u64>>,
    seen: &'env mut Seen,
) {
    let (mut gives, mut takes) = (Vec::new(), Vec::new());
    for _ in &readers {
        let (give, take) = here.record::<u64>(Horizon::of(1).grow_to(1 << 20));
        gives.push(give);
        takes.push(take);
    }
    here.process("child", move |_| {
        let outputs = writers.len();
        let mut io = Views::new(&mut takes, &mut writers, &mut [], u64::MAX);
        let inputs = io.readers.len();
        zip(&mut io, inputs, outputs);
        Ok(())
    });
    // Hands on in the order in which the child reads, and so wants no item that it would not want.
    'all: loop {
        for (input, give) in gives.iter_mut().enumerate() {
            let Some(item) = readers[input].next() else { break 'all };
            seen[input].push(item);
            if give.push(item).is_err() {
                break 'all;
            }
        }
    }
}

/// Hands items on from a registered view, and the id of the view to other processes.
fn relay<'env>(
    here: &Here<'_, 'env, String>,
    reads: Registry<u64, All>,
    mut give: Writer<u64>,
    items: usize,
    hops: usize,
) {
    // A stream that has ended gives no views any more.
    let Ok(mut take) = here.reader(&reads, 0, 9 - hops) else { return };
    let most = if hops == 0 { usize::MAX } else { items };
    for item in take.by_ref().take(most) {
        let _ = give.push(mix(item, 3));
    }
    if hops > 0 {
        take.leave();
        let give = give.hand_over();
        here.process("next", move |here| {
            relay(here, reads, give, items, hops - 1);
            Ok(())
        });
    }
}

/// The failure of a process.
const FAILED: &str = "planted: the process fails";

/// How a network has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Done,
    Deadlock,
    /// A deadlock that larger records would not have.
    TooSmall,
    /// The process that fails has failed.
    Failed,
}

/// Runs a stage of a network, as a stream whose items may go through networks of their own.
fn stage<'env>(
    items: Stream<'env, u64>,
    workers: usize,
    window: usize,
    inside: Inside,
    pool: Option<&'env Pool>,
) -> Stream<'env, u64> {
    let items = items.workers(workers).window(window);
    let items = match pool {
        Some(pool) => items.pool(pool),
        None => items,
    };
    match inside {
        Inside::Parallel => items.map(|item| mix(item, 3)),
        Inside::Serial => {
            let mut count = 0;
            let numbered = items.serial_map(move |item| {
                count += 1;
                (count, item)
            });
            let mut last = 0;
            numbered.map(|(count, item)| (count, mix(item, 3))).serial_map(move |(count, item)| {
                last += 1;
                assert_eq!(count, last, "the items come in order");
                item
            })
        }
        // With one place, an item goes round until it is done, and waits for no other item.
        Inside::Rounds(rounds) => items.map(|item| (item, 0)).feedback(1, |items| {
            items.map(move |(item, round)| match round {
                round if round < rounds => Lap::Again((item, round + 1)),
                _ => Lap::Done(mix(item, 3)),
            })
        }),
        Inside::Network => items.map(move |item| mix_in_a_network(item, pool)),
    }
}

/// Returns `mix(item, 3)`. The item goes through a rule and through a process of a network.
fn mix_in_a_network(item: u64, pool: Option<&Pool>) -> u64 {
    let mut net = Network::<String>::new().workers(2);
    if let Some(pool) = pool {
        net = net.pool(pool);
    }
    let (mut give, take) = net.record::<u64>(1);
    let (halfway, mut mixed) = net.record::<u64>(1);
    let mut result = None;
    net.process("give", move |_| give.push(item).map_err(|error| error.to_string()));
    net.rule(
        "mix",
        take.consumes(1),
        halfway.produces(1),
        |window: &mut Window<'_, u64>, out: &mut Fill<'_, u64>| {
            out.push(mix(window[0], 3));
            Ok(())
        },
    );
    net.process("take", |_| {
        result = mixed.next();
        Ok(())
    });
    net.run().unwrap();
    result.unwrap()
}

/// The items that the readers of each node's inputs have seen, with `workers` workers, and how the network has ended.
fn run(case: &Case, workers: usize) -> Result<(Vec<Seen>, End), String> {
    let mut seen: Vec<Seen> = case.nodes.iter().map(|node| vec![Vec::new(); node.inputs.len()]).collect();
    let pool = case.is_pooled.then(|| Pool::new(workers));
    let pool = pool.as_ref();
    let net = Network::<String>::new();
    let mut net = match pool {
        Some(pool) => net.pool(pool),
        None => net.workers(workers),
    };
    let (mut writers, mut readers) = (Vec::new(), Vec::new());
    for edge in &case.edges {
        let horizon = Horizon::of(edge.horizon.max(edge.initial.len()));
        let horizon = if case.grows { horizon.grow_to(1 << 24) } else { horizon };
        let (give, take) = net.record_with(horizon, edge.initial.clone());
        writers.push(Some(give));
        readers.push(Some(take));
    }
    for (index, (node, seen)) in case.nodes.iter().zip(&mut seen).enumerate() {
        let mut takes: Vec<_> = node.inputs.iter().map(|&edge| readers[edge].take().unwrap()).collect();
        let mut gives: Vec<_> = node.outputs.iter().map(|&edge| writers[edge].take().unwrap()).collect();
        match node.kind.clone() {
            Kind::Parent => net.process("parent", move |here| {
                parent(here, takes, gives, seen);
                Ok(())
            }),
            Kind::Copies { burst } => {
                let (mut deal, parts) = net.deal::<u64>(3 * burst, 3, burst);
                let (merges, mut merged) = net.merge::<u64>(3 * burst, 3, burst);
                let (mut take, mut give) = (takes.remove(0), gives.remove(0));
                let seen = &mut seen[0];
                net.process("deal", move |_| {
                    for item in &mut take {
                        seen.push(item);
                        let _ = deal.push(item);
                    }
                    Ok(())
                });
                for (mut part, mut merge) in parts.into_iter().zip(merges) {
                    net.process("copy", move |_| {
                        for item in &mut part {
                            let _ = merge.push(mix(item, 3));
                        }
                        Ok(())
                    });
                }
                net.process("merge", move |_| {
                    for item in &mut merged {
                        let _ = give.push(item);
                    }
                    Ok(())
                });
            }
            Kind::Broadcast { few } => {
                let (mut all, mut views) = net.broadcast::<u64>(2, 3);
                let (mut take, mut give) = (takes.remove(0), gives.remove(0));
                let seen = &mut seen[0];
                net.process("broadcast", move |_| {
                    for item in &mut take {
                        seen.push(item);
                        let _ = all.push(item);
                    }
                    Ok(())
                });
                let (mut first, mut second, mut third) = (views.remove(0), views.remove(0), views.remove(0));
                net.process("first", move |_| {
                    first.by_ref().take(few).for_each(drop);
                    Ok(())
                });
                net.process("second", move |_| {
                    for item in &mut second {
                        let _ = give.push(mix(item, 3));
                    }
                    Ok(())
                });
                net.process("third", move |_| {
                    third.by_ref().for_each(drop);
                    Ok(())
                });
            }
            Kind::Registered { items, hops } => {
                let registry = net.registry::<u64, _>(2, Dealt::one(), All::of(1));
                let (reads, looks) = (registry.clone(), registry.clone());
                let (mut take, give) = (takes.remove(0), gives.remove(0));
                let seen = &mut seen[0];
                net.process("registers", move |here| {
                    let mut all = here.writer(&registry, 0, 2).map_err(|error| error.to_string())?;
                    for item in &mut take {
                        seen.push(item);
                        let _ = all.push(item);
                    }
                    Ok(())
                });
                net.process("observes", move |_| {
                    let (mut observer, mut items, mut last) = (looks.observer(), Vec::new(), 0);
                    for _ in 0..50 {
                        let range = observer.observe(2, &mut items);
                        assert!(range.start >= last && range.end - range.start == items.len() as u64);
                        items.clear();
                        last = range.end;
                    }
                    Ok(())
                });
                net.process("relay", move |here| {
                    relay(here, reads, give, items, hops);
                    Ok(())
                });
            }
            Kind::Stage { workers, window, inside } => {
                let (mut take, give) = (takes.remove(0), gives.remove(0));
                // In front of the stage, which may read ahead of what its reader takes.
                let (mut pass, stage_take) = net.record::<u64>(2);
                let seen = &mut seen[0];
                net.process("pass", move |_| {
                    for item in &mut take {
                        seen.push(item);
                        let _ = pass.push(item);
                    }
                    Ok(())
                });
                net.stage("stage", stage_take, give, move |items| {
                    stage(items, workers, window, inside, pool)
                });
            }
            Kind::Rule { consumes, peeks, produces, late } => {
                let (take, give) = (takes.remove(0), gives.remove(0));
                // In front of the rule, to see what it reads.
                let (mut pass, rule_take) = net.record::<u64>(peeks + 1);
                let (mut take, seen) = (take, &mut seen[0]);
                net.process("pass", move |_| {
                    for item in &mut take {
                        seen.push(item);
                        let _ = pass.push(item);
                    }
                    Ok(())
                });
                let ports = (rule_take.consumes(consumes).peeks(peeks), give.produces(produces));
                let code = move |window: &mut Window<'_, u64>, out: &mut Fill<'_, u64>| {
                    let sum = window.iter().fold(0, |sum, &n| mix(sum, n));
                    (0..produces as u64).for_each(|k| out.push(mix(sum, k)));
                    Ok(())
                };
                if late {
                    net.process("creates", move |here| {
                        here.rule("rule", ports.0, ports.1, code);
                        Ok(())
                    });
                } else {
                    net.rule("rule", ports.0, ports.1, code);
                }
            }
            kind => net.process("machine", move |_| {
                let (inputs, outputs) = (takes.len(), gives.len());
                let mut io = Views::new(&mut takes, &mut gives, seen, case.budget(index));
                case.run_node(&kind, &mut io, inputs, outputs);
                match case.fails {
                    Some(Fails { panics: true, .. }) if io.has_failed() => panic!("{FAILED}"),
                    Some(_) if io.has_failed() => Err(FAILED.to_string()),
                    _ => Ok(()),
                }
            }),
        }
    }
    let result = catch_unwind(AssertUnwindSafe(|| net.run()));
    match result {
        Err(payload) if watchdog::message(&*payload) == FAILED => Ok((seen, End::Failed)),
        Err(payload) => resume_unwind(payload),
        // A cycle without enough items is in a deadlock in the textbook too.
        Ok(Err(error)) if error.deadlock().is_some_and(|deadlock| !deadlock.is_artificial()) => {
            Ok((seen, End::Deadlock))
        }
        Ok(Err(error)) if error.is_deadlock() && !case.grows => Ok((seen, End::TooSmall)),
        Ok(Err(error)) if error.failure().is_some_and(|(_, error)| error == FAILED) => {
            Ok((seen, End::Failed))
        }
        Ok(Err(error)) => Err(error.to_string()),
        Ok(Ok(())) => Ok((seen, End::Done)),
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        3 => Just(Kind::Zip),
        2 => Just(Kind::Modes),
        2 => prop::collection::vec(1..4u64, 1..3).prop_map(|rates| Kind::Turns { rates }),
        1 => Just(Kind::Parent),
        1 => (1..4usize).prop_map(|burst| Kind::Copies { burst }),
        1 => (0..20usize).prop_map(|few| Kind::Broadcast { few }),
        1 => (0..20usize, 0..4usize).prop_map(|(items, hops)| Kind::Registered { items, hops }),
        2 => (1..4usize, 1..5usize, insides())
            .prop_map(|(workers, window, inside)| Kind::Stage { workers, window, inside }),
        2 => (1..4usize, 0..4usize, 1..4usize, any::<bool>()).prop_map(|(consumes, more, produces, late)| {
            Kind::Rule { consumes, peeks: consumes + more, produces, late }
        }),
    ]
}

fn insides() -> impl Strategy<Value = Inside> {
    prop_oneof![
        Just(Inside::Parallel),
        Just(Inside::Serial),
        (0..3usize).prop_map(Inside::Rounds),
        Just(Inside::Network),
    ]
}

/// A line of nodes with further edges forth and, with items to begin with, back.
fn cases() -> impl Strategy<Value = Case> {
    let nodes = prop::collection::vec(kinds(), 1..7);
    let edge = (1..5usize, prop::collection::vec(any::<u64>(), 1..4));
    let more =
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), edge), 0..5);
    (nodes, more, 0..60u64, 0..40u64, any::<u64>(), 1..5usize, any::<bool>()).prop_map(
        |(kinds, more, count, other, seed, horizon, is_pooled)| {
            let mut nodes =
                vec![Node { kind: Kind::Source { count, seed }, inputs: vec![], outputs: vec![] }];
            nodes.extend(kinds.into_iter().map(|kind| Node { kind, inputs: vec![], outputs: vec![] }));
            nodes.push(Node {
                kind: Kind::Source { count: other, seed: !seed },
                inputs: vec![],
                outputs: vec![],
            });
            nodes.push(Node { kind: Kind::Zip, inputs: vec![], outputs: vec![] });
            let mut edges: Vec<Edge> = Vec::new();
            let sink = nodes.len() - 1;
            let mut connect =
                |nodes: &mut Vec<Node>, from: usize, to: usize, horizon: usize, initial: Vec<u64>| {
                    nodes[from].outputs.push(edges.len());
                    nodes[to].inputs.push(edges.len());
                    edges.push(Edge { horizon, initial });
                };
            let last = sink - 2;
            for from in 0..last {
                connect(&mut nodes, from, from + 1, horizon, vec![]);
            }
            connect(&mut nodes, last, sink, horizon, vec![]);
            // The second source goes to a node that may have several inputs.
            let several = |node: &Node| {
                matches!(node.kind, Kind::Zip | Kind::Modes | Kind::Turns { .. } | Kind::Parent)
            };
            let target = (1..=last).find(|&at| several(&nodes[at])).unwrap_or(sink);
            connect(&mut nodes, sink - 1, target, horizon, vec![]);
            for (from, to, (horizon, initial)) in more {
                // The nodes that may have several inputs and outputs. If there are too few of them, no edge
                // is added.
                let from = (0..=last).filter(|&at| several(&nodes[at]) || at == 0).nth(from.index(3));
                let to = (1..=sink).filter(|&at| several(&nodes[at])).nth(to.index(3));
                let (Some(from), Some(to)) = (from, to) else { continue };
                let initial = if to <= from { initial } else { vec![] };
                connect(&mut nodes, from, to, horizon, initial);
            }
            Case { nodes, edges, grows: true, is_pooled, fails: None }
        },
    )
}

/// Networks in which one process fails, unless it ends before.
fn failing_cases() -> impl Strategy<Value = Case> {
    (cases(), any::<bool>(), any::<prop::sample::Index>(), 1..80u64, any::<bool>()).prop_map(
        |(mut case, grows, which, after, panics)| {
            case.grows = grows;
            // A record that does not grow must hold what a rule produces at once.
            case.edges.iter_mut().for_each(|edge| edge.horizon = edge.horizon.max(3));
            let machines: Vec<usize> =
                (0..case.nodes.len()).filter(|&node| case.nodes[node].kind.is_machine()).collect();
            case.fails = Some(Fails { node: machines[which.index(machines.len())], after, panics });
            case
        },
    )
}

/// Checks that each process has read a prefix of what the textbook's queues hold.
fn check_prefixes(case: &Case, streams: &[Vec<u64>], seen: &[Seen]) -> Result<(), TestCaseError> {
    for (index, (node, seen)) in case.nodes.iter().zip(seen).enumerate() {
        for (&edge, seen) in node.inputs.iter().zip(seen) {
            let stream = &streams[edge];
            prop_assert!(stream.starts_with(seen), "node {index}, edge {edge}: {seen:?} of {stream:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(random::config(48))]

    /// Each process reads a prefix of what the textbook's queues hold, all of it where its machine reads on
    /// to the end.
    #[test]
    fn random_networks_give_what_the_textbook_gives(case in cases()) {
        let Textbook { streams, .. } = interpret(&case);
        let first = run(&case, 1);
        prop_assert!(first.is_ok(), "{:?}", first);
        let (first, _) = first.unwrap();
        check_prefixes(&case, &streams, &first)?;
        // The items of the sink, and how far each process gets, are the same for every number of workers.
        let sink = first.last().unwrap();
        for (edge, seen) in case.nodes.last().unwrap().inputs.iter().zip(sink) {
            let least = case.nodes.last().unwrap().inputs.iter().map(|&edge| streams[edge].len()).min().unwrap();
            prop_assert!(seen.len() >= least, "edge {edge} gave {} items of {least}", seen.len());
        }
        for workers in 2..=9 {
            let other = run(&case, workers);
            prop_assert_eq!(other.as_ref().map(|(seen, _)| seen), Ok(&first), "{} workers", workers);
        }
    }

    /// When a process fails, the others may read less than they would. They read nothing else.
    #[test]
    fn random_networks_that_fail_give_prefixes_of_what_the_textbook_gives(case in failing_cases()) {
        watchdog::hush();
        let Textbook { streams, has_failed } = interpret(&case);
        for workers in [1, 2, 1, 3, 1, 4] {
            let result = run(&case, workers);
            prop_assert!(result.is_ok(), "{} workers: {:?}", workers, result);
            let (seen, end) = result.unwrap();
            if end != End::TooSmall {
                prop_assert_eq!(end == End::Failed, has_failed, "{} workers", workers);
            }
            check_prefixes(&case, &streams, &seen)?;
        }
    }
}

#[test]
fn the_interpreter_knows_a_network_that_is_easily_worked_out() {
    let case = Case {
        nodes: vec![
            Node { kind: Kind::Source { count: 3, seed: 5 }, inputs: vec![], outputs: vec![0] },
            Node { kind: Kind::Turns { rates: vec![1] }, inputs: vec![0, 2], outputs: vec![1] },
            Node { kind: Kind::Turns { rates: vec![1] }, inputs: vec![1], outputs: vec![2] },
        ],
        edges: vec![
            Edge { horizon: 1, initial: vec![] },
            Edge { horizon: 1, initial: vec![] },
            Edge { horizon: 1, initial: vec![] },
        ],
        grows: true,
        is_pooled: false,
        fails: None,
    };
    let source: Vec<u64> = (0..3).map(|n| mix(5, n)).collect();
    // The first is read, goes round, and comes back before the next is read.
    let Textbook { streams, .. } = interpret(&case);
    assert_eq!(streams[0][..3], source);
    assert_eq!(streams[1][..4], [source[0], source[0], source[1], source[0]]);
    assert_eq!(run(&case, 2).unwrap().0[2][0], streams[1]);
}
