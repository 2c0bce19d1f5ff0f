//! The language of Rust-SSP: what its programs rely on, and what a pipeline guarantees beyond that.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};

use crate::contract_support::watchdog::{stays_true, within};
use anabranch::ssp::*;

/// With at most 4 workers, this many items are in the stages or wait before the first one.
const BOUND: usize = 2 * 64;

fn double(n: u64) -> Option<u64> {
    Some(2 * n)
}

/// Adds up what it sees. It is a stage whose state is `Send` and not `Sync`.
struct Sum(Cell<u64>);

impl InOut<u64, u64> for Sum {
    fn process(&mut self, n: u64) -> Option<u64> {
        self.0.set(self.0.get() + n);
        Some(self.0.get())
    }
}

struct Numbers;

impl In<u64, (u64, u64)> for Numbers {
    fn process(&mut self, n: u64, order: u64) -> (u64, u64) {
        (order, n)
    }
}

/// Items that count how many of them exist.
struct Live(Arc<AtomicUsize>);

impl Live {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn payload(result: std::thread::Result<impl Sized>) -> String {
    let payload = result.err().expect("a panic");
    payload.downcast_ref::<&str>().map(|text| (*text).to_owned()).unwrap_or_else(|| {
        payload.downcast_ref::<String>().cloned().unwrap_or_else(|| "another payload".to_owned())
    })
}

#[test]
fn functions_closures_and_structs_are_stages() {
    within(|| {
        let factor = 3;
        let pipeline = pipeline![
            parallel!(double, 2),
            sequential!(|n: u64| if n == 4 || n == 8 || n == 0 { None } else { Some(n) }),
            parallel!(move |n| Some(factor * n), 1 + 2),
            sequential_ordered!(Sum(Cell::new(0))),
            sequential_ordered!(Numbers),
        ];
        for n in 0..6 {
            pipeline.post(n).unwrap();
        }
        // The numbers 1, 3 and 5 remain and become 6, 18 and 30. They are added up, and numbered as they were
        // posted.
        assert_eq!(pipeline.collect(), [(1, 6), (3, 24), (5, 54)]);
    });
}

#[test]
fn what_an_ordered_stage_sees_is_in_order_in_the_middle_and_at_the_end() {
    within(|| {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let middle = Arc::clone(&seen);
        let pipeline = pipeline![
            parallel!(
                |n: u64| {
                    if n & 7 == 0 {
                        std::thread::yield_now();
                    }
                    (n & 3 != 0).then_some(n)
                },
                3
            ),
            sequential_ordered!(move |n: u64| {
                middle.lock().unwrap().push(n);
                Some(n)
            }),
            parallel!(double, 4),
            collect_ordered!()
        ];
        for n in 0..5_000 {
            pipeline.post(n).unwrap();
        }
        let expected: Vec<u64> = (0..5_000).filter(|n| n & 3 != 0).collect();
        assert_eq!(pipeline.collect(), expected.iter().map(|n| 2 * n).collect::<Vec<_>>());
        assert_eq!(*seen.lock().unwrap(), expected);
    });
}

#[test]
fn what_a_last_parallel_stage_gives_is_collected_in_order() {
    within(|| {
        let pipeline = pipeline![parallel!(|n: u32| n + 1, 3)];
        (0..2_000).for_each(|n| pipeline.post(n).unwrap());
        assert_eq!(pipeline.collect(), (1..=2_000).collect::<Vec<_>>());

        let pipeline = pipeline![parallel!(double, 2), parallel!(Numbers, 3)];
        (0..100).for_each(|n| pipeline.post(n).unwrap());
        assert_eq!(pipeline.collect(), (0..100).map(|n| (n, 2 * n)).collect::<Vec<_>>());

        let pipeline = pipeline![sequential_ordered!(Some::<u32>), parallel!(|n| 2 * n, 3)];
        (0..2_000).for_each(|n| pipeline.post(n).unwrap());
        assert_eq!(pipeline.collect(), (0..2_000).map(|n| 2 * n).collect::<Vec<_>>());
    });
}

#[test]
fn an_unordered_stage_gets_every_item_once() {
    within(|| {
        let pipeline = pipeline![parallel!(double, 3), sequential!(double), parallel!(double, 2), collect!()];
        (0..3_000).for_each(|n| pipeline.post(n).unwrap());
        let mut collected = pipeline.collect();
        collected.sort();
        assert_eq!(collected, (0..3_000).map(|n| 8 * n).collect::<Vec<_>>());
    });
}

#[test]
fn a_slow_item_holds_nobody_up_before_an_unordered_stage() {
    within(|| {
        let (seen, has_seen) = channel();
        let has_seen = Arc::new(Mutex::new(has_seen));
        let pipeline = pipeline![
            parallel!(
                {
                    let has_seen = Arc::clone(&has_seen);
                    move |n: u32| {
                        if n == 0 {
                            // It ends only after the last stage has seen another item.
                            has_seen.lock().unwrap().recv().unwrap();
                        }
                        Some(n)
                    }
                },
                2
            ),
            sequential!(move |n: u32| {
                seen.send(()).unwrap();
                n
            })
        ];
        (0..2).for_each(|n| pipeline.post(n).unwrap());
        assert_eq!(pipeline.collect(), [1, 0]);
    });
}

#[test]
fn the_expression_of_a_parallel_stage_is_evaluated_once_a_replica_where_it_stands() {
    within(|| {
        let here = std::thread::current().id();
        let mut made = 0;
        let replicas = 5i32;
        let mut pipeline = pipeline![
            parallel!(
                {
                    assert_eq!(std::thread::current().id(), here);
                    made += 1;
                    double
                },
                replicas
            ),
            sequential!(|_| {})
        ];
        assert_eq!(made, 5);
        pipeline.post(1).unwrap();
        pipeline.end_and_wait();
        assert_eq!(made, 5);
    });
}

#[test]
fn a_stage_runs_as_often_at_once_as_it_has_replicas_and_never_more_often() {
    within(|| {
        let now = Arc::new([const { AtomicUsize::new(0) }; 2]);
        // No replica continues before all replicas of the first stage are busy.
        let all = Arc::new(Barrier::new(4));
        let count = |at: usize, most: usize| {
            let now = Arc::clone(&now);
            let all = Arc::clone(&all);
            move |n: u32| {
                assert!(now[at].fetch_add(1, Ordering::SeqCst) < most);
                if at == 0 {
                    all.wait();
                }
                std::thread::yield_now();
                now[at].fetch_sub(1, Ordering::SeqCst);
                Some(n)
            }
        };
        // The numbers of replicas differ, so workers have to wait for a replica of the second stage.
        let pipeline = pipeline![parallel!(count(0, 4), 4), parallel!(count(1, 2), 2), collect_ordered!()];
        (0..400).for_each(|n| pipeline.post(n).unwrap());
        assert_eq!(pipeline.collect().len(), 400);

        let pipeline = pipeline![parallel!(count(1, 3), 3), parallel!(count(1, 3), 3), collect!()];
        drop(pipeline);
    });
}

#[test]
fn sequential_stages_overlap() {
    within(|| {
        let both = Arc::new(Barrier::new(2));
        let other = Arc::clone(&both);
        // Each item of the first stage waits for an item that is in the second.
        let pipeline = pipeline![
            sequential!(move |n: u32| {
                if n > 0 {
                    both.wait();
                }
                Some(n)
            }),
            sequential!(move |n: u32| {
                if n < 9 {
                    other.wait();
                }
                n
            })
        ];
        (0..10).for_each(|n| pipeline.post(n).unwrap());
        assert_eq!(pipeline.collect(), (0..10).collect::<Vec<_>>());
    });
}

#[test]
fn an_item_that_is_slow_after_quick_ones_holds_up_no_other() {
    within(|| {
        let (sender, receiver) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let (begun, has_begun) = channel();
        let pipeline = pipeline![
            parallel!(
                {
                    let (sender, receiver, begun) = (sender.clone(), Arc::clone(&receiver), begun.clone());
                    move |n: u64| {
                        // Fast items teach the pipeline that one worker is enough. Then one item waits for
                        // the next.
                        match n {
                            50_000 => {
                                begun.send(()).unwrap();
                                receiver.lock().unwrap().recv().unwrap();
                            }
                            50_001 => sender.send(()).unwrap(),
                            _ => {}
                        }
                        Some(n)
                    }
                },
                2
            ),
            collect_ordered!()
        ];
        (0..=50_000).for_each(|n| pipeline.post(n).unwrap());
        // This item must not be in the same batch as the one that waits for it.
        has_begun.recv().unwrap();
        pipeline.post(50_001).unwrap();
        assert_eq!(pipeline.collect(), (0..=50_001).collect::<Vec<_>>());
    });
}

#[test]
fn stages_overlap_as_far_as_there_are_processors() {
    within(|| {
        let processors = anabranch::default_workers();
        let workers = |pipeline: Pipeline<u64, u64>| pipeline.plan().settings.workers;
        assert_eq!(workers(pipeline![parallel!(double, 7), collect!()]), 7);
        let pipeline = pipeline![parallel!(double, 1), sequential!(double), sequential!(|n| n)];
        assert_eq!(workers(pipeline), processors.min(3));
        let pipeline = pipeline![parallel!(double, 1), sequential!(double), collect_ordered!()];
        assert_eq!(workers(pipeline), processors.min(2));
    });
}

#[test]
fn an_item_goes_through_before_the_next_is_posted() {
    within(|| {
        for replicas in [1, 3] {
            let (sender, receiver) = channel();
            let pipeline = pipeline![
                parallel!(double, replicas),
                sequential_ordered!(move |n: u64| sender.send(n).unwrap())
            ];
            for n in 0..100 {
                pipeline.post(n).unwrap();
                assert_eq!(receiver.recv(), Ok(2 * n));
            }
        }
    });
}

#[test]
fn no_more_items_than_promised_are_in_a_pipeline() {
    within(|| {
        let live = Arc::new(AtomicUsize::new(0));
        let is_open = Arc::new(AtomicBool::new(false));
        let stage = Arc::clone(&is_open);
        let mut pipeline = pipeline![
            parallel!(Some::<Live>, 3),
            sequential_ordered!(move |item: Live| {
                while !stage.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                drop(item);
            })
        ];
        std::thread::scope(|scope| {
            let posting = scope.spawn(|| {
                for _ in 0..100_000 {
                    pipeline.post(Live::new(&live)).unwrap();
                    // One more item may have come through when the first was taken.
                    assert!(live.load(Ordering::SeqCst) <= BOUND + 1);
                }
            });
            while live.load(Ordering::SeqCst) < BOUND / 2 {
                std::thread::yield_now();
            }
            assert!(!posting.is_finished());
            is_open.store(true, Ordering::SeqCst);
        });
        pipeline.end_and_wait();
        assert_eq!(live.load(Ordering::SeqCst), 0);
        // The results have no size, so there can be a hundred thousand of them.
        assert_eq!(pipeline.collect().len(), 100_000);
    });
}

#[test]
fn no_more_items_than_promised_are_in_a_pipeline_of_quick_items_that_own_nothing() {
    within(|| {
        // As many items may wait before the first stage as may be in the stages.
        const ROOM: usize = 4_096;
        let through = Arc::new(AtomicUsize::new(0));
        let count = || {
            let through = Arc::clone(&through);
            move |n: u64| {
                // At times the pipeline fills up.
                if n.is_multiple_of(40_000) {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                through.fetch_add(1, Ordering::SeqCst);
            }
        };
        let ordered = pipeline![parallel!(double, 2), sequential_ordered!(count())];
        // As many items may be behind the parallel stage.
        let unordered = pipeline![parallel!(double, 2), sequential!(count())];
        for (mut pipeline, rooms) in [(ordered, 2), (unordered, 3)] {
            through.store(0, Ordering::SeqCst);
            for n in 0..200_000 {
                pipeline.post(n).unwrap();
                let inside = n as usize + 1 - through.load(Ordering::SeqCst);
                assert!(inside <= rooms * ROOM + 1, "{inside} with {rooms} rooms");
            }
            pipeline.end_and_wait();
            assert_eq!(through.load(Ordering::SeqCst), 200_000);
        }
    });
}

#[test]
fn what_waits_before_the_stages_is_bounded_by_what_they_make_of_it() {
    within(|| {
        // Numbers own no memory, but the strings that are made of them do.
        let is_open = Arc::new(AtomicBool::new(false));
        let stage = Arc::clone(&is_open);
        let mut pipeline = pipeline![
            parallel!(|n: usize| Some(n.to_string()), 2),
            sequential_ordered!(move |_: String| {
                while !stage.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
            })
        ];
        let posted = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let posting = scope.spawn(|| {
                for n in 0..1_000 {
                    pipeline.post(n).unwrap();
                    posted.fetch_add(1, Ordering::SeqCst);
                }
            });
            assert!(stays_true(|| !posting.is_finished() && posted.load(Ordering::SeqCst) <= BOUND + 1));
            is_open.store(true, Ordering::SeqCst);
        });
        pipeline.end_and_wait();
    });
}

