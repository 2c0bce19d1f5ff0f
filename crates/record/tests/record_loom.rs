//! Every interleaving that the memory model allows of the record's synchronisation, in small shapes.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-record --release --test record_loom
#![cfg(loom)]

use anabranch_record::{Closed, one_to_one};
use loom::thread;

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn commit_and_notify_against_wait() {
    check(|| {
        let (mut writer, mut reader) = one_to_one(1, 1);
        let writes = thread::spawn(move || {
            let mut slots = writer.stall(1).unwrap();
            slots.push(7);
            slots.commit();
            writer
        });
        assert_eq!(reader.receive(1).pop(), Some(7));
        drop(writes.join().unwrap());
    });
}

#[test]
fn release_against_stall() {
    check(|| {
        let (mut writer, mut reader) = one_to_one(1, 1);
        for item in 0..2 {
            let mut slots = writer.stall(1).unwrap();
            slots.push(item);
            slots.commit();
        }
        let reads = thread::spawn(move || {
            assert_eq!(reader.receive(1).pop(), Some(0));
            reader
        });
        let mut slots = writer.stall(1).unwrap();
        slots.push(2);
        slots.commit();
        let mut reader = reads.join().unwrap();
        assert_eq!(reader.receive(1).pop(), Some(1));
        assert_eq!(reader.receive(1).pop(), Some(2));
    });
}

#[test]
fn the_writers_end_against_a_waiting_reader() {
    check(|| {
        let (mut writer, mut reader) = one_to_one(2, 2);
        let writes = thread::spawn(move || {
            let mut slots = writer.stall(2).unwrap();
            slots.push(7);
            slots.commit();
        });
        let mut items = reader.receive(2);
        assert_eq!((items.len(), items.pop()), (1, Some(7)));
        drop(items);
        assert!(reader.receive(2).is_empty());
        writes.join().unwrap();
    });
}

#[test]
fn the_readers_end_against_a_waiting_writer() {
    check(|| {
        let (mut writer, reader) = one_to_one(1, 1);
        for item in 0..2 {
            let mut slots = writer.stall(1).unwrap();
            slots.push(Box::new(item));
            slots.commit();
        }
        let reads = thread::spawn(move || drop(reader));
        assert_eq!(writer.stall(1).map(|_| ()), Err(Closed));
        reads.join().unwrap();
    });
}
