//! The C++ compiler, which is that of `CXX` or `c++`, and the translator that was built for the tests.

use std::path::Path;
use std::process::{Command, Output};

/// A command of the compiler. If there is no compiler, notes that its tests are left out.
pub fn compiler() -> Option<Command> {
    let Ok(words) = std::env::var("CXX") else {
        return abz_foreign::have("c++").then(|| Command::new("c++"));
    };
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("c++"));
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
