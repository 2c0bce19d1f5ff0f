//! The options `--verify`, `--checksum` and `--list --json`, and holes in place of zeros.

use std::os::unix::fs::MetadataExt;

use crate::support::{Folder, have, have_full_device, leave_out, prose, through};
use serde_json::Value;

#[test]
fn what_is_written_is_read_back() {
    let folder = Folder::new();
    let data = prose(6_000_000);
    for format in ["gzip", "bzip2"] {
        folder.write("large", &data);
        folder.write("small", b"water");
        folder.write("empty", b"");
        folder.abz(&["-F", format, "--verify", "-p3", "large", "small", "empty"]).exits(0).says("");
        let names = folder.names();
        assert!(names.len() == 3 && names.iter().all(|name| name.contains('.')), "{names:?}");
        let piped = folder.abz_fed(&["-F", format, "--verify", "-c"], &data).exits(0).stdout();
        assert!(folder.abz_fed(&["-d"], &piped).exits(0).stdout() == data, "{format}");
        for name in names {
            std::fs::remove_file(folder.path(&name)).unwrap();
        }
    }
    folder.abz(&["--verify", "-d", "x.gz"]).exits(1);
}

#[test]
fn a_full_device_is_an_error_of_the_device_under_verify_too() {
    if !have_full_device() {
        return;
    }
    let folder = Folder::new();
    folder.write("x", &prose(3_000_000));
    let ran = folder.abz(&["--verify", "-o", "/dev/full", "x"]).exits(1);
    assert!(ran.stderr().starts_with("abz: /dev/full: writing failed"), "{}", ran.stderr());
}

#[test]
fn checksums_are_those_of_sha256sum() {
    let folder = Folder::new();
    let data = prose(3_000_000);
    folder.write("x", &data);
    folder.write("y", b"water");
    folder.abz(&["--checksum", "x", "y"]).exits(0).says("");
    assert_eq!(folder.names(), ["x.gz", "x.sha256", "y.gz", "y.sha256"]);
    let line = String::from_utf8(folder.read("y.sha256")).unwrap();
    assert!(line.len() == 64 + 4 && line.ends_with("  y\n"), "{line}");
    if have("sha256sum") {
        let summed = through("sha256sum", &["-"], b"water").unwrap();
        assert_eq!(line.as_bytes()[..64], summed[..64]);
        let summed = through("sha256sum", &["-"], &data).unwrap();
        assert_eq!(folder.read("x.sha256")[..64], summed[..64]);
    }

    // The checksum is the same wherever it is printed.
    let told = folder.abz(&["-t", "--checksum", "y.gz"]).exits(0).stdout();
    assert_eq!(String::from_utf8(told).unwrap(), line);
    folder.abz(&["-dc", "--checksum", "y.gz"]).exits(0).says(line.trim_end());
    folder
        .abz(&["-d", "--checksum", "y.gz"])
        .exits(2)
        .says("abz: y.sha256: already exists -- not overwritten (use -f to overwrite it)");
    std::fs::remove_file(folder.path("y.sha256")).unwrap();
    folder.abz(&["-d", "--checksum", "y.gz"]).exits(0).says("");
    assert_eq!(String::from_utf8(folder.read("y.sha256")).unwrap(), line);
}

#[test]
fn lists_are_json_where_that_is_asked_for() {
    let folder = Folder::new();
    let data = prose(10_000);
    folder.write("a \"b\"", &data);
    folder.write("c", &data);
    folder.abz(&["a \"b\""]).exits(0);
    folder.abz(&["-F", "bzip2", "c"]).exits(0);
    let listed = folder.abz(&["-l", "--json", "a \"b\".gz", "missing.gz", "c.bz2"]).exits(1).stdout();
    let listed: Value = serde_json::from_slice(&listed).unwrap();
    let told = |at: usize, key: &str| listed[at][key].clone();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!((told(0, "file"), told(0, "format")), ("a \"b\".gz".into(), "gzip".into()));
    assert_eq!(
        (told(0, "uncompressed_bytes"), told(1, "uncompressed_bytes")),
        (10_000.into(), 10_000.into())
    );
    assert_eq!((told(1, "uncompressed_name"), told(1, "format")), ("c".into(), "bzip2".into()));
    assert_eq!(told(1, "compressed_bytes"), folder.read("c.bz2").len());
    assert_eq!(folder.abz(&["-l", "--json", "missing"]).exits(1).stdout(), b"[]\n");
}

