//! `abz` under the name of another tool behaves like that tool with the same arguments.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use crate::support::{
    Folder, Ran, Random, fed, have, have_full_device, noise, program, prose, rounds, through,
};
use abz::Decompression;
use tempfile::TempDir;

/// A folder with links to abz under all supported names.
struct Links(TempDir);

impl Links {
    fn new() -> Self {
        let links = Links(TempDir::new().unwrap());
        let made =
            program(env!("CARGO_BIN_EXE_abz")).arg("--install-links").arg(links.0.path()).output().unwrap();
        assert!(made.status.success() && made.stderr.is_empty());
        links
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Runs a tool, or abz under the tool's name, in `folder`.
fn run(
    program: impl AsRef<Path>,
    folder: &Folder,
    words: &[&str],
    input: &[u8],
    variables: &[(&str, &str)],
) -> Output {
    let mut command = crate::support::program(program.as_ref());
    command.args(words).current_dir(folder.path("")).envs(variables.iter().copied());
    fed(command, input)
}

/// The decompressed contents of a file, or the file itself if it is not compressed.
fn contents(file: &[u8]) -> Vec<u8> {
    let mut contents = Vec::new();
    match abz::decompress(file, &mut contents, &Decompression::default()) {
        Ok(_) => contents,
        Err(_) => file.to_vec(),
    }
}

/// All names in a folder. Regular files have their special bits and their bytes.
fn state(folder: &Folder) -> BTreeMap<String, Option<(u32, Vec<u8>)>> {
    let of = |name: &String| {
        let found = fs::symlink_metadata(folder.path(name)).unwrap();
        found.is_file().then(|| (found.mode() & 0o7000, folder.read(name)))
    };
    folder.names().into_iter().map(|name| (name.clone(), of(&name))).collect()
}

/// Whether two folders have the same names and special bits, and files of the same decompressed contents.
fn are_alike(one: &Folder, other: &Folder) -> bool {
    let (one, other) = (state(one), state(other));
    one.len() == other.len()
        && one.into_iter().zip(other).all(|pair| match pair {
            ((name, Some((bits, file))), (other, Some((other_bits, other_file)))) => {
                name == other
                    && bits == other_bits
                    && (file == other_file || contents(&file) == contents(&other_file))
            }
            (one, other) => one == other,
        })
}

/// The program that makes files with the suffix.
fn maker(suffix: &str) -> &'static str {
    match suffix {
        ".bz2" => "bzip2",
        ".lz" => "lzip",
        ".xz" => "xz",
        ".lzma" => "lzma",
        ".zst" => "zstd",
        _ => "gzip",
    }
}

/// Files made of text, of noise and of a word by the program for the suffix.
fn made(suffix: &str) -> [Vec<u8>; 3] {
    [prose(20_000), noise(5_000, 1), b"other".to_vec()]
        .map(|data| run(maker(suffix), &Folder::new(), &["-c"], &data, &[]).stdout)
}

/// A folder with files of each kind that a tool may have to handle: two that are always there, and those that `words` name.
/// `suffix` is that of the tool.
fn furnished(suffix: &str, [whole, cut, other]: &[Vec<u8>; 3], words: &[&str]) -> Folder {
    let folder = Folder::new();
    let is_named = |name: &str| words.iter().any(|word| word.contains(name));
    let write = |name: &str, data: &[u8], mode: u32| {
        folder.write(name, data);
        fs::set_permissions(folder.path(name), Permissions::from_mode(mode)).unwrap();
    };
    for (name, data, mode) in [("x", &prose(30_000), 0o640), (&format!("c{suffix}"), whole, 0o604)] {
        write(name, data, mode);
        let file = fs::File::options().append(true).open(folder.path(name)).unwrap();
        file.set_modified(UNIX_EPOCH + std::time::Duration::from_secs(1_000_000)).unwrap();
    }
    let mut damaged = cut.clone();
    damaged[cut.len() / 2] ^= 0x55;
    for (name, data) in [
        ("cut", &cut[..cut.len() - 30]),
        ("damaged", &damaged),
        ("garbage", &[&whole[..], b"garbage"].concat()),
        ("hidden", &[&whole[..], b"garbage", other].concat()),
        ("none", b""),
        ("taken", other),
        ("twice", &[&whole[..], other].concat()),
        ("wrong", b"this was never compressed"),
    ] {
        if is_named(name) {
            folder.write(&format!("{name}{suffix}"), data);
        }
    }
    for (name, data) in [
        ("foreign.xz", xz_file()),
        ("linked", b"link\n"),
        ("names", b"x\nhard\n"),
        ("taken", b"taken"),
        ("unknown", whole),
        ("y", b""),
    ] {
        if is_named(name) {
            folder.write(name, data);
        }
    }
    if is_named("folder") {
        fs::create_dir(folder.path("folder")).unwrap();
    }
    if is_named("link") {
        symlink("x", folder.path("link")).unwrap();
        symlink(format!("c{suffix}"), folder.path(&format!("clink{suffix}"))).unwrap();
    }
    if is_named("hard") || is_named("names") {
        folder.write("hard", b"hard");
        fs::hard_link(folder.path("hard"), folder.path("harder")).unwrap();
    }
    for (name, mode) in [("suid", 0o4755), ("sgid", 0o2755), ("sticky", 0o1644)] {
        if is_named(name) {
            write(name, b"data", mode);
            write(&format!("c{name}{suffix}"), other, mode);
        }
    }
    folder
}

/// An xz file with the contents "data". It is made once, because its encoder takes much memory.
fn xz_file() -> &'static [u8] {
    static FILE: OnceLock<Vec<u8>> = OnceLock::new();
    FILE.get_or_init(|| {
        let compression = abz::Compression { format: abz::Format::Xz, ..abz::Compression::default() };
        let mut file = Vec::new();
        abz::compress(&b"data"[..], &mut file, &compression).unwrap();
        file
    })
}

/// Runs each command line with the tool and with abz, each in its own folder. Compares the exit status, the files
/// afterwards, and standard output. `#` stands for the suffix.
fn compare(tool: &str, suffix: &str, lines: &[&str]) {
    compare_with(tool, suffix, &[], lines);
}

fn compare_with(tool: &str, suffix: &str, variables: &[(&str, &str)], lines: &[&str]) {
    if !have(tool) || !have(maker(suffix)) {
        return;
    }
    let pair = Pair::new(tool, suffix);
    let differences: Vec<_> = lines.iter().flat_map(|line| pair.compare(variables, line, false)).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A tool, and abz under its name.
struct Pair<'a> {
    tool: &'a str,
    suffix: &'a str,
    links: Links,
    made: [Vec<u8>; 3],
    /// A compressed file for standard input.
    file: Vec<u8>,
}

impl<'a> Pair<'a> {
    fn new(tool: &'a str, suffix: &'a str) -> Self {
        let file = run(maker(suffix), &Folder::new(), &["-c"], &prose(1_000), &[]).stdout;
        Pair { tool, suffix, links: Links::new(), made: made(suffix), file }
    }

    /// Runs a command line with both, each in its own folder, and returns the differences. `strictly`, modes and times of files
    /// are compared too, and whether a message came.
    fn compare(&self, variables: &[(&str, &str)], line: &str, strictly: bool) -> Vec<String> {
        let Pair { tool, suffix, links, made, file } = self;
        let mut differences = Vec::new();
        let words = line.replace('#', suffix);
        let words: Vec<&str> = words.split_whitespace().collect();
        let input = if line.contains('d') || tool.contains("cat") || tool.starts_with("un") {
            &file[..]
        } else {
            b"input"
        };
        let (theirs, ours) = (furnished(suffix, made, &words), furnished(suffix, made, &words));
        let expected = run(tool, &theirs, &words, input, variables);
        let found = run(links.path(tool.trim_end_matches(".lzip")), &ours, &words, input, variables);
        let mut differ = |what: &str, ours: &dyn Debug, theirs: &dyn Debug| {
            let said = String::from_utf8_lossy(&found.stderr);
            differences.push(format!("{tool} {line}: {what}: {ours:?}, expected {theirs:?}; {said}"));
        };
        if found.status != expected.status {
            differ("status", &found.status.code(), &expected.status.code());
        }
        if ours.names() != theirs.names() {
            differ("files", &ours.names(), &theirs.names());
        } else if !are_alike(&ours, &theirs) {
            differ("contents", &"others", &"the same");
        } else if strictly && attributes(&ours) != attributes(&theirs) {
            differ("modes and times", &attributes(&ours), &attributes(&theirs));
        }
        // zstd sums up what it did.
        let sums_up = tool.contains("zstd") && !line.contains("-q");
        if strictly && !sums_up && found.stderr.is_empty() != expected.stderr.is_empty() {
            differ("a message", &!found.stderr.is_empty(), &String::from_utf8_lossy(&expected.stderr));
        }
        // The two may write different amounts of a damaged member.
        let is_comparable = !line.contains("cut") && !line.contains("damaged") && !line.contains("-l");
        let (written, wanted) = (contents(&found.stdout), contents(&expected.stdout));
        if is_comparable && written != wanted {
            differ("bytes on standard output", &written.len(), &wanted.len());
        }
        differences
    }
}

