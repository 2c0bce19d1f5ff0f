//! Truncated files and streams that pause: all that can be decoded is written.

use std::io::{Cursor, Read, Write};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use flate2::write::{GzEncoder, ZlibEncoder};

use crate::support::{Folder, fed, have, noise, program, prose, through};

/// The size of the contents of the truncated files, in bytes.
const LEN: usize = 1_500_000;

/// The options for the workers that decode.
const WORKERS: [&[&str]; 4] = [&["-p1"], &["-p2"], &["-p4"], &["-p3", "--speculate", "always"]];

/// Files with the contents `data`: the name of the case, the file, and a program that reads it, if there is one.
fn files(data: &[u8]) -> Vec<(&'static str, Vec<u8>, Option<&'static str>)> {
    let folder = Folder::new();
    folder.write("x", data);
    let ours = [
        ("gzip", &[][..], Some("gzip")),
        ("gzip in small blocks", &["-b64K"], Some("gzip")),
        ("gzip in members", &["--members", "-b300K"], None),
        ("bgzf", &["--bgzf"], None),
        ("zlib", &["-F", "zlib"], None),
        ("zip", &["-F", "zip"], None),
        ("bzip2", &["-F", "bzip2", "-1"], None),
        ("lzip", &["-F", "lzip", "-0"], Some("lzip.lzip")),
        ("xz", &["-F", "xz", "-0", "-b500K"], Some("xz")),
        ("zstd", &["-F", "zstd", "-b400K"], Some("zstd")),
        ("zstd in frames", &["-F", "zstd", "--frames", "-b400K"], Some("zstd")),
    ];
    let theirs = [
        ("gzip's", "gzip", &["-c"][..], Some("gzip")),
        ("compress's", "compress", &["-c"], None),
        ("lzip's", "lzip.lzip", &["-0c"], Some("lzip.lzip")),
        ("xz's", "xz", &["-0cT1"], Some("xz")),
        ("lzma's", "xz", &["-0c", "--format=lzma"], Some("xz")),
        ("zstd's", "zstd", &["-c"], Some("zstd")),
    ];
    let made = ours.map(|(what, how, reader)| {
        let file = folder.abz(&[how, &["-c", "x"]].concat()).exits(0).stdout();
        (what, file, reader)
    });
    let theirs = theirs
        .into_iter()
        .filter_map(|(what, tool, how, reader)| Some((what, through(tool, how, data)?, reader)));
    made.into_iter().chain(theirs).collect()
}

#[test]
fn of_a_cut_file_comes_out_what_can_be_decoded_and_then_the_error() {
    let (folder, data) = (Folder::new(), prose(LEN));
    for (what, file, reader) in files(&data) {
        // In a zip file, a directory follows the data.
        let tail = if what == "zip" { 200 } else { 3 };
        for cut in [5000, file.len() / 3, file.len() / 2, file.len() - tail] {
            let start = &file[..cut];
            folder.write("cut", start);
            let found = WORKERS.map(|workers| {
                let ran = folder.abz_fed(&[&["-dc"], workers].concat(), start);
                // A compress file does not record where it ends.
                if what != "compress's" {
                    let told = ran.stderr();
                    assert!(told.contains("cut short") && told.lines().count() == 1, "{what} {cut}: {told}");
                    assert_eq!(ran.status(), Some(1), "{what}");
                }
                ran.stdout()
            });
            assert!(found[1..].iter().all(|other| *other == found[0]), "{what} cut at {cut}");
            assert!(folder.abz(&["-dc", "-p2", "cut"]).stdout() == found[0], "{what} cut at {cut}");
            let found = &found[0];
            assert!(data.starts_with(found), "{what} cut at {cut}");
            // The contents are equally compressible everywhere. Only complete blocks of bzip2 and zstd are decoded.
            let expected = data.len() as u64 * cut as u64 / file.len() as u64;
            let most_held = match what {
                "bzip2" => 150_000,
                // Later codes stand for longer strings.
                "compress's" => 100_000,
                _ if what.starts_with("zstd") => 140_000,
                _ => 20_000,
            };
            assert!(found.len() as u64 + most_held > expected, "{what} cut at {cut}: {}", found.len());
            if let Some(reader) = reader
                && have(reader)
            {
                let mut command = program(reader);
                command.arg("-dc");
                let theirs = fed(command, start).stdout;
                // lzip goes on with an incomplete code of the range coder.
                let less = theirs.len().saturating_sub(found.len());
                let most = if reader == "lzip.lzip" { 100 } else { 0 };
                assert!(less <= most, "{what} cut at {cut}: {less} bytes less");
            }
            // No output file is left behind.
            if what != "compress's" {
                folder.abz(&["-d", "-o", "out", "cut"]).exits(1);
                assert_eq!(folder.names(), ["cut"], "{what}");
            }
        }
    }
}

