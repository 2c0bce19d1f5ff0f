//! lzip files: the contents of an accepted file are the same as liblzma's, and errors lie inside the file.
#![no_main]

use abz_codec::lzip::{Fault, Reader, Survey};
use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Read};

fuzz_target!(|bytes: &[u8]| {
    let (mut reader, mut ours, mut data) = (Reader::new(bytes), Vec::new(), Vec::new());
    let error = loop {
        match reader.read_into(&mut data) {
            Ok(true) => ours.extend_from_slice(&data),
            Ok(false) => break None,
            Err(error) => break Some(error.downcast::<abz_codec::lzip::DecodeError>().unwrap()),
        }
    };
    if let Ok(Some(survey)) = Survey::of(&mut Cursor::new(bytes))
        && error.is_none()
    {
        assert_eq!(survey.uncompressed, ours.len() as u64);
    }
    // liblzma rejects members whose LZMA data does not begin with a zero; lzip accepts them.
    if bytes.windows(7).any(|window| window.starts_with(b"LZIP") && window[6] != 0) {
        return;
    }
    let stream = liblzma::stream::Stream::new_lzip_decoder(u64::MAX, liblzma::stream::CONCATENATED).unwrap();
    let mut theirs = Vec::new();
    let verdict = liblzma::read::XzDecoder::new_stream(bytes, stream).read_to_end(&mut theirs);
    match error {
        None => assert!(ours == theirs && verdict.is_ok()),
        Some(error) => {
            assert!(error.place.start() <= Some(error.offset) && error.offset <= bytes.len() as u64);
            assert!(error.fault == Fault::TrailingGarbage || theirs.starts_with(&ours) || ours.starts_with(&theirs));
        }
    }
});
