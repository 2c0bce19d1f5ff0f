//! Futures in a stage: how many are under way, what holds nothing up, what ends them (C1, C2, C6, C10).

use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::contract_support::watchdog::within;
use anabranch::{CancelToken, Pool, Stream, TryStream};

/// A number that futures wait for. It wakes them.
#[derive(Default)]
struct Count {
    state: Mutex<(usize, Vec<Waker>)>,
}

impl Count {
    fn add(&self) -> usize {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        let (now, wakers) = (state.0, std::mem::take(&mut state.1));
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        now
    }

    async fn reaches(&self, number: usize) {
        poll_fn(|context| {
            let mut state = self.state.lock().unwrap();
            if state.0 >= number {
                return Poll::Ready(());
            }
            state.1.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Counts the values that exist.
#[derive(Clone)]
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// How the streams of these tests run.
fn ways() -> Vec<fn(Stream<'static, usize>) -> Stream<'static, usize>> {
    static POOL: OnceLock<Arc<Pool>> = OnceLock::new();
    vec![|stream| stream.inline(), |stream| stream.workers(1), |stream| stream.workers(3), |stream| {
        stream.pool(POOL.get_or_init(|| Arc::new(Pool::new(2))))
    }]
}

#[test]
fn as_many_futures_are_under_way_as_may_be_with_any_number_of_workers() {
    within(|| {
        for way in ways() {
            // Each future waits until 64 have begun, so fewer would wait for ever. The last ones wait for none.
            let (begun, now, most) = (Count::default(), AtomicUsize::new(0), AtomicUsize::new(0));
            let (begun, now, most) = (Arc::new(begun), Arc::new(now), Arc::new(most));
            let (seen, highest) = (Arc::clone(&begun), Arc::clone(&most));
            let stream = way(Stream::from_iter(0..200)).map_async(64, move |n| {
                let (begun, now) = (Arc::clone(&seen), Arc::clone(&now));
                highest.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                begun.add();
                async move {
                    begun.reaches(64).await;
                    now.fetch_sub(1, SeqCst);
                    n
                }
            });
            assert_eq!(stream.collect::<Vec<_>>(), (0..200).collect::<Vec<_>>());
            assert_eq!(most.load(SeqCst), 64);
        }
    });
}

#[test]
fn without_a_number_the_window_bounds_the_futures_and_the_results_behind_them() {
    within(|| {
        for way in ways() {
            // The first future waits until 8 have begun. Each result that has not left keeps another one from beginning.
            let (begun, now) = (Arc::new(Count::default()), Arc::new(AtomicUsize::new(0)));
            let most = Arc::new(AtomicUsize::new(0));
            let (seen, under_way, highest) = (Arc::clone(&begun), Arc::clone(&now), Arc::clone(&most));
            let stream = way(Stream::from_iter(0..100)).window(8).map_async(usize::MAX, move |n| {
                highest.fetch_max(under_way.fetch_add(1, SeqCst) + 1, SeqCst);
                seen.add();
                let begun = Arc::clone(&seen);
                async move {
                    if n == 0 {
                        begun.reaches(8).await;
                    }
                    n
                }
            });
            let mut next = 0;
            stream.for_each(|n| {
                assert_eq!(n, next);
                next += 1;
                now.fetch_sub(1, SeqCst);
            });
            // A result has left the stage when it is on its way to the end, which may have a window of them.
            assert!(
                (8..=16).contains(&most.load(SeqCst)),
                "{} were begun and not delivered",
                most.load(SeqCst)
            );
        }
    });
}

#[test]
fn a_slow_future_holds_up_no_other_one_up_to_a_window() {
    within(|| {
        for way in ways() {
            // Item 0 waits for item 30, although only one more future may be under way.
            let done = Arc::new(Count::default());
            let stream = way(Stream::from_iter(0..40)).window(32).map_async(2, move |n| {
                let done = Arc::clone(&done);
                async move {
                    if n == 0 {
                        done.reaches(30).await;
                    }
                    done.add();
                    n
                }
            });
            assert_eq!(stream.collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
        }
    });
}

#[test]
fn items_behind_a_slow_future_are_bounded() {
    within(|| {
        let (begun, blocked) = (Arc::new(AtomicUsize::new(0)), Arc::new(Count::default()));
        let (count, gate) = (Arc::clone(&begun), Arc::clone(&blocked));
        let stream = Stream::from_iter(0..1_000usize).workers(2).window(8).map_async(4, move |n| {
            count.fetch_add(1, SeqCst);
            let gate = Arc::clone(&gate);
            async move {
                if n == 0 {
                    gate.reaches(1).await;
                }
                n
            }
        });
        let mut results = stream.into_iter();
        while begun.load(SeqCst) < 8 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(20));
        assert!(begun.load(SeqCst) <= 4 + 8, "{} items were begun", begun.load(SeqCst));
        blocked.add();
        assert!(results.by_ref().eq(0..1_000));
    });
}

#[test]
fn futures_that_wake_themselves_let_others_go_first() {
    within(|| {
        for way in ways() {
            // Item 0 wakes itself at each poll until all the others have come.
            let others = Arc::new(AtomicUsize::new(0));
            let stream = way(Stream::from_iter(0..20)).window(32).map_async(3, move |n| {
                let others = Arc::clone(&others);
                async move {
                    if n > 0 {
                        others.fetch_add(1, SeqCst);
                        return n;
                    }
                    poll_fn(|context| {
                        if others.load(SeqCst) == 19 {
                            return Poll::Ready(());
                        }
                        context.waker().wake_by_ref();
                        Poll::Pending
                    })
                    .await;
                    n
                }
            });
            assert_eq!(stream.collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
        }
    });
}

#[test]
fn results_come_as_they_are_there_where_no_order_is_kept() {
    within(|| {
        for workers in [1, 3] {
            for before in [true, false] {
                // Item 0 waits until the sink has all others.
                let seen = Arc::new(Count::default());
                let others = Arc::clone(&seen);
                let stream = Stream::from_iter(0..10usize).workers(workers);
                let stream = if before { stream.unordered() } else { stream };
                let stream = stream.map_async(4, move |n| {
                    let seen = Arc::clone(&others);
                    async move {
                        if n == 0 {
                            seen.reaches(9).await;
                        }
                        n
                    }
                });
                let stream = if before { stream } else { stream.unordered() };
                let mut came = Vec::new();
                stream.for_each(|n| {
                    came.push(n);
                    seen.add();
                });
                assert_eq!(came.pop(), Some(0));
                came.sort_unstable();
                assert_eq!(came, (1..10).collect::<Vec<_>>());
            }
        }
    });
}

#[test]
fn a_result_does_not_wait_for_the_source() {
    within(|| {
        for inline in [true, false] {
            let (sender, stream) = Stream::channel(4);
            let stream = if inline { stream.inline() } else { stream.workers(1) };
            let (answer, answered) = std::sync::mpsc::channel();
            let wakers = Arc::new(Count::default());
            let woken = Arc::clone(&wakers);
            let run = std::thread::spawn(move || {
                stream
                    .map_async(4, move |n: usize| {
                        let woken = Arc::clone(&woken);
                        async move {
                            woken.reaches(n).await;
                            n
                        }
                    })
                    .for_each(|n| answer.send(n).unwrap());
            });
            for n in 1..=3 {
                sender.send(n).unwrap();
                std::thread::sleep(Duration::from_millis(1));
                wakers.add();
                assert_eq!(answered.recv().unwrap(), n, "before another item is posted");
            }
            drop(sender);
            run.join().unwrap();
        }
    });
}

#[test]
fn the_first_failure_in_the_order_of_the_items_comes_and_no_later_item_is_begun() {
    within(|| {
        for way in ways() {
            let (late, begun) = (Arc::new(Count::default()), Arc::new(AtomicUsize::new(0)));
            let count = Arc::clone(&begun);
            let stream = TryStream::<usize, &str>::from(way(Stream::from_iter(0..10_000)));
            let stream = stream.try_map_async(8, move |n| {
                count.fetch_add(1, SeqCst);
                let late = Arc::clone(&late);
                async move {
                    match n {
                        3 => {
                            late.reaches(1).await;
                            Err("three")
                        }
                        5 => {
                            late.add();
                            Err("five")
                        }
                        _ => Ok(n),
                    }
                }
            });
            let mut seen = Vec::new();
            assert_eq!(stream.window(16).for_each(|n| seen.push(n)), Err("three"));
            assert_eq!(seen, [0, 1, 2]);
            assert!(begun.load(SeqCst) <= 3 + 8 + 16);
        }
    });
}

#[test]
fn panics_of_the_function_of_the_future_and_of_its_drop_come_at_their_item() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    within(|| {
        for (place, way) in (0..3).flat_map(|place| ways().into_iter().map(move |way| (place, way))) {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let stream = way(Stream::from_iter(0..20)).map_async(4, move |n| {
                assert!(place != 0 || n != 7, "begun");
                async move {
                    assert!(place != 1 || n != 7, "polled");
                    let _bomb = (place == 2 && n == 7).then(|| Bomb);
                    n
                }
            });
            let into = Arc::clone(&seen);
            let run = AssertUnwindSafe(move || stream.for_each(|n| into.lock().unwrap().push(n)));
            let payload = catch_unwind(run).unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&["begun", "polled", "dropped"][place]));
            assert_eq!(*seen.lock().unwrap(), (0..7).collect::<Vec<_>>());
        }
    });
}

#[test]
fn a_cancel_drops_the_futures_and_waits_for_none() {
    within(|| {
        for way in ways() {
            let (alive, begun, token) = (Arc::default(), Arc::new(AtomicUsize::new(0)), CancelToken::new());
            let (count, starts) = (Arc::clone(&alive), Arc::clone(&begun));
            let stream = way(Stream::from_iter(0..100)).map_async(16, move |n| {
                let guard = Alive::new(&count);
                starts.fetch_add(1, SeqCst);
                async move {
                    pending::<()>().await;
                    drop(guard);
                    n
                }
            });
            let stop = token.clone();
            let canceller = std::thread::spawn(move || {
                while begun.load(SeqCst) < 16 {
                    std::thread::yield_now();
                }
                stop.cancel();
            });
            assert_eq!(stream.cancel_by(&token).count(), 0);
            canceller.join().unwrap();
            assert_eq!(alive.load(SeqCst), 0, "futures are left");
        }
    });
}

#[test]
fn an_end_that_needs_no_more_drops_the_futures() {
    within(|| {
        for way in ways() {
            let alive = Arc::default();
            let count = Arc::clone(&alive);
            let stream = way(Stream::from_iter(0..100)).map_async(16, move |n| {
                let guard = Alive::new(&count);
                async move {
                    if n >= 3 {
                        pending::<()>().await;
                    }
                    drop(guard);
                    n
                }
            });
            assert_eq!(stream.take(3).collect::<Vec<_>>(), [0, 1, 2]);
            assert_eq!(alive.load(SeqCst), 0, "futures are left");
        }
    });
}

#[test]
fn a_waker_that_outlives_its_run_does_no_harm() {
    within(|| {
        for way in ways() {
            let kept = Arc::new(Mutex::new(Vec::new()));
            let keeps = Arc::clone(&kept);
            let stream = way(Stream::from_iter(0..10)).map_async(4, move |n| {
                let kept = Arc::clone(&keeps);
                poll_fn(move |context| {
                    kept.lock().unwrap().push(context.waker().clone());
                    Poll::Ready(n)
                })
            });
            assert_eq!(stream.count(), 10);
            std::mem::take(&mut *kept.lock().unwrap()).into_iter().for_each(Waker::wake);
        }
    });
}

#[test]
fn timers_of_tokio_tick_in_the_runtime_that_is_named_and_panic_without_one() {
    let late = |n: usize| async move {
        tokio::time::sleep(Duration::from_millis((4 - n as u64 % 4) * 2)).await;
        n
    };
    within(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.unwrap();
        for way in ways() {
            let stream = way(Stream::from_iter(0..20)).map_async(8, late).on(runtime.handle());
            assert_eq!(stream.collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
            let run = AssertUnwindSafe(|| way(Stream::from_iter(0..20)).map_async(8, late).count());
            let payload = catch_unwind(run).unwrap_err();
            let message = payload.downcast_ref::<&str>().copied().unwrap_or_default();
            let own = payload.downcast_ref::<String>().map_or(message, String::as_str);
            assert!(own.contains("there is no reactor running"), "{own}");
        }
        let ticks = futures::stream::unfold(0, |n| async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            (n < 5).then_some((n, n + 1))
        });
        assert_eq!(Stream::from_async(ticks).on(runtime.handle()).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    });
}

#[test]
fn no_room_for_a_future_is_a_mistake_at_the_call() {
    const CHILD: &str = "ANABRANCH_TEST_NO_ROOM";
    let line = line!() + 2;
    if std::env::var_os(CHILD).is_some() {
        Stream::from_iter(0..3).map_async(0, |n| async move { n }).for_each(drop);
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "--nocapture", "map_async::no_room_for_a_future_is_a_mistake_at_the_call"]);
    let output = child.env(CHILD, "1").output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("`map_async(0, ..)`: there is room for 1 future or more"), "{message}");
    assert!(message.contains(&format!("map_async.rs:{line}:")), "{message}");
}
