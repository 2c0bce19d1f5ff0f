//! The time that a killed worker costs.

use std::sync::Mutex;
use std::time::Instant;

use anabranch::Stream;
use anabranch_cluster::prelude::*;

use super::processes::Server;
use super::{KILLED, Wait, connect, function, rounds};
use measure_harness::rounds::{Rounds, Unmeasured};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};

/// How long each item takes, in microseconds.
const TIME: u32 = 2_000;

pub fn killed(quick: bool) -> Row {
    let (items, wanted) = if quick { (600, 3) } else { (2_000, 7) };
    let what = "one of two workers is killed and another one started, lease 2 s: added time";
    Row::new(
        KILLED,
        what,
        (Target::AtMost(2_500.0), Unit::Milliseconds),
        &measured(items, wanted),
        |rounds| {
            let without = rounds.median(|round| round.samples[0]);
            let added = rounds.summary(|round| 1e3 * (round.samples[1] - round.samples[0]));
            (added, format!("{:.2} s without", without))
        },
    )
}

fn measured(items: usize, wanted: usize) -> Result<Rounds, Unmeasured> {
    let server = Server::start()?;
    let workers = Mutex::new([server.worker(1), server.worker(1)]);
    let cluster = connect(&server.url)?;
    let wait = function::<Wait, u32>(&cluster, "wait")?;
    let run = |kills: bool| {
        let begin = Instant::now();
        let mut seen = 0;
        let done =
            Stream::from_iter((0..items).map(|_| Wait(TIME))).window(64).map_remote(&wait).for_each(|_| {
                seen += 1;
                if kills && seen == items * 4 / 5 {
                    let [first, _] = &mut *workers.lock().expect("no sink panics");
                    *first = server.worker(1);
                }
            });
        assert_eq!((done, seen), (Ok(()), items));
        begin.elapsed().as_secs_f64()
    };
    // The first run waits until the workers are there.
    run(false);
    rounds(wanted, vec![("undisturbed", Box::new(|| run(false))), ("killed", Box::new(|| run(true)))])
}
