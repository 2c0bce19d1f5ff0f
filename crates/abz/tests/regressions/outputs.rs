//! Output files.

use std::process::Stdio;

use crate::support::{Folder, fed, have, leave_out, program, prose};

/// Runs abz with the n-th call of `close` failing as over a quota, for each n. Calls `check` after each run with the folder,
/// the status and the messages. `false` if that cannot be done here.
fn with_each_close_failing(
    arguments: &[&str],
    furnish: impl Fn(&Folder),
    check: impl Fn(&Folder, Option<i32>, &str),
) {
    if !have("strace") {
        return;
    }
    for number in 1.. {
        let folder = Folder::new();
        furnish(&folder);
        let mut command = program("strace");
        let inject = format!("inject=close:error=EDQUOT:when={number}");
        command.current_dir(folder.path("")).args(["-f", "-o", "log", "-e", "trace=close", "-e", &inject]);
        command.arg(env!("CARGO_BIN_EXE_abz")).args(arguments).stdin(Stdio::null());
        let output = fed(command, b"");
        let log = folder.read("log");
        if log.is_empty() {
            return leave_out("failing calls of the system (strace may not trace)");
        }
        if !String::from_utf8_lossy(&log).contains("INJECTED") {
            assert!(number > 3, "a run closes some files");
            return;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        // The standard library panics where a folder cannot be closed, which no file system reports.
        if !said.contains("closedir") {
            check(&folder, output.status.code(), &said);
        }
    }
}

/// Issue 62: the error of `close`, with which NFS and quotas report that data cannot be stored, was ignored, and the input
/// removed.
#[test]
fn an_output_that_could_not_be_closed_cost_the_input() {
    let text = prose(100_000);
    with_each_close_failing(
        &["-p1", "x"],
        |folder| folder.write("x", &text),
        |folder, status, said| match status {
            Some(0) => assert!(!folder.path("x").exists() && folder.path("x.gz").exists(), "{said}"),
            _ => {
                assert!(!said.is_empty(), "{status:?} without a message");
                assert!(folder.path("x").exists() || folder.path("x.gz").exists());
                assert!(!folder.path("x").exists() || !folder.path("x.gz").exists(), "{said}");
            }
        },
    );
    let file = Folder::new().abz_fed(&["-c"], &text).exits(0).stdout();
    with_each_close_failing(
        &["-d", "-p1", "x.gz"],
        |folder| folder.write("x.gz", &file),
        |folder, status, said| {
            assert!(status == Some(0) || !said.is_empty());
            assert!(folder.path("x").exists() != folder.path("x.gz").exists(), "{said}");
        },
    );
}

/// Issue 62: a file system without RENAME_NOREPLACE and without hard links, as some of FUSE, got no output.
#[test]
fn a_file_system_without_hard_links_got_no_output() {
    if !have("strace") {
        return;
    }
    for (occupied, made) in [(false, true), (true, false)] {
        let folder = Folder::new();
        folder.write("x", &prose(1000));
        if occupied {
            folder.write("x.gz", b"mine");
        }
        let mut command = program("strace");
        command.current_dir(folder.path("")).args(["-f", "-o", "/dev/null", "-e", "trace=renameat2,linkat"]);
        command.args(["-e", "inject=renameat2:error=EINVAL", "-e", "inject=linkat:error=EPERM"]);
        command.arg(env!("CARGO_BIN_EXE_abz")).args(["x"]).stdin(Stdio::null());
        let output = fed(command, b"");
        if output.status.code() == Some(1) && String::from_utf8_lossy(&output.stderr).contains("ptrace") {
            return leave_out("failing calls of the system (strace may not trace)");
        }
        assert_eq!(output.status.success(), made, "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(folder.path("x").exists(), !made);
        assert_eq!(folder.read("x.gz") == b"mine", occupied);
        assert_eq!(folder.names().len(), if occupied { 2 } else { 1 });
    }
}
