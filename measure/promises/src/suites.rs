//! The list of suites.

use crate::look::{Look, Measured};
use crate::scaling::SCALING;
use crate::{abz, automatic, cluster, core, cpp, front, inside, planted, prediction, python, rivals};
use measure_harness::machine::{Machine, load};
use measure_harness::table::Table;

/// The packages whose versions are shown.
const PACKAGES: [&str; 2] = ["anabranch", "rtrb"];

/// A suite: one word of the command line, and one table in `RESULTS.md`.
#[derive(Debug)]
pub struct Suite {
    pub name: &'static str,
    /// A description for the usage text.
    pub about: &'static str,
    /// The names that `--only` accepts.
    pub groups: fn() -> Vec<String>,
    measure: fn(&Look) -> Measured,
    /// Whether each group has a table of its own.
    sections: bool,
    /// The groups whose table `RESULTS.md` has by itself, too. They can be updated alone.
    pub apart: &'static [&'static str],
}

pub const SUITES: [Suite; 11] = [
    Suite {
        name: "core",
        about: "the core: each target against its ceiling or its rival",
        groups: core::names,
        measure: core::measure,
        sections: false,
        apart: &[],
    },
    Suite {
        name: "rivals",
        about: "ordered pipelines against those of other libraries",
        groups: rivals::names,
        measure: rivals::measure,
        sections: true,
        apart: &[],
    },
    Suite {
        name: "planted",
        about: "whether reports name a bottleneck that was planted",
        groups: planted::names,
        measure: planted::measure,
        sections: false,
        apart: &[],
    },
    Suite {
        name: "prediction",
        about: "predicted throughput against measured",
        groups: prediction::names,
        measure: prediction::measure,
        sections: false,
        apart: &[],
    },
    Suite {
        name: "automatic",
        about: "default settings against the best that a search finds",
        groups: automatic::names,
        measure: automatic::measure,
        sections: false,
        apart: &[],
    },
    Suite {
        name: "front",
        about: "annotations against the builder, and `ssp` against Rust-SSP",
        groups: front::names,
        measure: front::measure,
        sections: true,
        apart: &[],
    },
    Suite {
        name: "cpp",
        about: "C++: annotations and the builder against oneTBB, FastFlow, pbzip2 and plzip",
        groups: cpp::names,
        measure: cpp::measure,
        sections: true,
        apart: &[],
    },
    Suite {
        name: "cluster",
        about: "functions on workers over NATS, on this machine",
        groups: cluster::names,
        measure: cluster::measure,
        sections: false,
        apart: &[],
    },
    Suite {
        name: "abz",
        about: "abz against gzip, pigz, crabz, gzippy, igzip and libdeflate",
        groups: abz::names,
        measure: abz::measure,
        sections: true,
        apart: &[SCALING],
    },
    Suite {
        name: "inside",
        about: "abz::Reader and abz::Writer in a program, against the command and flate2",
        groups: inside::names,
        measure: inside::measure,
        sections: false,
        apart: &[],
    },
    Suite {
        name: "python",
        about: "abz for Python against rapidgzip, indexed_gzip, pgzip, xopen and gzip",
        groups: python::names,
        measure: python::measure,
        sections: true,
        apart: &[],
    },
];

impl Suite {
    /// Measures all groups, or the one that was asked for.
    pub fn run(&self, quick: bool, only: Option<String>) -> Table {
        table(self.name, self.measure, self.sections, quick, only)
    }
}

/// Measures, and makes a table of the rows.
pub fn table(
    name: &str,
    measure: impl FnOnce(&Look) -> Measured,
    sections: bool,
    quick: bool,
    only: Option<String>,
) -> Table {
    let (machine, before) = (Machine::of_this_run(&PACKAGES), load());
    let look = Look::new(quick, only);
    look.say(name);
    let Measured { rows, notes, tables } = measure(&look);
    Table { machine, load: (before, load()), quick, seconds: look.seconds(), notes, sections, rows, tables }
}