/// The permissions and the time of each file whose time is not that of the test.
fn attributes(folder: &Folder) -> Vec<(String, u32, Option<i64>)> {
    let of = |name: String| {
        let found = fs::symlink_metadata(folder.path(&name)).unwrap();
        (name, found.mode() & 0o777, Some(found.mtime()).filter(|time| *time < 2_000_000))
    };
    folder.names().into_iter().map(of).collect()
}

/// Command lines that all tools accept.
const SAME: &[&str] = &[
    "",
    "-",
    "x",
    "x y",
    "-k x",
    "-9k x",
    "-1 -- x",
    "-c x y",
    "-c",
    "missing x",
    "x missing",
    "c#",
    "-d c#",
    "-dk c#",
    "-d",
    "-d -",
    "-dc c# twice#",
    "-d twice#",
    "-d unknown",
    "-d taken#",
    "-df taken#",
    "-d cut#",
    "-dc cut#",
    "-d damaged#",
    "-d garbage#",
    "-dc garbage#",
    "-d hidden#",
    "-t hidden#",
    "-d wrong#",
    "-t wrong# c#",
    "-d none#",
    "-dcf wrong#",
    "-dcf x wrong# c#",
    "-t c#",
    "-t garbage#",
    "-t cut# c#",
    "-tv c#",
    "folder",
    "link",
    "-c link",
    "-f link",
    "hard",
    "-f hard",
    "-c hard",
    "-kf taken",
    "-k taken",
    "--keep --fast x",
    "--best --stdout x",
    "--decompress --force taken#",
    "--no-such-option x",
    "x -k",
    "-q folder",
];

#[test]
fn gzip_and_abz_do_the_same() {
    compare("gzip", ".gz", SAME);
    compare(
        "gzip",
        ".gz",
        &["-r folder", "-S .foo x", "-S.foo -k x", "-nk x", "-dN c#", "-l c#", "-S x", "--decomp c#"],
    );
    compare("gzip", ".gz", &["-dcf garbage# c#", "--presume x", "---presume-input-tty -k x"]);
    compare("gunzip", ".gz", &["c#", "-c c#", "c", "-k c#", "x", "-t c#", "-", ""]);
    compare("zcat", ".gz", &["c#", "c", "twice# c#", "-f x", "x", "wrong#", "-"]);
    compare(
        "gzip",
        ".gz",
        &["-b 12 -k x", "-b9 -k x", "--bits=9 -k x", "-b x", "-lq c#", "-l none#", "-l wrong#"],
    );
    compare("pigz", ".gz", SAME);
    compare("unpigz", ".gz", &["c#", "-c c#", "c", "-k c#", "x", "-t c#", "garbage#", "-"]);
    compare(
        "pigz",
        ".gz",
        &["x", "-k x", "-p2 -c x", "-11 -k y", "-b 256 -c x", "-d c#", "-dc c#", "-t c#", "-p 4 -9k x y"],
    );
}

#[test]
fn bzip2_and_abz_do_the_same() {
    compare("bzip2", ".bz2", SAME);
    compare("bzip2", ".bz2", &["-z x", "-dz x", "-sk x", "-ds c#", "--repetitive-fast -k x", "-vk x"]);
    compare("bunzip2", ".bz2", &["c#", "-c c#", "-k c#", "unknown", "-t c#", "", "-z x"]);
    compare("bzcat", ".bz2", &["c#", "twice# c#", "-f x", "x", "wrong#", "-"]);
    // bzcat does not write to standard output with -t.
    compare("bzcat", ".bz2", &["-t c#", "-tv c#", "-t x", "-t", "-t -", "-t -z x", "-tc"]);
    compare("bzip2", ".bz2", &["-tc c#", "-ct wrong#", "-tc", "-t -"]);
    compare(
        "lbzip2",
        ".bz2",
        &["-n 2 x", "-n2 -k x", "-dk c#", "-d unknown", "-u -c x", "-t c#", "-k taken", "folder x"],
    );
    compare("lbzip2", ".bz2", &["-tc c#", "-tc"]);
    compare("lbzcat", ".bz2", &["c#", "c# twice#", "-t c#"]);
}

#[test]
fn lzip_and_abz_do_the_same() {
    // On Debian, the name may lead to plzip, which has fewer options.
    let lines = &[
        "",
        "-",
        "x",
        "x y",
        "-k x",
        "-9k x",
        "-0 -- x",
        "-c x y",
        "-c",
        "missing x",
        "c#",
        "-d c#",
        "-dk c#",
        "-d",
        "-dc c# twice#",
        "-d unknown",
        "-d taken#",
        "-df taken#",
        "-d cut#",
        "-d damaged#",
        "-d garbage#",
        "-dc garbage#",
        "-d wrong#",
        "-t wrong# c#",
        "-d none#",
        "-t c#",
        "-t garbage#",
        "-at garbage#",
        "-adk garbage#",
        "-t cut# c#",
        "folder",
        "-c link",
        "-kf taken",
        "-k taken",
        "--keep --fast x",
        "-s 4Ki -m 20 -k x",
        "-b 100k -k x",
        "-s 10KB x",
        "-s 1G x",
        "-m 4 x",
        "-o out x",
        "-o out -k c# -d",
        "-dt c#",
        "-lt c#",
        "--output= x",
        "-Fk c#",
        "-q missing",
        "--no-such-option x",
    ];
    compare("lzip", ".lz", lines);
    // Command lines that plzip does not have, or handles differently.
    let lines = &[
        "-S 100k -k x",
        "-S 100k -o out x",
        "-S 100k -o out x y",
        "-S 100k -o out",
        "-S 100k",
        "-S 100k -c x",
        "-S 99999 x",
        "-S 100k -d c#",
        "-cf c#",
        "-o out c#",
        "-F c#",
        "-d - unknown -",
        "-dc wrong# c#",
        "-d wrong# c#",
        "-d damaged# c#",
        "-d missing c#",
        "-o out x y",
        "-l wrong# c#",
        "-lq missing c#",
        "-al garbage#",
    ];
    compare("lzip.lzip", ".lz", lines);
    let lines = &[
        "--in-slots=1 -k x",
        "--in-slots 64 --out-slots=1024 -k x",
        "--in-slots=0 x",
        "--in-slots=65 x",
        "--out-slots=1025 x",
        "--in-slots=2 --out-slots=2 -d c#",
        "--out-slots x",
    ];
    compare("plzip", ".lz", lines);
}

#[test]
fn lists_of_lzip_are_as_lzip_has_them() {
    let (links, folder) = (Links::new(), Folder::new());
    folder.write("x", &[noise(250_000, 9), prose(100_000)].concat());
    folder.write("none", b"");
    if !have("lzip.lzip") {
        return;
    }
    for line in [&["-0", "-b100k", "-k", "x"][..], &["-9", "-s", "4096", "none"]] {
        assert!(run("lzip.lzip", &folder, line, b"", &[]).status.success());
    }
    let members = folder.read("x.lz");
    folder.write("garbage.lz", &[&members[..], &b"garbage".repeat(20_000)].concat());
    folder.write("cut.lz", &[&members[..], b"LZ"].concat());
    folder.write("damaged.lz", &[&members[..], b"LZiP and more"].concat());
    folder.write("inside.lz", &[&members[..], b"g", &members].concat());
    folder.write("wrong.lz", b"this was never compressed, and has enough bytes");
    for line in [
        &["-l", "x.lz"][..],
        &["-l", "x.lz", "none.lz", "missing.lz"],
        &["-lv", "x.lz", "none.lz"],
        &["-lvv", "none.lz", "x.lz", "none.lz"],
        &["-lvv", "garbage.lz"],
        &["-alv", "garbage.lz", "x.lz"],
        &["-lq", "x.lz"],
        &["-l", "cut.lz"],
        &["-l", "damaged.lz", "x.lz"],
        &["-l", "--loose-trailing", "damaged.lz"],
        &["-l", "inside.lz"],
        &["-l", "wrong.lz"],
    ] {
        let theirs = run("lzip.lzip", &folder, line, b"", &[]);
        let ours = run(links.path("lzip"), &folder, line, b"", &[]);
        let shown = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(shown(&ours), shown(&theirs), "{line:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{line:?}");
    }
    let said = |tool: PathBuf| {
        String::from_utf8(run(tool, &folder, &["-tvv", "x.lz", "none.lz"], b"", &[]).stderr).unwrap()
    };
    let (ours, theirs) = (said(links.path("lzip")), said("lzip.lzip".into()));
    assert_eq!(ours.lines().count(), theirs.lines().count(), "{ours}{theirs}");
    assert!(ours.lines().count() > 3);
}

