//! Servers that refuse: full stores, small messages, no JetStream, other passwords, users who may not. Each is told within seconds, and a
//! run goes on by itself when the cause is gone.

use std::fs;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anabranch::Stream;
use anabranch_cluster::{Cluster, ClusterOptions, Error, Event, RemoteError, Worker, prelude::*};
use bytes::Bytes;

use crate::proxy::Proxy;
use crate::support::{Act, Fault, Job, Server, function, have_server, options, role, within, work, worker};

const TIME: Duration = Duration::from_secs(60);

/// The events of a program.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Event>>>);

impl Told {
    fn options(&self) -> ClusterOptions {
        let told = Arc::clone(&self.0);
        options()
            .patience(Duration::from_millis(300))
            .on_event(move |event| told.lock().unwrap().push(event.clone()))
    }

    /// Waits until an event is told. It must be there within seconds.
    fn until(&self, is_it: impl Fn(&Event) -> bool) -> Event {
        let began = Instant::now();
        loop {
            if let Some(event) = self.0.lock().unwrap().iter().find(|event| is_it(event)) {
                return event.clone();
            }
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "it is not told: {:?}",
                self.0.lock().unwrap()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn forget(&self) {
        self.0.lock().unwrap().clear();
    }
}

fn is_refused(words: &'static str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::ServerRefuses { cause, .. } if cause.contains(words))
}

/// A server with lines of configuration.
fn configured(lines: &str) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nats.conf");
    fs::write(&path, lines).unwrap();
    (Server::with(&["-c", path.to_str().unwrap()]), folder)
}

fn expected(jobs: &[Job]) -> Vec<Bytes> {
    jobs.iter().cloned().map(|job| work(job).unwrap()).collect()
}

/// Fills the memory of JetStream with messages of another program, and empties it again when it is dropped.
struct Full {
    runtime: tokio::runtime::Runtime,
    client: async_nats::Client,
}

impl Full {
    fn new(url: &str, message: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let client = async_nats::connect(url).await.unwrap();
            let stream = r#"{"name":"other","subjects":["other"],"storage":"memory"}"#;
            client.request("$JS.API.STREAM.CREATE.other", stream.into()).await.unwrap();
            let mut length = message;
            while length > 0 {
                let reply = client.request("other", vec![0; length].into()).await.unwrap();
                if String::from_utf8_lossy(&reply.payload).contains("error") {
                    length /= 2;
                }
            }
            client
        });
        Self { runtime, client }
    }
}

impl Drop for Full {
    fn drop(&mut self) {
        let deleted = self.client.request("$JS.API.STREAM.DELETE.other", "".into());
        self.runtime.block_on(deleted).unwrap();
    }
}

#[test]
fn a_full_store_is_told_and_the_run_goes_on_when_it_has_room() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let (server, _folder) = configured("jetstream { max_mem: 1M, max_file: 1M }");
        let told = Told::default();
        let cluster = Cluster::connect_with(&server.url(), told.options()).unwrap();
        let _worker = server.worker(2);
        let remote = function(&cluster);
        assert_eq!(Stream::from_iter([Job::new(0)]).map_remote(&remote).count(), Ok(1));
        for _ in 0..2 {
            told.forget();
            let full = Full::new(&server.url(), 8_000);
            let jobs: Vec<Job> = (0..50).map(|n| Job::new(n).sized(n as usize * 300, 100)).collect();
            let expected = expected(&jobs);
            let run = thread::spawn({
                let remote = remote.clone();
                move || Stream::from_iter(jobs).window(20).map_remote(&remote).collect::<Vec<_>>()
            });
            told.until(is_refused("the queue of work takes no items"));
            // It is told again while it lasts.
            told.until(|event| matches!(event, Event::ServerRefuses { waited, .. } if !waited.is_zero()));
            drop(full);
            assert!(run.join().unwrap().unwrap() == expected);
            told.until(|event| *event == Event::ServerAccepts);
        }
    });
}