#[test]
fn several_threads_post() {
    within(|| {
        let pipeline = pipeline![parallel!(double, 2), collect!()];
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let pipeline = &pipeline;
                scope.spawn(move || (0..500).for_each(|n| pipeline.post(3 * n + thread).unwrap()));
            }
        });
        let mut collected = pipeline.collect();
        collected.sort();
        assert_eq!(collected, (0..1_500).map(|n| 2 * n).collect::<Vec<_>>());
    });
}

#[test]
fn ending_does_not_wait_and_takes_no_more_items() {
    within(|| {
        let gate = Arc::new(Barrier::new(2));
        let stage = Arc::clone(&gate);
        let mut pipeline = pipeline![
            sequential!(move |n: u32| {
                stage.wait();
                Some(n)
            }),
            collect_ordered!()
        ];
        pipeline.post(1).unwrap();
        pipeline.end();
        assert_eq!(pipeline.post(2), Err(ItemPostError::StreamEnded));
        gate.wait();
        pipeline.end_and_wait();
        pipeline.end_and_wait();
        assert_eq!(pipeline.post(3), Err(ItemPostError::StreamEnded));
        assert_eq!(pipeline.collect(), [1]);
    });
}

#[test]
fn a_dropped_pipeline_finishes_what_was_posted() {
    within(|| {
        let seen = Arc::new(AtomicUsize::new(0));
        let stage = Arc::clone(&seen);
        let pipeline = pipeline![
            parallel!(double, 2),
            sequential!(move |_| {
                stage.fetch_add(1, Ordering::SeqCst);
            })
        ];
        (0..100).for_each(|n| pipeline.post(n).unwrap());
        drop(pipeline);
        assert_eq!(seen.load(Ordering::SeqCst), 100);
        // A pipeline to which nothing was posted.
        drop(pipeline![parallel!(double, 2), collect!()]);
    });
}

