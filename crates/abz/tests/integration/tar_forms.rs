//! Archives of other programs: sparse files in all forms, duplicate members, exact times and odd names. Also
//! uncompressed archives.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use crate::support::{Folder, Ran, fed, have, leave_out, noise, program, prose};

/// A builder of archives.
#[derive(Clone, Default)]
struct Archive(Vec<u8>);

impl Archive {
    /// Adds a POSIX member with `size` in its header.
    fn member(mut self, kind: u8, name: &str, link: &str, size: u64, data: &[u8]) -> Self {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[108..116].copy_from_slice(b"0000000\0");
        header[116..124].copy_from_slice(b"0000000\0");
        header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
        header[136..148].copy_from_slice(b"07346545000\0");
        header[156] = kind;
        header[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header[257..265].copy_from_slice(b"ustar\x0000");
        self.0.extend(with_checksum(header));
        self.data(data)
    }

    fn data(mut self, data: &[u8]) -> Self {
        self.0.extend_from_slice(data);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    fn file(self, name: &str, data: &[u8]) -> Self {
        self.member(b'0', name, "", data.len() as u64, data)
    }

    /// Adds an extended header for the next member, or for all members (`g`).
    fn extended(self, kind: u8, records: &[(&str, &str)]) -> Self {
        let mut bytes = Vec::new();
        for (key, value) in records {
            let rest = key.len() + value.len() + 3;
            let len = (1..).map(|digits| rest + digits).find(|len| len.to_string().len() + rest == *len);
            bytes.extend(format!("{} {key}={value}\n", len.unwrap()).bytes());
        }
        self.member(kind, "PaxHeaders/x", "", bytes.len() as u64, &bytes)
    }

    /// Adds a sparse file in GNU's old form. The header lists at most four of its pieces.
    fn old_sparse(mut self, name: &str, pieces: &[(u64, u64)], len: u64, data: &[u8]) -> Self {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000600\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", data.len()).as_bytes());
        header[136..148].copy_from_slice(b"07346545000\0");
        header[156] = b'S';
        header[257..265].copy_from_slice(b"ustar  \0");
        let put = |block: &mut [u8; 512], pieces: &[(u64, u64)]| {
            for (place, (at, len)) in pieces.iter().enumerate() {
                let start = if block[257] == b'u' { 386 } else { 0 } + 24 * place;
                block[start..start + 12].copy_from_slice(&number(*at));
                block[start + 12..start + 24].copy_from_slice(&number(*len));
            }
        };
        let (first, mut rest) = pieces.split_at(pieces.len().min(4));
        put(&mut header, first);
        header[482] = u8::from(!rest.is_empty());
        header[483..495].copy_from_slice(&number(len));
        self.0.extend(with_checksum(header));
        while !rest.is_empty() {
            let (some, others) = rest.split_at(rest.len().min(21));
            let mut block = [0; 512];
            put(&mut block, some);
            block[504] = u8::from(!others.is_empty());
            self.0.extend(block);
            rest = others;
        }
        self.data(data)
    }

    fn whole(mut self) -> Vec<u8> {
        self.0.extend([0; 1024]);
        self.0
    }

    /// Extracts it to `out`, which is created if need be.
    fn extract(self, folder: &Folder, arguments: &[&str]) -> Ran {
        folder.write("a.tar", &self.whole());
        let _ = fs::create_dir(folder.path("out"));
        folder.abz(&[&["--extract", "-C", "out", "a.tar"], arguments].concat())
    }
}

/// A number in a GNU header: in octal digits, or in binary if the digits are too few.
fn number(number: u64) -> [u8; 12] {
    let digits = format!("{number:011o}\0");
    digits.as_bytes().try_into().unwrap_or_else(|_| {
        let mut bytes = [0; 12];
        bytes[0] = 0x80;
        bytes[4..].copy_from_slice(&number.to_be_bytes());
        bytes
    })
}

fn with_checksum(mut header: [u8; 512]) -> [u8; 512] {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

/// A file of zeros with pieces of noise. Returns the pieces' offsets and sizes, their bytes, and the file.
fn sparse(count: u64, step: u64, len: u64) -> (Vec<(u64, u64)>, Vec<u8>, Vec<u8>) {
    let mut file = vec![0; len as usize];
    let pieces: Vec<_> = (0..count).map(|n| (n * step + 512, 100 + n)).collect();
    let mut data = Vec::new();
    for &(at, len) in &pieces {
        let bytes = noise(len as usize, at);
        file[at as usize..][..bytes.len()].copy_from_slice(&bytes);
        data.extend(bytes);
    }
    (pieces, data, file)
}

#[test]
fn sparse_files_of_all_forms_are_what_they_were() {
    let (pieces, data, file) = sparse(60, 8192, 700_000);
    let (len, count) = (file.len().to_string(), pieces.len().to_string());
    let size = data.len() as u64;
    let numbers: Vec<_> = pieces.iter().map(|(at, len)| (at.to_string(), len.to_string())).collect();

    let mut records = vec![("GNU.sparse.size", &len[..]), ("GNU.sparse.numblocks", &count)];
    for (at, len) in &numbers {
        records.extend([("GNU.sparse.offset", &at[..]), ("GNU.sparse.numbytes", &len[..])]);
    }
    let form_00 = Archive::default().extended(b'x', &records).member(b'0', "s", "", size, &data);

    let map = numbers.iter().map(|(at, len)| format!("{at},{len}")).collect::<Vec<_>>().join(",");
    let records = [
        ("GNU.sparse.size", &len[..]),
        ("GNU.sparse.numblocks", &count),
        ("GNU.sparse.name", "s"),
        ("GNU.sparse.map", &map),
    ];
    let form_01 =
        Archive::default().extended(b'x', &records).member(b'0', "GNUSparseFile.7/s", "", size, &data);

    let mut map = format!("{count}\n");
    numbers.iter().for_each(|(at, len)| map += &format!("{at}\n{len}\n"));
    let mut contents = map.into_bytes();
    contents.resize(contents.len().next_multiple_of(512), 0);
    contents.extend(&data);
    let records = [
        ("GNU.sparse.major", "1"),
        ("GNU.sparse.minor", "0"),
        ("GNU.sparse.name", "s"),
        ("GNU.sparse.realsize", &len),
    ];
    let form_10 = Archive::default().extended(b'x', &records);
    let form_10 = form_10.member(b'0', "GNUSparseFile.7/s", "", contents.len() as u64, &contents);

    let old = Archive::default().old_sparse("s", &pieces, file.len() as u64, &data);
    for (form, archive) in [("0.0", form_00), ("0.1", form_01), ("1.0", form_10), ("old", old)] {
        for more in [&[][..], &["--no-sparse"]] {
            let folder = Folder::new();
            let archive = archive.clone().file("after", b"it goes on");
            archive.extract(&folder, more).exits(0).says("");
            assert!(folder.read("out/s") == file, "{form}");
            assert_eq!(folder.read("out/after"), b"it goes on", "{form}");
            assert!(!folder.path("out/GNUSparseFile.7").exists(), "{form}");
        }
    }
}

#[test]
fn holes_of_sparse_files_take_no_room_and_no_time() {
    let folder = Folder::new();
    let (at, len) = (3 << 40, 4 << 40);
    let archive = Archive::default().old_sparse("s", &[(at, 4), (len, 0)], len, b"here");
    archive.extract(&folder, &[]).exits(0).says("");
    let file = File::open(folder.path("out/s")).unwrap();
    let (found, mut bytes) = (file.metadata().unwrap(), [0; 6]);
    file.read_exact_at(&mut bytes, at - 1).unwrap();
    assert_eq!((found.len(), &bytes), (len, b"\0here\0"));
    assert!(found.blocks() * 512 < 1 << 20);
}

#[test]
fn sparse_files_that_are_not_understood_are_refused_and_the_rest_is_made() {
    let sparse = |records: &[(&str, &str)], data: &[u8]| {
        Archive::default().extended(b'x', records).file("s", data).file("after", b"x")
    };
    let old = |pieces: &[(u64, u64)], len, data: &[u8]| {
        Archive::default().old_sparse("s", pieces, len, data).file("after", b"x")
    };
    let of = |major: &'static str, minor: &'static str| {
        [("GNU.sparse.major", major), ("GNU.sparse.minor", minor), ("GNU.sparse.realsize", "9")]
    };
    for (what, archive) in [
        ("a later version", sparse(&of("2", "0"), b"0\n")),
        ("a later minor version", sparse(&of("1", "1"), b"0\n")),
        ("no map", sparse(&of("1", "0"), b"data")),
        ("a map without an end", sparse(&of("1", "0"), &[b'1'; 512])),
        ("a map with letters", sparse(&of("1", "0"), &[b"x\n", &[0; 510][..]].concat())),
        ("a map of too many", sparse(&of("1", "0"), &[b"99999999999\n", &[0; 500][..]].concat())),
        ("no size", sparse(&[("GNU.sparse.map", "0,4")], b"data")),
        ("half a piece", sparse(&[("GNU.sparse.size", "9"), ("GNU.sparse.map", "0,4,5")], b"data")),
        ("another size", sparse(&[("GNU.sparse.size", "9"), ("GNU.sparse.map", "0,5")], b"data")),
        ("behind the end", sparse(&[("GNU.sparse.size", "9"), ("GNU.sparse.map", "7,4")], b"data")),
        ("one over another", old(&[(0, 2), (1, 2)], 9, b"data")),
        ("out of order", old(&[(4, 2), (0, 2)], 9, b"data")),
        (
            "an overflow",
            sparse(&[("GNU.sparse.size", "9"), ("GNU.sparse.map", "18446744073709551615,4")], b"data"),
        ),
        ("another number of pieces", {
            let records =
                [("GNU.sparse.size", "9"), ("GNU.sparse.numblocks", "2"), ("GNU.sparse.map", "0,4")];
            sparse(&records, b"data")
        }),
        ("an unknown word", sparse(&[("GNU.sparse.unheard", "1")], b"data")),
        ("star's form", Archive::default().member(b'S', "s", "", 4, b"data").file("after", b"x")),
    ] {
        let folder = Folder::new();
        let said = archive.extract(&folder, &[]).exits(1).stderr();
        assert!(said.starts_with("abz: s: ") && said.trim_end().ends_with(" -- refused"), "{what}: {said}");
        assert_eq!(said.lines().count(), 1, "{what}: {said}");
        assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 1, "{what}");
        assert_eq!(folder.read("out/after"), b"x", "{what}");
    }
}

#[test]
fn archives_that_end_early_or_lie_about_sizes_are_errors() {
    let (pieces, data, _) = sparse(60, 8192, 700_000);
    let sparse = Archive::default().old_sparse("s", &pieces, 700_000, &data).0;
    let plain = Archive::default().file("s", &prose(2000)).0;
    let long = Archive::default().member(b'L', "x", "", 3000, &[b'n'; 3000]).0;
    let huge = Archive::default().member(b'x', "x", "", 0o7_777_777_777, b"").0;
    for (what, archive, files) in [
        ("in a header", &plain[..300], 0),
        ("in a file", &plain[..1024], 0),
        ("in padding, behind a whole file", &plain[..plain.len() - 1], 1),
        ("in a map", &sparse[..700], 0),
        ("behind a map", &sparse[..2048], 0),
        ("in a name", &long[..1000], 0),
        ("an extended header of gigabytes", &huge, 0),
    ] {
        let folder = Folder::new();
        fs::create_dir(folder.path("out")).unwrap();
        folder.write("a.tar", archive);
        let compressed = folder.abz(&["-c", "a.tar"]).exits(0).stdout();
        folder.write("a.tgz", &compressed);
        for name in ["a.tar", "a.tgz"] {
            let said = folder.abz(&["--extract", "-C", "out", name]).exits(1).stderr();
            assert!(said.starts_with(&format!("abz: {name}: ")), "{what}: {said}");
            assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), files, "{what}");
            let _ = fs::remove_file(folder.path("out/s"));
        }
    }
}

