//! Ranges of a file's contents equal those cut from the whole contents, for every format and files of any program.

use crate::support::{Folder, Random, files, lines, noise, prose, span_of as run};

/// The size of the contents: several blocks of any file here, and no multiple of a block.
const LEN: usize = 700_123;

#[test]
fn a_range_of_any_file_is_the_same_part_of_its_plain_data() {
    let data = [prose(300_000), noise(LEN - 300_000, 7)].concat();
    let mut random = Random(1);
    for (parity, (what, file)) in files(&data).into_iter().enumerate() {
        let folder = Folder::new();
        folder.write("f", &file);
        let borders = [0..0, 0..1, 0..LEN, LEN - 1..LEN, 65_535..65_537, 5..LEN + 5];
        let chance = (0..3).map(|_| {
            let from = random.below(LEN as u64) as usize;
            from..from + random.below((LEN - from) as u64 + 1) as usize
        });
        // One thread and three threads alternate.
        for (number, span) in borders.into_iter().chain(chance).enumerate() {
            let expected = &data[span.start..span.end.min(LEN)];
            let processes = ["-p1", "-p3"][(number + parity) % 2];
            let ran = run(&folder, "--range", &span, &[processes, "f"]).exits(0).says("");
            assert!(ran.stdout() == expected, "{what} {span:?} {processes}");
        }
        // Input from a pipe, and output to a file.
        let piped = folder.abz_fed(&["--range", "1000..300K"], &file).exits(0).says("").stdout();
        assert!(piped == data[1000..300 << 10], "{what}");
        folder.abz(&["--range", "..70K", "-o", "out", "f"]).exits(0).says("");
        assert!(folder.read("out") == data[..70 << 10], "{what}");
        let open = folder.abz(&["--range", "600K..", "f"]).exits(0).says("").stdout();
        assert!(open == data[600 << 10..], "{what}");
        assert_eq!(folder.names(), ["f", "out"]);
    }
}

#[test]
fn a_range_of_lines_is_what_sed_prints() {
    for data in [prose(LEN / 2), [prose(LEN / 2), b"\n\nno line feed".to_vec()].concat()] {
        let count = data.split_inclusive(|&byte| byte == b'\n').count();
        let mut random = Random(2);
        for (what, file) in files(&data) {
            let folder = Folder::new();
            folder.write("f", &file);
            let first = 1 + random.below(count as u64) as usize;
            for span in [1..1, 1..count, count..count, first..first + 100, count - 3..count + 9] {
                let ran = run(&folder, "--line-range", &span, &["f"]).exits(0).says("");
                assert!(ran.stdout() == lines(&data, span.start, span.end), "{what} {span:?}");
            }
            let open = folder.abz(&["--line-range", &format!("{first}.."), "f"]).exits(0).says("").stdout();
            assert!(open == lines(&data, first, count), "{what} {first}..");
        }
    }
}

#[test]
fn a_range_behind_the_end_is_empty_and_that_is_told() {
    let folder = Folder::new();
    folder.write("x", &prose(1000));
    folder.write("empty", b"");
    folder.abz(&["-b4K", "-k", "x", "empty"]).exits(0);
    let told = "abz: x.gz: has 1000 bytes of uncompressed data: there is nothing from byte 1000 on";
    assert!(folder.abz(&["--range", "1000..1001", "x.gz"]).exits(0).says(told).stdout().is_empty());
    let fed = folder.abz_fed(&["--range", "1000..1001"], &folder.read("x.gz"));
    assert!(fed.exits(0).says(&told.replace("x.gz", "standard input")).stdout().is_empty());
    folder.abz(&["-q", "--range", "5K..", "x.gz"]).exits(0).says("");
    let lines = prose(1000).split_inclusive(|&byte| byte == b'\n').count();
    folder
        .abz(&["--line-range", &format!("{}..", lines + 1), "x.gz"])
        .exits(0)
        .says(&format!("abz: x.gz: has {lines} lines of uncompressed data: there is no line {}", lines + 1));
    for span in [["--range", "0..10"], ["--range", ".."], ["--line-range", "1..2"]] {
        assert!(folder.abz(&[&span[..], &["empty.gz"]].concat()).exits(0).says("").stdout().is_empty());
    }
}

