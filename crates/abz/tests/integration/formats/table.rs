//! The differences between the formats.

use crate::support::{noise, prose};

/// Programs, with arguments that make each filter standard input to standard output.
type Programs = &'static [(&'static str, &'static [&'static str])];

/// The name of a case, a function that makes a bad file of a good one, and a part of the message.
type BadFile = (&'static str, fn(&[u8]) -> Vec<u8>, &'static str);

/// A format whose guarantees are checked.
pub struct Format {
    /// The name for `-F`.
    pub name: &'static str,
    pub suffix: &'static str,
    /// The short suffix of compressed tar archives.
    pub archive_suffix: &'static str,
    /// The bytes with which files begin.
    pub magic: &'static [u8],
    /// The contents that one program compresses and another one decompresses.
    pub inputs: fn() -> Vec<Vec<u8>>,
    /// Options whose output other programs have to read.
    pub option_sets: &'static [&'static [&'static str]],
    pub readers: Programs,
    /// Programs that make files for abz. `--stream-size` stands for that option with the size of the input.
    pub writers: Programs,
    /// The number of zeros that may stand between two files and after them.
    pub padding: [usize; 2],
    /// Options for quick compression.
    pub quick: &'static [&'static str],
    /// Options, and a number of bytes that are several blocks with them.
    pub several_blocks: (&'static [&'static str], usize),
    /// Options with which 10,000 bytes are several blocks, or none.
    pub small_blocks: &'static [&'static str],
    /// Bytes that may stand before a file.
    pub before: &'static [u8],
    /// The source of the sizes in a listing.
    pub listed_by: &'static str,
    /// The offset of a byte, in a file with `small_blocks`, that listing does not look at.
    pub unlisted_byte: Option<usize>,
    /// The name of a stage in the plan.
    pub stage: &'static str,
    /// Options for making the file that is damaged.
    pub damaged: &'static [&'static str],
    /// The number of bytes to cut off, and a part of the message for that.
    pub cut: (usize, &'static str),
    /// Further bad files.
    pub bad: &'static [BadFile],
    /// Wrong arguments, and a part of the message for them.
    pub mistakes: &'static [(&'static [&'static str], &'static str)],
    pub bomb: Option<Bomb>,
}

/// A small file with large contents: several times 100 MB of zeros.
pub struct Bomb {
    pub options: &'static [&'static str],
    /// The exclusive upper limit of the file's size, in bytes.
    pub most: usize,
    pub times: usize,
    /// The address space that is enough for two threads, in KiB.
    pub kib: u32,
}

pub static GZIP: Format = Format {
    name: "gzip",
    suffix: ".gz",
    archive_suffix: ".tgz",
    magic: b"\x1f\x8b",
    inputs: || {
        let mixed = [prose(300_000), noise(200_000, 4)].concat();
        vec![vec![], vec![b'x'], prose(70_001), noise(300_000, 3), mixed]
    },
    option_sets: &[&["-1"], &["-6", "-b64K"], &["-9", "-b4K", "-p3"]],
    readers: &[
        ("gzip", &["-dc"]),
        ("pigz", &["-dc", "-p2"]),
        ("bgzip", &["-dc"]),
        ("crabz", &["-Q", "-d", "-p2"]),
        ("libdeflate-gzip", &["-dc"]),
        ("igzip", &["-dc"]),
        ("zcat", &[]),
        ("python3", &["-c", "import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.stdin.buffer).read())"]),
    ],
    writers: &[
        ("gzip", &["-1"]),
        ("gzip", &["-9", "-n"]),
        ("pigz", &["-c", "-p2", "-b", "128"]),
        ("pigz", &["-c", "-11", "-I", "1"]),
        ("pigz", &["-c", "-i", "-p2"]),
        ("bgzip", &["-c"]),
        ("bgzip", &["-c", "-@2", "-l9"]),
        ("crabz", &["-Q", "-p2", "-l6"]),
        ("crabz", &["-Q", "-p2", "-fbgzf"]),
        ("libdeflate-gzip", &["-c", "-12"]),
        ("igzip", &["-c", "-0"]),
        (
            "python3",
            &["-c", "import gzip, sys; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read(), 5))"],
        ),
    ],
    padding: [0, 100],
    quick: &["-1"],
    several_blocks: (&["-1", "-b64K"], 500_000),
    small_blocks: &["-b4K"],
    before: b"",
    listed_by: "members",
    unlisted_byte: None,
    stage: "split or inflate",
    damaged: &["-1", "-b64K"],
    cut: (5, "expected more of the member's trailer, found the end of the file; the file was cut short"),
    bad: &[("only a header", |_| b"\x1f\x8b\x08\0".to_vec(), "expected more of the member's header")],
    mistakes: &[
        (&["-0", "x"], "the levels of gzip are 1 to 12"),
        (&["-b", "5M", "x"], "gzip blocks have at most 4M"),
        (&["-s", "1M", "x"], "--dictionary-size is for lzip and xz, not for gzip"),
        (&["-e", "x"], "--extreme is for xz, not for gzip"),
        (&["--long", "x"], "are for zstd"),
    ],
    bomb: None,
};

