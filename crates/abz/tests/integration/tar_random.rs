//! Random archives, extracted by abz and by GNU tar: members of every kind, in every form of a header and in any order, some of
//! them with sizes that they have no data for. Names, contents, kinds, modes, times and links must be the same. Archives that abz
//! makes of random trees must give the tree back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::support::{Folder, Random, fed, have, noise, program, prose, rounds};

const BLOCK: usize = 512;

/// The forms of a header.
#[derive(Clone, Copy, Debug)]
enum Form {
    V7,
    Ustar,
    Gnu,
    Pax,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    kind: u8,
    mode: u32,
    time: u64,
    data: Vec<u8>,
    link: String,
    /// The size in the header, of a member without data.
    claimed: u64,
    form: Form,
}

fn header(form: Form, kind: u8, name: &str, (mode, time, size): (u32, u64, u64), link: &str) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &name.as_bytes()[..name.len().min(100)]);
    put(100, format!("{mode:07o}\0").as_bytes());
    put(108, b"0000000\x000000000\0");
    put(124, format!("{size:011o}\0{time:011o}\0").as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(157, &link.as_bytes()[..link.len().min(100)]);
    match form {
        Form::V7 => {}
        Form::Ustar | Form::Pax => put(257, b"ustar\x0000"),
        Form::Gnu => put(257, b"ustar  \0"),
    }
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes
}

fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut len = rest.len() + 1;
    while len.to_string().len() + rest.len() != len {
        len = len.to_string().len() + rest.len();
    }
    format!("{len}{rest}")
}

impl Member {
    fn bytes(&self, random: &mut Random) -> Vec<u8> {
        let size = if self.data.is_empty() { self.claimed } else { self.data.len() as u64 };
        let (mut archive, mut kind) = (Vec::new(), self.kind);
        let mut long = |letter: u8, text: &str| {
            let text = [text.as_bytes(), b"\0"].concat();
            archive.extend(header(Form::Gnu, letter, "././@LongLink", (0o644, 0, text.len() as u64), ""));
            archive.extend(padded(text));
        };
        match self.form {
            Form::Pax => {
                let mut records = record("path", &self.name);
                if !self.link.is_empty() {
                    records += &record("linkpath", &self.link);
                }
                if random.below(2) == 0 {
                    records += &record("size", &size.to_string());
                }
                records += &record("mtime", &format!("{}.25", self.time));
                archive.extend(header(Form::Pax, b'x', "x", (0o644, 0, records.len() as u64), ""));
                archive.extend(padded(records.into_bytes()));
            }
            _ => {
                if self.name.len() > 100 {
                    long(b'L', &self.name);
                }
                if self.link.len() > 100 {
                    long(b'K', &self.link);
                }
            }
        }
        if matches!(self.form, Form::V7) {
            // It knows files, which have no letter, and links.
            kind = if matches!(kind, b'0' | b'5') { 0 } else { kind };
        }
        archive.extend(header(self.form, kind, &self.name, (self.mode, self.time, size), &self.link));
        archive.extend(padded(self.data.clone()));
        archive
    }
}

/// The members that abz refuses, and other programs make if they may: a pipe and a device.
const REFUSED: [(&str, u8); 2] = [("pipe", b'6'), ("device", b'3')];

/// Draws the members of an archive, in any order that has links after their files.
fn members(random: &mut Random) -> Vec<Member> {
    let folders = ["d/", "d/e/", "f/"];
    let long = format!("f/{}", "long".repeat(30));
    let names = ["a", "b", "d/x", "d/y", "d/e/z", "f/w", &long];
    let mut members = Vec::new();
    let draw = |name: &str, kind: u8, random: &mut Random| {
        let form = [Form::V7, Form::Ustar, Form::Gnu, Form::Pax][random.below(4) as usize];
        let data = match (kind, random.below(3)) {
            (b'0', 0) => noise(1 + random.below(2000) as usize, 1),
            (b'0', 1) => prose(random.below(3000) as usize),
            _ => Vec::new(),
        };
        // Old archives say how large a folder is on the disk, and some say how long the text of a link is.
        let lies = kind != b'0' && random.below(2) == 0;
        Member {
            name: name.to_owned(),
            kind,
            mode: random.below(0o1000) as u32 | if kind == b'5' { 0o700 } else { 0o400 },
            time: 1_000_000_000 + random.below(600_000_000),
            data,
            link: String::new(),
            claimed: if lies { [1024, 5, 4096][random.below(3) as usize] } else { 0 },
            form,
        }
    };
    for folder in folders {
        if random.below(3) > 0 {
            members.push(draw(folder, b'5', random));
        }
    }
    for name in names {
        match random.below(6) {
            0 => {}
            1 => {
                let mut link = draw(name, b'2', random);
                link.link =
                    ["b", "no/where", "./d//e/", &"far/".repeat(40)][random.below(4) as usize].to_owned();
                members.push(link);
            }
            _ => members.push(draw(name, b'0', random)),
        }
    }
    for at in (1..members.len()).rev() {
        members.swap(at, random.below(at as u64 + 1) as usize);
    }
    for (name, kind) in REFUSED {
        if random.below(8) == 0 {
            members.insert(random.below(members.len() as u64 + 1) as usize, draw(name, kind, random));
        }
    }
    let files: Vec<String> =
        members.iter().filter(|member| member.kind == b'0').map(|member| member.name.clone()).collect();
    if let (Some(file), true) = (files.first(), random.below(2) == 0) {
        let mut link = draw("hard", b'1', random);
        link.link = file.clone();
        members.push(link);
    }
    members
}

