//! Members of lzip that were flushed before their end, as lzlib does it.

use std::ops::Range;

use crate::support::lzma::{Member, SYNC_FLUSH};
use crate::support::parts::decode_pushed;
use crate::support::*;
use abz_codec::lzip::{DecodeError, Fault, Salvager, Scanner, Strictness};
use abz_codec::parts::{Giving, Room, Scan, Scanned};
use abz_codec::salvage::Salvage;
use liblzma::stream::{Action, CONCATENATED, Status, Stream};

/// A random member, its contents, and the places where it was flushed: the number of bytes of both before.
struct Random {
    file: Vec<u8>,
    contents: Vec<u8>,
    flushes: Vec<(usize, usize)>,
}

fn random(seed: u64, most_flushes: usize) -> Random {
    let mut noise = Noise::new(seed);
    let mut member = Member::new(noise.pick(&[12, 12, 13, 20]));
    let mut flushes = Vec::new();
    let number = 1 + noise.below(400);
    for _ in 0..noise.below(most_flushes + 1) {
        let symbols = noise.below(number);
        member.symbols(&mut noise, symbols);
        // lzlib writes several markers, so that its decoder has enough bytes.
        for _ in 0..1 + noise.below(2) {
            member.marker(SYNC_FLUSH);
        }
        flushes.push((member.bytes.len(), member.contents.len()));
    }
    member.symbols(&mut noise, number);
    let (file, contents) = member.finish();
    Random { file, contents, flushes }
}

/// Returns a scanner that holds a few thousand bytes of a member, and decodes a larger one as it comes.
fn holding_little(late_flushes: bool) -> Scanner {
    let room = Room { bytes: 2 << 20, parts: 100 };
    Scanner::new(Strictness { late_flushes, ..Strictness::default() }).within(room)
}

/// Returns scanners that hold a member until it is complete, that decode it as it comes, and that find a held member
/// too large.
fn scanners() -> [Scanner; 3] {
    [Scanner::default(), Scanner::streaming(Strictness::default()), holding_little(true)]
}

#[test]
fn members_of_any_symbols_are_decoded_as_liblzma_decodes_them() {
    for seed in 0..300 {
        let Random { file, contents, .. } = random(seed, 0);
        let (mut stream, mut theirs) =
            (Stream::new_lzip_decoder(u64::MAX, CONCATENATED).unwrap(), Vec::new());
        theirs.reserve(contents.len() + 1);
        let status = stream.process_vec(&file, &mut theirs, Action::Finish);
        assert!(matches!(status, Ok(Status::StreamEnd)) && theirs == contents, "seed {seed}");
        for scanner in scanners().into_iter().chain([holding_little(false)]) {
            let mut noise = Noise::new(seed);
            let most = noise.pick(&[1, 10, 10_000]);
            let found = decode_pushed(scanner, &file, || 1 + noise.below(most));
            assert!(found == (contents.clone(), None), "seed {seed}: {:?}", found.1);
        }
    }
}

#[test]
fn flushed_members_are_decoded_however_they_arrive() {
    for seed in 0..300 {
        let [one, two] = [random(seed, 5), random(seed + 1000, 5)];
        let file = [one.file, two.file].concat();
        let contents = [one.contents, two.contents].concat();
        for scanner in scanners() {
            let mut noise = Noise::new(seed);
            let most = noise.pick(&[1, 10, 10_000]);
            let found = decode_pushed(scanner, &file, || 1 + noise.below(most));
            assert!(found == (contents.clone(), None), "seed {seed}: {:?}", found.1);
        }
        if seed < 20
            && let Some(theirs) = through("lzip.lzip", &["-dc"], &file)
        {
            assert!(theirs == contents, "seed {seed}");
        }
    }
}

#[test]
fn a_large_member_whose_first_flush_comes_late_is_decoded_up_to_that_or_slowly() {
    // The number of bytes that are held of a member with such a dictionary.
    const HELD: Range<usize> = 8_000..9_000;
    let (mut early, mut late) = (0, 0);
    for seed in 0..60 {
        let mut noise = Noise::new(seed);
        let mut member = Member::new(12);
        let symbols = noise.below(20_000);
        member.symbols(&mut noise, symbols);
        member.marker(SYNC_FLUSH);
        let flush = (member.bytes.len(), member.contents.len());
        member.symbols(&mut noise, 10_000);
        member.marker(SYNC_FLUSH);
        member.symbols(&mut noise, 10);
        let (file, contents) = member.finish();
        if HELD.contains(&flush.0) {
            continue;
        }
        let most = noise.pick(&[1, 10, 10_000]);
        let (out, error) = decode_pushed(holding_little(false), &file, || 1 + noise.below(most));
        if flush.0 < HELD.start {
            early += 1;
            assert!(out == contents && error.is_none(), "seed {seed}: {error:?}");
        } else {
            late += 1;
            let error = error.unwrap();
            assert!(out == contents[..flush.1], "seed {seed}");
            assert_eq!((error.offset, &error.fault), (flush.0 as u64, &Fault::LateFlush), "seed {seed}");
        }
        let found = decode_pushed(holding_little(true), &file, || 1 + noise.below(most));
        assert!(found == (contents, None), "seed {seed}: {:?}", found.1);
    }
    assert!(early > 5 && late > 5, "{early} {late}");
}

