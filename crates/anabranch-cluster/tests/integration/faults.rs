//! Lost workers, servers and programs: the output stays that of the loop.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anabranch::Stream;
use anabranch_cluster::{Cluster, Event, RemoteError, prelude::*};
use bytes::Bytes;

use crate::fleet::Fleet;
use crate::support::{
    Act, Job, Process, Server, function, have_server, options, queues, role, within, work, worker,
};

const TIME: Duration = Duration::from_secs(60);

/// Runs jobs, and calls `fault` when the end has the result number `at`. The output must be that of the loop.
fn runs_like_the_loop(
    cluster: &Cluster,
    jobs: Vec<Job>,
    window: usize,
    at: usize,
    fault: impl FnOnce() + Send,
) {
    let expected: Vec<Bytes> = jobs.iter().cloned().map(|job| work(job).unwrap()).collect();
    let (mut seen, mut fault) = (Vec::new(), Some(fault));
    let run = Stream::from_iter(jobs).window(window).map_remote(&function(cluster)).for_each(|result| {
        seen.push(result);
        if seen.len() == at
            && let Some(fault) = fault.take()
        {
            fault();
        }
    });
    assert_eq!(run, Ok(()));
    assert!(seen == expected, "the output is not that of the loop");
}

fn jobs(count: u64) -> Vec<Job> {
    (0..count)
        .map(|n| Job::new(n).sized(n as usize * 10, n as usize).time(Duration::from_millis(n % 4)))
        .collect()
}

#[test]
fn a_worker_that_is_killed_loses_nothing() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let (first, _second) = (server.worker(2), server.worker(2));
        runs_like_the_loop(&server.cluster(), jobs(300), 32, 40, || first.signal("KILL"));
    });
}

#[test]
fn a_worker_that_stops_and_goes_on_gives_no_result_twice() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let (first, _second) = (server.worker(2), server.worker(2));
        let cluster = server.cluster();
        runs_like_the_loop(&cluster, jobs(300), 32, 40, || first.signal("STOP"));
        // It comes back in the middle of the next run.
        runs_like_the_loop(&cluster, jobs(300), 32, 40, || first.signal("CONT"));
    });
}

#[test]
fn a_server_that_is_killed_and_back_loses_nothing() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let mut server = Server::start();
        let _workers = [server.worker(2), server.worker(1)];
        let cluster = server.cluster();
        for _ in 0..3 {
            runs_like_the_loop(&cluster, jobs(200), 32, 40, || server.restart());
        }
    });
}

/// This may take longer than 10 s: a queue is deleted once its program was silent for 10 s.
#[test]
fn a_program_that_is_killed_is_forgotten_and_its_queue_deleted() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let worker = worker(&server.url(), 2);
        let (worker, told) = worker.start_and_listen();
        let program = role("long run", &server.url()).start_until("result");
        assert_eq!(queues(&server.url()).len(), 1);
        program.signal("KILL");
        let deadline = Instant::now() + Duration::from_secs(30);
        while !queues(&server.url()).is_empty() {
            assert!(Instant::now() < deadline, "the queue is not deleted");
            thread::sleep(Duration::from_millis(50));
        }
        // The worker has said so, and serves the next program.
        let lines: Vec<String> = told.try_iter().collect();
        assert!(lines.iter().any(|line| line == "a program that calls work has left"), "{lines:?}");
        runs_like_the_loop(&server.cluster(), jobs(50), 8, 1, || ());
        drop(worker);
        assert!(queues(&server.url()).is_empty(), "a program that ends deletes its queue");
    });
}

fn fleet(server: &Server) -> Fleet {
    let url = server.url();
    Fleet::new(2, move |_| worker(&url, 3))
}

#[test]
fn an_item_that_ends_three_workers_is_the_failure_and_no_other_item_is_blamed() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let fleet = fleet(&server);
        let cluster = server.cluster();
        let jobs = (0..60).map(|n| {
            let act = if n == 20 { Act::Abort } else { Act::Compute };
            Job::new(n).time(Duration::from_millis(2)).act(act)
        });
        let mut seen = 0;
        let run = Stream::from_iter(jobs).window(16).map_remote(&function(&cluster)).for_each(|_| seen += 1);
        assert_eq!(run, Err(RemoteError::Lost { item: 20, workers: 3 }));
        assert_eq!(seen, 20);
        assert_eq!(fleet.deaths(), 3);
    });
}

#[test]
fn items_that_were_under_way_at_a_death_run_alone() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let fleet = fleet(&server);
        let folder = tempfile::tempdir().unwrap();
        // Each of these ends its first worker. The second time it fails if another item is computed in the same process.
        let jobs: Vec<Job> = (0..120)
            .map(|n| {
                let file = folder.path().join(n.to_string()).to_str().unwrap().to_owned();
                let act = if n % 40 == 7 { Act::AbortOnce(file) } else { Act::Compute };
                Job::new(n).time(Duration::from_millis(1)).act(act)
            })
            .collect();
        let run = Stream::from_iter(jobs).window(24).map_remote(&function(&server.cluster())).count();
        assert_eq!(run, Ok(120));
        assert_eq!(fleet.deaths(), 3);
    });
}

/// A job that writes its number and waits for a file.
fn awaiting(number: u64, begun: &Path, until: &Path) -> Job {
    let [begun, until] = [begun, until].map(|path| path.to_str().unwrap().to_owned());
    Job::new(number).act(Act::Await { begun, until })
}

