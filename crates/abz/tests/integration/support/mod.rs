//! Helpers of the tests: a folder to run `abz` in, and checks of each run.
#![allow(dead_code, reason = "each test file takes what it needs")]

use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub use abz_foreign::{command as program, fed, have, have_library, kernel, leave_out, through};
use tempfile::TempDir;

/// A temporary folder for one test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(TempDir::new().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, data: &[u8]) {
        fs::write(self.path(name), data).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// All names in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program(env!("CARGO_BIN_EXE_abz"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// Runs `abz` with empty standard input.
    pub fn abz(&self, arguments: &[&str]) -> Ran {
        self.abz_fed(arguments, b"")
    }

    /// Runs `abz` with the given standard input.
    pub fn abz_fed(&self, arguments: &[&str], input: &[u8]) -> Ran {
        Ran(fed(self.command(arguments), input))
    }
}

pub struct Ran(pub Output);

impl Ran {
    /// Checks the exit status.
    #[track_caller]
    pub fn exits(self, status: i32) -> Self {
        assert_eq!(self.0.status.code(), Some(status), "stderr: {}", self.stderr());
        self
    }

    /// Checks that standard error is this line alone, or empty.
    #[track_caller]
    pub fn says(self, line: &str) -> Self {
        assert_eq!(self.stderr().trim_end(), line);
        self
    }

    pub fn stderr(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }

    pub fn stdout(self) -> Vec<u8> {
        self.0.stdout
    }

    pub fn status(&self) -> Option<i32> {
        self.0.status.code()
    }
}

/// Text of `len` bytes, the same for equal lengths.
pub fn prose(len: usize) -> Vec<u8> {
    let words = ["river ", "branch ", "leaves ", "the ", "main ", "stream ", "and ", "joins ", "again\n"];
    let mut state = len as u64;
    let mut text = Vec::with_capacity(len + 8);
    while text.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.extend_from_slice(words[(state >> 33) as usize % words.len()].as_bytes());
    }
    text.truncate(len);
    text
}

/// Incompressible bytes, the same for equal seeds.
pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    std::iter::repeat_with(|| random.next() as u8).take(len).collect()
}

/// A small generator of pseudorandom numbers.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 24
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// Sends a signal by its name.
pub fn send(signal: &str, process: u32) {
    // Every system has a shell with `kill`. The process may already have ended.
    let mut kill = program("sh");
    kill.args(["-c", "kill -s \"$0\" \"$1\"", signal, &process.to_string()]).stderr(Stdio::null());
    let _ = kill.status();
}

/// Whether this process ignores a signal, as one does that a shell without job control runs in the background. Its children
/// ignore the signal, too, and abz leaves it so.
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Returns whether the system has a device that is always full. If not, notes that the test is left out.
pub fn have_full_device() -> bool {
    let is_there = std::path::Path::new("/dev/full").exists();
    if !is_there {
        leave_out("a full device (there is no /dev/full)");
    }
    is_there
}

/// Starts `abz`, and stops it once its output has begun. Returns `None` if it was too quick.
pub fn stopped(folder: &Folder, arguments: &[&str]) -> Option<Child> {
    let mut child = folder.command(arguments).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let is_begun = |folder: &Folder| folder.names().iter().any(|name| name.starts_with(".abz-"));
    while !is_begun(folder) {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "no output was begun");
    }
    send("STOP", child.id());
    // The signal takes effect at once, or when the child has ended.
    if child.try_wait().unwrap().is_none() && is_begun(folder) {
        return Some(child);
    }
    send("CONT", child.id());
    child.wait().unwrap();
    None
}

/// Damages a file. Returns the range of bytes touched in the undamaged file, the damaged file, and whether all other
/// bytes keep their offset.
pub fn damaged(file: &[u8], random: &mut Random) -> (Range<u64>, Vec<u8>, bool) {
    let len = file.len() as u64;
    let at = match random.below(6) {
        0 => random.below(30),
        1 => len - 1 - random.below(30),
        _ => random.below(len),
    };
    let most = [1, 30, 5000][random.below(3) as usize].min(len - at);
    let end = at + 1 + random.below(most);
    let (from, to) = (at as usize, end as usize);
    let bad = noise(1 + random.below(most) as usize, random.next());
    match random.below(6) {
        0 => {
            let mut bytes = file.to_vec();
            bytes[from] ^= 1 << random.below(8);
            (at..at + 1, bytes, true)
        }
        1 | 2 => {
            let mut bytes = file.to_vec();
            bytes[from..to].fill(random.below(3) as u8);
            (at..end, bytes, true)
        }
        3 => (at..len, file[..from].to_vec(), false),
        4 => (at..end, [&file[..from], &file[to..]].concat(), false),
        // Inserted bytes touch the bytes before and after them.
        _ => (at..at, [&file[..from], &bad, &file[from..]].concat(), false),
    }
}

