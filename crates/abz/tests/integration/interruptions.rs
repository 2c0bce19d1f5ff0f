//! Files are complete or untouched after any signal or failure.
//!
//! `ABZ_SOAK=100 cargo test --release -p abz --test integration interruptions` runs a hundred times as many rounds.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::support::{
    Folder, Ran, Random, fed, have, is_ignored, leave_out, noise, program, prose, rounds, send, stopped,
};

/// Checks that each of `files` is complete, under its name or its compressed name or both. There must be no other
/// files, except temporary ones if the process was killed by `SIGKILL`.
#[track_caller]
fn all_is_whole(folder: &Folder, files: &[(&str, &[u8])], suffix: &str, was_killed: bool) {
    for (name, data) in files {
        let plain = fs::read(folder.path(name)).ok();
        let compressed = fs::read(folder.path(&format!("{name}{suffix}"))).ok();
        assert!(plain.is_some() || compressed.is_some(), "{name} is lost: {:?}", folder.names());
        assert!(plain.is_none_or(|plain| plain == *data), "{name} is not whole");
        if let Some(compressed) = compressed {
            let mut back = Vec::new();
            abz::decompress(&compressed[..], &mut back, &abz::Decompression::default()).unwrap();
            assert!(back == *data, "{name}{suffix} is not whole");
        }
    }
    let is_known = |name: &str| {
        let plain = name.strip_suffix(suffix).unwrap_or(name);
        let is_left_over = was_killed && name.starts_with(".abz-") && name.ends_with(".tmp");
        is_left_over || files.iter().any(|(file, _)| *file == plain)
    };
    assert!(folder.names().iter().all(|name| is_known(name)), "{:?}", folder.names());
}

fn end_of(mut child: Child) -> Option<i32> {
    child.wait().unwrap().code()
}

/// This may take longer than 10 s: three signals, and each format in both directions, each at a moment of its own.
#[test]
fn killed_at_any_moment_it_leaves_each_file_whole_or_untouched() {
    let large = prose(3_000_000);
    let small: Vec<(String, Vec<u8>)> = (0..20).map(|n| (format!("s{n:02}"), prose(n * 500))).collect();
    let mut files: Vec<(&str, &[u8])> = small.iter().map(|(name, data)| (&name[..], &data[..])).collect();
    files.push(("large", &large));
    let mut random = Random(11);
    let mut ended_early = 0;
    let mut usual = BTreeMap::new();
    for signal in ["INT", "TERM", "KILL"] {
        for round in 0..rounds(2 * abz::Format::written().count() as u64) {
            let folder = Folder::new();
            for (name, data) in &files {
                folder.write(name, data);
            }
            let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
            let decompresses = round % 2 == 1;
            let format = abz::Format::written().cycle().nth((round / 2) as usize).unwrap();
            let mut arguments = vec!["-p2", "-1", "-F", format.name()];
            if decompresses {
                folder.abz(&[&["-q"], &arguments[..], &names[..]].concat()).exits(0);
                arguments.push("-d");
            }
            arguments.extend(&names);
            // The time of an uninterrupted run on this machine.
            let takes = *usual.entry((format.name(), decompresses)).or_insert_with(|| {
                let began = Instant::now();
                folder.abz(&[&["-kc"], &arguments[..]].concat()).exits(0);
                began.elapsed()
            });
            let child = folder.command(&arguments).stdin(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(random.below(1 + takes.as_micros() as u64)));
            send(signal, child.id());
            ended_early += u64::from(end_of(child).is_none());
            all_is_whole(&folder, &files, format.suffix(), signal == "KILL");
        }
    }
    assert!(ended_early > 0, "no run was hit while it ran");
}

/// The signals of Linux that end a process and can be caught, including those of faults and real-time signals.
#[cfg(target_os = "linux")]
const ENDING: [i32; 51] = {
    let usual = [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 16, 24, 26, 27, 29, 30, 31];
    let (mut signals, mut at) = ([0; 51], 0);
    while at < signals.len() {
        // The C library reserves 32 and 33.
        signals[at] = if at < usual.len() { usual[at] } else { 34 + (at - usual.len()) as i32 };
        at += 1;
    }
    signals
};

#[test]
#[cfg(target_os = "linux")]
fn each_signal_that_ends_it_leaves_no_file_and_is_told_to_the_parent() {
    use std::os::unix::process::ExitStatusExt;

    for signal in ENDING.into_iter().filter(|&signal| !is_ignored(signal)) {
        let folder = Folder::new();
        let mut child = folder.command(&["-o", "out"]).stdin(Stdio::piped()).spawn().unwrap();
        // The child waits for more input as long as this is open.
        let _input = child.stdin.take();
        let began = Instant::now();
        while folder.names().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "no output was begun");
            std::thread::yield_now();
        }
        send(&signal.to_string(), child.id());
        let status = child.wait().unwrap();
        assert_eq!((status.signal(), folder.names()), (Some(signal), vec![]), "{signal}: {status}");
    }
}