/// Returns whether the file system allocates no blocks for skipped bytes, but does so for written zeros.
fn has_holes(folder: &Folder) -> bool {
    let room = |name: &str| folder.path(name).metadata().unwrap().blocks() * 512;
    std::fs::File::create(folder.path("skipped")).unwrap().set_len(8 << 20).unwrap();
    folder.write("written", &vec![0; 8 << 20]);
    room("skipped") < 100_000 && room("written") >= 8 << 20
}

#[test]
fn zeros_of_decompressed_files_take_no_room() {
    let folder = Folder::new();
    let mut data = vec![0; 8 << 20];
    data[3_000_000] = 1;
    folder.write("x", &data);
    folder.abz(&["x"]).exits(0);
    let room = |arguments: &[&str]| {
        folder.abz(arguments).exits(0);
        assert!(folder.read("x") == data);
        folder.path("x").metadata().unwrap().blocks() * 512
    };
    let (with_holes, without) = (room(&["-dk", "x.gz"]), room(&["-dkf", "--no-sparse", "x.gz"]));
    // Some file systems have no holes, and some make holes of written zeros by themselves.
    if with_holes >= without && !has_holes(&folder) {
        return leave_out("holes in files (the file system of the temporary folder has none)");
    }
    assert!(with_holes < 100_000 && without >= 8 << 20, "{with_holes} and {without}");
}

#[test]
fn a_change_of_the_input_changes_little_of_what_can_be_synchronised() {
    let folder = Folder::new();
    let data = prose(4_000_000);
    folder.write("old", &data);
    folder.write("new", &[&data[..2_000_000], b"something else", &data[2_000_100..]].concat());
    folder.abz(&["-n", "--rsyncable", "old", "new"]).exits(0);
    let (old, new) = (folder.read("old.gz"), folder.read("new.gz"));
    // Counts the pieces of 512 bytes of the new file that are anywhere in the old one, like a deduplicating tool.
    let known: std::collections::HashSet<&[u8]> = old.windows(512).step_by(1).collect();
    let same = new.chunks_exact(512).filter(|piece| known.contains(piece)).count() * 512;
    assert!(same > new.len() * 8 / 10, "{same} of {}", new.len());
    folder.abz(&["-d", "old.gz"]).exits(0);
    assert!(folder.read("old") == data);
    folder.abz(&["-F", "bzip2", "--rsyncable", "old"]).exits(1);
}

#[test]
fn tools_of_bioinformatics_read_what_is_made_for_them() {
    let folder = Folder::new();
    for data in [prose(1_000_000), Vec::new(), crate::support::noise(200_000, 7)] {
        folder.write("x", &data);
        folder.abz(&["-fk", "--bgzf", "x"]).exits(0).says("");
        let made = folder.read("x.gz");
        assert!(made.starts_with(b"\x1f\x8b\x08\x04") && made[12..14] == *b"BC", "a member of BGZF");
        assert!(made.ends_with(b"\x1b\0\x03\0\0\0\0\0\0\0\0\0"), "the end of BGZF");
        assert!(folder.abz_fed(&["-d"], &made).exits(0).stdout() == data);
        if let Some(read) = through("bgzip", &["-dc"], &made) {
            assert!(read == data);
        }
        if let Some(read) = through("gzip", &["-dc"], &made) {
            assert!(read == data);
        }
    }
    folder.abz(&["-F", "bzip2", "--bgzf", "x"]).exits(1);
}

#[test]
fn formats_are_measured_on_the_users_file() {
    let folder = Folder::new();
    folder.write("x <&> y", &prose(20_000));
    let told =
        folder.abz(&["--bench", "--bench-html", "page.html", "-F", "bzip2", "x <&> y"]).exits(0).says("");
    let told = String::from_utf8(told.stdout()).unwrap();
    assert!(told.starts_with("x <&> y: 19.5 KiB, "), "{told}");
    let rows: Vec<Vec<&str>> = told.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 9, "{told}");
    assert!(rows.iter().all(|row| row[0] == "bzip2" && row[2].parse::<f64>().unwrap() > 2.0), "{told}");
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    assert!(page.contains("x &lt;&amp;&gt; y") && page.matches("<circle").count() == 18, "{page}");
    assert_eq!(folder.names(), ["page.html", "x <&> y"]);
    folder
        .abz_fed(&["--bench"], b"x")
        .exits(1)
        .says("abz: standard input: cannot be read repeatedly: name a file");
}
