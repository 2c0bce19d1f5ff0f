//! The suite of the Python package: reading and writing 100 MiB of text, next to other packages.
//!
//! `measure/python/rival.py` runs them, with the Python of `PYTHON` or `python3`.

use std::cell::RefCell;
use std::process::{Command, id};
use std::time::Duration;

use measure_harness::builds;
use measure_harness::rival::{PATIENCE, Rival};
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

use crate::look::{Look, Measured};

/// The name of a group and the contenders' word for it, and the most percent of the time of each peer that abz may take.
type Group = (&'static str, &'static str, &'static [(&'static str, f64)]);
const GROUPS: [Group; 3] = [
    (
        "open().read(1 << 20) to the end, a file of gzip -6",
        "read",
        &[("rapidgzip", 90.0), ("xopen", 60.0), ("gzip", 20.0)],
    ),
    ("writing, gzip at level 6, a MiB at a time", "write", &[("pgzip", 60.0), ("xopen", 80.0)]),
    ("1,000 random reads of 4 KiB with an index", "random", &[("indexed_gzip", 50.0), ("rapidgzip", 50.0)]),
];

/// The words for `--only`.
pub fn names() -> Vec<String> {
    GROUPS.map(|(_, word, _)| word.into()).to_vec()
}

/// Compares the package with those that are installed.
pub fn measure(look: &Look) -> Measured {
    let folder = std::env::temp_dir().join(format!("abz-python-{}", id()));
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let started = std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()));
    let started = started.and_then(|()| {
        let mut rival = Command::new(python);
        rival.arg(builds::source("python/rival.py")).arg(&folder).arg(if look.quick { "8" } else { "100" });
        Rival::start(rival)
    });
    let measured = match started {
        Ok(rival) if rival.versions.contains_key("abz") => compare(rival, look),
        Ok(_) => {
            Measured::impossible("python", "this Python has no package abz: pip install crates/python".into())
        }
        Err(why) => Measured::impossible("python", why),
    };
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

fn compare(rival: Rival, look: &Look) -> Measured {
    let versions: Vec<String> =
        rival.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let (rounds, time) = if look.quick { (3, 60) } else { (15, 600) };
    let budget = Budget { wanted: rounds, least: 3, time: Duration::from_secs(time) };
    let rival = RefCell::new(rival);
    let mut rows = Vec::new();
    for (group, word, peers) in GROUPS.into_iter().filter(|(_, word, _)| look.at(word)) {
        for &(peer, most) in peers {
            let asked = (Target::AtMost(most), Unit::Percent);
            if !rival.borrow().versions.contains_key(peer) {
                let why = Unmeasured::NotInstalled(format!("pip install {peer}"));
                rows.push(Row::without(group, format!("of {peer}"), asked, why));
                continue;
            }
            // The first run makes the index, and tells the bytes on which all have to agree.
            let first = rival.borrow_mut().ask(&format!("{word}_abz"), PATIENCE);
            let rounds = first.map_err(Unmeasured::Impossible).and_then(|first| {
                let contender = |name: &str| {
                    let request = format!("{word}_{name}");
                    let rival = &rival;
                    let sample = move || rival.borrow_mut().sample(&request);
                    Contender::sampled(name, Digest::of_number(first.digest), sample)
                };
                play(budget, None, vec![contender("abz"), contender(peer)])
            });
            rows.push(Row::new(group, format!("of {peer}"), asked, &rounds, |rounds| {
                let [ours, theirs] = [0, 1].map(|at| rounds.median(|round| round.samples[at]));
                let share = rounds.summary(|round| 100.0 * round.samples[0] / round.samples[1]);
                (share, format!("{ours:.3} s, {theirs:.3} s"))
            }));
        }
    }
    Measured { rows, notes: vec![versions.join("; ")], ..Measured::default() }
}
