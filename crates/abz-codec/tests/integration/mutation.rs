//! Fuzzing by mutation, with cargo alone. Each test is a target, which runs for a moment, or for the given time. The
//! word behind `mutation` chooses one of them: `gzip`, `deflate`, `guesses`, `pack`, `zip` or `zlib`.
//!
//! ```text
//! ABZ_FUZZ_SECONDS=600 cargo test --release -p abz-codec --test integration mutation
//! ABZ_FUZZ_SECONDS=600 cargo test --release -p abz-codec --test integration mutation::guesses
//! ```
//!
//! Valid files of several kinds are changed in random places (bits, bytes, numbers at their limits, cuts, pieces
//! doubled, moved or taken from another file) and decoded. The contents of an accepted file must be those that another
//! decoder gives; so must the contents before an error. A failure prints the seed of its input; `ABZ_FUZZ_SEED=...`
//! starts with that seed.

use std::io::{Cursor, Read};
use std::time::{Duration, Instant};

use crate::support::*;
use crate::{guess, inflate, legacy};
use abz_codec::access;
use abz_codec::gzip::{DecodeError, Fault, Header, Index, find_parts};
use abz_codec::legacy::{pack, zip, zlib};
use abz_codec::parts::Serial;

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} should be a number, found {value:?}")))
}

fn corpus() -> Vec<Vec<u8>> {
    let mut with_header = Vec::new();
    Header {
        text: true,
        extra: b"XY\x03\0abc".to_vec(),
        name: Some(b"name".to_vec()),
        comment: Some(b"comment".to_vec()),
        checksum: true,
        ..Header::default()
    }
    .write(&mut with_header);
    with_header.extend(&foreign(&prose(300))[10..]);
    let bgzf = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0".repeat(3);
    let zeros = foreign(&vec![0; 100_000]).split_off(10);
    let size = (18 + zeros.len() - 1) as u16;
    let extra = [&b"BC\x02\0"[..], &size.to_le_bytes()].concat();
    let mut bgzf_in_name = Vec::new();
    Header { extra, ..Header::default() }.write(&mut bgzf_in_name);
    bgzf_in_name.extend(zeros);
    let files = vec![
        compress(&prose(600), 6, 200),
        compress(&prose(600), 1, 601),
        compress(&Noise::new(3).bytes(300), 6, 100),
        compress_with_origin(&vec![0; 4000], 1000, b"name", 77),
        foreign(&prose(600)),
        foreign(&vec![0; 100_000]),
        with_header,
        bgzf,
        bgzf_in_name.repeat(2),
    ];
    for file in &files {
        assert_eq!(decode_all(file), oracle(file).unwrap());
    }
    files
}

fn mutate(noise: &mut Noise, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut file = corpus[noise.below(corpus.len())].clone();
    for _ in 0..1 + noise.below(4) {
        if file.is_empty() {
            break;
        }
        let at = noise.below(file.len());
        let len = 1 + noise.below(40.min(file.len() - at));
        match noise.below(9) {
            0 | 1 => file[at] ^= 1 << noise.below(8),
            2 => file[at] = noise.next() as u8,
            3 => file[at..at + len].fill([0, 0xff, 1, 0x1f][noise.below(4)]),
            4 => file.truncate(at),
            5 => {
                file.drain(at..at + len);
            }
            6 => {
                let piece = file[at..at + len].to_vec();
                let to = noise.below(file.len());
                file.splice(to..to, piece);
            }
            7 => {
                let other = &corpus[noise.below(corpus.len())];
                let from = noise.below(other.len());
                file.splice(at..at, other[from..].iter().copied());
            }
            _ if at + 4 <= file.len() => {
                let old = u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
                let new = [old.wrapping_add(1), old.wrapping_sub(1), u32::MAX, 1 << 24, 0][noise.below(5)];
                file[at..at + 4].copy_from_slice(&new.to_le_bytes());
            }
            _ => {}
        }
    }
    file
}