#[test]
fn of_a_cut_file_only_whole_blocks_come_out_if_that_is_asked_for() {
    let (folder, data) = (Folder::new(), prose(LEN));
    for (how, block) in [
        (&["-b64K"][..], 64 << 10),
        (&["--members", "-b64K"], 64 << 10),
        (&["-F", "lzip", "-0", "-b100K"], 100 << 10),
        (&["-F", "xz", "-0", "-b100K"], 100 << 10),
        (&["-F", "zstd", "-b400K"], 400 << 10),
    ] {
        let file = folder.abz_fed(&[how, &["-c"]].concat(), &data).exits(0).stdout();
        for processes in ["-p1", "-p2"] {
            let ran = folder.abz_fed(&["-dc", "--whole-blocks", processes], &file[..file.len() / 2]).exits(1);
            let found = ran.stdout();
            assert!(data.starts_with(&found) && found.len() % block == 0, "{how:?}: {}", found.len());
            assert!(found.len() + 2 * block > LEN / 2, "{how:?}: {}", found.len());
        }
    }
}

#[test]
fn nothing_comes_out_of_a_whole_block_that_is_damaged() {
    let (folder, data) = (Folder::new(), prose(LEN));
    let mut file = folder.abz_fed(&["-b300K", "-c"], &data).exits(0).stdout();
    let at = file.len() / 2;
    file[at] ^= 0x55;
    for cut in [file.len(), file.len() - 100] {
        let found = folder.abz_fed(&["-dc", "-p2"], &file[..cut]).exits(1).stdout();
        assert!(found.len() == 600 << 10 && data.starts_with(&found), "{}", found.len());
    }
}

/// Writes `pieces` to the standard input of `abz -dc`. Each is written once the contents of the one before have been
/// read.
fn comes_out_at_once(what: &str, workers: &[&str], pieces: &[(Vec<u8>, Vec<u8>)]) {
    let folder = Folder::new();
    comes_out_of_at_once(folder.command(&[&["-dc"], workers].concat()), what, workers, pieces);
}

/// As [`comes_out_at_once`], with another command line.
fn comes_out_of_at_once(mut abz: Command, what: &str, workers: &[&str], pieces: &[(Vec<u8>, Vec<u8>)]) {
    let mut abz = abz.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (abz.stdin.take().unwrap(), abz.stdout.take().unwrap());
    for (piece, contents) in pieces {
        input.write_all(piece).unwrap();
        let mut found = vec![0; contents.len()];
        // The test hangs here if the contents are not written.
        output.read_exact(&mut found).unwrap();
        assert!(found == *contents, "{what} {workers:?}");
    }
    drop(input);
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty() && abz.wait().unwrap().success(), "{what} {workers:?}");
}

/// Compresses each of the contents, and flushes the encoder after each. Returns the pieces with their contents.
fn flushed<W: Write>(
    mut encoder: W,
    contents: &[Vec<u8>],
    taken: impl Fn(&mut W) -> Vec<u8>,
    end: impl FnOnce(W) -> Vec<u8>,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut pieces = Vec::new();
    for contents in contents {
        encoder.write_all(contents).unwrap();
        encoder.flush().unwrap();
        pieces.push((taken(&mut encoder), contents.clone()));
    }
    pieces.push((end(encoder), Vec::new()));
    pieces
}

#[test]
fn what_is_there_of_a_stream_that_pauses_comes_out_at_once() {
    let contents = [b"a".to_vec(), prose(100), prose(50_000), b"b".to_vec(), prose(700_000), b"c\n".to_vec()];
    let level = flate2::Compression::new(6);
    let take = std::mem::take::<Vec<u8>>;
    let gzip = flushed(
        GzEncoder::new(Vec::new(), level),
        &contents,
        |encoder| take(encoder.get_mut()),
        |encoder| encoder.finish().unwrap(),
    );
    let zlib = flushed(
        ZlibEncoder::new(Vec::new(), level),
        &contents,
        |encoder| take(encoder.get_mut()),
        |encoder| encoder.finish().unwrap(),
    );
    for workers in WORKERS {
        comes_out_at_once("gzip", workers, &gzip);
        comes_out_at_once("zlib", workers, &zlib);
        // Members that come one after another.
        let members = contents.clone().map(|contents| {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(&contents).unwrap();
            (encoder.finish().unwrap(), contents)
        });
        comes_out_at_once("members", workers, &members);
    }
}

