//! bzip2 in both directions, compared with a port of the reference implementation.
//!
//! Damaged files are tried for a second, or for the given time:
//!
//! ```text
//! ABZ_FUZZ_SECONDS=600 cargo test --release -p abz-codec --test integration bzip2
//! ```

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::support::*;
use abz_codec::bzip2::{Cutter, DecodeError, Encoder, Fault, Level, StreamWriter, decode};

fn level(level: u32) -> Level {
    Level::new(level).unwrap()
}

fn encode(data: &[u8], level: Level) -> Vec<u8> {
    let mut encoder = Encoder::new();
    let (mut cutter, mut input) = (Cutter::new(level), data);
    let mut stream = StreamWriter::new(Vec::new(), level);
    while let Some(block) = cutter.next(&mut input).unwrap().or_else(|| cutter.rest()) {
        stream.write(&encoder.encode_into(&block, Vec::new()).unwrap()).unwrap();
    }
    stream.finish().unwrap()
}

fn their_encode(data: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(level));
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Returns the decoded contents, and the error at the end.
fn our_decode(file: &[u8]) -> (Vec<u8>, Option<DecodeError>) {
    let mut out = Vec::new();
    let error = decode(file, &mut out).err().map(|error| {
        *error.into_inner().unwrap().downcast::<DecodeError>().expect("only the file can be wrong")
    });
    (out, error)
}

fn their_decode(file: &[u8]) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let is_right = bzip2::read::MultiBzDecoder::new(file).read_to_end(&mut out).is_ok();
    (out, is_right)
}

/// Returns inputs of every kind that the format treats differently.
fn inputs() -> Vec<Vec<u8>> {
    let mut inputs = vec![
        Vec::new(),
        b"a".to_vec(),
        prose(250_000),
        Noise::new(1).bytes(250_000),
        vec![0; 300_000],
        b"ab".repeat(150_000),
        prose(1000).repeat(300),
        (0..=255).collect(),
    ];
    // Runs of all lengths around the limits, and some at all places around the end of a block.
    for run in [3, 4, 5, 254, 255, 256, 258, 259, 260, 1000] {
        inputs.push((0..=255).flat_map(|byte| vec![byte; run]).collect());
    }
    let ends = [(4, 99_974), (255, 99_974), (300, 99_974), (300, 99_974 - 250)];
    for (run, from) in ends {
        inputs.extend((from..from + 10).map(|before| [prose(before), vec![b'x'; run], prose(300)].concat()));
    }
    // Runs of any length at any distance, as in text that is indented.
    for seed in 0..12 {
        let mut noise = Noise::new(seed);
        let mut data = Vec::new();
        while data.len() < 220_000 {
            let [byte, kind, len, gap] = noise.bytes(4)[..] else {
                unreachable!("it gives as many as asked for")
            };
            let run = match kind % 16 {
                0 => 245 + usize::from(len % 24),
                1 => usize::from(len) * 5,
                _ => usize::from(len % 10),
            };
            data.resize(data.len() + run, byte % 3);
            data.extend(noise.bytes(usize::from(gap % 40)).iter().map(|byte| byte % 5));
        }
        inputs.push(data);
    }
    inputs
}

#[test]
fn all_inputs_come_back_from_both_and_the_files_are_as_large() {
    for (number, data) in inputs().iter().enumerate() {
        let file = encode(data, level(1));
        let theirs = their_encode(data, 1);
        assert!(
            file.len() <= theirs.len() + theirs.len() / 1000 + 2,
            "{number}: {} for {}",
            file.len(),
            theirs.len()
        );
        assert!(their_decode(&file) == (data.clone(), true), "{number}: the reference does not read it");
        for file in [file, theirs] {
            let (out, error) = our_decode(&file);
            assert!(error.is_none() && out == *data, "{number}: {error:?}");
        }
    }
}

#[test]
fn blocks_are_cut_where_the_reference_cuts_them() {
    // Files with the same blocks end with the same checksum, which depends on each border.
    for data in inputs() {
        let (ours, theirs) = (encode(&data, level(1)), their_encode(&data, 1));
        let checksum = |file: &[u8]| {
            let bits: Vec<u8> =
                file.iter().flat_map(|byte| (0..8).map(move |bit| byte >> (7 - bit) & 1)).collect();
            let end: Vec<u8> = (0..48).map(|bit| (0x1772_4538_5090_u64 >> (47 - bit) & 1) as u8).collect();
            let at = bits.windows(48).rposition(|window| window == end).unwrap();
            bits[at + 48..at + 80].to_vec()
        };
        assert_eq!(checksum(&ours), checksum(&theirs));
    }
}

#[test]
fn every_level_is_right() {
    let data = prose(1_900_000);
    for number in 1..=9 {
        let file = encode(&data, level(number));
        assert_eq!(file[3], b'0' + number as u8);
        assert_eq!(our_decode(&file).0, data);
        assert_eq!(their_decode(&file), (data.clone(), true));
    }
    assert_eq!(Level::new(0).or(Level::new(10)), None);
}