#[test]
fn several_files_give_their_parts_one_after_another_and_a_bad_one_is_told_of() {
    let folder = Folder::new();
    for (name, len) in [("a", 500_000), ("b", 20), ("c", 300_000)] {
        folder.write(name, &prose(len));
    }
    folder.abz(&["-b64K", "a", "b", "c"]).exits(0);
    folder.write("bad", b"neither");
    // Names without their suffix are enough.
    let ran = folder.abz(&["--range", "10..200K", "a", "b.gz", "bad", "c"]).exits(1);
    assert!(ran.stderr().starts_with("abz: bad: ") && ran.stderr().trim_end().lines().count() == 1);
    let expected =
        [&prose(500_000)[10..200 << 10], &prose(20)[10..], &prose(300_000)[10..200 << 10]].concat();
    assert!(ran.stdout() == expected);
    assert_eq!(folder.names(), ["a.gz", "b.gz", "bad", "c.gz"]);
}

#[test]
fn damage_is_found_where_a_range_touches_it_and_nowhere_else() {
    let data = noise(LEN, 3);
    let folder = Folder::new();
    folder.write("x", &data);
    for format in [
        &["-b64K"][..],
        &["--bgzf"],
        &["-F", "lzip", "-1", "-b100K"],
        &["-F", "xz", "-1", "-b100K"],
        &["-F", "zstd", "-b64K"],
    ] {
        let mut file = folder.abz(&[format, &["-c", "x"]].concat()).exits(0).stdout();
        let at = file.len() / 2;
        file[at] ^= 0x10;
        folder.write("f", &file);
        for span in [0..100_000, 0..200_000, LEN - 200_000..LEN] {
            let ran = run(&folder, "--range", &span, &["f"]).exits(0).says("");
            assert!(ran.stdout() == data[span.clone()], "{format:?} {span:?}");
        }
        for span in [LEN / 2..LEN / 2 + 1, 0..LEN, LEN / 2..LEN] {
            let ran = run(&folder, "--range", &span, &["f"]).exits(1);
            let (told, out) = (ran.stderr(), ran.stdout());
            assert!(told.starts_with("abz: f: ") && told.contains("at byte "), "{told}");
            // The reported offset lies in the damaged part.
            let told: usize =
                told.split("at byte ").last().unwrap().split(':').next().unwrap().parse().unwrap();
            assert!(told.abs_diff(at) < 110_000, "{format:?}: {at} {told}");
            assert!(data[span.start..].starts_with(&out), "{format:?} {span:?}");
            run(&folder, "--range", &span, &["-o", "out", "f"]).exits(1);
            assert_eq!(folder.names(), ["f", "x"]);
        }
    }
}

#[test]
fn only_the_parts_that_are_needed_are_looked_at() {
    let (folder, data) = (Folder::new(), noise(LEN, 4));
    let mut file = folder.abz_fed(&["-b64K"], &data).exits(0).stdout();
    // Apart from the magic bytes, everything before the span's parts is garbage.
    file[2..200_000].fill(0);
    folder.write("f", &file);
    let span = 300_000..400_000;
    assert!(run(&folder, "--range", &span, &["f"]).exits(0).says("").stdout() == data[span]);
}

#[test]
fn mistakes_are_told_with_advice() {
    let folder = Folder::new();
    for (arguments, advice) in [
        (&["--range", "5..2"][..], "is it 2..5?"),
        (&["--range", "5"], "such as 4096..8192"),
        (&["--line-range", "0..2"], "lines are counted from 1"),
        (&["--line-range", "9..2"], "is it 2..9?"),
        (&["--range", "1..2", "--line-range", "1..2"], "cannot be used with"),
        (&["--range", "1..2", "-t"], "cannot be used with"),
        (&["--range", "1..2", "-l"], "cannot be used with"),
        (&["--range", "1..2", "--checksum"], "cannot be used with"),
    ] {
        let ran = folder.abz(arguments);
        assert_ne!(ran.status(), Some(0));
        assert!(ran.stderr().contains(advice), "{arguments:?}: {}", ran.stderr());
    }
}

#[test]
fn what_follows_the_range_is_not_waited_for() {
    use std::io::{Read, Write};
    use std::process::Stdio;
    let folder = Folder::new();
    let file = folder.abz_fed(&["-b64K", "-c"], &prose(LEN)).exits(0).stdout();
    let mut command = folder.command(&["-p2", "--range", "10..20"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // The pipe stays open without further bytes.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&file[..file.len() / 2]).unwrap();
    let mut out = Vec::new();
    child.stdout.take().unwrap().take(10).read_to_end(&mut out).unwrap();
    assert!(out == prose(LEN)[10..20]);
    drop(stdin);
    assert!(child.wait().unwrap().success());
}
