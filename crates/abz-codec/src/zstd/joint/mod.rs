//! Conversion of blocks so that they can follow any other blocks.
//!
//! libzstd makes a frame of each piece of an input. The blocks of these frames, concatenated, are one frame if no piece
//! refers to anything before it: to contents, to the codes of literals or sequences, or to one of the last three
//! offsets (RFC 8878, section 3.1.1.5). The list of last offsets begins with 1, 4 and 8 in each frame, and an encoder
//! uses these like others. Only that has to be changed. A match with one of them gets the offset itself. The sequences
//! behind it may then refer to another entry of the list, and are changed too, until the lists before and after the
//! change agree. That is soon: except for a handful of sequences, all bits stay unchanged. If the code of a block has
//! no symbol for an offset, the block gets a code for the offsets that it has then, and the next block that repeats the
//! old code gets that code explicitly.

mod bits;
mod sequences;
mod table;

use sequences::{Code, Field, Header, Mode, Sequence, Sequences, rewrite};
use table::Table;

use super::{BLOCK_HEADER, MAX_BLOCK};

/// The last offsets at the start of a frame.
const FIRST_OFFSETS: [u32; 3] = [1, 4, 8];

/// Writes the blocks of a frame to `out`, so that they can follow any other blocks, and others can follow them. `None`
/// if that is impossible, or if they are not valid; the contents of `out` are of no use then.
pub(super) fn detach(blocks: &[u8], out: &mut Vec<u8>) -> Option<()> {
    whole(blocks, out, Joint::new())
}

/// As [`detach`], for the blocks with which a frame begins: others can follow them.
pub(super) fn open_end(blocks: &[u8], out: &mut Vec<u8>) -> Option<()> {
    whole(blocks, out, Joint::at_start())
}

/// Writes all blocks of a frame to `out`. The last of them must be the last one of the frame.
fn whole(blocks: &[u8], out: &mut Vec<u8>, mut joint: Joint) -> Option<()> {
    copy(blocks, out, &mut joint)?.then_some(())
}

/// Writes blocks to `out`, which follow those that the joint has passed. Returns whether the last of them is the last one of
/// its frame, or `None` if it is impossible.
pub(super) fn copy(blocks: &[u8], out: &mut Vec<u8>, joint: &mut Joint) -> Option<bool> {
    let (mut at, mut has_ended) = (0, false);
    while at < blocks.len() {
        let header = u32::from_le_bytes([*blocks.get(at)?, *blocks.get(at + 1)?, *blocks.get(at + 2)?, 0]);
        let (is_last, kind, size) = (header & 1 != 0, header >> 1 & 3, (header >> 3) as usize);
        let data_at = at + BLOCK_HEADER;
        at = data_at + if kind == RUN { 1 } else { size };
        let data = blocks.get(data_at..at)?;
        let changed = match kind {
            COMPRESSED if !joint.is_past() => joint.pass(data)?,
            _ => None,
        };
        match changed {
            Some(changed) if changed.len() > MAX_BLOCK => return None,
            Some(changed) => {
                out.extend(&((changed.len() as u32) << 3 | COMPRESSED << 1).to_le_bytes()[..BLOCK_HEADER]);
                out.extend(changed);
            }
            None => {
                out.extend(&(header & !1).to_le_bytes()[..BLOCK_HEADER]);
                out.extend(data);
            }
        }
        if has_ended {
            return None;
        }
        has_ended = is_last;
    }
    Some(has_ended)
}

/// Writes `contents` as blocks that are stored.
pub(super) fn store(contents: &[u8], out: &mut Vec<u8>) {
    for part in contents.chunks(MAX_BLOCK) {
        out.extend(&((part.len() as u32) << 3).to_le_bytes()[..BLOCK_HEADER]);
        out.extend(part);
    }
}

/// The kinds of blocks.
const RUN: u32 = 1;
const COMPRESSED: u32 = 2;

/// The last three offsets, as the encoder knew them, and as a decoder knows them, if it does.
struct Offsets {
    before: [u32; 3],
    now: [Option<u32>; 3],
}

impl Offsets {
    /// Returns whether both lists are the same.
    fn agree(&self) -> bool {
        self.before.map(Some) == self.now
    }

    /// Applies a sequence to the lists. Returns the number that its offset must have now, or `None` if it breaks the
    /// rules.
    fn pass(&mut self, sequence: &Sequence) -> Option<u32> {
        let number = sequence.offset;
        let which = if number > 3 { NEW } else { number as usize - 1 + usize::from(sequence.is_bare) };
        let offset = match which {
            NEW => number - 3,
            LESS_ONE => self.before[0].checked_sub(1)?,
            which => self.before[which],
        };
        let found = match which {
            NEW => None,
            LESS_ONE => self.now[0].and_then(|first| first.checked_sub(1)),
            which => self.now[which],
        };
        push(&mut self.before, offset, which);
        let is_same = found == Some(offset);
        push(&mut self.now, Some(offset), if is_same { which } else { NEW });
        if is_same { Some(number) } else { offset.checked_add(3) }
    }
}

