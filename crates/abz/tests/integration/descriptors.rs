//! Standard streams that were closed when the program started.
#![cfg(any(target_os = "linux", target_vendor = "apple"))]

use crate::support::{Folder, Ran, fed, program, prose};

/// Runs `abz` from a shell, with redirections `streams`.
fn shell(folder: &Folder, arguments: &str, streams: &str) -> Ran {
    let mut command = program("sh");
    let line = format!("exec \"$0\" {arguments} {streams}");
    command.current_dir(folder.path("")).args(["-c", &line, env!("CARGO_BIN_EXE_abz")]);
    Ran(fed(command, b""))
}

#[test]
fn a_closed_standard_output_is_an_error_where_something_is_written_to_it() {
    let folder = Folder::new();
    folder.write("x", &prose(100_000));
    folder.abz(&["-k", "x"]).exits(0);
    let said = "abz: standard output: is closed: the program was started without it";
    for arguments in ["-kc x", "-dc x.gz", "-l x.gz", "-c <x", "--range 0..5 x.gz", "--license", "-c x x"] {
        shell(&folder, arguments, ">&-").exits(1).says(said);
    }
    for arguments in ["--help", "--version"] {
        shell(&folder, arguments, ">&-").exits(1);
    }
    // These commands write nothing to it.
    shell(&folder, "-k x -o y.gz", ">&-").exits(0).says("");
    shell(&folder, "-t x.gz", ">&-").exits(0).says("");
    assert_eq!(folder.read("y.gz"), folder.read("x.gz"));
    // A stream that is open may be `/dev/null`.
    shell(&folder, "-kc x", ">/dev/null").exits(0).says("");
    shell(&folder, "-kc x", "<>/dev/null >&0").exits(0).says("");
}

#[test]
fn a_closed_standard_input_is_an_error_where_it_is_read() {
    let folder = Folder::new();
    folder.write("x", &prose(1000));
    let said = "abz: standard input: is closed: the program was started without it";
    for arguments in ["-c", "-dc", "-t", "-o y", "x - -c"] {
        shell(&folder, arguments, "<&-").exits(1).says(said);
    }
    assert_eq!(folder.names(), ["x"]);
    shell(&folder, "-k x", "<&-").exits(0).says("");
}

#[test]
fn a_closed_standard_error_takes_nothing_from_the_files() {
    let folder = Folder::new();
    folder.write("x", &prose(1000));
    shell(&folder, "-kv x", "2>&-").exits(0);
    shell(&folder, "-d missing", "2>&-").exits(1);
    let back = folder.abz(&["-dc", "x.gz"]).exits(0).stdout();
    assert!(back == prose(1000));
}
