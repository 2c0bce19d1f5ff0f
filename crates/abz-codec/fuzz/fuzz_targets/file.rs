//! Whole files: the contents of an accepted file, and those before an error, are the same as another decoder's.
#![no_main]

use std::io::Read;

use abz_codec::gzip::{Decoder, Fault, Piece, Splitter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut decoder = Decoder::new();
    let (mut ours, mut fault) = (Vec::new(), None);
    for piece in Splitter::new(bytes) {
        let data = piece.and_then(|piece| match piece {
            Piece::Member(member) => decoder.decode(&member),
            Piece::Data(data) => Ok(data),
        });
        match data {
            Ok(data) => ours.extend(data),
            Err(error) => {
                assert!(error.place.start() <= Some(error.offset) && error.offset <= bytes.len() as u64);
                fault = Some(error.fault);
                break;
            }
        }
    }
    let mut theirs = Vec::new();
    let verdict = flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut theirs);
    // libdeflate accepts some deflate data that others reject, even though the checksum matches.
    let is_stricter = verdict.is_err_and(|error| error.to_string() == "corrupt deflate stream");
    match fault {
        None | Some(Fault::TrailingGarbage) => {
            assert!(ours == theirs || is_stricter && ours.starts_with(&theirs));
        }
        Some(_) => assert!(theirs.starts_with(&ours) || is_stricter && ours.starts_with(&theirs)),
    }
});
