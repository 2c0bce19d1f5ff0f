//! Plans before a run, and reports and traces after it.

use crate::support::{Folder, prose};
use serde_json::Value;

/// Returns a folder with a file that all threads process together, and two small ones.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, len) in [("large", 4_000_000), ("a", 1_000), ("b", 1_000)] {
        folder.write(name, &prose(len));
    }
    folder
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn explain_prints_the_plan_and_does_nothing() {
    let folder = folder();
    let plan = text(folder.abz(&["--explain", "-p2", "large"]).exits(0).stdout());
    assert!(plan.starts_with("large:\n") && plan.contains("2 workers"), "{plan}");
    for stage in ["read", "encode", "write"] {
        assert!(plan.contains(&format!("  {stage} ")), "{stage}: {plan}");
    }
    let plan = text(folder.abz(&["--explain", "-d", "-p2"]).exits(0).stdout());
    assert!(plan.contains("2 workers") && plan.contains("decode") && plan.contains("write"), "{plan}");
    let dot = text(folder.abz(&["--explain=dot", "large"]).exits(0).stdout());
    assert!(dot.starts_with("digraph") && dot.contains("encode"), "{dot}");
    let svg = text(folder.abz(&["--explain=svg", "large"]).exits(0).stdout());
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    let json = folder.abz(&["--explain=json", "-p2", "large"]).exits(0).stdout();
    let json: Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["plan"]["nodes"][2]["name"], "write");
    assert_eq!(folder.names(), ["a", "b", "large"]);
}

#[test]
fn report_says_what_each_stage_did_and_what_held_it_up() {
    let folder = folder();
    let said = folder.abz(&["-k", "--report", "-p2", "large"]).exits(0).stderr();
    for word in ["read", "encode", "write", "4 items", "Latency", "predicted", "Bottleneck: "] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let said = folder.abz(&["-kf", "--report=text", "-p2", "a", "b"]).exits(0).stderr();
    assert!(said.contains("open") && said.contains("convert") && said.contains("2 items"), "{said}");
    let said = folder.abz(&["-t", "--report", "-p2", "large.gz"]).exits(0).stderr();
    assert!(said.contains("split") && said.contains("decode"), "{said}");
}

#[test]
fn reports_of_several_files_are_one_document() {
    let folder = folder();
    let all = ["large", "a", "b"];
    let line = |more: &[&'static str]| [&["-kf", "-p2"], more, &all].concat();
    folder.abz(&line(&["--report=json", "--report-file", "r.json"])).exits(0).says("");
    let reports: Value = serde_json::from_slice(&folder.read("r.json")).unwrap();
    // All threads compress the large file, and one thread each the small ones.
    let items: Vec<u64> =
        reports.as_array().unwrap().iter().map(|one| one["items"].as_u64().unwrap()).collect();
    assert_eq!(items, [4, 2]);
    folder.abz(&line(&["--report=html", "--report-file", "r.html", "--trace", "t.json"])).exits(0).says("");
    let page = text(folder.read("r.html"));
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert_eq!(page.matches("<article>").count(), 2);
    let trace: Value = serde_json::from_slice(&folder.read("t.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    for (pid, stage) in [(1, "encode"), (2, "convert")] {
        let slices = events.iter().filter(|event| event["ph"] == "X" && event["pid"] == pid);
        assert!(slices.into_iter().any(|event| event["name"] == stage), "{stage}");
    }
    let list = text(folder.abz(&["-kf", "--report=json", "large"]).exits(0).stderr().into());
    assert_eq!(serde_json::from_str::<Value>(&list).unwrap().as_array().unwrap().len(), 1);
}

#[test]
fn a_file_that_exists_is_not_taken_for_a_report() {
    let folder = folder();
    for option in ["--trace", "--report-file"] {
        let said = folder.abz(&["--report", "-k", option, "a", "large"]).exits(1).stderr();
        assert!(said.contains("exists already") && said.contains("-f"), "{said}");
    }
    assert_eq!(folder.read("a"), prose(1_000));
    assert_eq!(folder.names(), ["a", "b", "large"], "nothing was done");
    let said = folder.abz(&["-k", "--trace", "no/such/folder", "large"]).exits(1).stderr();
    assert!(said.starts_with("abz: no/such/folder: cannot be written to"), "{said}");
    folder.abz(&["-kf", "--trace", "a", "large"]).exits(0);
    assert!(serde_json::from_slice::<Value>(&folder.read("a")).is_ok());
    // Reports may go to files that are not regular.
    folder.abz(&["-kf", "--report", "--report-file", "/dev/null", "large"]).exits(0).says("");
}

#[test]
fn mistakes_are_told_and_cost_nothing() {
    let folder = folder();
    for (line, word) in [
        (&["--report=xml", "large"][..], "xml"),
        (&["--explain=png", "large"], "png"),
        (&["--report-file", "r", "large"], "--report"),
        (&["--explain", "--report", "large"], "cannot be used with"),
        (&["--explain", "--trace", "t", "large"], "cannot be used with"),
        (&["--report", "--report-file", "t", "--trace", "t", "large"], "different files"),
        (&["-l", "--report", "large"], "--list has none"),
        (&["--trace"], "a value is required"),
    ] {
        let said = folder.abz(line).exits(1).stderr();
        assert!(said.contains(word), "{line:?}: {said}");
    }
    assert_eq!(folder.names(), ["a", "b", "large"]);
}
