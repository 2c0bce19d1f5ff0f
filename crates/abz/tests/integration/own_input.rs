//! No output replaces its own input, however either is named.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::support::{Folder, Ran, prose};

/// The message for an output that is the input.
fn said(name: &str) -> String {
    format!("abz: {name}: is the input, and the output would replace it: name another file to write to")
}

#[test]
fn an_output_that_is_the_input_is_refused_in_each_format() {
    let (folder, data) = (Folder::new(), prose(30_000));
    folder.write("x", &data);
    symlink("x", folder.path("link")).unwrap();
    fs::hard_link(folder.path("x"), folder.path("other")).unwrap();
    for format in abz::Format::written() {
        let name = format.name();
        for output in ["x", "./x", "link", "other"] {
            folder.abz(&["-F", name, "-f", "-o", output, "x"]).exits(1).says(&said(output));
        }
        folder.abz(&["-F", name, "-fk", "-o", "c", "x"]).exits(0);
        let compressed = folder.read("c");
        for way in [&["-d"][..], &["-d", "-p1"], &["--range", "0..9"]] {
            folder.abz(&[way, &["-f", "-o", "c", "c"]].concat()).exits(1).says(&said("c"));
        }
        assert!(folder.read("c") == compressed && folder.read("x") == data, "{name}");
    }
    assert!(folder.path("link").is_symlink());
    assert_eq!(folder.names(), ["c", "link", "other", "x"]);
}

#[test]
fn each_way_to_name_an_output_spares_the_input() {
    let (folder, data) = (Folder::new(), prose(30_000));
    for name in ["x", "y"] {
        folder.write(name, &data);
    }
    folder.abz(&["-o", "c.gz", "x"]).exits(0);
    let compressed = folder.read("c.gz");
    fs::create_dir(folder.path("folder")).unwrap();
    fs::hard_link(folder.path("y"), folder.path("folder/y")).unwrap();
    for line in [
        "-f -o y x y",
        "-f -o y -r x folder",
        "-d -f -o c.gz c.gz c.gz",
        "--recover -f -o c.gz c.gz",
        "--index -f -o c.gz c.gz",
        "--archive y -f x y",
        "--report --report-file y -kf y",
        "--trace c.gz -tf c.gz",
        "--bench-html y -f y --bench",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = folder.abz(&words);
        let left = (folder.read("x") == data, folder.read("y") == data, folder.read("c.gz") == compressed);
        assert_eq!(left, (true, true, true), "{line}: {}", ran.stderr());
        assert_ne!(ran.status(), Some(0), "{line}");
    }
    // The name stored in a file may be the name of that file.
    let named = folder.abz(&["-cf", "c.gz"]).exits(0).stdout();
    folder.write("c.gz", &named);
    folder.abz(&["-dfN", "c.gz"]).exits(1).says(&said("c.gz"));
    assert!(folder.read("c.gz") == named);
}

#[test]
fn standard_streams_that_are_one_file_are_refused() {
    let (folder, data) = (Folder::new(), prose(30_000));
    folder.write("x", &data);
    let text =
        "abz: standard output: is the input, and the output would change it: name another file to write to";
    let opened = || File::options().read(true).append(true).open(folder.path("x")).unwrap();
    for arguments in [&["-c", "x"][..], &["-c"], &["-kc", "x", "x"]] {
        let mut command = folder.command(arguments);
        let output = command.stdin(opened()).stdout(opened()).stderr(Stdio::piped()).spawn().unwrap();
        let ran = Ran(output.wait_with_output().unwrap()).exits(1);
        assert!(ran.stderr().lines().all(|line| line == text) && !ran.stderr().is_empty());
        assert!(folder.read("x") == data);
    }
    // Standard input is the output.
    let mut command = folder.command(&["-f", "-o", "x"]);
    let output = command.stdin(opened()).stderr(Stdio::piped()).spawn().unwrap();
    Ran(output.wait_with_output().unwrap()).exits(1).says(&said("x"));
    assert!(folder.read("x") == data);
}

#[test]
fn an_archive_does_not_replace_what_it_is_made_of_nor_itself() {
    let folder = Folder::new();
    fs::create_dir(folder.path("d")).unwrap();
    folder.write("d/a.tar.gz", b"any");
    folder.write("d/x", b"data");
    // The archive holds a file of its own name.
    folder.abz(&["--archive", "b.tar.gz", "d"]).exits(0);
    fs::copy(folder.path("b.tar.gz"), folder.path("d/a.tar.gz")).unwrap();
    let before = folder.read("d/a.tar.gz");
    let ran = folder.abz(&["--extract", "-f", "d/a.tar.gz"]).exits(1);
    assert!(ran.stderr().contains("is the input"), "{}", ran.stderr());
    assert!(folder.read("d/a.tar.gz") == before);
    // An archive that is replaced while its folder is archived does not contain itself.
    folder.abz(&["--archive", "d/a.tar.gz", "-f", "d"]).exits(0).says("");
    assert!(folder.read("d/a.tar.gz") != before && folder.read("d/x") == b"data");
}
