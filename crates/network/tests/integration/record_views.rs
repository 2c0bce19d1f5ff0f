//! Records with many views: registration, hand-over, ends, growth, observers.

use anabranch_network::record::{
    All, Closed, Dealt, Record, RegisterError, Tickets, TryStallError, WriteDeal, WriteView,
};
use std::{sync::mpsc, thread, time::Duration};

/// Writes the indices themselves, at most `n` of them and as many as there is room for. Returns how many.
fn write<W: WriteDeal>(writer: &mut WriteView<u64, W>, n: usize) -> usize {
    let Ok(mut slots) = writer.try_stall(n) else { return 0 };
    let written = slots.fill(slots.index()..);
    slots.commit();
    written
}

#[test]
fn nothing_flows_before_all_views_have_registered() {
    let record = Record::broadcast(2);
    let mut writer = record.writer(0, 4).unwrap();
    let mut first = record.reader(0, 4).unwrap();
    assert_eq!(writer.try_stall(1).unwrap_err(), TryStallError::Full);
    assert!(first.try_receive(1).is_none());
    assert_eq!(record.span(), 0);
    let mut late = record.reader(1, 2).unwrap();
    assert_eq!(record.span(), 8);
    assert_eq!(write(&mut writer, 4), 4);
    assert_eq!(first.receive(4).iter().copied().collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(late.receive(2).iter().copied().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_waiting_writer_starts_when_the_last_view_registers() {
    let record = Record::<u64>::broadcast(1);
    let mut writer = record.writer(0, 4).unwrap();
    let (done, started) = mpsc::channel();
    thread::spawn(move || {
        let slots = writer.stall(4).map(|slots| slots.len());
        done.send(slots).unwrap();
    });
    // The thread has time to start too early. The test passes on any machine if it does not.
    assert!(started.recv_timeout(Duration::from_millis(30)).is_err());
    let _reader = record.reader(0, 4).unwrap();
    assert_eq!(started.recv_timeout(Duration::from_secs(60)), Ok(Ok(4)));
}

#[test]
fn ids_are_checked() {
    let record = Record::<u64>::broadcast(1);
    let writer = record.writer(0, 1).unwrap();
    assert_eq!(record.writer(0, 1).unwrap_err(), RegisterError::Taken { id: 0 });
    assert_eq!(record.writer(1, 1).unwrap_err(), RegisterError::NoSuchId { id: 1, views: 1 });
    drop(writer);
    assert_eq!(record.writer(0, 1).unwrap_err(), RegisterError::Ended { id: 0 });
}

#[test]
fn the_slowest_reader_holds_the_writer_and_nobody_else_does() {
    let record = Record::broadcast(2);
    let mut writer = record.writer(0, 2).unwrap();
    let (mut quick, mut slow) = (record.reader(0, 2).unwrap(), record.reader(1, 2).unwrap());
    assert_eq!((write(&mut writer, 2), write(&mut writer, 2), write(&mut writer, 1)), (2, 2, 0));
    quick.receive(2).release();
    assert_eq!(write(&mut writer, 1), 0);
    slow.receive(1).release();
    assert_eq!(write(&mut writer, 1), 1);
    drop(slow);
    assert_eq!(write(&mut writer, 1), 1, "a reader that has gone holds nobody up");
    drop(quick);
    assert_eq!(writer.stall(1).unwrap_err(), Closed);
}

#[test]
fn a_successor_goes_on_exactly_where_the_view_stopped() {
    let record = Record::broadcast(1);
    let mut writer = record.writer(0, 8).unwrap();
    let mut reader = record.reader(0, 8).unwrap();
    write(&mut writer, 5);
    writer.leave();
    reader.receive(2).release();
    let mut items = reader.receive(3);
    items.release_to(3);
    drop(items);
    reader.leave();
    let mut writer = record.writer(0, 8).unwrap();
    assert_eq!((writer.index(), write(&mut writer, 2)), (5, 2));
    let mut reader = record.reader(0, 8).unwrap();
    assert_eq!(reader.receive(4).iter().copied().collect::<Vec<_>>(), [3, 4, 5, 6]);
}

#[test]
fn readers_wait_for_a_successor_and_learn_that_none_can_come() {
    let record = Record::broadcast(1);
    let mut writer = record.writer(0, 4).unwrap();
    let mut reader = record.reader(0, 4).unwrap();
    write(&mut writer, 2);
    writer.leave();
    assert!(reader.try_receive(3).is_none());
    drop(record);
    assert_eq!(reader.receive(3).len(), 2);
    reader.receive(2).release();
    assert!(reader.receive(3).is_empty());
}

#[test]
fn dealt_writers_end_the_stream_at_the_first_index_that_nobody_will_write() {
    let record = Record::new(Dealt::of(2, 2), All::of(1));
    let (mut even, mut odd) = (record.writer(0, 8).unwrap(), record.writer(1, 8).unwrap());
    let mut reader = record.reader(0, 8).unwrap();
    assert_eq!((write(&mut even, 8), write(&mut even, 8)), (2, 2)); // 0 1, 4 5
    assert_eq!(write(&mut odd, 1), 1); // 2
    assert!(reader.try_receive(4).is_none());
    drop(odd);
    assert_eq!(reader.receive(8).iter().copied().collect::<Vec<_>>(), [0, 1, 2]);
    reader.receive(3).release();
    assert!(reader.receive(1).is_empty());
}

#[test]
fn dealt_readers_get_their_ranges_whatever_the_order() {
    let record = Record::new(Dealt::one(), Dealt::of(3, 2));
    let mut writer = record.writer(0, 16).unwrap();
    let mut readers = [0, 1, 2].map(|id| record.reader(id, 8).unwrap());
    assert_eq!(write(&mut writer, 11), 11);
    drop(writer);
    let mut seen = [2, 0, 1].map(|id| {
        let mut seen = vec![];
        loop {
            let mut items = readers[id].receive(8);
            if items.is_empty() {
                break seen;
            }
            seen.extend(items.drain());
        }
    });
    seen.rotate_left(1);
    assert_eq!(seen, [vec![0, 1, 6, 7], vec![2, 3, 8, 9], vec![4, 5, 10]]);
}

#[test]
fn a_forgotten_burst_does_not_reach_the_next_readers_range() {
    let record = Record::new(Dealt::one(), Dealt::of(2, 2));
    let mut writer = record.writer(0, 16).unwrap();
    let (mut first, _second) = (record.reader(0, 8).unwrap(), record.reader(1, 8).unwrap());
    write(&mut writer, 8);
    let mut items = first.receive(2);
    assert_eq!((items.pop(), items.pop()), (Some(0), Some(1)));
    std::mem::forget(items);
    assert_eq!(first.receive(2).pop(), Some(4));
}

#[test]
fn a_ticket_is_taken_over_from_a_view_that_ended() {
    let record = Record::new(Tickets::of(2), Tickets::of(2));
    let (mut a, mut b) = (record.writer(0, 4).unwrap(), record.writer(1, 4).unwrap());
    let (mut x, mut y) = (record.reader(0, 4).unwrap(), record.reader(1, 4).unwrap());
    let mut slots = a.stall(4).unwrap();
    slots.push(0);
    slots.commit(); // 1, 2, 3 stay claimed
    assert_eq!(write(&mut b, 2), 2); // 4, 5
    assert!(x.try_receive(2).is_none());
    drop(a);
    assert_eq!(write(&mut b, 4), 3, "the rest of the claim first");
    let mut items = x.receive(4);
    assert_eq!(items.pop(), Some(0));
    drop(items);
    drop(x);
    assert_eq!(y.receive(4).drain().collect::<Vec<_>>(), [1, 2, 3]);
    drop(b);
    assert_eq!(y.receive(4).drain().collect::<Vec<_>>(), [4, 5]);
    assert!(y.receive(4).is_empty());
}

#[test]
fn a_record_grows_when_a_wider_view_connects_and_keeps_what_it_holds() {
    let record = Record::broadcast(1);
    let mut writer = record.writer(0, 2).unwrap();
    let mut reader = record.reader(0, 2).unwrap();
    for _ in 0..3 {
        assert_eq!(write(&mut writer, 2), 2);
        reader.receive(2).release();
    }
    assert_eq!((write(&mut writer, 2), write(&mut writer, 1)), (2, 1));
    reader.leave();
    let mut reader = record.reader(0, 30).unwrap();
    assert_eq!(record.span(), 32);
    writer.widen(3);
    assert_eq!(record.span(), 33);
    while write(&mut writer, 3) > 0 {}
    let items = reader.receive(30);
    assert!(items.iter().copied().eq(6..36));
    assert!(items.slices().flatten().copied().eq(6..36));
    assert!(items.slices().count() > 1);
    items.release();
    let mut slots = writer.stall(3).unwrap();
    for slice in slots.slices_mut() {
        slice.fill(9);
    }
    slots.commit();
    assert_eq!(reader.receive(3).iter().copied().collect::<Vec<_>>(), [36, 37, 38]);
}

#[test]
fn a_reader_may_subsample() {
    let record = Record::broadcast(2);
    let mut writer = record.writer(0, 4).unwrap();
    let readers = [1u64, 3].map(|first| {
        let mut reader = record.reader(first as usize / 2, 2).unwrap();
        thread::spawn(move || {
            let mut seen = vec![];
            for start in (first..).step_by(10) {
                let items = reader.receive_range(start..start + 2);
                if items.is_empty() {
                    return seen;
                }
                seen.extend(items.iter().copied());
            }
            unreachable!()
        })
    });
    for _ in 0..10 {
        let mut slots = writer.stall(4).unwrap();
        slots.fill(slots.index()..);
        slots.commit();
    }
    drop(writer);
    let seen = readers.map(|reader| reader.join().unwrap());
    assert_eq!(seen, [vec![1, 2, 11, 12, 21, 22, 31, 32], vec![3, 4, 13, 14, 23, 24, 33, 34]]);
}

#[test]
fn an_observer_sees_whole_items_in_order_and_holds_nobody_up() {
    let record = Record::<[u64; 4]>::broadcast(1);
    let mut writer = record.writer(0, 8).unwrap();
    let mut reader = record.reader(0, 8).unwrap();
    let mut observer = record.observer();
    let total = 40_000;
    thread::scope(|scope| {
        scope.spawn(move || {
            while writer.index() < total {
                let mut slots = writer.stall(8).unwrap();
                for slice in slots.slices_mut() {
                    slice.fill([0; 4]);
                }
                let from = slots.index();
                for (item, index) in slots.slices_mut().flatten().zip(from..) {
                    *item = [index; 4];
                }
                slots.commit();
            }
        });
        let watch = scope.spawn(move || {
            let (mut last, mut seen) = (0, vec![]);
            while last < total {
                seen.clear();
                let range = observer.observe(5, &mut seen);
                assert!(range.start >= last || range.is_empty());
                assert!(seen.iter().copied().eq(range.clone().map(|index| [index; 4])));
                last = last.max(range.end);
                thread::yield_now();
            }
        });
        loop {
            let items = reader.receive(8);
            if items.is_empty() {
                break;
            }
            items.release();
        }
        watch.join().unwrap();
    });
}
