//! The rivals of the synthetic benchmark find the sums of the loop.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use measure_signals::exploration::{Shape, Work, sequential};

#[test]
fn cpp_rivals_find_the_sums_of_the_loop() {
    if !abz_foreign::have("c++") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("rivals");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/signals/cpp/build.sh");
    let built = Command::new(script).arg(&program).env("CXX", "c++").env("CXXFLAGS", "-O0").output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    // The program does not know the forms for which the compiler has no library.
    let known = answers(&program, "");
    let names: Vec<&str> =
        known.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name).collect();
    assert!(names.contains(&"loop") && known.ends_with("ready\n"), "{known}");
    let (mut requests, mut expected) = (String::new(), Vec::new());
    for name in &names {
        for (steps, indices, burst) in [(0, 1_000, 1), (3, 999, 3), (2, 40_000, 64), (1, 40_000, 20_000)] {
            requests.push_str(&format!("{name} {steps} {indices} {burst} 2\n"));
            let sums = sequential(Shape::of(1, 1), Work::of_rounds(steps), indices);
            expected.push((format!("{name}, bursts of {burst}"), sums[0].to_string()));
        }
    }
    requests.push_str("mpi 1 1 1 1\n");
    let said = answers(&program, &requests);
    let mut lines = said.lines().skip(names.len() + 1);
    for (what, sum) in expected {
        let words: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
        assert_eq!((words[0], words.len()), (&*sum, 3), "{what}");
        assert!(words[1..].iter().all(|word| word.parse::<f64>().is_ok_and(|time| time > 0.0)), "{words:?}");
    }
    assert_eq!(lines.next(), Some("failed: no form is called \"mpi\""));
}

/// Returns the program's answers to these requests.
fn answers(program: &Path, requests: &str) -> String {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it was built");
    child.stdin.take().unwrap().write_all(requests.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}
