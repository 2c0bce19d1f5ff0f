//! lzip in both directions, compared with liblzma's decoder and, if it is installed, with lzip itself.
//!
//! Damaged files are tried for a second, or for the given time:
//!
//! ```text
//! ABZ_FUZZ_SECONDS=600 cargo test --release -p abz-codec --test integration lzip
//! ```

use std::io::Cursor;
use std::time::{Duration, Instant};

use crate::support::parts::decode_pushed;
use crate::support::*;
use abz_codec::lzip::{DecodeError, Decoder, Encoder, Fault, Part, Scanner, Settings, Strictness, Survey};
use abz_codec::parts::{Scan, Scanned};
use abz_codec::{Blocks, Place};
use liblzma::stream::{Action, CONCATENATED, Status, Stream};

fn encode(data: &[u8], level: u32, block_size: usize) -> Vec<u8> {
    let mut encoder = Encoder::new(Settings::of_level(level));
    Blocks::new(data, block_size).flat_map(|block| encoder.encode(&block.unwrap().data).unwrap()).collect()
}

fn decode(file: &[u8]) -> (Vec<u8>, Option<DecodeError>) {
    decode_pushed(Scanner::new(Strictness::default()), file, || 100_000)
}

/// Decodes a file with liblzma. Returns the contents, and whether liblzma accepts the file.
fn their_decode(file: &[u8]) -> (Vec<u8>, bool) {
    let mut stream = Stream::new_lzip_decoder(u64::MAX, CONCATENATED).unwrap();
    let mut out = Vec::new();
    loop {
        out.reserve(100_000);
        let rest = &file[stream.total_in() as usize..];
        match stream.process_vec(rest, &mut out, Action::Finish) {
            Ok(Status::StreamEnd) => return (out, true),
            Ok(Status::Ok) => {}
            _ => return (out, false),
        }
    }
}

/// Runs lzip on a file. Returns its output and its exit status; `None` if it is not installed.
fn lzip(arguments: &[&str], input: &[u8]) -> Option<(Vec<u8>, i32)> {
    if !have("lzip.lzip") {
        return None;
    }
    let mut lzip = command("lzip.lzip");
    lzip.args(arguments);
    let output = fed(lzip, input);
    Some((output.stdout, output.status.code().unwrap()))
}

fn inputs() -> Vec<Vec<u8>> {
    vec![
        Vec::new(),
        b"a".to_vec(),
        prose(250_000),
        Noise::new(1).bytes(250_000),
        vec![0; 300_000],
        (0..=255).collect(),
    ]
}

#[test]
fn all_inputs_come_back_at_all_levels_and_block_sizes() {
    for data in inputs() {
        for level in 0..=9 {
            for block_size in [70_000, 250_000] {
                let file = encode(&data, level, block_size);
                assert_eq!(their_decode(&file), (data.clone(), true), "level {level}");
                let (out, error) = decode(&file);
                assert!(out == data && error.is_none(), "level {level}: {error:?}");
                let survey = Survey::of(&mut Cursor::new(&file)).unwrap().unwrap();
                assert_eq!(survey.members, data.len().div_ceil(block_size).max(1) as u64);
                assert_eq!(survey.uncompressed, data.len() as u64);
            }
            let file = encode(&data, level, 100_000);
            if let Some(theirs) = lzip(&["-dc"], &file) {
                assert_eq!(theirs, (data.clone(), 0), "level {level}");
            }
            if let Some((file, _)) = lzip(&["-c", &format!("-{level}"), "-b", "100000"], &data) {
                let (out, error) = decode(&file);
                assert!(out == data && error.is_none(), "level {level}: {error:?}");
            }
        }
    }
}

#[test]
fn no_level_makes_files_half_a_percent_larger_than_lzip() {
    // The zeros cost little time. They make the distance of the second half a little larger than the dictionary of
    // level 1.
    let data = [prose(200_000), Noise::new(7).bytes(50_000), vec![0; 800_000]].concat().repeat(2);
    for level in 0..=9 {
        let Some((theirs, _)) = lzip(&["-c", &format!("-{level}")], &data) else { return };
        let ours = encode(&data, level, 1 << 25).len();
        assert!(ours <= theirs.len() + theirs.len() / 200, "level {level}: {ours} for {}", theirs.len());
    }
}