#[test]
fn a_later_member_of_the_same_name_wins() {
    let folder = Folder::new();
    let archive = Archive::default()
        .file("a", b"first")
        .file("b", b"b")
        .file("a", b"second")
        .member(b'2', "l", "b", 0, b"")
        .file("l", b"a file now")
        .file("k", b"")
        .member(b'1', "k", "b", 0, b"")
        .member(b'5', "d", "", 0, b"")
        .file("d", b"no folder any more")
        .file("e", b"a file at first")
        .member(b'5', "e", "", 0, b"")
        .file("e/x", b"in it")
        .member(b'1', "b", "b", 0, b"");
    archive.clone().extract(&folder, &[]).exits(0).says("");
    for (name, expected) in [
        ("a", &b"second"[..]),
        ("b", b"b"),
        ("l", b"a file now"),
        ("k", b"b"),
        ("d", b"no folder any more"),
        ("e/x", b"in it"),
    ] {
        assert_eq!(folder.read(&format!("out/{name}")), expected, "{name}");
    }
    // Existing files are kept.
    let said = Archive::default().file("a", b"third").file("a", b"fourth").extract(&folder, &[]);
    assert!(said.exits(2).stderr().contains("already exists -- not overwritten"));
    assert_eq!(folder.read("out/a"), b"second");
    Archive::default().file("a", b"third").extract(&folder, &["-f"]).exits(0);
    assert_eq!(folder.read("out/a"), b"third");
}

