//! Reading and writing of bits that are written from the start of a stream and read from its end (RFC 8878, section
//! 4.1).

/// A reader of a stream from its end.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The number of bits at the start of the stream that were not read.
    left: usize,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `bytes`, whose highest set bit marks the end of the stream; `None` if the last byte has
    /// none.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let highest = bytes.last()?.checked_ilog2()?;
        Some(Reader { bytes, left: 8 * (bytes.len() - 1) + highest as usize })
    }

    /// Returns the number of bits that were not read.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Reads `count` bits, at most 32, from the end; `None` if there are fewer.
    pub(super) fn read(&mut self, count: u32) -> Option<u32> {
        self.left = self.left.checked_sub(count as usize)?;
        let from = self.left / 8;
        let mut eight = [0; 8];
        let bytes = &self.bytes[from..self.bytes.len().min(from + 8)];
        eight[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(eight) >> (self.left % 8);
        Some((bits & ((1 << count) - 1)) as u32)
    }
}

/// A writer of a stream from its start.
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// The number of unused bits of the last byte, 0 to 7.
    free: u32,
}

impl Writer {
    /// Creates a writer behind the first `kept` bits of a stream.
    pub(super) fn behind(bytes: &[u8], kept: usize) -> Self {
        let mut bytes = bytes[..kept.div_ceil(8)].to_vec();
        let free = (8 * bytes.len() - kept) as u32;
        if let Some(last) = bytes.last_mut() {
            *last &= 0xff >> free;
        }
        Writer { bytes, free }
    }

    /// Writes the low `count` bits of `bits`, at most 32.
    pub(super) fn write(&mut self, bits: u32, count: u32) {
        let mut bits = u64::from(bits) & ((1 << count) - 1);
        let mut count = count;
        if let Some(last) = self.bytes.last_mut().filter(|_| self.free > 0) {
            *last |= (bits << (8 - self.free)) as u8;
            let written = self.free.min(count);
            (bits, count, self.free) = (bits >> written, count - written, self.free - written);
        }
        while count > 0 {
            self.bytes.push(bits as u8);
            let written = count.min(8);
            (bits, count, self.free) = (bits >> written, count - written, 8 - written);
        }
    }

    /// Returns the stream, with the bit that marks its end.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.write(1, 1);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_from_the_end() {
        let numbers =
            [(0, 0), (1, 1), (0b101, 3), (0x7fff_ffff, 31), (77, 9), (0, 5), (0xffff_ffff, 32), (3, 2)];
        let mut writer = Writer::behind(&[], 0);
        numbers.iter().for_each(|&(bits, count)| writer.write(bits, count));
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes).unwrap();
        for &(bits, count) in numbers.iter().rev() {
            let left = reader.left();
            assert_eq!(reader.read(count), Some(bits));
            // A writer can continue behind the bits that are kept.
            let mut writer = Writer::behind(&bytes, left - count as usize);
            writer.write(bits, count);
            assert_eq!(Reader::new(&writer.finish()).unwrap().left(), left);
        }
        assert_eq!((reader.left(), reader.read(1)), (0, None));
        assert!(Reader::new(&[]).is_none() && Reader::new(&[1, 0]).is_none());
    }
}
