//! What decoders do alike whose files have data between a header and a trailer.

use super::error::{DecodeError, Fault};
use super::held::Held;
use crate::gzip::Inflater;
use crate::parts::CHUNK;

/// A decoder that goes on by steps.
pub(super) trait Steps {
    /// Goes on by a step; false if there is nothing to be done without more of the file, which ends here if it `is_over`.
    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>, is_over: bool) -> Result<bool, DecodeError>;

    /// From here on nothing is decoded.
    fn end(&mut self);

    /// The error that comes when all was given out that was decoded before it.
    fn failed(&mut self) -> &mut Option<DecodeError>;
}

/// Goes on until there is a chunk of data, or nothing more can be done: true if there is any data.
pub(super) fn next(
    decoder: &mut impl Steps,
    input: &mut &[u8],
    data: &mut Vec<u8>,
    is_over: bool,
) -> Result<bool, DecodeError> {
    data.clear();
    if let Some(error) = decoder.failed().take() {
        return Err(error);
    }
    loop {
        match decoder.step(input, data, is_over) {
            Ok(true) if data.len() < CHUNK => {}
            Ok(_) => return Ok(!data.is_empty()),
            Err(error) => {
                decoder.end();
                if data.is_empty() {
                    return Err(error);
                }
                // What was decoded before comes first.
                *decoder.failed() = Some(error);
                return Ok(true);
            }
        }
    }
}

/// Inflates what is in `input`, behind what is in `data`: where its contents begin there, and whether it has ended.
pub(super) fn inflate(
    inflater: &mut Inflater,
    held: &mut Held,
    input: &mut &[u8],
    data: &mut Vec<u8>,
) -> Result<(usize, bool), DecodeError> {
    let (from, before) = (data.len(), inflater.consumed());
    data.resize(CHUNK, 0);
    let Ok(step) = inflater.step(input, &mut data[from..]) else {
        data.truncate(from);
        let offset = held.offset + (inflater.consumed() - before);
        return Err(DecodeError::at(offset, Fault::Deflate));
    };
    data.truncate(from + step.produced);
    *input = &input[step.consumed..];
    held.offset += step.consumed as u64;
    Ok((from, step.ended))
}
