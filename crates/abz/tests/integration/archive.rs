//! Archives: creating and extracting them, compared with GNU tar, and hostile archives.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::support::{Folder, Ran, fed, have, noise, program, prose};
use tar::{EntryType, Header};

/// Returns a folder with files of all types.
fn furnished() -> Folder {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("d/e/empty")).unwrap();
    fs::create_dir(folder.path("d/private")).unwrap();
    folder.write("d/text", &prose(300_000));
    folder.write("d/noise", &noise(1_500_000, 7));
    folder.write("d/nothing", b"");
    folder.write("d/e/block", &prose(512));
    folder.write("d/private/x", b"secret");
    folder.write(&format!("d/e/{}", "long ".repeat(45)), b"a name of more than a hundred bytes");
    symlink("../text", folder.path("d/e/link")).unwrap();
    symlink("/nowhere", folder.path("d/broken")).unwrap();
    fs::hard_link(folder.path("d/text"), folder.path("d/e/text too")).unwrap();
    folder.write("d/e/run", b"#!/bin/sh\n");
    fs::set_permissions(folder.path("d/e/run"), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(folder.path("d/noise"), Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(folder.path("d/private"), Permissions::from_mode(0o500)).unwrap();
    for (n, name) in ["d/text", "d/e/block", "d/e/empty", "d/e", "d/private"].into_iter().enumerate() {
        let time = UNIX_EPOCH + Duration::from_secs(1_500_000_000 + n as u64);
        File::open(folder.path(name)).unwrap().set_modified(time).unwrap();
    }
    folder
}

/// Everything below a folder: its type, mode, time, number of links and contents.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut tree = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let found = fs::symlink_metadata(&path).unwrap();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let rights = format!("{:o} {} {}", found.mode(), found.mtime(), found.nlink());
        let what = if found.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            format!("{:o} {}", found.mode(), found.mtime())
        } else if found.is_symlink() {
            fs::read_link(&path).unwrap().display().to_string()
        } else {
            format!("{rights} {:?}", fs::read(&path).unwrap().iter().map(|&b| u64::from(b)).sum::<u64>())
        };
        tree.insert(name, what);
    }
    tree
}

/// Runs GNU tar in a folder.
fn tar(folder: &Folder, arguments: &[&str]) {
    let mut command = program("tar");
    command.args(arguments).current_dir(folder.path(""));
    Ran(fed(command, b"")).exits(0);
}

#[test]
fn an_archive_gives_back_what_was_put_in() {
    let folder = furnished();
    for archive in ["a.tar.gz", "a.tgz", "a.tar.bz2", "a.tlz", "a.anything"] {
        let format: &[&str] = if archive == "a.anything" { &["-F", "bzip2"] } else { &[] };
        folder.abz(&[&["--archive", archive, "d"], format].concat()).exits(0).says("");
        for processes in ["-p1", "-p3"] {
            fs::create_dir(folder.path("out")).unwrap();
            folder.abz(&["-d", "--extract", processes, "-C", "out", archive]).exits(0).says("");
            assert_eq!(tree(&folder.path("out/d")), tree(&folder.path("d")), "{archive}");
            fs::set_permissions(folder.path("out/d/private"), Permissions::from_mode(0o700)).unwrap();
            fs::remove_dir_all(folder.path("out")).unwrap();
        }
    }
    folder.abz(&["--archive", "a.rar", "d"]).exits(1);
    folder.abz(&["--archive", "a.tar.gz"]).exits(1);
    let piped = folder.abz(&["--archive", "-", "-F", "gzip", "d"]).exits(0).stdout();
    fs::create_dir(folder.path("out")).unwrap();
    folder.abz_fed(&["--extract", "-C", "out"], &piped).exits(0).says("");
    assert_eq!(tree(&folder.path("out/d")), tree(&folder.path("d")));
}

#[test]
fn gnu_tar_reads_what_abz_makes_and_the_other_way_round() {
    if !have("tar") {
        return;
    }
    let folder = furnished();
    fs::create_dir_all(folder.path("theirs")).unwrap();
    fs::create_dir_all(folder.path("ours")).unwrap();
    folder.abz(&["--archive", "a.tar.gz", "d"]).exits(0).says("");
    tar(&folder, &["-C", "theirs", "-xzf", "a.tar.gz"]);
    assert_eq!(tree(&folder.path("theirs/d")), tree(&folder.path("d")));
    for (n, form) in ["gnu", "posix", "ustar"].into_iter().enumerate() {
        // ustar cannot store such long names.
        tar(&folder, &["--format", form, "--exclude", "long*", "-czf", "b.tar.gz", "d"]);
        let out = format!("ours/{n}");
        fs::create_dir(folder.path(&out)).unwrap();
        folder.abz(&["--extract", "-C", &out, "b.tar.gz"]).exits(0).says("");
        let mut expected = tree(&folder.path("d"));
        expected.retain(|name, _| !name.contains("long"));
        assert_eq!(tree(&folder.path(&format!("{out}/d"))), expected, "{form}");
    }
}

