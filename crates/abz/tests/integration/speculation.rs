//! Speculative decoding of one gzip member by all workers: output and messages are the same as with one worker.

use std::io::Write;

use abz::{Decompression, Speculation};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::{Folder, Random, damaged, noise, prose};

/// Returns text, noise and zeros in one member, as gzip makes it.
fn file(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn contents() -> Vec<u8> {
    [prose(6_000_000), noise(700_000, 3), vec![0; 3_000_000], prose(1_000_000)].concat()
}

#[test]
fn guesses_give_the_same_bytes_with_any_number_of_threads() {
    let folder = Folder::new();
    let data = contents();
    folder.write("x.gz", &[file(&data), file(b"and more")].concat());
    let data = [&data[..], b"and more"].concat();
    for processes in ["-p1", "-p2", "-p5"] {
        for speculate in ["auto", "always", "never"] {
            let ran = folder.abz(&["-dc", processes, "--speculate", speculate, "x.gz"]).exits(0);
            assert!(ran.stdout() == data, "{processes}, {speculate}");
        }
    }
}

#[test]
fn damage_is_told_as_without_guesses_and_what_is_before_it_comes_out() {
    let data = contents();
    let file = file(&data);
    let mut random = Random(11);
    let run = |file: &[u8], speculation| {
        let mut out = Vec::new();
        let decompression = Decompression { workers: 3, speculation, ..Decompression::default() };
        (abz::decompress(file, &mut out, &decompression).map_err(|error| error.to_string()), out)
    };
    for round in 0..12 {
        let (_, file, _) = damaged(&file, &mut random);
        let (expected, right) = run(&file, Speculation::Never);
        let (result, out) = run(&file, Speculation::Always);
        match (&result, &expected) {
            (Ok(result), Ok(expected)) => assert_eq!(result, expected, "round {round}"),
            _ => assert_eq!(result.err(), expected.err(), "round {round}"),
        }
        // The amount of output depends on the pieces.
        assert!(out.starts_with(&right) || right.starts_with(&out), "round {round}");
    }
}

#[test]
fn explain_says_which_way_and_why() {
    let folder = Folder::new();
    folder.write("x.gz", &file(&contents()));
    let explain = |more: &[&str]| {
        let ran = folder.abz(&[&["-d", "--explain", "x.gz"], more].concat()).exits(0);
        String::from_utf8(ran.stdout()).unwrap()
    };
    let many = explain(&["-p16"]);
    assert!(many.contains("guess") && many.contains("is decoded speculatively, because"), "{many}");
    let one = explain(&["-p1"]);
    assert!(one.contains("is decoded by one worker, because serial decoding is expected to take"), "{one}");
    let forced = explain(&["-p16", "--speculate=never"]);
    assert!(forced.contains("by one worker, as --speculate says"), "{forced}");
}
