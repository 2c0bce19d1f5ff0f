//! The suite from outside: its own variants on tiny data.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn suite(arguments: &[&str]) -> Output {
    let mut suite = Command::new(env!("CARGO_BIN_EXE_measure"));
    suite.arg("suite").args(arguments).env_remove("SUITE_DATA").output().expect("the program starts")
}

/// An empty folder for a test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

pub fn run(folder: &Path, more: &[&str]) -> Output {
    let out = folder.to_str().expect("a path in UTF-8");
    let own = "sequential,builder,annotations,ssp,network";
    suite(&[&["run", "--tiny", "--workers", "2", "--variants", own, "--out", out], more].concat())
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_application_gives_the_same_with_every_variant_of_anabranch() {
    let folder = folder("every");
    let ran = run(&folder, &[]);
    assert!(ran.status.success(), "{}", said(&ran));
    let text = std::fs::read_to_string(folder.join("results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&text).unwrap();
    let groups = results["groups"].as_array().unwrap();
    let applications: BTreeSet<&str> =
        groups.iter().map(|group| group["application"].as_str().unwrap()).collect();
    assert_eq!(applications.len(), 19, "{applications:?}");
    for group in groups {
        assert_eq!(group["without"].as_array().unwrap().len(), 0, "{group}");
        let cells = group["cells"].as_array().unwrap();
        let variants: Vec<&str> = cells.iter().map(|cell| cell["variant"].as_str().unwrap()).collect();
        let network: &[&str] = if group["application"] == "radio" { &["network"] } else { &[] };
        assert_eq!(variants, [&["sequential", "builder", "annotations", "ssp"], network].concat());
    }
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    // A table for each case, and those of all cases, of the slow sink and of the published figures.
    assert_eq!(page.matches("<caption>").count(), groups.len() + 3);
    assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http"), "the page loads nothing");
    let (results, picture) = (folder.join("results.json"), folder.join("picture.svg"));
    let told = suite(&["summary", results.to_str().unwrap(), "--picture", picture.to_str().unwrap()]);
    let tables = String::from_utf8_lossy(&told.stdout);
    assert!(told.status.success() && tables.contains("| what | target | measured |"), "{tables}");
    assert!(std::fs::read_to_string(picture).unwrap().starts_with("<svg xmlns="));
}

#[test]
fn what_was_measured_is_not_measured_again_and_equals_itself() {
    let folder = folder("resumed");
    let apps = ["--apps", "micro/500"];
    assert!(run(&folder, &apps).status.success());
    let results = folder.join("results.json");
    let again = run(&folder, &["--apps", "micro/500,log"]);
    assert!(said(&again).contains("1 cases are measured already"), "{}", said(&again));
    let path = results.to_str().unwrap();
    let compared = suite(&["compare", path, path]);
    assert!(compared.status.success(), "{}", said(&compared));
    let table = String::from_utf8_lossy(&compared.stdout);
    assert!(table.contains("micro 500, 2 workers: builder") && table.contains("+0.0 %"), "{table}");
}

#[test]
fn a_mistake_is_answered_by_what_to_do() {
    for (arguments, answer) in [
        (["run", "--apps", "no"], "there is no application no: `suite list` shows all applications"),
        (["run", "--variants", "no"], "there is no variant no: `suite list` shows all variants"),
        (["run", "--workers", "0"], "--workers needs numbers from 1 on"),
        (["compare", "no.json", "no.json"], "`suite run --out DIR` writes DIR/results.json"),
    ] {
        let ran = suite(&arguments);
        assert!(!ran.status.success() && said(&ran).contains(answer), "{arguments:?}: {}", said(&ran));
    }
}