#[test]
fn items_that_a_store_can_never_hold_travel_beside_it() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let (server, _folder) = configured("jetstream { max_mem: 20K, max_file: 1M }");
        let _worker = server.worker(2);
        let jobs: Vec<Job> = (0..40).map(|n| Job::new(n).sized(n as usize * 1_000, 30_000)).collect();
        let expected = expected(&jobs);
        let cluster = Cluster::connect_with(&server.url(), options()).unwrap();
        let results = Stream::from_iter(jobs).window(20).map_remote(&function(&cluster)).collect::<Vec<_>>();
        assert!(results.unwrap() == expected);
    });
}

/// Items, results, errors, panics and names of all lengths about the limit of a message.
#[test]
fn nothing_is_too_long_for_a_server_with_small_messages() {
    if !have_server() {
        return;
    }
    within(TIME * 2, || {
        for most in [4_096, 5_000, 65_536] {
            let (server, _folder) = configured(&format!("jetstream {{ }}\nmax_payload: {most}"));
            let _worker = server.worker(2);
            let cluster = Cluster::connect_with(&server.url(), options()).unwrap();
            let remote = function(&cluster);
            let lengths = (0..120).map(|n| if n < 60 { most / 2 - 300 + n * 10 } else { most - 300 + n * 5 });
            let jobs: Vec<Job> = (0..)
                .zip(lengths)
                .flat_map(|(n, length)| [Job::new(n).sized(length, 1), Job::new(n).sized(0, length)])
                .chain((0..2_000).map(|n| Job::new(n).sized(n as usize % 3, n as usize % 5)))
                .collect();
            let expected = expected(&jobs);
            let results = Stream::from_iter(jobs).window(600).map_remote(&remote).collect::<Vec<_>>();
            assert!(results.unwrap() == expected, "max_payload {most}");
            for length in [10, most / 2, most, 3 * most] {
                let job = Job::new(3).act(Act::PanicLong(length as u32));
                let run = Stream::from_iter([job]).map_remote(&remote).count();
                let Err(RemoteError::Panic { item: 0, message }) = run else { panic!("{run:?}") };
                assert!(message == "x".repeat(length), "the message of a panic is whole");
            }
        }
        let (server, _folder) = configured("jetstream { }\nmax_payload: 1000");
        let error = Cluster::connect(&server.url()).unwrap_err();
        assert!(error.to_string().contains("set a larger `max_payload`"), "{error}");
    });
}

#[test]
fn a_server_that_is_back_without_jetstream_is_told_and_the_run_goes_on_with_it() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nats.conf");
        fs::write(&path, "jetstream { }").unwrap();
        let mut server = Server::with(&["-c", path.to_str().unwrap()]);
        let told = Told::default();
        let cluster = Cluster::connect_with(&server.url(), told.options()).unwrap();
        let _worker = server.worker(2);
        let jobs: Vec<Job> = (0..300).map(|n| Job::new(n).time(Duration::from_millis(2))).collect();
        let expected = expected(&jobs);
        let run = thread::spawn(move || {
            Stream::from_iter(jobs).window(20).map_remote(&function(&cluster)).collect::<Vec<_>>()
        });
        told.until(|event| matches!(event, Event::Joined { .. }));
        fs::write(&path, "").unwrap();
        server.restart();
        told.until(is_refused("there is no queue for work: JetStream is not enabled"));
        fs::write(&path, "jetstream { }").unwrap();
        server.restart();
        assert!(run.join().unwrap().unwrap() == expected);
        told.until(|event| *event == Event::ServerAccepts);
    });
}

