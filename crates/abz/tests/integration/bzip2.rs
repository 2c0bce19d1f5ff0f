//! bzip2 with the real binary, and with the other programs of the format.

use crate::support::{Folder, fed, have, noise, program, prose, through};

/// Readers of bzip2 files: program, and what makes it read standard input and write standard output.
const READERS: [(&str, &[&str]); 4] = [
    ("bzip2", &["-dc"]),
    ("lbzip2", &["-dc", "-n2"]),
    ("pbzip2", &["-dc", "-p2"]),
    ("python3", &["-c", "import bz2, sys; sys.stdout.buffer.write(bz2.open(sys.stdin.buffer).read())"]),
];

/// Writers of bzip2 files.
const WRITERS: [(&str, &[&str]); 5] = [
    ("bzip2", &["-1"]),
    ("bzip2", &["-9"]),
    ("lbzip2", &["-c", "-n2"]),
    ("pbzip2", &["-c", "-p2", "-1"]),
    (
        "python3",
        &["-c", "import bz2, sys; sys.stdout.buffer.write(bz2.compress(sys.stdin.buffer.read(), 3))"],
    ),
];

fn inputs() -> Vec<Vec<u8>> {
    vec![vec![], vec![b'x'], vec![0; 1_000_000], [prose(700_000), noise(300_000, 4)].concat()]
}

#[test]
fn a_file_is_replaced_by_its_compressed_self_and_back() {
    let folder = Folder::new();
    let data = prose(1_500_000);
    folder.write("x", &data);
    folder.abz(&["-F", "bzip2", "x"]).exits(0).says("");
    assert_eq!(folder.names(), ["x.bz2"]);
    assert!(folder.read("x.bz2").starts_with(b"BZh9"));
    folder.abz(&["-t", "x.bz2"]).exits(0).says("");
    folder.abz(&["-d", "x.bz2"]).exits(0).says("");
    assert_eq!(folder.names(), ["x"]);
    assert!(folder.read("x") == data);
}

#[test]
fn other_programs_read_what_abz_writes_and_the_other_way_round() {
    let folder = Folder::new();
    for data in inputs() {
        for level in ["-1", "-9"] {
            let file = folder.abz_fed(&["-F", "bzip2", level], &data).exits(0).stdout();
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
            let twice = folder.abz_fed(&["-d"], &file.repeat(2)).exits(0).says("").stdout();
            assert!(twice == data.repeat(2), "{program} {arguments:?}");
        }
    }
}

#[test]
fn the_same_bytes_come_out_for_any_number_of_processes_and_they_are_those_of_a_small_file() {
    let folder = Folder::new();
    let data = prose(500_000);
    folder.write("x", &data);
    let one = folder.abz(&["-c", "-F", "bzip2", "-1", "-p1", "x"]).exits(0).stdout();
    for processes in ["-p2", "-p5"] {
        assert!(folder.abz(&["-c", "-F", "bzip2", "-1", processes, "x"]).exits(0).stdout() == one);
    }
    // Several small files are taken by a thread each.
    folder.write("y", &prose(1000));
    folder.write("z", &prose(1001));
    let each = |name| folder.abz(&["-c", "-F", "bzip2", name]).exits(0).stdout();
    let both = folder.abz(&["-c", "-F", "bzip2", "y", "z"]).exits(0).stdout();
    assert!(both == [each("y"), each("z")].concat());
    assert!(folder.abz_fed(&["-d"], &both).exits(0).stdout() == [prose(1000), prose(1001)].concat());
}

