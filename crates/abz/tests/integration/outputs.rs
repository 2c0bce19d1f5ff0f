//! Several inputs to one output, outputs in another folder, and skipped inputs.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{Folder, Ran, fed, noise, program, prose};

fn furnished() -> Folder {
    let folder = Folder::new();
    folder.write("a", &prose(300_000));
    folder.write("b", &noise(100_000, 1));
    fs::create_dir(folder.path("d")).unwrap();
    folder.write("d/c", &prose(2_000_000));
    folder
}

#[test]
fn several_inputs_become_one_output_in_their_order() {
    let folder = furnished();
    let all = [prose(300_000), noise(100_000, 1), prose(2_000_000)].concat();
    for format in ["gzip", "bzip2", "lzip", "xz", "zstd"] {
        for more in [&[][..], &["--input-io", "pread", "--output-io", "pwrite"], &["--verify"]] {
            let arguments = [&["-F", format, "-1", "-f", "-o", "out", "a", "b", "d/c"], more].concat();
            folder.abz(&arguments).exits(0).says("");
            assert!(folder.abz(&["-dc", "out"]).exits(0).stdout() == all, "{format}");
        }
        let parts = [&["-c", "-1", "-F", format, "a", "b", "d/c"]];
        assert!(folder.abz(parts[0]).exits(0).stdout() == folder.read("out"), "{format}");
        assert!(folder.path("a").exists() && folder.path("d/c").exists());
    }
    folder.abz(&["-k", "a", "d/c"]).exits(0);
    folder.abz(&["-k", "-F", "xz", "-0", "b"]).exits(0);
    folder.abz(&["-d", "-o", "back", "a.gz", "b.xz", "d/c.gz"]).exits(0).says("");
    assert!(folder.read("back") == all);
    folder.abz(&["-r", "-o", "below", "d"]).exits(0);
    folder.abz(&["-d", "-o", "back", "a.gz", "b.xz"]).exits(2);
    assert!(folder.read("back") == all);
}

#[test]
fn what_fails_leaves_no_joined_output_and_what_is_not_there_is_passed_over() {
    let folder = furnished();
    let said = folder.abz(&["-o", "out", "a", "missing", "b"]).exits(1).stderr();
    assert!(said.starts_with("abz: missing: cannot be opened"), "{said}");
    let data = folder.abz(&["-dc", "out"]).exits(0).stdout();
    assert!(data == [prose(300_000), noise(100_000, 1)].concat());

    folder.abz(&["-k", "a", "b"]).exits(0);
    let mut bad = folder.read("b.gz");
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    folder.write("b.gz", &bad);
    let before = folder.names();
    folder.abz(&["-d", "-o", "joined", "a.gz", "b.gz"]).exits(1);
    folder.abz(&["-d", "-o", "joined", "missing", "missing too"]).exits(1);
    assert_eq!(folder.names(), before);
    for more in [&["--range", "0..5"][..], &["--checksum"], &["--explain"]] {
        let said = folder.abz(&[&["-d", "-o", "out", "a.gz", "b.gz"], more].concat()).exits(1).stderr();
        assert!(said.contains("--output names one file"), "{said}");
    }
}

#[test]
fn outputs_go_to_a_folder_under_their_own_names() {
    let folder = furnished();
    fs::create_dir(folder.path("out")).unwrap();
    folder.abz(&["--output-dir-flat", "out", "a", "d/c"]).exits(0).says("");
    assert!(folder.path("a").exists() && folder.path("d/c").exists());
    assert!(folder.path("out/a.gz").exists() && folder.path("out/c.gz").exists());
    folder.abz(&["-d", "--output-dir-flat", "d", "out/a.gz"]).exits(0).says("");
    assert!(folder.read("d/a") == prose(300_000));
    // Two inputs with the same name.
    folder.write("d/a", b"another");
    folder.abz(&["--output-dir-flat", "out", "-F", "xz", "-0", "a", "d/a"]).exits(2);
    assert!(folder.abz(&["-dc", "out/a.xz"]).exits(0).stdout() == prose(300_000));
    folder.abz(&["-f", "--output-dir-flat", "out", "-F", "xz", "-0", "a", "d/a"]).exits(0);
    assert!(folder.abz(&["-dc", "out/a.xz"]).exits(0).stdout() == b"another");
    let said = folder.abz(&["--output-dir-flat", "nowhere", "a"]).exits(1).stderr();
    assert!(said.contains("there is no folder nowhere"), "{said}");
}

#[test]
fn zstd_joins_excludes_and_fills_folders() {
    let folder = furnished();
    symlink(env!("CARGO_BIN_EXE_abz"), folder.path("zstd")).unwrap();
    fs::create_dir(folder.path("out")).unwrap();
    let zstd = |arguments: &[&str]| {
        let mut command = program(folder.path("zstd"));
        command.current_dir(folder.path("")).args(arguments);
        Ran(fed(command, b""))
    };
    let said = zstd(&["a", "b", "-o", "x.zst"]).exits(1).stderr();
    assert!(said.contains("allow it with -f"), "{said}");
    zstd(&["-f", "a", "b", "-o", "x.zst"]).exits(0);
    assert!(zstd(&["-dc", "x.zst"]).exits(0).stdout() == [prose(300_000), noise(100_000, 1)].concat());
    zstd(&["--exclude-compressed", "a", "x.zst", "--output-dir-flat", "out"]).exits(0);
    assert!(folder.path("out/a.zst").exists() && !folder.path("out/x.zst.zst").exists());
    zstd(&["--rm", "b", "--output-dir-flat", "out"]).exits(0);
    assert!(folder.path("out/b.zst").exists() && !folder.path("b").exists());
}

#[test]
fn files_whose_names_say_that_they_are_compressed_can_be_passed_over() {
    let folder = Folder::new();
    fs::create_dir(folder.path("d")).unwrap();
    for name in ["a.txt", "b.JPG", "c.zip", "e.tar", "f.tgz", "g"] {
        folder.write(&format!("d/{name}"), b"x");
    }
    folder.abz(&["-r", "--exclude-compressed", "d"]).exits(0).says("");
    let mut names: Vec<_> = fs::read_dir(folder.path("d")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.txt.gz", "b.JPG", "c.zip", "e.tar.gz", "f.tgz", "g.gz"]);
}

#[test]
fn levels_of_two_digits_are_levels_where_the_format_has_them() {
    let folder = Folder::new();
    folder.write("x", &prose(300_000));
    let with = |format: &str, level: &[&str]| {
        folder.abz(&[&["-c", "-F", format, "x"], level].concat()).exits(0).stdout()
    };
    let long = |format, level| with(format, &["--level", level]);
    assert!(with("zstd", &["-19"]) == long("zstd", "19") && long("zstd", "19") != long("zstd", "9"));
    assert!(with("gzip", &["-12"]) == long("gzip", "12") && long("gzip", "12") != long("gzip", "2"));
    assert!(with("gzip", &["-19"]) == long("gzip", "9") && with("bzip2", &["-81"]) == long("bzip2", "1"));
    assert!(with("zstd", &["-19", "-2"]) == long("zstd", "2"));
    folder.abz(&["-c", "-F", "zstd", "-22", "x"]).exits(1);
}

#[test]
fn the_folder_for_links_is_made() {
    let folder = Folder::new();
    folder.abz(&["--install-links", "new/bin"]).exits(0);
    assert!(folder.path("new/bin/gzip").exists());
    folder.write("file", b"");
    folder.abz(&["--install-links", "file/bin"]).exits(1);
}
