//! The room of a window, between the sink that gives it and the source that waits for it, with every
//! interleaving and every outcome that the memory model allows.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-record --release --test integration loom_

use crate::model::check;
use crate::ports::{self, Sink, Source};
use anabranch_record::lane::{Cell, Domain};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, AtomicUsize, Ordering, fence};
use anabranch_record::{Baton, EventCount};
use loom::thread;

/// A source with its baton, and the event on which threads wait that could pull.
struct Front {
    source: Baton<Source<u64>>,
    room: Arc<Domain>,
    event: EventCount,
}

fn open(window: usize) -> (Arc<Front>, Sink<u64>) {
    let (source, lane, exit) = ports::open(window);
    let room = Arc::clone(source.domain());
    let front = Front { source: Baton::new(source), room, event: EventCount::new() };
    (Arc::new(front), Sink { reader: lane.reader(), exit })
}

impl Front {
    /// Pulls while there is room, lets go and looks again (rules 3 and 7). Returns what the look found.
    fn pull(&self, next: &mut impl Iterator<Item = u64>) -> bool {
        let Some(mut held) = self.source.try_acquire() else { return false };
        let source = held.state();
        while source.fresh_room() > 0 {
            let Some(item) = next.next() else { break };
            source.put(Cell::Value(item));
            self.event.notify();
        }
        held.let_go();
        self.is_ready()
    }

    fn is_ready(&self) -> bool {
        self.source.word().is_free() && self.room.has_room()
    }
}

#[test]
fn released_fence_word_against_free_it_fence_look() {
    // The thread that pulls finds the window full and lets go, while the sink makes room. One of the two must
    // know.
    check(4, || {
        let (front, mut sink) = open(1);
        front.pull(&mut [0].into_iter());
        let other = Arc::clone(&front);
        let puller = thread::spawn(move || {
            let mut held = other.source.try_acquire().expect("nobody else pokes");
            let was_full = held.state().fresh_room() == 0;
            held.let_go();
            !was_full || other.is_ready()
        });
        sink.take().expect("item 0 was put");
        sink.release();
        let was_free = front.source.word().is_free_after_fence();
        assert!(puller.join().unwrap() | was_free, "there is room, and nobody was told");
    });
}

#[test]
fn released_against_pull_and_park_with_the_room_notice() {
    // The sink gives room once and is then busy for ever, so the thread that pulls must not be asleep.
    check(4, || {
        let (front, mut sink) = open(1);
        front.pull(&mut [0].into_iter());
        let other = Arc::clone(&front);
        let puller = thread::spawn(move || {
            let mut items = [1].into_iter();
            while items.len() > 0 {
                if other.pull(&mut items) || items.len() == 0 {
                    continue;
                }
                let key = other.event.prepare();
                if other.is_ready() {
                    other.event.leave();
                } else {
                    other.event.wait(key);
                }
            }
        });
        sink.take().expect("item 0 was put");
        sink.release();
        if front.source.word().is_free_after_fence() {
            front.event.notify();
        }
        puller.join().unwrap();
    });
}

#[test]
fn released_against_a_puller_that_lets_go_and_another_that_parks() {
    // The thread that lets go is then busy for ever, and so is the sink. The third thread must pull.
    check(2, || {
        let (front, mut sink) = open(1);
        front.pull(&mut [0].into_iter());
        let asked = Arc::new(AtomicBool::new(false));
        let (busy, done) = (Arc::clone(&front), Arc::clone(&asked));
        let busy = thread::spawn(move || {
            let Some(mut held) = busy.source.try_acquire() else { return };
            if held.state().fresh_room() > 0 {
                held.state().put(Cell::Value(1));
                done.store(true, Ordering::Release);
            }
            held.let_go();
            if done.load(Ordering::Acquire) {
                busy.event.notify_all();
            } else if busy.is_ready() {
                busy.event.notify();
            }
        });
        let (idle, done) = (Arc::clone(&front), Arc::clone(&asked));
        let idle = thread::spawn(move || {
            while !done.load(Ordering::Acquire) {
                if let Some(mut held) = idle.source.try_acquire() {
                    let has_room = held.state().fresh_room() > 0;
                    held.let_go();
                    if has_room {
                        return;
                    }
                }
                let key = idle.event.prepare();
                if idle.is_ready() || done.load(Ordering::Acquire) {
                    idle.event.leave();
                } else {
                    idle.event.wait(key);
                }
            }
        });
        sink.take().expect("item 0 was put");
        sink.release();
        if front.source.word().is_free_after_fence() {
            front.event.notify();
        }
        busy.join().unwrap();
        idle.join().unwrap();
    });
}

#[test]
fn a_worker_that_leaves_against_one_that_takes_the_source() {
    // The thread that leaves has put something, and leaves only if the source, which may block, is not held.
    // A thread that takes the source asks it only if another thread is there or there is nothing else to do.
    // A thread must be left that takes the item.
    check(4, || {
        let (front, _sink) = open(1);
        let workers = Arc::new(AtomicUsize::new(2));
        let put = Arc::new(AtomicBool::new(false));
        let consumer = {
            let (front, workers, put) = (Arc::clone(&front), Arc::clone(&workers), Arc::clone(&put));
            thread::spawn(move || {
                let held = front.source.try_acquire().expect("nobody else wants it");
                fence(Ordering::SeqCst);
                let is_alone = workers.load(Ordering::Acquire) == 1;
                let blocks = !(is_alone && put.load(Ordering::Relaxed));
                held.close();
                blocks
            })
        };
        put.store(true, Ordering::Relaxed);
        workers.fetch_sub(1, Ordering::SeqCst);
        if !Mutant("no_fence_on_leaving").is_on() {
            fence(Ordering::SeqCst);
        }
        let leaves = front.source.word().is_free();
        let blocks = consumer.join().unwrap();
        assert!(!(leaves && blocks), "what was put is left to a worker that waits for the source");
    });
}
