//! Items that travel through a server.

use std::time::Duration;

use anabranch::{ReportSlot, Stream};
use anabranch_cluster::{RemoteError, prelude::*};

use crate::support::{Act, Fault, Job, Server, function, have_server, within, work};

const TIME: Duration = Duration::from_secs(60);

#[test]
fn results_come_in_the_order_of_the_items_from_several_workers() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let _workers = [server.worker(1), server.worker(3)];
        let cluster = server.cluster();
        let remote = function(&cluster);
        let jobs = (0..2_000).map(|n| Job::new(n).sized(n as usize % 900, n as usize % 700));
        let expected: Vec<_> = jobs.clone().map(|job| work(job).unwrap()).collect();
        let results = Stream::from_iter(jobs).window(300).map_remote(&remote).collect::<Vec<_>>();
        assert_eq!(results.unwrap(), expected);
        let report = remote.report().unwrap();
        assert_eq!(report.items, 2_000);
        assert_eq!(report.workers.iter().map(|worker| worker.items).sum::<u64>(), 2_000);
        assert!(report.batches < 1_500, "small items travel together: {report}");
    });
}

#[test]
fn the_first_failure_comes_behind_the_results_before_it() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let _worker = server.worker(2);
        let cluster = server.cluster();
        let remote = function(&cluster);
        for (act, failure) in [
            (Act::Fail, RemoteError::Own(Fault(30))),
            (Act::Panic, RemoteError::Panic { item: 30, message: "job 30 panics".to_owned() }),
        ] {
            let jobs =
                (0..200).map(move |n| Job::new(n).act(if n >= 30 { act.clone() } else { Act::Compute }));
            let mut seen = Vec::new();
            let run =
                Stream::from_iter(jobs).window(16).map_remote(&remote).for_each(|result| seen.push(result));
            assert_eq!(run, Err(failure));
            assert_eq!(seen, (0..30).map(|n| work(Job::new(n)).unwrap()).collect::<Vec<_>>());
        }
        // The same function serves the next stream.
        let jobs = Stream::from_iter((0..50).map(Job::new));
        assert_eq!(jobs.map_remote(&remote).count(), Ok(50));
    });
}

#[test]
fn two_programs_share_the_workers() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let _workers = [server.worker(1), server.worker(1)];
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let cluster = server.cluster();
                    let jobs = Stream::from_iter((0..300).map(Job::new)).window(20);
                    assert_eq!(jobs.map_remote(&function(&cluster)).count(), Ok(300));
                });
            }
        });
    });
}

#[test]
fn the_report_has_a_line_for_each_worker_and_says_where_cheap_items_belong() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let workers = [server.worker(1), server.worker(2)];
        let cluster = server.cluster();
        let remote = function(&cluster);
        let report = |count: u64, time: u64| {
            let jobs = (0..count).map(move |n| Job::new(n).time(Duration::from_micros(time)));
            let slot = ReportSlot::new();
            let run = Stream::from_iter(jobs).window(64).map_remote(&remote).report_to(&slot).count();
            let report = slot.take().unwrap();
            assert_eq!(run, Ok(count as usize));
            report.to_string()
        };
        let dear = report(200, 3_000);
        assert!(dear.contains("\nCalls of work: 200 items in 200 messages\n  An item waits "), "{dear}");
        for (worker, threads) in workers.iter().zip(["1 thread", "2 threads"]) {
            assert!(dear.contains(&format!(":{}, {threads}: ", worker.id())), "{dear}");
        }
        assert!(!dear.contains("run it here"), "{dear}");
        let cheap = report(3_000, 0);
        assert!(cheap.contains("\nCalls of work: 3000 items in "), "{cheap}");
        assert!(cheap.contains(": run it here."), "{cheap}");
        println!("{dear}\n\n{cheap}");
    });
}
