//! What happens when the system creates no more threads.
//!
//! A program of its own, because it takes the memory for further threads away from the whole process. It calls itself with
//! large stacks, so that memory is left for everything else.

#![cfg(target_os = "linux")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use anabranch::{CountWindows, Monitor, Pool, Stream};
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
    assert!(
        text.as_deref().is_some_and(|text| text.contains("a thread for each of 100 streams")),
        "{text:?}"
    );

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

    let text = with_few_threads("dedicated stages", || {
        let mut stream = Stream::from_iter(0..2_000u64).workers(2).dedicated();
        for _ in 0..50 {
            stream = stream.serial(|n| n).dedicated();
        }
        stream.for_each(drop);
    });
    assert!(text.as_deref().is_some_and(|text| text.contains("a dedicated stage, `serial`")), "{text:?}");

    // The message names what was written.
    let text = with_few_threads("channels", || {
        let mut streams = Vec::new();
        for _ in 0..THREADS + 2 {
            let (post, stream) = Stream::<u8>::channel(1);
            post.post(1).unwrap();
            streams.push(post);
            let (sender, receiver) = channel();
            std::thread::Builder::new()
                .stack_size(1 << 20)
                .spawn(move || {
                    let text = catch_unwind(AssertUnwindSafe(|| {
                        stream.workers(1).for_each(|n| sender.send(n).unwrap())
                    }))
                    .err();
                    text.map(|text| *text.downcast::<String>().unwrap())
                })
                .map(|thread| {
                    if receiver.recv().is_err() {
                        panic!("{}", thread.join().unwrap().unwrap())
                    }
                })
                .unwrap();
        }
    });
    assert!(
        text.as_deref().is_some_and(|text| text.contains("a thread for the source `channel`")),
        "{text:?}"
    );

    let text = with_few_threads("iterators and watched streams", || {
        let mut iterators = Vec::new();
        let monitor = Monitor::new();
        for _ in 0..100 {
            let stream = Stream::from_iter(0..2_000u64).workers(1).watch(&monitor);
            iterators.push(stream.map(|n| n).into_iter());
        }
    });
    assert!(text.as_deref().is_some_and(|text| text.contains("thread")), "{text:?}");
}