#[test]
fn the_same_files_make_the_same_archive() {
    let folder = Folder::new();
    for (order, top) in [(["b", "a", "c"], "one"), (["c", "b", "a"], "two")] {
        fs::create_dir_all(folder.path(&format!("{top}/d"))).unwrap();
        for name in order {
            folder.write(&format!("{top}/d/{name}"), name.as_bytes());
        }
        let mut command =
            folder.command(&["--archive", "a.tar.gz", "--mtime", "77", "--owner", "0:0", "-n", "d"]);
        command.current_dir(folder.path(top));
        Ran(fed(command, b"")).exits(0).says("");
    }
    let archive = folder.read("one/a.tar.gz");
    assert!(archive == folder.read("two/a.tar.gz"));
    let mut plain = Vec::new();
    abz::decompress(&archive[..], &mut plain, &abz::Decompression::default()).unwrap();
    let mut names = Vec::new();
    for entry in tar::Archive::new(&plain[..]).entries().unwrap() {
        let entry = entry.unwrap();
        let header = entry.header();
        assert_eq!((header.mtime().unwrap(), header.uid().unwrap(), header.gid().unwrap()), (77, 0, 0));
        names.push(entry.path().unwrap().display().to_string());
    }
    assert_eq!(names, ["d/", "d/a", "d/b", "d/c"]);
}

#[test]
fn the_archive_is_not_in_itself_and_what_is_no_file_is_told() {
    let folder = furnished();
    let made = program("mkfifo").arg(folder.path("d/pipe")).status().unwrap();
    assert!(made.success());
    let text = "abz: d/pipe: is a pipe -- not in the archive";
    folder.abz(&["--archive", "d/a.tar.gz", "d", "missing"]).exits(1).says(&format!(
        "{text}\nabz: missing: is not in the archive: No such file or directory (os error 2)"
    ));
    folder.abz(&["-f", "--archive", "d/a.tar.gz", "d"]).exits(2).says(text);
    folder.abz(&["--archive", "d/a.tar.gz", "d"]).exits(2);
    fs::create_dir(folder.path("out")).unwrap();
    folder.abz(&["--extract", "-C", "out", "d/a.tar.gz"]).exits(0).says("");
    assert!(!folder.path("out/d/a.tar.gz").exists() && !folder.path("out/d/pipe").exists());
    folder.abz(&["--archive", "b.tar.gz", "../x"]).exits(1);
}

// Hostile archives

/// A malicious archive.
#[derive(Default)]
struct Hostile(Vec<u8>);

impl Hostile {
    fn add(mut self, kind: EntryType, name: &str, link: &str, data: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(data.len() as u64);
        header.set_mode(0o6777);
        header.set_mtime(1_000_000_000);
        header.set_uid(0);
        header.set_gid(0);
        let fields = header.as_gnu_mut().unwrap();
        fields.name[..name.len()].copy_from_slice(name.as_bytes());
        fields.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(data);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    fn file(self, name: &str) -> Self {
        self.add(EntryType::Regular, name, "", b"evil")
    }

    fn link(self, name: &str, to: &str) -> Self {
        self.add(EntryType::Symlink, name, to, b"")
    }

    fn hard_link(self, name: &str, to: &str) -> Self {
        self.add(EntryType::Link, name, to, b"")
    }

    /// Extracts it to `in`, in a folder that also holds a file `secret`.
    fn extract(mut self, folder: &Folder, arguments: &[&str]) -> Ran {
        self.0.extend([0; 1024]);
        let mut archive = Vec::new();
        abz::compress(&self.0[..], &mut archive, &abz::Compression::default()).unwrap();
        folder.write("archive.tar.gz", &archive);
        let ran = folder.abz(&[&["--extract", "-C", "in", "archive.tar.gz"], arguments].concat());
        assert_eq!(folder.names(), ["archive.tar.gz", "in", "secret"], "something was made outside");
        assert_eq!(folder.read("secret"), b"secret");
        ran
    }
}

fn guarded() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    folder.write("secret", b"secret");
    folder
}

fn inside(folder: &Folder) -> Vec<String> {
    tree(&folder.path("in")).into_keys().filter(|name| !name.is_empty()).collect()
}

#[test]
fn names_that_lead_out_are_refused_and_the_others_are_made() {
    let folder = guarded();
    let absolute = folder.path("secret").display().to_string();
    let ran = Hostile::default()
        .file("../secret")
        .file(&absolute)
        .file("a/../../secret")
        .file("a/..")
        .file("..")
        .file("./")
        .add(EntryType::Directory, "../made", "", b"")
        .file("good")
        .extract(&folder, &[])
        .exits(1);
    assert_eq!(
        ran.stderr().lines().filter(|line| line.ends_with(" -- refused")).count(),
        6,
        "{}",
        ran.stderr()
    );
    assert_eq!(inside(&folder), ["good"]);
}