#[test]
fn large_members_are_streamed_and_come_in_small_chunks() {
    // Zeros with a small dictionary: the contents are too large for a member that is taken as a whole.
    let data = vec![0; 9 << 20];
    let mut encoder = Encoder::new(Settings { dictionary_size: 1 << 16, ..Settings::of_level(1) });
    let one = encoder.encode(&data).unwrap();
    let small = encode(b"small", 6, 100);
    let file = [&small[..], &one, &small, &one, b"trailing"].concat();
    let (mut scanner, mut decoder, mut data) = (Scanner::default(), Decoder::new(), Vec::new());
    let (mut sizes, mut wholes, mut input) = (0, 0, &file[..]);
    let error = loop {
        match scanner.next(&mut input, &mut data) {
            Ok(Some(Scanned::Data)) => assert!(data.len() <= 256 << 10),
            Ok(Some(Scanned::Whole(member))) => {
                assert!(member.bytes() == small);
                Scanner::decode_into(&mut decoder, &member, &mut data).unwrap();
                wholes += 1;
            }
            Ok(None) => match scanner.finish(&mut data) {
                Ok(found) => panic!("{found:?}"),
                Err(error) => break error,
            },
            Err(error) => break error,
        }
        sizes += data.len();
    };
    assert_eq!((sizes, wholes), (10 + (18 << 20), 2));
    assert_eq!((error.fault, error.offset), (Fault::TrailingGarbage, file.len() as u64 - 8));
}

#[test]
fn trailing_data_is_what_lzip_takes_for_it() {
    let file = encode(&prose(1000), 6, 300);
    let tails: [&[u8]; 14] = [
        b"",
        b"x",
        b"garbage",
        b"L",
        b"LZ",
        b"LZIP",
        b"LZIP\x01",
        b"LZIX\x01\x0c!",
        b"LZxx\x01\x0c!",
        b"Lxxx\x01\x0c!",
        b"xxIPxxx",
        b"lzip\x01\x0c!",
        b"LZIP\x02\x0c",
        b"LZIP\x01\xff",
    ];
    for tail in tails {
        let file = [&file[..], tail].concat();
        for loose_trailing in [false, true] {
            let strictness = Strictness { loose_trailing, ..Strictness::default() };
            let (out, error) = decode_pushed(Scanner::new(strictness), &file, || 7);
            assert_eq!(out, prose(1000));
            let arguments: &[&str] = if loose_trailing { &["-dc", "--loose-trailing"] } else { &["-dc"] };
            let is_content = error.as_ref().is_none_or(|error| error.fault == Fault::TrailingGarbage);
            assert_eq!(error.is_none(), tail.is_empty());
            if let Some((_, status)) = lzip(arguments, &file) {
                assert_eq!(is_content, status == 0, "{tail:?}, {loose_trailing}: {error:?}");
            }
        }
    }
    let padded = [&file[..], &[0; 5000]].concat();
    assert_eq!(decode(&padded).1, None);
    let strict = Strictness { padding: true, ..Strictness::default() };
    let error = decode_pushed(Scanner::new(strict), &padded, || 100).1.unwrap();
    assert_eq!((error.fault, error.offset), (Fault::TrailingGarbage, file.len() as u64));
}

