//! Files of `compress`: no call gives out more than the limit, and the contents do not depend on the pieces in which a
//! file comes.
#![no_main]

use abz_codec::lzw::{DecodeError, Decoder};
use libfuzzer_sys::fuzz_target;

/// The largest contents that are examined, in bytes: a small file may expand to gigabytes.
const ENOUGH: usize = 1 << 24;

fn decode(file: &[u8], piece_len: usize) -> (Vec<u8>, Result<(), DecodeError>) {
    let (mut decoder, mut data, mut out) = (Decoder::new(), Vec::new(), Vec::new());
    let mut push = |decoder: &mut Decoder, piece: Option<&mut &[u8]>| {
        let has_data = match piece {
            Some(piece) => decoder.next(piece, &mut data)?,
            None => decoder.finish(&mut data)?,
        };
        assert!(data.len() < (256 << 10) + (64 << 10));
        out.extend_from_slice(&data);
        Ok(has_data && out.len() < ENOUGH)
    };
    let mut all = || {
        for mut piece in file.chunks(piece_len) {
            while push(&mut decoder, Some(&mut piece))? {}
        }
        while push(&mut decoder, None)? {}
        Ok(())
    };
    let result = all();
    out.truncate(ENOUGH);
    (out, result)
}

fuzz_target!(|bytes: &[u8]| {
    let [piece_len, file @ ..] = bytes else { return };
    let (out, result) = decode(file, usize::MAX);
    if let Err(error) = &result {
        assert!(error.offset <= file.len() as u64);
    }
    if out.len() < ENOUGH {
        assert_eq!((out, result), decode(file, 1 + usize::from(*piece_len)));
    }
});
