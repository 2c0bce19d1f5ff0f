//! Which methods of a stream a case calls. A method that no generator draws fails a test, so a new method goes into a generator
//! first.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::case::{Case, End, From, How, Setting, Step, Summary, Way, cases};

fn step(step: &Step) -> &'static [&'static str] {
    match step {
        Step::Map => &["map"],
        Step::Try => &["try_map"],
        Step::With => &["map_init"],
        Step::TryWith => &["try_map_init"],
        Step::Inspect => &["inspect"],
        Step::Filter => &["filter"],
        Step::FilterMap => &["filter_map"],
        Step::TryFilterMap => &["try_filter_map"],
        Step::Farm => &["farm"],
        Step::TryFarm => &["try_farm"],
        Step::CountBytes => &["count_bytes"],
        Step::Through => &["through", "new", "then", "named"],
        Step::NewError => &["map_err"],
        Step::Flat => &["flat_map", "operator"],
        Step::TryFlat => &["try_flat_map", "try_operator"],
        Step::MapAsync(_) => &["map_async"],
        Step::TryMapAsync(_) => &["try_map_async"],
        Step::FilterMapAsync(_) => &["filter_map_async"],
        Step::TryFilterMapAsync(_) => &["try_filter_map_async"],
        Step::Sharded(_) => &["map_sharded"],
        Step::TrySharded(_) => &["try_map_sharded"],
        Step::ByKey => &["map_by_key"],
        Step::Needing(_) => &["try_map_dependent"],
        Step::Unordered => &["unordered"],
        Step::Each => &["serial_map"],
        Step::TryEach => &["try_serial_map"],
        Step::Option => &["serial_filter_map"],
        Step::TryOption => &["try_serial_filter_map"],
        Step::Take(_) => &["take"],
        Step::TakeWhile(_) => &["take_while"],
        Step::MapWhile(_) => &["map_while"],
        Step::Scan(_) => &["scan"],
        Step::Enumerate => &["enumerate"],
        Step::Zip(_) => &["zip"],
        Step::Skip(_) => &["skip"],
        Step::EveryNth(_) => &["step_by"],
        Step::Chunks(_) => &["chunks", "operator"],
        Step::Throttle => &["throttle"],
        Step::SerialFlat => &["serial_flat_map"],
        Step::TrySerialFlat => &["try_serial_flat_map"],
        Step::SerialSpread => &["serial_spread"],
        Step::TrySerialSpread => &["try_serial_spread"],
        Step::Spread => &["spread"],
        Step::Chain(_) => &["chain"],
        Step::Interleave(_) => &["interleave"],
        Step::ChunkBy => &["chunk_by"],
        Step::SortedWithin(_) => &["sorted_within_by_key"],
        Step::ReadyChunks(_) => &["ready_chunks", "flatten", "spread"],
        Step::Windows(..) | Step::Sessions(_) => &["windows"],
        Step::Aggregated(..) => &["aggregate_windows"],
        Step::WindowsByKey(_) => &["windows_by_key"],
        Step::Times(_) => &["aggregate_windows_by_key"],
        Step::Feedback { .. } => &["feedback_from"],
        Step::Fork(Way::Zip, _) => &["broadcast", "branch", "zip"],
        Step::Fork(Way::Merge, _) => &["broadcast", "branch", "merge"],
        Step::Fork(Way::Chosen | Way::InTurn | Way::ByKey, _) => &["split", "branch", "join"],
    }
}

fn setting(setting: Setting) -> &'static [&'static str] {
    match setting {
        Setting::Dedicated => &["dedicated"],
        Setting::Replicate(_) => &["replicas"],
        Setting::Spin | Setting::Affinity | Setting::WithPlan => &["with_plan"],
        Setting::Monitor | Setting::Watchdog | Setting::OnProgress => &["watch"],
        Setting::Names => &["title", "named"],
        Setting::Costs => &["cost", "costs_from"],
        Setting::Passes => &["passes"],
        Setting::WindowBytes(_) => &["window_bytes"],
        Setting::WorkersFrom(_) => &["workers"],
        Setting::Plan => &["explain", "plan"],
        Setting::Trace => &["trace"],
    }
}

fn source(from: From) -> &'static [&'static str] {
    match from {
        From::Iter | From::Fn => &["try_new", "into_stream"],
        From::Blocks => &["try_new", "in_blocks", "into_stream"],
        From::Channel(_) => &["channel"],
        From::Async => &["from_async", "try_from_async"],
        From::Select => &["select_all", "try_from_iter"],
    }
}

fn how(how: How) -> &'static [&'static str] {
    match how {
        How::Inline => &["inline"],
        How::Threads(_) | How::IntoIter(_) => &["workers"],
        How::Pool(_) | How::Detached(_) => &["pool"],
        How::WithIter(_) => &["with_iter"],
        How::IntoAsync(_) => &["into_async"],
        How::Reported(_) => &["report_to"],
    }
}