/// Describes each file in a folder: its kind, permissions, time and contents, and whether it has several names.
fn tree(folder: &Path, timed: &BTreeSet<String>) -> BTreeMap<String, String> {
    let (mut found, mut files, mut waiting) = (BTreeMap::new(), BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).unwrap().map(Result::unwrap) {
            let (path, metadata) = (entry.path(), fs::symlink_metadata(entry.path()).unwrap());
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            let mode = metadata.permissions().mode() & 0o7777;
            // GNU tar loses the time of a folder if other members are between those in it.
            let time = Some(metadata.mtime()).filter(|_| timed.contains(&name) && !metadata.is_dir());
            let what = match () {
                () if metadata.is_dir() => {
                    waiting.push(path);
                    format!("folder {mode:o}")
                }
                () if metadata.is_symlink() => {
                    format!("link {:?}", fs::read_link(&path).unwrap().as_os_str().as_bytes())
                }
                () => {
                    let data = fs::read(&path).unwrap();
                    let first = files.entry(metadata.ino()).or_insert_with(|| name.clone()).clone();
                    // Which of the names of a file comes first is not known.
                    let others = if metadata.nlink() > 1 { "several names".to_owned() } else { first };
                    format!("file {mode:o} {} bytes {:x} {others}", data.len(), crc32fast::hash(&data))
                }
            };
            found.insert(name, format!("{what} {time:?}"));
        }
    }
    found
}

