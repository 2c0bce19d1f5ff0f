//! Damaged files of any format: a part that is found undamaged has the contents that a reader finds, and lies in the
//! file.
#![no_main]

use abz_codec::salvage::Salvage;
use abz_codec::{bzip2, gzip, lzip};
use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Read};

/// Tries each place. Returns each part: its bytes, the bit of the first byte at which it begins, and its contents.
fn parts<S: Salvage>(file: &[u8]) -> Vec<(&[u8], u64, Vec<u8>)> {
    let (mut starts, mut tool, mut parts) = (Vec::new(), S::Tool::default(), Vec::new());
    S::candidates(file, &mut starts);
    assert!(starts.is_sorted_by(|a, b| a < b));
    let mut cursor = Cursor::new(file);
    let mut state = S::begin(&mut cursor).unwrap();
    let mut gap = 0;
    for start in starts.into_iter().take(100) {
        let rest = &file[(start / 8) as usize..];
        let mut contents = Vec::new();
        if let Ok(part) = S::attempt(&mut tool, (start % 8) as u32, &mut &*rest, &mut contents).unwrap() {
            assert!(part.end > start % 8 && part.end <= 8 * rest.len() as u64);
            S::admits(&state, start, &part.note);
            if gap < start {
                S::missing(&state, &mut cursor, &(gap..start)).unwrap();
            }
            S::note(&mut state, &part.note);
            let end = start / 8 * 8 + part.end;
            gap = S::pass(&mut state, &mut cursor, end).unwrap();
            assert!(gap >= end && gap <= 8 * file.len() as u64);
            S::doubt(&mut state, gap == 8 * file.len() as u64);
            parts.push((&rest[..part.end.div_ceil(8) as usize], start % 8, contents));
        } else if let Some(end) = S::extent(&mut cursor, start).unwrap() {
            assert!(end > start && end <= 8 * file.len() as u64);
        }
    }
    parts
}

fuzz_target!(|bytes: &[u8]| {
    for (part, _, contents) in parts::<lzip::Salvager>(bytes) {
        let (mut reader, mut data, mut all) = (lzip::Reader::new(part), Vec::new(), Vec::new());
        while reader.read_into(&mut data).unwrap() {
            all.extend_from_slice(&data);
        }
        assert!(all == contents);
    }
    for (part, _, contents) in parts::<gzip::Salvager>(bytes) {
        let mut all = Vec::new();
        let mut reader = flate2::bufread::GzDecoder::new(part);
        // The reader supports fewer headers.
        if reader.read_to_end(&mut all).is_ok() {
            assert!(all == contents);
        }
    }
    for (part, bit, contents) in parts::<bzip2::Salvager>(bytes) {
        // A block at a byte boundary is the first block of a stream whose end is missing.
        if bit == 0 && contents.len() < 1 << 20 {
            let stream = [&b"BZh9"[..], part].concat();
            let mut all = Vec::new();
            let error = bzip2::decode(&stream[..], &mut all).unwrap_err();
            assert!(all == contents, "{error}");
        }
    }
});
