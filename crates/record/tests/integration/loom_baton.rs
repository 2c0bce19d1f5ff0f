//! The counting baton, with every interleaving and every outcome that the memory model allows.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-record --release --test integration loom_
//!
//! The models check only the promise of the baton: a thread that has made work and pokes need not look again.
//! So unlike workers, the threads of these models never look again by themselves.

use crate::model::check;
use crate::ports::{Hop, Sink, map, open};
use anabranch_record::lane::{Cell, Watch};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicU64, Ordering};
use anabranch_record::{Baton, EventCount, Held};
use loom::thread;

/// A serial stage that looks for flags and counts each of them once.
struct Flags<const N: usize> {
    raised: [AtomicU64; N],
    stage: Baton<[bool; N]>,
}

impl<const N: usize> Flags<N> {
    fn new() -> Arc<Self> {
        let raised = std::array::from_fn(|_| AtomicU64::new(0));
        Arc::new(Self { raised, stage: Baton::new([false; N]) })
    }

    /// Both sides are relaxed: only the word of the baton orders a flag before the look at it.
    fn raise_and_poke(&self, which: usize) {
        self.raised[which].store(1, Ordering::Relaxed);
        let mut held = self.stage.try_acquire();
        while let Some(mut holder) = held {
            self.look(&mut holder);
            held = holder.release();
        }
    }

    fn look(&self, holder: &mut Held<'_, [bool; N]>) {
        for (seen, raised) in holder.state().iter_mut().zip(&self.raised) {
            *seen |= raised.load(Ordering::Relaxed) == 1;
        }
    }

    /// All threads have ended. The baton must be free, and every flag seen.
    fn assert_all_seen(&self) {
        assert!(self.stage.word().is_free(), "a baton that nobody holds is free");
        let mut held = self.stage.try_acquire().expect("it is free");
        assert_eq!(*held.state(), [true; N], "a poke was lost");
        held.let_go();
    }
}

#[test]
fn publish_and_poke_against_release_and_look_with_two_pokers() {
    check(3, || {
        let flags = Flags::<2>::new();
        let other = Arc::clone(&flags);
        let poker = thread::spawn(move || other.raise_and_poke(1));
        flags.raise_and_poke(0);
        poker.join().unwrap();
        flags.assert_all_seen();
    });
}

#[test]
fn a_poke_between_the_last_look_and_the_subtraction_with_three_pokers() {
    check(3, || {
        let flags = Flags::<3>::new();
        let pokers = [1, 2].map(|which| {
            let flags = Arc::clone(&flags);
            thread::spawn(move || flags.raise_and_poke(which))
        });
        flags.raise_and_poke(0);
        for poker in pokers {
            poker.join().unwrap();
        }
        flags.assert_all_seen();
    });
}

#[test]
fn a_poke_against_letting_go_and_looking_again() {
    // Rule 7 after a full quantum: when the holder looks after `let_go`, it sees the work that the poking
    // thread has left to it.
    check(3, || {
        let flags = Flags::<2>::new();
        let other = Arc::clone(&flags);
        let poker = thread::spawn(move || other.raise_and_poke(1));
        let mut seen = [false; 2];
        if let Some(mut held) = flags.stage.try_acquire() {
            flags.look(&mut held);
            held.let_go();
            seen = flags.raised.each_ref().map(|raised| raised.load(Ordering::Relaxed) == 1);
        }
        poker.join().unwrap();
        let served = *flags.stage.try_acquire().expect("it is free").state();
        assert!(served[1] || seen[1], "the poker was told that the holder would see to it");
    });
}

#[test]
fn closing_while_pokes_are_counted() {
    // The last item closes the stage. A thread that pokes then or later gets nothing, and no number of pokes
    // makes the closed word look free.
    check(3, || {
        let closed = Arc::new(Baton::new(0));
        let pokers = [(); 2].map(|()| {
            let baton = Arc::clone(&closed);
            thread::spawn(move || {
                if let Some(mut held) = baton.try_acquire() {
                    *held.state() += 1;
                    held.close();
                }
            })
        });
        if let Some(mut held) = closed.try_acquire() {
            *held.state() += 1;
            held.close();
        }
        for poker in pokers {
            poker.join().unwrap();
        }
        assert!(closed.word().is_closed() && closed.try_acquire().is_none());
        let closed = Arc::try_unwrap(closed).expect("the threads are gone");
        assert_eq!(closed.into_state(), 1, "a stage was run after it had closed");
    });
}

