//! Every rival gives the results of the plain loop. What cannot be built is left out.

use std::process::Command;

use measure_harness::rival::{PATIENCE, Rival};
use signals::experiments::{Effort, Needs, Part, Rivals, run, synthetic};
use signals::exploration::{Shape, Work, sequential};

use crate::experiments::photo;

#[test]
fn signal_programs_are_measured_beside_every_rival() {
    if !abz_foreign::have("c++") {
        return;
    }
    let parts = [Part::Rivals, Part::Depend, Part::Frames];
    let effort = Effort { rounds: 1, microseconds: 20, is_quick: true };
    let photo = photo();
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