fn begun(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn an_item_that_takes_many_leases_is_computed_once() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let _workers = [server.worker(1), server.worker(1)];
        let folder = tempfile::tempdir().unwrap();
        let (log, until) = (folder.path().join("log"), folder.path().join("until"));
        let jobs: Vec<Job> = (0..3).map(|n| awaiting(n, &log, &until)).collect();
        let opens = until.clone();
        thread::spawn(move || {
            // Three leases, and the third item has waited in a queue for all of them.
            thread::sleep(Duration::from_secs(3));
            fs::write(opens, "").unwrap();
        });
        let run = Stream::from_iter(jobs).map_remote(&function(&server.cluster())).count();
        assert_eq!(run, Ok(3));
        assert_eq!(begun(&log).len(), 3, "{:?}", begun(&log));
    });
}

#[test]
fn workers_come_late_and_leave_early_with_their_items_finished() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let folder = tempfile::tempdir().unwrap();
        let (log, until) = (folder.path().join("log"), folder.path().join("until"));
        let events = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&events);
        let options = options().patience(Duration::from_millis(200));
        let options = options.on_event(move |event| told.lock().unwrap().push(event.clone()));
        let cluster = Cluster::connect_with(&server.url(), options).unwrap();
        let jobs: Vec<Job> = (0..40).map(|n| awaiting(n, &log, &until)).collect();
        let run = thread::spawn(move || {
            Stream::from_iter(jobs).window(8).map_remote(&function(&cluster)).collect::<Vec<_>>()
        });
        let is_lonely =
            |event: &Event| matches!(event, Event::NoWorker { function, .. } if function == "work");
        while !events.lock().unwrap().iter().any(is_lonely) {
            thread::sleep(Duration::from_millis(5));
        }
        let mut first = server.worker(2);
        while begun(&log).len() < 2 {
            thread::sleep(Duration::from_millis(5));
        }
        // It has two items, and more may be on their way to it. It finishes all of them.
        first.signal("TERM");
        let _second = server.worker(2);
        while begun(&log).len() < 4 {
            thread::sleep(Duration::from_millis(5));
        }
        fs::write(&until, "").unwrap();
        assert!(first.wait(), "the worker ends without an error");
        let results = run.join().unwrap().unwrap();
        assert!(results.into_iter().eq((0..40).map(|n| work(Job::new(n)).unwrap())));
        let lines = begun(&log);
        assert_eq!(lines.len(), 40, "each item is computed once: {lines:?}");
        let processes: BTreeSet<&str> = lines.iter().filter_map(|line| line.split(' ').nth(1)).collect();
        assert_eq!(processes.len(), 2);
        assert!(events.lock().unwrap().iter().any(|event| matches!(event, Event::Left { .. })));
    });
}

#[test]
fn a_worker_ends_when_it_is_told_to_although_its_server_is_gone() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let mut server = Server::start();
        let (folder, cluster) = (tempfile::tempdir().unwrap(), server.cluster());
        let (log, until) = (folder.path().join("log"), folder.path().join("until"));
        let mut workers = [server.worker(1), server.worker(1)];
        assert_eq!(Stream::from_iter(jobs(20)).map_remote(&function(&cluster)).count(), Ok(20));
        // One has an item, and the other has none.
        let run = thread::spawn({
            let jobs = vec![awaiting(0, &log, &until)];
            move || Stream::from_iter(jobs).map_remote(&function(&cluster)).count()
        });
        while begun(&log).is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        server.end();
        workers.iter().for_each(|worker| worker.signal("TERM"));
        fs::write(&until, "").unwrap();
        assert!(workers.iter_mut().all(Process::wait), "they end without an error");
        // Another worker computes the item once the server is back.
        server.begin();
        let _worker = server.worker(1);
        assert_eq!(run.join().unwrap(), Ok(1));
    });
}

#[test]
fn this_machine_works_too_if_it_is_asked_to() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let cluster = server.cluster();
        let remote = function(&cluster).or_local().unwrap();
        assert_eq!(Stream::from_iter(jobs(100)).map_remote(&remote).count(), Ok(100));
        let workers = remote.report().unwrap().workers;
        assert!(
            workers.len() == 1 && workers[0].name.ends_with(" itself") && workers[0].items == 100,
            "{workers:?}"
        );
        // The worker in this process ends, although its server is gone.
        drop((server, remote, cluster));
    });
}

#[test]
fn a_stream_that_is_given_up_leaves_the_workers_to_the_next_one() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let _worker = server.worker(1);
        let cluster = server.cluster();
        let remote = function(&cluster);
        let folder = tempfile::tempdir().unwrap();
        let (log, until) = (folder.path().join("log"), folder.path().join("until"));
        let slow: Vec<Job> =
            (0..100)
                .map(|n| {
                    if n == 0 {
                        Job::new(0)
                    } else {
                        awaiting(n, &log, &until).time(Duration::from_millis(20))
                    }
                })
                .collect();
        let first = Stream::from_iter(slow).window(50).map_remote(&remote).find(|_| true);
        assert!(first.unwrap().is_some());
        fs::write(&until, "").unwrap();
        assert_eq!(Stream::from_iter(jobs(20)).map_remote(&remote).count(), Ok(20));
        // The rest of the batches at the worker is not computed.
        assert!(begun(&log).len() < 40, "{:?}", begun(&log));
    });
}

/// A program that runs until it is killed.
pub fn long_run(cluster: &Cluster) {
    let jobs = (0..).map(|n| Job::new(n).time(Duration::from_millis(1)));
    let run =
        Stream::from_iter(jobs).window(64).map_remote(&function(cluster)).for_each(|_| println!("a result"));
    run.unwrap();
}