/// The offset is none of the last ones, or it is the last one less 1.
const NEW: usize = 4;
const LESS_ONE: usize = 3;

/// Moves an offset to the front of the list.
fn push<T: Copy>(last: &mut [T; 3], offset: T, which: usize) {
    match which {
        0 => {}
        1 => *last = [offset, last[0], last[2]],
        _ => *last = [offset, last[0], last[1]],
    }
}

/// The state while the blocks are passed.
pub(super) struct Joint {
    state: Offsets,
    /// The codes in force, as the encoder knew them.
    codes: [Option<Code>; 3],
    /// Whether a decoder knows another code for offsets than the encoder.
    is_replaced: bool,
}

impl Joint {
    /// The state before blocks that follow others of which nothing is known.
    pub(super) fn new() -> Self {
        let state = Offsets { before: FIRST_OFFSETS, now: [None; 3] };
        Joint { state, codes: [None, None, None], is_replaced: false }
    }

    /// The state at the start of a frame.
    pub(super) fn at_start() -> Self {
        Joint { state: Offsets { before: FIRST_OFFSETS, now: FIRST_OFFSETS.map(Some) }, ..Joint::new() }
    }

    /// Returns whether the following blocks can stay unchanged.
    fn is_past(&self) -> bool {
        self.state.agree() && !self.is_replaced
    }

    /// Passes a block. Returns its replacement, if it must be changed, or `None` if it breaks the rules.
    #[expect(clippy::option_option, reason = "a block that stays is none that breaks the rules")]
    fn pass(&mut self, block: &[u8]) -> Option<Option<Vec<u8>>> {
        let header = Header::parse(block)?;
        if header.count == 0 {
            return Some(None);
        }
        let mut at = header.modes_at + 1;
        let mut descriptions = [at..at, at..at, at..at];
        for (index, field) in
            [Field::LiteralLength, Field::Offset, Field::MatchLength].into_iter().enumerate()
        {
            let mode = header.modes[index];
            let start = at;
            if mode != Mode::Repeat {
                let code = Code::parse(field, mode, &block[at..])?;
                at += code.description.len();
                self.codes[index] = Some(code);
            }
            descriptions[index] = start..at;
        }
        let [Some(literals), Some(offsets), Some(matches)] = &self.codes else { return None };
        let codes = [&literals.table, &offsets.table, &matches.table];
        let stream = &block[at..];

        // The description of the code for offsets, and the sequences.
        let repeats = header.modes[1] == Mode::Repeat;
        let mut said = (header.modes[1], &block[descriptions[1].clone()]);
        let mut is_changed = false;
        if repeats && self.is_replaced {
            said = (offsets.mode, &offsets.description);
            is_changed = true;
        }
        self.is_replaced = false;
        let new;
        let stream = match change(&mut self.state, codes, stream, header.count)? {
            Change::Nothing => stream.to_vec(),
            Change::Stream(changed) => {
                is_changed = true;
                changed
            }
            Change::StreamAndCode(changed, code) => {
                new = code;
                said = (new.mode, &new.description);
                self.is_replaced = true;
                is_changed = true;
                changed
            }
        };
        if !is_changed {
            return Some(None);
        }
        let modes = Header::byte([header.modes[0], said.0, header.modes[2]]);
        let mut changed = Vec::with_capacity(block.len() + 64);
        changed.extend(&block[..header.modes_at]);
        changed.push(modes);
        changed.extend(&block[descriptions[0].clone()]);
        changed.extend(said.1);
        changed.extend(&block[descriptions[2].clone()]);
        changed.extend(stream);
        Some(Some(changed))
    }
}

/// The change that the sequences of a block need.
enum Change {
    Nothing,
    /// A new stream.
    Stream(Vec<u8>),
    /// A new stream and a new code for offsets.
    StreamAndCode(Vec<u8>, Code),
}

