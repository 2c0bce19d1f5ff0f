//! Helpers for the tests: files made and read in the simplest way, and inputs.
#![allow(dead_code, reason = "each test file uses a part of it")]

pub mod deflate;
pub mod lzma;
pub mod parts;

use std::io::{Read, Write};

pub use abz_foreign::{command, fed, have, through};

use abz_codec::Blocks;
use abz_codec::gzip::{
    DecodeError, Decoder, Encoder, Layout, Origin, Piece, Scanned, Scanner, Splitter, Verifier, Writer,
};

/// Compresses to a file of several members.
pub fn compress(data: &[u8], level: u32, block_size: usize) -> Vec<u8> {
    compress_with(Encoder::new(level), Layout::Members, data, block_size)
}

/// Compresses to a file of one member, with marks if there are several blocks.
pub fn compress_to_one(data: &[u8], level: u32, block_size: usize) -> Vec<u8> {
    compress_with(Encoder::new(level), Layout::OneMember, data, block_size)
}

/// Compresses to a file that states its origin.
pub fn compress_with_origin(data: &[u8], block_size: usize, name: &[u8], mtime: u32) -> Vec<u8> {
    let origin = Origin { name: Some(name.to_vec()), mtime };
    compress_with(Encoder::new(6).origin(origin), Layout::Members, data, block_size)
}

fn compress_with(encoder: Encoder, layout: Layout, data: &[u8], block_size: usize) -> Vec<u8> {
    let mut encoder = encoder.layout(layout);
    let mut file = Writer::new(Vec::new(), layout);
    for block in Blocks::new(data, block_size) {
        file.write(&encoder.encode(&block.unwrap()).unwrap()).unwrap();
    }
    file.finish().unwrap()
}

/// Decodes a file. Returns the contents before its end or its first error, and that error.
pub fn decode(file: &[u8]) -> (Vec<u8>, Option<DecodeError>) {
    let mut decoder = Decoder::new();
    let mut out = Vec::new();
    for piece in Splitter::new(file) {
        let data = piece.and_then(|piece| match piece {
            Piece::Member(member) => decoder.decode(&member),
            Piece::Data(data) => Ok(data),
        });
        match data {
            Ok(data) => out.extend(data),
            Err(error) => return (out, Some(error)),
        }
    }
    (out, None)
}

/// As [`decode`], for a file that comes in pieces. `len` returns the length of the next piece, at least 1.
pub fn decode_pushed(mut file: &[u8], mut len: impl FnMut() -> usize) -> (Vec<u8>, Option<DecodeError>) {
    let (mut scanner, mut verifier, mut decoder) = (Scanner::new(), Verifier::new(), Decoder::new());
    let (mut out, mut data) = (Vec::new(), Vec::new());
    let mut push = |mut piece: &[u8]| {
        while let Some(found) = scanner.next(&mut piece, &mut data)? {
            match found {
                Scanned::Member(member) => out.extend(decoder.decode(&member)?),
                Scanned::Data(stretch) => {
                    verifier.verify(&stretch, &data)?;
                    out.extend(&data);
                }
            }
        }
        assert!(piece.is_empty(), "it wants more and has not taken all");
        Ok(())
    };
    while !file.is_empty() {
        let (piece, rest) = file.split_at(len().min(file.len()));
        file = rest;
        if let Err(error) = push(piece) {
            return (out, Some(error));
        }
    }
    loop {
        match scanner.finish(&mut data) {
            Ok(None) => return (out, None),
            Err(error) => return (out, Some(error)),
            Ok(Some(Scanned::Member(member))) => match decoder.decode(&member) {
                Ok(data) => out.extend(data),
                Err(error) => return (out, Some(error)),
            },
            Ok(Some(Scanned::Data(stretch))) => {
                if let Err(error) = verifier.verify(&stretch, &data) {
                    return (out, Some(error));
                }
                out.extend(&data);
            }
        }
    }
}

/// Decodes a file that must be valid.
pub fn decode_all(file: &[u8]) -> Vec<u8> {
    let (out, error) = decode(file);
    assert!(error.is_none(), "{}", error.unwrap());
    out
}

/// Compresses to a file of one member, with another encoder.
pub fn foreign(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Decodes a file of gzip members with another decoder.
pub fn oracle(file: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut out).map(|_| out)
}

/// Random bytes and numbers, the same in each run.
pub struct Noise(fastrand::Rng);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Noise(fastrand::Rng::with_seed(seed))
    }

    pub fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0.usize(..n)
    }

    /// Returns one of these.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.fill(&mut bytes);
        bytes
    }
}

/// Returns words in a random order: compressible, and different everywhere.
pub fn prose(len: usize) -> Vec<u8> {
    let words = ["river ", "branch ", "leaves ", "the ", "main ", "stream ", "and ", "joins ", "again\n"];
    let mut noise = Noise::new(len as u64);
    let mut text = Vec::with_capacity(len + 8);
    while text.len() < len {
        text.extend(words[noise.below(words.len())].bytes());
    }
    text.truncate(len);
    text
}
