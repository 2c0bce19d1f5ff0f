//! Runs with futures that other threads wake, in many random schedules.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch --release --test integration shuttle_

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::model::check;
use anabranch::Stream;
use anabranch_record::sync::{Condvar, Mutex, lock};
use shuttle::thread;

/// An answer that a future waits for and another thread gives.
#[derive(Default)]
struct Answer {
    state: Mutex<(bool, Option<Waker>)>,
    asked: Condvar,
}

impl Answer {
    fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(context.waker().clone());
        self.asked.notify_all();
        Poll::Pending
    }

    /// Waits until it is asked, and answers.
    fn give(&self) {
        let mut state = lock(&self.state);
        while state.1.is_none() {
            state = self.asked.wait(state).unwrap();
        }
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}

#[test]
fn futures_that_other_threads_wake_give_their_results_in_order() {
    for (workers, window, most) in [(1, 2, 2), (2, 1, 1), (2, 3, 2)] {
        check(1_000, move || {
            let answers: Arc<Vec<Answer>> = Arc::new((0..3).map(|_| Answer::default()).collect());
            let asked = Arc::clone(&answers);
            let server = thread::spawn(move || asked.iter().for_each(Answer::give));
            let stream = Stream::from_iter(0..3usize).workers(workers).window(window);
            let results = stream.map_async(most, |n| {
                let answers = Arc::clone(&answers);
                poll_fn(move |context| answers[n].poll(context).map(|()| n))
            });
            assert_eq!(results.collect::<Vec<_>>(), [0, 1, 2]);
            server.join().unwrap();
        });
    }
}

#[test]
fn a_future_that_wakes_while_it_is_polled_is_polled_again() {
    check(1_000, || {
        let results = Stream::from_iter(0..3usize).workers(2).window(2).map_async(2, |n| {
            let mut left = 2;
            poll_fn(move |context| {
                if left == 0 {
                    return Poll::Ready(n);
                }
                left -= 1;
                // Either this thread wakes the future, or another one does, before the poll has ended or behind it.
                let waker = context.waker().clone();
                if left == 0 {
                    waker.wake();
                } else {
                    thread::spawn(move || waker.wake());
                }
                Poll::Pending
            })
        });
        assert_eq!(results.collect::<Vec<_>>(), [0, 1, 2]);
    });
}

#[test]
fn the_end_does_not_pass_a_future() {
    check(1_000, || {
        let answer = Arc::new(Answer::default());
        let asked = Arc::clone(&answer);
        let server = thread::spawn(move || asked.give());
        let stream = Stream::from_iter(0..1usize).workers(2).window(1).unordered();
        let results = stream.map_async(1, |n| {
            let answer = Arc::clone(&answer);
            poll_fn(move |context| answer.poll(context).map(|()| n))
        });
        assert_eq!(results.count(), 1);
        server.join().unwrap();
    });
}
