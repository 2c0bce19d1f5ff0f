//! The undamaged blocks of a damaged bzip2 file.

use std::fmt;
use std::io::{self, BufRead, Read, Seek, Write};

use super::bits::BitReader;
use super::decode::{Decoder, Found};
use super::error::Fault;
use super::runs::combine;
use super::scan::{MAX_SEGMENT, Segment, find};
use super::{BLOCK_MAGIC, END_MAGIC};
use crate::glance::glance;
use crate::salvage::{Part, Reason, Salvage};

/// Finds [undamaged parts](crate::salvage) of bzip2 files: blocks with the right checksum, whatever level the damaged
/// header had. A wrong checksum of a stream only raises [doubt](Salvage::doubt).
#[derive(Clone, Copy, Debug)]
pub struct Salvager(());

/// A decoder of blocks.
#[derive(Default)]
pub struct Tool {
    decoder: Decoder,
    bytes: Vec<u8>,
    contents: Vec<u8>,
}

/// The state of a stream at the end of its last block.
#[derive(Debug)]
pub struct State {
    /// Whether another block, or the end of the stream, must follow.
    in_stream: bool,
    /// Whether every block of the stream so far is known.
    is_sound: bool,
    /// The checksum of the blocks of the stream so far.
    checksum: u32,
    doubt: Option<Fault>,
}

impl Salvage for Salvager {
    type Tool = Tool;
    /// The checksum of the block.
    type Note = u32;
    type State = State;

    const EXPECTED: &'static str = "a block, or a stream's end or header";
    const LOOK: usize = 16;
    // Checksum, bit, row, bytes in use, counts, two tables of three symbols, and the three symbols.
    const LEAST: u64 = 20;
    const HOLD: usize = 16 << 20;

    fn candidates(bytes: &[u8], found: &mut Vec<u64>) {
        let (mut next, mut least) = (1, 0);
        while let Some((bit, magic)) = find(bytes, &mut next, least) {
            least = bit + 1;
            if magic == BLOCK_MAGIC {
                found.push(bit);
            }
        }
    }

    fn attempt(
        tool: &mut Tool,
        bit: u32,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<Result<Part<u32>, Reason>> {
        let mut bytes = std::mem::take(&mut tool.bytes);
        bytes.clear();
        input.take(MAX_SEGMENT as u64).read_to_end(&mut bytes)?;
        let segment = Segment { start: bit.into(), end: 8 * bytes.len() as u64, bytes };
        let found = match segment.start < segment.end {
            true => tool.decoder.decode(&segment, std::mem::take(&mut tool.contents)),
            false => Found::Short,
        };
        tool.bytes = segment.into_bytes();
        Ok(match found {
            Found::Block(block) => {
                block.contents.write_to(output)?;
                tool.contents = block.contents.into_bytes();
                Ok(Part { end: block.end, note: block.checksum })
            }
            Found::Other => Err(Fault::Magic.into()),
            Found::Damaged { fault, .. } => Err(fault.into()),
            Found::Short => Err(Fault::Truncated.into()),
        })
    }

    fn begin<F: Read + Seek>(_file: &mut F) -> io::Result<State> {
        Ok(State { in_stream: false, is_sound: true, checksum: 0, doubt: None })
    }

    fn note(state: &mut State, checksum: &u32) {
        state.checksum = combine(state.checksum, *checksum);
    }

    fn note_gap(state: &mut State) {
        (state.in_stream, state.is_sound) = (true, false);
    }

    fn pass<F: Read + Seek>(state: &mut State, file: &mut F, at: u64) -> io::Result<u64> {
        let mut at = at;
        loop {
            let mut bytes = [0; 11];
            if state.in_stream {
                let found = glance(file, at / 8, &mut bytes)?;
                let mut bits = BitReader::new(found, at % 8);
                let magic = u64::from(bits.take(24)) << 24 | u64::from(bits.take(24));
                let expected = bits.take(32);
                if magic != END_MAGIC || bits.position() > 8 * found.len() as u64 {
                    return Ok(at);
                }
                if state.is_sound && expected != state.checksum {
                    state.doubt = Some(Fault::StreamChecksum { expected, found: state.checksum });
                }
                at = (at + 80).next_multiple_of(8);
                state.in_stream = false;
            }
            let [b'B', b'Z', b'h', b'1'..=b'9'] = glance(file, at / 8, &mut bytes[..4])? else {
                return Ok(at);
            };
            (state.in_stream, state.is_sound, state.checksum) = (true, true, 0);
            at += 32;
        }
    }

    fn doubt(state: &mut State, is_end: bool) -> Option<Reason> {
        let truncated = (is_end && state.in_stream).then_some(Fault::Truncated);
        state.doubt.take().or(truncated).map(Into::into)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").finish_non_exhaustive()
    }
}
