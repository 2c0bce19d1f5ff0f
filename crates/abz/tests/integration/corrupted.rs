//! Corrupted files of every format, given to the real binary. It must not panic, hang or exceed its memory, and must
//! agree with the tool of the format on the contents of files that it accepts.
//!
//! `ABZ_SOAK=50 cargo test --release -p abz --test integration corrupted` tests 10,000 files of each format.

use std::fs;

use crate::support::{Folder, Random, damaged, fed, have, noise, program, prose, rounds, through};
use abz::program::facts;
use abz::{Compression, Format, Setting};

/// The address space of each run in KiB, enough for two threads with any file.
const MEMORY: u32 = 3 << 20;

/// The time limit of a run in seconds.
const PATIENCE: u32 = 100;

/// The number of files in a run.
const BATCH: u64 = 100;

fn compress(data: &[u8], compression: &Compression) -> Vec<u8> {
    let mut file = Vec::new();
    abz::compress(data, &mut file, compression).unwrap();
    file
}

/// Undamaged files of a format, of one part and of several, made by abz and by the tool.
fn corpus(format: Format, tool: &str) -> Vec<Vec<u8>> {
    let data = [prose(9000), noise(3000, 1), vec![7; 9000]].concat();
    let theirs = through(tool, &["-c"], &data);
    let mut files: Vec<Vec<u8>> = theirs.into_iter().collect();
    if facts(format).is_written {
        let level = *format.levels().start();
        let several = format.has(Setting::BlockSize).then_some(5000);
        for block_size in [None, several] {
            let compression = Compression { format, level, block_size, workers: 1, ..Default::default() };
            files.push(compress(&data, &compression));
            files.push(compress(&prose(500), &compression).repeat(3));
        }
    }
    files
}

/// Damages files of the format, and decodes them with abz and with the command line `tool`.
fn corrupted_files_do_no_harm(format: Format, compressor: &str, tool: &[&str]) {
    let corpus = corpus(format, compressor);
    if corpus.is_empty() || !have(tool[0]) {
        return;
    }
    let (mut accepted, mut refused) = (0, 0);
    let batches = rounds(2);
    for batch in 0..batches {
        let folder = Folder::new();
        let mut random = Random(batch);
        let mut names = Vec::new();
        for number in 0..BATCH {
            let mut file = corpus[random.below(corpus.len() as u64) as usize].clone();
            for _ in 0..=random.below(3) {
                if file.len() > 40 {
                    file = damaged(&file, &mut random).1;
                }
            }
            let name = format!("{number:02}{}", format.suffix());
            folder.write(&name, &file);
            names.push(name);
        }
        let limits = format!("ulimit -v {MEMORY}; exec timeout {PATIENCE} \"$@\"");
        let mut command = program("sh");
        command.current_dir(folder.path(""));
        command.args(["-c", &limits, "sh", env!("CARGO_BIN_EXE_abz"), "-dkqf", "-p2"]).args(&names);
        let output = fed(command, b"");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0..=2)), "batch {batch}: {:?}: {said}", output.status);
        assert!(!said.contains("panicked"), "batch {batch}: {said}");
        for name in &names {
            let plain = name.strip_suffix(format.suffix()).unwrap();
            let Ok(ours) = fs::read(folder.path(plain)) else {
                refused += 1;
                continue;
            };
            accepted += 1;
            let mut command = program(tool[0]);
            command.args(&tool[1..]);
            let theirs = fed(command, &folder.read(name));
            assert!(theirs.stdout == ours, "batch {batch}, {name}: {tool:?} gives something else");
        }
    }
    assert!(refused > accepted || format == Format::Compress, "{accepted} accepted, {refused} refused");
    println!("{format}: {accepted} accepted, {refused} refused");
}

#[test]
fn of_gzip() {
    corrupted_files_do_no_harm(Format::Gzip, "gzip", &["gzip", "-dcq"]);
}

#[test]
fn of_bzip2() {
    corrupted_files_do_no_harm(Format::Bzip2, "bzip2", &["bzip2", "-dcq"]);
}

#[test]
fn of_lzip() {
    corrupted_files_do_no_harm(Format::Lzip, "lzip", &["lzip", "-dcq"]);
}

