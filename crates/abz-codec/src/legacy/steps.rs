//! The loop that the decoders of zlib and ZIP share. Their files have deflate data between a header and a trailer.

use super::error::{DecodeError, Fault};
use super::held::Held;
use crate::gzip::Inflater;
use crate::parts::CHUNK;

/// A decoder as a series of steps.
pub(super) trait Steps {
    /// Does the next step of decoding. Returns false if it needs more input. The file ends with `input` if `is_over`.
    fn step(&mut self, input: &mut &[u8], data: &mut Vec<u8>, is_over: bool) -> Result<bool, DecodeError>;

    /// Stops decoding. All further input is ignored.
    fn end(&mut self);

    /// The error that is returned by the next call, after the data that was decoded before it.
    fn failed(&mut self) -> &mut Option<DecodeError>;
}

/// Decodes until `data` has a chunk or more input is needed. Returns true if there is any data.
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
                // The data before the error is returned first.
                *decoder.failed() = Some(error);
                return Ok(true);
            }
        }
    }
}

/// Inflates `input` and appends the contents to `data`. Returns where they begin in `data`, and true if the deflate
/// data has ended.
pub(super) fn inflate(
    inflater: &mut Inflater,
    held: &mut Held,
    input: &mut &[u8],
    data: &mut Vec<u8>,
) -> Result<(usize, bool), DecodeError> {
    let (from, before) = (data.len(), inflater.consumed());
    data.resize(CHUNK, 0);
    let Ok(step) = inflater.step(input, &mut data[from..]) else {
        // The data before the error is given out, however the input comes.
        data.truncate(from + inflater.produced());
        let offset = held.offset + (inflater.consumed() - before);
        return Err(DecodeError::at(offset, Fault::Deflate));
    };
    data.truncate(from + step.produced);
    *input = &input[step.consumed..];
    held.offset += step.consumed as u64;
    Ok((from, step.ended))
}
