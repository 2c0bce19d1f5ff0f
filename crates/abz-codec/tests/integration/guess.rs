//! Pieces of a member that are decoded before the contents before them are known.

use std::io::Write;

use abz_codec::gzip::{DecodeError, Decoder, Guess, Next, SYMBOLS, Scanned, Scanner, Verifier};
use flate2::{Compression, GzBuilder, write::GzEncoder};

use crate::support::*;

/// Decodes a file in pieces of these sizes, each with a guess. Returns the contents, the first error, and the number of
/// guesses that were taken.
pub fn decode_guessing(file: &[u8], mut len: impl FnMut() -> usize) -> (Vec<u8>, Option<DecodeError>, usize) {
    let (mut scanner, mut verifier) = (Scanner::new(), Verifier::new());
    let (mut out, mut data, mut place, mut taken) = (Vec::new(), Vec::new(), 0, 0);
    let mut decode = || {
        while place < file.len() {
            let piece = &file[place..file.len().min(place + len())];
            let (mut rest, mut guess) = (piece, Guess::of(piece, vec![0; SYMBOLS]));
            while let Some(found) = scanner.next_with(&mut rest, (&mut guess, place as u64), &mut data)? {
                match found {
                    Next::Scanned(Scanned::Member(member)) => out.extend(Decoder::new().decode(&member)?),
                    Next::Scanned(Scanned::Data(stretch)) => {
                        verifier.verify(&stretch, &data)?;
                        out.extend_from_slice(&data);
                    }
                    Next::Guessed(stretch, guessed) => {
                        let sum = guessed.resolve_into(&mut data);
                        verifier.verify_summed(&stretch, (sum, data.len() as u64))?;
                        out.extend_from_slice(&data);
                        taken += 1;
                    }
                }
            }
            assert!(rest.is_empty(), "it wants more and has not taken all");
            place += piece.len();
        }
        while let Some(found) = scanner.finish(&mut data)? {
            let Scanned::Data(stretch) = found else { unreachable!("these members do not say their size") };
            verifier.verify(&stretch, &data)?;
            out.extend_from_slice(&data);
        }
        Ok(())
    };
    let error = decode().err();
    (out, error, taken)
}

pub fn gzip(data: &[u8], level: u32, flush_every: usize) -> Vec<u8> {
    let mut encoder: GzEncoder<Vec<u8>> = GzBuilder::new().write(Vec::new(), Compression::new(level));
    for piece in data.chunks(flush_every) {
        encoder.write_all(piece).unwrap();
        encoder.flush().unwrap();
    }
    encoder.finish().unwrap()
}

/// Returns contents with parts for every way in which deflate encodes.
pub fn mixed(len: usize) -> Vec<u8> {
    let mut noise = Noise::new(5);
    let mut data = Vec::new();
    while data.len() < len {
        match noise.below(5) {
            0 => {
                let len = noise.below(50_000);
                data.extend(noise.bytes(len));
            }
            1 => data.resize(data.len() + noise.below(100_000), 7),
            // A stored file, whose blocks are no blocks of this stream.
            2 => data.extend(foreign(&prose(noise.below(200_000)))),
            _ => data.extend(prose(noise.below(300_000))),
        }
    }
    data
}

fn files() -> Vec<Vec<u8>> {
    let all = mixed(2_500_000);
    let small = [&gzip(&prose(200_000), 6, usize::MAX)[..], &gzip(b"", 6, 1), &gzip(b"x", 6, 1)].concat();
    vec![
        gzip(&all, 6, usize::MAX),
        gzip(&all, 1, 100_000),
        gzip(&all, 0, usize::MAX),
        gzip(&Noise::new(3).bytes(900_000), 6, 200_000),
        [gzip(&prose(1_500_000), 9, usize::MAX), gzip(&all, 6, usize::MAX), small].concat(),
    ]
}

#[test]
fn guesses_change_nothing_of_what_comes_out() {
    let mut all_taken = 0;
    for (number, file) in files().iter().enumerate() {
        let right = oracle(file).unwrap();
        for most in [1 << 20, 200_000, 70_000] {
            let mut noise = Noise::new(most as u64);
            let (out, error, taken) = decode_guessing(file, || most / 2 + noise.below(most / 2));
            assert!(error.is_none(), "file {number}: {error:?}");
            assert!(out == right, "file {number}, pieces of up to {most}");
            all_taken += taken;
        }
    }
    assert!(all_taken > 50, "{all_taken} guesses were taken");
}

#[test]
fn damage_is_told_as_without_guesses() {
    let files = files();
    let mut noise = Noise::new(9);
    let mut damaged = 0;
    for seed in 0..40 {
        let mut file = files[noise.below(files.len())].clone();
        let at = noise.below(file.len());
        match noise.below(3) {
            0 => file.truncate(at),
            1 => file[at] ^= 1 << noise.below(8),
            _ => file[at..].iter_mut().take(3).for_each(|byte| *byte = !*byte),
        }
        let (right, expected) = decode(&file);
        let (out, error, _) = decode_guessing(&file, || 100_000);
        let text = |error: &Option<DecodeError>| error.as_ref().map(ToString::to_string);
        assert_eq!(text(&error), text(&expected), "seed {seed}, at {at}");
        // The number of valid bytes before the damage depends on the pieces.
        assert!(out.starts_with(&right) || right.starts_with(&out), "seed {seed}, at {at}");
        damaged += usize::from(expected.is_some());
    }
    assert!(damaged > 30, "{damaged} of the files were damaged");
}
