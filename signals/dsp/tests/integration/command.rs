//! The command line: pipes, files, messages and exit statuses.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub fn dsp(arguments: &[&str], folder: &Path, input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dsp"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // The program may end before it has read its input.
        scope.spawn(move || drop(stdin.write_all(input)));
        child.wait_with_output().unwrap()
    })
}

pub fn message(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn files_and_pipes_give_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..256 * 20).flat_map(|n: u32| ((n % 97) as f32).to_le_bytes()).collect();
    fs::write(folder.path().join("in"), &bytes).unwrap();
    let piped = dsp(&["fft", "--size", "256", "-", "-"], folder.path(), &bytes);
    assert!(piped.status.success(), "{}", message(&piped));
    let filed = dsp(&["fft", "--size", "256", "in", "out", "--inline"], folder.path(), b"");
    assert!(filed.status.success(), "{}", message(&filed));
    assert!(filed.stdout.is_empty());
    assert_eq!(fs::read(folder.path().join("out")).unwrap(), piped.stdout);
    assert_eq!(message(&filed), "");
}

#[test]
fn a_failure_leaves_no_file_and_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in"), [0; 2_049]).unwrap();
    let failed = dsp(&["fft", "--size", "256", "in", "out"], folder.path(), b"");
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(
        message(&failed),
        "dsp: in: at byte 2048: the input ends within a block: 1 of 2048 bytes are there; append zeros to the \
         input, or choose another --size\n"
    );
    let names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["in"]);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let failed = dsp(&["fft", "--size", "256", "none", "-"], folder.path(), b"");
    assert_eq!(failed.status.code(), Some(1));
    assert!(message(&failed).starts_with("dsp: none: cannot open the input: "), "{}", message(&failed));
    fs::write(folder.path().join("in"), []).unwrap();
    let failed = dsp(&["fft", "--size", "256", "in", "none/out"], folder.path(), b"");
    assert_eq!(failed.status.code(), Some(1));
    assert!(
        message(&failed).starts_with("dsp: none/out: cannot create the output: "),
        "{}",
        message(&failed)
    );
}

#[test]
fn explain_shows_the_network_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["fft", "--size", "256", "none", "out", "--workers", "2"];
    let text = dsp(&[&arguments[..], &["--explain"]].concat(), folder.path(), b"");
    assert!(text.status.success(), "{}", message(&text));
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.starts_with("Network: 2 workers\n"), "{text}");
    assert!(text.contains("transform") && text.contains("reads 4096"), "{text}");
    let svg = dsp(&[&arguments[..], &["--explain=svg"]].concat(), folder.path(), b"");
    let svg = String::from_utf8(svg.stdout).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(!folder.path().join("out").exists());
}

#[test]
fn report_names_the_stages() {
    let folder = tempfile::tempdir().unwrap();
    let reported =
        dsp(&["fft", "--size", "256", "-", "-", "--report", "--workers", "2"], folder.path(), &[0; 2_048]);
    let message = message(&reported);
    for word in ["read", "transform", "write", "predicted speed-up", "network with 2 workers"] {
        assert!(message.contains(word), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_program_leaves_no_file() {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::{Pid, Signal, kill_process};

    let folder = tempfile::tempdir().unwrap();
    let names = || fs::read_dir(folder.path()).unwrap().count();
    for signal in [Signal::INT, Signal::TERM] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_dsp"))
            .args(["fft", "--size", "256", "-", "out"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // The program waits for its input, and has created its output.
        while names() == 0 {
            assert!(child.try_wait().unwrap().is_none(), "the program has ended before it was interrupted");
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        let _input = child.stdin.take();
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        assert_eq!(names(), 0);
    }
}
