//! `anabranch::ssp` and Rust-SSP: the application `farm`, and a pipeline that is idle.

use super::programs::Programs;

use crate::farms::Farms;
use crate::look::{Look, Measured};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};

pub const GROUP: &str = "`ssp` against Rust-SSP";
pub const IDLE: &str = "`ssp` while it is idle";

const VARIANTS: [&str; 2] = ["ssp", "rust-ssp"];
/// The workload, the name of its grain, and how many times as fast as the original it must be.
const GRAINS: [(&str, &str, Target); 4] = [
    ("0ns", "0", Target::AtLeast(10.0)),
    ("100ns", "100 ns", Target::AtLeast(3.0)),
    ("1us", "1 us", Target::AtLeast(1.3)),
    ("10us", "10 us", Target::Rival),
];

pub fn measure(look: &Look) -> Vec<Row> {
    let farms = match Farms::build(&VARIANTS) {
        Ok(farms) => farms,
        Err(why) => return Measured::impossible(GROUP, why).rows,
    };
    let grains = GRAINS.iter().map(|&(workload, grain, target)| {
        let played = farms.play(workload, &VARIANTS, look.quick);
        let ours = played.place("ssp");
        let what = format!("grain {grain}: times as fast");
        played.row((GROUP, what), "rust-ssp", (target, Unit::Times), |rounds, theirs| {
            rounds.summary(|round| round.samples[theirs] / round.samples[ours])
        })
    });
    grains.collect()
}

/// The processor time while nothing is posted.
pub fn idle(programs: &Programs) -> Vec<Row> {
    let arguments = ["idle".to_owned(), "3".to_owned()];
    let promise = (Target::AtMost(1.0), Unit::Percent);
    let what = "2 replicas: share of a core".to_owned();
    let theirs = match programs.rust_ssp().and_then(|()| programs.run("theirs", &arguments)) {
        Ok((share, _)) => format!("Rust-SSP {share:.1} %"),
        Err(why) => why.to_string(),
    };
    match programs.run("ours", &arguments) {
        Ok((share, _)) => vec![Row::single(IDLE, what, promise, share, theirs)],
        Err(why) => vec![Row::without(IDLE, what, promise, why)],
    }
}
