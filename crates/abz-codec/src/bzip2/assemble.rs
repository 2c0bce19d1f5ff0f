//! Assembling the blocks that were decoded in parallel, and verifying their places.

use std::ops::Range;

use super::bits::BitReader;
use super::decode::{Block, Contents, Decoded, Decoder, Found};
use super::error::{DecodeError, Fault};
use super::runs::combine;
use super::scan::Segment;
use super::{END_MAGIC, Level};
use crate::damage::Place;

/// The number of bits of a stream's header, and of its end.
const HEADER_BITS: u64 = 32;
const END_BITS: u64 = 48 + 32;

/// Assembles the blocks of a file that was decoded segment by segment. Each block must begin where the one before
/// ended; only the end of a stream and the header of the next may lie between blocks.
#[derive(Debug, Default)]
pub struct Assembler {
    /// The bit of the file at which the next item must begin, and whether that is in a stream or between streams.
    at: u64,
    in_stream: bool,
    stream: u64,
    block: u64,
    /// The bits of the file in which the last block lies.
    last: Range<u64>,
    level: Level,
    checksum: u32,
    /// A segment at whose start something began that did not end in it, because it contains bits that look like the
    /// start of the next item. Such files have to be made on purpose. The rest of the file is decoded here.
    rest: Option<Segment>,
    /// The size that `rest` must have before it is decoded again, in bytes.
    wanted: usize,
    decoder: Decoder,
    /// The error of bytes behind the last stream, returned at the end of the file unless they contain a block.
    behind: Option<DecodeError>,
}

/// The result of a step.
enum Step {
    Contents(Contents),
    /// The step is done; go on with the next one.
    On,
    /// More bits are needed.
    Short,
}

impl Assembler {
    /// Creates an assembler at the start of a file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the stream and the number in it, both counted from 1, of the block whose contents were returned last,
    /// and its place in the file in bits.
    pub fn last(&self) -> ((u64, u64), Range<u64>) {
        ((self.stream, self.block), self.last.clone())
    }

    /// Takes the next decoded segment. Returns the contents of the next block, if there is one.
    ///
    /// # Errors
    ///
    /// If the file is damaged at this place or is no bzip2 file. Do not call it again then. [`Fault::TrailingGarbage`]
    /// comes after all contents before it were given out.
    pub fn next(&mut self, decoded: Decoded) -> Result<Option<Contents>, DecodeError> {
        let Decoded { segment, found } = decoded;
        if let Some(behind) = &self.behind {
            return match found {
                Found::Other => Ok(None),
                _ => Err(behind.clone().hiding(segment.offset())),
            };
        }
        let next = self.next_here(segment, found);
        match next {
            Err(error) if error.fault == Fault::TrailingGarbage => {
                self.behind = Some(error);
                Ok(None)
            }
            next => next,
        }
    }

    /// Does the same, up to the end of the last stream.
    fn next_here(&mut self, segment: Segment, found: Found) -> Result<Option<Contents>, DecodeError> {
        if let Some(rest) = &mut self.rest {
            rest.append(&segment);
            return self.go_on(false);
        }
        self.steps(segment, Some(found))
    }

    /// Ends the file. Returns the contents of the next block, if there is one left. Call it until it returns `None`.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next), or if the file was cut: it must not end here.
    pub fn finish(&mut self) -> Result<Option<Contents>, DecodeError> {
        if let Some(behind) = self.behind.take() {
            return Err(behind);
        }
        if let Some(contents) = self.go_on(true)? {
            return Ok(Some(contents));
        }
        match &self.rest {
            None if self.stream > 0 && !self.in_stream => Ok(None),
            // These bytes are fewer than a header, and not the start of one.
            Some(rest) if self.stream > 0 && !self.in_stream && !b"BZh".starts_with(&rest.bytes) => {
                Err(self.fault(Fault::TrailingGarbage))
            }
            rest => {
                let end = rest.as_ref().map_or(self.at, |rest| rest.end);
                Err(self.fault_at(end, Fault::Truncated))
            }
        }
    }

    /// Goes on with the rest. `must` is true at the end of the file.
    fn go_on(&mut self, must: bool) -> Result<Option<Contents>, DecodeError> {
        match self.rest.take() {
            Some(rest) if must || rest.bytes.len() >= self.wanted => self.steps(rest, None),
            rest => {
                self.rest = rest;
                Ok(None)
            }
        }
    }

