//! Programs that are killed and go on where they were.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use anabranch::Stream;
use anabranch_cluster::{Cluster, RemoteError, prelude::*};
use bytes::Bytes;

use crate::support::{Act, Job, Server, function, have_server, role, within, work};

/// The folder of the output and the journal.
const FOLDER: &str = "ANABRANCH_TEST_FOLDER";

const ITEMS: u64 = 1_500;

fn jobs() -> impl Iterator<Item = Job> + Send {
    (0..ITEMS).map(|n| Job::new(n).sized(n as usize % 50, 1 + n as usize % 30))
}

/// A program that stores the results of all jobs, and the number of items that the first stage was asked for.
pub fn journaled(cluster: &Cluster) {
    let folder = PathBuf::from(std::env::var(FOLDER).unwrap());
    let journal = cluster.journal(folder.join("journal"), "the jobs").unwrap();
    let remote = function(cluster).resume(&journal);
    let mut file =
        File::options().create(true).truncate(false).write(true).open(folder.join("output")).unwrap();
    file.set_len(journal.mark()).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    let mut stored = journal.delivered();
    let run = Stream::from_iter(jobs()).window(40).map_remote(&remote).for_each(|result: Bytes| {
        file.write_all(&result).unwrap();
        stored += 1;
        if stored.is_multiple_of(7) || stored == ITEMS {
            file.sync_data().unwrap();
            journal.commit(stored, file.stream_position().unwrap()).unwrap();
        }
    });
    run.unwrap();
    fs::write(folder.join("end"), "").unwrap();
}

/// How many programs are killed side by side. Most of their time is waiting.
const LANES: usize = 4;

/// This may take longer than 10 s: each of a hundred lives connects to a server and computes a part.
#[test]
fn a_program_that_is_killed_a_hundred_times_stores_each_result_once() {
    if !have_server() {
        return;
    }
    within(Duration::from_secs(120), || {
        let expected: Vec<u8> = jobs().flat_map(|job| work(job).unwrap()).collect();
        let server = Server::start();
        let _worker = server.worker(2);
        thread::scope(|scope| {
            for _ in 0..LANES {
                scope.spawn(|| is_killed(100 / LANES, &server.url(), &expected));
            }
        });
    });
}

/// Runs programs, each until its end, and kills them so many times on the way.
fn is_killed(times: usize, url: &str, expected: &[u8]) {
    let (mut kills, mut ends) = (0, 0);
    while kills < times || ends == 0 {
        let folder = tempfile::tempdir().unwrap();
        let (output, end) = (folder.path().join("output"), folder.path().join("end"));
        let mut life = 0;
        while !end.exists() {
            let mut program = role("journaled", url).env(FOLDER, folder.path()).start();
            life += 1;
            // It is killed at a moment that depends on how far it has come: after some bytes, or some time after that.
            let until = fs::metadata(&output).map_or(0, |file| file.len()) + life * 131 % 700;
            let began = Instant::now();
            while !program.has_ended()
                && fs::metadata(&output).map_or(0, |file| file.len()) < until
                && began.elapsed() < Duration::from_secs(5)
            {
                thread::sleep(Duration::from_micros(300));
            }
            if kills < times && !end.exists() {
                program.signal("KILL");
                kills += 1;
            }
            program.wait();
        }
        ends += 1;
        assert!(fs::read(&output).unwrap() == expected, "a result is missing, doubled or in a wrong place");
    }
}

#[test]
fn a_stream_that_resumes_calls_nothing_for_what_was_stored_and_numbers_items_from_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::local();
    let journal = cluster.journal(folder.path().join("journal"), "the jobs").unwrap();
    let remote = function(&cluster).resume(&journal);
    // The first 3 jobs would fail.
    let jobs = |bad: u64| {
        (0..10).map(move |n| Job::new(n).act(if n < 3 || n == bad { Act::Panic } else { Act::Compute }))
    };
    journal.commit(3, 0).unwrap();
    assert_eq!(Stream::from_iter(jobs(99)).map_remote(&remote).count(), Ok(7));
    let run = Stream::from_iter(jobs(8)).map_remote(&remote).count();
    assert_eq!(run, Err(RemoteError::Panic { item: 8, message: "job 8 panics".to_owned() }));
    // A source that has as many items as were stored has nothing left, and a shorter one is another source.
    for (items, expected) in
        [(4, Ok(1)), (3, Ok(0)), (2, Err((2, 3))), (0, Err((0, 3)))] as [(_, Result<usize, (u64, u64)>); 4]
    {
        let run = Stream::from_iter(jobs(99).take(items)).map_remote(&remote).count();
        assert_eq!(run, expected.map_err(|(items, stored)| RemoteError::EndedEarly { items, stored }));
    }
}
