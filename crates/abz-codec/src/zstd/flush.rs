//! Compression of contents that are flushed in short pieces, as blocks that may refer to the pieces before.

use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use super::FrameHeader;
use super::error::no_memory;
use super::joint::{self, Joint};
use crate::memory::{NoMemory, grow};

/// The number of bytes of output for which room is made at a time.
const ROOM: usize = 4 << 10;

/// A stream of blocks. Each piece may refer to the pieces before it, and can be decoded without those after it.
pub(super) struct Flushed {
    context: CCtx<'static>,
    /// The state of a decoder that has decoded other blocks before the stream.
    joint: Joint,
    has_begun: bool,
    /// The blocks as libzstd made them.
    blocks: Vec<u8>,
}

impl Flushed {
    /// Begins a stream in a frame with this header, in the first block of the frame or a later one. Its blocks refer to
    /// nothing before it, except for the dictionary of the context.
    pub(super) fn new(mut context: CCtx<'static>, header: &FrameHeader, is_first: bool) -> Self {
        for parameter in [CParameter::ChecksumFlag(false), CParameter::WindowLog(header.window.ilog2())] {
            context.set_parameter(parameter).expect("it is in its range");
        }
        let joint = if is_first { Joint::at_start() } else { Joint::new() };
        Flushed { context, joint, has_begun: false, blocks: Vec::new() }
    }

    /// Writes the blocks of the next piece to `out`. Returns false if that is impossible, after which the stream is of no
    /// use.
    pub(super) fn piece(&mut self, contents: &[u8], out: &mut Vec<u8>) -> Result<bool, NoMemory> {
        let (mut from, mut len) = (InBuffer::around(contents), 0);
        loop {
            grow(&mut self.blocks, len + ROOM.max(contents.len() / 2))?;
            let mut to = OutBuffer::around_pos(&mut self.blocks[..], len);
            let flush = ZSTD_EndDirective::ZSTD_e_flush;
            let left = self.context.compress_stream2(&mut to, &mut from, flush);
            let left = left.map_err(|code| no_memory(code, 3 * contents.len()))?;
            len = to.pos();
            if left == 0 && from.pos() == contents.len() {
                break;
            }
        }
        let mut start = 0;
        if !self.has_begun {
            // The frame has a header already.
            let header = FrameHeader::parse(&self.blocks[..len]).ok().flatten();
            start = header.expect("libzstd makes frames").1;
            self.has_begun = true;
        }
        Ok(joint::copy(&self.blocks[start..len], out, &mut self.joint).is_some())
    }
}