#[test]
fn members_of_version_0_are_read() {
    let data = prose(3000);
    let new = encode(&data, 6, 1 << 20);
    let mut old = new[..new.len() - 8].to_vec();
    old[4] = 0;
    for (file, count, trailing) in [
        (old.clone(), 1, false),
        ([&old[..], &new].concat(), 2, false),
        ([&new[..], &old].concat(), 2, false),
        ([&old[..], &old, b"trailing data"].concat(), 2, true),
    ] {
        for most in [1, 50, 100_000] {
            let (out, error) = decode_pushed(Scanner::default(), &file, || most);
            assert!(out == data.repeat(count), "{count}: {error:?}");
            assert_eq!(error.map(|error| error.fault), trailing.then_some(Fault::TrailingGarbage));
        }
        if let Some(read) = through("xz", &["-dc", "--format=lzip"], &file) {
            assert!(read == data.repeat(count));
        }
        assert_eq!(Survey::of(&mut Cursor::new(&file)).unwrap(), None);
    }
    let mut wrong = old.clone();
    let at = old.len() - 12;
    wrong[at] ^= 1;
    let error = decode_pushed(Scanner::default(), &wrong, || 9).1.unwrap();
    assert!(matches!(error.fault, Fault::Checksum { .. }) && error.offset == at as u64, "{error}");
    let error = decode_pushed(Scanner::default(), &old[..old.len() - 1], || 9).1.unwrap();
    assert_eq!(error.fault, Fault::Truncated { inside: Part::Trailer });
}

#[test]
fn a_member_whose_version_was_changed_to_0_is_damaged_and_version_0_is_refused_if_asked_for() {
    let new = encode(&prose(3000), 6, 1 << 20);
    let mut changed = new.clone();
    changed[4] = 0;
    for file in [changed.clone(), [&changed[..], &new].concat(), [&new[..], &changed].concat()] {
        for most in [1, 7, 100_000] {
            let error = decode_pushed(Scanner::default(), &file, || most).1.unwrap();
            assert_eq!(error.fault, Fault::Version { found: 0 }, "{error}");
            assert!(file[error.offset as usize] == 0, "{error}");
        }
    }
    let strict = Strictness { current: true, ..Strictness::default() };
    let (out, error) = decode_pushed(Scanner::new(strict), &changed[..changed.len() - 8], || 100);
    assert_eq!((out.len(), error.unwrap().fault), (0, Fault::Version { found: 0 }));
}

#[test]
fn a_file_that_is_cut_anywhere_or_changed_in_any_bit_is_no_other_file() {
    let data = prose(1500);
    let file = encode(&data, 6, 1000);
    let border = encode(&data[..1000], 6, 1000).len();
    for end in 0..file.len() {
        let (out, error) = decode(&file[..end]);
        assert!(data.starts_with(&out));
        match error {
            None => assert_eq!(end, border),
            Some(error) => {
                assert!(matches!(error.fault, Fault::Truncated { .. }), "cut at {end}: {error}");
                assert_eq!(error.offset, end as u64);
            }
        }
    }
    assert_eq!(decode(b"").1.unwrap().fault, Fault::Truncated { inside: Part::Header });
    for bit in 0..8 * file.len() {
        let mut file = file.clone();
        file[bit / 8] ^= 0x80 >> (bit % 8);
        let (out, error) = decode(&file);
        let same = error.is_none() && out == data;
        // A larger dictionary than necessary does no harm, and the first byte of LZMA data is ignored.
        let is_harmless = [5, 6, border + 5, border + 6].contains(&(bit / 8));
        assert!(same && is_harmless || error.is_some() && data.starts_with(&out), "bit {bit}: {error:?}");
    }
}

#[test]
fn strictness_is_as_it_is_asked_for() {
    let two = [encode(b"one", 6, 100), encode(b"", 6, 100), encode(b"two", 6, 100)].concat();
    assert_eq!(decode(&two), (b"onetwo".to_vec(), None));
    let strict = Strictness { empty: true, ..Strictness::default() };
    let error = decode_pushed(Scanner::new(strict), &two, || 5).1.unwrap();
    assert!(matches!(error.place, Place::Member { number: 2, .. }) && error.fault == Fault::Empty);

    let mut marked = encode(b"marked", 6, 100);
    marked[6] = 7;
    assert_eq!(decode(&marked), (b"marked".to_vec(), None));
    let strict = Strictness { marking: true, ..Strictness::default() };
    let error = decode_pushed(Scanner::new(strict), &marked, || 5).1.unwrap();
    assert_eq!((error.offset, error.fault), (6, Fault::Marking { found: 7 }));
}

