//! The methods of a stream are few, have examples, and are drawn by generators of random cases: CONTRIBUTING.md says by which.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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

/// The rows of the table of generators: the file of each, and the methods that it draws.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(folder("../../CONTRIBUTING.md")).unwrap();
    let (_, table) =
        text.split_once("| generator | promises | methods |\n").expect("the table of generators");
    let rows = table.lines().skip(1).map_while(|line| line.strip_prefix("| `"));
    let rows = rows.map(|row| {
        let (file, rest) = row.split_once('`').expect("a file");
        let (_, methods) = rest.trim_end_matches(" |").rsplit_once("| ").expect("methods");
        (file.to_owned(), methods.split(", ").map(str::to_owned).collect())
    });
    rows.collect()
}

/// Whether a text calls a method.
fn calls(text: &str, method: &str) -> bool {
    text.match_indices(method).any(|(at, _)| {
        let before = text[..at].ends_with(['.', ':']);
        let behind = &text[at + method.len()..];
        before && (behind.starts_with('(') || behind.starts_with("::<"))
    })
}

#[test]
fn each_method_is_drawn_by_a_generator() {
    let methods = methods(&["Stream<'", "Branches<'", "Pipeline<'"]);
    let table = table();
    let mut faults = Vec::new();
    for (file, drawn) in &table {
        let text = fs::read_to_string(folder("tests/integration").join(file)).unwrap();
        let missing = methods.keys().filter(|method| calls(&text, method) && !drawn.contains(*method));
        faults.extend(missing.map(|method| format!("the row of {file} does not say that it draws {method}")));
        let wrong = drawn.iter().filter(|method| !methods.contains_key(*method) || !calls(&text, method));
        faults.extend(wrong.map(|method| format!("{file} draws no method {method}")));
    }
    let is_drawn = |method: &String| table.values().any(|drawn| drawn.contains(method));
    let undrawn = methods.keys().filter(|method| !is_drawn(method));
    faults.extend(undrawn.map(|method| format!("no generator draws {method}")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// `scripts/methods.sh` prints them. Those of the features `futures` and `tokio` are not counted.
#[test]
fn a_stream_has_at_most_100_methods() {
    let mut methods = methods(&["Stream<'"]);
    methods.retain(|name, _| !name.ends_with("_async") && name != "on");
    assert!(methods.len() <= 100, "{} methods: {:?}", methods.len(), methods.keys());
}

#[test]
fn each_method_of_a_stream_has_an_example() {
    let mut methods = methods(&["Stream<'"]);
    methods.retain(|_, has_example| !*has_example);
    assert!(methods.is_empty(), "{:?}", methods.keys());
}