/// The number of rounds of a randomized test: `ABZ_SOAK` times as many if that variable is set.
pub fn rounds(usual: u64) -> u64 {
    let soak = std::env::var("ABZ_SOAK").ok().and_then(|value| value.parse::<u64>().ok());
    usual * soak.unwrap_or(1).max(1)
}

/// Checks that `-d` refuses each of the files with the given exit status and message, and leaves no output.
#[track_caller]
pub fn tells_of_bad_files(folder: &Folder, name: &str, cases: Vec<(&str, Vec<u8>, i32, &str)>) {
    for (what, bytes, status, said) in cases {
        for processes in ["-p1", "-p2"] {
            folder.write(name, &bytes);
            let ran = folder.abz(&["-d", processes, name]).exits(status);
            let told = ran.stderr();
            assert!(told.starts_with(&format!("abz: {name}: ")) && told.contains(said), "{what}: {told}");
            let left = if status == 1 { name } else { "x" };
            assert_eq!(folder.names(), [left], "{what}");
            let _ = fs::remove_file(folder.path("x"));
        }
    }
}

/// Checks that two threads decompress a file to `len` bytes within an address space of `kib` KiB.
#[track_caller]
pub fn within_memory(kib: u32, file: &[u8], len: usize) {
    let mut command = program("sh");
    let script = format!("ulimit -v {kib}; \"$0\" -d -p2 | cksum");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_abz")]);
    let said = String::from_utf8(fed(command, file).stdout).unwrap();
    assert_eq!(said.split_whitespace().nth(1), Some(&len.to_string()[..]), "{said}");
}

/// Files of `data` in every format, made by abz in many blocks and by other programs as far as they are installed.
pub fn files(data: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let folder = Folder::new();
    folder.write("x", data);
    let ours = [
        ("gzip", &["-b64K"][..]),
        ("gzip in one block", &["-b4M"]),
        ("rsyncable gzip", &["--rsyncable", "-b64K"]),
        ("bgzf", &["--bgzf"]),
        ("bzip2", &["-F", "bzip2", "-1"]),
        ("lzip", &["-F", "lzip", "-1", "-b100K"]),
        ("xz", &["-F", "xz", "-1", "-b100K", "--check", "sha256"]),
        ("zstd", &["-F", "zstd", "-b64K"]),
    ];
    let ours = ours.map(|(what, how)| (what, folder.abz(&[how, &["-c", "x"]].concat()).exits(0).stdout()));
    let theirs = [
        ("gzip's", "gzip", &["-c"][..]),
        ("pigz's", "pigz", &["-c"]),
        ("bgzip's", "bgzip", &["-c"]),
        ("bzip2's", "bzip2", &["-1c"]),
        ("lzip's", "lzip.lzip", &["-1c"]),
        ("plzip's", "plzip", &["-1c", "-B128KiB"]),
        ("xz's", "xz", &["-1c"]),
        ("xz's in blocks", "xz", &["-1c", "-T2", "--block-size=100KiB"]),
        ("zstd's", "zstd", &["-c"]),
        ("pzstd's", "pzstd", &["-cq"]),
    ];
    let theirs = theirs.into_iter().filter_map(|(what, tool, how)| Some((what, through(tool, how, data)?)));
    let mut files: Vec<_> = ours.into_iter().chain(theirs).collect();
    // Concatenated files.
    let half = data.len() / 2;
    for (what, how) in
        [("two of gzip", "gzip"), ("two of lzip", "lzip"), ("two of xz", "xz"), ("two of zstd", "zstd")]
    {
        let part = |part: &[u8]| folder.abz_fed(&["-F", how, "-1", "-b64K"], part).exits(0).stdout();
        files.push((what, [part(&data[..half]), part(&data[half..])].concat()));
    }
    files
}

/// Runs `abz` with a span, for `--range` or `--line-range`.
pub fn span_of(folder: &Folder, option: &str, span: &Range<usize>, more: &[&str]) -> Ran {
    let ends = format!("{}..{}", span.start, span.end);
    folder.abz(&[&[option, &ends], more].concat())
}

/// A range of lines of `data`, counted from 1, with both ends.
pub fn lines(data: &[u8], first: usize, last: usize) -> Vec<u8> {
    let lines = data.split_inclusive(|&byte| byte == b'\n');
    lines.skip(first - 1).take((last + 1).saturating_sub(first)).collect::<Vec<_>>().concat()
}
