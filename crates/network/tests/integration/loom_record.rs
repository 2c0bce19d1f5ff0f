//! The synchronisation of records, in small shapes, with every interleaving that the memory model allows.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-network --release --test integration loom_record

use anabranch_network::record::{All, Closed, Dealt, Record, Tickets, WriteDeal, WriteView, one_to_one};
use loom::thread;

fn check(model: impl Fn() + Sync + Send + 'static) {
    check_to(3, model);
}

/// The bound on preemptions: switches away from a thread that could have continued.
fn check_to(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Writes `n` slots, each with its index.
fn write<W: WriteDeal>(writer: &mut WriteView<u64, W>, n: usize) {
    let mut slots = writer.stall(n).unwrap();
    slots.fill(slots.index()..);
    slots.commit();
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

#[test]
fn ticket_against_ticket_of_writers() {
    check_to(2, || {
        let record = Record::new(Tickets::of(2), All::of(1));
        let [mut a, mut b] = [0, 1].map(|id| record.writer(id, 1).unwrap());
        let mut reader = record.reader(0, 2).unwrap();
        let first = thread::spawn(move || write(&mut a, 1));
        let second = thread::spawn(move || write(&mut b, 1));
        let items = reader.receive(2);
        assert!(items.iter().copied().eq(0..2));
        items.release();
        assert!(reader.receive(1).is_empty());
        first.join().unwrap();
        second.join().unwrap();
    });
}

#[test]
fn ticket_against_ticket_of_readers() {
    check_to(2, || {
        let record = Record::new(Dealt::one(), Tickets::of(2));
        let mut writer = record.writer(0, 1).unwrap();
        let [mut a, mut b] = [0, 1].map(|id| record.reader(id, 1).unwrap());
        let read = thread::spawn(move || {
            let item = a.receive(1).pop();
            (item, a)
        });
        let writes = thread::spawn(move || {
            for _ in 0..2 {
                write(&mut writer, 1);
            }
        });
        let item = b.receive(1).pop();
        let (other, _a) = read.join().unwrap();
        assert_eq!(item.unwrap() + other.unwrap(), 1);
        writes.join().unwrap();
    });
}

#[test]
fn a_ticket_is_taken_over_by_a_waiting_writer() {
    check_to(2, || {
        let record = Record::new(Tickets::of(2), All::of(1));
        let [mut a, mut b] = [0, 1].map(|id| record.writer(id, 1).unwrap());
        let mut reader = record.reader(0, 1).unwrap();
        drop(a.stall(1).unwrap()); // claims 0
        write(&mut b, 1); // 1; the window ends at 2
        let ends = thread::spawn(move || drop(a));
        write(&mut b, 1); // waits for room, and gets 0
        assert_eq!(reader.receive(1).get(0), Some(&0));
        ends.join().unwrap();
    });
}

#[test]
fn hand_over_and_growth_against_a_writer() {
    check_to(2, || {
        let record = Record::broadcast(1);
        let mut writer = record.writer(0, 1).unwrap();
        let mut reader = record.reader(0, 1).unwrap();
        let writes = thread::spawn(move || {
            for _ in 0..3 {
                write(&mut writer, 1);
            }
        });
        reader.receive(1).release();
        reader.leave();
        let mut reader = record.reader(0, 2).unwrap();
        assert!(reader.receive(2).iter().copied().eq(1..3));
        writes.join().unwrap();
    });
}

#[test]
fn registration_against_a_waiting_writer() {
    check_to(2, || {
        let record = Record::broadcast(1);
        let mut writer = record.writer(0, 1).unwrap();
        let writes = thread::spawn(move || write(&mut writer, 1));
        let mut reader = record.reader(0, 1).unwrap();
        assert_eq!(reader.receive(1).get(0), Some(&0));
        writes.join().unwrap();
    });
}

#[test]
fn the_slower_of_two_readers_releases_against_stall() {
    check_to(2, || {
        let record = Record::broadcast(2);
        let mut writer = record.writer(0, 1).unwrap();
        let readers = [0, 1].map(|id| record.reader(id, 1).unwrap());
        write(&mut writer, 1);
        write(&mut writer, 1);
        let reads = readers.map(|mut reader| {
            thread::spawn(move || {
                reader.receive(1).release();
                reader
            })
        });
        write(&mut writer, 1); // over the slot of 0
        let readers = reads.map(|reads| reads.join().unwrap());
        for mut reader in readers {
            assert_eq!(reader.receive(1).get(0), Some(&1));
        }
    });
}

#[test]
fn an_observer_against_a_writer_that_moves_on() {
    check_to(2, || {
        let record = Record::broadcast(1);
        let mut writer = record.writer(0, 1).unwrap();
        let mut reader = record.reader(0, 1).unwrap();
        let mut observer = record.observer();
        let watch = thread::spawn(move || {
            let mut seen = vec![];
            let range = observer.observe(2, &mut seen);
            assert!(seen.into_iter().eq(range));
        });
        for _ in 0..3 {
            write(&mut writer, 1);
            reader.receive(1).release();
        }
        watch.join().unwrap();
    });
}

/// A writer that loses a claim has held its side down for a moment, and a reader may have gone to sleep
/// because of it.
#[test]
fn a_lost_claim_of_a_writer_against_a_waiting_reader() {
    check_to(2, || {
        let record = Record::new(Tickets::of(2), All::of(1));
        let [mut a, mut b] = [0, 1].map(|id| record.writer(id, 1).unwrap());
        let mut reader = record.reader(0, 1).unwrap();
        let writes = thread::spawn(move || {
            write(&mut a, 1);
            a
        });
        let reads = thread::spawn(move || {
            assert_eq!(reader.receive(1).get(0), Some(&0));
            reader
        });
        let mut slots = b.stall(1).unwrap();
        let index = slots.index();
        slots.push(index);
        // The item after the one that is waited for may be kept for any time.
        let _reader = if index == 1 {
            reads.join().unwrap()
        } else {
            slots.commit();
            reads.join().unwrap()
        };
        writes.join().unwrap();
    });
}

/// The same for readers, against a writer that waits for room.
#[test]
fn a_lost_claim_of_a_reader_against_a_waiting_writer() {
    check_to(2, || {
        let record = Record::new(Dealt::one(), Tickets::of(2));
        let mut writer = record.writer(0, 1).unwrap();
        let [mut a, mut b] = [0, 1].map(|id| record.reader(id, 1).unwrap());
        write(&mut writer, 1);
        write(&mut writer, 1);
        let reads = thread::spawn(move || {
            a.receive(1).release();
            a
        });
        let writes = thread::spawn(move || write(&mut writer, 1)); // needs index 0 to be released
        let items = b.receive(1);
        if items.index() == 0 {
            items.release();
            writes.join().unwrap();
        } else {
            writes.join().unwrap();
            items.release();
        }
        reads.join().unwrap();
    });
}

/// A writer may use a limit that another writer has raised. It then sees what the readers did before that.
#[test]
fn a_limit_that_another_writer_has_raised() {
    check_to(2, || {
        let record = Record::new(Dealt::of(2, 1), All::of(1));
        let [mut a, mut b] = [0, 1].map(|id| record.writer(id, 1).unwrap());
        let mut reader = record.reader(0, 1).unwrap();
        write(&mut a, 1);
        write(&mut b, 1);
        let reads = thread::spawn(move || {
            for index in 0..2 {
                let items = reader.receive(1);
                assert_eq!(items.get(0), Some(&index));
                items.release();
            }
            reader
        });
        let writes = thread::spawn(move || {
            write(&mut a, 1); // over the slot of 0
            a
        });
        write(&mut b, 1); // over the slot of 1
        let (_a, _reader) = (writes.join().unwrap(), reads.join().unwrap());
    });
}

/// The reader has skipped items that are not committed yet, so a writer waits for the commit of another
/// writer.
#[test]
fn a_commit_against_another_writer_that_waits_for_it() {
    check_to(2, || {
        let record = Record::new(Dealt::of(2, 1), All::of(1));
        let [mut a, mut b] = [0, 1].map(|id| record.writer(id, 1).unwrap());
        let mut reader = record.reader(0, 1).unwrap();
        let reads = thread::spawn(move || {
            assert_eq!(reader.receive_range(2..3).get(0), Some(&2));
            reader
        });
        let writes = thread::spawn(move || {
            write(&mut b, 1); // 1
            write(&mut b, 1); // 3: waits until 0 and 1 are released, and committed
            b
        });
        write(&mut a, 1); // 0
        let _b = writes.join().unwrap();
        write(&mut a, 1); // 2
        let _reader = reads.join().unwrap();
    });
}