/// A pipeline whose stage panics at item 20, and what its last stage has seen.
fn panicking() -> (Pipeline<u64, ()>, Arc<Mutex<Vec<u64>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let stage = Arc::clone(&seen);
    let pipeline = pipeline![
        parallel!(
            |n: u64| {
                assert!(n != 20 && n != 21, "item {n}");
                Some(n)
            },
            3
        ),
        sequential_ordered!(move |n: u64| stage.lock().unwrap().push(n))
    ];
    (pipeline, seen)
}

#[test]
fn a_panic_reaches_the_caller_once_with_its_payload_behind_the_items_before_it() {
    within(|| {
        let before: Vec<u64> = (0..20).collect();
        // The panic comes through a post, even one that waits for room.
        let (mut pipeline, seen) = panicking();
        let result = catch_unwind(AssertUnwindSafe(|| {
            for n in 0.. {
                pipeline.post(n).unwrap();
            }
        }));
        assert_eq!(payload(result), "item 20");
        assert_eq!(*seen.lock().unwrap(), before);
        assert_eq!(pipeline.post(0), Err(ItemPostError::StreamEnded));
        pipeline.end_and_wait();
        assert_eq!(pipeline.collect(), []);

        // The panic comes through each way to end the pipeline.
        for way in 0..3 {
            let (mut pipeline, seen) = panicking();
            (0..21).for_each(|n| drop(catch_unwind(AssertUnwindSafe(|| pipeline.post(n)))));
            let result = catch_unwind(AssertUnwindSafe(|| match way {
                0 => pipeline.end_and_wait(),
                1 => drop(pipeline.collect()),
                _ => drop(pipeline),
            }));
            assert_eq!(payload(result), "item 20", "{way}");
            assert_eq!(*seen.lock().unwrap(), before, "{way}");
        }

        // If the caller itself panics, it keeps its own panic.
        let result = catch_unwind(|| {
            let (pipeline, _) = panicking();
            (0..21).for_each(|n| pipeline.post(n).unwrap());
            panic!("the caller's");
        });
        assert_eq!(payload(result), "the caller's");
    });
}

