//! If the system allows no further threads, the main thread does all the work.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;

use crate::support::{Folder, Ran, fed, have, leave_out, noise, program, prose};

/// A folder in which a program runs that cannot start threads or processes.
struct Bound {
    folder: Folder,
    program: String,
}

impl Bound {
    fn new() -> Option<Self> {
        if !have("prlimit") || !have("setpriv") {
            return None;
        }
        let (folder, program) = (Folder::new(), "./abz".to_owned());
        fs::set_permissions(folder.path(""), Permissions::from_mode(0o777)).unwrap();
        // The user that runs it may have no access to the build folder.
        fs::copy(env!("CARGO_BIN_EXE_abz"), folder.path("abz")).unwrap();
        let bound = Bound { folder, program };
        let ran = bound.run(&["-c"], b"data");
        if ran.status() != Some(0) {
            leave_out("a program without threads (another user cannot be taken on here)");
            return None;
        }
        Some(bound)
    }

    fn command(&self) -> Command {
        // The limit does not apply to root.
        let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let mut command = match is_root {
            true => {
                let mut command = program("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit"]);
                command
            }
            false => program("prlimit"),
        };
        command.args(["--nproc=1", &self.program]).current_dir(self.folder.path(""));
        command
    }

    fn run(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command();
        command.args(arguments);
        Ran(fed(command, input))
    }
}

#[test]
fn without_a_second_thread_one_does_it_all() {
    let Some(bound) = Bound::new() else { return };
    let folder = &bound.folder;
    let (large, small) = ([prose(3_000_000), noise(300_000, 1)].concat(), prose(3_000));
    folder.write("large", &large);
    for name in ["s1", "s2", "s3"] {
        folder.write(name, &small);
    }
    fs::create_dir(folder.path("out")).unwrap();
    fs::set_permissions(folder.path("out"), Permissions::from_mode(0o777)).unwrap();
    for format in abz::Format::written() {
        let (name, suffix) = (format.name(), format.suffix());
        let file = format!("large{suffix}");
        for line in [
            format!("-kF {name} -1 -p4 large s1 s2 s3"),
            format!("-kfF {name} -1 --verify large s1 s2 s3"),
            format!("-tp3 {file} s1{suffix}"),
            format!("-dkfp3 {file} s1{suffix} s2{suffix}"),
            format!("-dkf --checksum {file}"),
            format!("--range 10..20 {file}"),
            format!("-l {file}"),
            format!("--explain -d {file}"),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let ran = bound.run(&words, b"");
            let said = ran.stderr();
            assert!(ran.status() == Some(0) && said.is_empty(), "{line}: {:?}: {said}", ran.status());
        }
        assert!(folder.read("large") == large && folder.read("s1") == small, "{name}");
    }
    for line in [
        "--archive a.tar.gz large s1 s2",
        "--extract -f -C out a.tar.gz",
        "--extract -f -p3 -C out a.tar.gz",
        "-c --verify -F xz -1 s1",
        "-o joined --verify large s1",
        "-t joined",
        "-rkf out",
        "--index -f large.gz",
        "-d -o back --index large.gz",
        "--recover -f -o back large.gz",
        "-kf --report --report-file r --trace t large",
        "--bench -F lzip s1",
        "-kf --output-io mmap --input-io mmap large",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = bound.run(&words, b"");
        let said = ran.stderr();
        assert!(ran.status() == Some(0) && said.is_empty(), "{line}: {:?}: {said}", ran.status());
    }
    assert!(folder.read("out/large") == large && folder.read("back") == large);
    assert!(folder.names().iter().all(|name| !name.ends_with(".tmp")));
    // It also detects damage.
    let mut damaged = folder.read("a.tar.gz");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    folder.write("bad.tar.gz", &damaged);
    let said = bound.run(&["--extract", "-f", "-C", "out", "bad.tar.gz"], b"").exits(1).stderr();
    assert!(said.starts_with("abz: bad.tar.gz: "), "{said}");
    assert!(folder.names().iter().all(|name| !name.ends_with(".tmp")));
}

#[test]
fn a_small_stack_is_enough() {
    let (folder, data) = (Folder::new(), prose(3_000_000));
    folder.write("x", &data);
    fs::create_dir(folder.path("out")).unwrap();
    for limit in [64, 100, 128, 200, 256, 500, 512] {
        for line in [
            "-k x",
            "-dkf x.gz",
            "-kfp1 -F xz -1 x",
            "-t x.xz",
            "-kf --verify -F bzip2 -1 x",
            "-l --json x.gz",
            "-f --archive a.tgz x",
            "--extract -f -C out a.tgz",
            "--help",
            "--generate man",
        ] {
            let mut command = program("sh");
            let script = format!("ulimit -s {limit} && exec \"$0\" {line}");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_abz")]).current_dir(folder.path(""));
            let ran = Ran(fed(command, b""));
            assert_eq!((ran.status(), &*ran.stderr()), (Some(0), ""), "{limit}: {line}");
        }
        assert!(folder.read("x") == data && folder.read("out/x") == data);
        for name in ["x.gz", "x.xz", "x.bz2"] {
            fs::remove_file(folder.path(name)).unwrap();
        }
    }
    if let Some(bound) = Bound::new() {
        let mut command = program("sh");
        let script = "ulimit -s 100 && exec \"$@\"";
        let bound = bound.command();
        command.args(["-c", script, "sh"]).arg(bound.get_program()).args(bound.get_args()).arg("-c");
        command.current_dir(bound.get_current_dir().unwrap());
        let said = Ran(fed(command, b"data")).exits(1).stderr();
        assert!(said.starts_with("abz: the limit of the stack (ulimit -s) is too low"), "{said}");
    }
}

#[test]
fn a_signal_ends_a_program_without_threads_and_leaves_no_file() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    let Some(bound) = Bound::new() else { return };
    fs::create_dir(bound.folder.path("out")).unwrap();
    fs::set_permissions(bound.folder.path("out"), Permissions::from_mode(0o777)).unwrap();
    let names = || fs::read_dir(bound.folder.path("out")).unwrap().count();
    for signal in [2, 15, 24, 31, 11].into_iter().filter(|&signal| !crate::support::is_ignored(signal)) {
        let mut command = bound.command();
        let mut child = command.args(["-o", "out/x"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        while names() == 0 {
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::yield_now();
        }
        // The child goes on reading, but has no temporary file.
        std::io::Write::write_all(&mut input, &prose(300_000)).unwrap();
        crate::support::send(&signal.to_string(), child.id());
        assert_eq!((child.wait().unwrap().signal(), names()), (Some(signal), 0));
    }
}
