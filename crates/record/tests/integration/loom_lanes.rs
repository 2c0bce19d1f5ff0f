//! Lanes, with every interleaving and every outcome that the memory model allows. Loom also checks that a
//! thread touches a slot only after it has seen that the other thread is done with it.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-record --release --test integration loom_

use crate::model::check;
use crate::ports::{Hop, Sink, Source, Stage, map, open};
use anabranch_record::lane::{Cell, Domain, Stop};
use anabranch_record::sync::{Arc, AtomicU64, Ordering};
use loom::thread;

type Line = (Source<Box<u64>>, Arc<Hop<Box<u64>, Box<u64>>>, Sink<Box<u64>>);

/// A source, a parallel stage and a sink. The values are boxes, so a value that is moved twice or lost is a
/// memory fault.
fn line(window: usize) -> Line {
    let (source, lane, exit) = open(window);
    let (hop, lane) = Hop::new(lane);
    (source, Arc::new(hop), Sink { reader: lane.reader(), exit })
}

/// Claims up to `most` items and carries them across. Returns which items those were.
fn carry(hop: &Hop<Box<u64>, Box<u64>>, most: u64) -> Vec<u64> {
    let mut carried = Vec::new();
    let Some(mut claim) = hop.claim(most) else { return carried };
    while let Some(cell) = claim.take() {
        if let Cell::Value(item) = &cell {
            assert_eq!(**item, claim.index(), "an item is at its own index");
            carried.push(**item);
        }
        claim.put(map(cell, |item| Box::new(10 + *item)));
    }
    carried
}

#[test]
fn claim_against_claim_has_disjoint_ranges_and_moves_each_value_once() {
    check(3, || {
        let (mut source, hop, mut sink) = line(4);
        for item in 0..3 {
            source.put(Cell::Value(Box::new(item)));
        }
        let other = Arc::clone(&hop);
        let claimer = thread::spawn(move || carry(&other, 2));
        let mut carried = carry(&hop, 2);
        carried.extend(claimer.join().unwrap());
        carried.extend(carry(&hop, 4));
        carried.sort_unstable();
        assert_eq!(carried, [0, 1, 2]);
        let out: Vec<_> = std::iter::from_fn(|| sink.take()).collect();
        assert_eq!(out, [10, 11, 12].map(|item| Cell::Value(Box::new(item))));
    });
}

#[test]
fn claim_against_commit() {
    // A claimed cell was committed, so the claiming thread sees it complete.
    check(3, || {
        let (mut source, hop, mut sink) = line(2);
        let other = Arc::clone(&hop);
        let claimer = thread::spawn(move || {
            let mut carried = carry(&other, 1);
            carried.extend(carry(&other, 2));
            carried
        });
        source.put(Cell::Value(Box::new(0)));
        source.put(Cell::Value(Box::new(1)));
        let mut carried = claimer.join().unwrap();
        carried.extend(carry(&hop, 2));
        assert_eq!(carried, [0, 1]);
        assert_eq!(sink.take(), Some(Cell::Value(Box::new(10))));
        assert_eq!(sink.take(), Some(Cell::Value(Box::new(11))));
    });
}

#[test]
fn two_claimers_stamp_against_the_serial_reader() {
    // The reader looks while the others write. It gets a prefix, in order, with each value whole.
    check(3, || {
        let (mut source, hop, mut sink) = line(2);
        source.put(Cell::Value(Box::new(0)));
        source.put(Cell::Value(Box::new(1)));
        let claimers = [(); 2].map(|()| {
            let hop = Arc::clone(&hop);
            thread::spawn(move || carry(&hop, 1))
        });
        let mut out: Vec<_> = std::iter::from_fn(|| sink.take()).collect();
        for claimer in claimers {
            claimer.join().unwrap();
        }
        out.extend(std::iter::from_fn(|| sink.take()));
        assert_eq!(out, [10, 11].map(|item| Cell::Value(Box::new(item))));
    });
}

#[test]
fn two_claims_are_announced_against_a_reader_in_any_order() {
    // One claim has two indices and one has one. The reader takes what has arrived while they are put.
    check(3, || {
        let (mut source, lane, exit) = open::<Box<u64>>(4);
        let (hop, lane) = Hop::<_, Box<u64>>::unordered(lane);
        let (hop, mut sink) = (Arc::new(hop), lane.sink(exit));
        let watch = sink.watch();
        for item in 0..3 {
            source.put(Cell::Value(Box::new(item)));
        }
        let claimers = [2, 1].map(|most| {
            let hop = Arc::clone(&hop);
            thread::spawn(move || carry(&hop, most))
        });
        let mut out = Vec::new();
        let mut take_all = |out: &mut Vec<u64>| {
            while let Some(Cell::Value(item)) = sink.take() {
                out.push(*item);
                sink.release();
            }
        };
        take_all(&mut out);
        for claimer in claimers {
            claimer.join().unwrap();
        }
        assert_eq!(watch.is_ready(), out.len() < 3, "all was put, and not all was taken");
        take_all(&mut out);
        assert!(!watch.is_ready() && watch.taken() == 3);
        out.sort_unstable();
        assert_eq!(out, [10, 11, 12]);
        assert_eq!(source.fresh_room(), 4);
    });
}