#[test]
fn fractions_of_a_second_are_read_and_times_before_1970_are_kept_both_ways() {
    let folder = Folder::new();
    let archive = Archive::default()
        .extended(b'x', &[("mtime", "1234567890.123456789")])
        .file("a", b"a")
        .extended(b'x', &[("mtime", "-1.5"), ("path", "folder/long name")])
        .file("b", b"b")
        .extended(b'g', &[("mtime", "77.25"), ("comment", "of all that follow")])
        .file("c", b"c");
    archive.extract(&folder, &[]).exits(0).says("");
    let time = |name: &str| {
        let found = fs::metadata(folder.path(name)).unwrap();
        (found.mtime(), found.mtime_nsec())
    };
    assert_eq!(time("out/a"), (1_234_567_890, 123_456_789));
    assert_eq!(time("out/folder/long name"), (-2, 500_000_000));
    assert_eq!(time("out/c"), (77, 250_000_000));

    fs::create_dir(folder.path("in")).unwrap();
    for (name, time) in [
        ("in/x", UNIX_EPOCH + Duration::new(1_700_000_000, 987_654_321)),
        ("in/y", UNIX_EPOCH - Duration::new(10, 250_000_000)),
        ("in/z", UNIX_EPOCH + Duration::new(5, 0)),
    ] {
        folder.write(name, b"x");
        File::open(folder.path(name)).unwrap().set_modified(time).unwrap();
    }
    folder.abz(&["--archive", "b.tar.gz", "in"]).exits(0).says("");
    fs::create_dir(folder.path("back")).unwrap();
    folder.abz(&["--extract", "-C", "back", "b.tar.gz"]).exits(0).says("");
    assert_eq!(time("back/in/x"), (1_700_000_000, 0));
    for name in ["y", "z"] {
        assert_eq!(time(&format!("back/in/{name}")), time(&format!("in/{name}")), "{name}");
    }
}