#[test]
fn lists_of_pigz_are_as_pigz_has_them() {
    let (links, folder) = (Links::new(), Folder::new());
    if !have("pigz") || !have("gzip") {
        return;
    }
    let long = "a-name-that-is-longer-than-any-name-that-pigz-shows-as-a-whole";
    for (name, data) in
        [("x", prose(20_000)), ("none", Vec::new()), (long, noise(300, 1)), ("old", prose(50))]
    {
        folder.write(name, &data);
    }
    let old = UNIX_EPOCH + std::time::Duration::from_secs(1_234_567_890);
    fs::File::options().write(true).open(folder.path("old")).unwrap().set_modified(old).unwrap();
    for line in [&["-k", "x", "none", long, "old"][..], &["-kn", "-S", ".unnamed.gz", "x"]] {
        assert!(run("gzip", &folder, line, b"", &[]).status.success());
    }
    fs::rename(folder.path("x.gz"), folder.path("renamed.gz")).unwrap();
    let long = format!("{long}.gz");
    for line in [
        &["-l", "renamed.gz"][..],
        &["-l", "renamed.gz", &long, "x.unnamed.gz"],
        &["-l", "none.gz"],
        &["-lq", "renamed.gz"],
        &["-lv", "renamed.gz", &long, "x.unnamed.gz", "old.gz"],
        &["-l", "missing.gz", "renamed.gz"],
        &["-lN", "renamed.gz"],
    ] {
        // Times are shown in UTC.
        let zone = [("TZ", "UTC0")];
        let theirs = run("pigz", &folder, line, b"", &zone);
        let ours = run(links.path("pigz"), &folder, line, b"", &zone);
        let shown = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(shown(&ours), shown(&theirs), "{line:?}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{line:?}");
    }
}

#[test]
fn volumes_of_lzip_are_whole_files_of_limited_size() {
    let (links, folder) = (Links::new(), Folder::new());
    // A member of incompressible data is as large as a volume.
    let data = [noise(250_000, 3), prose(300_000)].concat();
    folder.write("x", &data);
    for line in [&["-0", "-S", "100k", "-n3", "x"][..], &["-0S100000", "-n1", "-o", "y", "x"]] {
        assert!(run(links.path("lzip"), &folder, line, b"", &[]).status.success(), "{line:?}");
        let names = folder.names();
        let names: Vec<_> = names.iter().filter(|name| name.ends_with(".lz")).collect();
        assert!(names.len() >= 3 && names.iter().all(|name| folder.read(name).len() <= 100_000));
        assert!(names[0].ends_with("00001.lz") && names[1].ends_with("00002.lz"), "{names:?}");
        let parts: Vec<_> = names.iter().map(|name| contents(&folder.read(name))).collect();
        assert!(parts.concat() == data, "{line:?}");
        names.iter().for_each(|name| fs::remove_file(folder.path(name)).unwrap());
    }
}

#[test]
fn volumes_of_lzip_are_written_over_but_for_the_first_one_as_lzip_does() {
    let (links, data) = (Links::new(), noise(250_000, 3));
    for program in [links.path("lzip"), PathBuf::from("lzip.lzip")] {
        if program.is_relative() && !have("lzip.lzip") {
            continue;
        }
        let folder = Folder::new();
        folder.write("x", &data);
        let make = |more: &[&str]| {
            let words = [&["-0", "-S100k", "-o", "out", "x"], more].concat();
            run(&program, &folder, &words, b"", &[]).status.code()
        };
        folder.write("out00002.lz", b"taken");
        assert_eq!(make(&[]), Some(0), "{program:?}");
        let names = ["out00001.lz", "out00002.lz", "out00003.lz"];
        assert_eq!(folder.names(), [&names[..], &["x"]].concat());
        let parts = names.map(|name| contents(&folder.read(name)));
        assert!(parts.concat() == data, "{program:?}");
        // A second run.
        assert_eq!(make(&[]), Some(1), "{program:?}");
        assert_eq!(make(&["-f"]), Some(0), "{program:?}");
        fs::remove_file(folder.path(names[0])).unwrap();
        assert_eq!(make(&[]), Some(0), "{program:?}");
        let parts = names.map(|name| contents(&folder.read(name)));
        assert!(parts.concat() == data, "{program:?}");
    }
    // No volume replaces the input.
    let folder = Folder::new();
    folder.write("out00002.lz", &data);
    let words = ["-F", "-0", "-S100k", "-o", "out", "out00002.lz"];
    assert_eq!(run(links.path("lzip"), &folder, &words, b"", &[]).status.code(), Some(1));
    assert!(folder.names() == ["out00002.lz"] && folder.read("out00002.lz") == data);
}

#[test]
fn zstd_and_abz_do_the_same() {
    let lines = &[
        "-k x",
        "x",
        "--rm x",
        "-19 x",
        "--fast x",
        "--fast=5 x",
        "-T0 x",
        "--long x",
        "-o out x",
        "-c x",
        "-f x",
        "x y",
        "-d c#",
        "-d --rm c#",
        "-d -o out c#",
        "-dc c# twice#",
        "-t c#",
        "-t cut#",
        "-d unknown",
        "-d taken#",
        "-df taken#",
        "-d damaged#",
        "-d wrong#",
        "-d garbage#",
        "hard",
        "-",
        "-d -",
        "-c --patch-from=y x",
        "-dc --patch-from=x c#",
        "-q -o image",
        "-q - -o image",
        "-d -q -o image",
        "-q -o /dev/null",
        "-q -o /dev/stdout",
        "-q -o taken",
        "-q -f -o taken",
        "-f x -o x",
        "x -o x",
        "-f link -o x",
        "-f x -o link",
        "-f hard -o harder",
        "-d -f c# -o c#",
        "--filelist=x",
        "--filelist names",
        "--filelist=names y -c",
        "-d --pass-through -c x c#",
        "-dc --pass-through wrong#",
        "--format=gzip x",
        "--format=xz -c x",
        "--format=lzma --rm x",
        "--format=zstd x",
        "--format=gzip -19 x",
        "-19 --format=xz x",
        "--format=gzip -o out x",
        "--format=xz -d c#",
        "-dcf --no-pass-through x",
        "-dc --no-pass-through c#",
        "--target-compressed-block-size=1000 x",
        "--sparse -d c#",
    ];
    compare("zstd", ".zst", lines);
    // Exit statuses of zstd.
    let lines =
        &["-D missing x", "--long=40 x", "-T9999 -k x", "-t damaged# c#", "-t cut#", "--format=foo x", "-o"];
    compare("zstd", ".zst", lines);
    let lines = &["-c --patch-from=missing x", "--patch-from missing x", "-dc --patch-from=missing c#"];
    compare("zstd", ".zst", lines);
    // Links are skipped, unless no other input remains.
    let lines = &[
        "-c link x",
        "link x",
        "-q -c link",
        "-fc link",
        "-f link",
        "-dc clink#",
        "-d clink# c#",
        "-t clink#",
        "-t clink# c#",
        "-l clink#",
        "-df clink#",
        "-c --filelist=linked",
        "link --filelist=linked -c",
    ];
    compare("zstd", ".zst", lines);
    // An empty file is a truncated one.
    compare("zstd", ".zst", &["-dc y", "-dcf y", "-t y", "-d --pass-through -c y", "-dc x y", "-dcf x y"]);
    assert!(!Path::new("/dev/null.zst").exists());
    compare("unzstd", ".zst", &["c#", "-c c#", "-c clink#", "-c y"]);
    compare("zstdcat", ".zst", &["c#", "twice# c#", "y", "none#", "c# y", "y c#", "link", "clink#", "-f y"]);
    compare_with("zstd", ".zst", &[("ZSTD_CLEVEL", "19"), ("ZSTD_NBTHREADS", "2")], &["x"]);
}

