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

const GROUPS: [&str; 4] = [annotations::GROUP, compiling::GROUP, ssp::GROUP, ssp::IDLE];

/// The names of the groups.
pub fn names() -> Vec<String> {
    GROUPS.map(String::from).to_vec()
}

/// Builds the programs and measures them.
pub fn measure(look: &Look) -> Measured {
    let programs = match Programs::build() {
        Ok(programs) => programs,
        Err(why) => return Measured::impossible("front", why),
    };
    let mut rows = Vec::new();
    if look.at(annotations::GROUP) {
        rows.extend(annotations::measure(&programs, look.quick));
    }
    if look.at(compiling::GROUP) {
        rows.extend(compiling::measure(&programs, look.quick));
    }
    if look.at(ssp::GROUP) {
        rows.extend(ssp::measure(look));
    }
    if look.at(ssp::IDLE) {
        rows.extend(ssp::idle(&programs));
    }
    Measured { rows, notes: vec![programs.versions()], ..Measured::default() }
}