#[test]
fn an_archive_of_small_files_has_one_header_for_each() {
    let folder = Folder::new();
    fs::create_dir(folder.path("in")).unwrap();
    for number in 0..300 {
        let name = format!("in/{number}");
        folder.write(&name, &[b'x'; 200]);
        let time = UNIX_EPOCH + Duration::new(1_700_000_000 + number, 123_456_789);
        File::open(folder.path(&name)).unwrap().set_modified(time).unwrap();
    }
    folder.abz(&["--archive", "a.tar", "in"]).exits(0).says("");
    // The archive has a header and a block for each file, a header for the folder, and two blocks at the end.
    assert_eq!(folder.read("a.tar").len(), 512 * (300 * 2 + 1 + 2));
}

#[test]
fn symbolic_links_keep_their_times_and_their_other_names() {
    let folder = Folder::new();
    let time = |path: &str| {
        let found = fs::symlink_metadata(folder.path(path)).unwrap();
        (found.is_symlink(), found.mtime(), found.mtime_nsec())
    };
    let archive = Archive::default()
        .extended(b'x', &[("mtime", "1234567890.25")])
        .member(b'2', "to nowhere", "nowhere", 0, b"")
        .extended(b'x', &[("mtime", "-10.5")])
        .member(b'2', "old", "to nowhere", 0, b"")
        .member(b'1', "other", "old", 0, b"");
    archive.extract(&folder, &[]).exits(0).says("");
    assert_eq!(time("out/to nowhere"), (true, 1_234_567_890, 250_000_000));
    assert_eq!(time("out/old"), (true, -11, 500_000_000));
    assert_eq!(time("out/other"), time("out/old"));
    assert_eq!(fs::read_link(folder.path("out/other")).unwrap(), Path::new("to nowhere"));

    // Round trips, also with an archive of GNU tar, of two names of one link.
    fs::create_dir(folder.path("in")).unwrap();
    fs::rename(folder.path("out/to nowhere"), folder.path("in/link")).unwrap();
    fs::hard_link(folder.path("in/link"), folder.path("in/other")).unwrap();
    folder.abz(&["--archive", "c.tar", "in"]).exits(0).says("");
    let mut archives = vec!["c.tar"];
    if have("tar") {
        let mut command = program("tar");
        command.args(["-cf", "b.tar", "in"]).current_dir(folder.path(""));
        Ran(fed(command, b"")).exits(0);
        archives.push("b.tar");
    }
    for archive in archives {
        fs::create_dir(folder.path("back")).unwrap();
        folder.abz(&["--extract", "-C", "back", archive]).exits(0).says("");
        for name in ["link", "other"] {
            assert_eq!(time(&format!("back/in/{name}")), (true, 1_234_567_890, 0), "{archive}: {name}");
        }
        fs::remove_dir_all(folder.path("back")).unwrap();
    }
}

