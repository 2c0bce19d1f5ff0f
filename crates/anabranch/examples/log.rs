//! Computes figures from a log, up to the line that ends it. `tests/integration/examples.rs` checks that the
//! five forms of the loop agree.
//!
//! `cargo run --release --example log [FILE]` reads lines such as `2026-11-21 GET /index 17`.

use std::collections::BTreeMap;
use std::thread;

use anabranch::{Stream, default_workers};
use crossbeam_channel::bounded;
use rayon::prelude::*;

/// A request, and its time in milliseconds.
#[derive(Debug)]
pub struct Request {
    path: String,
    millis: u64,
}

/// The figures of one path.
#[derive(Debug, Default, PartialEq)]
pub struct Figures {
    /// How many requests there were.
    pub requests: u64,
    /// The time of all requests together, in milliseconds.
    pub millis: u64,
    /// The time of the longest request, in milliseconds.
    pub longest: u64,
}

impl Figures {
    fn add(&mut self, request: &Request) {
        self.requests += 1;
        self.millis += request.millis;
        self.longest = self.longest.max(request.millis);
    }
}

fn parse(line: &str) -> Result<Request, String> {
    let mut fields = line.split_whitespace().skip(2);
    let (Some(path), Some(millis)) = (fields.next(), fields.next()) else {
        return Err(format!("expected `DATE METHOD PATH MILLISECONDS`, not `{line}`"));
    };
    let millis = millis.parse().map_err(|error| format!("`{millis}` in `{line}`: {error}"))?;
    Ok(Request { path: path.to_owned(), millis })
}

/// The plain loop.
pub fn sequential(log: &str) -> Result<BTreeMap<String, Figures>, String> {
    let mut all = BTreeMap::<String, Figures>::new();
    for line in log.lines() {
        if line.starts_with('#') {
            continue;
        }
        if line == "end" {
            break;
        }
        let request = parse(line)?;
        all.entry(request.path.clone()).or_default().add(&request);
    }
    Ok(all)
}

/// The loop with annotations.
#[anabranch::stream]
pub fn annotated(log: &str) -> Result<BTreeMap<String, Figures>, String> {
    let mut all = BTreeMap::<String, Figures>::new();
    #[to_stream]
    for line in log.lines() {
        if line.starts_with('#') {
            continue;
        }
        if line == "end" {
            break;
        }
        #[stage(replicate)]
        let request = parse(line)?;
        all.entry(request.path.clone()).or_default().add(&request);
    }
    Ok(all)
}

/// The loop as a stream.
pub fn builder(log: &str) -> Result<BTreeMap<String, Figures>, String> {
    let mut all = BTreeMap::<String, Figures>::new();
    let lines = log.lines().filter(|line| !line.starts_with('#')).take_while(|&line| line != "end");
    Stream::from_iter(lines).try_map(parse).for_each(|request| {
        all.entry(request.path.clone()).or_default().add(&request);
    })?;
    Ok(all)
}

/// With rayon. All requests are parsed before the first one is used.
pub fn with_rayon(log: &str) -> Result<BTreeMap<String, Figures>, String> {
    let mut all = BTreeMap::<String, Figures>::new();
    let lines = log.lines().filter(|line| !line.starts_with('#')).take_while(|&line| line != "end");
    let lines: Vec<&str> = lines.collect();
    let requests: Vec<Result<Request, String>> = lines.into_par_iter().map(parse).collect();
    for request in requests {
        let request = request?;
        all.entry(request.path.clone()).or_default().add(&request);
    }
    Ok(all)
}

/// With threads and channels, and a map that restores the order.
pub fn with_channels(log: &str) -> Result<BTreeMap<String, Figures>, String> {
    let mut all = BTreeMap::<String, Figures>::new();
    let (items, work) = bounded(1_024);
    let (results, done) = bounded(1_024);
    thread::scope(|scope| {
        scope.spawn(move || {
            let lines = log.lines().filter(|line| !line.starts_with('#')).take_while(|&line| line != "end");
            for item in lines.enumerate() {
                if items.send(item).is_err() {
                    break;
                }
            }
        });
        for _ in 0..default_workers() {
            let (work, results) = (work.clone(), results.clone());
            scope.spawn(move || {
                for (at, line) in work {
                    if results.send((at, parse(line))).is_err() {
                        break;
                    }
                }
            });
        }
        drop((work, results));
        let (mut early, mut next) = (BTreeMap::new(), 0);
        for (at, request) in done {
            early.insert(at, request);
            while let Some(request) = early.remove(&next) {
                let request = request?;
                all.entry(request.path.clone()).or_default().add(&request);
                next += 1;
            }
        }
        Ok(())
    })
    .map(|()| all)
}

/// A log of `requests` requests.
pub fn sample(requests: usize) -> String {
    let mut log = String::from("# made up\n");
    for n in 0..requests {
        log.push_str(&format!("2026-11-21 GET /{} {}\n", n % 5, n * 7 % 100));
    }
    log.push_str("end\nwhat comes after the end is not read\n");
    log
}

fn main() -> Result<(), String> {
    let log = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?,
        None => sample(100_000),
    };
    let all = annotated(&log)?;
    assert_eq!(all, sequential(&log)?);
    assert_eq!(all, builder(&log)?);
    for (path, Figures { requests, millis, longest }) in all {
        println!("{path}: {requests} requests, {} ms each, {longest} ms at most", millis / requests);
    }
    Ok(())
}
