//! Runs while the system creates no more threads.
//!
//! A program of its own, because it takes the memory for further threads away from the whole process. It calls itself with
//! large stacks, so that memory is left for everything else.

#![cfg(target_os = "linux")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use anabranch::ssp::{collect, parallel, pipeline};
use anabranch::{CancelToken, CountWindows, Monitor, Offload, Pool, Stream};
use anabranch_network::Network;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Long enough on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The size of a thread's stack, in bytes.
const STACK: u64 = 256 << 20;
/// For how many more threads there is memory.
const THREADS: u64 = 6;

/// How much memory this process has mapped, in bytes.
fn mapped() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

/// Runs `body` while the process has memory for few more threads. Returns the message of its panic, if it panics.
fn with_few_threads(what: &str, body: impl FnOnce() + Send + 'static) -> Option<String> {
    let (done, finished) = channel();
    let thread = std::thread::spawn(move || {
        let before = getrlimit(Resource::As);
        let most = mapped() + THREADS * STACK + STACK / 2;
        setrlimit(Resource::As, Rlimit { current: Some(most), maximum: before.maximum }).unwrap();
        let ended = catch_unwind(AssertUnwindSafe(body));
        setrlimit(Resource::As, before).unwrap();
        done.send(()).unwrap();
        ended.err()
    });
    finished.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("{what} hangs"));
    let payload = thread.join().unwrap()?;
    let text = payload.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| payload.downcast_ref::<&str>().unwrap().to_string()))
}

#[test]
fn streams_end_when_there_are_no_more_threads() {
    const STACKS: &str = "RUST_MIN_STACK";
    if std::env::var(STACKS).is_ok_and(|size| size == STACK.to_string()) {
        return try_all();
    }
    let itself = std::env::current_exe().unwrap();
    let test = "streams_end_when_there_are_no_more_threads";
    let mut command = Command::new(itself);
    command.args(["--exact", test]).env(STACKS, STACK.to_string());
    let output = command.env("ANABRANCH_WORKERS", usize::MAX.to_string()).output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{}: {text}", output.status);
}

fn try_all() {
    // The first streams have filled their places when the thread of a later one cannot be created.
    let text = with_few_threads("select_all", || {
        let streams = (0..100).map(|_| Stream::from_iter(0..100_000u64));
        let _ = Stream::select_all(streams).count();
    });
    assert!(text.as_deref().is_some_and(|text| text.contains("of 100 in `select_all`")), "{text:?}");

    let text = with_few_threads("the number of workers from the environment", || {
        assert_eq!(Stream::from_iter(0..2_000u64).map(|n| n + 1).sum::<u64>(), 2_001_000);
        let windows = Stream::from_iter(0..2_000u64).windows_by_key(|n| n % 2, CountWindows::tumbling(1_000));
        assert_eq!(windows.count(), 2);
    });
    assert_eq!(text, None);

    for workers in [100, usize::MAX - 1, usize::MAX] {
        let text = with_few_threads("workers", move || {
            let stream = Stream::from_iter(0..2_000u64).workers(workers).burst(1);
            let slowly = stream.map(|n| {
                std::thread::sleep(Duration::from_micros(50));
                n + 1
            });
            assert_eq!(slowly.collect::<Vec<_>>(), (1..=2_000).collect::<Vec<_>>());
        });
        assert_eq!(text, None);
        let text = with_few_threads("a pool", move || {
            let pool = Pool::new(workers);
            assert_eq!(Stream::from_iter(0..2_000u64).pool(&pool).map(|n| n + 1).sum::<u64>(), 2_001_000);
        });
        assert_eq!(text, None);
    }

    // Each form of a run that needs a thread, begun until the system has none. The message names what was written.
    fn squares() -> Stream<'static, u64> {
        Stream::from_iter(0..2_000u64).workers(1).map(|n| n * n)
    }
    refuses("the source `channel`", || {
        keep_running(|| Stream::<u64>::channel(1), |stream| stream.workers(1))
    });
    refuses("the source `from_async`", || {
        let waiting = || ((), Stream::from_async(futures::stream::pending::<u64>()));
        keep_running(waiting, |stream| stream.workers(1));
    });
    refuses("the dedicated stage `serial_map`", || {
        let serial = |stream: Stream<'static, u64>| stream.dedicated().serial_map(|n| n);
        (0..50).fold(Stream::from_iter(0..2_000u64).workers(2), |stream, _| serial(stream)).for_each(drop);
    });
    refuses("the dedicated stage `stored`", || {
        let stored = |stream: Stream<'static, u64>| stream.named("stored").dedicated().serial_map(|n| n);
        (0..50).fold(Stream::from_iter(0..2_000u64).workers(2), |stream, _| stored(stream)).for_each(drop);
    });
    refuses("`into_iter`", || keep(|| squares().into_iter()));
    refuses("`into_iter`", || keep(|| squares().map(Ok::<_, String>).try_map(|n| n).into_iter()));
    refuses("`into_async`", || keep(|| squares().into_async()));
    refuses("`with_iter`", || nest(&|inner| squares().with_iter(|_| inner())));
    refuses("`watch`", || {
        nest(&|inner| {
            squares().watch(&Monitor::new()).for_each(|n| {
                if n == 0 {
                    inner()
                }
            })
        })
    });
    refuses("`Offload`", || keep(|| Offload::start(1, 1, |n: u64| n)));
    refuses("the stream in `chain`", || {
        nest(&|inner| {
            squares().chain(squares()).for_each(|n| {
                if n == 0 {
                    inner()
                }
            });
        })
    });
    refuses("the stream in `interleave`", || {
        nest(&|inner| {
            squares().interleave(squares()).for_each(|n| {
                if n == 1 {
                    inner()
                }
            });
        })
    });
    refuses("the stream in `zip`", || {
        nest(&|inner| {
            squares().zip(squares()).for_each(|n| {
                if n.0 == 0 {
                    inner()
                }
            })
        })
    });
    refuses("the stream in `from_iter`", || {
        nest(&|inner| {
            Stream::from_iter(squares()).workers(1).for_each(|n| {
                if n == 0 {
                    inner()
                }
            });
        })
    });
    refuses("in `select_all`", || {
        nest(&|inner| {
            Stream::select_all([squares(), squares()]).workers(1).for_each(|n| {
                if n == 4 {
                    inner()
                }
            });
        })
    });
    refuses("in `chunks_timeout`", || {
        nest(&|inner| {
            let mut is_first = true;
            squares().chunks_timeout(2, LIMIT).workers(1).for_each(|_| {
                if std::mem::take(&mut is_first) {
                    inner()
                }
            });
        })
    });
    refuses("`pipeline!`", || keep(|| pipeline![parallel!(|n: u64| Some(n), 1), collect!()]));
    refuses("process \"", || {
        let mut net = Network::<String>::new();
        for _ in 0..100 {
            let (mut give, take) = net.record::<u64>(1);
            net.process("source", move |_| {
                (0..9).for_each(|n| _ = give.push(n));
                Ok(())
            });
            net.process("sum", move |_| {
                take.into_iter().for_each(drop);
                Ok(())
            });
        }
        panic!("{}", net.run().unwrap_err());
    });

    // A pool that has no thread: the caller works alone, and a stream without a caller has a thread of its own or says so.
    refuses("`into_iter`", || {
        keep(|| {
            let (sender, stream) = Stream::<u64>::channel(1);
            (sender, stream.pool(Arc::new(Pool::new(1))).map(|n| n).into_iter())
        });
    });
}

