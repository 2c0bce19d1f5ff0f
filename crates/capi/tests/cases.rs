//! Cases of the one generator, which the interface for C++ runs. The reference is the plain loop.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::compiler;
use crate::generator::case::{Case, End, Fault, From, How, Kind, Lie, Setting, Step, Summary, cases};
use crate::generator::compare::compare;
use crate::generator::model::plain_loop;
use crate::generator::program::{records, shrunk, told};

/// The name of a step in the program, and its number. `None` if the interface has no method for it.
fn named(step: &Step) -> Option<(&'static str, u64)> {
    Some(match *step {
        Step::Map => ("map", 0),
        Step::With => ("map_init", 0),
        Step::Inspect => ("inspect", 0),
        Step::Filter => ("filter", 0),
        Step::FilterMap => ("filter_map", 0),
        Step::Each => ("serial_map", 0),
        Step::Option => ("serial_filter_map", 0),
        Step::TakeWhile(limit) => ("take_while", limit),
        Step::Unordered => ("unordered", 0),
        // Serial steps with a state.
        Step::Enumerate => ("enumerate", 0),
        Step::Skip(count) => ("skip", count as u64),
        Step::EveryNth(step) => ("step_by", step as u64),
        // A function fails by an exception, whatever the step is.
        Step::Try
        | Step::TryWith
        | Step::TryFilterMap
        | Step::TryEach
        | Step::TryOption
        // The interface has none of these methods.
        | Step::Farm
        | Step::TryFarm
        | Step::CountBytes
        | Step::Through
        | Step::NewError
        | Step::Flat
        | Step::TryFlat
        | Step::MapAsync(_)
        | Step::TryMapAsync(_)
        | Step::FilterMapAsync(_)
        | Step::TryFilterMapAsync(_)
        | Step::Sharded(_)
        | Step::TrySharded(_)
        | Step::ByKey
        | Step::Needing(_)
        | Step::Take(_)
        | Step::MapWhile(_)
        | Step::Scan(_)
        | Step::Zip(_)
        | Step::Chunks(_)
        | Step::Throttle
        | Step::SerialFlat
        | Step::TrySerialFlat
        | Step::SerialSpread
        | Step::TrySerialSpread
        | Step::Spread
        | Step::Chain(_)
        | Step::Interleave(_)
        | Step::ChunkBy
        | Step::SortedWithin(_)
        | Step::ReadyChunks(_)
        | Step::Windows(..)
        | Step::Aggregated(..)
        | Step::WindowsByKey(_)
        | Step::Times(_)
        | Step::Sessions(_)
        | Step::Feedback { .. }
        | Step::Fork(..) => return None,
    })
}

/// The step that stands for one that has no name in the program.
fn stand_in(step: &Step) -> Step {
    match step {
        Step::Try => Step::Map,
        Step::TryWith => Step::With,
        Step::TryFilterMap => Step::FilterMap,
        Step::TryOption => Step::Option,
        Step::MapWhile(limit) | Step::Scan(limit) => Step::TakeWhile(*limit),
        other if other.is_fallible() => Step::Map,
        _ => Step::Each,
    }
}

/// The name of a setting in the program, and its number.
fn set(setting: Setting) -> Option<(&'static str, u64)> {
    Some(match setting {
        Setting::Replicate(count) => ("replicate", count as u64),
        Setting::Spin => ("spin", 0),
        Setting::OnProgress => ("on_progress", 0),
        Setting::Names => ("title", 0),
        Setting::Costs => ("name", 0),
        Setting::WindowBytes(bytes) => ("window_bytes", bytes),
        Setting::Plan => ("plan", 0),
        Setting::Trace => ("trace", 0),
        Setting::Dedicated
        | Setting::Affinity
        | Setting::Monitor
        | Setting::Watchdog
        | Setting::Passes
        | Setting::WithPlan
        | Setting::WorkersFrom(_) => return None,
    })
}

fn end(end: End) -> (&'static str, u64) {
    match end {
        End::ForEach | End::TryForEach => ("for_each", 0),
        End::Fold | End::TryFold | End::Summary(Summary::Sum | Summary::Reduce) => ("fold", 0),
        End::Find(limit) | End::Any(limit) | End::All(limit) => ("find", limit),
        End::Collect => ("collect", 0),
        End::Summary(Summary::Count | Summary::Min | Summary::Max) => ("count", 0),
    }
}

