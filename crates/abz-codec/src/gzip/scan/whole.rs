//! Members that state their size, held until they are complete.

use std::mem;

use memchr::memmem;

use super::state::{MAX_BGZF, START, Scanned, Scanner, State};
use crate::feed::Step;
use crate::gzip::error::{DecodeError, Fault};
use crate::gzip::header::RESERVED;
use crate::gzip::inflate::Inflater;
use crate::gzip::member::Member;
use crate::gzip::sums::Sums;
use crate::gzip::{EMPTY_DEFLATE, MAX_BLOCK, TRAILER_LEN, u32_at};
use crate::parts::CHUNK;

/// The result of decoding a member that may have another size than its header states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// It is valid and ends where the header states.
    Right,
    /// It is valid and ends before that place.
    Shorter,
    /// It does not end there.
    Longer,
    /// It is damaged.
    Wrong,
}

impl Scanner {
    pub(super) fn member(
        &mut self,
        input: &mut &[u8],
        spare: &mut Vec<u8>,
        len: usize,
        header_len: usize,
        uncompressed: Option<u32>,
    ) -> Result<Step<Scanned>, DecodeError> {
        self.feed.hold(input, len + START.len());
        if self.feed.held.len() < len {
            return Ok(Step::Starved);
        }
        let found = u32_at(&self.feed.held, len - 4);
        let fits = match uncompressed {
            Some(expected) => expected == found,
            // A larger member is BGZF in name only, and its contents should not be held in memory.
            None => found <= MAX_BGZF,
        };
        let behind = &self.feed.held[len..];
        if fits && START.starts_with(behind) && !self.has_others(len, header_len) {
            // The bytes behind the member tell whether it ends here.
            let is_known = behind.len() == START.len();
            return Ok(if is_known {
                Step::Found(self.whole(len, header_len, spare))
            } else {
                Step::Starved
            });
        }
        match (self.look(len, header_len), uncompressed) {
            // Other bytes follow, such as zeros. The member itself is right.
            (Look::Right, _) if fits => Ok(Step::Found(self.whole(len, header_len, spare))),
            (Look::Wrong, Some(header)) if !fits => {
                let fault = Fault::Disagreement { header, trailer: found };
                Err(self.fault_at(self.feed.offset + len as u64 - 4, fault))
            }
            // The decoder determines the error.
            (Look::Wrong, _) if fits => Ok(Step::Found(self.whole(len, header_len, spare))),
            _ => {
                self.stream_after_all(header_len);
                Ok(Step::On)
            }
        }
    }

    /// Returns whether another member seems to begin within the stated size.
    fn has_others(&self, len: usize, header_len: usize) -> bool {
        let bytes = &self.feed.held[..len];
        let starts = memmem::find_iter(&bytes[header_len..], &START).map(|at| header_len + at);
        starts.filter(|&at| at >= header_len + EMPTY_DEFLATE.len() + TRAILER_LEN).any(|at| {
            let may_begin = bytes.get(at + 3).is_some_and(|flags| flags & RESERVED == 0);
            may_begin && u32_at(bytes, at - 4) as usize <= MAX_BLOCK
        })
    }

    /// Gives out the first `len` bytes that are held as a member.
    pub(super) fn whole(&mut self, len: usize, header_len: usize, spare: &mut Vec<u8>) -> Scanned {
        spare.clear();
        spare.extend_from_slice(&self.feed.held[len..]);
        mem::swap(spare, &mut self.feed.held);
        let mut bytes = mem::take(spare);
        bytes.truncate(len);
        let member = Member { number: self.number, start: self.start, header_len, bytes, block: None };
        self.feed.offset += len as u64;
        self.state = State::Between;
        Scanned::Member(member)
    }

    /// Decodes a held member, of `len` bytes by its header, without keeping its contents.
    pub(super) fn look(&mut self, len: usize, header_len: usize) -> Look {
        let inflater = self.inflater.get_or_insert_with(Inflater::new);
        inflater.reset();
        self.feed.chunk.resize(CHUNK, 0);
        let (mut input, mut sums) = (&self.feed.held[header_len.min(len)..len], Sums::new());
        loop {
            let Ok(step) = inflater.step(input, &mut self.feed.chunk) else { return Look::Wrong };
            sums.add(&self.feed.chunk[..step.produced]);
            input = &input[step.consumed..];
            if step.ended {
                break;
            }
            if input.is_empty() && step.produced < self.feed.chunk.len() {
                return Look::Longer;
            }
        }
        match input.first_chunk() {
            None => Look::Longer,
            Some(&trailer) if sums.check(trailer).is_ok() => match input.len() {
                TRAILER_LEN => Look::Right,
                _ => Look::Shorter,
            },
            Some(_) => Look::Wrong,
        }
    }

    /// Scans a member again, as a stream, because its header states a wrong size.
    pub(super) fn stream_after_all(&mut self, header_len: usize) {
        self.mistaken.get_or_insert(self.number);
        self.expects_more = false;
        self.feed.replay(header_len);
        self.stream();
    }
}
