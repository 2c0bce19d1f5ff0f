//! The suite of the cluster: a server, a program and workers on this machine, each a process.

mod faults;
mod processes;
mod rates;
mod resources;

use std::io::Write;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::Duration;

use anabranch_cluster::{Cluster, Function, Functions, Worker};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

use crate::look::{Look, Measured};
use measure_harness::rounds::{Budget, Contender, Rounds, Unmeasured, measure as measure_rounds};
use measure_harness::work::Digest;

/// The words with which this program becomes a worker, or a program whose memory is measured.
pub const WORKER: &str = "cluster-worker";
pub const PROGRAM: &str = "cluster-program";

const SMALL: &str = "cluster-small";
const LARGE: &str = "cluster-large";
const DEFLATE: &str = "cluster-deflate";
const SKEWED: &str = "cluster-skewed";
const KILLED: &str = "cluster-killed";
const MEMORY: &str = "cluster-memory";
const IDLE: &str = "cluster-idle";
const BUILD: &str = "cluster-build";

/// The names of the groups.
pub fn names() -> Vec<String> {
    [SMALL, LARGE, DEFLATE, SKEWED, KILLED, MEMORY, IDLE, BUILD].map(String::from).to_vec()
}

/// Measures the groups that are asked for.
pub fn measure(look: &Look) -> Measured {
    let mut rows = Vec::new();
    if look.at(SMALL) {
        rows.push(rates::small(look.quick));
    }
    if look.at(LARGE) {
        rows.push(rates::large(look.quick));
    }
    if look.at(DEFLATE) {
        rows.push(rates::deflate(look.quick));
    }
    if look.at(SKEWED) {
        rows.push(rates::skewed(look.quick));
    }
    if look.at(KILLED) {
        rows.push(faults::killed(look.quick));
    }
    if look.at(MEMORY) {
        rows.extend(resources::memory(look.quick));
    }
    if look.at(IDLE) {
        rows.push(resources::idle(look.quick));
    }
    if look.at(BUILD) {
        rows.extend(resources::build(look.quick));
    }
    Measured { rows, ..Measured::default() }
}

/// Plays the part that the first word names, if it names one.
pub fn play(words: &[String]) -> Option<ExitCode> {
    let done = match words {
        [role, url, slowness] if role == WORKER => worker(url, slowness),
        [role, url, items] if role == PROGRAM => resources::program(url, items),
        _ => return None,
    };
    Some(done.map_or_else(
        |problem| {
            eprintln!("measure: {problem}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    ))
}

fn worker(url: &str, slowness: &str) -> Result<(), String> {
    let slowness = slowness.parse().map_err(|_| "a worker needs its slowness".to_owned())?;
    let worker = Worker::connect(url).map_err(|error| error.to_string())?;
    worker.threads(1).serve(functions(slowness)).map_err(|error| error.to_string())
}

/// An item that waits for so many microseconds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Wait(u32);

fn functions(slowness: u32) -> Functions {
    Functions::new("measure", "1")
        .function("echo", |body: Bytes| Ok::<_, String>(body))
        .function("deflate", |block: Bytes| Ok::<_, String>(deflate(&block)))
        .function("wait", move |Wait(time): Wait| {
            sleep(Duration::from_micros((time * slowness).into()));
            Ok::<_, String>(time)
        })
}

fn deflate(block: &[u8]) -> Bytes {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(block).and_then(|()| encoder.finish()).expect("memory can be written").into()
}

fn connect(url: &str) -> Result<Cluster, Unmeasured> {
    Cluster::connect(url).map_err(impossible)
}

fn function<T, U>(cluster: &Cluster, name: &str) -> Result<Function<T, U, String>, Unmeasured>
where
    T: Serialize + for<'a> Deserialize<'a> + 'static,
    U: Serialize + for<'a> Deserialize<'a> + 'static,
{
    cluster.function(&functions(1), name).map_err(impossible)
}

fn impossible(error: anabranch_cluster::Error) -> Unmeasured {
    Unmeasured::Impossible(error.to_string())
}

/// Takes a sample: a time in seconds, or another number.
type Sample<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// Rounds of samples that are taken in turn.
fn rounds(wanted: usize, samples: Vec<(&str, Sample<'_>)>) -> Result<Rounds, Unmeasured> {
    let budget = Budget { wanted, least: wanted.min(3), time: Duration::from_secs(240) };
    let contenders = samples
        .into_iter()
        .map(|(name, mut sample)| Contender::sampled(name, Digest::EMPTY, move || (sample(), Digest::EMPTY)));
    measure_rounds(budget, None, contenders.collect())
}
