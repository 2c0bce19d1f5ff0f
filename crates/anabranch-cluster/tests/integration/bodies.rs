//! Large items and results, and the memory that they take.

use std::thread;
use std::time::Duration;

use anabranch::Stream;
use anabranch_cluster::prelude::*;

use crate::support::{Job, Server, function, have_server, role, within, work};

const MIB: usize = 1 << 20;

#[test]
fn bodies_of_any_length_travel_there_and_back() {
    if !have_server() {
        return;
    }
    within(Duration::from_secs(60), || {
        let server = Server::start();
        let _workers = [server.worker(1), server.worker(2)];
        let cluster = server.cluster();
        // About the limits: a body in a message, a part, `max_payload`.
        let lengths =
            [0, 1, 4 << 10, (128 << 10) - 40, 128 << 10, 300_000, 512 << 10, MIB - 64, MIB, MIB + 1, 8 * MIB];
        let pairs = lengths.iter().zip(lengths.iter().cycle().skip(4)).chain(lengths.iter().zip(&lengths));
        let jobs: Vec<_> =
            (0..).zip(pairs).map(|(n, (item, result))| Job::new(n).sized(*item, *result)).collect();
        let expected: Vec<_> = jobs.iter().cloned().map(|job| work(job).unwrap()).collect();
        let results = Stream::from_iter(jobs).window(8).map_remote(&function(&cluster)).collect::<Vec<_>>();
        assert!(results.unwrap() == expected);
    });
}

#[test]
fn the_memory_of_program_server_and_worker_is_bounded_behind_a_slow_end() {
    if !have_server() || cfg!(not(target_os = "linux")) {
        return;
    }
    within(Duration::from_secs(60), || {
        let server = Server::start();
        let worker = server.worker(1);
        // With one arena the program has 62 to 77 MiB. With one for each thread it has 71 to 111 MiB, which depends
        // on how the threads run and not on what the program holds.
        let program = role("slow end", &server.url()).env("MALLOC_ARENA_MAX", "1");
        let mut program = program.start_until("has ended");
        let mib = |process: u32, most: u64| {
            let used = most_memory(process);
            assert!(used < most, "{used} MiB of {most}");
            used
        };
        let used = [mib(program.id(), 96), mib(server.id(), 64), mib(worker.id(), 48)];
        println!("MiB of program, server and worker: {used:?}");
        program.signal("KILL");
        program.wait();
    });
}

/// The most memory that a process has had, in MiB.
fn most_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}

/// A program with an end that takes 10 ms for each of 150 results of 1 MiB.
pub fn slow_end(cluster: &anabranch_cluster::Cluster) {
    let jobs = Stream::from_iter((0..150).map(|n| Job::new(n).sized(MIB, MIB))).window(16);
    let run = jobs.map_remote(&function(cluster)).for_each(|result| {
        assert_eq!(result.len(), MIB);
        thread::sleep(Duration::from_millis(10));
    });
    run.unwrap();
    println!("the program has ended");
    thread::sleep(Duration::from_secs(60));
}
