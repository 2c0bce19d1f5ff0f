//! Special behaviour of zstd.

use crate::support::{Folder, have, noise, prose, through, within_memory};

#[test]
fn a_file_is_one_frame_that_says_its_size_and_several_if_that_is_asked_for() {
    let folder = Folder::new();
    let data = [prose(5_000_000), vec![0; 5_000_000], noise(500_000, 4)].concat();
    folder.write("x", &data);
    folder.abz(&["-k", "-F", "zstd", "x"]).exits(0).says("");
    folder.abz(&["-c", "-F", "zstd", "--frames", "-o", "frames.zst", "x"]).exits(1);
    folder.abz(&["-F", "zstd", "--frames", "-o", "frames.zst", "x"]).exits(0).says("");
    let (one, frames) = (folder.read("x.zst"), folder.read("frames.zst"));
    let surveyed = |file: &[u8]| {
        let survey = abz::zstd::Survey::of(&mut std::io::Cursor::new(file)).unwrap().unwrap();
        (survey.frames, survey.skippable, survey.uncompressed)
    };
    assert_eq!(surveyed(&one), (1, 0, Some(10_500_000)));
    assert_eq!(surveyed(&frames), (3, 1, Some(10_500_000)));
    // Apart from a mark for each block, they are equally large.
    assert!(one.len() < frames.len() + 4 * 100, "{} and {}", one.len(), frames.len());
    for name in ["x.zst", "frames.zst"] {
        for processes in ["-p1", "-p3"] {
            assert!(folder.abz(&["-dc", processes, name]).exits(0).stdout() == data);
        }
        let range = folder.abz(&["--range", "4000000..9000000", name]).exits(0).says("").stdout();
        assert!(range == data[4_000_000..9_000_000]);
        folder.abz(&["--index", "-f", name]).exits(0).says("");
        let lines = folder.abz(&["--line-range", "100..200", name]).exits(0).says("").stdout();
        let expected: Vec<u8> =
            data.split_inclusive(|&byte| byte == b'\n').skip(99).take(101).flatten().copied().collect();
        assert!(lines == expected);
    }
    // Blocks are found independently, so damage elsewhere does not matter.
    let mut damaged = one.clone();
    damaged[one.len() - 1000] ^= 4;
    folder.write("damaged.zst", &damaged);
    assert!(folder.abz(&["--range", "0..5000000", "damaged.zst"]).exits(0).stdout() == data[..5_000_000]);
    folder.abz(&["-t", "damaged.zst"]).exits(1);
    folder.abz(&["-F", "gzip", "--frames", "x"]).exits(1);
}

#[test]
fn an_input_that_grows_or_shrinks_while_it_is_read_is_no_loss() {
    use std::io::{self, Read};
    let data = prose(1_000_000);
    let compression = abz::Compression {
        format: abz::Format::Zstd,
        block_size: Some(100_000),
        contents: Some(600_000),
        ..abz::Compression::default()
    };
    let (mut grown, mut alone) = (Vec::new(), Vec::new());
    abz::compress(&data[..], &mut grown, &compression).unwrap();
    let options =
        abz::program::RunOptions { tools: Some(&abz::Tools::new()), ..abz::program::RunOptions::default() };
    abz::program::compress_with(&data[..], &mut alone, &compression, options).unwrap();
    assert!(grown == alone);
    let mut back = Vec::new();
    abz::decompress(&grown[..], &mut back, &abz::Decompression::default()).unwrap();
    assert!(back == data);
    // The first frame has the contents up to the expected size.
    let survey = abz::zstd::Survey::of(&mut io::Cursor::new(&grown)).unwrap().unwrap();
    assert_eq!((survey.frames, survey.uncompressed), (2, Some(1_000_000)));
    let shrunk = abz::compress((&data[..]).take(500_000), Vec::new(), &compression).unwrap_err();
    assert!(shrunk.to_string().contains("expected 100000 bytes more"), "{shrunk}");
    // Files in /proc and /sys have a size of 0 or of a page, and may hold any number of bytes.
    for contents in [Some(0), Some(4096)] {
        let (mut file, mut back) = (Vec::new(), Vec::new());
        abz::compress(&data[..], &mut file, &abz::Compression { contents, ..compression.clone() }).unwrap();
        abz::decompress(&file[..], &mut back, &abz::Decompression::default()).unwrap();
        assert!(back == data);
    }
}

#[test]
fn levels_below_the_lowest_are_larger_and_come_back() {
    let folder = Folder::new();
    folder.write("x", &prose(300_000));
    let file = |level| folder.abz(&["-c", "-F", "zstd", level, "x"]).exits(0).stdout();
    let (lowest, faster, fastest) = (file("-1"), file("--fast=5"), file("--fast=100"));
    assert!(lowest.len() < faster.len() && faster.len() < fastest.len() && fastest.len() < 300_000);
    assert!(file("--fast") == lowest);
    assert!(folder.abz_fed(&["-d"], &fastest).exits(0).stdout() == prose(300_000));
    for wrong in ["--fast=131073", "--fast=-1", "--fast=x"] {
        folder.abz(&["-c", "-F", "zstd", wrong, "x"]).exits(1);
    }
    folder.abz(&["-c", "--fast=5", "x"]).exits(1);
}

