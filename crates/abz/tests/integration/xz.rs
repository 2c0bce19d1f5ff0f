//! xz with the real binary, and with the other programs of the format.

use crate::support::{Folder, fed, have, noise, program, prose, through};

/// Readers of xz files: program, and what makes it read standard input and write standard output.
const READERS: [(&str, &[&str]); 3] = [
    ("xz", &["-dc"]),
    ("xz", &["-dc", "-T2"]),
    ("python3", &["-c", "import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.stdin.buffer).read())"]),
];

/// Writers of xz files, and of the older format.
const WRITERS: [(&str, &[&str]); 8] = [
    ("xz", &["-c", "-0"]),
    ("xz", &["-c", "-T2", "--block-size=200KiB"]),
    ("xz", &["-c", "-T2", "-0", "-C", "none"]),
    ("xz", &["-c", "-0", "-C", "sha256", "--flush-timeout=1"]),
    ("xz", &["-c", "--x86", "--delta=dist=2", "--lzma2=preset=1"]),
    ("xz", &["-c", "--format=lzma"]),
    ("pixz", &["-t", "-1"]),
    ("python3", &["-c", "import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read()))"]),
];

fn inputs() -> Vec<Vec<u8>> {
    vec![vec![], vec![b'x'], vec![0; 1_000_000], [prose(350_000), noise(150_000, 4)].concat()]
}

#[test]
fn a_file_is_replaced_by_its_compressed_self_and_back() {
    let folder = Folder::new();
    let data = prose(1_500_000);
    folder.write("x", &data);
    folder.abz(&["-F", "xz", "-0", "x"]).exits(0).says("");
    assert_eq!(folder.names(), ["x.xz"]);
    assert!(folder.read("x.xz").starts_with(b"\xfd7zXZ\0"));
    folder.abz(&["-t", "x.xz"]).exits(0).says("");
    folder.abz(&["-d", "x.xz"]).exits(0).says("");
    assert_eq!(folder.names(), ["x"]);
    assert!(folder.read("x") == data);
}

#[test]
fn other_programs_read_what_abz_writes_and_the_other_way_round() {
    let folder = Folder::new();
    for data in inputs() {
        for options in [
            &["-0"][..],
            &["-1e", "-b300K", "--check", "sha256"],
            &["-s64K", "-b100K", "--check=none"],
            &["--check=crc32"],
        ] {
            let arguments = [&["-F", "xz"], options].concat();
            let file = folder.abz_fed(&arguments, &data).exits(0).stdout();
            for (program, arguments) in READERS {
                if let Some(back) = through(program, arguments, &file) {
                    assert!(back == data, "{program} read {} bytes of {}", back.len(), data.len());
                }
            }
        }
        for (program, arguments) in WRITERS {
            let Some(file) = through(program, arguments, &data) else { continue };
            for processes in ["-p1", "-p3"] {
                let back = folder.abz_fed(&["-d", processes], &file).exits(0).says("").stdout();
                assert!(back == data, "of {program} {arguments:?} abz read {} bytes", back.len());
            }
            if file.starts_with(b"\xfd") {
                let padded = [&file[..], &[0; 8], &file].concat();
                let twice = folder.abz_fed(&["-d"], &padded).exits(0).says("").stdout();
                assert!(twice == data.repeat(2), "{program} {arguments:?}");
            }
        }
    }
}

#[test]
fn the_same_bytes_come_out_for_any_number_of_processes_and_they_are_those_of_a_small_file() {
    crate::support::gives_the_same_bytes_however_it_is_run("xz");
}

#[test]
fn names_sizes_and_formats_are_found_out() {
    let folder = Folder::new();
    folder.write("archive.tar", &prose(10_000));
    folder.abz(&["-F", "xz", "-S", ".txz", "-k", "archive.tar"]).exits(0);
    std::fs::rename(folder.path("archive.tar.txz"), folder.path("other.txz")).unwrap();
    folder.abz(&["-dk", "other.txz"]).exits(0).says("");
    assert_eq!(folder.names(), ["archive.tar", "other.tar", "other.txz"]);
    let old = "XQAAgAD//////////wA0GUnujekXiTozX/yyCYIv//3igAA=";
    let mut command = program("base64");
    command.arg("-d");
    folder.write("old.lzma", &fed(command, old.as_bytes()).stdout);
    folder.abz(&["-d", "old.lzma"]).exits(0).says("");
    assert_eq!(folder.read("old"), b"hello world\n");

    // The sizes are those of all blocks, and nothing is decoded for them.
    let file = folder.abz_fed(&["-F", "xz", "-b4K"], &prose(10_000)).exits(0).stdout();
    let mut damaged = file.clone();
    damaged[50] ^= 1;
    folder.write("damaged.xz", &damaged);
    let listed = String::from_utf8(folder.abz(&["-lv", "damaged.xz"]).exits(0).stdout()).unwrap();
    let numbers: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(numbers[..3], ["members", &file.len().to_string()[..], "10000"]);
    folder.abz(&["-t", "damaged.xz"]).exits(1);
}