    /// Goes through a segment that begins where the next item must be, up to the end of a block. `found` is the item at
    /// its start, if it is known.
    fn steps(&mut self, segment: Segment, mut found: Option<Found>) -> Result<Option<Contents>, DecodeError> {
        let mut segment = segment;
        while self.at < segment.end {
            if self.at > segment.start {
                segment = segment.from(self.at);
            }
            match self.step(&segment, found.take())? {
                Step::On => {}
                Step::Contents(contents) => {
                    self.wanted = 0;
                    self.rest = (self.at < segment.end).then(|| segment.from(self.at));
                    return Ok(Some(contents));
                }
                Step::Short => {
                    // Each retry waits for twice as many bytes, so that retries cost little.
                    self.wanted = 2 * segment.bytes.len();
                    self.rest = Some(segment);
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    fn step(&mut self, segment: &Segment, found: Option<Found>) -> Result<Step, DecodeError> {
        if !self.in_stream {
            return self.header(segment);
        }
        match found.unwrap_or_else(|| self.decoder.decode(segment, Vec::new())) {
            Found::Block(block) => self.block(block).map(Step::Contents),
            Found::Damaged { fault, bit } => Err(self.fault_at(bit, fault)),
            Found::Short => Ok(Step::Short),
            Found::Other => self.end(segment),
        }
    }

    fn header(&mut self, segment: &Segment) -> Result<Step, DecodeError> {
        // A header begins with a byte, because an end is padded to one.
        let bytes = &segment.bytes[..segment.bytes.len().min(4)];
        if segment.end - segment.start < HEADER_BITS && b"BZh".starts_with(bytes) {
            return Ok(Step::Short);
        }
        let level = match bytes {
            &[b'B', b'Z', b'h', digit @ b'1'..=b'9'] => Level::new(u32::from(digit - b'0')),
            _ => None,
        };
        let Some(level) = level else {
            return Err(match self.stream {
                0 => self.fault(Fault::Header { found: bytes.to_vec() }),
                _ => self.fault(Fault::TrailingGarbage),
            });
        };
        self.stream += 1;
        (self.block, self.level, self.checksum, self.in_stream) = (0, level, 0, true);
        self.at += HEADER_BITS;
        Ok(Step::On)
    }

    fn block(&mut self, block: Block) -> Result<Contents, DecodeError> {
        let (limit, found) = (self.level.block_size(), block.packed_len);
        if found > limit {
            return Err(self.fault(Fault::Size { limit, found }));
        }
        self.block += 1;
        self.checksum = combine(self.checksum, block.checksum);
        self.last = self.at..block.end;
        self.at = block.end;
        Ok(block.contents)
    }

    fn end(&mut self, segment: &Segment) -> Result<Step, DecodeError> {
        let len = segment.end - segment.start;
        let mut bits = BitReader::new(&segment.bytes, segment.first_bit());
        let magic = u64::from(bits.take(24)) << 24 | u64::from(bits.take(24));
        let there = len.min(48);
        if magic >> (48 - there) != END_MAGIC >> (48 - there) {
            // The file may also be cut inside the magic number of a block.
            let is_cut = magic >> (48 - there) == super::BLOCK_MAGIC >> (48 - there);
            return if is_cut { Ok(Step::Short) } else { Err(self.fault(Fault::Magic)) };
        }
        if len < END_BITS {
            return Ok(Step::Short);
        }
        let (expected, found) = (bits.take(32), self.checksum);
        if expected != found {
            return Err(self.fault_at(self.at + 48, Fault::StreamChecksum { expected, found }));
        }
        self.at = (self.at + END_BITS).next_multiple_of(8);
        self.in_stream = false;
        Ok(Step::On)
    }

    fn fault(&self, fault: Fault) -> DecodeError {
        self.fault_at(self.at, fault)
    }

    /// Returns the error of a fault at bit `bit` of the file.
    fn fault_at(&self, bit: u64, fault: Fault) -> DecodeError {
        let place = Place::Block { stream: self.stream.max(1), number: self.block + 1 };
        DecodeError::new(place, bit / 8, fault)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bits::BitWriter;
    use super::super::runs::checksum;
    use super::super::write::StreamWriter;
    use super::super::{Cutter, EncodedBlock, Encoder, Fault, decode};
    use super::*;
    use std::io::Read;

    /// Returns a block of these symbols, with any checksum. Its code has each byte below 254 as the code of a symbol.
    fn block_of(symbols: &[u8], checksum: u32, is_scrambled: bool) -> EncodedBlock {
        let mut bits = BitWriter::default();
        bits.put(24, 0x31_4159);
        bits.put(24, 0x26_5359);
        bits.put(32, checksum);
        bits.put(1, is_scrambled.into());
        bits.put(24, 0);
        (0..17).for_each(|_| bits.put(16, 0xffff));
        let groups = (symbols.len() + 1).div_ceil(50) as u32;
        bits.put(3, 2);
        bits.put(15, groups);
        (0..groups).for_each(|_| bits.put(1, 0));
        for _ in 0..2 {
            bits.put(5, 8);
            (0..254).for_each(|_| bits.put(1, 0));
            // The length rises to nine bits once, for the last four.
            bits.put(3, 0b100);
            (0..3).for_each(|_| bits.put(1, 0));
        }
        symbols.iter().for_each(|&symbol| bits.put(8, symbol.into()));
        bits.put(9, 511);
        let (bytes, last_bits) = bits.finish();
        EncodedBlock { bytes, last_bits, checksum }
    }

    fn stream_of(blocks: &[EncodedBlock]) -> Vec<u8> {
        let mut stream = StreamWriter::new(Vec::new(), Level::BEST);
        blocks.iter().for_each(|block| stream.write(block).unwrap());
        stream.finish().unwrap()
    }

    /// Returns the output of the reference implementation up to an error, and whether there was none.
    fn reference(file: &[u8]) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let mut decoder = bzip2::read::MultiBzDecoder::new(file);
        let mut byte = [0];
        loop {
            // Byte by byte, because with an error it withholds the other bytes that were asked for.
            match decoder.read(&mut byte) {
                Ok(0) => return (out, true),
                Ok(_) => out.push(byte[0]),
                Err(_) => return (out, false),
            }
        }
    }

    /// Returns the block with the right checksum.
    fn right_block_of(symbols: &[u8]) -> EncodedBlock {
        let error = decode(&stream_of(&[block_of(symbols, 0, false)])[..], Vec::new()).unwrap_err();
        match error.get_ref().unwrap().downcast_ref::<DecodeError>().unwrap().fault {
            Fault::Checksum { found, .. } => block_of(symbols, found, false),
            ref fault => panic!("{fault}"),
        }
    }

    #[test]
    fn what_looks_like_a_start_inside_of_a_block_is_none() {
        let magics = [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];
        let mut encoder = Encoder::new();
        let text = b"an ordinary block ".repeat(1000);
        let mut cutter = Cutter::new(Level::BEST);
        assert_eq!(cutter.next(&mut &text[..]).unwrap(), None);
        let ordinary = encoder.encode_into(&cutter.rest().unwrap(), Vec::new()).unwrap();
        for count in [1, 2, 3, 100] {
            for gap in [0, 1, 7, 300] {
                let symbols: Vec<u8> = (0..count)
                    .flat_map(|n| [vec![9; gap], magics[n % 2].to_vec(), vec![200 + n as u8 % 50; gap]])
                    .flatten()
                    .collect();
                let tricky = right_block_of(&symbols);
                let file = stream_of(&[
                    ordinary.clone(),
                    tricky.clone(),
                    tricky.clone(),
                    ordinary.clone(),
                    tricky,
                    ordinary.clone(),
                ]);
                let (expected, is_right) = reference(&file);
                assert!(is_right);
                let mut out = Vec::new();
                decode(&file[..], &mut out).unwrap();
                assert!(out == expected, "{count} of them, {gap} apart");
                for cut in [1, 5, file.len() / 2, file.len() - 30] {
                    let error = decode(&file[..file.len() - cut], Vec::new()).unwrap_err();
                    let error = error.get_ref().unwrap().downcast_ref::<DecodeError>().unwrap();
                    assert_eq!(error.fault, Fault::Truncated, "{error}");
                }
            }
        }
    }

    #[test]
    fn scrambled_blocks_are_read_too() {
        let noise = |n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8;
        let symbols: Vec<u8> = (0..2_000).map(|n| 2 + noise(n) % 250).collect();
        // With a wrong checksum the reference implementation gives all but the last byte.
        let (mut data, _) = reference(&stream_of(&[block_of(&symbols, 0, true)]));
        let file = (0..=255).find_map(|byte| {
            data.push(byte);
            let file = stream_of(&[block_of(&symbols, checksum(&data), true)]);
            data.pop();
            reference(&file).1.then_some(file)
        });
        let file = file.expect("there is a last byte");
        let mut out = Vec::new();
        decode(&file[..], &mut out).unwrap();
        assert!(out == reference(&file).0);
        assert!(out != reference(&stream_of(&[right_block_of(&symbols)])).0);
    }
}
