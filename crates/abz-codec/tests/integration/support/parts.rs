//! Helpers for the tests of formats whose files consist of parts.

use abz_codec::parts::{Scan, Scanned};

/// Decodes a file that comes in pieces. Returns the contents, and the error at the end. `len` returns the length of the
/// next piece.
pub fn decode_pushed<S: Scan>(
    mut scanner: S,
    mut file: &[u8],
    mut len: impl FnMut() -> usize,
) -> (Vec<u8>, Option<S::Error>) {
    let (mut decoder, mut out, mut data) = (scanner.decoder(), Vec::new(), Vec::new());
    loop {
        let is_over = file.is_empty();
        let (mut piece, rest) = file.split_at(len().min(file.len()));
        file = rest;
        loop {
            let found = if is_over { scanner.finish(&mut data) } else { scanner.next(&mut piece, &mut data) };
            let decoded = found.and_then(|found| match found {
                None => Ok(false),
                Some(Scanned::Data) => Ok(true),
                Some(Scanned::Whole(part)) => S::decode_into(&mut decoder, &part, &mut data).map(|()| true),
            });
            match decoded {
                Ok(true) => out.extend(&data),
                Ok(false) if is_over => return (out, None),
                Ok(false) => break,
                Err(error) => return (out, Some(error)),
            }
        }
        assert!(piece.is_empty(), "it wants more and has not taken all");
    }
}