#[test]
fn blocks_of_zstd_come_out_when_they_are_there() {
    // A frame of stored blocks that does not record its size (RFC 8878, section 3.1.1).
    let block = |data: &[u8], is_last: u32| {
        let header = (data.len() as u32) << 3 | is_last;
        [&header.to_le_bytes()[..3], data].concat()
    };
    let contents = [b"a".to_vec(), prose(100_000), b"b".to_vec()];
    let mut pieces: Vec<_> = contents.into_iter().map(|contents| (block(&contents, 0), contents)).collect();
    pieces[0].0.splice(..0, *b"\x28\xb5\x2f\xfd\x00\x58");
    pieces.push((block(b"", 1), Vec::new()));
    for workers in WORKERS {
        comes_out_at_once("zstd", workers, &pieces);
    }
}

#[test]
fn a_whole_file_comes_out_before_another_one_follows_in_the_pipe() {
    let folder = Folder::new();
    let contents = [b"a".to_vec(), prose(300_000), b"b".to_vec()];
    for format in ["gzip", "bzip2", "lzip", "xz", "zstd"] {
        let pieces = contents
            .clone()
            .map(|contents| (folder.abz_fed(&["-F", format, "-1"], &contents).exits(0).stdout(), contents));
        for workers in WORKERS {
            comes_out_at_once(format, workers, &pieces);
        }
    }
}

#[test]
fn what_is_there_of_streams_that_other_programs_flush_comes_out_at_once() {
    if !have("python3") {
        return;
    }
    // A script that compresses with the encoders of xz and lzma.
    let script = "import lzma, sys\n\
        data = sys.stdin.buffer.read(); e = lzma.LZMACompressor(format=int(sys.argv[1]))\n\
        out = e.compress(data) + e.flush(); sys.stdout.buffer.write(out)";
    let data = prose(900_000);
    for (what, format) in [("xz", "1"), ("lzma", "2")] {
        let mut python = program("python3");
        python.args(["-c", script, format]);
        let file = fed(python, &data).stdout;
        // Half of the file determines most of the contents up to there, but not all.
        let half = file.len() / 2;
        for workers in WORKERS {
            let pieces = [
                (file[..half].to_vec(), data[..400_000].to_vec()),
                (file[half..].to_vec(), data[400_000..].to_vec()),
            ];
            comes_out_at_once(what, workers, &pieces);
        }
    }
}

#[test]
fn what_is_there_of_a_member_of_lzip_that_pauses_comes_out_at_once() {
    let (folder, data) = (Folder::new(), prose(900_000));
    let file = folder.abz_fed(&["-F", "lzip", "-0"], &data).exits(0).stdout();
    // Half of the file determines most of the contents up to there, but not all.
    let half = file.len() / 2;
    let pieces = [
        (file[..half].to_vec(), data[..400_000].to_vec()),
        (file[half..].to_vec(), data[400_000..].to_vec()),
    ];
    for workers in WORKERS {
        comes_out_at_once("lzip", workers, &pieces);
    }
    symlink(env!("CARGO_BIN_EXE_abz"), folder.path("lzip")).unwrap();
    let mut lzip = program(folder.path("lzip"));
    lzip.arg("-dc");
    comes_out_of_at_once(lzip, "lzip", &[], &pieces);
}

/// Compresses `lines` with lzlib, and flushes it after each line. Returns the piece of each line and that of the end.
/// `None` if lzlib is missing.
fn flushed_by_lzlib(lines: &[u8]) -> Option<Vec<Vec<u8>>> {
    // plzip comes with lzlib.
    if !have("python3") || !have("plzip") {
        return None;
    }
    // The script writes the piece of each line, preceded by its length.
    let script = "import ctypes, sys\n\
        lz = ctypes.CDLL('liblz.so.1'); lz.LZ_compress_open.restype = ctypes.c_void_p\n\
        encoder = ctypes.c_void_p(lz.LZ_compress_open(1 << 16, 36, ctypes.c_ulonglong(1 << 40)))\n\
        buffer = ctypes.create_string_buffer(1 << 16)\n\
        def read():\n    \
            out = b''\n    \
            while (len := lz.LZ_compress_read(encoder, buffer, 1 << 16)) > 0: out += buffer.raw[:len]\n    \
            return out\n\
        def give(out): sys.stdout.buffer.write(len(out).to_bytes(8, 'little') + out)\n\
        for line in sys.stdin.buffer:\n    \
            out = b''\n    \
            while line:\n        \
                line = line[lz.LZ_compress_write(encoder, line, len(line)):]\n        \
                out += read()\n    \
            lz.LZ_compress_sync_flush(encoder); give(out + read())\n\
        lz.LZ_compress_finish(encoder); give(read())";
    let mut python = program("python3");
    python.args(["-c", script]);
    let made = fed(python, lines).stdout;
    let (mut rest, mut pieces) = (&made[..], Vec::new());
    while let Some((len, more)) = rest.split_first_chunk() {
        let (piece, more) = more.split_at(u64::from_le_bytes(*len) as usize);
        pieces.push(piece.to_vec());
        rest = more;
    }
    Some(pieces)
}