fn check(file: &[u8], seed: u64) {
    let (out, error) = decode(file);
    let mut noise = Noise::new(seed);
    let most = [1, 10, 100, 1000][noise.below(4)];
    let (pushed, its_error) = decode_pushed(file, || 1 + noise.below(most));
    let text = |error: &Option<DecodeError>| error.as_ref().map(ToString::to_string);
    assert_eq!(text(&its_error), text(&error), "seed {seed}: in pieces of up to {most}");
    assert!(pushed == out, "seed {seed}: in pieces of up to {most}");
    let mut theirs = Vec::new();
    let verdict = flate2::read::MultiGzDecoder::new(file).read_to_end(&mut theirs);
    // libdeflate accepts some deflate data that zlib and others reject (an unused length code, say). The checksum has
    // to match nevertheless, so the contents are right, and exceed those of the other decoders.
    let stricter = verdict.as_ref().is_err_and(|error| error.to_string() == "corrupt deflate stream");
    let same = match error.as_ref().map(|error| &error.fault) {
        // Other decoders take trailing garbage for a broken member, and have given all the data before.
        None | Some(Fault::TrailingGarbage) => out == theirs,
        Some(_) => theirs.starts_with(&out),
    };
    assert!(same || stricter && out.starts_with(&theirs), "seed {seed}: {error:?}, {verdict:?}");
    if matches!(error.as_ref().map(|error| &error.fault), None | Some(Fault::TrailingGarbage)) {
        check_parts(file, &out, seed);
    }
    if let Some(error) = error {
        assert!(
            error.place.start() <= Some(error.offset) && error.offset <= file.len() as u64,
            "seed {seed}: {error:?}"
        );
        assert!(!error.to_string().is_empty());
    }
    // The sizes that members state may be wrong; that is an error, and no panic.
    for part in abz_codec::gzip::parts(&mut Cursor::new(file)).unwrap().unwrap_or_default() {
        let bytes = part.bytes();
        let bytes = &file[bytes.start as usize..bytes.end as usize];
        let _ = access::Decoder::default().decode_into(&part, bytes, &mut Vec::new());
    }
    if let Ok(Some(index)) = Index::read(&mut Cursor::new(file)) {
        let end = index.entries().last().map_or(0, |entry| entry.offset + u64::from(entry.compressed));
        assert!(end <= file.len() as u64, "seed {seed}");
    }
}

/// Checks that each part of a valid file gives its part of the contents.
fn check_parts(file: &[u8], out: &[u8], seed: u64) {
    let mut decoder = access::Decoder::default();
    let mut decode = |part: &access::Part| {
        let (bytes, contents) = (part.bytes(), part.contents.clone());
        let mut data = Vec::new();
        decoder
            .decode_into(part, &file[bytes.start as usize..bytes.end as usize], &mut data)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(data == out[contents.start as usize..contents.end as usize], "seed {seed}");
    };
    if let Ok(found) = find_parts(file, 100) {
        assert_eq!(found.contents, out.len() as u64, "seed {seed}");
        assert_eq!(found.lines, out.iter().filter(|&&byte| byte == b'\n').count() as u64, "seed {seed}");
        found.parts.iter().for_each(&mut decode);
    }
}

/// Changes files of `corpus` and checks them, each with its seed, for the given time, or for a moment.
fn fuzz(corpus: &[Vec<u8>], check: impl Fn(&[u8], u64)) {
    let time = number("ABZ_FUZZ_SECONDS").map_or(Duration::from_millis(500), Duration::from_secs);
    let first = number("ABZ_FUZZ_SEED").unwrap_or(0);
    let (start, mut seed) = (Instant::now(), first);
    while seed == first || start.elapsed() < time {
        check(&mutate(&mut Noise::new(seed), corpus), seed);
        seed += 1;
    }
    println!("{} files changed and decoded", seed - first);
}

#[test]
fn gzip_files_give_an_error_or_what_another_decoder_gives() {
    fuzz(&corpus(), check);
}

#[test]
fn deflate_streams_give_an_error_or_the_bytes_where_zlib_does() {
    let mut corpus: Vec<_> = (0..20).map(|seed| deflate::stream(&mut Noise::new(seed), 32 << 10)).collect();
    for level in [0, 1, 6, 9] {
        corpus.push(guess::gzip(&prose(3000), level, 1000).split_off(10));
        corpus.push(
            guess::gzip(&[&vec![0; 20_000][..], &Noise::new(4).bytes(200)].concat(), level, 90).split_off(10),
        );
    }
    fuzz(&corpus, inflate::check);
}