#[test]
fn whoever_sees_a_stage_closed_sees_what_it_did() {
    check(3, || {
        let shared = Arc::new((Baton::new(()), AtomicU64::new(0)));
        let other = Arc::clone(&shared);
        let closer = thread::spawn(move || {
            let held = other.0.try_acquire().expect("nobody else pokes");
            other.1.store(1, Ordering::Relaxed);
            held.close();
        });
        if shared.0.word().is_closed() {
            assert_eq!(shared.1.load(Ordering::Relaxed), 1);
        }
        closer.join().unwrap();
    });
}

/// A hop and the sink after it, as in a pipeline.
struct Line {
    hop: Hop<u64, Box<u64>>,
    sink: Baton<(Sink<Box<u64>>, Vec<u64>)>,
    head: Watch<Box<u64>>,
    event: EventCount,
}

impl Line {
    fn with_items(items: u64) -> Arc<Self> {
        let (mut source, lane, exit) = open::<u64>(items as usize);
        let (hop, lane) = Hop::new(lane);
        for item in 0..items {
            source.put(Cell::Value(item));
        }
        let sink = Sink { reader: lane.reader(), exit };
        let head = sink.watch();
        Arc::new(Self { hop, sink: Baton::new((sink, Vec::new())), head, event: EventCount::new() })
    }

    /// Carries one item across, then pokes the sink (rules 4 to 7).
    fn carry_one_and_poke(&self) {
        self.carry_one();
        self.poke();
    }

    fn carry_one(&self) {
        let mut claim = self.hop.claim(1).expect("an item for each thread");
        let cell = claim.take().expect("a claim has an item");
        claim.put(map(cell, |item| Box::new(10 * item)));
    }

    fn poke(&self) {
        let mut held = self.sink.try_acquire();
        while let Some(mut holder) = held {
            let (sink, out) = holder.state();
            while let Some(cell) = sink.take() {
                let Cell::Value(value) = cell else { panic!("only values were put") };
                out.push(*value);
                sink.release();
            }
            held = holder.release();
        }
    }

    /// Whether a worker that looks for work finds some at the sink.
    fn is_ready(&self) -> bool {
        self.sink.word().is_free() && self.head.is_ready()
    }
}

#[test]
fn stamp_and_poke_against_the_sinks_last_look() {
    check(3, || {
        let line = Line::with_items(2);
        let other = Arc::clone(&line);
        let worker = thread::spawn(move || other.carry_one_and_poke());
        line.carry_one_and_poke();
        worker.join().unwrap();
        let mut held = line.sink.try_acquire().expect("nobody holds it");
        assert_eq!(held.state().1, [0, 10], "an item is ready and nobody serves it");
        held.let_go();
    });
}

#[test]
fn stamp_and_poke_against_a_worker_that_looks_again_and_parks() {
    // One thread continues with a long item. The other one looks for work after it has served, as workers do,
    // and sleeps. That look alone does not make up for a poke that was left out.
    check(3, || {
        let line = Line::with_items(2);
        let other = Arc::clone(&line);
        let goes_on = thread::spawn(move || {
            other.carry_one();
            if !Mutant("claim_pokes_behind_a_hint").is_on() || other.is_ready() {
                other.poke();
            }
        });
        line.carry_one_and_poke();
        while line.is_ready() {
            line.poke();
        }
        let _key = line.event.prepare();
        while line.is_ready() {
            line.poke();
        }
        line.event.leave();
        goes_on.join().unwrap();
        let mut held = line.sink.try_acquire().expect("nobody holds it");
        assert_eq!(held.state().1, [0, 10], "an item is ready and nobody serves it");
        held.let_go();
    });
}

#[test]
fn three_claimers_stamp_and_poke_out_of_order() {
    check(2, || {
        let line = Line::with_items(3);
        let workers = [(); 2].map(|()| {
            let line = Arc::clone(&line);
            thread::spawn(move || line.carry_one_and_poke())
        });
        line.carry_one_and_poke();
        for worker in workers {
            worker.join().unwrap();
        }
        let mut held = line.sink.try_acquire().expect("nobody holds it");
        assert_eq!(held.state().1, [0, 10, 20], "an item is ready and nobody serves it");
        held.let_go();
    });
}
