//! Corrupted files of every format, given to the real binary. It must not panic, hang or exceed its memory, and must
//! agree with the tool of the format on the contents of files that it accepts.
//!
//! `ABZ_SOAK=50 cargo test --release -p abz --test integration corrupted` tests 10,000 files of each format.

use std::fs;

use crate::support::{Folder, Random, damaged, fed, have, noise, program, prose, rounds, through};
use abz::{Compression, Format, Setting};

/// The address space of each run in KiB, enough for two threads with any file.
const MEMORY: u32 = 3 << 20;

/// The time limit of a run in seconds.
const PATIENCE: u32 = 100;

/// The number of files in a run.
const BATCH: u64 = 100;

fn compress(data: &[u8], compression: &Compression) -> Vec<u8> {
    let mut file = Vec::new();
    compression.run(data, &mut file).unwrap();
    file
}

/// Undamaged files of a format, of one part and of several, made by abz and by the tool.
fn corpus(format: Format, tool: &str) -> Vec<Vec<u8>> {
    let data = [prose(9000), noise(3000, 1), vec![7; 9000]].concat();
    let theirs = through(tool, &["-c"], &data);
    let mut files: Vec<Vec<u8>> = theirs.into_iter().collect();
    if format.is_written() {
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