#[test]
fn tar_users_get_along_with_it() {
    let folder = Folder::new();
    if !have("tar") {
        return;
    }
    folder.write("x", &prose(100_000));
    let abz = env!("CARGO_BIN_EXE_abz");
    let mut command = program("tar");
    command.current_dir(folder.path("")).args(["-I", &format!("{abz} -F xz"), "-cf", "x.tar.xz", "x"]);
    assert!(fed(command, b"").status.success());
    let mut command = program("tar");
    command.current_dir(folder.path("")).args(["-I", abz, "-xOf", "x.tar.xz"]);
    assert!(fed(command, b"").stdout == prose(100_000));
}

#[test]
fn what_is_wrong_is_said_and_nothing_of_it_is_kept() {
    let folder = Folder::new();
    let file = folder.abz_fed(&["-F", "xz", "-1", "-b100K"], &prose(250_000)).exits(0).stdout();
    let mut flipped = file.clone();
    let at = file.len() / 2;
    flipped[at] ^= 4;
    let cases: [(&str, Vec<u8>, i32, &str); 5] = [
        (
            "cut",
            file[..file.len() - 5].to_vec(),
            1,
            "expected more of the stream's footer, found the end of the file; the file was cut short",
        ),
        ("a bit", flipped, 1, "the file is damaged there: get another copy"),
        (
            "only a header",
            file[..12].to_vec(),
            1,
            "stream 1, block 1: at byte 12: expected more of the compressed data",
        ),
        ("an unknown check", b"\xfd7zXZ\0\x00\x02\xc9\xd8\x17\xb0".to_vec(), 1, "expected a"),
        (
            "garbage behind",
            [&file[..], b"garbage"].concat(),
            2,
            "found bytes that are not compressed; they were ignored",
        ),
    ];
    crate::support::tells_of_bad_files(&folder, "x.xz", cases);
}

#[test]
fn options_of_another_format_are_mistakes() {
    let folder = Folder::new();
    folder.write("x", b"x");
    for (arguments, said) in [
        (&["-F", "xz", "--level", "10", "x"][..], "the levels of xz are 0 to 9"),
        (&["-e", "x"], "--extreme is for xz, not for gzip"),
        (&["-F", "lzip", "--check", "crc32", "x"], "--check is for xz, not for lzip"),
        (&["-F", "xz", "--check", "md5", "x"], "invalid value 'md5'"),
    ] {
        let ran = folder.abz(arguments).exits(1);
        assert!(ran.stderr().contains(said), "{}", ran.stderr());
    }
    assert_eq!(folder.names(), ["x"]);
}

#[test]
fn a_limit_of_memory_takes_fewer_threads_and_then_nothing() {
    let folder = Folder::new();
    let data = [prose(2_000_000), noise(1_000_000, 9)].concat();
    // One worker has a member of lzip twice, as it came and as it goes; one of xz encodes a block as it comes.
    for (format, least) in [("lzip", 46), ("xz", 43)] {
        let compress = |more: &[&str]| {
            let arguments = [&["-F", format, "-0", "-s", "3M", "-b", "3M", "-p4"], more].concat();
            folder.abz_fed(&arguments, &data)
        };
        let file = compress(&[]).exits(0).stdout();
        assert!(compress(&["--memlimit", "70M"]).exits(0).stdout() == file);
        let plan =
            String::from_utf8(compress(&["--memlimit", "70M", "--explain"]).exits(0).stdout()).unwrap();
        assert!(plan.contains("the caller's alone"), "{plan}");
        let said = compress(&["--memlimit", "40M"]).exits(1).stderr();
        assert!(said.contains(&format!("needs {least} MiB of memory with one thread")), "{said}");
        // Too small for the block as a whole, and then for its dictionary.
        for limit in ["8M", "100M"] {
            for processes in ["-p1", "-p4"] {
                let back = folder.abz_fed(&["-d", processes, "--memlimit", limit], &file).exits(0).stdout();
                assert!(back == data, "{format} {limit}");
            }
        }
        let said = folder.abz_fed(&["-d", "--memlimit", "3M"], &file).exits(1).stderr();
        assert!(said.contains("expected a dictionary that fits into the memory, found one of "), "{said}");
    }
}
