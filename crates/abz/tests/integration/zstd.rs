//! zstd with the real binary, and with the other programs of the format.

use crate::support::{Folder, fed, have, noise, program, prose, through};

fn inputs() -> Vec<Vec<u8>> {
    vec![vec![], vec![b'x'], vec![0; 10_000_000], [prose(5_000_000), noise(300_000, 4)].concat()]
}

#[test]
fn a_file_is_replaced_by_its_compressed_self_and_back() {
    let folder = Folder::new();
    let data = prose(9_000_000);
    folder.write("x", &data);
    folder.abz(&["-F", "zstd", "x"]).exits(0).says("");
    assert_eq!(folder.names(), ["x.zst"]);
    assert!(folder.read("x.zst").starts_with(b"\x28\xb5\x2f\xfd"));
    folder.abz(&["-t", "x.zst"]).exits(0).says("");
    folder.abz(&["-d", "x.zst"]).exits(0).says("");
    assert_eq!(folder.names(), ["x"]);
    assert!(folder.read("x") == data);
}

#[test]
fn other_programs_read_what_abz_writes_and_the_other_way_round() {
    let folder = Folder::new();
    for data in inputs() {
        for arguments in
            [&["-1"][..], &[], &["-9", "--no-check"], &["--level=12", "-b", "100K"], &["--long=24"]]
        {
            let file = folder.abz_fed(&[&["-F", "zstd"], arguments].concat(), &data).exits(0).stdout();
            for program in ["zstd", "pzstd"] {
                if let Some(back) = through(program, &["-dcq"], &file) {
                    assert!(back == data, "{program} read {} bytes of {}", back.len(), data.len());
                }
            }
        }
        let size = format!("--stream-size={}", data.len());
        for (program, arguments) in
            [("zstd", &["-cq"][..]), ("zstd", &["-cq", "-9", "-T2", &size]), ("pzstd", &["-cq", "-p2"])]
        {
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
    let data = prose(9_000_000);
    folder.write("x", &data);
    let one = folder.abz(&["-c", "-F", "zstd", "-1", "-p1", "x"]).exits(0).stdout();
    for processes in ["-p2", "-p5"] {
        assert!(folder.abz(&["-c", "-F", "zstd", "-1", processes, "x"]).exits(0).stdout() == one);
    }
    // The header of a file says its size, in 4 bytes. That of a pipe nobody knows before its end.
    let piped = folder.abz_fed(&["-F", "zstd", "-1"], &data).exits(0).stdout();
    assert!(piped[4] == one[4] & 0x3f && piped[5] == one[5] && piped[6..] == one[10..]);
    assert_eq!(one[6..10], 9_000_000u32.to_le_bytes());
    // Several small files are taken by a thread each.
    folder.write("y", &prose(1000));
    folder.write("z", &prose(1001));
    let each = |name| folder.abz(&["-c", "-F", "zstd", name]).exits(0).stdout();
    let both = folder.abz(&["-c", "-F", "zstd", "y", "z"]).exits(0).stdout();
    assert!(both == [each("y"), each("z")].concat());
    assert!(folder.abz_fed(&["-d"], &both).exits(0).stdout() == [prose(1000), prose(1001)].concat());
}

#[test]
fn names_sizes_and_formats_are_found_out() {
    let folder = Folder::new();
    folder.write("archive.tar", &prose(10_000));
    folder.abz(&["-F", "zstd", "-S", ".tzst", "-k", "archive.tar"]).exits(0);
    std::fs::rename(folder.path("archive.tar.tzst"), folder.path("other.tzst")).unwrap();
    folder.abz(&["-d", "other.tzst"]).exits(0).says("");
    assert_eq!(folder.names(), ["archive.tar", "other.tar"]);

    // The format is that of the content, whatever the name is, also behind a skippable frame.
    let file = folder.abz_fed(&["-F", "zstd"], &prose(10_000)).exits(0).stdout();
    let file = [b"\x51\x2a\x4d\x18\x02\0\0\0no", &file[..]].concat();
    folder.write("misnamed.gz", &file);
    assert!(folder.abz(&["-dc", "misnamed.gz"]).exits(0).stdout() == prose(10_000));
    let listed = String::from_utf8(folder.abz(&["-lv", "misnamed.gz"]).exits(0).stdout()).unwrap();
    let numbers: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(numbers[..3], ["members", &file.len().to_string()[..], "10000"]);
    let plan = String::from_utf8(folder.abz(&["-d", "--explain", "misnamed.gz"]).exits(0).stdout()).unwrap();
    assert!(plan.contains("split or decode"), "{plan}");
    assert!(folder.abz(&["-dcf", "misnamed.gz"]).exits(0).stdout() == prose(10_000));
}

#[test]
fn a_file_is_one_frame_that_says_its_size_and_several_if_that_is_asked_for() {
    let folder = Folder::new();
    let data = [prose(5_000_000), vec![0; 5_000_000], noise(500_000, 4)].concat();
    folder.write("x", &data);
    folder.abz(&["-k", "-F", "zstd", "x"]).exits(0).says("");
    folder.abz(&["-c", "-F", "zstd", "--frames", "-o", "frames.zst", "x"]).exits(1);
    folder.abz(&["-F", "zstd", "--frames", "-o", "frames.zst", "x"]).exits(0).says("");
    let (one, frames) = (folder.read("x.zst"), folder.read("frames.zst"));
    let surveyed = |file: &[u8]| {
        let survey = abz::zstd::Survey::of(&mut std::io::Cursor::new(file)).unwrap().unwrap();
        (survey.frames, survey.skippable, survey.uncompressed)
    };
    assert_eq!(surveyed(&one), (1, 0, Some(10_500_000)));
    assert_eq!(surveyed(&frames), (3, 1, Some(10_500_000)));
    // Beside a mark for each block they are alike.
    assert!(one.len() < frames.len() + 4 * 100, "{} and {}", one.len(), frames.len());
    for name in ["x.zst", "frames.zst"] {
        for processes in ["-p1", "-p3"] {
            assert!(folder.abz(&["-dc", processes, name]).exits(0).stdout() == data);
        }
        let range = folder.abz(&["--range", "4000000..9000000", name]).exits(0).says("").stdout();
        assert!(range == data[4_000_000..9_000_000]);
        folder.abz(&["--index", "-f", name]).exits(0).says("");
        let lines = folder.abz(&["--line-range", "100..200", name]).exits(0).says("").stdout();
        let expected: Vec<u8> =
            data.split_inclusive(|&byte| byte == b'\n').skip(99).take(101).flatten().copied().collect();
        assert!(lines == expected);
    }
    // Each block is found by itself: one that is damaged elsewhere does not matter.
    let mut damaged = one.clone();
    damaged[one.len() - 1000] ^= 4;
    folder.write("damaged.zst", &damaged);
    assert!(folder.abz(&["--range", "0..5000000", "damaged.zst"]).exits(0).stdout() == data[..5_000_000]);
    folder.abz(&["-t", "damaged.zst"]).exits(1);
    folder.abz(&["-F", "gzip", "--frames", "x"]).exits(1);
}

#[test]
fn an_input_that_grows_or_shrinks_while_it_is_read_is_no_loss() {
    use std::io::{self, Read};
    let data = prose(1_000_000);
    let compression = abz::Compression {
        format: abz::Written::ZSTD,
        block_size: Some(100_000),
        contents: Some(600_000),
        ..abz::Compression::default()
    };
    let (mut grown, mut alone) = (Vec::new(), Vec::new());
    compression.run(&data[..], &mut grown).unwrap();
    abz::Tools::new().compress(&compression, &data[..], &mut alone).unwrap();
    assert!(grown == alone);
    let mut back = Vec::new();
    abz::Decompression::default().run(&grown[..], &mut back).unwrap();
    assert!(back == data);
    // The first frame has what the file had when it was opened.
    let survey = abz::zstd::Survey::of(&mut io::Cursor::new(&grown)).unwrap().unwrap();
    assert_eq!((survey.frames, survey.uncompressed), (2, Some(1_000_000)));
    let shrunk = compression.run((&data[..]).take(500_000), Vec::new()).unwrap_err();
    assert!(shrunk.to_string().contains("expected 100000 bytes more"), "{shrunk}");
    // A file that says that it has no bytes, as those of the system, or few, may have any.
    for contents in [Some(0), Some(4096)] {
        let (mut file, mut back) = (Vec::new(), Vec::new());
        abz::Compression { contents, ..compression.clone() }.run(&data[..], &mut file).unwrap();
        abz::Decompression::default().run(&file[..], &mut back).unwrap();
        assert!(back == data);
    }
}

#[test]
fn levels_below_the_lowest_are_larger_and_come_back() {
    let folder = Folder::new();
    folder.write("x", &prose(300_000));
    let file = |level| folder.abz(&["-c", "-F", "zstd", level, "x"]).exits(0).stdout();
    let (lowest, faster, fastest) = (file("-1"), file("--fast=5"), file("--fast=100"));
    assert!(lowest.len() < faster.len() && faster.len() < fastest.len() && fastest.len() < 300_000);
    assert!(file("--fast") == lowest);
    assert!(folder.abz_fed(&["-d"], &fastest).exits(0).stdout() == prose(300_000));
    for wrong in ["--fast=131073", "--fast=-1", "--fast=x"] {
        folder.abz(&["-c", "-F", "zstd", wrong, "x"]).exits(1);
    }
    folder.abz(&["-c", "--fast=5", "x"]).exits(1);
}

#[test]
fn dictionaries_serve_both_ways() {
    let folder = Folder::new();
    folder.write("raw", &noise(50_000, 1));
    let data = noise(50_000, 1)[10_000..40_000].to_vec();
    folder.write("x", &data);
    folder.abz(&["-F", "zstd", "-D", "raw", "x"]).exits(0).says("");
    let file = folder.read("x.zst");
    assert!(file.len() < 200, "{}", file.len());
    assert!(folder.abz(&["-dc", "-D", "raw", "x.zst"]).exits(0).stdout() == data);
    assert!(folder.abz(&["-dc", "-p1", "-D", "raw", "x.zst", "x.zst"]).exits(0).stdout() == data.repeat(2));
    if have("zstd") {
        let name = folder.path("raw").display().to_string();
        assert!(through("zstd", &["-dcq", "-D", &name], &file).unwrap() == data);
        let theirs = through("zstd", &["-cq", "-D", &name], &data).unwrap();
        assert!(folder.abz_fed(&["-d", "-D", "raw"], &theirs).exits(0).stdout() == data);
    }
    // Without it the data cannot be right, and is not given out.
    let ran = folder.abz(&["-d", "x.zst"]).exits(1);
    assert!(ran.stderr().starts_with("abz: x.zst: frame 1"), "{}", ran.stderr());
    assert!(!folder.names().contains(&"x".to_owned()));
    let ran = folder.abz(&["-F", "zstd", "-D", "missing", "x.zst"]).exits(1);
    assert!(ran.stderr().contains("the dictionary missing cannot be used"), "{}", ran.stderr());
    // Of one that has a number the number is told.
    folder.write("numbered.zst", b"\x28\xb5\x2f\xfd\x23\x2a\0\0\0\x01\x09\0\0x");
    let ran = folder.abz(&["-t", "numbered.zst"]).exits(1);
    let said = "expected the dictionary with the number 42, found none; name the file in which it is with -D";
    assert!(ran.stderr().contains(said), "{}", ran.stderr());
}

#[test]
fn tar_and_zstd_users_get_along_with_it() {
    let folder = Folder::new();
    if !have("tar") {
        return;
    }
    folder.write("x", &prose(100_000));
    let abz = env!("CARGO_BIN_EXE_abz");
    let mut command = program("tar");
    command.current_dir(folder.path("")).args(["-I", &format!("{abz} -F zstd"), "-cf", "x.tar.zst", "x"]);
    assert!(fed(command, b"").status.success());
    let mut command = program("tar");
    command.current_dir(folder.path("")).args(["-I", abz, "-xOf", "x.tar.zst"]);
    assert!(fed(command, b"").stdout == prose(100_000));
}

#[test]
fn what_is_wrong_is_said_and_nothing_of_it_is_kept() {
    let folder = Folder::new();
    let file = folder.abz_fed(&["-F", "zstd", "-b", "100K"], &prose(250_000)).exits(0).stdout();
    let mut flipped = file.clone();
    flipped[file.len() / 2] ^= 4;
    let cases: [(&str, Vec<u8>, i32, &str); 5] = [
        ("cut", file[..file.len() - 50].to_vec(), 1, "found the end of the file; the file was cut short"),
        ("a bit", flipped, 1, "the file is damaged there: get another copy"),
        (
            "only magic bytes",
            b"\x28\xb5\x2f\xfd".to_vec(),
            1,
            "frame 1, which begins at byte 0: at byte 4: expected more of the frame's header, found the end of the file",
        ),
        (
            "a window of 256 MiB",
            b"\x28\xb5\x2f\xfd\0\x90\x01\0\0".to_vec(),
            1,
            "found one of 268435456; if there is memory for that, allow it with --long=28",
        ),
        (
            "garbage behind",
            [&file[..], b"garbage"].concat(),
            2,
            "found bytes that are not compressed; they were ignored",
        ),
    ];
    crate::support::tells_of_bad_files(&folder, "x.zst", cases);
    assert!(
        folder.abz_fed(&["-d", "--long=28"], b"\x28\xb5\x2f\xfd\0\x90\x01\0\0").exits(0).stdout().is_empty()
    );
}

#[test]
fn options_of_other_formats_are_mistakes() {
    let folder = Folder::new();
    folder.write("x", b"x");
    for (arguments, said) in [
        (&["-F", "zstd", "--level", "20", "x"][..], "allow it with --ultra"),
        (&["-F", "zstd", "--level", "23", "x"], "23 is not in 0..=22"),
        (&["--long", "x"], "are for zstd"),
        (&["-F", "bzip2", "-D", "x", "x"], "are for zstd"),
        (&["-b", "5M", "x"], "the blocks of gzip have 4M at most"),
    ] {
        let ran = folder.abz(arguments).exits(1);
        assert!(ran.stderr().contains(said), "{}", ran.stderr());
    }
    assert_eq!(folder.names(), ["x"]);
    folder.abz(&["-F", "zstd", "--level", "20", "--ultra", "x"]).exits(0);
}

#[test]
fn a_bomb_is_decompressed_in_bounded_memory() {
    let folder = Folder::new();
    let own = folder.abz_fed(&["-F", "zstd"], &vec![0; 100_000_000]).exits(0).stdout();
    let mut bombs = vec![own.repeat(10)];
    bombs.extend(through("zstd", &["-cq"], &vec![0; 1_000_000_000]));
    for bomb in bombs {
        assert!(bomb.len() < 200_000);
        // In address space, of which each thread reserves some.
        let mut command = program("sh");
        let script = "ulimit -v 500000; \"$0\" -d -p2 | cksum";
        command.args(["-c", script, env!("CARGO_BIN_EXE_abz")]);
        let said = String::from_utf8(fed(command, &bomb).stdout).unwrap();
        assert_eq!(said.split_whitespace().nth(1), Some("1000000000"), "{said}");
    }
}

#[test]
fn what_is_written_is_verified_with_its_dictionary_too() {
    let folder = Folder::new();
    folder.write("raw", &noise(50_000, 1));
    folder.write("x", &prose(9_000_000));
    folder.write("y", &noise(50_000, 1));
    folder.abz(&["-F", "zstd", "--verify", "--long=28", "-D", "raw", "x", "y"]).exits(0).says("");
    assert_eq!(folder.names(), ["raw", "x.zst", "y.zst"]);
    assert!(folder.read("y.zst").len() < 200);
}

/// A frame of blocks that are one byte again and again, which says neither the size of its contents nor a checksum.
fn frame_of_runs(blocks: u32, len: u32) -> Vec<u8> {
    let mut frame = b"\x28\xb5\x2f\xfd\0\x60".to_vec();
    for block in 1..=blocks {
        let header = len << 3 | 0b10 | u32::from(block == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b'x');
    }
    frame
}

#[test]
fn frames_of_any_size_without_a_checksum_have_an_end() {
    let folder = Folder::new();
    // A chunk of contents that is given out has 256 KiB.
    for (blocks, len) in [(1, 1 << 17), (2, 1 << 17), (4, 1 << 17), (3, 1 << 17), (8, 1 << 16), (9, 1 << 16)]
    {
        let frame = frame_of_runs(blocks, len);
        for (file, times) in [(frame.clone(), 1), (frame.repeat(3), 3)] {
            for processes in ["-p1", "-p2"] {
                let data = folder.abz_fed(&["-dc", processes], &file).exits(0).stdout();
                assert!(data == vec![b'x'; (times * blocks * len) as usize], "{blocks} blocks of {len}");
            }
        }
        folder.abz_fed(&["-t"], &frame[..frame.len() - 1]).exits(1);
    }
}
