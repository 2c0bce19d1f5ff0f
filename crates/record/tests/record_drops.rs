//! Each item is dropped exactly once, whatever ends first.
#![cfg(not(any(loom, shuttle)))]

use anabranch_record::one_to_one;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicIsize, AtomicUsize, Ordering},
    },
};

/// Counts how many of its items live and how many were made; a second drop of one item aborts the test.
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