#[test]
fn a_changed_trailer_of_a_large_member_is_no_flush() {
    let mut noise = Noise::new(1);
    let mut member = Member::new(12);
    member.symbols(&mut noise, 20_000);
    let (file, contents) = member.finish();
    for (at, len) in [(20, 4), (16, 8), (8, 8), (20, 12), (16, 16)] {
        let mut file = file.clone();
        let start = file.len() - at;
        file[start..start + len].iter_mut().for_each(|byte| *byte ^= 1);
        let (out, error) = decode_pushed(holding_little(false), &file, || 1000);
        let fault = error.unwrap().fault;
        let is_right = match at {
            20 => matches!(fault, Fault::Checksum { .. }),
            16 => matches!(fault, Fault::DataSize { .. }),
            _ => matches!(fault, Fault::MemberSize { .. }),
        };
        assert!(is_right && out == contents, "{at} {len}: {fault:?}");
    }
}

#[test]
fn what_was_flushed_comes_out_when_the_input_pauses() {
    for seed in 0..300 {
        let Random { file, contents, flushes } = random(seed, 5);
        let giving = Giving { prompt: true, verified: false };
        let mut scanner = Scanner::default().giving(giving);
        let mut verifying = Scanner::default().giving(Giving { verified: true, ..giving });
        let (mut out, mut data, mut at) = (Vec::<u8>::new(), Vec::new(), 0);
        for (end, len) in flushes {
            let mut input = &file[at..end];
            let mut same = input;
            while let Some(found) = scanner.next(&mut input, &mut data).unwrap() {
                assert_eq!(found, Scanned::Data);
                out.extend(&data);
            }
            while let Some(found) = scanner.pause(&mut data).unwrap() {
                assert_eq!(found, Scanned::Data);
                out.extend(&data);
            }
            assert!(out == contents[..len], "seed {seed}");
            at = end;
            // If only verified data may be given out, nothing comes.
            assert_eq!(verifying.next(&mut same, &mut data).unwrap(), None);
            assert_eq!(verifying.pause(&mut data).unwrap(), None);
        }
        let mut input = &file[at..];
        loop {
            match scanner.next(&mut input, &mut data).unwrap() {
                Some(Scanned::Data) => out.extend(&data),
                Some(Scanned::Whole(member)) => {
                    Scanner::decode_into(&mut scanner.decoder(), &member, &mut data).unwrap();
                    out.extend(&data);
                }
                None => break,
            }
        }
        assert!(out == contents && scanner.finish(&mut data).unwrap().is_none(), "seed {seed}");
    }
}

#[test]
fn a_flushed_member_that_is_cut_or_changed_gives_an_error_and_what_comes_before() {
    let text = |error: &Option<DecodeError>| error.as_ref().map(ToString::to_string);
    for seed in 0..60 {
        let Random { file, contents, .. } = random(seed, 4);
        for scanner in scanners() {
            let mut noise = Noise::new(seed);
            let cut = noise.below(file.len());
            let (out, error) = decode_pushed(scanner, &file[..cut], || 1 + noise.below(100));
            let error = error.unwrap();
            assert!(matches!(error.fault, Fault::Truncated { .. }) && error.offset == cut as u64);
            assert!(contents.starts_with(&out), "seed {seed}");
        }
        let mut noise = Noise::new(seed);
        for _ in 0..100 {
            let mut file = file.clone();
            for _ in 0..1 + noise.below(2) {
                let at = 7 + noise.below(file.len() - 7);
                file[at] = match noise.below(2) {
                    0 => noise.next() as u8,
                    _ => file[at] ^ 1 << noise.below(8),
                };
            }
            let found = scanners().map(|scanner| decode_pushed(scanner, &file, || 1 + noise.below(500)));
            for (out, error) in &found {
                assert!(error.is_some() || *out == contents, "seed {seed}");
                assert!(error.as_ref().is_none_or(|error| error.offset <= file.len() as u64), "seed {seed}");
            }
            let [whole, streamed, large] = &found;
            assert_eq!(whole.1.is_some(), streamed.1.is_some(), "seed {seed}: {whole:?} {streamed:?}");
            assert_eq!(text(&large.1).is_some(), streamed.1.is_some(), "seed {seed}");
        }
    }
}

#[test]
fn markers_of_other_lengths_are_damage() {
    let mut member = Member::new(12);
    member.literal(b'a');
    member.marker(4);
    member.literal(b'b');
    let (file, _) = member.finish();
    for scanner in scanners() {
        let (out, error) = decode_pushed(scanner, &file, || 10);
        assert!(b"a".starts_with(&out[..]) && error.unwrap().fault == Fault::Lzma);
    }
}

#[test]
fn flushed_members_are_taken_from_damaged_files() {
    let Random { file, contents, flushes } =
        (0..).map(|seed| random(seed, 5)).find(|random| random.flushes.len() > 2).unwrap();
    assert!(flushes.len() > 2);
    let mut output = Vec::new();
    let found = Salvager::attempt(&mut Default::default(), 0, &mut &file[..], &mut output).unwrap().unwrap();
    assert!(found.end == 8 * file.len() as u64 && output == contents);
}
