//! Pipelines of Rust-SSP's language in many schedules. Every item passes, and no notification is lost between
//! posts, the worker that attends to the source, and sleeping workers.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_
//!
//! Here no time passes: every item is quick, and a worker that watches another never wakes by itself.

use std::sync::Arc;

use crate::model::{Gate, check};
use anabranch::ssp::*;
use anabranch::{CancelToken, posts};

#[test]
fn what_is_posted_is_collected_in_order() {
    for replicas in [1, 2, 3] {
        check(150, move || {
            let pipeline =
                pipeline![parallel!(|n: u64| (n != 2).then_some(n + 10), replicas), collect_ordered!()];
            (0..5).for_each(|n| pipeline.post(n).unwrap());
            assert_eq!(pipeline.collect(), [10, 11, 13, 14]);
        });
    }
}

#[test]
fn an_item_comes_through_before_the_next_is_posted() {
    for replicas in [1, 2, 3] {
        check(150, move || {
            let gate = Arc::new(Gate::new());
            let passed = Arc::clone(&gate);
            let mut pipeline =
                pipeline![parallel!(|n: u64| Some(n), replicas), sequential_ordered!(move |_| passed.pass())];
            for n in 0..3 {
                pipeline.post(n).unwrap();
                gate.wait_for(n + 1);
            }
            pipeline.end_and_wait();
        });
    }
}

#[test]
fn a_full_pipeline_takes_items_again() {
    check(60, || {
        // There is room for 32 items that own memory before the first stage, and for as many in the stages.
        let pipeline = pipeline![parallel!(|n: Box<u64>| Some(*n), 2), sequential!(|_| {})];
        (0..200).for_each(|n| pipeline.post(Box::new(n)).unwrap());
        assert_eq!(pipeline.collect().len(), 200);
    });
}

#[test]
fn two_threads_post() {
    check(150, || {
        let pipeline = Arc::new(pipeline![parallel!(|n: u64| Some(n), 2), collect!()]);
        let other = Arc::clone(&pipeline);
        let posting = shuttle::thread::spawn(move || (0..2).for_each(|n| other.post(n).unwrap()));
        (2..4).for_each(|n| pipeline.post(n).unwrap());
        posting.join().unwrap();
        let mut collected = Arc::into_inner(pipeline).expect("the other thread has ended").collect();
        collected.sort();
        assert_eq!(collected, [0, 1, 2, 3]);
    });
}

#[test]
fn workers_wait_for_a_replica_of_a_stage_that_has_fewer() {
    check(150, || {
        let pipeline =
            pipeline![parallel!(|n: u64| Some(n), 3), parallel!(|n: u64| Some(n + 1), 1), collect_ordered!()];
        (0..4).for_each(|n| pipeline.post(n).unwrap());
        assert_eq!(pipeline.collect(), [1, 2, 3, 4]);
    });
}

#[test]
fn an_item_that_waits_for_the_next_does_not_hold_it_up() {
    check(150, || {
        let gate = Arc::new(Gate::new());
        let pipeline = pipeline![
            parallel!(
                {
                    let gate = Arc::clone(&gate);
                    move |n: u64| {
                        gate.pass();
                        gate.wait_for(2);
                        Some(n)
                    }
                },
                2
            ),
            collect_ordered!()
        ];
        (0..2).for_each(|n| pipeline.post(n).unwrap());
        assert_eq!(pipeline.collect(), [0, 1]);
    });
}

#[test]
fn a_stream_that_drains_gives_what_was_accepted() {
    for workers in [1, 2] {
        check(300, move || {
            let token = CancelToken::new();
            let none = None::<(u64, fn(&u64) -> u64)>;
            let (sender, stream) =
                posts::fallible::<_, (), _>(workers, posts::Room::one_by_one(2), "post", none);
            let stream = stream.cancel_by(&token);
            let running = shuttle::thread::spawn(move || stream.map(|n: u64| n).collect::<Vec<_>>());
            let draining = shuttle::thread::spawn(move || token.drain());
            let accepted = (0..4).take_while(|&n| sender.send(n).is_ok()).count() as u64;
            sender.end();
            draining.join().unwrap();
            assert_eq!(running.join().unwrap(), Ok((0..accepted).collect()));
        });
    }
}
