//! The contract, and who keeps it: Anabranch's ways to write a loop, one file each, and the table with all systems.

mod annotations;
mod builder;
mod latency;
mod ssp;
mod table;

use measure_programs::contract::{Loop, Subject};

pub use latency::Latency;
#[cfg(test)]
pub use table::Shown;
pub use table::{Row, examined, shown};

/// The plain loop, and Anabranch's ways.
pub fn subjects() -> Vec<Subject> {
    vec![
        Subject::of::<Loop>(),
        Subject::of::<builder::Builder>(),
        Subject::of::<annotations::Annotations>(),
        Subject::of::<ssp::Ssp>(),
    ]
}