#[test]
fn xz_and_abz_do_the_same() {
    compare("xz", ".xz", SAME);
    let lines = &[
        "-T0 -k x",
        "-T 2 -9e -c y",
        "-C sha256 -k x",
        "--check=none -k x",
        "-qq missing",
        "-Q folder",
        "-z -k x",
        "-F xz -k x",
        "-k link",
        "-k hard",
        "-dk clink#",
        "-M 100MiB -9 -k x",
        "--memlimit-compress=20MiB -6 -k x",
        "-M 1MiB -k x",
        "-dc --single-stream twice#",
        "-d --single-stream garbage#",
        "-t --single-stream twice# garbage# c#",
        "-dc --single-stream c#",
        "-dk --ignore-check c#",
        "--format=lzma -k x",
        "-F lzma -9e x y",
        "-F lzma -S .foo x",
        "-F auto -k x",
        "-F raw x",
        "--format=lzma -c x",
    ];
    compare("xz", ".xz", lines);
    compare("unxz", ".xz", &["c#", "-k c#", "-c c#"]);
    compare("lzma", ".lzma", SAME);
    compare("lzma", ".lzma", &["-F xz -k x", "--format=auto -k x", "-S .foo x", "-9e -k x"]);
    compare("unlzma", ".lzma", &["c#", "-k c#", "-c c#", "unknown", "twice#"]);
    compare("lzcat", ".lzma", &["c#", "-f x", "cut#"]);
    // Only the named format is accepted.
    let lines = &[
        "-k foreign.xz",
        "-c foreign.xz c#",
        "-cf foreign.xz",
        "-t foreign.xz",
        "-F xz -c foreign.xz",
        "-F auto -c foreign.xz c#",
        "-F xz -c c#",
        "-F lzma -c c#",
        "-F alone -c c#",
        "-F lzma -k foreign.xz",
        "-F lzip -c c#",
        "-F what -c c#",
        "-l foreign.xz",
        "-l c#",
        "-l -F xz foreign.xz",
    ];
    for tool in ["unlzma", "lzcat"] {
        compare(tool, ".lzma", lines);
    }
    compare("unxz", ".lzma", lines);
    compare(
        "lzma",
        ".lzma",
        &["-dc foreign.xz", "-t foreign.xz c#", "-dcf foreign.xz", "-dc --format=auto foreign.xz"],
    );
    compare("xzcat", ".xz", &["c#", "twice# c#", "-f x", "wrong#", "-"]);
}

#[test]
fn the_other_names_do_the_same_with_the_words_that_all_take() {
    let all_but =
        |others: &[&str]| SAME.iter().copied().filter(|line| !others.contains(line)).collect::<Vec<_>>();
    for (tool, suffix, others) in [
        ("lbzip2", ".bz2", &[][..]),
        ("bunzip2", ".bz2", &[]),
        ("lbunzip2", ".bz2", &[]),
        ("plzip", ".lz", &[]),
        // lzip decompresses the first member, and silently ignores the one after the garbage.
        ("lzip.lzip", ".lz", &["-d hidden#", "-t hidden#"]),
        ("unxz", ".xz", &[]),
        ("zstd", ".zst", &[]),
        ("unzstd", ".zst", &[]),
        // zstdcat copies the garbage and the second member unchanged.
        ("zstdcat", ".zst", &["-d hidden#", "-t hidden#"]),
    ] {
        compare(tool, suffix, &all_but(others));
    }
    compare("bzip2", ".bz2", &["-df wrong#", "-df x", "-dfk wrong# c#", "-tf wrong#"]);
    compare("lbzip2", ".bz2", &["-df wrong#", "-dcf wrong#"]);
    compare("xz", ".xz", &["-d x", "-d x c#", "-df wrong#"]);
}

