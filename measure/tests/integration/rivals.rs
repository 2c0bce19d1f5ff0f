//! Every rival gives the results of the plain loop. What cannot be built is left out.

use std::process::Command;

use measure_harness::builds;
use measure_harness::rival::{PATIENCE, Rival};
use measure_harness::work;
use measure_signals::experiments::{Effort, Needs, Part, Rivals, run, synthetic};
use measure_signals::exploration::{Shape, Work, sequential};

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
    let mut tokio = Rival::of_package("promise-rivals").unwrap();
    let expected = work::Work::calibrated(3, false).fold(0..1_000).number();
    for form in ["tokio", "tokio-polled"] {
        assert_eq!(ask(&mut tokio, &format!("{form} 8 3 1000")), expected, "{form}");
    }
    assert_eq!(ask(&mut tokio, "ring 5 100"), 100);
    let mut windows = Rival::of_package("window-rivals").unwrap();
    assert_eq!(ask(&mut windows, "timely 3000000"), ask(&mut windows, "renoir 3000000"));
    if abz_foreign::have("go") {
        let program = folder("go");
        let source = builds::source("rivals/promises/ring.go");
        builds::run(Command::new("go").arg("build").arg("-o").arg(&program).arg(source)).unwrap();
        assert_eq!(ask(&mut Rival::start(Command::new(program)).unwrap(), "ring 5 100"), 100);
    }
}

#[test]
fn signal_programs_are_measured_beside_every_rival() {
    if !abz_foreign::have("c++") {
        return;
    }
    let parts = [Part::Rivals, Part::Depend, Part::Frames];
    let effort = Effort { rounds: 1, microseconds: 20, is_quick: true };
    let photo = std::fs::read(builds::source("../crates/dsp/tests/integration/data/jpeg/420.jpg")).unwrap();
    let rivals = Rivals::build(&parts);
    // The outputs are compared with those of the loops.
    let report = run(effort, &parts, &Needs { rivals: &rivals, photo: &photo }, |_| ()).unwrap();
    for (part, text) in report.parts {
        let missing = |line: &&str| line.contains("absent: ") || line.contains("failed: ");
        for line in text.lines().filter(missing) {
            let is_a_library = line.contains("needs ") || line.contains("has no OpenMP");
            assert!(is_a_library, "{part:?}: {line}");
            abz_foreign::leave_out(line);
        }
    }
}

#[test]
fn cpp_rivals_find_the_sums_of_the_loop() {
    if !abz_foreign::have("c++") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("rivals");
    synthetic(&program, &["-O0"]).unwrap();
    let mut rival = Rival::start(Command::new(&program)).unwrap();
    // The program does not know the forms for which the compiler has no library.
    let names: Vec<String> = rival.versions.keys().cloned().collect();
    assert!(names.iter().any(|name| name == "loop"), "{names:?}");
    for name in names {
        for (steps, indices, burst) in [(0, 1_000, 1), (3, 999, 3), (2, 40_000, 64), (1, 40_000, 20_000)] {
            let answer = rival.ask(&format!("{name} {steps} {indices} {burst}"), PATIENCE).unwrap();
            let sums = sequential(Shape::of(1, 1), Work::of_rounds(steps), indices);
            assert_eq!(answer.digest, u64::from(sums[0]), "{name}, bursts of {burst}");
            assert!(answer.seconds > 0.0, "{name}: {answer}");
        }
    }
    let refused = rival.ask("mpi 1 1 1", PATIENCE).unwrap_err();
    assert!(refused.contains("failed: no form is called \"mpi\""), "{refused}");
    assert!(rival.ask("loop 1 1", PATIENCE).unwrap_err().contains("failed: a number is missing"));
}
