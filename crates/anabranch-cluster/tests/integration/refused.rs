//! Refused programs and workers, and their messages.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anabranch::Stream;
use anabranch_cluster::{Cluster, ClusterOptions, Error, Event, Functions, RemoteError, Worker, prelude::*};

use crate::support::{Fault, Job, Server, function, have_server, options, role, within};

const TIME: Duration = Duration::from_secs(60);

#[test]
fn no_server_and_no_jetstream_are_told_with_the_address() {
    if !have_server() {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("nats://127.0.0.1:{port}");
    let error = Cluster::connect(&url).unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error}");
    assert!(error.to_string().starts_with(&format!("no NATS server answers at {url}: ")), "{error}");

    let server = Server::with(&[]);
    for error in [Cluster::connect(&server.url()).map(drop), Worker::connect(&server.url()).map(drop)] {
        let error = error.unwrap_err();
        assert!(matches!(error, Error::NoJetStream { .. }), "{error}");
        assert!(
            error.to_string().contains(&server.url()) && error.to_string().ends_with("`nats-server -js`"),
            "{error}"
        );
    }
}

#[test]
fn wrong_credentials_are_told_and_right_ones_are_taken() {
    if !have_server() {
        return;
    }
    let server = Server::with(&["-js", "--user", "shrink", "--pass", "secret"]);
    let with = |password: &str| {
        Cluster::connect_with(&server.url(), options().user_and_password("shrink", password)).map(drop)
    };
    let error = with("secrte").unwrap_err();
    assert!(matches!(error, Error::Credentials { .. }), "{error}");
    let said = format!("the NATS server at {} does not accept the credentials", server.url());
    assert!(error.to_string().starts_with(&said), "{error}");
    with("secret").unwrap();

    let server = Server::with(&["-js", "--auth", "token"]);
    assert!(matches!(Cluster::connect(&server.url()), Err(Error::Credentials { .. })));
    Cluster::connect_with(&server.url(), ClusterOptions::new().token("token")).unwrap();
}

#[test]
fn workers_with_other_functions_are_refused_and_both_sides_are_named() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let _worker = role("worker", &server.url()).env("ANABRANCH_TEST_THREADS", "1").start();
        for (version, name) in [("2.0", "work"), ("1.0", "other")] {
            let events = Arc::new(Mutex::new(Vec::new()));
            let told = Arc::clone(&events);
            let options = options().name("the program").patience(Duration::from_millis(300));
            let options = options.on_event(move |event| told.lock().unwrap().push(event.clone()));
            let cluster = Cluster::connect_with(&server.url(), options).unwrap();
            let others = Functions::new("tests", version).function(name, |n: u32| Ok::<_, ()>(n));
            let function = cluster.function::<u32, u32, ()>(&others, name).unwrap();
            let Err(RemoteError::Refused(text)) = Stream::from_iter(0..3u32).map_remote(&function).count()
            else {
                panic!("the functions are not the same")
            };
            let both = [
                " has tests 1.0 with work(Job) -> Result<Bytes, Fault>, and program the program has tests "
                    .to_owned(),
                format!("has tests {version} with {name}(u32) -> Result<u32, ()>"),
            ];
            assert!(text.starts_with("worker ") && both.iter().all(|side| text.contains(side)), "{text}");
            assert!(events.lock().unwrap().contains(&Event::Refused(text)));
        }
    });
}

#[test]
fn an_item_that_does_not_decode_names_the_function_and_the_worker() {
    if !have_server() {
        return;
    }
    // Both sides call it `Job`, and it has other fields.
    mod other {
        #[derive(serde::Serialize, serde::Deserialize)]
        pub struct Job(pub u8);
    }
    within(TIME, || {
        let server = Server::start();
        let _worker = server.worker(1);
        let cluster = server.cluster();
        let others = Functions::new("tests", "1.0")
            .function("work", |_: other::Job| Ok::<bytes::Bytes, Fault>(bytes::Bytes::new()));
        let function = cluster.function::<other::Job, bytes::Bytes, Fault>(&others, "work").unwrap();
        let run = Stream::from_iter([other::Job(7)]).map_remote(&function).collect::<Vec<_>>();
        let Err(RemoteError::Undecodable { item: 0, message }) = run else { panic!("{run:?}") };
        assert!(
            message.contains("worker ")
                && message.contains("an item of work(Job) -> Result<Bytes, Fault> cannot be decoded: "),
            "{message}"
        );
    });
}

#[test]
fn bodies_over_a_limit_are_refused_with_both_numbers_and_the_side() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let server = Server::start();
        let _worker = role("worker", &server.url())
            .env("ANABRANCH_TEST_THREADS", "1")
            .env("ANABRANCH_TEST_LIMIT", "300000")
            .start();
        let refused = |limit: u64, job: Job| {
            let options = options().name("small").body_limit(limit);
            let cluster = Cluster::connect_with(&server.url(), options).unwrap();
            let run = Stream::from_iter([Job::new(0), job]).map_remote(&function(&cluster)).count();
            let Err(RemoteError::TooLarge { item: 1, size, limit, side }) = run else { panic!("{run:?}") };
            assert!(size > limit);
            (limit, side.split(' ').next().unwrap().to_owned())
        };
        // The program's own item, an item for the worker, the worker's result, and a result for the program.
        assert_eq!(refused(1_000, Job::new(1).sized(2_000, 1)), (1_000, "program".to_owned()));
        assert_eq!(refused(1 << 20, Job::new(1).sized(400_000, 1)), (300_000, "worker".to_owned()));
        assert_eq!(refused(1 << 20, Job::new(1).sized(1, 400_000)), (300_000, "worker".to_owned()));
        assert_eq!(refused(200_000, Job::new(1).sized(1, 250_000)), (200_000, "program".to_owned()));
    });
}