/// Checks that `begin` panics because there is no more thread, with a message that names `what` was written.
fn refuses(what: &'static str, begin: impl FnOnce() + Send + 'static) {
    let text = with_few_threads(what, begin);
    let begins = text.as_deref().is_some_and(|text| text.contains("the system cannot create a thread for "));
    assert!(begins && text.as_deref().is_some_and(|text| text.contains(what)), "{what}: {text:?}");
}

/// Makes values, and keeps them, until a panic.
fn keep<T>(mut make: impl FnMut() -> T) {
    let mut kept = Vec::new();
    for _ in 0..100 {
        kept.push(make());
    }
}

/// Calls `run`, which is to call its argument while its threads live, inside of itself, until a panic.
fn nest(run: &(dyn Fn(&(dyn Fn() + Sync)) + Sync)) {
    fn deeper(run: &(dyn Fn(&(dyn Fn() + Sync)) + Sync), left: usize) {
        if left > 0 {
            run(&|| deeper(run, left - 1));
        }
    }
    deeper(run, 20);
}

/// Runs streams that wait, each on a thread that the test has started before, until a panic, which it resumes.
fn keep_running<P>(
    make: impl Fn() -> (P, Stream<'static, u64>),
    change: impl Fn(Stream<'static, u64>) -> Stream<'static, u64>,
) {
    let mut posts = Vec::new();
    let mut tokens = Vec::new();
    let (ended, end) = channel();
    let mut threads = Vec::new();
    for _ in 0..THREADS + 2 {
        let (sender, stream) = make();
        let token = CancelToken::new();
        let stream = change(stream).cancel_by(&token);
        posts.push(sender);
        tokens.push(token);
        let ended = ended.clone();
        let run = move || {
            let text = catch_unwind(AssertUnwindSafe(|| stream.count())).err();
            ended.send(text.map(|text| *text.downcast::<String>().unwrap())).unwrap();
        };
        // A small stack, so that there is memory for this thread.
        threads.push(std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap());
    }
    let text = end.recv_timeout(LIMIT).expect("one of them has no thread");
    tokens.iter().for_each(CancelToken::cancel);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    panic!("{}", text.expect("a stream that waits does not end"));
}