#[test]
fn links_are_not_followed_whoever_made_them() {
    let folder = guarded();
    symlink("..", folder.path("in/before")).unwrap();
    let ran = Hostile::default()
        .link("up", "..")
        .file("up/secret")
        .file("up/made")
        .file("before/secret")
        .add(EntryType::Directory, "up/folder", "", b"")
        .link("up/link", "x")
        .hard_link("up/hard", "good")
        .link("to", "../secret")
        .file("to")
        .hard_link("stolen", "to")
        .hard_link("stolen too", "up/secret")
        .hard_link("outside", "../secret")
        .link("device", "/dev/null")
        .file("device")
        .extract(&folder, &[])
        .exits(1);
    // A later member that is a file replaces a link of its name that the archive made.
    assert_eq!(inside(&folder), ["before", "device", "stolen", "to", "up"], "{}", ran.stderr());
    assert!(["in/to", "in/stolen", "in/device"].iter().all(|name| folder.read(name) == b"evil"));
    // With -f, a file replaces an existing link, and the target of the link is untouched.
    symlink("../secret", folder.path("in/old")).unwrap();
    Hostile::default().file("old").extract(&folder, &[]).exits(2);
    Hostile::default().file("old").extract(&folder, &["-f"]).exits(0);
    assert_eq!(folder.read("in/old"), b"evil");
    assert!(fs::symlink_metadata(folder.path("in/old")).unwrap().is_file());
}

#[test]
fn devices_pipes_and_rights_of_others_are_not_made() {
    let folder = guarded();
    let ran = Hostile::default()
        .add(EntryType::Char, "char", "", b"")
        .add(EntryType::Block, "block", "", b"")
        .add(EntryType::Fifo, "fifo", "", b"")
        .add(EntryType::new(b'?'), "unknown", "", b"")
        .add(EntryType::Directory, "folder", "", b"")
        .file("file")
        .extract(&folder, &[])
        .exits(1);
    assert_eq!(inside(&folder), ["file", "folder"], "{}", ran.stderr());
    for name in ["in/file", "in/folder"] {
        let mode = fs::metadata(folder.path(name)).unwrap().mode() & 0o7777;
        assert_eq!(mode & !0o777, 0, "{name} has the mode {mode:o}");
    }
}

#[test]
fn what_exists_stays_without_force() {
    let folder = guarded();
    folder.write("in/file", b"mine");
    fs::create_dir(folder.path("in/folder")).unwrap();
    let ran = Hostile::default().file("file").file("folder").link("file", "x").extract(&folder, &[]);
    assert!(ran.exits(2).stderr().contains("already exists -- not overwritten"));
    assert_eq!(folder.read("in/file"), b"mine");
    assert!(folder.path("in/folder").is_dir());
    Hostile::default().file("file").extract(&folder, &["-f"]).exits(0).says("");
    assert_eq!(folder.read("in/file"), b"evil");
}

#[test]
fn a_damaged_archive_gives_whole_files_only() {
    let folder = guarded();
    let data = noise(3_000_000, 9);
    let mut plain =
        Hostile::default().add(EntryType::Regular, "a", "", &data).add(EntryType::Regular, "b", "", &data);
    plain.0.extend([0; 1024]);
    let mut archive = Vec::new();
    abz::compress(
        &plain.0[..],
        &mut archive,
        &abz::Compression { block_size: Some(100_000), ..Default::default() },
    )
    .unwrap();
    let damaged = |at: usize| {
        let mut archive = archive.clone();
        archive[at] ^= 1;
        archive
    };
    for (file, expected) in [
        (damaged(archive.len() - 200_000), &["a"][..]),
        (archive[..archive.len() / 3].to_vec(), &[]),
        (b"no archive".to_vec(), &[]),
    ] {
        folder.write("x.tar.gz", &file);
        folder.abz(&["--extract", "-C", "in", "x.tar.gz"]).exits(1);
        assert_eq!(inside(&folder), expected);
        for name in expected {
            assert!(folder.read(&format!("in/{name}")) == data);
            fs::remove_file(folder.path(&format!("in/{name}"))).unwrap();
        }
    }
    let mut no_tar = Vec::new();
    abz::compress(&prose(5_000)[..], &mut no_tar, &abz::Compression::default()).unwrap();
    folder.write("x.tar.gz", &no_tar);
    let said = folder.abz(&["--extract", "-C", "in", "x.tar.gz"]).exits(1).stderr();
    assert!(said.starts_with("abz: x.tar.gz: expected a tar archive: "), "{said}");
}
