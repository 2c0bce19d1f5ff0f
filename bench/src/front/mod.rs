//! The suite of the front ends: annotations against the builder, and `anabranch::ssp` against Rust-SSP.
//!
//! The programs are built in a workspace of their own in the target folder, since Rust-SSP is in no registry.
//! `RUST_SSP_DIR` names a checkout of its repository.

mod annotations;
mod compiling;
mod long;
mod pipelines;
mod programs;
mod ssp;

use programs::Programs;

use crate::look::{Look, Measured};
use anabranch_measure::rounds::Unmeasured;
use anabranch_measure::statistics::Summary;
use anabranch_measure::table::{Outcome, Row};
use anabranch_measure::target::{Target, Unit};

const GROUPS: [&str; 4] = [annotations::GROUP, compiling::GROUP, ssp::GROUP, ssp::IDLE];

/// The names of the groups.
pub fn names() -> Vec<String> {
    GROUPS.map(String::from).to_vec()
}

/// Builds the programs and measures them.
pub fn measure(look: &Look) -> Measured {
    let programs = match Programs::build() {
        Ok(programs) => programs,
        Err(why) => {
            let missing = Err(Unmeasured::Impossible(why));
            let row = Row::new("front", "all of it", (Target::None, Unit::Percent), &missing, |_| {
                unreachable!("no rounds")
            });
            return Measured { rows: vec![row], notes: Vec::new() };
        }
    };
    let mut rows = Vec::new();
    if look.at(annotations::GROUP) {
        rows.extend(annotations::measure(&programs, look.quick));
    }
    if look.at(compiling::GROUP) {
        rows.extend(compiling::measure(&programs, look.quick));
    }
    if look.at(ssp::GROUP) {
        rows.extend(ssp::measure(&programs, look.quick));
    }
    if look.at(ssp::IDLE) {
        rows.extend(ssp::idle(&programs));
    }
    Measured { rows, notes: vec![programs.versions()] }
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