#[test]
fn another_password_is_told_and_the_run_goes_on_with_the_right_one() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nats.conf");
        let password = |password: &str| {
            let users = format!("jetstream {{ }}\nauthorization {{ user: me, password: \"{password}\" }}");
            fs::write(&path, users).unwrap();
        };
        password("p:w@1%");
        let mut server = Server::with(&["-c", path.to_str().unwrap()]);
        // Plain and percent-encoded.
        let urls = ["me:p%3Aw%401%25", "%6de:p:w@1%"]
            .map(|secret| server.url().replace("nats://", &format!("nats://{secret}@")));
        let told = Told::default();
        let cluster = Cluster::connect_with(&urls[0], told.options()).unwrap();
        assert!(!format!("{cluster:?}").contains("p%3A"), "{cluster:?}");
        let _worker = worker(&urls[1], 2).start();
        let jobs: Vec<Job> = (0..300).map(|n| Job::new(n).time(Duration::from_millis(2))).collect();
        let expected = expected(&jobs);
        let run = thread::spawn(move || {
            Stream::from_iter(jobs).window(20).map_remote(&function(&cluster)).collect::<Vec<_>>()
        });
        told.until(|event| matches!(event, Event::Joined { .. }));
        password("other");
        server.restart();
        let event = told.until(is_refused("does not accept the credentials")).to_string();
        assert!(!event.contains("p:w@1%") && !event.contains("p%3A"), "{event}");
        let error = Cluster::connect(&urls[0]).unwrap_err().to_string();
        assert!(error.contains("does not accept the credentials") && !error.contains("p%3A"), "{error}");
        password("p:w@1%");
        server.restart();
        assert!(run.join().unwrap().unwrap() == expected);
    });
}

/// A user who may do all that the chapter lists but one thing.
#[test]
fn a_user_who_may_not_do_something_is_told_what() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let [publish, subscribe] = crate::chapter::permissions();
        let without = |all: &[&'static str], one: &str| -> Vec<&str> {
            assert!(all.contains(&one));
            all.iter().copied().filter(|subject| *subject != one).collect()
        };
        let server = |publish: &[&str], subscribe: &[&str]| {
            configured(&format!(
                "jetstream {{ }}\nauthorization {{ users = [ {{ user: me, password: secret, permissions: {{ publish: {publish:?}, subscribe: {subscribe:?} }} }} ] }}"
            ))
        };
        let url = |server: &Server| server.url().replace("nats://", "nats://me:secret@");
        let (all, _folder) = server(&publish, &subscribe);
        let _worker = worker(&url(&all), 1).start();
        let cluster = Cluster::connect_with(&url(&all), options()).unwrap();
        let jobs = Stream::from_iter((0..20).map(|n| Job::new(n).sized(100_000, 100_000)));
        assert_eq!(jobs.map_remote(&function(&cluster)).count(), Ok(20));

        let (no_api, _folder) = server(&without(&publish, "$JS.API.>"), &subscribe);
        let (no_inbox, _folder) = server(&publish, &without(&subscribe, "_INBOX.>"));
        for server in [no_api, no_inbox] {
            let began = Instant::now();
            for error in [Cluster::connect(&url(&server)).map(drop), Worker::connect(&url(&server)).map(drop)]
            {
                let error = error.unwrap_err();
                assert!(matches!(error, Error::NotAllowed { .. }), "{error}");
                let error = error.to_string();
                assert!(error.contains("Permissions Violation") && !error.contains("secret"), "{error}");
                let named = |subject: &&str| error.contains(&format!("{subject:?}"));
                assert!(publish.iter().chain(&subscribe).all(named), "{error}");
            }
            assert!(began.elapsed() < Duration::from_secs(10));
        }

        let (mute, _folder) = server(&without(&publish, "anabranch2.>"), &subscribe);
        let told = Told::default();
        let cluster = Cluster::connect_with(&url(&mute), told.options()).unwrap();
        let _function = function(&cluster);
        told.until(is_refused("anabranch2."));
    });
}

#[test]
fn an_account_without_jetstream_is_not_told_to_start_the_server_with_it() {
    if !have_server() {
        return;
    }
    let (server, _folder) = configured(
        "jetstream { }\naccounts { A: { users: [ { user: me, password: secret } ] }, B: { jetstream: enabled, users: [ { user: other, password: secret } ] } }",
    );
    let url = |user: &str| server.url().replace("nats://", &format!("nats://{user}:secret@"));
    let error = Cluster::connect(&url("me")).unwrap_err();
    assert!(matches!(error, Error::NoJetStream { .. }), "{error}");
    assert!(error.to_string().contains("enable it for the account"), "{error}");
    Cluster::connect(&url("other")).unwrap();
}

