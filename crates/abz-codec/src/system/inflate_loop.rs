//! The inner loop of [`inflate`](crate::inflate): literals and matches, as long as there is enough input and output.
//!
//! An earlier loop with checked slices decoded 405 MB/s of text and 447 MB/s of binaries. The first one with pointers
//! decoded 538 and 521 MB/s, measured a minute later on the same machine. The checks were not the only difference: the
//! first loop kept its bits in memory. The cost of the checks alone was not measured.

use super::features::Task;
use crate::inflate::Damaged;
use crate::inflate::bits::Bits;
use crate::inflate::history::{History, Slot};
use crate::inflate::table::{DEEPER, END, LITERAL, SPECIAL, Tables, value};

/// The number of bytes of input that a round of the loop may read: two words, each at most seven bytes behind the one
/// before; the first is itself up to seven bytes behind the place that is checked.
const INPUT: usize = 2 * 7 + 8;

/// The number of symbols that are copied at once.
const COPY: usize = 16;

/// The number of symbols that a round may write: three literals, or two and a match, whose copy may write up to
/// [`COPY`] symbols more than its length.
const ROOM: usize = 3 + 258 + COPY;

/// The loop, to be run with the features of the processor. It appends to `out[..at]`, and stops where input or output
/// runs out, or at the end of the block, and returns `true` in the latter case.
pub(crate) struct Loop<'a, 'b, T> {
    pub(crate) tables: &'a Tables,
    pub(crate) history: &'a History<T>,
    pub(crate) bits: &'a mut Bits<'b>,
    pub(crate) out: &'a mut [T],
    pub(crate) at: &'a mut usize,
}

impl<T: Slot> Loop<'_, '_, T> {
    /// Returns whether a round is possible.
    pub(crate) fn is_ready(bits: &Bits<'_>, room: usize) -> bool {
        bits.bytes.len() - bits.at >= INPUT && room >= ROOM
    }
}

impl<T: Slot> Task for Loop<'_, '_, T> {
    type Output = Result<bool, Damaged>;