#[test]
fn what_lzlib_flushes_comes_out_at_once() {
    let line = |len| [prose(len).into_iter().map(|byte| byte.max(b' ')).collect(), b"\n".to_vec()].concat();
    let contents =
        [b"a\n".to_vec(), line(100), line(50_000), b"b\n".to_vec(), line(700_000), b"c\n".to_vec()];
    let Some(pieces) = flushed_by_lzlib(&contents.concat()) else { return };
    assert_eq!(pieces.len(), contents.len() + 1);
    let pieces: Vec<_> = pieces.into_iter().zip(contents.iter().cloned().chain([Vec::new()])).collect();
    for workers in WORKERS {
        comes_out_at_once("lzlib", workers, &pieces);
    }
    // The result is also decoded like any other file.
    let (folder, file) =
        (Folder::new(), pieces.iter().flat_map(|(piece, _)| piece).copied().collect::<Vec<_>>());
    folder.write("x.lz", &file.repeat(2));
    for workers in WORKERS {
        let found = folder.abz(&[&["-dc", "x.lz"], workers].concat()).exits(0).stdout();
        assert!(found == contents.concat().repeat(2), "{workers:?}");
    }
    for tool in ["lzip.lzip", "plzip"] {
        let theirs = through(tool, &["-dc"], &file);
        assert!(theirs.is_none_or(|theirs| theirs == contents.concat()), "{tool}");
    }
}

#[test]
fn a_large_member_of_lzip_whose_first_flush_comes_late_is_read_from_a_file() {
    // With incompressible lines and little memory, the first flush lies past the bytes that are held.
    let line = |seed| {
        let line = noise(700_000, seed).into_iter().map(|byte| byte.max(b' '));
        line.chain([b'\n']).collect::<Vec<_>>()
    };
    let (first, contents) = (line(1), [line(1), line(2), b"end\n".to_vec()].concat());
    let Some(pieces) = flushed_by_lzlib(&contents) else { return };
    let (folder, flush, file) = (Folder::new(), pieces[0].len(), pieces.concat());
    folder.write("x.lz", &file.repeat(2));
    let little = ["--memlimit", "2M"];
    for workers in WORKERS {
        let options = [&little[..], workers].concat();
        let found = folder.abz(&[&["-dc", "x.lz"], &options[..]].concat()).exits(0).stdout();
        assert!(found == contents.repeat(2), "{workers:?}");
        folder.abz(&[&["-t", "x.lz"], &options[..]].concat()).exits(0).says("");
        let range = ["-dc", "--range", "600000..1500000", "x.lz"];
        let found = folder.abz(&[&range, &options[..]].concat()).exits(0).stdout();
        assert!(found == contents.repeat(2)[600_000..1_500_000], "{workers:?}");
        folder.abz(&[&["--index", "-f", "x.lz"], &options[..]].concat()).exits(0);
        // All output for a pipe is right.
        let ran = folder.abz_fed(&[&["-dc"], &options[..]].concat(), &file).exits(1);
        let (said, out) = (ran.stderr(), ran.stdout());
        assert!(out == first, "{workers:?}");
        // lzlib writes several markers of about ten bytes.
        let place = "standard input: member 1, which begins at byte 0: at byte ";
        let at = said.split_once(place).and_then(|(_, rest)| rest.split_once(':')?.0.parse().ok());
        assert!(at.is_some_and(|at| (flush - 50..flush).contains(&at)), "{said}");
        assert!(said.contains("can only be read from a regular file"), "{said}");
    }
    folder.abz(&["-dk", "x.lz", little[0], little[1]]).exits(0);
    assert!(folder.read("x") == contents.repeat(2));
    // A program needs an input that can seek.
    for workers in [1, 3] {
        let builder = abz::ReaderBuilder::new().memory_limit(2 << 20).workers(workers);
        let mut found = Vec::new();
        builder.clone().open(folder.path("x.lz")).unwrap().read_to_end(&mut found).unwrap();
        assert!(found == contents.repeat(2), "{workers} workers");
        found.clear();
        builder.clone().build_seekable(Cursor::new(&file)).unwrap().read_to_end(&mut found).unwrap();
        assert!(found == contents, "{workers} workers");
        found.clear();
        let error = builder.build(&file[..]).unwrap().read_to_end(&mut found).unwrap_err();
        assert!(error.to_string().contains("found a flush in it"), "{error}");
        assert!(found == first, "{workers} workers");
    }
}
