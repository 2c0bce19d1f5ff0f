//! lzip with the real binary, and with the other programs of the format.

use std::os::unix::fs::symlink;

use crate::support::{Folder, fed, have, noise, program, prose, through};

/// Readers of lzip files: program, and what makes it read standard input and write standard output.
const READERS: [(&str, &[&str]); 3] =
    [("lzip.lzip", &["-dc"]), ("plzip", &["-dc", "-n2"]), ("clzip", &["-dc"])];

/// Writers of lzip files.
const WRITERS: [(&str, &[&str]); 5] = [
    ("lzip.lzip", &["-c", "-0"]),
    ("lzip.lzip", &["-c", "-4", "-b", "200k"]),
    ("plzip", &["-c", "-n2", "-B", "100k"]),
    ("plzip", &["-c", "-n2", "-0"]),
    ("clzip", &["-c"]),
];

fn inputs() -> Vec<Vec<u8>> {
    vec![vec![], vec![b'x'], vec![0; 3_000_000], [prose(700_000), noise(300_000, 4)].concat()]
}

#[test]
fn a_file_is_replaced_by_its_compressed_self_and_back() {
    let folder = Folder::new();
    let data = prose(1_500_000);
    folder.write("x", &data);
    folder.abz(&["-F", "lzip", "-0", "x"]).exits(0).says("");
    assert_eq!(folder.names(), ["x.lz"]);
    assert!(folder.read("x.lz").starts_with(b"LZIP\x01"));
    folder.abz(&["-t", "x.lz"]).exits(0).says("");
    folder.abz(&["-d", "x.lz"]).exits(0).says("");
    assert_eq!(folder.names(), ["x"]);
    assert!(folder.read("x") == data);
}

#[test]
fn other_programs_read_what_abz_writes_and_the_other_way_round() {
    let folder = Folder::new();
    for data in inputs() {
        for options in [&["-0"][..], &["-3", "-b300K"], &["-s64K", "--member-size=100K", "--match-length=20"]]
        {
            let arguments = [&["-F", "lzip"], options].concat();
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
            let twice = folder.abz_fed(&["-d"], &file.repeat(2)).exits(0).says("").stdout();
            assert!(twice == data.repeat(2), "{program} {arguments:?}");
        }
    }
}

#[test]
fn the_same_bytes_come_out_for_any_number_of_processes_and_they_are_those_of_a_small_file() {
    crate::support::gives_the_same_bytes_however_it_is_run("lzip");
}

#[test]
fn names_sizes_and_formats_are_found_out() {
    let folder = Folder::new();
    folder.write("archive.tar", &prose(10_000));
    folder.abz(&["-F", "lzip", "-S", ".tlz", "-k", "archive.tar"]).exits(0);
    std::fs::rename(folder.path("archive.tar.tlz"), folder.path("other.tlz")).unwrap();
    folder.abz(&["-dk", "other.tlz"]).exits(0).says("");
    assert_eq!(folder.names(), ["archive.tar", "other.tar", "other.tlz"]);

    // The sizes are those of all members, and nothing is decoded for them.
    let file = folder.abz_fed(&["-F", "lzip", "-b4K"], &prose(10_000)).exits(0).stdout();
    let mut damaged = file.clone();
    damaged[20] ^= 1;
    folder.write("damaged.lz", &damaged);
    let listed = String::from_utf8(folder.abz(&["-lv", "damaged.lz"]).exits(0).stdout()).unwrap();
    let numbers: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(numbers[..3], ["members", &file.len().to_string()[..], "10000"]);
    folder.write("trailing.lz", &[&file[..], b"garbage"].concat());
    let listed = String::from_utf8(folder.abz(&["-lv", "trailing.lz"]).stdout()).unwrap();
    let numbers: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(numbers[..3], ["stream", &file.len().to_string()[..], "10000"]);
    let plan = String::from_utf8(folder.abz(&["-d", "--explain", "other.tlz"]).exits(0).stdout()).unwrap();
    assert!(plan.contains("split or decode"), "{plan}");
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
    command.current_dir(folder.path("")).args(["-I", &format!("{abz} -F lzip"), "-cf", "x.tar.lz", "x"]);
    assert!(fed(command, b"").status.success());
    assert!(folder.read("x.tar.lz").starts_with(b"LZIP"));
    let mut command = program("tar");
    command.current_dir(folder.path("")).args(["-I", abz, "-xOf", "x.tar.lz"]);
    assert!(fed(command, b"").stdout == prose(100_000));
}

