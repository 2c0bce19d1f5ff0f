//! The messages of programs and workers, whom they wait for, and what they leave on the server.

use std::net::TcpListener;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use anabranch::Stream;
use anabranch_cluster::{Cluster, Error, Worker, prelude::*};

use crate::support::{Job, Server, function, have_server, options, queues, role, within, work, worker};

const TIME: Duration = Duration::from_secs(60);

/// Waits for a line with words. Returns the lines before it.
fn until(lines: &Receiver<String>, words: &[&str]) -> Vec<String> {
    let mut before = Vec::new();
    loop {
        let line =
            lines.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|_| panic!("{words:?}: {before:?}"));
        if words.iter().all(|words| line.contains(words)) {
            return before;
        }
        before.push(line);
    }
}

/// A program that computes one item, with the default listener.
pub fn lonely(url: &str) {
    let cluster = Cluster::connect_with(url, options().patience(Duration::from_millis(300))).unwrap();
    assert_eq!(Stream::from_iter([Job::new(0)]).map_remote(&function(&cluster)).count(), Ok(1));
    println!("the program has ended");
}

#[test]
fn who_waits_says_so_once_and_once_more_when_it_goes_on() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let mut server = Server::start();
        let (mut program, said) = role("lonely", &server.url()).start_and_listen_to_errors();
        until(&said, &["anabranch-cluster: work: items have waited for a worker for"]);
        // A worker that starts before its server waits for it.
        server.end();
        let before =
            until(&said, &["anabranch-cluster: the server at ", &server.url(), "has not been reached"]);
        assert!(
            before.iter().all(|line| !line.contains("waited for a worker")),
            "it is said once: {before:?}"
        );
        let (worker, told) = role("aloud", &server.url()).start_and_listen_to_errors();
        until(&told, &["anabranch-cluster: the server at ", &server.url(), "has not been reached"]);
        server.begin();
        until(&told, &["there again"]);
        let functions = "serves tests 1.0 with work(Job) -> Result<Bytes, Fault>";
        until(&told, &["anabranch-cluster: worker ", functions, &server.url(), "by 1 thread"]);
        until(&said, &["there again"]);
        until(&said, &[" is there"]);
        assert!(program.wait());
        // Ctrl-C ends a worker as SIGTERM does.
        let mut worker = worker;
        worker.signal("INT");
        assert!(worker.wait());
    });
}

#[test]
fn a_connection_waits_for_its_server_for_as_long_as_it_is_told() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("nats://127.0.0.1:{port}");
    let time = Duration::from_millis(700);
    let began = Instant::now();
    let error = Worker::connect_with(&url, options().quiet().wait_for_server(time)).unwrap_err();
    assert!(matches!(error, Error::Connect { .. }) && began.elapsed() >= time, "{error}");
    // `main` prints an error by its `Debug`.
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn one_of_several_addresses_is_enough() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let urls = format!("nats://{free},{}", server.url());
        let _worker = worker(&urls, 1).start();
        let cluster = Cluster::connect_with(&urls, options()).unwrap();
        assert_eq!(Stream::from_iter([Job::new(0)]).map_remote(&function(&cluster)).count(), Ok(1));
    });
}

#[test]
fn a_worker_of_another_version_that_left_is_forgotten_and_items_wait_for_a_good_one() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        // Each has a server of its own, and waits for the patience.
        thread::scope(|scope| {
            for signal in ["KILL", "TERM"] {
                scope.spawn(move || {
                    let server = Server::start();
                    let (events, told) = std::sync::mpsc::channel();
                    let options = options()
                        .patience(Duration::from_secs(6))
                        .on_event(move |event| drop(events.send(event.to_string())));
                    let cluster = Cluster::connect_with(&server.url(), options).unwrap();
                    let jobs: Vec<Job> = (0..20).map(Job::new).collect();
                    let expected: Vec<_> = jobs.iter().cloned().map(|job| work(job).unwrap()).collect();
                    let run = thread::spawn(move || {
                        Stream::from_iter(jobs).map_remote(&function(&cluster)).collect::<Vec<_>>()
                    });
                    let mut other = role("other version", &server.url()).start();
                    until(&told, &["has tests 0.9", "has tests 1.0"]);
                    other.signal(signal);
                    other.wait();
                    // Only that worker was there for the time of the patience, and it is forgotten.
                    until(&told, &["items have waited for a worker"]);
                    let _good = server.worker(1);
                    assert!(run.join().unwrap().unwrap() == expected);
                });
            }
        });
    });
}

/// Waits until a server has so many queues.
fn has_queues(url: &str, count: usize) {
    let began = Instant::now();
    while queues(url).len() != count {
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", queues(url));
        thread::sleep(Duration::from_millis(50));
    }
}

/// This may take longer than 10 s: a queue is deleted once its program was silent for 10 s.
#[test]
fn the_queue_of_a_dead_program_is_deleted_by_whoever_connects_next_and_that_of_a_live_one_is_not() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        thread::scope(|scope| {
            for next in ["a program", "other set"] {
                scope.spawn(move || {
                    let server = Server::start();
                    let url = server.url();
                    // A live program, whose items wait for a worker all the time.
                    let live = Cluster::connect_with(&url, options().quiet()).unwrap();
                    let remote = function(&live);
                    let waits =
                        thread::spawn(move || Stream::from_iter([Job::new(0)]).map_remote(&remote).count());
                    let dead = role("lonely", &url).start();
                    has_queues(&url, 2);
                    dead.signal("KILL");
                    drop(dead);
                    let (_program, _worker);
                    if next == "a program" {
                        _program = Cluster::connect_with(&url, options().quiet()).unwrap();
                    } else {
                        _worker = role(next, &url).start();
                    }
                    has_queues(&url, 1);
                    let _worker = server.worker(1);
                    assert_eq!(waits.join().unwrap(), Ok(1));
                });
            }
        });
    });
}
