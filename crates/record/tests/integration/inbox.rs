//! The inbox: every item comes out once, in the order of its thread's posts, and no item is lost or leaked.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use anabranch_record::inbox::{PostError, inbox};

#[test]
fn items_of_several_threads_come_out_once_and_each_threads_in_order() {
    // Each refill of a small inbox is a switch of threads, which takes milliseconds beside a busy program.
    for (capacity, each) in [(1, 200), (7, 1_500), (1_000, 200_000)] {
        let each: u64 = if cfg!(miri) { 200 } else { each };
        let (inbox, mut consumer) = inbox(capacity);
        thread::scope(|scope| {
            for poster in 0..3 {
                let inbox = inbox.clone();
                scope.spawn(move || {
                    for n in 0..each {
                        let mut item = Box::new((poster, n));
                        while let Err(PostError::Full(back)) = inbox.post(item) {
                            item = back;
                            thread::yield_now();
                        }
                    }
                });
            }
            let mut next = [0; 3];
            let mut taken = 0;
            while taken < 3 * each {
                assert!(inbox.waiting() <= capacity as u64);
                let size = consumer.take(5, |item| {
                    let (poster, n): (usize, u64) = *item;
                    assert_eq!(n, next[poster]);
                    next[poster] += 1;
                });
                taken += size as u64;
                assert_eq!(inbox.taken(), taken);
                if size == 0 {
                    thread::yield_now();
                }
            }
        });
        assert_eq!(consumer.take(1, drop), 0);
    }
}

#[test]
fn what_waits_is_dropped_with_the_taker_and_what_is_posted_then_comes_back() {
    let item = Arc::new(());
    let (inbox, mut consumer) = inbox(8);
    (0..5).for_each(|n| assert_eq!(inbox.post(Arc::clone(&item)), Ok(n)));
    assert_eq!(consumer.take(2, drop), 2);
    consumer.close();
    assert!(matches!(inbox.post(Arc::clone(&item)), Err(PostError::Closed(_))));
    assert_eq!((inbox.waiting(), Arc::strong_count(&item)), (3, 4));
    drop(consumer);
    assert_eq!(Arc::strong_count(&item), 1);
}

#[test]
fn a_panic_of_who_is_given_an_item_loses_that_item_only() {
    let (inbox, mut consumer) = inbox(4);
    (0..4).for_each(|n| assert_eq!(inbox.post(Box::new(n)), Ok(n)));
    let mut seen = Vec::new();
    let taking = catch_unwind(AssertUnwindSafe(|| {
        consumer.take(4, |n| {
            assert!(*n != 1);
            seen.push(*n);
        })
    }));
    assert!(taking.is_err());
    assert_eq!(consumer.take(4, |n| seen.push(*n)), 2);
    assert_eq!(seen, [0, 2, 3]);
}

#[test]
fn an_inbox_is_narrowed_and_not_widened() {
    let (inbox, _taker) = inbox(8);
    inbox.narrow(3);
    inbox.narrow(5);
    (0..3).for_each(|n| assert_eq!(inbox.post(n), Ok(n)));
    assert!(inbox.is_full());
    assert_eq!(inbox.post(3), Err(PostError::Full(3)));
}

#[test]
fn the_limit_of_an_inbox_changes_while_items_are_posted_and_is_at_most_its_capacity() {
    let (inbox, mut consumer) = inbox(4);
    inbox.set_limit(2);
    assert!(!inbox.is_full());
    (0..2).for_each(|n| assert_eq!(inbox.post(n), Ok(n)));
    inbox.set_limit(100);
    (2..4).for_each(|n| assert_eq!(inbox.post(n), Ok(n)));
    assert_eq!(inbox.post(4), Err(PostError::Full(4)));
    inbox.set_limit(1);
    assert_eq!(consumer.take(4, |_| ()), 4);
    inbox.post(5).unwrap();
    assert_eq!(inbox.post(6), Err(PostError::Full(6)));
}