#[test]
fn names_with_control_characters_are_shown_as_gnu_tar_shows_them() {
    let folder = Folder::new();
    let odd = "../a\u{1b}[2J\n\\b";
    let said = Archive::default().file(odd, b"x").extract(&folder, &[]).exits(1).stderr();
    assert_eq!(said, "abz: ../a\\033[2J\\n\\\\b: leads out of the folder -- refused\n");

    folder.write("x\u{1b}[2J\ny", b"x");
    folder.abz(&["x\u{1b}[2J\ny"]).exits(0);
    let listed = folder.abz(&["-l", "x\u{1b}[2J\ny.gz"]).exits(0).stdout();
    let listed = String::from_utf8(listed).unwrap();
    assert!(listed.ends_with(" x\\033[2J\\ny\n") && listed.lines().count() == 2, "{listed:?}");
    let said = folder.abz(&["-v", "-kf", "x\u{1b}[2J\ny.gz", "-S.z"]).stderr();
    assert!(!said.contains('\u{1b}') && said.lines().count() == 1, "{said:?}");
}

#[test]
fn archives_that_are_not_compressed_are_made_and_taken_apart() {
    let folder = Folder::new();
    fs::create_dir(folder.path("d")).unwrap();
    folder.write("d/text", &prose(300_000));
    folder.write("d/noise", &noise(100_000, 3));
    folder.abz(&["--archive", "a.tar", "d"]).exits(0).says("");
    folder.abz(&["--archive", "a.tar.gz", "d"]).exits(0).says("");
    let plain = folder.abz(&["-dc", "a.tar.gz"]).exits(0).stdout();
    assert!(folder.read("a.tar") == plain);
    folder.abz(&["--archive", "a.tar", "d"]).exits(2);
    // -F takes precedence over the suffix.
    folder.abz(&["--archive", "b.tar", "-F", "zstd", "d"]).exits(0);
    assert!(folder.read("b.tar").starts_with(b"\x28\xb5\x2f\xfd"));

    for piped in [false, true] {
        fs::create_dir(folder.path("out")).unwrap();
        match piped {
            false => folder.abz(&["--extract", "-C", "out", "a.tar"]).exits(0).says(""),
            true => folder.abz_fed(&["--extract", "-C", "out"], &plain).exits(0).says(""),
        };
        assert!(
            folder.read("out/d/text") == prose(300_000) && folder.read("out/d/noise") == noise(100_000, 3)
        );
        fs::remove_dir_all(folder.path("out")).unwrap();
    }
    // An archive without members, and a file that is no archive.
    fs::create_dir(folder.path("out")).unwrap();
    folder.write("empty.tar", &[0; 10_240]);
    folder.abz(&["--extract", "-C", "out", "empty.tar"]).exits(0).says("");
    folder.write("none.tar", &prose(5000));
    folder.abz(&["--extract", "-C", "out", "none.tar"]).exits(1);
}