/// The nearest case that the interface can run.
fn callable(mut case: Case) -> Case {
    for step in &mut case.steps {
        if named(step).is_none() {
            *step = stand_in(step);
        }
    }
    case.lie = Lie::None;
    case.from = match case.from {
        From::Iter | From::Fn => From::Iter,
        From::Blocks => From::Blocks,
        From::Channel(_) | From::Async | From::Select => From::Channel(1),
    };
    case.how = match case.how {
        How::Inline if case.from == From::Iter => How::Inline,
        How::Reported(n) => How::Reported(n),
        how => How::Threads(Case { how, ..case.clone() }.threads()),
    };
    if let (From::Channel(_), How::Threads(n) | How::Reported(n)) = (case.from, &mut case.how) {
        // The library keeps 8 idle runners, one for each number of workers here. One that is dropped at the end of the program would
        // look like a leak.
        *n = (*n).min(8);
    }
    case.end = match case.end {
        _ if matches!(case.from, From::Channel(_)) => End::ForEach,
        End::TryForEach => End::ForEach,
        End::TryFold => End::Fold,
        end => end,
    };
    case.settings.retain(|&(_, setting)| set(setting).is_some());
    // Every failure is an exception.
    for fault in &mut case.faults {
        let kind = if fault.kind == Kind::Error { Kind::Panic } else { fault.kind };
        *fault = Fault { kind, child: None, ..*fault };
    }
    case.buildable()
}

/// A case as the program reads it.
fn line(case: &Case) -> String {
    let mut text = told(case, &plain_loop(case));
    let from = match case.from {
        From::Channel(_) => "sent",
        From::Blocks => "blocks",
        _ => "iter",
    };
    let how = match case.how {
        How::Inline => "inline",
        How::Reported(_) => "reported",
        _ => "threads",
    };
    let (end, limit) = end(case.end);
    write!(text, "{from} {how} {end} {limit} {} ", case.steps.len()).unwrap();
    for (step, node) in case.steps.iter().zip(case.places()) {
        let (name, number) = named(step).expect("a step with a name");
        write!(text, "{name} {node} {number} ").unwrap();
    }
    write!(text, "{} ", case.settings.len()).unwrap();
    for &(at, setting) in &case.settings {
        let (name, number) = set(setting).expect("a setting with a name");
        write!(text, "{at} {name} {number} ").unwrap();
    }
    text.push('\n');
    text
}

/// Lets a program run cases. Returns the first that differs from the loop, and how it does.
fn run(program: &Path, cases: &[Case]) -> Option<(Case, String)> {
    let file = program.with_extension("cases");
    let lines: String = cases.iter().map(line).collect();
    std::fs::write(&file, lines).expect("a folder that can be written to");
    let mut command = Command::new(program);
    let output = compiler::run(command.env("TSAN_OPTIONS", compiler::TSAN_OPTIONS).arg("--cases").arg(&file));
    let written = String::from_utf8(output.stdout).expect("the program writes UTF-8");
    let seen = records(&written, cases).unwrap_or_else(|what| panic!("{what}"));
    cases.iter().zip(&seen).find_map(|(case, seen)| {
        let what = compare(case, seen, &plain_loop(case)).err()?;
        Some((case.clone(), what))
    })
}

/// Checks that a program does in each case what the plain loop does.
///
/// # Panics
/// With the smallest case that was found to differ, and how it does.
pub fn hold(program: &Path) {
    let config = ProptestConfig::default();
    let count = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { 400 };
    let mut runner = TestRunner::new(config);
    let drawn = (0..count).map(|number| {
        let case = cases().new_tree(&mut runner).unwrap().current();
        callable(if number % 4 == 3 { case.leaving_without_order() } else { case })
    });
    let Some((case, what)) = run(program, &drawn.collect::<Vec<_>>()) else { return };
    // Each smaller case runs several times, because a failure may depend on the schedule.
    let fails = |case: &Case| run(program, &vec![case.clone(); 20]).map(|(_, what)| what);
    let (case, what) = shrunk(case, what, |smaller| fails(&callable(smaller.clone())));
    panic!("{:#?}\n{what}", callable(case));
}