/// Damage and cuts give the same error as without guesses, and the valid contents come out.
#[test]
fn guesses_give_what_comes_out_without_them() {
    let all = guess::mixed(900_000);
    let mut corpus: Vec<_> = [1, 6, 9].map(|level| guess::gzip(&all, level, 300_000)).into();
    corpus.push(guess::gzip(&prose(600_000), 6, usize::MAX));
    corpus.push(guess::gzip(&Noise::new(8).bytes(150_000), 0, 40_000).repeat(2));
    fuzz(&corpus, |file, seed| {
        let mut noise = Noise::new(seed);
        let most = [40_000, 100_000, 1 << 20][noise.below(3)];
        let (right, expected) = decode(file);
        let (out, error, _) = guess::decode_guessing(file, || most / 2 + noise.below(most / 2));
        let text = |error: &Option<DecodeError>| error.as_ref().map(ToString::to_string);
        assert_eq!(text(&error), text(&expected), "seed {seed}");
        assert!(out == right || error.is_some() && (out.starts_with(&right) || right.starts_with(&out)));
    });
}

/// Checks that the contents of a file do not depend on how it comes. Returns them.
fn check_serial<S>(file: &[u8], seed: u64) -> (Vec<u8>, Option<abz_codec::legacy::DecodeError>)
where
    S: Serial<Error = abz_codec::legacy::DecodeError> + Default,
{
    let most = 1 + Noise::new(seed).below(300);
    let (whole, pieces) = (legacy::decode::<S>(file, usize::MAX), legacy::decode::<S>(file, most));
    // The number of bytes before a fault depends on the pieces.
    assert!(pieces.0.starts_with(&whole.0) || whole.0.starts_with(&pieces.0), "seed {seed}");
    assert_eq!(whole.1, pieces.1, "seed {seed}");
    assert!(whole.1.is_some() || whole.0 == pieces.0, "seed {seed}");
    whole
}

#[test]
fn pack_files_are_decoded_or_refused_however_they_arrive() {
    let noise = Noise::new(2).bytes(700);
    fuzz(&[&prose(2000)[..], b"aab", &noise].map(legacy::packed), |file, seed| {
        check_serial::<pack::Decoder>(file, seed);
    });
}

/// An accepted file contains the right checksum of its contents.
#[test]
fn zip_files_are_decoded_or_refused_however_they_arrive() {
    let all = [prose(2000), Noise::new(2).bytes(700), vec![0; 40_000], Vec::new()];
    let mut corpus = Vec::new();
    for data in &all {
        for (is_stored, descriptor) in
            [(false, None), (true, None), (false, Some(true)), (false, Some(false))]
        {
            corpus.push(legacy::zipped(data, is_stored, descriptor));
        }
    }
    fuzz(&corpus, |file, seed| {
        let (out, error) = check_serial::<zip::Decoder>(file, seed);
        // For other contents, the file must have another CRC-32.
        let sum = crc32_of(&out).to_le_bytes();
        assert!(error.is_some() || file.windows(4).any(|bytes| bytes == sum), "seed {seed}");
    });
}

fn crc32_of(data: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(data);
    sum.sum()
}

#[test]
fn zlib_streams_give_an_error_or_what_another_decoder_gives() {
    let mut corpus = Vec::new();
    for data in [prose(2000), Noise::new(2).bytes(700), vec![0; 40_000], Vec::new()] {
        for level in [0, 1, 6, 9] {
            let mut file = guess::gzip(&data, level, 500).split_off(10);
            file.truncate(file.len() - 8);
            let mut stream = b"\x78\x9c".to_vec();
            stream.extend(file);
            stream.extend(libdeflater::adler32(&data).to_be_bytes());
            corpus.push(stream);
        }
    }
    fuzz(&corpus, |file, seed| {
        let (out, error) = check_serial::<zlib::Decoder>(file, seed);
        let mut theirs = Vec::new();
        let verdict = flate2::read::ZlibDecoder::new(file).read_to_end(&mut theirs);
        use abz_codec::legacy::Fault::{AnotherStream, TrailingGarbage};
        match error.map(|error| error.fault) {
            // The other decoder stops at the end of the first stream.
            None | Some(TrailingGarbage | AnotherStream) => {
                assert!(verdict.is_ok() && out == theirs, "seed {seed}: {verdict:?}");
            }
            // The number of bytes before the damage depends on the decoder.
            Some(fault) => {
                let is_same = out.starts_with(&theirs) || theirs.starts_with(&out);
                assert!(verdict.is_err() && is_same, "seed {seed}: {fault}");
            }
        }
    });
}