#[test]
fn dictionaries_serve_both_ways() {
    let folder = Folder::new();
    folder.write("raw", &noise(50_000, 1));
    let data = noise(50_000, 1)[10_000..40_000].to_vec();
    folder.write("x", &data);
    folder.abz(&["-F", "zstd", "-D", "raw", "x"]).exits(0).says("");
    let file = folder.read("x.zst");
    assert!(file.len() < 200, "{}", file.len());
    assert!(folder.abz(&["-dc", "-D", "raw", "x.zst"]).exits(0).stdout() == data);
    assert!(folder.abz(&["-dc", "-p1", "-D", "raw", "x.zst", "x.zst"]).exits(0).stdout() == data.repeat(2));
    if have("zstd") {
        let name = folder.path("raw").display().to_string();
        assert!(through("zstd", &["-dcq", "-D", &name], &file).unwrap() == data);
        let theirs = through("zstd", &["-cq", "-D", &name], &data).unwrap();
        assert!(folder.abz_fed(&["-d", "-D", "raw"], &theirs).exits(0).stdout() == data);
    }
    // Without the dictionary, the contents would be wrong and are not written.
    let ran = folder.abz(&["-d", "x.zst"]).exits(1);
    assert!(ran.stderr().starts_with("abz: x.zst: frame 1"), "{}", ran.stderr());
    assert!(!folder.names().contains(&"x".to_owned()));
    let ran = folder.abz(&["-F", "zstd", "-D", "missing", "x.zst"]).exits(1);
    assert!(ran.stderr().contains("the dictionary missing cannot be used"), "{}", ran.stderr());
    // The message has the number of the dictionary.
    folder.write("numbered.zst", b"\x28\xb5\x2f\xfd\x23\x2a\0\0\0\x01\x09\0\0x");
    let ran = folder.abz(&["-t", "numbered.zst"]).exits(1);
    let said = "expected the dictionary with the number 42, found none; name its file with -D";
    assert!(ran.stderr().contains(said), "{}", ran.stderr());
}

#[test]
fn what_is_written_is_verified_with_its_dictionary_too() {
    let folder = Folder::new();
    folder.write("raw", &noise(50_000, 1));
    folder.write("x", &prose(9_000_000));
    folder.write("y", &noise(50_000, 1));
    folder.abz(&["-F", "zstd", "--verify", "--long=28", "-D", "raw", "x", "y"]).exits(0).says("");
    assert_eq!(folder.names(), ["raw", "x.zst", "y.zst"]);
    assert!(folder.read("y.zst").len() < 200);
}

/// A frame of run-length blocks, without the size of its contents and without a checksum.
fn frame_of_runs(blocks: u32, len: u32) -> Vec<u8> {
    let mut frame = b"\x28\xb5\x2f\xfd\0\x60".to_vec();
    for block in 1..=blocks {
        let header = len << 3 | 0b10 | u32::from(block == blocks);
        frame.extend(&header.to_le_bytes()[..3]);
        frame.push(b'x');
    }
    frame
}

#[test]
fn frames_of_any_size_without_a_checksum_have_an_end() {
    let folder = Folder::new();
    // Contents are given out in chunks of 256 KiB.
    for (blocks, len) in [(1, 1 << 17), (2, 1 << 17), (4, 1 << 17), (3, 1 << 17), (8, 1 << 16), (9, 1 << 16)]
    {
        let frame = frame_of_runs(blocks, len);
        for (file, times) in [(frame.clone(), 1), (frame.repeat(3), 3)] {
            for processes in ["-p1", "-p2"] {
                let data = folder.abz_fed(&["-dc", processes], &file).exits(0).stdout();
                assert!(data == vec![b'x'; (times * blocks * len) as usize], "{blocks} blocks of {len}");
            }
        }
        folder.abz_fed(&["-t"], &frame[..frame.len() - 1]).exits(1);
    }
}

#[test]
fn the_header_of_a_file_says_its_size_and_that_of_a_pipe_does_not() {
    let (folder, data) = (Folder::new(), prose(9_000_000));
    folder.write("x", &data);
    let one = folder.abz(&["-c", "-F", "zstd", "-1", "x"]).exits(0).stdout();
    // The size takes 4 bytes. The size of a pipe's contents is unknown before its end.
    let piped = folder.abz_fed(&["-F", "zstd", "-1"], &data).exits(0).stdout();
    assert!(piped[4] == one[4] & 0x3f && piped[5] == one[5] && piped[6..] == one[10..]);
    assert_eq!(one[6..10], 9_000_000u32.to_le_bytes());
}

#[test]
fn what_is_refused_is_done_when_it_is_allowed() {
    let folder = Folder::new();
    let window = b"\x28\xb5\x2f\xfd\0\x90\x01\0\0";
    assert!(folder.abz_fed(&["-d", "--long=28"], window).exits(0).stdout().is_empty());
    folder.write("x", b"x");
    folder.abz(&["-F", "zstd", "--level", "20", "--ultra", "x"]).exits(0);
}

#[test]
fn a_bomb_of_another_program_is_decompressed_in_bounded_memory() {
    if let Some(bomb) = through("zstd", &["-cq"], &vec![0; 1_000_000_000]) {
        assert!(bomb.len() < 200_000);
        within_memory(500_000, &bomb, 1_000_000_000);
    }
}
