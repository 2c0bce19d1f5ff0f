//! Files that end too soon, and streams that pause: what can be decoded comes out.

use std::io::{Read, Write};
use std::process::Stdio;

use flate2::write::{GzEncoder, ZlibEncoder};

use crate::support::{Folder, fed, have, program, prose, through};

/// How large the contents are that are cut.
const LEN: usize = 1_500_000;

/// Who decodes.
const WORKERS: [&[&str]; 4] = [&["-p1"], &["-p2"], &["-p4"], &["-p3", "--speculate", "always"]];

/// Files of `prose(LEN)`, what made them, and a program that reads them, if there is one.
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
        // Behind the data of zip there is a directory.
        let tail = if what == "zip" { 200 } else { 3 };
        for cut in [5000, file.len() / 3, file.len() / 2, file.len() - tail] {
            let start = &file[..cut];
            folder.write("cut", start);
            let found = WORKERS.map(|workers| {
                let ran = folder.abz_fed(&[&["-dc"], workers].concat(), start);
                // Nothing in a file of compress says where it ends.
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
            // The contents are alike everywhere, and blocks of bzip2 and zstd are decoded when they are whole.
            let expected = data.len() as u64 * cut as u64 / file.len() as u64;
            let most_held = match what {
                "bzip2" => 150_000,
                // Its strings become longer.
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
                // lzip goes on with the bytes of a number that has not come as a whole.
                let less = theirs.len().saturating_sub(found.len());
                let most = if reader == "lzip.lzip" { 100 } else { 0 };
                assert!(less <= most, "{what} cut at {cut}: {less} bytes less");
            }
            // Nothing is left of it under a name.
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

/// Writes `pieces` to the standard input of `abz -dc`, each when the contents of the one before have come out.
fn comes_out_at_once(what: &str, workers: &[&str], pieces: &[(Vec<u8>, Vec<u8>)]) {
    let folder = Folder::new();
    let mut abz = folder.command(&[&["-dc"], workers].concat());
    let mut abz = abz.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (abz.stdin.take().unwrap(), abz.stdout.take().unwrap());
    for (piece, contents) in pieces {
        input.write_all(piece).unwrap();
        let mut found = vec![0; contents.len()];
        // It hangs here if they do not come out.
        output.read_exact(&mut found).unwrap();
        assert!(found == *contents, "{what} {workers:?}");
    }
    drop(input);
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty() && abz.wait().unwrap().success(), "{what} {workers:?}");
}

/// What an encoder makes of each of the contents, if it is flushed behind each of them.
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
        // A member, and later another one.
        let members = contents.clone().map(|contents| {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(&contents).unwrap();
            (encoder.finish().unwrap(), contents)
        });
        comes_out_at_once("members", workers, &members);
    }
}

#[test]
fn what_is_there_of_streams_that_other_programs_flush_comes_out_at_once() {
    if !have("python3") {
        return;
    }
    // What the encoders of other formats make, each piece with its length before it.
    let script = "import lzma, sys\n\
        data = sys.stdin.buffer.read(); e = lzma.LZMACompressor(format=int(sys.argv[1]))\n\
        out = e.compress(data) + e.flush(); sys.stdout.buffer.write(out)";
    let data = prose(900_000);
    for (what, format) in [("xz", "1"), ("lzma", "2")] {
        let mut python = program("python3");
        python.args(["-c", script, format]);
        let file = fed(python, &data).stdout;
        // No program can know all that follows from half of it, but most.
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
