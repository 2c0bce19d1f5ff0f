//! The rivals of the synthetic benchmark find the sums of the loop.

use std::process::Command;

use measure_harness::rival::{PATIENCE, Rival};
use measure_signals::experiments::synthetic;
use measure_signals::exploration::{Shape, Work, sequential};

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
