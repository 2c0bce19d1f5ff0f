//! `Offload`: results come once and in the order of the tasks, however tasks and results alternate.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;

use anabranch::{Offload, Pool};
use futures::executor::block_on;
use proptest::prelude::*;

use crate::contract_support::planted::{Bomb, Planted};
use crate::contract_support::watchdog::{hush, message};

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

fn planted(task: u64) -> Planted {
    Planted { node: 0, origin: task, path: 0, bomb: Bomb::default() }
}

/// Makes one call. Returns what it got.
fn make(call: Call, farm: &mut Offload<u64, u64>, next: &mut u64) -> Option<u64> {
    match call {
        Call::Offload => {
            farm.offload(*next);
            *next += 1;
            None
        }
        Call::TryOffload => {
            if farm.try_offload(*next).is_ok() {
                *next += 1;
            }
            None
        }
        Call::Get => farm.get(),
        Call::PollGet => block_on(poll_fn(|context| farm.poll_get(context))),
        Call::TryGet => farm.try_get(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn calls_in_any_order_give_the_results_in_order_up_to_a_panic(
        calls in prop::collection::vec(call(), 0..200),
        (workers, window, is_pooled) in (1usize..4, 1usize..9, any::<bool>()),
        bad in prop_oneof![2 => Just(u64::MAX), 1 => 0u64..60],
    ) {
        hush();
        let task = move |n| if n == bad { panic_any(planted(n)) } else { work(n) };
        let mut farm = match is_pooled {
            true => {
                let pool = Arc::new(Pool::new(workers));
                Offload::through(window, |tasks| tasks.pool(&pool).workers(workers).map(task))
            }
            false => Offload::start(workers, window, task),
        };
        // The number of the next task, and of the next result. The panic comes once.
        let (mut next, mut got, mut has_panicked) = (0, 0, false);
        for call in calls {
            let before = next;
            match catch_unwind(AssertUnwindSafe(|| make(call, &mut farm, &mut next))) {
                Ok(Some(result)) => {
                    prop_assert_eq!(result, work(got));
                    got += 1;
                }
                Ok(None) => {
                    let gets = matches!(call, Call::Get | Call::PollGet);
                    prop_assert!(!gets || got == next.min(bad), "no result");
                    let is_full = matches!(call, Call::TryOffload) && next == before;
                    prop_assert!(!is_full || next - got >= window as u64, "no room");
                }
                Err(payload) => {
                    let is_task = payload.downcast_ref() == Some(&planted(bad));
                    let says_stopped = message(&*payload).contains("has stopped");
                    prop_assert!(if has_panicked { says_stopped } else { is_task }, "{}", message(&*payload));
                    has_panicked = true;
                }
            }
            let left = if has_panicked { bad } else { next };
            prop_assert_eq!(farm.pending() as u64, left - got);
        }
        farm.close();
        while farm.pending() > 0 {
            match catch_unwind(AssertUnwindSafe(|| farm.get())) {
                Ok(result) => {
                    prop_assert_eq!(result, Some(work(got)));
                    got += 1;
                }
                Err(payload) => {
                    prop_assert!(!has_panicked && payload.downcast_ref() == Some(&planted(bad)));
                    has_panicked = true;
                }
            }
        }
        prop_assert_eq!(got, next.min(bad));
        prop_assert_eq!(has_panicked, next > bad);
    }
}
