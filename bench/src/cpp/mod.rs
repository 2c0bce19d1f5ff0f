//! The suite of C++: annotated programs and those of the builder, next to oneTBB, FastFlow and the tools that people use.
//!
//! `FASTFLOW` names a checkout of FastFlow's repository, which no distribution packages.

mod build;
mod farms;
mod programs;
mod translator;

use build::Built;

use crate::look::{Look, Measured};
use anabranch_measure::rounds::Unmeasured;
use anabranch_measure::statistics::Summary;
use anabranch_measure::table::{Outcome, Row};
use anabranch_measure::target::{Target, Unit};

/// The names of the groups.
pub fn names() -> Vec<String> {
    let programs = programs::PROGRAMS.iter().map(|program| program.name);
    farms::GROUPS.iter().copied().chain(programs).chain([translator::GROUP]).map(String::from).collect()
}

/// Builds the programs and measures them.
pub fn measure(look: &Look) -> Measured {
    let built = match Built::new() {
        Ok(built) => built,
        Err(why) => {
            let row = without(
                "cpp",
                "all of it".into(),
                (Target::None, Unit::Percent),
                &Unmeasured::Impossible(why),
            );
            return Measured { rows: vec![row], notes: Vec::new() };
        }
    };
    let mut rows = Vec::new();
    rows.extend(farms::measure(&built, look));
    for program in programs::PROGRAMS.iter().filter(|program| look.at(program.name)) {
        rows.extend(program.measure(&built, look));
    }
    if look.at(translator::GROUP) {
        rows.extend(translator::measure(&built));
    }
    Measured { rows, notes: vec![built.compiler()] }
}

/// A row with a number that is the same in each round.
fn single(group: &str, what: String, (target, unit): (Target, Unit), value: f64, remark: String) -> Row {
    let summary = Summary { median: value, low: value, high: value };
    let outcome = Outcome::measured(summary, target, (1, 0));
    Row { group: group.into(), what, unit, target, outcome, remark }
}

/// A row without a number.
fn without(group: &str, what: String, promise: (Target, Unit), why: &Unmeasured) -> Row {
    Row::new(group, what, promise, &Err(why.clone()), |_| unreachable!("no rounds"))
}
