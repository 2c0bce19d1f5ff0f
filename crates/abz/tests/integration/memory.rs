//! Memory: how much a run takes, and the behaviour without enough of it.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::support::{Folder, Ran, Random, fed, noise, program, prose, rounds};

/// Runs `abz` with an address space of `kib` KiB.
fn with_little(folder: &Folder, kib: u64, arguments: &[&str]) -> Ran {
    as_with_little(env!("CARGO_BIN_EXE_abz"), folder, kib, arguments)
}

/// As [`with_little`], under another name.
fn as_with_little(name: &str, folder: &Folder, kib: u64, arguments: &[&str]) -> Ran {
    let mut command = program("sh");
    command.current_dir(folder.path(""));
    command.args(["-c", &format!("ulimit -v {kib} && exec \"$0\" \"$@\""), name]);
    // Further arenas would reserve addresses for each thread.
    command.args(arguments).env("MALLOC_ARENA_MAX", "1");
    Ran(fed(command, b""))
}

/// A zstd frame with a window of 2^`log` bytes, whose contents repeat one byte.
fn frame_with_window(log: u8, len: u32) -> Vec<u8> {
    let block = len << 3 | 0b11;
    let mut frame = b"\x28\xb5\x2f\xfd\0".to_vec();
    frame.push((log - 10) << 3);
    frame.extend(&block.to_le_bytes()[..3]);
    frame.push(b'x');
    frame
}

