//! Zstandard: whole files, compared with libzstd, and the scanners that decode nothing.
#![no_main]

use std::io::Cursor;

use abz_codec::zstd::{Decoding, Reader, SeekTable, Survey};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let decoding = Decoding { max_window: 8 << 20, ..Decoding::default() };
    let (mut reader, mut ours, mut data) = (Reader::new(bytes, &decoding), Vec::new(), Vec::new());
    let is_right = loop {
        match reader.read_into(&mut data) {
            Ok(true) => ours.extend_from_slice(&data),
            Ok(false) => break true,
            Err(_) => break false,
        }
        // A decompression bomb takes time and shows nothing new.
        if ours.len() > 64 << 20 {
            return;
        }
    };
    let survey = Survey::of(&mut Cursor::new(bytes)).unwrap();
    let _ = SeekTable::read(&mut Cursor::new(bytes));
    if let Some(survey) = survey
        && is_right
    {
        assert!(survey.uncompressed.is_none_or(|len| len == ours.len() as u64));
    }

    // Byte by byte, libzstd gives all contents before a fault. It then rejects an empty block of one repeated byte, which it
    // accepts if it has the whole file.
    let (theirs, is_accepted) = decoded(bytes, 1);
    match is_right {
        true if is_accepted => assert!(ours == theirs),
        true => assert!((ours, true) == decoded(bytes, bytes.len())),
        false => assert!(theirs.starts_with(&ours)),
    }
});

/// Decodes `bytes` by libzstd, `step` bytes at a time. Returns the contents, and whether libzstd accepts the file.
fn decoded(bytes: &[u8], step: usize) -> (Vec<u8>, bool) {
    let (mut data, mut context) = (Vec::new(), zstd_safe::DCtx::create());
    let mut chunk = vec![0; 1 << 17];
    let (mut at, mut hint, mut is_full) = (0, 1, false);
    while (at < bytes.len() || is_full) && data.len() <= 64 << 20 {
        let mut input = zstd_safe::InBuffer::around(&bytes[at..bytes.len().min(at + step)]);
        let mut output = zstd_safe::OutBuffer::around(&mut chunk[..]);
        let more = context.decompress_stream(&mut output, &mut input);
        (at, is_full) = (at + input.pos(), output.pos() == output.capacity());
        data.extend_from_slice(output.as_slice());
        match more {
            Ok(more) => hint = more,
            Err(_) => return (data, false),
        }
    }
    (data, hint == 0)
}
