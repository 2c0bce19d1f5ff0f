//! Every interleaving that the memory model allows of waits that a hook ends, and of views that are ended
//! from elsewhere, in small shapes.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-network --release --test integration loom_outside

use crate::model::check;
use anabranch_network::record::{All, Closed, Dealt, Record, Sleep, bounded};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// A sleeper that a hook wakes. Its own lock orders nothing that the record does before it is asked.
struct Nap {
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Nap {
    fn new() -> Arc<Self> {
        Arc::new(Self { woken: Mutex::new(false), changed: Condvar::new() })
    }

    fn hook(nap: &Arc<Self>) -> impl Fn() + Send + Sync + 'static {
        let nap = Arc::clone(nap);
        move || {
            *nap.woken.lock().unwrap() = true;
            nap.changed.notify_all();
        }
    }
}

impl Sleep for Nap {
    fn prepare(&self) {}

    fn cancel(&self) {}

    fn sleep(&self) -> bool {
        let mut woken = self.woken.lock().unwrap();
        while !*woken {
            woken = self.changed.wait(woken).unwrap();
        }
        *woken = false;
        true
    }
}

#[test]
fn a_commit_against_a_reader_that_announces_itself() {
    check(3, || {
        let nap = Nap::new();
        let (mut writer, mut reader) = bounded::<u64>(1, Nap::hook(&nap), || ());
        let writes = thread::spawn(move || {
            let mut slots = writer.try_stall(1).unwrap();
            slots.push(7);
            slots.commit();
            writer
        });
        assert_eq!(reader.receive_by(1, &*nap).unwrap().pop(), Some(7));
        drop(writes.join().unwrap());
    });
}

/// The first commit wakes the reader too early, and it announces itself again.
#[test]
fn two_commits_against_a_reader_that_wants_both_items() {
    check(3, || {
        let nap = Nap::new();
        let (mut writer, mut reader) = bounded::<u64>(2, Nap::hook(&nap), || ());
        let writes = thread::spawn(move || {
            for n in [7, 8] {
                let mut slots = writer.try_stall(1).unwrap();
                slots.push(n);
                slots.commit();
            }
            writer
        });
        assert_eq!(reader.receive_by(2, &*nap).unwrap().len(), 2);
        drop(writes.join().unwrap());
    });
}

#[test]
fn a_release_against_a_writer_that_announces_itself() {
    check(3, || {
        let nap = Nap::new();
        let (mut writer, mut reader) = bounded::<u64>(1, || (), Nap::hook(&nap));
        let mut slots = writer.try_stall(1).unwrap();
        slots.push(1);
        slots.commit();
        let reads = thread::spawn(move || {
            assert_eq!(reader.try_receive(1).unwrap().pop(), Some(1));
            reader
        });
        let mut slots = writer.stall_by(1, &*nap).unwrap().unwrap();
        slots.push(2);
        slots.commit();
        drop(reads.join().unwrap());
    });
}

#[test]
fn a_closing_from_elsewhere_against_a_reader_that_announces_itself() {
    check(3, || {
        let nap = Nap::new();
        let (writer, mut reader) = bounded::<u64>(1, Nap::hook(&nap), || ());
        let closer = writer.closer();
        let closes = thread::spawn(move || closer.close());
        assert!(reader.receive_by(1, &*nap).unwrap().is_empty());
        closes.join().unwrap();
        drop(writer);
    });
}

#[test]
fn a_commit_against_one_of_two_readers_that_announces_itself() {
    check(2, || {
        let nap = Nap::new();
        let record = Record::<u64, _, _>::bounded(Dealt::one(), All::of(2), Nap::hook(&nap), || ());
        let mut writer = record.writer(0, 1).unwrap();
        let (mut reader, other) = (record.reader(0, 1).unwrap(), record.reader(1, 1).unwrap());
        let writes = thread::spawn(move || {
            let mut slots = writer.try_stall(1).unwrap();
            slots.push(7);
            slots.commit();
            writer
        });
        assert_eq!(reader.receive_by(1, &*nap).unwrap().get(0), Some(&7));
        drop((writes.join().unwrap(), other));
    });
}

/// The item that the burst shows must not be written over, which loom's cells would notice.
#[test]
fn a_revocation_against_a_burst() {
    check(3, || {
        let nap = Nap::new();
        let record = Record::<u64, _, _>::bounded(Dealt::one(), All::of(2), || (), Nap::hook(&nap));
        let mut writer = record.writer(0, 1).unwrap();
        let (mut reader, mut other) = (record.reader(0, 1).unwrap(), record.reader(1, 1).unwrap());
        let mut slots = writer.try_stall(1).unwrap();
        slots.push(7);
        slots.commit();
        other.try_receive(1).unwrap().release();
        let revoker = reader.revoker();
        let reads = thread::spawn(move || {
            let window = reader.try_receive(1).unwrap();
            assert!(window.get(0).is_none_or(|&item| item == 7));
            drop(window);
            reader
        });
        let revokes = thread::spawn(move || revoker.revoke());
        match writer.stall_by(1, &*nap).unwrap() {
            Ok(mut slots) => {
                slots.push(8);
                slots.commit();
            }
            Err(Closed) => unreachable!("the other reader is there"),
        }
        revokes.join().unwrap();
        assert!(reads.join().unwrap().try_receive(1).unwrap().is_empty());
        drop(other);
    });
}