#[test]
fn a_slot_is_written_again_only_after_it_was_taken() {
    // With a window of 1, index 1 uses the slots of index 0 in both lanes, while the sink has just taken from
    // the second.
    check(4, || {
        let (mut source, hop, mut sink) = line(1);
        source.put(Cell::Value(Box::new(0)));
        carry(&hop, 1);
        let serves = thread::spawn(move || {
            let mut out = Vec::new();
            while let Some(Cell::Value(item)) = sink.take() {
                out.push(*item);
                sink.release();
            }
            (sink, out)
        });
        let reused = source.fresh_room() > 0;
        if reused {
            source.put(Cell::Value(Box::new(1)));
            carry(&hop, 1);
        }
        let (mut sink, mut out) = serves.join().unwrap();
        if let Some(Cell::Value(item)) = sink.take() {
            out.push(*item);
        }
        assert_eq!(out, [10, 11][..1 + usize::from(reused)]);
    });
}

#[test]
fn a_slot_is_written_again_only_after_three_lanes_have_let_go_of_it() {
    // A source, a parallel stage, a serial stage and a sink, with one index in flight. One thread claims,
    // another runs the serial stage and the sink, and the source continues after what the sink has released.
    check(3, || {
        let (mut source, lane, exit) = open::<Box<u64>>(1);
        let (hop, lane) = Hop::<_, Box<u64>>::new(lane);
        let (writer, after) = Domain::lane::<Box<u64>>(source.domain());
        let mut stage = Stage { reader: lane.reader(), writer };
        let mut sink = Sink { reader: after.reader(), exit };
        let hop = Arc::new(hop);
        let claims = Arc::clone(&hop);
        source.put(Cell::Value(Box::new(0)));
        let claimer = thread::spawn(move || {
            carry(&claims, 1);
            carry(&claims, 1);
        });
        let serves = thread::spawn(move || {
            let mut out = Vec::new();
            for _ in 0..2 {
                stage.pass(|cell| map(cell, |item| Box::new(10 + *item)));
                if let Some(Cell::Value(item)) = sink.take() {
                    out.push(*item);
                    sink.release();
                }
            }
            out
        });
        if source.fresh_room() > 0 {
            source.put(Cell::Value(Box::new(1)));
        }
        claimer.join().unwrap();
        let out = serves.join().unwrap();
        assert_eq!(out, [20, 21][..out.len()]);
    });
}

#[test]
fn stop_against_pull() {
    // Item 0 fails while the source continues. Whatever index the source has reached, the stop at 0 is the
    // lowest, and the sink meets it in the place of item 0.
    check(3, || {
        let (mut source, hop, mut sink) = line(2);
        source.put(Cell::Value(Box::new(0)));
        let other = Arc::clone(&hop);
        let fails = thread::spawn(move || {
            let mut claim = other.claim(1).expect("item 0 is ready");
            claim.take();
            other.domain().stop_at(0);
            claim.put(Cell::Stop(Stop::Fail));
        });
        if source.domain().stop() == u64::MAX {
            source.put(Cell::Value(Box::new(1)));
        } else {
            assert_eq!(source.domain().stop(), 0, "what was seen once stays");
        }
        fails.join().unwrap();
        assert_eq!(hop.domain().stop(), 0);
        assert_eq!(sink.take(), Some(Cell::Stop(Stop::Fail)));
    });
}

#[test]
fn stop_against_stop_and_what_is_above_it() {
    // There are two claiming threads, and both items fail. Items above `stop` are dropped without running,
    // and items below it never. So the sink meets the failure of item 0, even if that of item 1 came first.
    check(3, || {
        let (mut source, hop, mut sink) = line(2);
        source.put(Cell::Value(Box::new(0)));
        source.put(Cell::Value(Box::new(1)));
        let ran = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let run = |hop: &Hop<Box<u64>, Box<u64>>, ran: &[AtomicU64; 2]| {
            let mut claim = hop.claim(1).expect("an item for each");
            let index = claim.index();
            if index <= hop.domain().stop() {
                claim.take();
                ran[index as usize].store(1, Ordering::Relaxed);
                hop.domain().stop_at(index);
                claim.put(Cell::Stop(Stop::Fail));
            }
        };
        let (other, others) = (Arc::clone(&hop), Arc::clone(&ran));
        let claimer = thread::spawn(move || run(&other, &others));
        run(&hop, &ran);
        claimer.join().unwrap();
        assert_eq!(ran[0].load(Ordering::Relaxed), 1, "nothing below the first failure is dropped");
        assert_eq!(hop.domain().stop(), 0);
        assert_eq!(sink.take(), Some(Cell::Stop(Stop::Fail)));
    });
}