#[test]
fn a_window_that_cannot_be_had_is_an_error() {
    let folder = Folder::new();
    folder.write("x.zst", &frame_with_window(27, 1000));
    assert_eq!(folder.abz(&["-dc", "x.zst"]).exits(0).stdout(), [b'x'; 1000]);
    for processes in ["-p1", "-p2"] {
        let ran = with_little(&folder, 125_000, &["-t", processes, "x.zst"]).exits(1);
        let said = ran.stderr();
        assert!(said.contains("expected 134217728 bytes of memory"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn blocks_and_members_for_which_there_is_no_memory_are_errors() {
    let folder = Folder::new();
    File::create(folder.path("x")).unwrap().set_len(150 << 20).unwrap();
    folder.abz(&["-k", "-F", "xz", "-0", "-s50M", "-b150M", "x"]).exits(0);
    let said = with_little(&folder, 150_000, &["-t", "x.xz"]).exits(1).stderr();
    assert!(said.contains("expected 157286400 bytes of memory"), "{said}");

    folder.abz(&["-k", "-F", "lzip", "-0", "-s30M", "-b60M", "x"]).exits(0);
    let ran = with_little(&folder, 120_000, &["-t", "-p2", "x.lz"]);
    let (status, said) = (ran.status(), ran.stderr());
    assert!(matches!(status, Some(0 | 1)) && !said.contains("panicked"), "{status:?}: {said}");
}

#[test]
fn one_thread_makes_a_block_of_xz_without_all_of_it_in_memory() {
    let folder = Folder::new();
    File::create(folder.path("x")).unwrap().set_len(120 << 20).unwrap();
    // The encoder takes 674 MiB. With the program and the stacks of its threads, 780,000 KiB of addresses are enough,
    // and 760,000 are not. If the block of 120 MiB were held too, at least 880,000 would be needed.
    let one = with_little(&folder, 830_000, &["-c", "-p1", "-F", "xz", "-9", "x"]).exits(0).says("").stdout();
    assert!(folder.abz_fed(&["-dc"], &one).exits(0).stdout().len() == 120 << 20);
    // The output is the same either way.
    folder.write("y", &[prose(400_000), noise(300_000, 8)].concat());
    for size in ["64K", "300K", "1M"] {
        let how = |processes| ["-c", "-F", "xz", "-1", "-s100K", "-b", size, processes, "y"];
        let [one, two] = ["-p1", "-p3"].map(|processes| folder.abz(&how(processes)).exits(0).stdout());
        assert!(one == two, "{size}");
    }
}

#[test]
fn the_file_that_a_patch_refers_to_is_in_memory_twice_at_most() {
    let folder = Folder::new();
    // 66 MiB is a little more than a power of two, so a buffer that doubles would take almost twice as much.
    File::create(folder.path("old")).unwrap().set_len(66 << 20).unwrap();
    folder.write("new", b"a river");
    folder.abz(&["-F", "zstd", "--patch-from", "old", "new"]).exits(0).says("");
    let patch = ["-dc", "-p1", "--patch-from", "old", "new.zst"];
    assert_eq!(with_little(&folder, 185_000, &patch).exits(0).says("").stdout(), b"a river");
}

#[test]
fn a_patch_takes_the_memory_that_it_is_said_to_take() {
    let folder = Folder::new();
    // Reference and input take 66 MiB each, and the tables of the level at most 16 MiB. One worker makes the patch.
    for name in ["old", "new"] {
        File::create(folder.path(name)).unwrap().set_len(66 << 20).unwrap();
    }
    fn how<'a>(processes: &'a str, limit: &'a str) -> [&'a str; 9] {
        ["-c", "-F", "zstd", "--patch-from", "old", "--memlimit", limit, processes, "new"]
    }
    let told = folder.abz(&how("-p1", "1M")).exits(1).stderr();
    let (before, _) = told.split_once(" MiB of memory").unwrap_or_else(|| panic!("{told}"));
    let stated: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((132..165).contains(&stated), "{told}");
    for processes in ["-p1", "-p2"] {
        let limit = format!("{}M", stated + 1);
        folder.abz(&how(processes, &limit)).exits(0).says("");
        // The program and the stacks of its threads take further addresses.
        with_little(&folder, (stated + 40) << 10, &how(processes, &limit)).exits(0).says("");
        let told = with_little(&folder, (stated - 40) << 10, &how(processes, &limit)).exits(1).stderr();
        assert!(told.contains("bytes of memory"), "{told}");
    }
}

#[test]
fn a_limit_of_memory_is_one_for_all_files() {
    let folder = Folder::new();
    // With 136 MiB of contents, the whole window is used.
    let mut frame = frame_with_window(27, 128 << 10);
    let block = frame.split_off(6);
    frame.extend([block[0] & !1, block[1], block[2], block[3]].repeat(1087));
    frame.extend(&block);
    let names = ["a.zst", "b.zst", "c.zst", "d.zst"];
    names.iter().for_each(|name| folder.write(name, &frame));
    let arguments = [&["-t", "--memlimit", "130M", "-p4"][..], &names].concat();
    with_little(&folder, 400_000, &arguments).exits(0).says("");
    // A limit below one window is an error for each file.
    let said = folder.abz(&[&["-t", "--memlimit", "100M"][..], &names].concat()).exits(1).stderr();
    assert_eq!(
        said.matches("if there is memory for that, allow it with --memlimit=129M").count(),
        4,
        "{said}"
    );
}

#[test]
fn a_limit_of_memory_makes_dictionaries_smaller_and_says_so() {
    let folder = Folder::new();
    folder.write("x", &[prose(500_000), noise(500_000, 5)].concat());
    let note =
        |from, to| format!("abz: the dictionary: {from} MiB exceed the memory limit: {to} MiB are used");
    let ran = folder.abz(&["-kf", "--memlimit", "500M", "-F", "xz", "-9", "x"]).exits(0);
    assert_eq!(ran.stderr().trim_end(), note(64, 41));
    folder.abz(&["-t", "x.xz"]).exits(0);
    let ran = folder.abz(&["-kf", "--memlimit", "200M", "-F", "lzip", "-9", "x"]).exits(0);
    assert_eq!(ran.stderr().trim_end(), note(32, 14));
    folder.abz(&["-t", "x.lz"]).exits(0);
    // A smaller block may be enough. A dictionary that was named, or that --no-adjust keeps, is not reduced.
    folder.abz(&["-kf", "--memlimit", "850M", "-F", "xz", "-9", "x"]).exits(0).says("");
    for more in [&["--no-adjust", "-9"][..], &["-s64M"]] {
        let arguments = [&["-kf", "--memlimit", "500M", "-F", "xz", "x"], more].concat();
        let said = folder.abz(&arguments).exits(1).stderr();
        assert!(said.contains("of memory with one thread"), "{said}");
    }
    let said = folder.abz(&["-kf", "--memlimit", "5M", "-F", "xz", "-9", "x"]).exits(1).stderr();
    assert!(said.contains("of memory with one thread"), "{said}");
    folder.abz(&["-kfq", "--memlimit", "500M", "-F", "xz", "-9", "x"]).exits(0).says("");

    // The limit also holds if the whole dictionary is used.
    File::create(folder.path("zeros")).unwrap().set_len(70 << 20).unwrap();
    with_little(&folder, 600_000, &["-k", "--memlimit", "500M", "-F", "xz", "-9", "zeros"]).exits(0);
}

/// The address space in KiB that the program needs to start. With less, the system cannot load it or give it a stack.
/// Some KiB are added, because a longer command line takes a page more.
fn least_to_begin(folder: &Folder) -> u64 {
    let begins = |kib: &u64| with_little(folder, *kib, &["--version"]).status() == Some(0);
    (4_000..400_000).step_by(2_000).find(begins).expect("some of these is enough") + 100
}

/// Checks the message of a run without enough memory: it names the file and options that take less memory.
#[track_caller]
fn has_said_what_to_do(said: &str, name: &str, what: &str) {
    let names = |line: &str| line.starts_with(&format!("abz: {name}: ")) || line.starts_with("abz: out: ");
    assert!(said.lines().any(|line| names(line) && line.contains("-p1")), "{what}: {said}");
    assert!(!said.contains("panicked"), "{what}: {said}");
}

#[test]
fn without_memory_there_is_an_error_that_says_what_to_do_and_nothing_is_left() {
    let ways = [
        ("gzip", "--level=12"),
        ("bzip2", "-9"),
        ("lzip", "-9"),
        ("xz", "-9"),
        ("zstd", "--level=19"),
        ("zip", "-9"),
    ];
    let (least, mut failed) = (least_to_begin(&Folder::new()), 0);
    for (format, level) in ways {
        let folder = Folder::new();
        File::create(folder.path("x")).unwrap().set_len(6 << 20).unwrap();
        folder.abz(&["-k", "-F", format, "-1", "-o", "y", "x"]).exits(0);
        for processes in ["-p1", "-p3"] {
            for kib in [8_000, 40_000, 100_000].map(|more| least + more) {
                for (name, how) in [("x", &["-F", format, level][..]), ("y", &["-d"])] {
                    let arguments = [how, &["-k", processes, "-o", "out", name]].concat();
                    let ran = with_little(&folder, kib, &arguments);
                    let (status, said) = (ran.status(), ran.stderr());
                    let what = format!("{format} {processes} {name} with {kib} KiB");
                    match status {
                        Some(0) => std::fs::remove_file(folder.path("out")).unwrap(),
                        Some(1) => {
                            failed += 1;
                            has_said_what_to_do(&said, name, &what);
                        }
                        _ => panic!("{what}: {status:?}: {said}"),
                    }
                    assert_eq!(folder.names(), ["x", "y"], "{what}: {said}");
                }
            }
        }
    }
    // The memory that a format takes differs between systems.
    assert!(failed > 0, "each limit is enough for every format");
}

#[test]
fn without_memory_each_tool_names_options_of_its_own() {
    let folder = Folder::new();
    File::create(folder.path("x")).unwrap().set_len(6 << 20).unwrap();
    let least = least_to_begin(&folder);
    for (name, level, one_thread, limit) in [
        ("gzip", "-9", "abz --processes=1", "abz --memlimit"),
        ("pigz", "-9", "-p1", "abz --memlimit"),
        ("bzip2", "-9", "abz --processes=1", "abz --memlimit"),
        ("lbzip2", "-9", "-n1", "abz --memlimit"),
        ("lzip", "-9", "-n1", "abz --memlimit"),
        ("xz", "-9", "-T1", "--memlimit"),
        ("zstd", "-19", "-T1", "abz --memlimit"),
    ] {
        symlink(env!("CARGO_BIN_EXE_abz"), folder.path(name)).unwrap();
        let program = format!("./{name}");
        let advice = format!(
            "; fewer threads ({one_thread}), a lower level or smaller blocks take less; {limit} chooses fewer threads itself\n"
        );
        // The limits that are too low for the encoders alone differ between systems, so many are tried. A limit that is
        // enough for `--version` may be enough for one encoder too.
        let runs = (least.saturating_sub(8_000)..least + 400_000)
            .step_by(250)
            .map(|kib| as_with_little(&program, &folder, kib, &["-c", level, "x"]));
        let mut told = runs.take_while(|ran| ran.status() != Some(0)).map(|ran| ran.stderr());
        let told = told.find(|told| told.contains("), a lower level or smaller blocks take less"));
        let told = told.unwrap_or_else(|| panic!("{name} never has too little memory for its encoders"));
        assert!(told.starts_with(&format!("{name}: x: ")) && told.ends_with(&advice), "{told}");
    }
}

/// The peak memory of `abz` in KiB, when it has read all of its input.
fn peak(arguments: &[&str], data: &[u8]) -> u64 {
    let mut command = program(env!("CARGO_BIN_EXE_abz"));
    let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(data).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak.unwrap().parse().unwrap()
}

#[test]
fn more_threads_than_processors_take_no_more_memory() {
    let processors = std::thread::available_parallelism().unwrap().get().max(2);
    let [few, many] = [processors, 32 * processors].map(|threads| format!("-p{threads}"));
    let data = prose(4_000_000 * processors);
    for format in abz::Format::written().filter(|format| abz::program::facts(*format).has_data_of_its_own) {
        let how = |threads| [&["-1", "-F", format.name(), threads][..], blocks(format)].concat();
        let compressed = Folder::new().abz_fed(&[&["-c"], &how("-p2")[..]].concat(), &data).exits(0).stdout();
        for (arguments, data) in [(how(&few), &data), (vec!["-dc", &few], &compressed)] {
            let more: Vec<&str> =
                arguments.iter().map(|word| if *word == few { &many[..] } else { word }).collect();
            let (least, most) = (peak(&arguments, data), peak(&more, data));
            assert!(most < least + least / 4 + 4096, "{more:?}: {most} KiB for {least}");
        }
    }
}

/// The option for small blocks, if the format has it.
fn blocks(format: abz::Format) -> &'static [&'static str] {
    if format.has(abz::Setting::BlockSize) { &["-b128K"] } else { &[] }
}

#[test]
fn files_are_done_by_fewer_at_once_where_few_may_be_open_or_there_is_little_memory() {
    let folder = Folder::new();
    let names: Vec<String> = (0..60).map(|number| format!("x{number:03}")).collect();
    names.iter().for_each(|name| folder.write(name, &prose(3_000)));
    let large = prose(3_000_000);
    folder.write("large", &large);
    fs::create_dir(folder.path("out")).unwrap();
    folder.abz(&["--archive", "a.tgz", "large", "x000"]).exits(0);
    for limit in ["-n 16", "-n 20", "-v 120000", "-v 150000", "-v 200000"] {
        for line in [
            "-k x??? large",
            "-kf --checksum x??? large",
            "-t x*.gz large.gz",
            "-l x*.gz large.gz",
            "-dkf x*.gz large.gz",
            "-dkf --index large.gz x00?.gz",
            "-kf --verify large",
            "-rkfp8 .",
            "-f --archive b.tgz x??? large",
            "--extract -f -C out a.tgz",
            "-f --recover -o out/large large.gz",
        ] {
            let mut command = program("sh");
            // Closes the files that a test runner may have left open.
            let close = "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-";
            let script = format!("{close}; ulimit {limit} && exec \"$0\" {line}");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_abz")]).current_dir(folder.path(""));
            let ran = Ran(fed(command, b""));
            assert_eq!((ran.status(), &*ran.stderr()), (Some(0), ""), "{limit}: {line}");
        }
        assert!(folder.read("large") == large && folder.read("out/large") == large, "{limit}");
        for name in folder.names() {
            if name.ends_with(".gz") || name.ends_with(".sha256") || name.ends_with(".abzi") {
                fs::remove_file(folder.path(&name)).unwrap();
            }
        }
    }
}

/// The allocator of glibc reserves 64 MiB of address space for each thread. The limits here have one, two or three times that, and a
/// little more.
#[test]
fn a_run_that_needs_little_memory_fits_in_little_address_space() {
    let folder = Folder::new();
    let large = prose(3_000_000);
    folder.write("large", &large);
    let mut random = Random(1);
    for format in abz::Format::written().cycle().take(rounds(40) as usize) {
        let limit = (random.below(3) + 1) * (64 << 10) + 12_000 + random.below(30_000);
        let file = format!("large{}", format.suffix());
        let verify = ["", "--verify", "--checksum"][random.below(3) as usize];
        for line in [format!("-kf1F {} {verify} large", format.name()), format!("-dkf {file}")] {
            let mut command = program("sh");
            let script = format!("ulimit -v {limit} && exec \"$0\" {line}");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_abz")]).current_dir(folder.path(""));
            let ran = Ran(fed(command, b""));
            assert_eq!((ran.status(), &*ran.stderr()), (Some(0), ""), "{limit}: {line}");
        }
        assert!(folder.read("large") == large, "{limit}: {}", format.name());
    }
}

#[test]
fn too_few_open_files_are_told_in_one_line_that_names_the_limit() {
    let folder = Folder::new();
    for name in ["x", "y"] {
        folder.write(name, &prose(3_000));
    }
    for limit in 4..9 {
        for line in ["-k x y", "-c", "-r .", "--archive a.tgz x"] {
            let mut command = program("sh");
            let script = format!("exec 3<&- 4<&- 5<&-; ulimit -n {limit} && exec \"$0\" {line}");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_abz")]).current_dir(folder.path(""));
            let said = Ran(fed(command, b"")).exits(1).stderr();
            assert!(said.starts_with("abz: open files: the limit (ulimit -n) leaves "), "{limit}: {said}");
            assert_eq!(said.lines().count(), 1, "{limit}: {said}");
        }
    }
    assert_eq!(folder.names(), ["x", "y"]);
}

#[test]
fn a_thread_that_has_no_memory_to_go_on_leaves_nothing_behind() {
    let folder = Folder::new();
    let names: Vec<String> = (0..40).map(|number| format!("x{number:02}")).collect();
    names.iter().for_each(|name| folder.write(name, &prose(50_000)));
    let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
    let (least, mut failed) = (least_to_begin(&folder), 0);
    for kib in (least..least + 48_000).step_by(4_000) {
        let ran = with_little(&folder, kib, &[&["-kf", "-F", "xz", "-6", "-p3"][..], &names].concat());
        let (status, said) = (ran.status(), ran.stderr());
        assert!(matches!(status, Some(0 | 1)), "{kib} KiB: {status:?}: {said}");
        assert!(!folder.names().iter().any(|name| name.ends_with(".tmp")), "{kib} KiB: {:?}", folder.names());
        failed += usize::from(status == Some(1));
    }
    assert!(failed > 0, "each limit is enough");
}