fn end(end: End) -> &'static [&'static str] {
    match end {
        End::ForEach => &["for_each"],
        End::TryForEach => &["try_for_each"],
        End::Fold => &["fold"],
        End::TryFold => &["try_fold"],
        End::Find(_) => &["find"],
        End::Any(_) => &["any"],
        End::All(_) => &["all"],
        End::Collect => &["collect"],
        End::Summary(Summary::Count) => &["count"],
        End::Summary(Summary::Sum) => &["sum"],
        End::Summary(Summary::Min) => &["min"],
        End::Summary(Summary::Max) => &["max"],
        End::Summary(Summary::Reduce) => &["reduce"],
    }
}

/// The calls of every case.
const ALWAYS: [&str; 4] = ["burst", "cancel_by", "on", "window"];
/// The methods that the generators of other files draw, and each of these files.
const ELSEWHERE: [(&str, &str); 6] = [
    ("chunks_timeout", "whole.rs"),
    ("feedback", "whole.rs"),
    ("from_iter", "whole.rs"),
    ("from_range", "blocks.rs"),
    ("from_slice", "operators.rs"),
    ("map_dependent", "deferred.rs"),
];

fn methods_of(case: &Case) -> Vec<&'static str> {
    let mut methods = [source(case.from), how(case.how), end(case.end)].concat();
    methods.extend(case.settings.iter().flat_map(|&(_, set)| setting(set)));
    case.walk(|inner, _| methods.extend(step(inner)));
    methods
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Whether each public method of the types has an example. `types` are the beginnings of their names.
fn methods(types: &[&str]) -> BTreeMap<String, bool> {
    let mut methods = BTreeMap::new();
    for file in sources(&folder("src")) {
        let (mut is_ours, mut has_example) = (false, false);
        for line in fs::read_to_string(file).unwrap().lines() {
            if line.starts_with("impl") {
                is_ours = !line.contains(" for ") && types.iter().any(|name| line.contains(name));
            }
            has_example |= line == "    /// ```";
            if let Some(rest) = line.strip_prefix("    pub fn ").filter(|_| is_ours) {
                let name = rest.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect();
                *methods.entry(name).or_insert(true) &= has_example;
            }
            has_example &= line.starts_with("    ///") || line.starts_with("    #[");
        }
    }
    methods
}

/// Whether the generator in a file calls a method.
fn calls(file: &str, method: &str) -> bool {
    let text = fs::read_to_string(folder("tests/integration").join(file)).unwrap();
    text.match_indices(method).any(|(at, _)| {
        let behind = &text[at + method.len()..];
        text[..at].ends_with(['.', ':']) && (behind.starts_with('(') || behind.starts_with("::<"))
    })
}

#[test]
fn each_method_is_drawn_and_called() {
    let mut runner = TestRunner::deterministic();
    let drawn = (0..3_000).map(|_| cases().new_tree(&mut runner).unwrap().current());
    let mut drawn: BTreeSet<&str> = drawn.flat_map(|case| methods_of(&case)).collect();
    drawn.extend(ALWAYS);
    let mut faults = Vec::new();
    let ours = drawn.iter().map(|&method| (method, "generator/stream.rs"));
    let missing = ours.chain(ELSEWHERE).filter(|(method, file)| !calls(file, method));
    faults.extend(missing.map(|(method, file)| format!("{file} does not call {method}")));
    let elsewhere = ELSEWHERE.map(|(method, _)| method);
    let public = methods(&["Stream<'", "Branches<'", "Pipeline<'", "Source<'"]);
    let undrawn =
        public.keys().filter(|&method| !drawn.contains(&**method) && !elsewhere.contains(&&**method));
    faults.extend(undrawn.map(|method| format!("no generator draws {method}")));
    let unknown = drawn.iter().chain(&elsewhere).filter(|&&method| !public.contains_key(method));
    faults.extend(unknown.map(|method| format!("a stream has no method {method}")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Options of a stage, settings of a run, and questions about its plan.
const SETTINGS: [&str; 21] = [
    "burst",
    "cancel_by",
    "cost",
    "costs_from",
    "count_bytes",
    "dedicated",
    "explain",
    "inline",
    "named",
    "on",
    "passes",
    "plan",
    "pool",
    "replicas",
    "report_to",
    "title",
    "trace",
    "watch",
    "window",
    "with_plan",
    "workers",
];

/// `scripts/methods.sh` prints them, with those of all features.
#[test]
fn a_stream_has_at_most_85_sources_stages_and_ends() {
    let mut methods = methods(&["Stream<'"]);
    let unknown: Vec<_> = SETTINGS.iter().filter(|&&setting| !methods.contains_key(setting)).collect();
    assert!(unknown.is_empty(), "a stream has no setting {unknown:?}");
    methods.retain(|name, _| !SETTINGS.contains(&&**name));
    assert!(methods.len() <= 85, "{} methods: {:?}", methods.len(), methods.keys());
}

#[test]
fn each_method_of_a_stream_has_an_example() {
    let mut methods = methods(&["Stream<'"]);
    methods.retain(|_, has_example| !*has_example);
    assert!(methods.is_empty(), "{:?}", methods.keys());
}
