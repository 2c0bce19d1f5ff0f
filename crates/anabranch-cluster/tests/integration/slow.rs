//! Slow lines: what passes takes about the time that its bytes need, and passes once.
//!
//! `cargo test -p anabranch-cluster --release --test integration slow::transfers -- --ignored --nocapture --test-threads=1` measures
//! transfers of 30 s at 0.4, 1 and 10 MB/s, with 150 ms each way. It takes about eight minutes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anabranch::Stream;
use anabranch_cluster::{Cluster, Event, prelude::*};

use crate::link::Link;
use crate::proxy::Proxy;
use crate::support::{Job, Server, function, have_server, options, within, work, worker};

/// A transfer over one slow line.
#[derive(Debug, Clone, Copy)]
struct Transfer {
    /// The bytes a second.
    rate: u64,
    delay: Duration,
    /// The line is that of the program, or else that of its worker.
    is_the_programs: bool,
    /// How many items, and the bytes of each and of its result.
    items: u64,
    item: usize,
    result: usize,
}

/// How many times what is needed was taken: of the time, and of the bytes.
fn measured(transfer: Transfer) -> (f64, f64) {
    let Transfer { rate, delay, is_the_programs, items, item, result } = transfer;
    let server = Server::start();
    let line = Proxy::slow("127.0.0.1", server.port(), rate, delay);
    let (ours, theirs) =
        if is_the_programs { (line.url(), server.url()) } else { (server.url(), line.url()) };
    let _worker = worker(&theirs, 2).start();
    // The lease of most tests is shorter than a message may wait on the line.
    let cluster = Cluster::connect_with(&ours, options().lease(Duration::from_secs(2))).unwrap();
    let remote = function(&cluster);
    // The worker is there.
    assert_eq!(Stream::from_iter([Job::new(0)]).map_remote(&remote).count(), Ok(1));
    let jobs: Vec<Job> = (0..items).map(|n| Job::new(n).sized(item, result)).collect();
    let expected: Vec<_> = jobs.iter().cloned().map(|job| work(job).unwrap()).collect();
    // Twice what is under way in two round trips. The items that are under way and the results that are count in one window.
    let trips = 2.0 * rate as f64 * 4.0 * delay.as_secs_f64();
    let longer = item.max(result) as f64;
    let window = ((trips / longer * (item + result) as f64 / longer) as usize).max(64);
    let (before, began) = (line.bytes(), Instant::now());
    let results = Stream::from_iter(jobs).window(window).map_remote(&remote).collect::<Vec<_>>().unwrap();
    let time = began.elapsed();
    assert!(results == expected);
    let passed: Vec<u64> = line.bytes().iter().zip(before).map(|(now, before)| now - before).collect();
    let needed = [items * item as u64, items * result as u64];
    let longest = *needed.iter().max().unwrap() as f64 / rate as f64;
    let needed_time = longest + 20.0 * delay.as_secs_f64();
    let passed: u64 = passed.iter().sum();
    let needed: u64 = needed.iter().sum();
    let (time, bytes) = (time.as_secs_f64() / needed_time, passed as f64 / needed as f64);
    println!("{transfer:?}: {needed_time:.1} s, {time:.2} times the time, {bytes:.2} times the bytes");
    (time, bytes)
}

/// Items and results of several lengths, for so many seconds, over either line.
fn transfers(rate: u64, delay: Duration, seconds: u64) -> Vec<Transfer> {
    let mut all = Vec::new();
    for is_the_programs in [false, true] {
        for (item, result) in [(4 << 20, 8), (8, 4 << 20), (100_000, 8), (8, 100_000), (10_000, 10_000)] {
            let items = (rate * seconds / item.max(result) as u64).max(1);
            all.push(Transfer { rate, delay, is_the_programs, items, item, result });
        }
    }
    all
}

#[test]
fn a_slow_line_carries_each_byte_once_and_is_busy_all_the_time() {
    if !have_server() {
        return;
    }
    within(Duration::from_secs(120), || {
        std::thread::scope(|scope| {
            for transfer in transfers(2_000_000, Duration::from_millis(20), 2) {
                scope.spawn(move || {
                    let (time, bytes) = measured(transfer);
                    // A busy machine takes longer, and answers late, so that a part or two are sent again. A transfer
                    // that begins again from 0 takes twice the bytes. `transfers` holds the targets, on a machine with nothing else to do.
                    assert!(time < 6.0, "{transfer:?} takes {time} times what it needs");
                    assert!(bytes < 1.4, "{transfer:?} sends {bytes} times what it needs");
                });
            }
        });
    });
}

/// Beats, bodies and leases share the queue of the link. A worker whose lease ends there gets its items twice.
#[test]
fn a_slow_link_with_a_long_queue_loses_no_worker_and_carries_each_byte_once() {
    if !have_server() {
        return;
    }
    within(Duration::from_secs(60), || {
        let rate = 400_000;
        let Some(link) = Link::new().filter(|link| link.slow(rate)) else {
            return abz_foreign::leave_out(
                "a slow link (network namespaces need root and the programs ip and tc)",
            );
        };
        let server = Server::at(&link.address(), &["-js"]);
        let _worker = link.inside(worker(&server.url(), 2)).start();
        let events = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&events);
        let options = options().on_event(move |event| told.lock().unwrap().push(event.clone()));
        let cluster = Cluster::connect_with(&server.url(), options).unwrap();
        let remote = function(&cluster);
        assert_eq!(Stream::from_iter([Job::new(0)]).map_remote(&remote).count(), Ok(1));
        let (items, length) = (160, 10_000);
        let before = link.bytes();
        let jobs = Stream::from_iter((0..items).map(|n| Job::new(n).sized(length, length))).window(256);
        assert_eq!(jobs.map_remote(&remote).count(), Ok(items as usize));
        // The link counts the headers of TCP and IP, too, and what TCP sends again on a busy machine. A worker that loses its lease
        // takes twice the bytes.
        let bytes = (link.bytes() - before) as f64 / (2 * items * length as u64) as f64;
        assert!(bytes < 1.5, "it carries {bytes} times what it needs");
        let left = |event: &Event| matches!(event, Event::Left { .. });
        assert!(!events.lock().unwrap().iter().any(left), "{events:?}");
    });
}

/// Transfers of half a minute, so many at once.
fn take_what_they_need(rate: u64, at_once: usize) {
    let mut worst = (0.0_f64, 0.0_f64);
    for transfers in transfers(rate, Duration::from_millis(150), 30).chunks(at_once) {
        std::thread::scope(|scope| {
            let all = transfers.iter().map(|transfer| scope.spawn(|| measured(*transfer)));
            for measured in all.collect::<Vec<_>>() {
                let (time, bytes) = measured.join().unwrap();
                worst = (worst.0.max(time), worst.1.max(bytes));
            }
        });
    }
    assert!(worst.0 <= 1.3 && worst.1 <= 1.1, "at worst {worst:?} times the time and the bytes");
}

#[test]
#[ignore = "it takes a minute"]
fn transfers_at_400_kb_a_second_take_what_they_need() {
    take_what_they_need(400_000, 10);
}

#[test]
#[ignore = "it takes a minute"]
fn transfers_at_1_mb_a_second_take_what_they_need() {
    take_what_they_need(1_000_000, 10);
}

#[test]
#[ignore = "it takes six minutes"]
fn transfers_at_10_mb_a_second_take_what_they_need() {
    // Quick lines need processors, too.
    take_what_they_need(10_000_000, 1);
}
