//! One deflate stream decoded step by step.
//!
//! This is zlib-rs: it takes exactly what zlib takes, knows where the stream ends to the byte, and goes on from
//! any place. libdeflate is faster and has none of the three, so it is used where the end is known
//! ([`Decoder`](super::Decoder)).

use zlib_rs::{Inflate, InflateFlush, Status};

use super::error::Fault;

/// The largest window that deflate has, as a power of two (RFC 1951, section 3.2.5: 32 KiB).
const WINDOW_BITS: u8 = 15;

pub(crate) struct Inflater {
    inflate: Inflate,
}

/// What one step did.
pub(crate) struct Step {
    /// Bytes of the input that were used.
    pub(crate) consumed: usize,
    /// Bytes of the output that were written.
    pub(crate) produced: usize,
    /// The stream has ended, right after the bytes that were consumed.
    pub(crate) ended: bool,
}

impl Inflater {
    pub(crate) fn new() -> Self {
        Inflater { inflate: Inflate::new(false, WINDOW_BITS) }
    }

    /// Begins with another stream.
    pub(crate) fn reset(&mut self) {
        self.inflate.reset(false);
    }

    /// Decodes as much of `input` as fits into `output`. It stops early only for want of more of either, or at
    /// the end of the stream. After an error, [`Inflater::consumed`] says how far it came.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Fault> {
        let (in_before, out_before) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, output, InflateFlush::NoFlush);
        let consumed = (self.inflate.total_in() - in_before) as usize;
        let produced = (self.inflate.total_out() - out_before) as usize;
        match status {
            // zlib promises to do something while it has both; a caller's loop must not depend on that.
            Ok(Status::Ok | Status::BufError)
                if consumed == 0 && produced == 0 && !input.is_empty() && !output.is_empty() =>
            {
                Err(Fault::Deflate)
            }
            Ok(status) => Ok(Step { consumed, produced, ended: status == Status::StreamEnd }),
            Err(_) => Err(Fault::Deflate),
        }
    }

    /// How many bytes of this stream have been used.
    pub(crate) fn consumed(&self) -> u64 {
        self.inflate.total_in()
    }
}