    #[inline(always)]
    fn run(self) -> Result<bool, Damaged> {
        let Loop { tables, history, bits: held, out, at: place } = self;
        assert!(held.at <= held.bytes.len() && *place <= out.len());
        if !Self::is_ready(held, out.len() - *place) {
            return Ok(false);
        }
        let (bytes, start, all) = (held.bytes.as_ptr(), out.as_mut_ptr(), out.len());
        let known = history.len();
        // SAFETY: these places lie in the slices, which have so many bytes and symbols, as was just checked.
        let (mut input, last_input, mut to, last_room) = unsafe {
            (
                bytes.add(held.at),
                bytes.add(held.bytes.len() - INPUT),
                start.add(*place),
                start.add(all - ROOM),
            )
        };
        let (mut hold, mut count) = (held.hold, held.count);
        // Only the lowest six bits of `count` are valid.
        macro_rules! fill {
            () => {
                // SAFETY: `input` was at most `last_input`, behind which there are `INPUT` bytes, when that was last
                // checked. Since then at most two words were read, and after each `input` moved by at most seven bytes.
                // So there are eight bytes left.
                unsafe {
                    let word = u64::from_le_bytes(input.cast::<[u8; 8]>().read());
                    hold |= word << (count & 63);
                    input = input.add(((count & 63 ^ 63) >> 3) as usize);
                    count |= 56;
                }
            };
        }
        macro_rules! take {
            ($entry:ident) => {
                hold >>= $entry & 63;
                count = count.wrapping_sub($entry);
            };
        }
        macro_rules! put {
            ($entry:ident) => {
                // SAFETY: at the start of a round `to` is at most `last_room`, behind which there are `ROOM` places. A
                // round writes at most three literals.
                unsafe {
                    to.write(T::from(($entry >> 16) as u8));
                    to = to.add(1);
                }
                take!($entry);
            };
        }
        fill!();
        let mut entry = tables.litlen(hold);
        let result = loop {
            if input > last_input || to > last_room {
                break Ok(false);
            }
            // At least 56 bits are held, and `entry` is for the next of them. A literal of the first level has at most
            // 11 bits.
            if entry & LITERAL != 0 {
                put!(entry);
                entry = tables.litlen(hold);
                if entry & LITERAL != 0 {
                    put!(entry);
                    entry = tables.litlen(hold);
                    if entry & LITERAL != 0 {
                        put!(entry);
                        fill!();
                        entry = tables.litlen(hold);
                        continue;
                    }
                }
            }
            // 34 bits are left; a code with its extra bits has at most 20.
            if entry & SPECIAL != 0 {
                if entry & DEEPER != 0 {
                    entry = tables.litlen_deeper(entry, hold);
                    if entry & LITERAL != 0 {
                        put!(entry);
                        fill!();
                        entry = tables.litlen(hold);
                        continue;
                    }
                }
                if entry & SPECIAL != 0 {
                    take!(entry);
                    break if entry & END != 0 { Ok(true) } else { Err(Damaged) };
                }
            }
            let len = value(entry, hold);
            take!(entry);
            // A distance has at most 28 bits.
            if count & 63 < 28 {
                fill!();
            }
            let mut code = tables.distance(hold);
            if code & SPECIAL != 0 {
                if code & DEEPER != 0 {
                    code = tables.distance_deeper(code, hold);
                }
                if code & SPECIAL != 0 {
                    take!(code);
                    break Err(Damaged);
                }
            }
            let distance = value(code, hold);
            take!(code);
            // The next entry is looked up before the copy, so that the processor does not wait for either.
            fill!();
            entry = tables.litlen(hold);
            // SAFETY: both are pointers into `out`, and `to` is not before `start`.
            let at = unsafe { to.offset_from(start) } as usize;
            if distance >= COPY && distance <= at {
                // SAFETY: literals use at most two of the `ROOM` places. So there are 258, the length of the longest
                // match, and `COPY` more, behind `to`. `from` is at least `COPY` places before `to`, and not before
                // `start`; these places were written before, so both are places in `out` that do not overlap. After
                // each copy both advance by `COPY`, and `next` stays before `to` at the end.
                unsafe {
                    let from = to.sub(distance);
                    to.cast::<[T; COPY]>().write(from.cast::<[T; COPY]>().read());
                    if len > COPY {
                        to.add(COPY).cast::<[T; COPY]>().write(from.add(COPY).cast::<[T; COPY]>().read());
                        if len > 2 * COPY {
                            copy_long(to, distance, len);
                        }
                    }
                    to = to.add(len);
                }
                continue;
            }
            // SAFETY: nothing else uses `out` meanwhile. `start` and the length are those of `out`.
            let out = unsafe { std::slice::from_raw_parts_mut(start, all) };
            if distance <= at {
                copy_near(out, at, distance, len);
            } else if distance - at <= known {
                history.copy(out, at, distance, len);
            } else {
                break Err(Damaged);
            }
            // SAFETY: there are as many places behind `to`, which were just written.
            to = unsafe { to.add(len) };
        };
        // SAFETY: they are pointers into the same slices, and not before their starts.
        unsafe {
            held.at = input.offset_from(bytes) as usize;
            *place = to.offset_from(start) as usize;
        }
        (held.hold, held.count) = (hold, count & 63);
        result
    }
}

/// Copies the rest of a match behind its first two pieces.
///
/// # Safety
///
/// `distance` is at least [`COPY`]. `to` has `distance` places before it, and `len` plus [`COPY`] behind.
#[inline(never)]
unsafe fn copy_long<T: Slot>(to: *mut T, distance: usize, len: usize) {
    let mut at = 2 * COPY;
    while at < len {
        // SAFETY: less than `len` was copied before; the caller guarantees the rest.
        unsafe {
            let piece = to.add(at).sub(distance).cast::<[T; COPY]>().read();
            to.add(at).cast::<[T; COPY]>().write(piece);
        }
        at += COPY;
    }
}

/// Copies a match with a distance below [`COPY`]. It may write up to [`COPY`] places behind the match.
#[inline(never)]
fn copy_near<T: Slot>(out: &mut [T], at: usize, distance: usize, len: usize) {
    let end = at + len;
    if distance >= 8 {
        let (mut from, mut to) = (at - distance, at);
        while to < end {
            out.copy_within(from..from + 8, to);
            (from, to) = (from + 8, to + 8);
        }
    } else if distance == 1 {
        let again = out[at - 1];
        out[at..end].fill(again);
    } else {
        // Writes as many repetitions as fit into eight places.
        let (from, times) = (at - distance, 8 / distance);
        for to in 0..times {
            out.copy_within(from..from + distance, at + to * distance);
        }
        let mut to = at + times * distance;
        while to < end {
            out.copy_within(at..at + 8, to);
            to += times * distance;
        }
    }
}
