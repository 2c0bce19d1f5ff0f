//! Files of older versions stay readable. `tests/golden/make.sh` has created them.

use std::path::PathBuf;

use crate::support::Folder;

/// The contents of the larger files.
fn text() -> Vec<u8> {
    (0..1000).flat_map(|line| format!("{line:06}{}\n", "anabranch ".repeat(256)).into_bytes()).collect()
}

/// Returns the files, their contents, and their stored names.
fn files() -> Vec<(&'static str, Vec<u8>, Option<&'static str>)> {
    vec![
        ("tiny.gz", b"hello".to_vec(), Some("tiny")),
        ("unnamed.gz", b"hello".to_vec(), None),
        ("empty.gz", Vec::new(), Some("empty")),
        ("blocks.gz", text(), Some("text")),
        ("small-blocks.gz", text(), None),
        ("rsyncable.gz", text(), Some("text")),
        ("members.gz", text(), Some("text")),
    ]
}

fn golden(name: &str) -> Vec<u8> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name].iter().collect();
    std::fs::read(path).unwrap()
}

#[test]
fn files_with_extra_fields_are_read_whole_by_range_and_in_parallel() {
    for (name, data, told) in files() {
        let (folder, file) = (Folder::new(), golden(name));
        folder.write(name, &file);
        for processes in ["-p1", "-p2", "-p4"] {
            assert!(folder.abz_fed(&["-dc", processes], &file).exits(0).says("").stdout() == data, "{name}");
            assert!(folder.abz(&["-dc", processes, name]).exits(0).says("").stdout() == data, "{name}");
            folder.abz(&["-dNk", processes, name]).exits(0).says("");
            let plain = told.unwrap_or(name.strip_suffix(".gz").unwrap());
            assert!(folder.read(plain) == data, "{name}");
            std::fs::remove_file(folder.path(plain)).unwrap();
            folder.abz(&["-t", processes, name]).exits(0).says("");
        }
        for range in [0..1, 3..5, 1_000_000..1_000_100, 2_500_000..3_000_000] {
            let wanted = &data[range.start.min(data.len())..range.end.min(data.len())];
            let arguments = ["--range", &format!("{}..{}", range.start, range.end), "-q", name];
            assert!(folder.abz(&arguments).stdout() == wanted, "{name}: {range:?}");
        }
        // Listing decodes none of them.
        let list = String::from_utf8(folder.abz(&["-lv", name]).exits(0).stdout()).unwrap();
        assert!(list.contains("members") && list.contains(&format!(" {} ", data.len())), "{list}");
    }
}

#[test]
fn files_with_extra_fields_are_read_behind_each_other() {
    let folder = Folder::new();
    let (joined, contents): (Vec<_>, Vec<_>) =
        files().into_iter().map(|(name, data, _)| (golden(name), data)).unzip();
    for processes in ["-p1", "-p2"] {
        let found = folder.abz_fed(&["-dc", processes], &joined.concat()).exits(0).says("").stdout();
        assert!(found == contents.concat(), "{processes}");
    }
}

#[test]
fn what_is_damaged_in_a_file_with_extra_fields_is_told_and_the_rest_recovered() {
    for name in ["blocks.gz", "small-blocks.gz", "rsyncable.gz", "members.gz"] {
        let (folder, mut file) = (Folder::new(), golden(name));
        // The damage is in the first block or member.
        file[300] ^= 0x55;
        folder.write(name, &file);
        folder.abz(&["-t", name]).exits(1);
        folder.abz(&["--recover", "-o", "out", name]).exits(1);
        let (found, text) = (folder.read("out"), text());
        assert!(found.len() > text.len() / 3 && text.ends_with(&found), "{name}: {}", found.len());
    }
}