pub static BZIP2: Format = Format {
    name: "bzip2",
    suffix: ".bz2",
    archive_suffix: ".tbz2",
    magic: b"BZh",
    inputs: || vec![vec![], vec![b'x'], vec![0; 1_000_000], [prose(700_000), noise(300_000, 4)].concat()],
    option_sets: &[&["-1"], &["-9"]],
    readers: &[
        ("bzip2", &["-dc"]),
        ("lbzip2", &["-dc", "-n2"]),
        ("pbzip2", &["-dc", "-p2"]),
        ("python3", &["-c", "import bz2, sys; sys.stdout.buffer.write(bz2.open(sys.stdin.buffer).read())"]),
    ],
    writers: &[
        ("bzip2", &["-1"]),
        ("bzip2", &["-9"]),
        ("lbzip2", &["-c", "-n2"]),
        ("pbzip2", &["-c", "-p2", "-1"]),
        (
            "python3",
            &["-c", "import bz2, sys; sys.stdout.buffer.write(bz2.compress(sys.stdin.buffer.read(), 3))"],
        ),
    ],
    padding: [0, 0],
    quick: &[],
    several_blocks: (&["-1"], 500_000),
    small_blocks: &[],
    before: b"",
    listed_by: "stream",
    unlisted_byte: None,
    stage: "find blocks",
    damaged: &["-1"],
    cut: (5, "expected more of the stream, found the end of the file; the file was cut short"),
    bad: &[
        ("only a header", |_| b"BZh9".to_vec(), "stream 1, block 1: at byte 4: expected more of the stream"),
        (
            "no block",
            |_| b"BZh9 nothing".to_vec(),
            "at byte 4: expected the start of a block or the end of the stream",
        ),
    ],
    mistakes: &[
        (&["-F", "bzip2", "--level", "10", "x"], "the levels of bzip2 are 1 to 9"),
        (&["-F", "bzip2", "-b", "1M", "x"], "--block-size is not for bzip2"),
        (&["-F", "bzip2", "-D", "x", "x"], "are for zstd"),
        (&["-F", "rar", "x"], "invalid value 'rar'"),
    ],
    // Without run-length encoding, each block would take 46 MB.
    bomb: Some(Bomb { options: &[], most: 200, times: 7, kib: 600_000 }),
};

pub static LZIP: Format = Format {
    name: "lzip",
    suffix: ".lz",
    archive_suffix: ".tlz",
    magic: b"LZIP\x01",
    inputs: || vec![vec![], vec![b'x'], vec![0; 3_000_000], [prose(700_000), noise(300_000, 4)].concat()],
    option_sets: &[&["-0"], &["-3", "-b300K"], &["-s64K", "--member-size=100K", "--match-length=20"]],
    readers: &[("lzip.lzip", &["-dc"]), ("plzip", &["-dc", "-n2"]), ("clzip", &["-dc"])],
    writers: &[
        ("lzip.lzip", &["-c", "-0"]),
        ("lzip.lzip", &["-c", "-4", "-b", "200k"]),
        ("plzip", &["-c", "-n2", "-B", "100k"]),
        ("plzip", &["-c", "-n2", "-0"]),
        ("clzip", &["-c"]),
    ],
    padding: [0, 0],
    quick: &["-0"],
    several_blocks: (&["-1", "-b64K"], 500_000),
    small_blocks: &["-b4K"],
    before: b"",
    listed_by: "members",
    unlisted_byte: Some(20),
    stage: "split or decode",
    damaged: &["-1", "-b100K"],
    cut: (5, "expected more of the member's trailer, found the end of the file; the file was cut short"),
    bad: &[
        (
            "only a header",
            |_| b"LZIP\x01\x0c".to_vec(),
            "member 1, which begins at byte 0: at byte 6: expected more of the compressed data",
        ),
        ("a damaged header", |file| [file, &b"LZXP\x01\x0c!"[..]].concat(), "that is a damaged header"),
    ],
    mistakes: &[
        (&["-F", "lzip", "--level", "10", "x"], "the levels of lzip are 0 to 9"),
        (&["-F", "lzip", "-s", "600M", "x"], "expected a size from 4K to 512M"),
        (&["-F", "lzip", "--check", "crc32", "x"], "--check is for xz, not for lzip"),
    ],
    bomb: Some(Bomb { options: &["-s4K", "-b1G", "-p1"], most: 20_000, times: 7, kib: 600_000 }),
};

