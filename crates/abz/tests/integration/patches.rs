//! Patches of zstd: making and reading them like `zstd --patch-from`.

use crate::support::{Folder, noise, prose, rounds, through};

/// A file, and a similar one with parts moved, changed, inserted and removed.
fn files(len: usize) -> (Vec<u8>, Vec<u8>) {
    let before = [prose(len / 4), noise(len - len / 4, len as u64)].concat();
    let at = |part: usize| &before[len * part / 8..len * (part + 1) / 8];
    let after = [at(0), at(6), b"a river", at(2), at(3), &noise(500, 1), &at(5)[..len / 9], at(7)].concat();
    (before, after)
}

#[test]
fn a_patch_holds_what_differs_and_comes_back_by_zstd_too() {
    let lens: &[usize] =
        if rounds(1) > 1 { &[90, 70_000, 3_000_000, 300_000_000] } else { &[90, 70_000, 3_000_000] };
    for &len in lens {
        let folder = Folder::new();
        let (before, after) = files(len);
        folder.write("old", &before);
        folder.write("new", &after);
        let old = format!("--patch-from={}", folder.path("old").display());
        let new = folder.path("new").display().to_string();
        for level in ["-1", "-3", "-19"] {
            for processes in ["-p1", "-p2"] {
                let how = ["-c", "-F", "zstd", "--verify", "--patch-from", "old", level, processes, "new"];
                let patch = folder.abz(&how).exits(0).says("").stdout();
                assert!(patch.len() < 1500 + len / 500, "{len} {level}: {}", patch.len());
                let back =
                    folder.abz_fed(&["-d", "--patch-from", "old", processes], &patch).exits(0).says("");
                assert!(back.stdout() == after, "{len} {level}");
                if let Some(back) = through("zstd", &["-dcq", &old, "--long=31"], &patch) {
                    assert!(back == after, "{len} {level}: {} bytes", back.len());
                }
            }
            if let Some(patch) = through("zstd", &["-cq", &old, level, &new], b"") {
                let back = folder.abz_fed(&["-d", "--patch-from", "old"], &patch).exits(0).says("").stdout();
                assert!(back == after, "zstd's, {len} {level}");
            }
        }
    }
}

#[test]
fn what_a_patch_is_made_of_may_look_like_anything() {
    let folder = Folder::new();
    let (before, after) = files(50_000);
    // The references are one that looks like a trained dictionary, an empty one, and the file itself.
    let trained = [b"\x37\xa4\x30\xec\x01\0\0\0", &before[..]].concat();
    for (old, new) in [(&trained[..], &after[..]), (b"", &after), (&before, b""), (&before, &before)] {
        folder.write("old", old);
        folder.write("new", new);
        folder.abz(&["-kf", "-F", "zstd", "--patch-from", "old", "new"]).exits(0).says("");
        let name = folder.path("old").display().to_string();
        // (zstd reports too little memory for the others, even for patches that it made itself.)
        if old == before
            && !new.is_empty()
            && let Some(back) = through("zstd", &["-dcq", "--patch-from", &name], &folder.read("new.zst"))
        {
            assert!(back == new);
        }
        folder.abz(&["-t", "--patch-from", "old", "new.zst"]).exits(0).says("");
        folder.abz(&["-df", "--patch-from=old", "new.zst"]).exits(0).says("");
        assert!(folder.read("new") == new);
        assert_eq!(folder.names(), ["new", "old"]);
    }
}

#[test]
fn without_the_other_file_or_with_a_wrong_one_there_is_nothing() {
    let folder = Folder::new();
    let (before, after) = files(200_000);
    folder.write("old", &before);
    folder.write("wrong", &noise(200_000, 99));
    folder.write("new", &after);
    folder.abz(&["-F", "zstd", "--patch-from", "old", "new"]).exits(0).says("");
    for arguments in [&["-d", "new.zst"][..], &["-d", "--patch-from", "wrong", "new.zst"]] {
        let told = folder.abz(arguments).exits(1).stderr();
        assert!(told.starts_with("abz: new.zst: frame 1"), "{told}");
    }
    assert_eq!(folder.names(), ["new.zst", "old", "wrong"]);
    let told = folder.abz(&["-d", "--patch-from", "missing", "new.zst"]).exits(1).stderr();
    assert!(told.contains("the file missing cannot be used for a patch: No such file"), "{told}");
    // A damaged patch.
    let mut patch = folder.read("new.zst");
    let at = patch.len() - 2;
    patch[at] ^= 1;
    folder.write("new.zst", &patch);
    let told = folder.abz(&["-d", "--patch-from", "old", "new.zst"]).exits(1).stderr();
    assert!(told.contains("the file is damaged there"), "{told}");
}

#[test]
fn limits_of_memory_count_both_files() {
    let folder = Folder::new();
    let (before, after) = files(3_000_000);
    folder.write("old", &before);
    folder.write("new", &after);
    let how = |limit: &'static str| ["-k", "-F", "zstd", "--patch-from", "old", "--memlimit", limit, "new"];
    let told = folder.abz(&how("10M")).exits(1).stderr();
    assert!(told.contains("MiB of memory with one thread"), "{told}");
    folder.abz(&how("100M")).exits(0).says("");
    let how = |limit: &'static str| ["-c", "-d", "--patch-from", "old", "--memlimit", limit, "new.zst"];
    let told = folder.abz(&how("7M")).exits(1).stderr();
    assert!(told.contains("allow it with --memlimit=9M"), "{told}");
    assert!(folder.abz(&how("10M")).exits(0).stdout() == after);
}

