//! The scanners that go from member to member without decoding: `Splitter`, `Survey` and `Index`. They agree with each
//! other, and members lie in the file without gaps.
#![no_main]

use std::io::Cursor;

use abz_codec::gzip::{Decoder, Index, Piece, Splitter, Survey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let survey = Survey::of(&mut Cursor::new(bytes)).unwrap();
    let _ = Index::read(&mut Cursor::new(bytes));

    let mut decoder = Decoder::new();
    let (mut end, mut uncompressed, mut has_failed) = (0, 0, false);
    for piece in Splitter::new(bytes) {
        match piece {
            Ok(Piece::Member(member)) => {
                assert!(member.start() >= end, "members overlap");
                end = member.start() + member.bytes().len() as u64;
                assert!(end <= bytes.len() as u64);
                let at = member.start() as usize;
                assert_eq!(&bytes[at..at + member.bytes().len()], member.bytes());
                match decoder.decode(&member) {
                    Ok(data) => uncompressed += data.len() as u64,
                    Err(_) => has_failed = true,
                }
            }
            Ok(Piece::Data(data)) => uncompressed += data.len() as u64,
            Err(_) => has_failed = true,
        }
    }
    if let Some(survey) = survey
        && !has_failed
    {
        assert_eq!(survey.uncompressed, uncompressed);
    }
});
