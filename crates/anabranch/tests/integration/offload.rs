//! `Offload`: results come once and in the order of the tasks, however tasks and results alternate.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;

use anabranch::{Offload, Pool};
use futures::executor::block_on;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Call {
    Offload,
    TryOffload,
    Get,
    TryGet,
    PollGet,
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => Just(Call::Offload),
        3 => Just(Call::TryOffload),
        2 => Just(Call::Get),
        2 => Just(Call::TryGet),
        2 => Just(Call::PollGet),
    ]
}

fn work(task: u64) -> u64 {
    if task.is_multiple_of(7) {
        std::thread::yield_now();
    }
    task * task
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn calls_in_any_order_give_the_results_in_order(
        calls in prop::collection::vec(call(), 0..200),
        (workers, window, is_pooled) in (1usize..4, 1usize..9, any::<bool>()),
    ) {
        let mut farm = match is_pooled {
            true => {
                let pool = Arc::new(Pool::new(workers));
                Offload::through(window, |tasks| tasks.pool(&pool).workers(workers).map(work))
            }
            false => Offload::start(workers, window, work),
        };
        let (mut next, mut expected) = (0, VecDeque::new());
        for call in calls {
            match call {
                Call::Offload => {
                    farm.offload(next);
                    expected.push_back(work(next));
                    next += 1;
                }
                Call::TryOffload => {
                    if farm.try_offload(next).is_ok() {
                        expected.push_back(work(next));
                        next += 1;
                    } else {
                        prop_assert!(expected.len() >= window);
                    }
                }
                Call::Get => prop_assert_eq!(farm.get(), expected.pop_front()),
                Call::PollGet => {
                    let result = block_on(poll_fn(|context| farm.poll_get(context)));
                    prop_assert_eq!(result, expected.pop_front());
                }
                Call::TryGet => {
                    if let Some(result) = farm.try_get() {
                        prop_assert_eq!(Some(result), expected.pop_front());
                    }
                }
            }
            prop_assert_eq!(farm.pending(), expected.len());
        }
        farm.close();
        let rest: Vec<_> = std::iter::from_fn(|| farm.get()).collect();
        prop_assert_eq!(rest, Vec::from(expected));
    }
}
