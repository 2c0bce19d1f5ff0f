//! The inbox in every interleaving and under every outcome that the memory model allows.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-record --release --test integration loom_

use crate::model::check;
use anabranch_record::inbox::{Consumer, PostError, inbox};
use anabranch_record::sync::{Arc, AtomicBool, Ordering};
use loom::thread;

/// Takes `count` items, waiting for them.
fn take(consumer: &mut Consumer<Box<u64>>, count: usize) -> Vec<u64> {
    let mut taken = Vec::new();
    while taken.len() < count {
        if consumer.take(count - taken.len(), |item| taken.push(*item)) == 0 {
            thread::yield_now();
        }
    }
    taken
}

#[test]
fn two_posts_against_the_taker() {
    check(3, || {
        let (inbox, mut consumer) = inbox(2);
        let other = inbox.clone();
        let posting = thread::spawn(move || other.post(Box::new(1)).unwrap());
        inbox.post(Box::new(2)).unwrap();
        assert_eq!(take(&mut consumer, 2).iter().sum::<u64>(), 3);
        posting.join().unwrap();
    });
}

#[test]
fn a_slot_is_used_again_by_another_thread() {
    check(3, || {
        let (inbox, mut consumer) = inbox(1);
        inbox.post(Box::new(1)).unwrap();
        let posting = thread::spawn(move || {
            let mut item = Box::new(2);
            while let Err(PostError::Full(back)) = inbox.post(item) {
                item = back;
                thread::yield_now();
            }
        });
        assert_eq!(take(&mut consumer, 2), [1, 2]);
        posting.join().unwrap();
    });
}

#[test]
fn a_post_against_the_end_of_the_taker() {
    // Loom reports an item that is dropped twice or never.
    check(3, || {
        let (inbox, mut consumer) = inbox(4);
        inbox.post(Box::new(1)).unwrap();
        inbox.post(Box::new(2)).unwrap();
        let other = inbox.clone();
        let posting = thread::spawn(move || match other.post(Box::new(3)) {
            Ok(_) => {}
            Err(error) => assert_eq!(error, PostError::Closed(Box::new(3))),
        });
        assert_eq!(take(&mut consumer, 1), [1]);
        drop(consumer);
        assert_eq!(inbox.post(Box::new(4)), Err(PostError::Closed(Box::new(4))));
        posting.join().unwrap();
    });
}

#[test]
fn a_post_and_a_look_against_a_flag_and_a_look() {
    // A thread that sleeps first sets a flag and looks at the inbox. A thread that has posted looks at the
    // flag. One of the two must see the other.
    check(3, || {
        let (inbox, _taker) = inbox(2);
        let sleeps = Arc::new(AtomicBool::new(false));
        let (other, flag) = (inbox.clone(), Arc::clone(&sleeps));
        let posting = thread::spawn(move || {
            other.post(Box::new(1)).unwrap();
            flag.load(Ordering::SeqCst)
        });
        sleeps.store(true, Ordering::SeqCst);
        inbox.settle();
        let waits = inbox.waiting() > 0;
        assert!(posting.join().unwrap() || waits);
    });
}
