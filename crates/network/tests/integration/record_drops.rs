//! Each item is dropped exactly once, no matter which side ends first.

use anabranch_network::record::{All, Deal, Dealt, ReadDeal, Record, Tickets, WriteDeal, one_to_one};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicIsize, AtomicUsize, Ordering},
    },
};

/// Counts how many of its items exist and how many were created. A second drop of an item aborts the test.
#[derive(Default, Clone)]
struct Census {
    live: Arc<AtomicIsize>,
    made: Arc<AtomicUsize>,
}

struct Counted {
    census: Census,
    alive: Box<bool>,
}

impl Census {
    fn item(&self) -> Counted {
        self.live.fetch_add(1, Ordering::Relaxed);
        self.made.fetch_add(1, Ordering::Relaxed);
        Counted { census: self.clone(), alive: Box::new(true) }
    }

    fn live(&self) -> isize {
        self.live.load(Ordering::Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(std::mem::replace(&mut *self.alive, false), "dropped twice");
        self.census.live.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn items_left_in_a_record_are_dropped_with_its_last_side() {
    for writer_first in [true, false] {
        let census = Census::default();
        let (mut writer, mut reader) = one_to_one(4, 4);
        for _ in 0..5 {
            let mut slots = writer.stall(3).unwrap();
            slots.fill((0..3).map(|_| census.item()));
            slots.commit();
            let mut items = reader.receive(3);
            drop(items.pop());
            items.release();
        }
        let mut slots = writer.stall(4).unwrap();
        slots.fill((0..4).map(|_| census.item()));
        slots.commit();
        drop(reader.receive(3).pop());
        assert_eq!(census.live(), 3);
        if writer_first {
            drop(writer);
            drop(reader);
        } else {
            drop(reader);
            drop(writer);
        }
        assert_eq!(census.live(), 0);
    }
}

#[test]
fn a_partly_written_burst_drops_what_it_holds_and_commits_nothing() {
    let census = Census::default();
    let (mut writer, mut reader) = one_to_one(4, 4);
    let mut slots = writer.stall(4).unwrap();
    slots.fill((0..3).map(|_| census.item()));
    slots.commit_to(1);
    drop(slots);
    assert_eq!(census.live(), 1);
    assert_eq!(reader.ready(), 1);
    assert_eq!(writer.index(), 1);
}

#[test]
fn a_panic_while_writing_drops_what_was_written() {
    let census = Census::default();
    let (mut writer, mut reader) = one_to_one(4, 4);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut slots = writer.stall(4).unwrap();
        slots.fill((0..4).map(|i| if i == 2 { panic!("no third item") } else { census.item() }));
    }));
    assert!(panicked.is_err());
    assert_eq!((census.live(), reader.ready()), (0, 0));
    let mut slots = writer.stall(4).unwrap();
    slots.push(census.item());
    slots.commit();
    assert_eq!(reader.receive(1).len(), 1);
}

#[test]
fn a_panic_while_reading_leaves_the_rest_to_the_next_burst() {
    let census = Census::default();
    let (mut writer, mut reader) = one_to_one(4, 4);
    let mut slots = writer.stall(4).unwrap();
    slots.fill((0..4).map(|_| census.item()));
    slots.commit();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut items = reader.receive(4);
        for (position, _item) in items.drain().enumerate() {
            assert!(position < 1, "enough");
        }
    }));
    assert!(panicked.is_err());
    assert_eq!(census.live(), 2);
    reader.receive(2).release();
    assert_eq!(census.live(), 0);
}

#[test]
fn a_panic_in_a_drop_loses_no_other_item() {
    struct Bomb(Option<Counted>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(self.0.is_some(), "boom");
        }
    }
    let census = Census::default();
    let (mut writer, mut reader) = one_to_one(4, 4);
    let mut slots = writer.stall(4).unwrap();
    slots.fill([Some(()), None, Some(()), Some(())].map(|full| Bomb(full.map(|()| census.item()))));
    slots.commit();
    drop(writer);
    assert!(catch_unwind(AssertUnwindSafe(|| reader.receive(4).release())).is_err());
    assert_eq!(census.live(), 2);
    reader.receive(2).release();
    assert_eq!(census.live(), 0);
}