#[test]
fn mistakes_with_patches_are_told_with_advice() {
    let folder = Folder::new();
    folder.write("old", b"x");
    folder.write("new", b"x");
    for (arguments, advice) in [
        (&["--patch-from", "old", "new"][..], "use -F zstd"),
        (&["-F", "zstd", "--patch-from", "old", "new", "new"], "a patch needs a single input"),
        (&["-F", "zstd", "--patch-from", "old", "-r", "."], "a patch needs a single input"),
        (&["-F", "zstd", "--patch-from", "old", "-c"], "name a file"),
        (&["-F", "zstd", "--patch-from", "old", "--rsyncable", "new"], "a patch is one frame"),
        (&["-F", "zstd", "--patch-from", "old", "--frames", "new"], "a patch is one frame"),
        (&["-F", "zstd", "--patch-from", "old", "-D", "old", "new"], "cannot be used with"),
    ] {
        let told = folder.abz(arguments).exits(1).stderr();
        assert!(told.contains(advice), "{arguments:?}: {told}");
    }
}

#[test]
fn the_file_that_a_patch_refers_to_is_not_removed() {
    let folder = Folder::new();
    let data = noise(50_000, 3);
    folder.write("f", &data);
    std::os::unix::fs::symlink("f", folder.path("link")).unwrap();
    let refused = |arguments: &[&str]| {
        let told = folder.abz(arguments).exits(1).stderr();
        assert!(
            told.contains("is also the file of --patch-from") && told.contains("keep it with -k"),
            "{told}"
        );
        assert_eq!(folder.names(), ["f", "link"]);
        assert!(folder.read("f") == data);
    };
    for old in ["f", "./f", "link"] {
        refused(&["-F", "zstd", "--patch-from", old, "f"]);
        refused(&["-f", "-F", "zstd", "--verify", "-p2", "--patch-from", old, "f"]);
        // A file that is kept may be the reference of its own patch.
        let patch = folder.abz(&["-c", "-F", "zstd", "--patch-from", old, "f"]).exits(0).says("").stdout();
        assert!(folder.abz_fed(&["-d", "--patch-from", old], &patch).exits(0).stdout() == data);
    }
    refused(&["-f", "-F", "zstd", "--patch-from", "f", "link"]);
    // The reference may not be the patch either.
    let patch = folder.abz(&["-c", "-F", "zstd", "f"]).exits(0).stdout();
    folder.write("g.zst", &patch);
    let told = folder.abz(&["-d", "--patch-from", "g.zst", "g.zst"]).exits(1).stderr();
    assert!(told.contains("is also the file of --patch-from"), "{told}");
    assert!(folder.read("g.zst") == patch);
    folder.abz(&["-k", "-F", "zstd", "--patch-from", "link", "f"]).exits(0).says("");
    assert!(folder.read("f") == data && folder.read("f.zst").len() < 200);
}

#[test]
fn the_file_that_a_patch_refers_to_is_not_overwritten() {
    let folder = Folder::new();
    let (before, after) = files(50_000);
    folder.write("old", &before);
    folder.write("new", &after);
    folder.write("other", b"other");
    let patch = folder.abz(&["-c", "-F", "zstd", "--patch-from", "old", "new"]).exits(0).stdout();
    folder.write("p.zst", &patch);
    std::os::unix::fs::symlink("old", folder.path("link")).unwrap();
    std::fs::hard_link(folder.path("old"), folder.path("twin")).unwrap();
    std::fs::hard_link(folder.path("old"), folder.path("new.zst")).unwrap();
    std::fs::hard_link(folder.path("old"), folder.path("p")).unwrap();
    let names = folder.names();
    for old in ["old", "./old", "link", "twin"] {
        for output in ["old", "link", "twin"] {
            for arguments in [
                &["-f", "-F", "zstd", "-o", output, "new"][..],
                &["-f", "-F", "zstd", "--verify", "-p2", "-o", output, "new"],
                &["-df", "-o", output, "p.zst"],
                &["-df", "-p2", "-o", output, "p.zst"],
                // Without -o, the reference has the name of the output too.
                &["-kf", "-F", "zstd", "new"],
                &["-dkf", "p.zst"],
            ] {
                let told = folder.abz(&[&["--patch-from", old], arguments].concat()).exits(1).stderr();
                assert!(
                    told.contains("is the file of --patch-from, which is needed"),
                    "{arguments:?}: {told}"
                );
                assert_eq!(folder.names(), names);
                assert!(folder.read("old") == before && folder.read("twin") == before, "{arguments:?}");
                assert!(folder.path("link").is_symlink());
            }
        }
    }
    // Another file may be replaced.
    folder.abz(&["--patch-from", "old", "-kf", "-F", "zstd", "-o", "other", "new"]).exits(0).says("");
    assert!(folder.read("other") == patch);
}
