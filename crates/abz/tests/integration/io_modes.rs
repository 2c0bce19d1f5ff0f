//! Files that all threads read and write in parts: the output is the same in every way, and no files are left behind.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::support::{Folder, prose, send, stopped};
use abz::program::mapped;
use signal_hook::consts::SIGBUS;
use signal_hook::iterator::Signals;

const BLOCK: usize = 64 << 10;
const INPUT_WAYS: [&str; 3] = ["stream", "pread", "mmap"];
const OUTPUT_WAYS: [&str; 3] = ["stream", "pwrite", "mmap"];

/// The environment variable that names the file for a process of [`lose_memory`], and the exit status of that process
/// if it received `SIGBUS`.
const LOSES: &str = "ABZ_TEST_LOSES_MEMORY";
const TOLD: i32 = 7;

/// Calls `f` with the options for each input mode with each output mode.
fn each_mode(f: impl Fn(&[&str])) {
    f(&["-p3"]);
    for input in INPUT_WAYS {
        for output in OUTPUT_WAYS {
            f(&["-p3", "--input-io", input, "--output-io", output]);
        }
    }
}

#[test]
fn every_way_compresses_to_the_same_bytes() {
    let many = 12 * BLOCK + 7;
    for len in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, many] {
        let folder = Folder::new();
        folder.write("x", &prose(len));
        for format in [
            &["-b64K"][..],
            &["-F", "bzip2", "-1"],
            &["-F", "lzip", "-1", "-b64K"],
            &["--bgzf"],
            &["--rsyncable"],
        ] {
            // Only gzip is tested with all sizes around block borders.
            if !matches!(len, 0 | 1) && len != many && format != ["-b64K"] {
                continue;
            }
            let expected = folder.abz(&[&["-p1", "-c"], format, &["x"]].concat()).exits(0).stdout();
            each_mode(|modes| {
                folder.abz(&[modes, format, &["-kf", "-o", "out", "x"]].concat()).exits(0).says("");
                assert!(folder.read("out") == expected, "{len} {format:?} {modes:?}");
            });
        }
        assert_eq!(folder.names(), ["out", "x"]);
    }
}

#[test]
fn every_way_decompresses_to_the_same_bytes_also_into_a_file_with_holes() {
    let zeros = vec![0; 5 * BLOCK + 100];
    for data in
        [prose(12 * BLOCK + 7), prose(BLOCK), [prose(9_000), zeros.clone(), prose(70_000), zeros].concat()]
    {
        let folder = Folder::new();
        folder.write("x", &data);
        folder.abz(&["-b64K", "-k", "x"]).exits(0);
        // Two concatenated files: the index at the end covers only the second.
        folder.write("two.gz", &[folder.read("x.gz"), folder.read("x.gz")].concat());
        each_mode(|modes| {
            for sparse in [&[][..], &["--no-sparse"]] {
                folder.abz(&[modes, sparse, &["-dkf", "-o", "out", "x.gz"]].concat()).exits(0).says("");
                assert!(folder.read("out") == data, "{modes:?}");
            }
            folder.abz(&[modes, &["-dkf", "-o", "out", "two.gz"]].concat()).exits(0).says("");
            assert!(folder.read("out") == [&data[..], &data].concat(), "{modes:?}");
        });
    }
}

#[test]
fn a_damaged_file_is_told_of_as_in_a_stream_and_leaves_nothing() {
    let folder = Folder::new();
    folder.write("x", &prose(20 * BLOCK));
    folder.abz(&["-b64K", "x"]).exits(0);
    let whole = folder.read("x.gz");
    for at in [5, 200, whole.len() / 2, whole.len() - 30, whole.len() - 150] {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        folder.write("x.gz", &damaged);
        let expected = folder.abz(&["-dk", "--input-io", "stream", "--output-io", "stream", "x.gz"]);
        let was_written = folder.names().contains(&"x".to_owned());
        each_mode(|modes| {
            let _ = fs::remove_file(folder.path("x"));
            let ran = folder.abz(&[modes, &["-dk", "x.gz"]].concat());
            assert_eq!(
                (ran.status(), ran.stderr()),
                (expected.status(), expected.stderr()),
                "{at} {modes:?}"
            );
            assert_eq!(folder.names().contains(&"x".to_owned()), was_written);
        });
        let _ = fs::remove_file(folder.path("x"));
    }
    assert_eq!(folder.names(), ["x.gz"]);
}

/// Starts to compress a file `x`, and stops the process after its output is created. If that was too fast, tries a
/// larger file.
fn stopped_early(folder: &Folder, mode: &str) -> Child {
    let started = (1..=5).find_map(|larger| {
        folder.write("x", &prose(larger * 60_000_000));
        stopped(folder, &["-k", "-p2", "-9", "-b64K", "--input-io", mode, "x"]).or_else(|| {
            fs::remove_file(folder.path("x.gz")).unwrap();
            None
        })
    });
    started.expect("a run that was stopped in time")
}

#[test]
fn a_file_that_becomes_shorter_is_an_error_and_there_is_no_output() {
    for mode in ["pread", "mmap"] {
        let folder = Folder::new();
        let child = stopped_early(&folder, mode);
        fs::File::options().write(true).open(folder.path("x")).unwrap().set_len(1_000).unwrap();
        send("CONT", child.id());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains("became shorter while it was read"), "{said}");
        assert_eq!(folder.names(), ["x"]);
    }
}

/// Reads mapped memory while another thread truncates the file, again and again, until a handler receives `SIGBUS`.
fn lose_memory(path: &Path) -> ! {
    mapped::unhandle_loss();
    let mut signals = Signals::new([SIGBUS]).unwrap();
    std::thread::spawn(move || {
        signals.forever().next();
        std::process::exit(TOLD);
    });
    let file = fs::File::options().read(true).write(true).open(path).unwrap();
    let other = file.try_clone().unwrap();
    std::thread::spawn(move || {
        loop {
            other.set_len(0).unwrap();
            other.set_len(8_000_000).unwrap();
        }
    });
    let began = Instant::now();
    let mut bytes = vec![0; 8_000_000];
    while began.elapsed() < Duration::from_secs(60) {
        let _ = mapped::read_exact_at(&file, &mut bytes, 0);
    }
    std::process::exit(0)
}

#[test]
fn a_handler_is_told_when_mapped_memory_is_lost() {
    if let Some(path) = std::env::var_os(LOSES) {
        lose_memory(Path::new(&path));
    }
    let folder = Folder::new();
    folder.write("x", b"");
    let ended = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "io_modes::a_handler_is_told_when_mapped_memory_is_lost"])
        .env(LOSES, folder.path("x"))
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(TOLD), "{ended:?}");
}

#[test]
fn mapped_memory_that_is_gone_ends_the_run_with_a_message_and_without_an_output() {
    let folder = Folder::new();
    let child = stopped_early(&folder, "mmap");
    // The signal that the system sends on access to mapped memory behind the end of a file.
    send("BUS", child.id());
    send("CONT", child.id());
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.starts_with("abz: a mapped file became shorter"), "{said}");
    assert_eq!(folder.names(), ["x"]);
}