#[test]
fn special_bits_are_kept_lost_or_refused_as_the_tools_do_it() {
    for (tool, suffix) in [
        ("gzip", ".gz"),
        ("pigz", ".gz"),
        ("bzip2", ".bz2"),
        ("lbzip2", ".bz2"),
        ("lzip.lzip", ".lz"),
        ("plzip", ".lz"),
        ("xz", ".xz"),
        ("zstd", ".zst"),
    ] {
        let mut lines = Vec::new();
        for how in ["-f", "-k", "-c"] {
            lines
                .extend([format!("{how} suid sgid sticky x"), format!("-d {how} csuid# csgid# csticky# c#")]);
        }
        // The status is that of one file.
        for name in ["suid", "sgid", "sticky"] {
            lines.extend([format!("{name} x"), format!("-d c{name}# c#")]);
        }
        lines.extend(["-t csuid#".to_owned(), "-c suid x".to_owned()]);
        compare(tool, suffix, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    }
    compare("zstd", ".zst", &["-q --rm suid"]);
}

#[test]
fn a_time_that_cannot_be_stored_is_a_warning_of_gzip() {
    let (links, folder) = (Links::new(), Folder::new());
    folder.write("x", b"data");
    fs::File::options().write(true).open(folder.path("x")).unwrap().set_modified(UNIX_EPOCH).unwrap();
    let text = "gzip: x: the time cannot be stored: gzip supports 1970 to 2106";
    Ran(run(links.path("gzip"), &folder, &["-k", "x"], b"", &[])).exits(2).says(text);
    Ran(run(links.path("bzip2"), &folder, &["-k", "x"], b"", &[])).exits(0).says("");
    folder.abz(&["-kf", "x"]).exits(0).says("");
}

#[test]
fn variables_of_the_environment_have_options() {
    compare_with("gzip", ".gz", &[("GZIP", "-1 --best")], &["-k x"]);
    compare_with("gzip", ".gz", &[("GZIP", "-d")], &["-k x", "-d c#"]);
    compare_with("bzip2", ".bz2", &[("BZIP2", "-k"), ("BZIP", "-f")], &["x", "taken"]);
    compare_with("bzip2", ".bz2", &[("BZIP2", "-d")], &["c#"]);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let (links, folder) = (Links::new(), Folder::new());
    for (tool, words, status, message) in [
        ("pigz", "-A y x", 22, "pigz: --alias: abz stores the name of the file"),
        ("lzip", "-S 10k x", 1, "lzip: invalid volume size '10k': expected at least 100000 bytes"),
        ("pigz", "-p0x x", 22, "pigz: invalid number of threads '0x': expected 1 to 1024"),
        ("bzip2", "-Z x", 1, "bzip2: invalid option -- 'Z'"),
    ] {
        folder.write("x", b"data");
        let words: Vec<&str> = words.split_whitespace().collect();
        let ran = Ran(run(links.path(tool), &folder, &words, b"", &[])).exits(status);
        assert_eq!(ran.stderr().lines().next(), Some(message));
        assert_eq!(folder.names(), ["x"]);
    }
}

#[test]
fn help_and_version_say_that_it_is_abz() {
    let (links, folder) = (Links::new(), Folder::new());
    for entry in fs::read_dir(links.path("")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let said = |word| {
            String::from_utf8(Ran(run(links.path(&name), &folder, &[word], b"", &[])).exits(0).stdout())
        };
        let (help, version) = (said("--help").unwrap(), said("--version").unwrap());
        assert!(
            help.starts_with(&format!("Usage: {name} [OPTION]... [FILE]...\n"))
                && help.contains("This is abz")
        );
        assert!(help.lines().count() < 50 && help.lines().all(|line| line.len() <= 100), "{help}");
        assert_eq!(version.lines().next().unwrap(), format!("{name} (abz) {}", env!("CARGO_PKG_VERSION")));
    }
}

#[test]
fn links_are_made_once_and_overwrite_nothing_else() {
    let folder = Folder::new();
    folder.write("gzip", b"not ours");
    symlink("/somewhere/else/abz", folder.path("pigz")).unwrap();
    symlink("/somewhere/else/bzip2", folder.path("bzip2")).unwrap();
    let ran = folder.abz(&["--install-links", "."]).exits(1);
    let text = "exists, and is not a link to abz -- not overwritten (remove it, or name another folder)";
    assert_eq!(ran.stderr(), format!("abz: ./gzip: {text}\nabz: ./bzip2: {text}\n"));
    let said = String::from_utf8(ran.stdout()).unwrap();
    let program = fs::canonicalize(env!("CARGO_BIN_EXE_abz")).unwrap();
    assert!(said.contains(&format!("./gunzip -> {}\n", program.display())), "{said}");
    assert_eq!(folder.read("gzip"), b"not ours");
    assert_eq!(fs::read_link(folder.path("pigz")).unwrap(), program);
    assert_eq!(fs::read_link(folder.path("bzip2")).unwrap(), Path::new("/somewhere/else/bzip2"));
    for name in ["gzip", "bzip2"] {
        fs::remove_file(folder.path(name)).unwrap();
    }
    folder.abz(&["--install-links", "."]).exits(0).says("");
    let again = String::from_utf8(folder.abz(&["--install-links", "."]).exits(0).stdout()).unwrap();
    assert!(again.lines().all(|line| line.ends_with(" exists already")), "{again}");
}

#[test]
fn scripts_around_gzip_and_tar_work_with_the_links() {
    if !have("tar") || !have("zcat") || !have("bzgrep") {
        return;
    }
    let (links, folder) = (Links::new(), Folder::new());
    fs::create_dir(folder.path("d")).unwrap();
    folder.write("d/x", &prose(50_000));
    let path = format!("{}:{}", links.path("").display(), std::env::var("PATH").unwrap());
    let script = "set -e
        for tool in gzip bzip2 'pigz -9' lbzip2; do
            tar -I \"$tool\" -cf t d; mkdir out; tar -C out -I \"$tool\" -xf t; cmp out/d/x d/x; rm -r t out
        done
        tar -czf t.tar.gz d; tar -tzf t.tar.gz > /dev/null; tar -cjf t.tar.bz2 d; tar -tjf t.tar.bz2 > /dev/null
        cp d/x a; gzip -k a; zdiff a a.gz; zcmp a.gz a; test $(zgrep -c river a.gz) -gt 0
        zforce a.gz; bzip2 -k a; bzdiff a a.bz2; test $(bzgrep -c river a.bz2) -gt 0
        test \"$(gzip < a | gzip -d | cksum)\" = \"$(cksum < a)\"";
    let mut command = program("sh");
    command.args(["-c", script]).current_dir(folder.path("")).env("PATH", path);
    Ran(fed(command, b"")).exits(0).says("");
}

#[test]
fn lists_of_xz_and_zstd_are_as_they_have_them() {
    let (links, folder) = (Links::new(), Folder::new());
    folder.write("x", &prose(300_000));
    folder.write("y", b"hello\n");
    folder.write("empty", b"");
    let made = |tool: &str, words: &[&str]| {
        let output = run(tool, &folder, words, b"", &[]);
        assert!(output.status.success(), "{tool} {words:?}");
        output.stdout
    };
    let mut lines = Vec::new();
    if have("xz") {
        made("xz", &["-k", "x", "y", "empty"]);
        let several = [made("xz", &["-cC", "sha256", "y"]), vec![0; 12], made("xz", &["-cC", "none", "x"])];
        folder.write("several.xz", &several.concat());
        folder.write("blocks.xz", &made("xz", &["-c", "--block-size=70000", "x"]));
        let all = "x.xz y.xz empty.xz several.xz blocks.xz";
        for words in ["-l x.xz", "-l y.xz", "-l several.xz", "-lq x.xz y.xz", "--robot -l empty.xz"] {
            lines.push(("xz", words.to_owned()));
        }
        lines.extend([("xz", format!("-l {all}")), ("xz", format!("--robot --list {all}"))]);
    }
    if have("zstd") {
        made("zstd", &["-qk", "x", "y", "empty"]);
        let several = [made("zstd", &["-qc", "x"]), b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec()];
        folder.write("several.zst", &several.concat().repeat(2));
        folder.write("unchecked.zst", &made("zstd", &["-qc", "--no-check", "y"]));
        let whole = program("zstd");
        folder.write(
            "unknown.zst",
            &fed(
                {
                    let mut zstd = whole;
                    zstd.arg("-qc");
                    zstd
                },
                &prose(5000),
            )
            .stdout,
        );
        for words in [
            "x.zst",
            "empty.zst y.zst",
            "several.zst",
            "x.zst unchecked.zst",
            "unknown.zst",
            "x.zst unknown.zst",
        ] {
            lines.push(("zstd", format!("-l {words}")));
        }
    }
    for (tool, line) in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let theirs = run(tool, &folder, &words, b"", &[]);
        let ours = run(links.path(tool), &folder, &words, b"", &[]);
        let text = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
        assert_eq!(text(&ours), text(&theirs), "{tool} {line}");
        assert_eq!(ours.status.code(), theirs.status.code(), "{tool} {line}");
    }
}

#[test]
fn what_xz_and_zstd_cannot_list_is_an_error() {
    let (links, folder) = (Links::new(), Folder::new());
    folder.write("x", &prose(3000));
    folder.write("damaged.xz", b"\xfd7zXZ\0nothing");
    for (tool, name) in [("xz", "x"), ("xz", "damaged.xz"), ("zstd", "x")] {
        let output = run(links.path(tool), &folder, &["-l", name], b"", &[]);
        assert_eq!(output.status.code(), Some(1), "{tool} {name}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be listed"), "{tool} {name}");
    }
}