#[test]
fn a_panic_ends_the_pipeline_without_another_post_and_the_next_one_has_it() {
    within(|| {
        for replicas in [1, 2] {
            let (sender, receiver) = channel();
            let pipeline = pipeline![
                parallel!(|n: u64| if n == 3 { panic!("item {n}") } else { Some(n) }, replicas),
                sequential_ordered!(move |n: u64| sender.send(n).unwrap())
            ];
            (0..4).for_each(|n| pipeline.post(n).unwrap());
            // This receives until the stages are dropped.
            assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
            let next = catch_unwind(AssertUnwindSafe(|| pipeline.post(4)));
            assert_eq!(payload(next), "item 3");
            assert_eq!(pipeline.post(5), Err(ItemPostError::StreamEnded));
        }
    });
}

#[test]
fn what_the_expression_of_a_stage_borrows_is_given_back_before_the_next() {
    within(|| {
        let factor = Mutex::new(3);
        let times = |factor: u64| move |n: u64| Some(factor * n);
        let pipeline = pipeline![
            parallel!(times(*factor.lock().unwrap()), 2),
            sequential!(times(*factor.lock().unwrap())),
            parallel!(times(*factor.lock().unwrap()), 2),
            collect!()
        ];
        pipeline.post(1).unwrap();
        assert_eq!(pipeline.collect(), [27]);
    });
}