#[test]
fn several_streams_are_one_file_and_garbage_behind_them_is_told() {
    let (one, other) = (prose(1000), prose(150_000));
    let file =
        [encode(&one, level(9)), encode(b"", level(3)), their_encode(&other, 1), encode(&one, level(2))]
            .concat();
    let all = [&one[..], &other, &one].concat();
    let (out, error) = our_decode(&file);
    assert!(out == all && error.is_none(), "{error:?}");
    for garbage in [&b"x"[..], b"\0", b"BZH", b"BZh0", b"garbage of some length", &[0; 3_000_000]] {
        let (out, error) = our_decode(&[&file[..], garbage].concat());
        let error = error.unwrap();
        assert_eq!((out.len(), &error.fault), (all.len(), &Fault::TrailingGarbage), "{garbage:?}");
        assert_eq!(error.offset, file.len() as u64);
    }
    for cut in [&b"B"[..], b"BZ", b"BZh", b"BZh9", b"BZh9\x31\x41"] {
        let (out, error) = our_decode(&[&file[..], cut].concat());
        assert_eq!((out.len(), error.unwrap().fault), (all.len(), Fault::Truncated), "{cut:?}");
    }
}

#[test]
fn what_is_no_bzip2_file_is_told() {
    for file in [&b"PK\x03\x04"[..], b"BZh0rest", b"\x1f\x8b\x08\0", b"x"] {
        let (out, error) = our_decode(file);
        let error = error.unwrap();
        assert!(
            out.is_empty() && error.offset == 0 && matches!(error.fault, Fault::Header { .. }),
            "{error}"
        );
    }
    assert_eq!(our_decode(b"").1.unwrap().fault, Fault::Truncated);
    let error = our_decode(b"BZh9 and no block").1.unwrap();
    assert_eq!(
        error.to_string(),
        "stream 1, block 1: at byte 4: expected the start of a block or the end of the stream, found other bits"
    );
}

#[test]
fn a_file_that_is_cut_anywhere_or_changed_in_any_bit_is_no_other_file() {
    let data = prose(3000);
    let file = encode(&data, level(1));
    for end in 0..file.len() {
        let (out, error) = our_decode(&file[..end]);
        assert!(
            data.starts_with(&out) && error.is_some_and(|error| error.fault == Fault::Truncated),
            "cut at {end}"
        );
    }
    for bit in 0..8 * file.len() {
        let mut file = file.clone();
        file[bit / 8] ^= 0x80 >> (bit % 8);
        let (out, error) = our_decode(&file);
        let (theirs, is_right) = their_decode(&file);
        assert_eq!(error.is_none(), is_right, "bit {bit}: {error:?}");
        assert!(if is_right { out == theirs } else { data.starts_with(&out) }, "bit {bit}");
    }
}

#[test]
fn a_bomb_stays_packed_until_it_is_written() {
    struct Small(u64);
    impl Write for Small {
        fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
            assert!(data.len() <= 2 << 20 && data.iter().all(|&byte| byte == 0));
            self.0 += data.len() as u64;
            Ok(data.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let file = encode(&vec![0; 100_000_000], level(9));
    assert!(file.len() < 200);
    let mut out = Small(0);
    assert_eq!(decode(&file[..], &mut out).unwrap(), 100_000_000);
    assert_eq!(out.0, 100_000_000);
}

#[test]
fn changed_files_give_an_error_or_what_the_reference_gives() {
    let number = |variable: &str| std::env::var(variable).ok().and_then(|value| value.parse().ok());
    let time = Duration::from_secs(number("ABZ_FUZZ_SECONDS").unwrap_or(1));
    let corpus = [
        encode(&prose(2000), level(1)),
        encode(&Noise::new(2).bytes(500), level(9)),
        encode(&vec![7; 5000], level(5)),
        [encode(b"one", level(1)), encode(b"two", level(2)), encode(b"", level(3))].concat(),
    ];
    let mut seed = number("ABZ_FUZZ_SEED").unwrap_or(0);
    let start = Instant::now();
    while start.elapsed() < time {
        let mut noise = Noise::new(seed);
        let mut file = corpus[noise.below(corpus.len())].clone();
        for _ in 0..1 + noise.below(3) {
            let at = noise.below(file.len());
            match noise.below(5) {
                0 | 1 => file[at] ^= 1 << noise.below(8),
                2 => file[at] = noise.next() as u8,
                3 => file.truncate(at + 1),
                _ => {
                    let piece = corpus[noise.below(corpus.len())].clone();
                    file.splice(at..at, piece);
                }
            }
        }
        let (out, error) = our_decode(&file);
        let (theirs, is_right) = their_decode(&file);
        match &error {
            None => assert!(is_right && out == theirs, "seed {seed}"),
            // The reference implementation reports a broken stream. It gives a part of a broken block, or withholds
            // contents before it.
            Some(error) => {
                let is_prefix = theirs.starts_with(&out) || out.starts_with(&theirs);
                assert!(!is_right && is_prefix, "seed {seed}: {error}");
            }
        }
        seed += 1;
    }
}