#[test]
fn errors_say_where_and_what() {
    let file = [encode(b"first", 6, 100), encode(&prose(300), 6, 1000)].concat();
    let start = encode(b"first", 6, 100).len();
    let changed = |at: usize, byte: u8| {
        let mut file = file.clone();
        file[at] = byte;
        decode(&file).1.unwrap().to_string()
    };
    let end = file.len();
    assert_eq!(
        changed(4, 2),
        "member 1, which begins at byte 0: at byte 4: expected version 1 of the format, found 2"
    );
    assert!(
        changed(start + 5, 31)
            .ends_with("expected the code of a dictionary's size from 4 KiB to 512 MiB, found 0x1f")
    );
    let said = changed(end - 20, file[end - 20] ^ 1);
    assert!(said.contains(&format!("at byte {}: expected contents with the CRC-32", end - 20)), "{said}");
    let said = changed(end - 16, 45);
    assert!(said.ends_with("expected contents of 301 bytes, found 300"), "{said}");
    let said = changed(end - 8, 37);
    assert!(said.contains("expected a member of 37 bytes by its trailer, found "), "{said}");
    assert!(
        decode(b"\x1f\x8b\x08\0\0\0\0")
            .1
            .unwrap()
            .to_string()
            .ends_with(r"expected `LZIP`, found \x1f\x8b\x08\x00")
    );
}

#[test]
fn changed_files_give_an_error_or_what_the_reference_gives() {
    let number = |variable: &str| std::env::var(variable).ok().and_then(|value| value.parse().ok());
    let time = Duration::from_secs(number("ABZ_FUZZ_SECONDS").unwrap_or(1));
    let corpus = [
        encode(&prose(2000), 6, 700),
        encode(&Noise::new(2).bytes(500), 0, 1000),
        encode(&vec![7; 50_000], 1, 20_000),
        [encode(b"one", 1, 10), encode(b"", 3, 10), encode(b"two", 2, 2)].concat(),
    ];
    let mut seed = number("ABZ_FUZZ_SEED").unwrap_or(0);
    let start = Instant::now();
    while start.elapsed() < time {
        let mut noise = Noise::new(seed);
        let mut file = corpus[noise.below(corpus.len())].clone();
        for _ in 0..1 + noise.below(3) {
            let at = noise.below(file.len());
            match noise.below(6) {
                0 | 1 => file[at] ^= 1 << noise.below(8),
                2 => file[at] = noise.next() as u8,
                3 => file.truncate(at + 1),
                4 => drop(file.drain(at.min(file.len() - 1)..(at + 20).min(file.len() - 1))),
                _ => {
                    let piece = corpus[noise.below(corpus.len())].clone();
                    file.splice(at..at, piece);
                }
            }
        }
        let (out, error) = decode(&file);
        let most = [1, 10, 1000][noise.below(3)];
        let pushed = decode_pushed(Scanner::new(Strictness::default()), &file, || 1 + noise.below(most));
        assert!(pushed == (out.clone(), error.clone()), "seed {seed}: in pieces of up to {most}");
        let (theirs, is_right) = their_decode(&file);
        match &error {
            None => assert!(is_right && out == theirs || file_is_marked(&file), "seed {seed}"),
            Some(error) if error.fault == Fault::TrailingGarbage => {
                assert!(out == theirs || file_is_marked(&file), "seed {seed}");
            }
            // liblzma gives out data before it is verified.
            Some(error) => {
                let is_prefix = theirs.starts_with(&out) || out.starts_with(&theirs);
                assert!(is_prefix || file_is_marked(&file), "seed {seed}: {error}");
                assert!(
                    error.place.start() <= Some(error.offset) && error.offset <= file.len() as u64,
                    "seed {seed}: {error}"
                );
            }
        }
        seed += 1;
    }
}

/// Returns whether a member's LZMA data does not begin with a zero. liblzma rejects such members.
fn file_is_marked(file: &[u8]) -> bool {
    file.windows(7).any(|window| window.starts_with(b"LZIP") && window[6] != 0)
}