#[test]
fn sparse_output_is_made_where_the_tool_makes_it() {
    let (links, folder) = (Links::new(), Folder::new());
    let mut data = vec![0; 3 << 20];
    data[1 << 20] = 1;
    folder.write("x", &data);
    let script = |tool: &Path, line: &str| {
        let mut command = program("sh");
        command.args(["-c", line, "sh"]).arg(tool).current_dir(folder.path(""));
        assert!(fed(command, b"").status.success(), "{tool:?} {line}");
        let found = fs::metadata(folder.path("out")).unwrap();
        (folder.read("out"), found.blocks() * 512 < 1 << 20)
    };
    for (tool, line, has_holes) in [
        ("zstd", "-dc --sparse x.zst", true),
        ("zstd", "-dc x.zst", false),
        ("zstd", "-dc --no-sparse x.zst", false),
        ("xz", "-dc x.xz", true),
        ("xz", "-dc --no-sparse x.xz", false),
        ("gzip", "-dc x.gz", false),
    ] {
        let made = run(links.path(tool), &folder, &["-kf", "x"], b"", &[]);
        assert!(made.status.success());
        let of_tool = have(tool).then(|| PathBuf::from(tool));
        for program in [Some(links.path(tool)), of_tool].into_iter().flatten() {
            assert_eq!(
                script(&program, &format!("\"$1\" {line} > out")),
                (data.clone(), has_holes),
                "{program:?} {line}"
            );
        }
        // Output before and after is kept.
        let twice = format!("(echo before; \"$1\" {line}; \"$1\" {line}; echo behind) > out");
        let (all, _) = script(&links.path(tool), &twice);
        assert!(all == [b"before\n", &data[..], &data, b"behind\n"].concat(), "{tool} {line}");
        // Nothing is left out at the end of a file opened for appending, or in the middle of a file.
        folder.write("out", &vec![7; 4 << 20]);
        let (all, _) = script(&links.path(tool), &format!("\"$1\" {line} >> out"));
        assert!(all == [&vec![7; 4 << 20][..], &data].concat(), "{tool} {line}");
        let (all, _) = script(&links.path(tool), &format!("\"$1\" {line} 1<> out"));
        assert!(all[..data.len()] == data, "{tool} {line}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn zstd_writes_what_is_named_be_it_a_pipe() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    let (links, folder) = (Links::new(), Folder::new());
    mknodat(CWD, folder.path("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let of_tool = have("zstd").then(|| PathBuf::from("zstd"));
    for program in [Some(links.path("zstd")), of_tool].into_iter().flatten() {
        let read = std::thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read(folder.path("pipe")).unwrap());
            let output = run(&program, &folder, &["-q", "-f", "-o", "pipe"], &prose(100_000), &[]);
            if !output.status.success() {
                // The reader still waits for a writer to open the pipe.
                drop(fs::File::options().write(true).open(folder.path("pipe")).unwrap());
            }
            assert!(output.status.success(), "{program:?}: {}", String::from_utf8_lossy(&output.stderr));
            reader.join().unwrap()
        });
        assert!(contents(&read) == prose(100_000), "{program:?}");
        assert_eq!(folder.names(), ["pipe"], "{program:?}");
    }
}

#[test]
fn zstd_mirrors_folders() {
    let links = Links::new();
    let made = |tool: &Path, line: &str| {
        let folder = Folder::new();
        fs::create_dir_all(folder.path("d/e")).unwrap();
        fs::set_permissions(folder.path("d/e"), Permissions::from_mode(0o700)).unwrap();
        for name in ["d/x", "d/e/y", "z"] {
            folder.write(name, name.as_bytes());
        }
        let words: Vec<&str> = line.split(' ').collect();
        let status = run(tool, &folder, &words, b"", &[]).status.code();
        let (mut found, mut waiting) = (Vec::new(), vec![folder.path("")]);
        while let Some(path) = waiting.pop() {
            for entry in fs::read_dir(&path).unwrap() {
                let path = entry.unwrap().path();
                let mode = fs::metadata(&path).unwrap().mode();
                found.push((path.strip_prefix(folder.path("")).unwrap().to_owned(), mode));
                waiting.extend(path.is_dir().then_some(path));
            }
        }
        found.sort();
        (status, found)
    };
    for line in [
        "-q -r --output-dir-mirror out d z",
        "-q --output-dir-mirror=out d/x ./d/e/y",
        "-q --output-dir-mirror out d/../z",
        "-q --rm --output-dir-mirror out z",
        "-q -c --output-dir-mirror out z",
        "-q --output-dir-mirror d z",
        "-q --output-dir-mirror d missing z",
    ] {
        let (status, ours) = made(&links.path("zstd"), line);
        assert!(status.is_some());
        if have("zstd") {
            assert_eq!((status, ours), made(Path::new("zstd"), line), "{line}");
        }
    }
}

#[test]
fn xz_looks_at_no_check_if_it_shall_not() {
    let (links, folder) = (Links::new(), Folder::new());
    let data = b"a branch of a river";
    for check in ["crc32", "crc64", "sha256"] {
        // One file has a block whose header records its size, which is decoded whole; the other has one without a size.
        let told = run(links.path("xz"), &folder, &["-c", "-C", check], data, &[]).stdout;
        let untold = through("xz", &["-c", "-T1", "-C", check], data);
        let mut passed_over = 0;
        for file in [Some(told), untold].into_iter().flatten() {
            for at in 0..file.len() {
                let mut damaged = file.clone();
                damaged[at] ^= 1;
                let strict = run(links.path("xz"), &folder, &["-dc"], &damaged, &[]);
                let words = ["-dc", "--ignore-check"];
                let lenient = run(links.path("xz"), &folder, &words, &damaged, &[]);
                assert!(!strict.status.success(), "{check} at {at}");
                passed_over += usize::from(lenient.status.success());
                if have("xz") {
                    let theirs = run("xz", &folder, &words, &damaged, &[]);
                    assert_eq!(lenient.status.code(), theirs.status.code(), "{check} at {at}");
                    assert!(!theirs.status.success() || lenient.stdout == theirs.stdout, "{check} at {at}");
                }
            }
        }
        assert!(passed_over > 0, "{check}");
    }
}

#[test]
fn xz_tells_how_much_memory_there_is() {
    let (links, folder) = (Links::new(), Folder::new());
    for words in [&["--info-memory"][..], &["-M", "100MiB", "--info-memory"]] {
        let told = |program: PathBuf| {
            let output = run(program, &folder, words, b"", &[]);
            assert!(output.status.success());
            let told = String::from_utf8(output.stdout).unwrap();
            // xz has its own limits for several threads.
            told.lines().take(7).map(str::to_owned).collect::<Vec<_>>()
        };
        let ours = told(links.path("xz"));
        assert_eq!(ours.len(), 7);
        if have("xz") {
            assert_eq!(ours, told("xz".into()), "{words:?}");
        }
    }
}

#[test]
fn an_output_that_cannot_be_written_ends_with_the_status_of_the_tool() {
    if !have_full_device() {
        return;
    }
    let (links, folder) = (Links::new(), Folder::new());
    folder.write("x", &prose(200_000));
    for tool in ["gzip", "pigz", "bzip2", "lbzip2", "lzip.lzip", "plzip", "xz", "zstd"] {
        let status = |program: PathBuf| {
            let mut command = crate::support::program(&program);
            command.args(["-c", "x"]).current_dir(folder.path(""));
            command.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
            command.stderr(std::process::Stdio::null()).status().unwrap().code()
        };
        let ours = status(links.path(tool.trim_end_matches(".lzip")));
        assert!(ours.is_some_and(|status| status > 0), "{tool}");
        if have(tool) {
            assert_eq!(ours, status(tool.into()), "{tool}");
        }
    }
}

#[test]
fn xz_takes_lists_of_files() {
    let (links, folder) = (Links::new(), Folder::new());
    for name in ["a b", "c", "d"] {
        folder.write(name, &prose(3000));
    }
    folder.write("lines", b"a b\nc\n");
    folder.write("zeros", b"c\0d\0");
    folder.write("none", b"");
    for (words, input, expected) in [
        (&["-k", "--files=lines"][..], &b""[..], &["a b.xz", "c.xz"][..]),
        (&["-k", "--files0=zeros"], b"", &["c.xz", "d.xz"]),
        (&["-k", "--files"], b"d\n", &["d.xz"]),
        (&["-k", "--files=lines", "d"], b"", &["a b.xz", "c.xz", "d.xz"]),
        (&["-k", "--files=none"], b"", &[]),
    ] {
        let output = run(links.path("xz"), &folder, words, input, &[]);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let made: Vec<_> = folder.names().into_iter().filter(|name| name.ends_with(".xz")).collect();
        assert_eq!(made, expected, "{words:?}");
        made.iter().for_each(|name| fs::remove_file(folder.path(name)).unwrap());
    }
    let output = run(links.path("xz"), &folder, &["--files=missing"], b"", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("missing"));
}

/// Runs a script with the links first in PATH.
fn script(links: &Links, folder: &Folder, line: &[&str]) -> Option<String> {
    if !have(line[0]) || line[0].ends_with("less") && !have("less") {
        return None;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", links.0.path().display());
    let output = run(line[0], folder, &line[1..], b"", &[("PATH", &path), ("PAGER", "cat")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{line:?}: {said}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn scripts_that_come_with_the_tools_work_with_the_links() {
    let (links, folder) = (Links::new(), Folder::new());
    folder.write("x", b"a branch\nof a river\n");
    for tool in ["gzip", "bzip2", "xz", "zstd"] {
        let output = run(links.path(tool), &folder, &["-k", "x"], b"", &[]);
        assert!(output.status.success(), "{tool}");
    }
    for (line, expected) in [
        (&["zgrep", "river", "x.gz"][..], "of a river\n"),
        (&["zmore", "x.gz"], "a branch\nof a river\n"),
        (&["zless", "x.gz"], "a branch\nof a river\n"),
        (&["zcmp", "x", "x.gz"], ""),
        (&["zdiff", "x.gz", "x"], ""),
        (&["bzgrep", "river", "x.bz2"], "of a river\n"),
        (&["bzdiff", "x.bz2", "x"], ""),
        (&["bzmore", "x.bz2"], "------> x.bz2 <------\na branch\nof a river\n"),
        (&["bzless", "x.bz2"], "------> x.bz2 <------\na branch\nof a river\n"),
        (&["xzgrep", "river", "x.xz"], "of a river\n"),
        (&["xzdiff", "x.xz", "x"], ""),
        (&["xzless", "x.xz"], "a branch\nof a river\n"),
        (&["xzmore", "x.xz"], "------> x.xz <------\na branch\nof a river\n"),
        (&["lzgrep", "branch", "x.xz"], "a branch\n"),
        (&["zstdgrep", "river", "x.zst"], "of a river\n"),
        (&["zstdless", "x.zst"], "a branch\nof a river\n"),
    ] {
        if let Some(said) = script(&links, &folder, line) {
            assert_eq!(said, expected, "{line:?}");
        }
    }
    fs::copy(folder.path("x.gz"), folder.path("disguised")).unwrap();
    if script(&links, &folder, &["zforce", "disguised", "x"]).is_some() {
        assert!(folder.path("disguised.gz").exists() && folder.path("x").exists());
    }
    folder.write("hello", b"#!/bin/sh\necho hello\n");
    fs::set_permissions(folder.path("hello"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    if script(&links, &folder, &["gzexe", "hello"]).is_some() {
        let path = format!("{}:{}", links.0.path().display(), std::env::var("PATH").unwrap_or_default());
        let output = run(folder.path("hello"), &folder, &[], b"", &[("PATH", &path)]);
        assert_eq!(output.stdout, b"hello\n", "{}", String::from_utf8_lossy(&output.stderr));
    }
    if have("compress") && have("znew") {
        folder.write("old", &prose(3000));
        let output = run("compress", &folder, &["old"], b"", &[]);
        assert!(output.status.success());
        script(&links, &folder, &["znew", "old.Z"]).unwrap();
        assert!(contents(&folder.read("old.gz")) == prose(3000) && !folder.path("old.Z").exists());
    }
}

#[test]
fn gzip_tells_of_a_byte_behind_the_last_member_as_gzip_does() {
    let (links, folder) = (Links::new(), Folder::new());
    let one = {
        folder.write("one", b"1\n");
        assert!(run(links.path("gzip"), &folder, &["one"], b"", &[]).status.success());
        folder.read("one.gz")
    };
    for (behind, status, is_made) in
        [(&b"\0"[..], 0, true), (b"\0\0", 0, true), (b"\x01", 1, false), (b"\x01\x02", 2, true)]
    {
        folder.write("x.gz", &[&one, behind].concat());
        // pigz ignores whatever follows.
        for (tool, status, is_made) in [("gzip", status, is_made), ("pigz", 0, true)] {
            let of_tool = have(tool).then(|| PathBuf::from(tool));
            for program in [Some(links.path(tool)), of_tool].into_iter().flatten() {
                let output = run(&program, &folder, &["-dk", "x.gz"], b"", &[]);
                assert_eq!(output.status.code(), Some(status), "{program:?} {behind:x?}");
                assert_eq!(folder.path("x").exists(), is_made, "{program:?} {behind:x?}");
                let _ = fs::remove_file(folder.path("x"));
            }
        }
    }
}

#[test]
fn gzip_lists_with_v_as_gzip_does() {
    let (links, folder) = (Links::new(), Folder::new());
    for (name, data) in [("x", prose(300_000)), ("y", b"hello\n".to_vec())] {
        folder.write(name, &data);
        if !have("gzip") {
            return;
        }
        assert!(run("gzip", &folder, &["-k", name], b"", &[]).status.success());
    }
    let input = folder.read("y.gz");
    for line in [
        &["-lv", "x.gz"][..],
        &["-lv", "x.gz", "y.gz"],
        &["-l", "y.gz", "x.gz"],
        &["-lqv", "x.gz"],
        &["-l"],
        &["-lv"],
        &["-l", "x.gz", "-"],
    ] {
        let theirs = run("gzip", &folder, line, &input, &[("TZ", "UTC")]);
        let ours = run(links.path("gzip"), &folder, line, &input, &[("TZ", "UTC")]);
        assert_eq!(
            String::from_utf8_lossy(&ours.stdout),
            String::from_utf8_lossy(&theirs.stdout),
            "{line:?}"
        );
    }
}

#[test]
fn headers_of_gzip_are_those_of_the_tool_and_small_files_no_larger() {
    let (links, folder) = (Links::new(), Folder::new());
    for len in [0, 1, 5, 20, 40, 100, 1000, 3_000_000] {
        folder.write("x", if len == 5 { b"hello".to_vec() } else { prose(len) }.as_slice());
        for (name, words) in [
            ("gzip", &["-c", "x"][..]),
            ("gzip", &["-1c", "x"]),
            ("gzip", &["-9cn", "x"]),
            ("pigz", &["-c", "x"]),
            ("pigz", &["-1c", "x"]),
            ("pigz", &["-9cn", "x"]),
        ] {
            let ours = run(links.path(name), &folder, words, b"", &[]).stdout;
            assert_eq!(ours[3] & 4, 0, "{name} {words:?}: it has an extra field");
            assert!(len != 5 || ours.len() <= 27, "{name} {words:?}");
            if have(name) {
                let theirs = run(name, &folder, words, b"", &[]).stdout;
                let header = if ours[3] == 0 { 10 } else { 12 };
                assert_eq!(ours[..header], theirs[..header], "{name} {words:?}");
                assert!(len > 100 || ours.len() <= theirs.len(), "{name} {words:?} of {len} bytes");
            }
        }
    }
    for name in ["gzip", "pigz"] {
        assert_eq!(run(links.path(name), &folder, &[], b"hello", &[]).stdout.len(), 25, "{name}");
    }
    // The input is exactly one block, however it is read.
    folder.write("full", &prose(8192));
    let full = folder.abz(&["-b8K", "-nc", "full"]).exits(0).stdout();
    assert!(full[10] != 4 && full.len() < 3000, "{full:?}");
    for way in [&["-p1"][..], &["-p3"], &["--input-io", "pread"], &["--input-io", "mmap"]] {
        assert!(folder.abz(&[&["-b8K", "-nc", "full"], way].concat()).exits(0).stdout() == full, "{way:?}");
    }
    assert!(folder.abz_fed(&["-b8K", "-n"], &prose(8192)).exits(0).stdout() == full);
    assert_eq!(folder.abz_fed(&[], b"hello").exits(0).stdout().len(), 25);
}

#[test]
fn gzip_says_of_damaged_files_what_gzip_says() {
    let (links, folder) = (Links::new(), Folder::new());
    folder.write("x", &prose(3000));
    let whole = run(links.path("gzip"), &folder, &["-cn", "x"], b"", &[]).stdout;
    let changed = |at: usize| {
        let mut file = whole.clone();
        file[at] ^= 0x55;
        file
    };
    let len = whole.len();
    let mut no_deflate = whole.clone();
    no_deflate[10] |= 7;
    for (file, expected) in [
        (changed(len - 8), "invalid compressed data--crc error"),
        (changed(len - 4), "invalid compressed data--length error"),
        (no_deflate, "invalid compressed data--format violated"),
        // The file `bug33501` of gzip's test `hufts`: truncated in a block without any codes.
        (b"\x1f\x8b\x08\x00000000d\x00\x00\x00".to_vec(), "invalid compressed data--format violated"),
        (whole[..len - 3].to_vec(), "unexpected end of file"),
    ] {
        folder.write("x.gz", &file);
        let said = |output: Output| (output.status.code(), String::from_utf8(output.stderr).unwrap());
        let ours = said(run(links.path("gzip"), &folder, &["-t", "x.gz"], b"", &[]));
        assert_eq!(ours, (Some(1), format!("\ngzip: x.gz: {expected}\n")));
        let ours = said(run(links.path("gzip"), &folder, &["-dc"], &file, &[]));
        assert_eq!(ours, (Some(1), format!("\ngzip: stdin: {expected}\n")));
        if have("gzip") {
            // gzip begins a line for each fault that it finds.
            let theirs = said(run("gzip", &folder, &["-dc"], &file, &[]));
            assert!(theirs.0 == ours.0 && theirs.1.starts_with(&ours.1), "{theirs:?}");
        }
        // With -v, the message has details.
        let more = said(run(links.path("gzip"), &folder, &["-tv", "x.gz"], b"", &[]));
        assert!(more.1.contains("at byte ") && more.1.contains(expected), "{more:?}");
    }
}

#[test]
fn gzip_reads_a_file_of_pack_behind_a_member_as_gzip_does() {
    let (links, folder) = (Links::new(), Folder::new());
    let member = run(links.path("gzip"), &folder, &["-c"], b"a member\n", &[]).stdout;
    for (behind, status, contents) in [
        // "aab", compressed by `pack`, and the same truncated.
        (&b"\x1f\x1e\0\0\0\x03\x02\x01\0ab\xc4"[..], 0, &b"a member\naab"[..]),
        (b"\x1f\x1e\0\0\0\x03\x02\x01\0ab", 1, b"a member\n"),
        (b"\x1f\x1e other bytes", 1, b"a member\n"),
    ] {
        folder.write("x.gz", &[&member, behind].concat());
        for tool in [Path::new("gzip"), &links.path("gzip")] {
            if tool.is_relative() && !have("gzip") {
                continue;
            }
            let output = run(tool, &folder, &["-dc", "x.gz"], b"", &[]);
            assert_eq!((output.status.code(), &output.stdout[..]), (Some(status), contents), "{tool:?}");
        }
    }
}

#[test]
fn pigz_writes_and_reads_zlib_and_zip() {
    let (links, folder) = (Links::new(), Folder::new());
    let inputs = [Vec::new(), b"x".to_vec(), [prose(300_000), noise(200_000, 5)].concat()];
    for (option, suffix) in [("-z", ".zz"), ("-K", ".zip")] {
        for data in &inputs {
            folder.write("f\u{fc}r.txt", data);
            let file = format!("f\u{fc}r.txt{suffix}");
            for more in [&["-1p1"][..], &["-9n", "-p3", "-b128"]] {
                let line = [&[option, "-kf"], more, &["f\u{fc}r.txt"]].concat();
                let output = run(links.path("pigz"), &folder, &line, b"", &[]);
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                let made = folder.read(&file);
                for processes in ["-p1", "-p3"] {
                    let read = run(links.path("unpigz"), &folder, &["-c", processes, &file], b"", &[]);
                    assert!(read.status.success() && read.stdout == *data, "{line:?}");
                    assert!(folder.abz_fed(&["-dc", processes], &made).exits(0).stdout() == *data);
                }
                if let Some(read) = through("pigz", &["-dc"], &made) {
                    assert!(read == *data, "{line:?}");
                }
                if option == "-K" && have("unzip") {
                    let tested = run("unzip", &folder, &["-tq", &file], b"", &[]);
                    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
                    let read = run("unzip", &folder, &["-p", &file], b"", &[]);
                    assert!(read.stdout == *data);
                }
                let code =
                    "import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))";
                if option == "-z"
                    && let Some(read) = through("python3", &["-c", code], &made)
                {
                    assert!(read == *data, "{line:?}");
                }
            }
            if let Some(theirs) = through("pigz", &["-c", option], data) {
                for processes in ["-p1", "-p3"] {
                    assert!(folder.abz_fed(&["-dc", processes], &theirs).exits(0).stdout() == *data);
                }
            }
        }
        // A round trip with file names.
        let file = format!("f\u{fc}r.txt{suffix}");
        let _ = fs::remove_file(folder.path(&file));
        assert!(run(links.path("pigz"), &folder, &[option, "f\u{fc}r.txt"], b"", &[]).status.success());
        assert_eq!(folder.names(), [&*file]);
        assert!(run(links.path("pigz"), &folder, &["-d", &file], b"", &[]).status.success());
        assert_eq!(folder.names(), ["f\u{fc}r.txt"]);
    }
    // Damage and truncation are reported.
    let made = run(links.path("pigz"), &folder, &["-cz"], &prose(3000), &[]).stdout;
    let mut damaged = made.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let ran = folder.abz_fed(&["-t"], &damaged).exits(1);
    assert!(ran.stderr().contains("expected contents with the Adler-32"), "{}", ran.stderr());
    let ran = folder.abz_fed(&["-t"], &made[..made.len() - 1]).exits(1);
    assert!(ran.stderr().contains("expected more of the compressed data"), "{}", ran.stderr());
}

/// The options that the random command lines of a tool have, beside those of all tools, and files.
const DRAWN: &[(&str, &str, &[&str])] = &[
    ("gzip", ".gz", &["-l", "-n", "-N", "-S .foo", "-r", "-q", "-1", "-9", "-v"]),
    ("gunzip", ".gz", &["-n", "-N", "-S .foo", "-q", "-l"]),
    ("zcat", ".gz", &["-q", "-l"]),
    ("pigz", ".gz", &["-n", "-p 2", "-b 128", "-1", "-q"]),
    ("bzip2", ".bz2", &["-z", "-s", "-q", "-1", "-v"]),
    ("bunzip2", ".bz2", &["-z", "-s", "-q"]),
    ("bzcat", ".bz2", &["-s", "-q"]),
    ("lbzip2", ".bz2", &["-n 2", "-z", "-1"]),
    (
        "lzip.lzip",
        ".lz",
        &["-a", "-F", "-0", "-9", "-o out", "-q", "--loose-trailing", "-s 64Ki", "-b 100k", "-d"],
    ),
    (
        "xz",
        ".xz",
        &[
            "-z",
            "-0",
            "-1",
            "-q",
            "-Q",
            "-T 2",
            "-e",
            "--no-sparse",
            "-C crc32",
            "--single-stream",
            "-S .foo",
        ],
    ),
    ("unxz", ".xz", &["-q", "--ignore-check", "-F xz"]),
    ("xzcat", ".xz", &["-q", "-F auto"]),
    ("lzma", ".lzma", &["-0", "-z", "-q"]),
    ("unlzma", ".lzma", &["-q"]),
    (
        "zstd",
        ".zst",
        &[
            "-q",
            "-1",
            "-19",
            "--rm",
            "-o out",
            "--no-check",
            "-T2",
            "--long",
            "--sparse",
            "--ultra",
            "-qq",
            "--no-progress",
        ],
    ),
    ("unzstd", ".zst", &["-q", "--rm", "-o out", "--no-sparse"]),
];

/// Command lines that abz handles in another way on purpose: the tools, words that are all in the line, and why.
const ON_PURPOSE: &[(&str, &[&str], &str)] = &[
    ("gzip", &["-l", "hidden#"], LISTS),
    ("gzip", &["-l", "garbage#"], LISTS),
    ("gunzip zcat", &["-l"], LISTS),
    ("gzip gunzip zcat", &["y"], "gzip ends at an empty file that it decompresses, abz goes on"),
    ("gunzip zcat", &["none#"], "gzip ends at an empty file that it decompresses, abz goes on"),
    ("pigz", &["-t"], "pigz tests no links"),
    ("bzip2 bunzip2 bzcat", &["-q"], "bzip2 -q hides damage"),
    ("bzip2", &["-f", "garbage#"], COPIES),
    ("bzip2", &["-f", "hidden#"], COPIES),
    ("bunzip2 bzcat", &["-f"], COPIES),
    ("bzcat", &["y"], "bzip2 ends at an empty file, abz goes on"),
    ("bzcat", &["none#"], "bzip2 ends at an empty file, abz goes on"),
    ("lbzip2 lzip.lzip", &["unknown"], "abz says which name it takes"),
    ("lbzip2", &["folder"], "lbzip2 ends at a folder, abz goes on"),
    ("lbzip2", &["-d"], "lbzip2 ends at a file that is damaged or not compressed, abz goes on"),
    ("zstd", &["-o out", "-d"], "if an input fails, abz leaves no joined output"),
    ("unzstd", &["-o out"], "if an input fails, abz leaves no joined output"),
    ("lzip.lzip", &["-o out"], "abz joins several inputs in one output"),
];
const LISTS: &str = "gzip decompresses to list, and mentions what follows; abz reads the ends of members";
const COPIES: &str = "bzip2 -f copies what follows the end; abz leaves it out and says so";

#[test]
fn random_command_lines_do_the_same() {
    const ALL: [&str; 6] = ["-d", "-c", "-k", "-f", "-t", "-d"];
    const FILES: [&str; 18] = [
        "x", "y", "c#", "unknown", "taken", "taken#", "cut#", "garbage#", "hidden#", "twice#", "wrong#",
        "none#", "folder", "link", "clink#", "hard", "missing", "-",
    ];
    let mut differences = Vec::new();
    for (at, (tool, suffix, own)) in DRAWN.iter().enumerate() {
        if !have(tool) || !have(maker(suffix)) {
            continue;
        }
        let pair = Pair::new(tool, suffix);
        let mut random = Random(at as u64 + 1);
        for _ in 0..rounds(10) {
            let mut words = Vec::new();
            for _ in 0..random.below(3) {
                words.push(ALL[random.below(6) as usize]);
            }
            if random.below(2) == 0 {
                words.push(own[random.below(own.len() as u64) as usize]);
            }
            for _ in 0..=random.below(2) {
                words.push(FILES[random.below(18) as usize]);
            }
            let line = words.join(" ");
            let is_on_purpose = ON_PURPOSE.iter().any(|(tools, all, _)| {
                tools.split(' ').any(|name| tool.starts_with(name))
                    && all.iter().all(|word| words.contains(word))
            });
            if !is_on_purpose {
                differences.extend(pair.compare(&[], &line, true));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
