//! Indices: spans of files decoded with an index equal those cut from the whole contents, and an index that does not
//! fit is not used.

use std::fs;

use crate::support::{Folder, Random, files, lines, noise, prose, span_of, through};

/// The size of the contents: several blocks of any file here, and no multiple of a block.
const LEN: usize = 700_123;

/// Text and incompressible bytes.
fn mixed() -> Vec<u8> {
    [prose(200_000), noise(200_000, 7), prose(LEN - 400_000)].concat()
}

/// Compresses with `gzip`, or with flate2 if it is missing.
fn gzipped(data: &[u8]) -> Vec<u8> {
    use std::io::Write;
    through("gzip", &["-c"], data).unwrap_or_else(|| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    })
}

#[test]
fn a_span_found_by_an_index_is_the_same_part_of_the_plain_data() {
    let data = mixed();
    let small: Vec<u8> = data.chunks(3000).flat_map(gzipped_quickly).collect();
    let many = [
        gzipped(&data[..300_000]),
        gzipped(b""),
        gzipped(&data[300_000..300_007]),
        gzipped(&data[300_007..]),
    ];
    let more = [("many small members", small), ("members of all sizes", many.concat())];
    let count = data.split_inclusive(|&byte| byte == b'\n').count();
    let mut random = Random(5);
    for (parity, (what, file)) in files(&data).into_iter().chain(more).enumerate() {
        let folder = Folder::new();
        folder.write("f", &file);
        folder.abz(&["-q", "--index", "--index-every", "64K", "f"]).exits(0).says("");
        assert_eq!(folder.names(), ["f", "f.abzi"]);
        let told = folder.abz(&["-vf", "--index", "--index-every", "64K", "f"]).exits(0).stderr();
        let places: usize = told.split_whitespace().rev().nth(4).unwrap().parse().unwrap();
        let is_one = ["lzip's", "xz's", "zstd's", "pzstd's"].contains(&what);
        assert!(is_one == (places == 1), "{what}: {told}");
        let mut spans = vec![0..1, 0..LEN, LEN - 1..LEN, LEN - 10..LEN + 5];
        let mut line_spans = vec![1..1, 1..count, count..count, count - 3..count + 9];
        for _ in 0..3 {
            let from = random.below(LEN as u64) as usize;
            spans.push(from..from + random.below((LEN - from) as u64 + 1) as usize);
            let first = 1 + random.below(count as u64) as usize;
            line_spans.push(first..first + random.below(300) as usize);
        }
        // One thread and three threads alternate.
        for (number, span) in spans.into_iter().enumerate() {
            let processes = ["-p1", "-p3"][(number + parity) % 2];
            let ran = span_of(&folder, "--range", &span, &[processes, "f"]).exits(0).says("");
            assert!(ran.stdout() == data[span.start..span.end.min(LEN)], "{what} {span:?}");
        }
        for span in line_spans {
            let ran = span_of(&folder, "--line-range", &span, &["f"]).exits(0).says("");
            assert!(ran.stdout() == lines(&data, span.start, span.end), "{what}, lines {span:?}");
        }
        let told = format!("abz: f: has {count} lines of uncompressed data: there is no line {}", count + 1);
        folder.abz(&["--line-range", &format!("{}..", count + 1), "f"]).exits(0).says(&told);
        let told =
            format!("abz: f: has {LEN} bytes of uncompressed data: there is nothing from byte {LEN} on");
        folder.abz(&["--range", &format!("{LEN}.."), "f"]).exits(0).says(&told);
    }
}