#[test]
fn of_xz() {
    corrupted_files_do_no_harm(Format::Xz, "xz", &["xz", "-dcq"]);
}

#[test]
fn of_zstd() {
    corrupted_files_do_no_harm(Format::Zstd, "zstd", &["zstd", "-dcq"]);
}

#[test]
fn of_compress() {
    corrupted_files_do_no_harm(Format::Compress, "compress", &["gzip", "-dcq"]);
}

/// Damages files, and compares what `abz -dc` writes of them from a file and from a pipe: it must be the same. If
/// abz streams the format, it is at least what `tool` writes.
fn what_can_be_decoded_is_written(format: Format, compressor: &[&str], tool: Option<&[&str]>) {
    let data = [prose(150_000), noise(3000, 1), vec![7; 9000], prose(40_000)].concat();
    let theirs = match have(compressor[0]) {
        true => through(compressor[0], &compressor[1..], &data),
        false => None,
    };
    let mut files: Vec<Vec<u8>> = theirs.into_iter().collect();
    files.extend(through(compressor[0], &compressor[1..], &noise(3000, 2)).filter(|_| !files.is_empty()));
    if facts(format).is_written {
        for block_size in [None, format.has(Setting::BlockSize).then_some(50_000)] {
            let level = *format.levels().start();
            let compression = Compression { format, level, block_size, workers: 1, ..Default::default() };
            files.push(compress(&data, &compression));
        }
    }
    let tool = tool.filter(|tool| have(tool[0]));
    let folder = Folder::new();
    let mut random = Random(4);
    for round in 0..rounds(12) {
        for (number, file) in files.iter().enumerate() {
            let file = match round % 3 {
                // The end is where checksums are.
                0 => {
                    let mut file = file.clone();
                    let at = file.len() - 1 - random.below(12) as usize;
                    file[at] ^= 1 << random.below(8);
                    file
                }
                1 => file[..1 + random.below(file.len() as u64 - 1) as usize].to_vec(),
                _ => damaged(file, &mut random).1,
            };
            let name = format!("x{}", format.suffix());
            folder.write(&name, &file);
            let from_file = folder.abz(&["-dcq", &name]).0;
            let from_pipe = folder.abz_fed(&["-dcq"], &file).0;
            let place = format!("{format}, file {number}, round {round}");
            assert_eq!(from_file.stdout.len(), from_pipe.stdout.len(), "{place}: a file and a pipe");
            assert!(from_file.stdout == from_pipe.stdout, "{place}: a file and a pipe differ");
            assert_eq!(from_file.status, from_pipe.status, "{place}");
            if let (Some(tool), true) = (tool, number < 2) {
                let mut command = program(tool[0]);
                command.args(&tool[1..]);
                let theirs = fed(command, &file).stdout;
                assert!(
                    from_file.stdout.starts_with(&theirs),
                    "{place}: {tool:?} writes {}, abz {}",
                    theirs.len(),
                    from_file.stdout.len()
                );
            }
        }
    }
}

#[test]
fn what_can_be_decoded_of_gzip_is_written() {
    // gzip itself goes on after a distance that reaches before the start of the contents.
    what_can_be_decoded_is_written(Format::Gzip, &["gzip", "-c"], Some(&["pigz", "-dcq"]));
}

#[test]
fn what_can_be_decoded_of_zstd_is_written() {
    what_can_be_decoded_is_written(Format::Zstd, &["zstd", "-qc"], Some(&["zstd", "-dcq"]));
}

#[test]
fn what_can_be_decoded_of_lzma_is_written() {
    what_can_be_decoded_is_written(Format::Lzma, &["xz", "--format=lzma", "-c"], Some(&["xz", "-dcq"]));
}

#[test]
fn what_is_verified_of_bzip2_lzip_and_xz_is_written() {
    what_can_be_decoded_is_written(Format::Bzip2, &["bzip2", "-c"], None);
    what_can_be_decoded_is_written(Format::Lzip, &["lzip", "-c"], None);
    what_can_be_decoded_is_written(Format::Xz, &["xz", "-c"], None);
}
