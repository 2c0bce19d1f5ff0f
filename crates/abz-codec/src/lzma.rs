//! liblzma without its containers: encoding and decoding of an LZMA stream, step by step.

use liblzma::stream::{Action, Error, Filters, LzmaOptions, Status, Stream};

use crate::memory::{NoMemory, make_room};

/// Returns the largest size of a stream of `len` bytes of contents: incompressible data grows a little.
pub(crate) fn bound(len: usize) -> usize {
    len + len / 16 + 64
}

/// Returns the memory that an encoder takes, in bytes: a window of one and a half dictionaries, a tree with two entries
/// for each byte of the dictionary, and a table of hashes (liblzma, `lz_encoder.c`).
pub(crate) fn encoder_memory(dictionary: u32) -> u64 {
    let dictionary = u64::from(dictionary);
    let hashes = (dictionary.next_power_of_two() / 2).max(1 << 16);
    let hashes = if hashes > 1 << 24 { hashes / 2 } else { hashes };
    dictionary * 19 / 2 + 4 * hashes + (3 << 20)
}

/// The number of bytes that an encoder is given at once, so that progress can be reported. It does not affect the
/// output.
const PORTION: usize = 256 << 10;

/// Appends the encoded stream of `data` to `out`. Calls `watch` with the number of bytes that were encoded since the
/// last call.
pub(crate) fn encode(
    (filters, dictionary): (&Filters, u32),
    data: &[u8],
    out: &mut Vec<u8>,
    watch: &mut dyn FnMut(usize),
) -> Result<(), NoMemory> {
    let mut encoding = Encoding::new(filters, dictionary)?;
    for portion in data.chunks(PORTION) {
        encoding.push(portion, out)?;
        watch(portion.len());
    }
    encoding.finish(out)
}

/// An encoder of one stream.
pub(crate) struct Encoding {
    stream: Stream,
    /// The memory that it takes, in bytes.
    memory: u64,
}

impl Encoding {
    /// Begins a stream whose filter has a dictionary of `dictionary` bytes.
    ///
    /// # Panics
    ///
    /// If the filters are not valid.
    pub(crate) fn new(filters: &Filters, dictionary: u32) -> Result<Self, NoMemory> {
        Encoding::with(Stream::new_raw_encoder(filters), dictionary)
    }

    /// Begins a `.lzma` file with its header.
    ///
    /// # Panics
    ///
    /// If the options are not valid.
    pub(crate) fn alone(options: &LzmaOptions, dictionary: u32) -> Result<Self, NoMemory> {
        Encoding::with(Stream::new_lzma_encoder(options), dictionary)
    }

    fn with(stream: Result<Stream, Error>, dictionary: u32) -> Result<Self, NoMemory> {
        let memory = encoder_memory(dictionary);
        match stream {
            Ok(stream) => Ok(Encoding { stream, memory }),
            Err(Error::Mem) => Err(NoMemory { needed: memory }),
            Err(error) => panic!("the settings were checked: {error}"),
        }
    }

    /// Encodes more contents, and appends the output to `out`.
    pub(crate) fn push(&mut self, mut data: &[u8], out: &mut Vec<u8>) -> Result<(), NoMemory> {
        while !data.is_empty() {
            data = &data[self.step(data, out, Action::Run)?.0..];
        }
        Ok(())
    }

    /// Appends the rest of the output to `out`.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> Result<(), NoMemory> {
        while self.step(&[], out, Action::Finish)?.1 != Status::StreamEnd {}
        Ok(())
    }

    /// Returns the number of bytes of `data` that were taken, and the status of liblzma.
    fn step(&mut self, data: &[u8], out: &mut Vec<u8>, action: Action) -> Result<(usize, Status), NoMemory> {
        if out.capacity() == out.len() {
            make_room(out, out.len() / 4 + 4096)?;
        }
        let before = self.stream.total_in();
        match self.stream.process_vec(data, out, action) {
            Ok(status) => Ok(((self.stream.total_in() - before) as usize, status)),
            Err(Error::Mem) => Err(NoMemory { needed: self.memory }),
            Err(error) => panic!("any data can be encoded: {error}"),
        }
    }
}

/// A decoder of one stream.
pub(crate) struct Decoding {
    stream: Stream,
}

/// The result of a step.
pub(crate) struct Step {
    /// The number of bytes of the input that were used.
    pub(crate) consumed: usize,
    /// The number of bytes of the output that were written.
    pub(crate) produced: usize,
    /// Whether the stream has ended, right behind the bytes that were used.
    pub(crate) ended: bool,
}

/// The reason why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The bytes break the rules of the format.
    Damage,
    /// There is not enough memory.
    Memory,
}

impl From<Error> for Obstacle {
    fn from(error: Error) -> Self {
        match error {
            Error::Mem | Error::MemLimit => Obstacle::Memory,
            _ => Obstacle::Damage,
        }
    }
}

impl Decoding {
    /// Begins a stream that was encoded with these filters.
    pub(crate) fn new(filters: &Filters) -> Result<Self, Obstacle> {
        Ok(Decoding { stream: Stream::new_raw_decoder(filters)? })
    }

    /// Begins a `.lzma` file with its header.
    pub(crate) fn alone() -> Result<Self, Obstacle> {
        Ok(Decoding { stream: Stream::new_lzma_decoder(u64::MAX)? })
    }

    /// Decodes as much of `input` as fits into `output`. It stops early only if it needs more of either, or at the end
    /// of the stream. After an error, [`consumed`](Self::consumed) and [`produced`](Self::produced) tell how far it
    /// came.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut [u8]) -> Result<Step, Obstacle> {
        let (read, written) = (self.stream.total_in(), self.stream.total_out());
        let status = self.stream.process(input, output, Action::Run)?;
        let consumed = (self.stream.total_in() - read) as usize;
        let produced = (self.stream.total_out() - written) as usize;
        let ended = status == Status::StreamEnd;
        // Guards the caller's loop against a library that makes no progress.
        let is_stuck = !ended && consumed == 0 && produced == 0 && !input.is_empty() && !output.is_empty();
        if is_stuck { Err(Obstacle::Damage) } else { Ok(Step { consumed, produced, ended }) }
    }

    /// Returns the number of bytes of the stream that have been used.
    pub(crate) fn consumed(&self) -> u64 {
        self.stream.total_in()
    }

    /// Returns the number of bytes that were decoded.
    pub(crate) fn produced(&self) -> u64 {
        self.stream.total_out()
    }
}
