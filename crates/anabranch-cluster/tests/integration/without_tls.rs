//! A server that demands TLS, without the feature `tls`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use anabranch::Stream;
use anabranch_cluster::{Cluster, RemoteError, prelude::*};

use crate::support::{Job, Server, function, have_server, options, within};

const TIME: Duration = Duration::from_secs(60);

/// Answers as a server that demands TLS.
fn demand_tls(listener: TcpListener) {
    thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let info =
                r#"INFO {"server_id":"S","version":"2.9.10","max_payload":1048576,"tls_required":true}"#;
            let _ = connection.write_all(format!("{info}\r\n").as_bytes());
            thread::spawn(move || connection.read_to_end(&mut Vec::new()));
        }
    });
}

#[test]
fn a_server_that_demands_tls_later_ends_programs_and_workers_with_an_error() {
    if !have_server() {
        return;
    }
    within(TIME, || {
        let mut server = Server::start();
        let cluster = Cluster::connect_with(&server.url(), options().quiet()).unwrap();
        let remote = function(&cluster);
        let mut worker = server.worker(1);
        assert_eq!(Stream::from_iter([Job::new(0)]).map_remote(&remote).count(), Ok(1));
        let port = server.port();
        server.end();
        let began = Instant::now();
        let listener = loop {
            match TcpListener::bind(("127.0.0.1", port)) {
                Ok(listener) => break listener,
                Err(error) => assert!(began.elapsed() < Duration::from_secs(20), "{error}"),
            }
            thread::sleep(Duration::from_millis(5));
        };
        demand_tls(listener);
        let run = Stream::from_iter((1..9).map(Job::new)).map_remote(&remote).count();
        let Err(RemoteError::Closed(text)) = run else { panic!("{run:?}") };
        assert!(text.contains("feature `tls`"), "{text}");
        assert!(!worker.wait(), "it ends with an error");
    });
}

#[test]
fn a_server_that_demands_tls_is_told_with_the_feature() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    demand_tls(listener);
    for scheme in ["nats", "tls"] {
        let error = Cluster::connect(&format!("{scheme}://me:hidden@{address}")).unwrap_err().to_string();
        assert!(error.contains("feature `tls`") && !error.contains("hidden"), "{error}");
    }
}