#[test]
fn a_forgotten_burst_gives_no_item_twice() {
    let census = Census::default();
    let (mut writer, mut reader) = one_to_one(4, 4);
    let mut slots = writer.stall(4).unwrap();
    slots.fill((0..4).map(|_| census.item()));
    slots.commit();
    let mut items = reader.receive(4);
    drop(items.pop());
    std::mem::forget(items);
    assert_eq!(reader.receive(3).len(), 3);
    drop((reader, writer));
    assert_eq!(census.live(), 0);
}

/// Fills a record, uses a part of it, and drops its parts in the order that `order` gives.
fn drop_views<W: WriteDeal, R: ReadDeal<Counted>>(writers: W, readers: R, order: [usize; 3]) {
    let census = Census::default();
    let record = Record::new(writers, readers);
    let mut write: Vec<_> = (0..2).map(|id| record.writer(id, 3).unwrap()).collect();
    let mut read: Vec<_> = (0..2).map(|id| record.reader(id, 3).unwrap()).collect();
    for round in 0..40 {
        if round == 17 {
            read[1].widen(9); // a new ring from here on
        }
        if let Ok(mut slots) = write[round % 2].try_stall(3) {
            slots.fill((0..slots.len()).map(|_| census.item()));
            slots.commit_to(slots.index() + slots.len() as u64 - u64::from(round % 3 == 0));
        }
        if let Some(mut items) = read[round / 2 % 2].try_receive(2) {
            items.release_to(items.index() + 1);
        }
    }
    assert!(census.made.load(Ordering::Relaxed) > 12);
    let (mut write, mut read, mut record) = (Some(write), Some(read), Some(record));
    for part in order {
        match part {
            0 => drop(write.take()),
            1 => drop(read.take()),
            _ => drop(record.take()),
        }
    }
    assert_eq!(census.live(), 0);
}

fn drop_in_all_orders<W: WriteDeal, R: ReadDeal<Counted> + Deal>(writers: W, readers: R) {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        drop_views(writers, readers, order);
    }
}

#[test]
fn many_views_drop_each_item_once_in_whatever_order_they_go() {
    drop_in_all_orders(Dealt::of(2, 2), All::of(2));
    drop_in_all_orders(Dealt::of(2, 2), Dealt::of(2, 3));
    drop_in_all_orders(Dealt::of(2, 2), Tickets::of(2));
    drop_in_all_orders(Tickets::of(2), All::of(2));
    drop_in_all_orders(Tickets::of(2), Dealt::of(2, 1));
    drop_in_all_orders(Tickets::of(2), Tickets::of(2));
}

#[test]
fn a_broadcast_item_outlives_its_first_reader_and_not_its_slot() {
    let census = Census::default();
    let record = Record::broadcast(2);
    let mut writer = record.writer(0, 2).unwrap();
    let mut readers = [0, 1].map(|id| record.reader(id, 2).unwrap());
    for _ in 0..10 {
        let mut slots = writer.stall(2).unwrap();
        slots.fill((0..2).map(|_| census.item()));
        slots.commit();
        for reader in &mut readers {
            let items = reader.receive(2);
            assert!(items.iter().all(|item| *item.alive));
            items.release();
        }
        assert!(census.live() <= 4);
    }
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut slots = writer.stall(2).unwrap();
        slots.fill((0..2).map(|i| if i == 1 { panic!("no second item") } else { census.item() }));
    }));
    assert!(panicked.is_err());
    assert!(census.live() <= 2);
    drop((record, writer, readers));
    assert_eq!(census.live(), 0);
}