#[test]
fn a_server_that_stands_still_while_queues_are_made_and_lost_loses_nothing() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let mut server = Server::start();
        let told = Told::default();
        let cluster = Cluster::connect_with(&server.url(), told.options()).unwrap();
        let _worker = role("worker", &server.url()).env("ANABRANCH_TEST_THREADS", "2").start();
        let remote = cluster.function::<Job, Bytes, Fault>(&crate::support::functions(), "work").unwrap();
        let jobs: Vec<Job> = (0..200).map(|n| Job::new(n).time(Duration::from_millis(2))).collect();
        let expected = expected(&jobs);
        let run =
            thread::spawn(move || Stream::from_iter(jobs).window(20).map_remote(&remote).collect::<Vec<_>>());
        told.until(|event| matches!(event, Event::Joined { .. }));
        server.restart();
        server.signal("STOP");
        told.until(|event| matches!(event, Event::NoServer { .. }));
        server.signal("CONT");
        assert!(run.join().unwrap().unwrap() == expected);
    });
}

#[test]
fn a_server_that_is_back_with_smaller_messages_gets_smaller_ones() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nats.conf");
        let most = |bytes: u32| fs::write(&path, format!("jetstream {{ }}\nmax_payload: {bytes}")).unwrap();
        most(4 << 20);
        let mut server = Server::with(&["-c", path.to_str().unwrap()]);
        let line = Proxy::slow("127.0.0.1", server.port(), 4_000_000, Duration::ZERO);
        let _worker = worker(&line.url(), 2).start();
        let cluster = server.cluster();
        let jobs: Vec<Job> = (0..4).map(|n| Job::new(n).sized(2 << 20, 2 << 20)).collect();
        let expected = expected(&jobs);
        let run = thread::spawn(move || {
            Stream::from_iter(jobs).map_remote(&function(&cluster)).collect::<Vec<_>>()
        });
        for bytes in [20_000, 5_000] {
            // In the middle of a body.
            let before = line.bytes().iter().sum::<u64>();
            while line.bytes().iter().sum::<u64>() < before + 2_000_000 && !run.is_finished() {
                thread::sleep(Duration::from_millis(5));
            }
            most(bytes);
            server.restart();
        }
        assert!(run.join().unwrap().unwrap() == expected);
    });
}

/// The time-outs of requests and of connections end at different moments of a pause.
#[test]
#[ignore = "it takes two minutes"]
fn a_server_that_stands_still_for_any_time_loses_nothing() {
    thread::scope(|scope| {
        for seconds in [4, 6, 8, 10, 12, 15, 16, 17, 20, 25] {
            scope.spawn(move || {
                for at in [0, 5, 40] {
                    stands_still(Duration::from_secs(seconds), at);
                }
            });
        }
    });
}

/// The server stands still for the time when the end has so many results.
fn stands_still(time: Duration, at: usize) {
    let server = Server::start();
    let _worker = server.worker(2);
    let cluster = server.cluster();
    let remote = function(&cluster);
    let jobs: Vec<Job> = (0..200).map(|n| Job::new(n).time(Duration::from_millis(2))).collect();
    let expected = expected(&jobs);
    let mut seen = Vec::new();
    thread::scope(|scope| {
        let server = &server;
        let stop = || {
            server.signal("STOP");
            scope.spawn(move || {
                thread::sleep(time);
                server.signal("CONT");
            });
        };
        if at == 0 {
            stop();
        }
        let run = Stream::from_iter(jobs).window(20).map_remote(&remote).for_each(|result| {
            seen.push(result);
            if seen.len() == at {
                stop();
            }
        });
        assert_eq!(run, Ok(()));
    });
    assert!(seen == expected);
}
