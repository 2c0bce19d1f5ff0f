//! Fuzzing by mutation, with nothing but cargo. It runs for a second, or for as long as one asks:
//!
//! ```text
//! ABZ_FUZZ_SECONDS=600 cargo test --release -p abz-codec --test integration mutation
//! ```
//!
//! Right files of several kinds are changed in random places (bits, bytes, numbers at their limits, cuts, pieces
//! doubled, moved or taken from another file) and decoded. Whatever is accepted must be what another decoder
//! makes of it; what comes before an error must be what that one gives too. A failure prints the seed of its
//! input, and `ABZ_FUZZ_SEED=...` begins with it.

use std::io::{Cursor, Read};
use std::time::{Duration, Instant};

use crate::support::*;
use abz_codec::access;
use abz_codec::gzip::{DecodeError, Fault, Header, Index, find_parts};

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
        compress(&Noise(3).bytes(300), 6, 100),
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
    let mut noise = Noise(seed);
    let most = [1, 10, 100, 1000][noise.below(4)];
    let (pushed, its_error) = decode_pushed(file, || 1 + noise.below(most));
    let text = |error: &Option<DecodeError>| error.as_ref().map(ToString::to_string);
    assert_eq!(text(&its_error), text(&error), "seed {seed}: in pieces of up to {most}");
    assert!(pushed == out, "seed {seed}: in pieces of up to {most}");
    let mut theirs = Vec::new();
    let verdict = flate2::read::MultiGzDecoder::new(file).read_to_end(&mut theirs);
    // libdeflate takes some deflate data that zlib and others call invalid (an unused length code, say). Its
    // checksum has to fit nevertheless, so the data is right, and there is more of it than they give.
    let stricter = verdict.as_ref().is_err_and(|error| error.to_string() == "corrupt deflate stream");
    let same = match error.as_ref().map(|error| &error.fault) {
        // They see trailing garbage as a broken member, and have given all the data before.
        None | Some(Fault::TrailingGarbage) => out == theirs,
        Some(_) => theirs.starts_with(&out),
    };
    assert!(same || stricter && out.starts_with(&theirs), "seed {seed}: {error:?}, {verdict:?}");
    if matches!(error.as_ref().map(|error| &error.fault), None | Some(Fault::TrailingGarbage)) {
        check_parts(file, &out, seed);
    }
    if let Some(error) = error {
        assert!(error.start <= error.offset && error.offset <= file.len() as u64, "seed {seed}: {error:?}");
        assert!(!error.to_string().is_empty());
    }
    // What members say of themselves may be wrong; then it is an error, and no panic.
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

/// Each of the parts that are found in a right file gives its part of the contents.
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

#[test]
fn changed_files_give_an_error_or_what_another_decoder_gives() {
    let time = Duration::from_secs(number("ABZ_FUZZ_SECONDS").unwrap_or(1));
    let mut seed = number("ABZ_FUZZ_SEED").unwrap_or(0);
    let (corpus, start, first) = (corpus(), Instant::now(), seed);
    while start.elapsed() < time {
        check(&mutate(&mut Noise(seed), &corpus), seed);
        seed += 1;
    }
    println!("{} files changed and decoded", seed - first);
}
