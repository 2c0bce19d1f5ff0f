//! Files of `pack`, `compress -H` and `zip`: no call gives out more than the limit, and the contents do not depend on
//! the pieces in which a file comes.
#![no_main]

use abz_codec::legacy::{DecodeError, lzh, pack, zip};
use abz_codec::parts::Serial;
use libfuzzer_sys::fuzz_target;

/// The largest contents that are examined, in bytes: a small file may expand to gigabytes.
const ENOUGH: usize = 1 << 24;

fn decode<S: Serial<Error = DecodeError> + Default>(
    file: &[u8],
    piece_len: usize,
) -> (Vec<u8>, Result<(), DecodeError>) {
    let (mut decoder, mut data, mut out) = (S::default(), Vec::new(), Vec::new());
    let mut push = |decoder: &mut S, piece: Option<&mut &[u8]>| {
        let has_data = match piece {
            Some(piece) => decoder.next(piece, &mut data)?,
            None => decoder.finish(&mut data)?,
        };
        assert!(data.len() < (256 << 10) + 256);
        if has_data {
            out.extend_from_slice(&data);
        }
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

fn check<S: Serial<Error = DecodeError> + Default>(file: &[u8], piece_len: usize) {
    let (out, result) = decode::<S>(file, usize::MAX);
    if let Err(error) = &result {
        assert!(error.offset <= file.len() as u64);
    }
    if out.len() < ENOUGH {
        let (pieces, same) = decode::<S>(file, piece_len);
        assert!(pieces.starts_with(&out) && result == same);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let [piece_len, file @ ..] = bytes else { return };
    let piece_len = 1 + usize::from(*piece_len);
    match file {
        [0x1f, 0x1e, ..] => check::<pack::Decoder>(file, piece_len),
        [0x1f, 0xa0, ..] => check::<lzh::Decoder>(file, piece_len),
        _ => check::<zip::Decoder>(file, piece_len),
    }
});
