//! Memory, idle processors and the time to build.

use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anabranch::Stream;
use anabranch_cluster::Cluster;
use anabranch_cluster::prelude::*;
use bytes::Bytes;

use super::processes::{Process, Server, most_memory};
use super::{BUILD, IDLE, MEMORY, PROGRAM, connect, function, functions, rounds};
use crate::corpus::done;
use measure_harness::rounds::Unmeasured;
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};

const MIB: f64 = 1_048_576.0;

/// Lets items of 1 MiB pass to a slow sink, and prints the most memory that this took here.
pub fn program(url: &str, items: &str) -> Result<(), String> {
    let items = items.parse().map_err(|_| "a program needs a number of items".to_owned())?;
    let cluster = Cluster::connect(url).map_err(|error| error.to_string())?;
    let echo =
        cluster.function::<Bytes, Bytes, String>(&functions(1), "echo").map_err(|error| error.to_string())?;
    let bodies = (0..items).map(|n: usize| Bytes::from(vec![n as u8; 1 << 20]));
    let run = Stream::from_iter(bodies).window(16).map_remote(&echo);
    run.for_each(|_| sleep(Duration::from_millis(10))).map_err(|error| error.to_string())?;
    println!("{}", most_memory("self").unwrap_or(f64::NAN));
    Ok(())
}

/// The rows of the memory of each process.
pub fn memory(quick: bool) -> Vec<Row> {
    let items = if quick { 100 } else { 500 };
    let what = |process: &str| {
        format!("{items} items of 1 MiB behind a sink of 10 ms, window 16, two workers: memory of {process}")
    };
    let targets = [("the program", 48.0), ("the server", 64.0), ("a worker, the larger one", 24.0)];
    let row = |(process, target): (&str, f64), found: &Result<f64, Unmeasured>| {
        let target = (Target::AtMost(target), Unit::Mebibytes);
        match found {
            Ok(bytes) => Row::single(MEMORY, what(process), target, bytes / MIB, ""),
            Err(why) => Row::without(MEMORY, what(process), target, why.clone()),
        }
    };
    let found = match memories(items) {
        Ok(found) => found.map(Ok),
        Err(why) => [Err(why.clone()), Err(why.clone()), Err(why)],
    };
    targets.into_iter().zip(&found).map(|(target, found)| row(target, found)).collect()
}

/// The most memory of the program, the server and the larger of two workers, in bytes.
fn memories(items: usize) -> Result<[f64; 3], Unmeasured> {
    let server = Server::start()?;
    let workers = [server.worker(1), server.worker(1)];
    let mut program = server.role(PROGRAM, &[&items.to_string()]);
    let mut text = String::new();
    let impossible = |why: &str| Unmeasured::Impossible(why.to_owned());
    let output = program.0.stdout.as_mut().expect("it is piped");
    output.read_to_string(&mut text).map_err(|error| impossible(&error.to_string()))?;
    let untold = || impossible("this system does not tell the memory of a process");
    let of_program = text.trim().parse().ok().filter(|bytes: &f64| bytes.is_finite()).ok_or_else(untold)?;
    let of_workers = workers.iter().filter_map(Process::most_memory).fold(0.0, f64::max);
    Ok([of_program, server.process.most_memory().ok_or_else(untold)?, of_workers])
}

/// The row of an idle cluster.
pub fn idle(quick: bool) -> Row {
    let (wanted, time) = if quick { (3, 2) } else { (7, 5) };
    let what = "idle cluster, a server, a program and five workers: share of a core, all together";
    let measured = || {
        let server = Server::start()?;
        let workers: Vec<Process> = (0..5).map(|_| server.worker(1)).collect();
        let cluster = connect(&server.url)?;
        let echo = function::<Bytes, Bytes>(&cluster, "echo")?;
        let one = Stream::from_iter([Bytes::new()]).map_remote(&echo).count();
        assert_eq!(one, Ok(1));
        let this = || most_processor_time(&server, &workers);
        let sample = || {
            let (before, begin) = (this(), Instant::now());
            sleep(Duration::from_secs(time));
            100.0 * (this() - before) / begin.elapsed().as_secs_f64()
        };
        rounds(wanted, vec![("idle", Box::new(sample))])
    };
    Row::new(IDLE, what, (Target::AtMost(0.5), Unit::Percent), &measured(), |rounds| {
        (rounds.summary(|round| round.samples[0]), String::new())
    })
}

/// The processor time of this process, the server and the workers, in seconds.
fn most_processor_time(server: &Server, workers: &[Process]) -> f64 {
    let here = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let here = here.tv_sec as f64 + here.tv_nsec as f64 / 1e9;
    let others = workers.iter().chain([&server.process]).filter_map(Process::processor_time).sum::<f64>();
    here + others
}

/// The rows of the times to build the crate from nothing, with its dependencies.
pub fn build(quick: bool) -> Vec<Row> {
    let of = [
        ("the crate from cold", 100.0, &[][..]),
        ("the same with the feature `tls`", 125.0, &["--features", "tls"]),
    ];
    let row = |(what, target, features): (&str, f64, &[&str])| {
        let (what, target) = (format!("release build of {what}"), (Target::AtMost(target), Unit::Seconds));
        let built = match quick {
            true => Err(Unmeasured::Impossible("not measured with --quick".into())),
            false => build_time(features).map_err(Unmeasured::Impossible),
        };
        match built {
            Ok(time) => Row::single(BUILD, what, target, time, ""),
            Err(why) => Row::without(BUILD, what, target, why),
        }
    };
    of.into_iter().map(row).collect()
}

fn build_time(features: &[&str]) -> Result<f64, String> {
    let folder = std::env::temp_dir().join(format!("anabranch-measure-build-{}", std::process::id()));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    // Registries are not a part of it.
    done(Command::new("cargo").args(["fetch", "--locked", "--manifest-path"]).arg(&root))?;
    let begin = Instant::now();
    let mut command = Command::new("cargo");
    command.args([
        "build",
        "--release",
        "--locked",
        "--offline",
        "--quiet",
        "-p",
        "anabranch-cluster",
        "--manifest-path",
    ]);
    command.arg(&root).args(features).env("CARGO_TARGET_DIR", &folder);
    let built = done(&mut command);
    let time = begin.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(&folder);
    built.map(|()| time)
}
