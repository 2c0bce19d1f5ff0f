//! The measures and the experiments, from outside, on tiny data.

use crate::suite::{folder, run, said};

#[test]
fn every_study_gives_numbers_and_a_picture() {
    let folder = folder("studies");
    let ran = run(&folder, &["--apps", "measures,experiments"]);
    assert!(ran.status.success(), "{}", said(&ran));
    let text = std::fs::read_to_string(folder.join("results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&text).unwrap();
    let studies = results["studies"].as_array().unwrap();
    let names: Vec<&str> = studies.iter().map(|study| study["name"].as_str().unwrap()).collect();
    let expected = [
        "order",
        "oversubscription",
        "scaling",
        "queue",
        "memory",
        "operations",
        "skew",
        "bursts",
        "accelerator",
        "compression",
    ];
    assert_eq!(names, expected);
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    for study in studies {
        let name = study["name"].as_str().unwrap();
        assert_eq!(study["without"].as_array().unwrap().len(), 0, "{study}");
        let trials = study["trials"].as_array().unwrap();
        assert!(
            trials.len() > 5 && trials.iter().all(|trial| trial["seconds"][0].as_f64() > Some(0.0)),
            "{name}"
        );
        let (_, section) = page.split_once(&format!("id=\"{name}\"")).expect(name);
        let (section, _) = section.split_once("</section>").unwrap();
        assert!(section.contains("<caption>") && !section.contains("NaN"), "{name}: {section}");
    }
    let scaling = &studies[2]["trials"].as_array().unwrap();
    let is_predicted = |trial: &&serde_json::Value| trial["series"] == "predicted by Anabranch";
    assert!(scaling.iter().filter(is_predicted).count() >= 6);
}

#[test]
fn the_stages_of_every_workload_have_times_and_sizes() {
    let folder = folder("stages");
    let ran = run(&folder, &["--apps", "stages"]);
    assert!(ran.status.success(), "{}", said(&ran));
    let text = std::fs::read_to_string(folder.join("results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&text).unwrap();
    let services = results["services"].as_array().unwrap();
    assert!(services.len() > 30, "{} workloads", services.len());
    for service in services {
        let stages = service["stages"].as_array().unwrap();
        let share: f64 = stages.iter().map(|stage| stage["share"].as_f64().unwrap()).sum();
        assert!(stages.len() > 1 && (share - 1.0).abs() < 1e-6, "{service}");
    }
    // The two halves of the micro-bench have 60 % and 40 % of the work: the paper's figure 4.
    let micro = services.iter().find(|it| it["application"] == "micro" && it["workload"] == "50000").unwrap();
    let items = |at: usize| micro["stages"][at]["items"].as_u64().unwrap();
    assert_eq!((items(0), items(3)), (64, 64));
}
