//! The C++ compiler, which is that of `CXX` or `c++`, and the translator that was built for the tests.

use std::path::Path;
use std::process::{Command, Output};

/// A command of the compiler. If there is no compiler, prints what is skipped.
pub fn compiler() -> Option<Command> {
    let words = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let mut words = words.split_whitespace();
    let program = words.next().unwrap_or("c++");
    if !Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no compiler `{program}` (Debian's package g++)");
        return None;
    }
    let mut command = Command::new(program);
    command.args(words);
    Some(command)
}

/// The translator, in a folder.
pub fn sparxx(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sparxx"));
    command.current_dir(folder);
    command
}

/// Runs a command, which must succeed.
#[track_caller]
pub fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the program runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}\n{out}{err}", output.status);
    output
}

/// The output of a program.
#[track_caller]
pub fn printed(command: &mut Command) -> String {
    String::from_utf8(run(command).stdout).expect("programs print UTF-8")
}
