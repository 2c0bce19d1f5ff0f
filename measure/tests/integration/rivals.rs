//! Every rival gives the results of the plain loop. What cannot be built is left out.

use std::process::Command;

use measure_harness::builds;
use measure_harness::rival::{PATIENCE, Rival};
use measure_harness::work;

use crate::suite::{folder, said, suite};

#[test]
fn every_application_gives_the_same_with_every_rival() {
    let folder = folder("rivals");
    let out = folder.to_str().expect("a path in UTF-8");
    let rivals = "rayon,orx,pariter,par-stream,pipeliner,crossbeam,threads,tokio";
    let cpp = "cpp-sequential,cpp-builder,cpp-annotated,tbb,openmp";
    let variants = if abz_foreign::have("c++") { &format!("{rivals},{cpp}") } else { rivals };
    let ran = suite(&["run", "--tiny", "--workers", "2", "--variants", variants, "--out", out]);
    assert!(ran.status.success(), "{}", said(&ran));
    let text = std::fs::read_to_string(folder.join("results.json")).unwrap();
    let results: serde_json::Value = serde_json::from_str(&text).unwrap();
    for absent in results["absent"].as_array().unwrap() {
        let (variant, why) = (absent[0].as_str().unwrap(), absent[1].as_str().unwrap());
        // Only these libraries may be missing.
        assert!(["tbb", "openmp"].contains(&variant) && !why.contains("failed"), "{variant}: {why}");
        abz_foreign::leave_out(&format!("{variant} ({why})"));
    }
    let groups = results["groups"].as_array().unwrap();
    assert!(groups.len() >= 19, "{text}");
    for group in groups {
        assert_eq!(group["without"].as_array().unwrap().len(), 0, "{group}");
        assert!(group["cells"].as_array().unwrap().len() > rivals.split(',').count(), "{group}");
    }
}

#[test]
fn rivals_of_the_promises_give_the_results_of_the_loop() {
    let ask = |rival: &mut Rival, request: &str| rival.ask(request, PATIENCE).unwrap().digest;
    let mut tokio = Rival::of_package(&builds::source("rivals"), "promise-rivals").unwrap();
    let expected = work::Work::calibrated(3, false).fold(0..1_000).number();
    for form in ["tokio", "tokio-polled"] {
        assert_eq!(ask(&mut tokio, &format!("{form} 8 3 1000")), expected, "{form}");
    }
    assert_eq!(ask(&mut tokio, "ring 5 100"), 100);
    let mut windows = Rival::of_package(&builds::source("rivals"), "window-rivals").unwrap();
    assert_eq!(ask(&mut windows, "timely 3000000"), ask(&mut windows, "renoir 3000000"));
    if abz_foreign::have("go") {
        let program = folder("go");
        let source = builds::source("rivals/promises/ring.go");
        builds::run(Command::new("go").arg("build").arg("-o").arg(&program).arg(source)).unwrap();
        assert_eq!(ask(&mut Rival::start(Command::new(program)).unwrap(), "ring 5 100"), 100);
    }
}
