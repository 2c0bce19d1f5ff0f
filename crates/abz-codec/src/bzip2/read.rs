//! A bzip2 file decoded on one thread.

use std::io::{self, Read, Write};

use super::{Assembler, Decoder, Scanner};

/// How much is read at once, in bytes.
const INPUT: usize = 128 * 1024;

/// Decodes the bzip2 file that `input` gives to `output`, and returns the size of its contents in bytes: a [`Scanner`], a
/// [`Decoder`] and an [`Assembler`] on the caller's thread.
///
/// # Errors
///
/// That of the reader or the writer, or a [`DecodeError`](super::DecodeError) inside of an [`io::Error`] (`get_ref` gives it back). What was
/// written by then is the contents before that place.
///
/// ```
/// let empty = b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0";
/// assert_eq!(abz_codec::bzip2::decode(&empty[..], Vec::new())?, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn decode(mut input: impl Read, mut output: impl Write) -> io::Result<u64> {
    let (mut scanner, mut decoder, mut assembler) = (Scanner::new(), Decoder::new(), Assembler::new());
    let (mut buffer, mut spare, mut bytes) = (vec![0; INPUT], Vec::new(), Vec::new());
    let mut written = 0;
    let mut put = |segment, bytes: &mut Vec<u8>| -> io::Result<()> {
        let decoded = decoder.decode_into(segment, std::mem::take(bytes));
        if let Some(contents) = assembler.next(decoded)? {
            written += contents.write_to(&mut output)?;
            *bytes = contents.into_bytes();
        }
        Ok(())
    };
    loop {
        let read = match input.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let mut input = &buffer[..read];
        while let Some(segment) = scanner.next(&mut input, &mut spare) {
            put(segment, &mut bytes)?;
        }
        if read == 0 {
            break;
        }
    }
    if let Some(segment) = scanner.finish() {
        put(segment, &mut bytes)?;
    }
    while let Some(contents) = assembler.finish()? {
        written += contents.write_to(&mut output)?;
    }
    Ok(written)
}