#[test]
fn names_sizes_and_formats_are_found_out() {
    let folder = Folder::new();
    folder.write("archive.tar", &prose(10_000));
    folder.abz(&["-F", "bzip2", "-S", ".tbz2", "-k", "archive.tar"]).exits(0);
    folder.abz(&["-d", "-o", "-", "archive.tar.tbz2"]).exits(0);
    std::fs::rename(folder.path("archive.tar.tbz2"), folder.path("other.tbz2")).unwrap();
    folder.abz(&["-d", "other.tbz2"]).exits(0).says("");
    assert_eq!(folder.names(), ["archive.tar", "other.tar"]);

    // The format is that of the content, whatever the name is.
    let file = folder.abz_fed(&["-F", "bzip2"], &prose(10_000)).exits(0).stdout();
    folder.write("misnamed.gz", &file);
    assert!(folder.abz(&["-dc", "misnamed.gz"]).exits(0).stdout() == prose(10_000));
    let listed = String::from_utf8(folder.abz(&["-l", "misnamed.gz"]).exits(0).stdout()).unwrap();
    let numbers: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(numbers[..2], [&file.len().to_string()[..], "10000"]);
    let plan = String::from_utf8(folder.abz(&["-d", "--explain", "misnamed.gz"]).exits(0).stdout()).unwrap();
    assert!(plan.contains("find blocks"), "{plan}");
    // With -f what is not compressed is copied, and what is, is not.
    assert!(folder.abz(&["-dcf", "misnamed.gz"]).exits(0).stdout() == prose(10_000));
    assert!(folder.abz(&["-dcf", "archive.tar"]).exits(0).stdout() == prose(10_000));
}

#[test]
fn tar_and_bzip2_users_get_along_with_it() {
    let folder = Folder::new();
    if !have("tar") {
        return;
    }
    folder.write("x", &prose(100_000));
    let abz = env!("CARGO_BIN_EXE_abz");
    let mut command = program("tar");
    command.current_dir(folder.path("")).args(["-I", &format!("{abz} -F bzip2"), "-cf", "x.tar.bz2", "x"]);
    assert!(fed(command, b"").status.success());
    assert!(folder.read("x.tar.bz2").starts_with(b"BZh"));
    let mut command = program("tar");
    command.current_dir(folder.path("")).args(["-I", abz, "-xOf", "x.tar.bz2"]);
    assert!(fed(command, b"").stdout == prose(100_000));
}

#[test]
fn what_is_wrong_is_said_and_nothing_of_it_is_kept() {
    let folder = Folder::new();
    let file = folder.abz_fed(&["-F", "bzip2", "-1"], &prose(250_000)).exits(0).stdout();
    let mut flipped = file.clone();
    let at = file.len() / 2;
    flipped[at] ^= 4;
    let cases: [(&str, Vec<u8>, i32, &str); 5] = [
        (
            "cut",
            file[..file.len() - 5].to_vec(),
            1,
            "expected more of the stream, found the end of the file; the file was cut short",
        ),
        ("a bit", flipped, 1, "the file is damaged there: get another copy"),
        ("only a header", b"BZh9".to_vec(), 1, "stream 1, block 1: at byte 4: expected more of the stream"),
        (
            "no block",
            b"BZh9 nothing".to_vec(),
            1,
            "at byte 4: expected the start of a block or the end of the stream",
        ),
        (
            "garbage behind",
            [&file[..], b"garbage"].concat(),
            2,
            "found bytes that are not compressed; they were ignored",
        ),
    ];
    crate::support::tells_of_bad_files(&folder, "x.bz2", cases);
}

#[test]
fn options_of_the_other_format_are_mistakes() {
    let folder = Folder::new();
    folder.write("x", b"x");
    for (arguments, said) in [
        (&["-F", "bzip2", "--level", "10", "x"][..], "the levels of bzip2 are 1 to 9"),
        (&["-F", "bzip2", "-b", "1M", "x"], "--block-size is not for bzip2"),
        (&["-F", "rar", "x"], "invalid value 'rar'"),
    ] {
        let ran = folder.abz(arguments).exits(1);
        assert!(ran.stderr().contains(said), "{}", ran.stderr());
    }
    assert_eq!(folder.names(), ["x"]);
}

#[test]
fn a_bomb_is_decompressed_in_bounded_memory() {
    let folder = Folder::new();
    let file = folder.abz_fed(&["-F", "bzip2"], &vec![0; 100_000_000]).exits(0).stdout();
    assert!(file.len() < 200);
    // In address space, of which each thread reserves some: unpacked, each block alone would take 46 MB.
    let mut command = program("sh");
    let script = "ulimit -v 600000; \"$0\" -d -p2 | cksum";
    command.args(["-c", script, env!("CARGO_BIN_EXE_abz")]);
    let said = String::from_utf8(fed(command, &file.repeat(7)).stdout).unwrap();
    assert_eq!(said.split_whitespace().nth(1), Some("700000000"), "{said}");
}
