//! The suite of C++: annotated programs and those of the builder, next to oneTBB, FastFlow and the tools that people use.
//!
//! `FASTFLOW` names a checkout of FastFlow's repository, which no distribution packages.

mod build;
mod farms;
mod programs;
mod translator;

use build::Built;

use crate::look::{Look, Measured};

/// The names of the groups.
pub fn names() -> Vec<String> {
    let programs = programs::PROGRAMS.iter().map(|program| program.name);
    farms::names().chain(programs).chain([translator::GROUP]).map(String::from).collect()
}

/// Builds the programs and measures them.
pub fn measure(look: &Look) -> Measured {
    let built = match Built::new() {
        Ok(built) => built,
        Err(why) => return Measured::impossible("cpp", why),
    };
    let mut rows = Vec::new();
    rows.extend(farms::measure(look));
    for program in programs::PROGRAMS.iter().filter(|program| look.at(program.name)) {
        rows.extend(program.measure(&built, look));
    }
    if look.at(translator::GROUP) {
        rows.extend(translator::measure(&built));
    }
    Measured { rows, notes: vec![built.compiler()], ..Measured::default() }
}