#[test]
fn quick_items_that_go_together_are_in_order_and_end_at_a_panic_as_single_ones_do() {
    within(|| {
        for replicas in [1, 2, 3] {
            let last = 30_000 + 7 * replicas as u64;
            let seen = Arc::new(Mutex::new(Vec::new()));
            let stage = Arc::clone(&seen);
            let pipeline = pipeline![
                parallel!(
                    move |n: u64| {
                        assert!(n < last, "item {n}");
                        (n & 3 > 0).then_some(n)
                    },
                    replicas
                ),
                sequential_ordered!(move |n: u64| {
                    stage.lock().unwrap().push(n);
                    Some(n)
                }),
                parallel!(double, replicas),
                collect_ordered!()
            ];
            let result = catch_unwind(AssertUnwindSafe(|| {
                for n in 0.. {
                    pipeline.post(n).unwrap();
                }
            }));
            assert_eq!(payload(result), format!("item {last}"));
            assert_eq!(*seen.lock().unwrap(), (0..last).filter(|n| n & 3 > 0).collect::<Vec<_>>());
        }
    });
}

#[test]
fn a_stage_without_replicas_is_refused_at_once() {
    within(|| {
        for replicas in [0, -1] {
            let result = catch_unwind(|| pipeline![parallel!(double, replicas), collect!()]);
            let expected = format!("`parallel!(stage, {replicas})`: a stage has 1 replica or more");
            assert_eq!(payload(result), expected);
        }
    });
}

#[test]
fn an_endless_stream_keeps_nothing() {
    within(|| {
        let live = Arc::new(AtomicUsize::new(0));
        let pipeline = pipeline![parallel!(Some::<Live>, 2), sequential!(|_: Live| {})];
        for _ in 0..200_000 {
            pipeline.post(Live::new(&live)).unwrap();
            // As many items may be behind the parallel stage, whose results are taken as they finish, and one
            // more, as above.
            let inside = live.load(Ordering::SeqCst);
            assert!(inside <= BOUND + BOUND / 2 + 1, "{inside}");
        }
    });
}

/// For each thread of a pipeline, whether it sleeps, and how often it has gone to sleep.
#[cfg(target_os = "linux")]
fn threads() -> Vec<(bool, String)> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let status = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok());
    let field = |status: &str, name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line[name.len().min(line.len())..].trim().to_owned()
    };
    let ours = status.filter(|status| field(status, "Name:").starts_with("ssp"));
    ours.map(|status| (field(&status, "State:").starts_with('S'), field(&status, "voluntary_ctxt_switches:")))
        .collect()
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_wakes_up_while_there_is_nothing_to_do() {
    within(|| {
        let pipeline = pipeline![parallel!(double, 3), sequential_ordered!(double), collect!()];
        pipeline.post(1).unwrap();
        // Other tests may run pipelines at the same time. Their threads come to rest or end.
        loop {
            let before = threads();
            std::thread::sleep(std::time::Duration::from_millis(30));
            if before.len() >= 4 && before.iter().all(|&(sleeps, _)| sleeps) && threads() == before {
                break;
            }
        }
        assert_eq!(pipeline.collect(), [4]);
    });
}