#[test]
fn a_limit_of_the_size_of_files_is_told_and_leaves_no_file() {
    let (folder, data) = (Folder::new(), [noise(300_000, 4), prose(3_000_000)].concat());
    folder.write("x", &data);
    folder.abz(&["-k", "x"]).exits(0);
    fs::rename(folder.path("x.gz"), folder.path("c.gz")).unwrap();
    folder.abz(&["--archive", "a.tar.gz", "x"]).exits(0);
    fs::create_dir(folder.path("out")).unwrap();
    let names = folder.names();
    for line in [
        "-k x",
        "-p1 -k x",
        "-r .",
        "-dk c.gz",
        "-dk -p1 c.gz",
        "-o out/x x c.gz",
        "--archive b.tar x",
        "--archive b.tar.xz x",
        "--extract -C out a.tar.gz",
        "--recover c.gz",
        "-c x > out/x",
    ] {
        let mut command = program("sh");
        let script = format!("ulimit -f 100; \"$0\" {line}");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_abz")]).current_dir(folder.path(""));
        let ran = Ran(fed(command, b"")).exits(1);
        let said = ran.stderr();
        let text = "a limit (ulimit -f), allows no larger file there";
        assert!(said.contains(text), "{line}: {said}");
        let _ = fs::remove_file(folder.path("out/x")).map(|()| assert!(line.contains('>'), "{line}"));
        assert_eq!(folder.names(), names, "{line}");
        assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 0, "{line}");
    }
}

fn continued(child: Child) -> Ran {
    send("CONT", child.id());
    Ran(child.wait_with_output().unwrap())
}

type Change = fn(&Path);

#[test]
fn an_input_that_changes_while_it_is_read_is_kept_with_a_warning() {
    let data = prose(20_000_000);
    let changes: [(&str, Change); 3] = [
        ("grows", |path| {
            fs::File::options().append(true).open(path).unwrap().write_all(b"more").unwrap();
        }),
        ("shrinks", |path| {
            fs::File::options().write(true).open(path).unwrap().set_len(1_000).unwrap();
        }),
        ("is replaced", |path| {
            fs::write(path.with_extension("new"), "another file").unwrap();
            fs::rename(path.with_extension("new"), path).unwrap();
        }),
    ];
    for (what, change) in changes {
        let mut was_hit = false;
        for larger in 1..=5 {
            let folder = Folder::new();
            let data = data.repeat(larger);
            folder.write("x", &data);
            let Some(child) = stopped(&folder, &["-p2", "x"]) else { continue };
            change(&folder.path("x"));
            let changed = folder.read("x");
            let ran = continued(child);
            let said = ran.stderr();
            ran.exits(2);
            assert!(said.starts_with("abz: x: was changed while it was read: it is kept"), "{what}: {said}");
            assert_eq!(folder.names(), ["x", "x.gz"], "{what}");
            assert!(folder.read("x") == changed, "{what}");
            // The output is a complete file of the data that was read.
            let back = folder.abz(&["-dc", "x.gz"]).exits(0).stdout();
            let common = back.len().min(data.len()) - 4;
            assert!(back[..common] == data[..common], "{what}");
            was_hit = true;
            break;
        }
        assert!(was_hit, "no run was stopped in time");
    }
}

#[test]
fn an_output_that_somebody_else_makes_meanwhile_is_not_overwritten() {
    let data = prose(20_000_000);
    for larger in 1..=5 {
        let folder = Folder::new();
        let data = data.repeat(larger);
        folder.write("x", &data);
        let Some(child) = stopped(&folder, &["x"]) else { continue };
        folder.write("x.gz", b"precious");
        continued(child)
            .exits(2)
            .says("abz: x.gz: already exists -- not overwritten (use -f to overwrite it)");
        assert_eq!(folder.names(), ["x", "x.gz"]);
        assert_eq!(folder.read("x.gz"), b"precious");
        assert!(folder.read("x") == data);
        return;
    }
    panic!("no run was stopped in time");
}

#[test]
fn a_full_file_system_keeps_the_input_and_leaves_nothing() {
    let script = r#"
mount -t tmpfs -o size=5m none "$1" 2> /dev/null || exit 77
cd "$1" || exit 77
head -c 2000000 /dev/urandom > x
cp x copy
"$2" x 2> said && exit 10
grep -q 'No space left on device.*make room there' said || exit 11
cmp x copy || exit 12
[ "$(ls -A | tr '\n' ' ')" = "copy said x " ] || exit 13
"#;
    let folder = Folder::new();
    let mut command = program("unshare");
    command.args(["-rm", "sh", "-c", script, "sh"]).arg(folder.path("")).arg(env!("CARGO_BIN_EXE_abz"));
    if !have("unshare") {
        return;
    }
    let output = fed(command, b"");
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(77) => leave_out("a full file system (none can be mounted here)"),
        Some(1) if said.starts_with("unshare:") => leave_out("a full file system (no namespaces here)"),
        status => assert_eq!(status, Some(0), "{said}"),
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_with_the_input_whole() {
    let folder = Folder::new();
    let data = prose(3_000_000);
    folder.write("x", &data);
    folder.abz(&["-k", "x"]).exits(0);
    for arguments in [&["-c", "x"][..], &["-dc", "x.gz"], &["-dc", "x.gz", "x.gz", "x.gz"]] {
        let mut child = folder.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(end_of(child), None, "ended by SIGPIPE");
        all_is_whole(&folder, &[("x", &data)], ".gz", false);
    }
}