/// Changes the sequences in `stream` as far as necessary. `None` if they break the rules.
fn change(state: &mut Offsets, codes: [&Table; 3], stream: &[u8], count: usize) -> Option<Change> {
    if state.agree() {
        return Some(Change::Nothing);
    }
    let mut reader = Sequences::new(codes, stream, count)?;
    let mut sequences = Vec::new();
    // The number of sequences to be written.
    let mut changed = 0;
    while sequences.len() < count && !state.agree() {
        let mut sequence = reader.read()?;
        let number = state.pass(&sequence)?;
        if number != sequence.offset {
            sequence.offset = number;
            changed = sequences.len() + 1;
        }
        sequences.push(sequence);
    }
    if changed == 0 {
        return Some(Change::Nothing);
    }
    // The next sequence has the states that the last of these must lead to.
    if changed == sequences.len() && changed < count {
        sequences.push(reader.read()?);
    }
    let behind = sequences.get(changed);
    if let Some(stream) = rewrite(stream, &sequences[..changed], behind, codes, codes[1]) {
        return Some(Change::Stream(stream));
    }
    while sequences.len() < count {
        sequences.push(reader.read()?);
    }
    let code = Code::for_offsets(&sequences);
    let stream = rewrite(stream, &sequences, None, codes, &code.table)?;
    Some(Change::StreamAndCode(stream, code))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::Block;
    use crate::zstd::{Encoder, Encoding};

    /// The symbols of the last three offsets.
    const REPEATED: [u8; 2] = [0, 1];

    /// Checks that each code for offsets that the blocks state has only symbols that the sequences of its block use.
    /// Strict decoders refuse a code with a symbol that stands for offsets which no file can have. Every file can have
    /// the last offsets, so their symbols may stay in a code when the sequences that used them state the offset itself.
    /// Returns the number of these codes.
    fn check(blocks: &[u8]) -> usize {
        let (mut at, mut codes, mut checked) = (0, [None, None, None], 0);
        while at < blocks.len() {
            let header = u32::from_le_bytes([blocks[at], blocks[at + 1], blocks[at + 2], 0]);
            let (kind, size) = (header >> 1 & 3, (header >> 3) as usize);
            let data_at = at + BLOCK_HEADER;
            at = data_at + if kind == RUN { 1 } else { size };
            let block = &blocks[data_at..at];
            let Some(header) = Header::parse(block).filter(|header| kind == COMPRESSED && header.count > 0)
            else {
                continue;
            };
            let mut from = header.modes_at + 1;
            for (index, field) in
                [Field::LiteralLength, Field::Offset, Field::MatchLength].into_iter().enumerate()
            {
                if header.modes[index] != Mode::Repeat {
                    let code = Code::parse(field, header.modes[index], &block[from..]).unwrap();
                    from += code.description.len();
                    codes[index] = Some(code);
                }
            }
            let [Some(literals), Some(offsets), Some(matches)] = &codes else {
                panic!("a block repeats a code that no block of the piece states")
            };
            if !matches!(header.modes[1], Mode::Described | Mode::Single) {
                continue;
            }
            let tables = [&literals.table, &offsets.table, &matches.table];
            let mut sequences = Sequences::new(tables, &block[from..], header.count).unwrap();
            let used: BTreeSet<u8> =
                (0..header.count).map(|_| sequences.read().unwrap().offset.ilog2() as u8).collect();
            let mut symbols = offsets.table.symbols();
            symbols.retain(|symbol| used.contains(symbol) || !REPEATED.contains(symbol));
            assert_eq!(symbols, used);
            checked += 1;
        }
        checked
    }

    /// Data of several kinds, in stretches: zeros, lines of numbers, repetitions from far and near, and noise.
    fn data() -> impl Strategy<Value = Vec<u8>> {
        let stretch = (0..5, 1..9000_usize, any::<u64>());
        proptest::collection::vec(stretch, 1..8).prop_map(|stretches| {
            let mut data = Vec::new();
            for (kind, len, seed) in stretches {
                let mut numbers = (0..).scan(seed | 1, |state, _: u64| {
                    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    Some(*state >> 33)
                });
                let until = data.len() + len;
                match kind {
                    0 => data.resize(until, 0),
                    1 => {
                        data.extend((seed % 1000..).take(len / 5).flat_map(|n| format!("{n}\n").into_bytes()))
                    }
                    2 => data.extend(numbers.by_ref().take(len).map(|number| number as u8)),
                    _ => {
                        while data.len() < until {
                            let from = numbers.next().unwrap() as usize % (data.len() + 1);
                            let to = (from + 3 + numbers.next().unwrap() as usize % 30).min(data.len());
                            data.extend_from_within(from..to);
                            data.extend(numbers.next().map(|number| number as u8));
                        }
                    }
                }
            }
            data
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn pieces_have_only_the_codes_that_they_use(data in data(), level in 1..=19, number in 0..2_u64) {
            let mut encoder = Encoder::new(level, &Encoding::default());
            let block = Block { data, number, whole: false };
            check(&encoder.encode_into(&block, Vec::new()).unwrap().bytes);
        }
    }

    #[test]
    fn offsets_of_which_the_code_knows_nothing_get_a_code_of_their_own() {
        let numbers: Vec<u8> = (1..=3000).flat_map(|number| format!("{number}\n").into_bytes()).collect();
        let data = [&[0; 7000][..], &numbers].concat();
        for number in 0..2 {
            let mut encoder = Encoder::new(3, &Encoding::default());
            let checked: usize = data
                .chunks(4096)
                .map(|data| {
                    let block = Block { data: data.to_vec(), number, whole: false };
                    check(&encoder.encode_into(&block, Vec::new()).unwrap().bytes)
                })
                .sum();
            assert!(checked > 0);
        }
    }
}