fn gzipped_quickly(data: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// The offset of a byte that [`Index::fits`](abz::Index::fits) does not check, near a third of the file.
fn unseen(file: &[u8]) -> usize {
    (file.len() - 4096) * 10 / 31 + 4096 + 5000
}

#[test]
fn only_what_a_span_needs_is_looked_at_and_that_is_verified() {
    let data = [noise(LEN, 8), b"\nthe last line\n".to_vec()].concat();
    let bzipped = Folder::new().abz_fed(&["-F", "bzip2", "-1"], &data).exits(0).stdout();
    for (what, mut file) in [("gzip", gzipped(&data)), ("bzip2", bzipped)] {
        let folder = Folder::new();
        folder.write("f", &file);
        folder.abz(&["-v", "--index", "--index-every", "64K", "f"]).exits(0);
        let at = unseen(&file);
        file[at] ^= 0x04;
        folder.write("f", &file);
        let span = LEN - 200_000..LEN;
        assert!(span_of(&folder, "--range", &span, &["f"]).exits(0).says("").stdout() == data[span.clone()]);
        let count = data.split_inclusive(|&byte| byte == b'\n').count();
        let last = span_of(&folder, "--line-range", &(count..count), &["f"]).exits(0).says("").stdout();
        assert!(last == b"the last line\n");
        let touched = span_of(&folder, "--range", &(LEN / 3 - 100_000..LEN / 3 + 100_000), &["f"]).exits(1);
        assert!(touched.stderr().starts_with("abz: f: ") && touched.stderr().contains("at byte "), "{what}");
        // Without an index, everything before the span is decoded too.
        fs::remove_file(folder.path("f.abzi")).unwrap();
        if what == "bzip2" {
            span_of(&folder, "--range", &span, &["f"]).exits(1);
        }
    }
}

#[test]
fn an_index_that_does_not_fit_is_told_of_and_not_used() {
    let (data, other) = (mixed(), noise(300_000, 9));
    let folder = Folder::new();
    folder.write("f", &gzipped(&data));
    folder.abz(&["--index", "f"]).exits(0).says("");
    let index = folder.read("f.abzi");
    let expect = |told: &str, expected: &[u8]| {
        for span in [["--range", "1000..2000"], ["--line-range", "2..3"]] {
            let ran = folder.abz(&[&span[..], &["f"]].concat()).exits(2);
            assert!(
                ran.stderr().starts_with("abz: f.abzi: ") && ran.stderr().contains(told),
                "{}",
                ran.stderr()
            );
            let part =
                if span[0] == "--range" { expected[1000..2000].to_vec() } else { lines(expected, 2, 3) };
            assert!(ran.stdout() == part);
        }
    };
    for at in [3, 30, index.len() / 2, index.len() - 2] {
        let mut damaged = index.clone();
        damaged[at] ^= 1;
        folder.write("f.abzi", &damaged);
        expect("it is not used: make a new one", &data);
        folder.write("f.abzi", &index[..at]);
        expect("it is not used: make a new one", &data);
    }
    folder.write("f.abzi", &index);
    folder.write("f", &gzipped(&other));
    expect("was changed since", &other);
    // One changed byte is enough, if the index checks it.
    let mut changed = gzipped(&data);
    changed[4] ^= 1;
    folder.write("f", &changed);
    expect("was changed since", &data);
}

#[test]
fn an_index_may_have_another_name_and_is_not_overwritten() {
    let data = mixed();
    let folder = Folder::new();
    folder.write("f", &gzipped(&data));
    folder.abz(&["--index", "-o", "else", "f"]).exits(0).says("");
    let told = "abz: else: already exists -- not overwritten (use -f to overwrite it)";
    folder.abz(&["--index", "-o", "else", "f"]).exits(2).says(told);
    folder.abz(&["--index", "-f", "-o", "else", "f"]).exits(0);
    let ran = folder.abz(&["--range", "5..600K", "--index-file", "else", "f"]).exits(0).says("");
    assert!(ran.stdout() == data[5..600 << 10]);
    folder.abz(&["--range", "5..6", "--index-file", "missing", "f"]).exits(1);
    assert_eq!(folder.names(), ["else", "f"]);
}

#[test]
fn links_are_followed_for_their_file_stays() {
    let folder = Folder::new();
    folder.write("f.gz", &gzipped(&prose(5000)));
    std::os::unix::fs::symlink("f.gz", folder.path("link.gz")).unwrap();
    fs::hard_link(folder.path("f.gz"), folder.path("other.gz")).unwrap();
    folder.abz(&["--index", "link.gz", "other.gz"]).exits(0).says("");
    assert_eq!(folder.names(), ["f.gz", "link.gz", "link.gz.abzi", "other.gz", "other.gz.abzi"]);
    assert!(folder.abz(&["--line-range", "2..2", "link.gz"]).exits(0).stdout() == lines(&prose(5000), 2, 2));
    let told = folder.abz(&["--index", "-f", "--input-io", "stream", "f.gz"]).exits(1).stderr();
    assert!(told.contains("not --input-io stream"), "{told}");
}

#[test]
fn small_files_get_theirs_side_by_side_and_damaged_ones_get_none() {
    let folder = Folder::new();
    let names: Vec<String> = (0..20).map(|n| format!("f{n:02}.gz")).collect();
    for (len, name) in (0..).zip(&names) {
        folder.write(name, &gzipped(&prose(1000 * len)));
    }
    let cut = gzipped(&prose(5000));
    folder.write("cut.gz", &cut[..cut.len() - 20]);
    folder.write("none.gz", b"neither");
    // A file cut between two members is a complete file to gzip.
    let ours = folder.abz_fed(&["--members", "-b64K"], &prose(200_000)).exits(0).stdout();
    let member = u32::from_le_bytes(ours[16..20].try_into().unwrap()) as usize;
    folder.write("half.gz", &ours[..member]);
    let ran = folder.abz(&["--index", "-r", "."]).exits(1);
    let told = ran.stderr();
    let is_told = ["cut", "half", "none"].map(|name| told.contains(&format!("./{name}.gz: ")));
    assert!(told.lines().count() == 3 && is_told == [true; 3], "{told}");
    assert_eq!(folder.names().len(), 43);
    assert!(folder.read("f03.gz") == gzipped(&prose(3000)));
    let ran = folder.abz(&["--line-range", "2..3", "f09.gz"]).exits(0).says("");
    assert!(ran.stdout() == lines(&prose(9000), 2, 3));
    // The second time, no indices are made of index files.
    folder.abz(&["--index", "-qfr", "."]).exits(1);
    assert_eq!(folder.names().len(), 43);
}

#[test]
fn mistakes_with_indices_are_told_with_advice() {
    let folder = Folder::new();
    folder.write("f", &gzipped(b"x"));
    for (arguments, advice) in [
        (&["--index"][..], "needs the names of compressed files"),
        (&["--index", "-"], "needs the names of compressed files"),
        (&["--index", "-t", "f"], "cannot be used with"),
        (&["--index", "-c", "f"], "use -d for the data"),
        (&["--index", "-d", "-"], "needs the names of compressed files"),
        (&["--index", "-d", "--index-file", "x", "f"], "--index makes one"),
        (&["--index", "--range", "1..2", "f"], "cannot be used with"),
        (&["--index-file", "x", "f"], "--index makes one"),
        (&["--index-file", "x", "--range", "1..2", "f", "g"], "it needs one input"),
        (&["--index", "--index-every", "5", "f"], "64K or more"),
    ] {
        let ran = folder.abz(arguments).exits(1);
        assert!(ran.stderr().contains(advice), "{arguments:?}: {}", ran.stderr());
    }
}

#[test]
fn frames_that_do_not_say_how_large_they_are_are_found_by_an_index() {
    let data = [noise(400_000, 1), prose(500_000)].concat();
    let parts = [&data[..300_000], &data[300_000..300_001], &data[300_001..]];
    // zstd does not record the size of contents that it reads from a pipe.
    let frames: Option<Vec<_>> = parts.iter().map(|part| through("zstd", &["-c"], part)).collect();
    let Some(frames) = frames else { return };
    let folder = Folder::new();
    folder.write("f", &frames.concat());
    let told = folder.abz(&["-v", "--index", "f"]).exits(0).stderr();
    assert_eq!(told.trim_end(), "f: 3 places -- created f.abzi");
    for span in [0..900_000, 299_999..300_002, 850_000..900_001] {
        let ran = span_of(&folder, "--range", &span, &["f"]).exits(0).says("");
        assert!(ran.stdout() == data[span.start..span.end.min(data.len())]);
    }
}