/// Returns true if `tar` is GNU tar.
fn have_gnu_tar() -> bool {
    if !have("tar") {
        return false;
    }
    let version = program("tar").arg("--version").output();
    let is_gnu = version.is_ok_and(|told| told.stdout.starts_with(b"tar (GNU tar)"));
    if !is_gnu {
        leave_out("archives of GNU tar (`tar` is another program)");
    }
    is_gnu
}

#[test]
fn what_gnu_tar_makes_of_sparse_files_is_what_they_were() {
    if !have_gnu_tar() {
        return;
    }
    let folder = Folder::new();
    fs::create_dir(folder.path("d")).unwrap();
    let file = File::create(folder.path("d/s")).unwrap();
    file.set_len(20 << 20).unwrap();
    for n in 0..40 {
        file.write_all_at(&noise(3000, n), n * 500_000 + 77).unwrap();
    }
    let ends = File::create(folder.path("d/ends with data")).unwrap();
    ends.write_all_at(b"x", 5 << 20).unwrap();
    File::create(folder.path("d/all hole")).unwrap().set_len(1 << 20).unwrap();
    let forms = [
        &["--format=gnu"][..],
        &["--sparse-version=0.0"],
        &["--sparse-version=0.1"],
        &["--sparse-version=1.0"],
    ];
    for form in forms {
        let pax = if form[0].starts_with("--format") { &[][..] } else { &["--format=pax"] };
        let mut command = program("tar");
        command.current_dir(folder.path("")).args(pax).args(form).args(["-S", "-czf", "a.tgz", "d"]);
        Ran(fed(command, b"")).exits(0);
        fs::create_dir(folder.path("out")).unwrap();
        folder.abz(&["--extract", "-C", "out", "a.tgz"]).exits(0).says("");
        for name in ["s", "ends with data", "all hole"] {
            let (from, to) = (format!("d/{name}"), format!("out/d/{name}"));
            assert!(folder.read(&from) == folder.read(&to), "{form:?}: {name}");
            let times = [&from, &to].map(|name| {
                let found = fs::metadata(folder.path(name)).unwrap();
                (found.mtime(), if pax.is_empty() { 0 } else { found.mtime_nsec() })
            });
            assert_eq!(times[0], times[1], "{form:?}: {name}");
        }
        fs::remove_dir_all(folder.path("out")).unwrap();
    }
}