#[test]
fn what_is_wrong_is_said_and_nothing_of_it_is_kept() {
    let folder = Folder::new();
    let file = folder.abz_fed(&["-F", "lzip", "-1", "-b100K"], &prose(250_000)).exits(0).stdout();
    let mut flipped = file.clone();
    let at = file.len() / 2;
    flipped[at] ^= 4;
    let cases: [(&str, Vec<u8>, i32, &str); 5] = [
        (
            "cut",
            file[..file.len() - 5].to_vec(),
            1,
            "expected more of the member's trailer, found the end of the file; the file was cut short",
        ),
        ("a bit", flipped, 1, "the file is damaged there: get another copy"),
        (
            "only a header",
            b"LZIP\x01\x0c".to_vec(),
            1,
            "member 1, which begins at byte 0: at byte 6: expected more of the compressed data",
        ),
        ("a damaged header", [&file[..], b"LZXP\x01\x0c!"].concat(), 1, "that is a damaged header"),
        (
            "garbage behind",
            [&file[..], b"garbage"].concat(),
            2,
            "found bytes that are not compressed; they were ignored",
        ),
    ];
    crate::support::tells_of_bad_files(&folder, "x.lz", cases);
}

#[test]
fn options_of_another_format_are_mistakes() {
    let folder = Folder::new();
    folder.write("x", b"x");
    for (arguments, said) in [
        (&["-F", "lzip", "--level", "10", "x"][..], "the levels of lzip are 0 to 9"),
        (&["-0", "x"], "the levels of gzip are 1 to 12"),
        (&["-s", "1M", "x"], "--dictionary-size is for lzip and xz, not for gzip"),
        (&["-F", "lzip", "-s", "600M", "x"], "expected a size from 4K to 512M"),
        (&["-b", "5M", "x"], "the blocks of gzip have 4M at most"),
    ] {
        let ran = folder.abz(arguments).exits(1);
        assert!(ran.stderr().contains(said), "{}", ran.stderr());
    }
    assert_eq!(folder.names(), ["x"]);
}

#[test]
fn a_bomb_is_decompressed_in_bounded_memory() {
    let folder = Folder::new();
    let file =
        folder.abz_fed(&["-F", "lzip", "-s4K", "-b1G", "-p1"], &vec![0; 100_000_000]).exits(0).stdout();
    assert!(file.len() < 20_000);
    // In address space, of which each thread reserves some.
    let mut command = program("sh");
    let script = "ulimit -v 600000; \"$0\" -d -p2 | cksum";
    command.args(["-c", script, env!("CARGO_BIN_EXE_abz")]);
    let said = String::from_utf8(fed(command, &file.repeat(7)).stdout).unwrap();
    assert_eq!(said.split_whitespace().nth(1), Some("700000000"), "{said}");
}

#[test]
fn under_its_name_what_can_be_decoded_of_a_damaged_member_is_put_out() {
    let folder = Folder::new();
    let data = prose(600_000);
    folder.write("x", &data);
    folder.abz(&["-Flzip", "-b200K", "x"]).exits(0);
    let whole = folder.read("x.lz");
    symlink(env!("CARGO_BIN_EXE_abz"), folder.path("lzip")).unwrap();
    // In the second of three members.
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x10;
    for (file, least, most) in
        [(damaged, 205_000, 400_000), (whole[..whole.len() / 2].to_vec(), 250_000, 350_000)]
    {
        folder.write("x.lz", &file);
        if file.len() == whole.len() {
            let by_its_own_name = folder.abz(&["-dc", "x.lz"]).stdout();
            assert_eq!(by_its_own_name.len(), 200 << 10, "no byte of a damaged member");
        }
        for threads in ["-n1", "-n3"] {
            let ran = program(folder.path("lzip")).args(["-cd", threads]).arg(folder.path("x.lz")).output();
            let ran = ran.unwrap();
            assert_eq!(ran.status.code(), Some(2));
            assert!((least..most).contains(&ran.stdout.len()), "{}", ran.stdout.len());
            // What comes out behind the damage, before it shows, is anything.
            assert!(ran.stdout[..least] == data[..least]);
        }
    }
}