fn run(folder: &Folder, words: &[&str]) -> (Option<i32>, String) {
    let mut command = program("sh");
    command.current_dir(folder.path("")).args(["-c", "umask 022; exec \"$@\"", "sh"]).args(words);
    let output = fed(command, b"");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn random_archives_are_extracted_as_gnu_tar_does_it() {
    if !have("tar") {
        return;
    }
    for round in 0..rounds(40) {
        let mut random = Random(round + 1);
        let drawn = members(&mut random);
        let mut archive: Vec<u8> = drawn.iter().flat_map(|member| member.bytes(&mut random)).collect();
        archive.extend([0; 2 * BLOCK]);
        let folder = Folder::new();
        folder.write("x.tar", &archive);
        for name in ["ours", "theirs"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        let theirs = run(
            &folder,
            &["tar", "-x", "-f", "x.tar", "-C", "theirs", "--no-same-owner", "--no-same-permissions"],
        );
        let ours = run(&folder, &[env!("CARGO_BIN_EXE_abz"), "--extract", "-C", "ours", "x.tar"]);
        let timed: BTreeSet<String> =
            drawn.iter().map(|member| member.name.trim_end_matches('/').to_owned()).collect();
        for (name, _) in REFUSED {
            let _ = fs::remove_file(folder.path("theirs").join(name));
        }
        assert_eq!(
            tree(&folder.path("ours"), &timed),
            tree(&folder.path("theirs"), &timed),
            "round {round}: {ours:?} {theirs:?} {:?}",
            drawn
                .iter()
                .map(|member| (&member.name, member.kind, member.claimed, member.form))
                .collect::<Vec<_>>()
        );
        // Whether others may make a device depends on the user.
        let is_refused = drawn.iter().any(|member| REFUSED.contains(&(&*member.name, member.kind)));
        let expected = if is_refused { Some(1) } else { theirs.0 };
        assert_eq!(ours.0, expected, "round {round}: {ours:?} {theirs:?}");
        if !is_refused && have("python3") {
            fs::create_dir(folder.path("python")).unwrap();
            let script = "import tarfile; tarfile.open('x.tar').extractall('python')";
            let python = run(&folder, &["python3", "-W", "ignore", "-c", script]);
            assert_eq!(python, (Some(0), String::new()), "round {round}");
            // Python restores permissions as they are, without the umask, and the times of links where it can.
            let contents = |name: &str| -> Vec<(String, String)> {
                let found = tree(&folder.path(name), &BTreeSet::new());
                let what = |what: String| {
                    let words: Vec<&str> = what.split(' ').collect();
                    let is_link = words[0] == "link";
                    words
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| *at != 1 || is_link)
                        .map(|(_, word)| *word)
                        .collect()
                };
                found.into_iter().map(|(name, found)| (name, what(found))).collect()
            };
            assert_eq!(contents("ours"), contents("python"), "round {round}");
        }
        for member in drawn.iter().filter(|member| member.kind == b'5') {
            let found = fs::metadata(folder.path("ours").join(&member.name)).unwrap();
            assert_eq!(found.mtime() as u64, member.time, "round {round}: {}", member.name);
        }
    }
}

#[test]
fn random_trees_come_back_from_archives() {
    for round in 0..rounds(12) {
        let mut random = Random(round + 100);
        let folder = Folder::new();
        let mut timed = BTreeSet::new();
        for member in members(&mut random) {
            let path = folder.path("in").join(&member.name);
            timed.insert(member.name.trim_end_matches('/').to_owned());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match member.kind {
                b'5' => fs::create_dir_all(&path).unwrap(),
                b'2' => std::os::unix::fs::symlink(&member.link, &path).unwrap(),
                b'1' => fs::hard_link(folder.path("in").join(&member.link), &path).unwrap(),
                _ => {
                    fs::write(&path, &member.data).unwrap();
                    let file = fs::File::options().write(true).open(&path).unwrap();
                    // Holes at the start, between, and at the end.
                    if random.below(3) == 0 {
                        std::os::unix::fs::FileExt::write_at(&file, b"far", 1 << 20).unwrap();
                        file.set_len((1 << 20) + random.below(100_000)).unwrap();
                    }
                    fs::set_permissions(&path, fs::Permissions::from_mode(member.mode & 0o755)).unwrap();
                }
            }
        }
        fs::create_dir_all(folder.path("in")).unwrap();
        let expected = tree(&folder.path("in"), &BTreeSet::new());
        for sparse in ["--no-sparse", "--sparse"] {
            let abz = env!("CARGO_BIN_EXE_abz");
            let made = run(&folder, &[abz, "--archive", "o.tgz", "-f", sparse, "in"]);
            assert_eq!(made, (Some(0), String::new()), "round {round}");
            for (to, words) in [
                ("ours", &[abz, "--extract", "-C", "ours", "o.tgz"][..]),
                (
                    "theirs",
                    &["tar", "-xzf", "o.tgz", "-C", "theirs", "--no-same-owner", "--no-same-permissions"],
                ),
            ] {
                if words[0] == "tar" && !have("tar") {
                    continue;
                }
                fs::create_dir(folder.path(to)).unwrap();
                assert_eq!(run(&folder, words), (Some(0), String::new()), "round {round}");
                assert_eq!(
                    tree(&folder.path(to).join("in"), &BTreeSet::new()),
                    expected,
                    "round {round}, {to}"
                );
                fs::remove_dir_all(folder.path(to)).unwrap();
            }
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_no_target_of_a_link() {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    folder.write("in/a", b"secret");
    fs::hard_link(folder.path("in/a"), folder.path("in/b")).unwrap();
    fs::set_permissions(folder.path("in/a"), fs::Permissions::from_mode(0o0)).unwrap();
    if fs::File::open(folder.path("in/a")).is_ok() {
        // The superuser reads everything.
        return crate::support::leave_out("an unreadable file (the tests run as root)");
    }
    let said = folder.abz(&["--archive", "o.tar", "in"]).exits(1).stderr();
    assert!(said.contains("in/a") && said.contains("in/b"), "{said}");
}

#[test]
fn a_private_folder_is_never_open_to_others() {
    let folder = Folder::new();
    fs::create_dir(folder.path("to")).unwrap();
    // Its files come before the folder, and the archive is cut before its end.
    let file = header(Form::Ustar, b'0', "d/x", (0o600, 0, 1000), "");
    folder.write("x.tar", &[file, vec![1; 500]].concat());
    assert_eq!(run(&folder, &[env!("CARGO_BIN_EXE_abz"), "--extract", "-C", "to", "x.tar"]).0, Some(1));
    let archive = [
        header(Form::Ustar, b'0', "d/x", (0o640, 0, 4), ""),
        padded(b"data".to_vec()),
        header(Form::Ustar, b'5', "d/", (0o700, 5, 0), ""),
        vec![0; 2 * BLOCK],
    ];
    folder.write("y.tar", &archive.concat());
    assert_eq!(run(&folder, &[env!("CARGO_BIN_EXE_abz"), "--extract", "-C", "to", "y.tar"]).0, Some(0));
    let found = fs::metadata(folder.path("to/d")).unwrap();
    assert_eq!(found.permissions().mode() & 0o777, if found.mtime() == 5 { 0o700 } else { 0o755 });
    assert_eq!(fs::metadata(folder.path("to/d/x")).unwrap().permissions().mode() & 0o777, 0o640);
}
