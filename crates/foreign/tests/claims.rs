//! Pages and manifests name one version of Rust, which `scripts/oldest.sh` tries, and the two packages that compile the command of
//! abz name the same crates.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages with other versions: what was changed, and with which compiler something was measured.
const OF_THE_PAST: [&str; 2] = ["CHANGELOG.md", "RESULTS.md"];

/// The pages and manifests below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let is_source =
                !path.is_symlink() && !name.starts_with('.') && name != "target" && name != "shared";
            // A folder of the tests' or of another checkout is no part of this one.
            if is_source && !path.join(".git").exists() {
                pages(&path, found);
            }
        } else if (name.ends_with(".md") && !OF_THE_PAST.contains(&&*name)) || name == "Cargo.toml" {
            found.push(path);
        }
    }
}

/// The versions of Rust, such as `1.89`, that a line names.
fn versions(line: &str) -> impl Iterator<Item = &str> {
    let names_rust = ["Rust ", "Rust toolchain", "rust-version"].iter().any(|name| line.contains(name));
    line.split(|c: char| !c.is_ascii_digit() && c != '.').map(|word| word.trim_matches('.')).filter(
        move |word| {
            let minor = word.strip_prefix("1.").unwrap_or_default();
            names_rust && minor.len() == 2 && minor.bytes().all(|digit| digit.is_ascii_digit())
        },
    )
}

#[test]
fn all_pages_and_manifests_name_the_same_version_of_rust() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut all, mut count, mut wrong) = (Vec::new(), 0, Vec::new());
    pages(&root, &mut all);
    for page in all {
        let text = fs::read_to_string(&page).expect("a page is text");
        for (number, line) in text.lines().enumerate() {
            for version in versions(line) {
                count += 1;
                if version != env!("CARGO_PKG_RUST_VERSION") {
                    wrong.push(format!("{}:{}: {line}", page.display(), number + 1));
                }
            }
        }
    }
    assert!(count >= 10, "only {count} places name a version");
    assert!(wrong.is_empty(), "Cargo.toml says {}:\n{}", env!("CARGO_PKG_RUST_VERSION"), wrong.join("\n"));
}

#[test]
fn a_version_is_found_in_a_sentence_and_in_a_manifest() {
    let found = |line| versions(line).collect::<Vec<_>>();
    assert_eq!(found("Both need the stock Rust toolchain (1.89 or later) and a C compiler."), ["1.89"]);
    assert_eq!(found("- The minimum supported Rust version is 1.90."), ["1.90"]);
    assert_eq!(found("rust-version = \"1.88\""), ["1.88"]);
    assert_eq!(found("`anabranch` 1.25 times as fast as Rust-SSP, with 1.5 GB"), [""; 0]);
}

/// The requirements of a manifest by the names of the crates, as they are written. A crate of the workspace has that of `workspace`.
fn requirements(manifest: &str, workspace: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut section = "";
    let mut found = BTreeMap::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if let (true, Some((name, written))) =
            (section.contains("dependencies") && !section.contains("dev-"), line.split_once(" = "))
        {
            let written = written.replace(", optional = true", "");
            let shared = workspace.get(name).filter(|_| written.contains("workspace = true"));
            let written = shared.cloned().unwrap_or(written);
            let version = written.strip_prefix("{ version = ").and_then(|rest| rest.strip_suffix(" }"));
            // A version alone is the same with and without braces.
            let version = version.filter(|version| !version.contains(','));
            found.insert(name.to_owned(), version.unwrap_or(&written).to_owned());
        }
    }
    found
}

/// The sources of Rust below a folder.
fn sources_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_package_for_python_has_the_crates_of_the_command() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest =
        |folder: &str| fs::read_to_string(root.join(folder).join("Cargo.toml")).expect("a manifest");
    let workspace = requirements(&manifest(""), &BTreeMap::new());
    let (own, python) = (manifest("crates/abz"), manifest("crates/python"));
    let [of_abz, of_python] = [&own, &python].map(|text| requirements(text, &workspace));
    let (_, command) = own.split_once("command = [").expect("the command is a feature");
    let (command, _) = command.split_once(']').expect("the list ends");
    let crates: Vec<&str> = command.split('"').filter_map(|word| word.strip_prefix("dep:")).collect();
    assert!(crates.len() > 5, "{crates:?}");
    for name in crates {
        assert_eq!(of_python.get(name), of_abz.get(name), "{name} in crates/python/Cargo.toml");
    }
    // The package compiles the sources of the command, which must use no other crates of abz.
    let mut sources = vec![root.join("crates/abz/src/main.rs")];
    sources_below(&root.join("crates/abz/src/command"), &mut sources);
    assert!(sources.len() > 20, "{sources:?}");
    for source in sources {
        let text = fs::read_to_string(&source).expect("a source");
        for name in of_abz.keys().filter(|name| !of_python.contains_key(*name)) {
            let path = format!("{}::", name.replace('-', "_"));
            assert!(
                !text.contains(&path),
                "{} names {path}, which crates/python does not have",
                source.display()
            );
        }
    }
}