pub static XZ: Format = Format {
    name: "xz",
    suffix: ".xz",
    archive_suffix: ".txz",
    magic: b"\xfd7zXZ\0",
    inputs: || vec![vec![], vec![b'x'], vec![0; 1_000_000], [prose(350_000), noise(150_000, 4)].concat()],
    option_sets: &[
        &["-0"],
        &["-1e", "-b300K", "--check", "sha256"],
        &["-s64K", "-b100K", "--check=none"],
        &["--check=crc32"],
    ],
    readers: &[
        ("xz", &["-dc"]),
        ("xz", &["-dc", "-T2"]),
        ("python3", &["-c", "import lzma, sys; sys.stdout.buffer.write(lzma.open(sys.stdin.buffer).read())"]),
    ],
    // These include writers of the older format.
    writers: &[
        ("xz", &["-c", "-0"]),
        ("xz", &["-c", "-T2", "--block-size=200KiB"]),
        ("xz", &["-c", "-T2", "-0", "-C", "none"]),
        ("xz", &["-c", "-0", "-C", "sha256", "--flush-timeout=1"]),
        ("xz", &["-c", "--x86", "--delta=dist=2", "--lzma2=preset=1"]),
        ("xz", &["-c", "--format=lzma"]),
        ("pixz", &["-t", "-1"]),
        (
            "python3",
            &["-c", "import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read()))"],
        ),
    ],
    padding: [8, 0],
    quick: &["-0"],
    several_blocks: (&["-1", "-b64K"], 500_000),
    small_blocks: &["-b4K"],
    before: b"",
    listed_by: "members",
    unlisted_byte: Some(50),
    stage: "split or decode",
    damaged: &["-1", "-b100K"],
    cut: (5, "expected more of the stream's footer, found the end of the file; the file was cut short"),
    bad: &[
        (
            "only a header",
            |file| file[..12].to_vec(),
            "stream 1, block 1: at byte 12: expected more of the compressed data",
        ),
        ("an unknown check", |_| b"\xfd7zXZ\0\x00\x02\xc9\xd8\x17\xb0".to_vec(), "expected a"),
    ],
    mistakes: &[
        (&["-F", "xz", "--level", "10", "x"], "the levels of xz are 0 to 9"),
        (&["-F", "xz", "--check", "md5", "x"], "invalid value 'md5'"),
    ],
    bomb: None,
};

pub static ZSTD: Format = Format {
    name: "zstd",
    suffix: ".zst",
    archive_suffix: ".tzst",
    magic: b"\x28\xb5\x2f\xfd",
    inputs: || vec![vec![], vec![b'x'], vec![0; 10_000_000], [prose(5_000_000), noise(300_000, 4)].concat()],
    option_sets: &[&["-1"], &[], &["-9", "--no-check"], &["--level=12", "-b", "100K"], &["--long=24"]],
    readers: &[("zstd", &["-dcq"]), ("pzstd", &["-dcq"])],
    writers: &[
        ("zstd", &["-cq"]),
        ("zstd", &["-cq", "-9", "-T2", "--stream-size"]),
        ("pzstd", &["-cq", "-p2"]),
    ],
    padding: [0, 0],
    quick: &[],
    several_blocks: (&["-1"], 9_000_000),
    small_blocks: &[],
    // A skippable frame.
    before: b"\x51\x2a\x4d\x18\x02\0\0\0no",
    listed_by: "members",
    unlisted_byte: None,
    stage: "split or decode",
    damaged: &["-b", "100K"],
    cut: (50, "found the end of the file; the file was cut short"),
    bad: &[
        (
            "only magic bytes",
            |_| b"\x28\xb5\x2f\xfd".to_vec(),
            "frame 1, which begins at byte 0: at byte 4: expected more of the frame's header, found the end of the file",
        ),
        (
            "a window of 256 MiB",
            |_| b"\x28\xb5\x2f\xfd\0\x90\x01\0\0".to_vec(),
            "found one of 268435456; if there is memory for that, allow it with --long=28",
        ),
    ],
    mistakes: &[
        (&["-F", "zstd", "--level", "20", "x"], "allow it with --ultra"),
        (&["-F", "zstd", "--level", "23", "x"], "23 is not in 0..=22"),
    ],
    bomb: Some(Bomb { options: &[], most: 20_000, times: 10, kib: 500_000 }),
};
