//! Blocks that can follow any others.
//!
//! libzstd makes a frame of each piece of an input. Their blocks, one behind the other, are a frame again if none of a
//! piece refers to what was before it: to contents, to the code of literals or of sequences, or to one of the last three
//! offsets (RFC 8878, section 3.1.1.5). Of these a frame begins with 1, 4 and 8, and an encoder uses them as any other.
//! That alone has to be changed. A match with one of them gets the offset itself; the sequences behind it may mean
//! another of the last offsets then, and are changed too, until both lists are the same, which is soon: but for a handful of
//! sequences the bits stay as they are. Where the code of a block has no symbol for an offset, the block gets one with
//! all of them, and the next one that would use its code again gets that.

mod bits;
mod sequences;
mod table;

use sequences::{Code, Field, Header, Mode, Sequence, Sequences, rewrite};
use table::{Table, describe_even};

use super::{BLOCK_HEADER, MAX_BLOCK};

/// The offsets that a frame begins with.
const FIRST_OFFSETS: [u32; 3] = [1, 4, 8];

/// Writes the blocks of a frame to `out`, so that they can follow any others and others can follow them. `None` if they
/// cannot, or are no blocks; what is in `out` is then of no use.
pub(super) fn detach(blocks: &[u8], out: &mut Vec<u8>) -> Option<()> {
    copy(blocks, out, Joint::new())
}

/// As [`detach`], of the blocks with which a frame begins: others can follow them.
pub(super) fn open_end(blocks: &[u8], out: &mut Vec<u8>) -> Option<()> {
    copy(
        blocks,
        out,
        Joint { state: Offsets { before: FIRST_OFFSETS, now: FIRST_OFFSETS.map(Some) }, ..Joint::new() },
    )
}

fn copy(blocks: &[u8], out: &mut Vec<u8>, mut joint: Joint) -> Option<()> {
    let mut at = 0;
    loop {
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
        if is_last {
            return (at == blocks.len()).then_some(());
        }
    }
}

/// Writes blocks that hold `contents` as they are.
pub(super) fn store(contents: &[u8], out: &mut Vec<u8>) {
    for part in contents.chunks(MAX_BLOCK) {
        out.extend(&((part.len() as u32) << 3).to_le_bytes()[..BLOCK_HEADER]);
        out.extend(part);
    }
}

/// Kinds of blocks.
const RUN: u32 = 1;
const COMPRESSED: u32 = 2;

/// The last three offsets, as the encoder knew them, and as a decoder does, as far as that is known.
struct Offsets {
    before: [u32; 3],
    now: [Option<u32>; 3],
}

impl Offsets {
    /// They are the same.
    fn agree(&self) -> bool {
        self.before.map(Some) == self.now
    }

    /// Goes on by a sequence: the number for its offset as it has to be now. `None` if it breaks the rules.
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

/// Which of the last offsets: none of them; or the last, less 1.
const NEW: usize = 4;
const LESS_ONE: usize = 3;

/// An offset becomes the last one.
fn push<T: Copy>(last: &mut [T; 3], offset: T, which: usize) {
    match which {
        0 => {}
        1 => *last = [offset, last[0], last[2]],
        _ => *last = [offset, last[0], last[1]],
    }
}

/// What is known while the blocks are passed.
struct Joint {
    state: Offsets,
    /// What is in force, as the encoder knew it.
    codes: [Option<Code>; 3],
    /// The code for offsets that a decoder knows is another.
    is_replaced: bool,
}

impl Joint {
    fn new() -> Self {
        let state = Offsets { before: FIRST_OFFSETS, now: [None; 3] };
        Joint { state, codes: [None, None, None], is_replaced: false }
    }

    /// What comes can stay as it is.
    fn is_past(&self) -> bool {
        self.state.agree() && !self.is_replaced
    }

    /// Passes a block: what it becomes, if it cannot stay as it is. `None` if it breaks the rules.
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

        // What says the code for offsets, and the sequences.
        let repeats = header.modes[1] == Mode::Repeat;
        let mut said = (header.modes[1], &block[descriptions[1].clone()]);
        let mut is_changed = false;
        if repeats && self.is_replaced {
            said = (offsets.mode, &offsets.description);
            is_changed = true;
        }
        self.is_replaced = false;
        let even;
        let stream = match change(&mut self.state, codes, stream, header.count)? {
            Change::Nothing => stream.to_vec(),
            Change::Stream(changed) => {
                is_changed = true;
                changed
            }
            Change::StreamAndCode(changed) => {
                even = describe_even();
                said = (Mode::Described, &even);
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

/// What has to be changed of the sequences of a block.
enum Change {
    Nothing,
    /// The stream.
    Stream(Vec<u8>),
    /// That, and the code for offsets, which is the even one then.
    StreamAndCode(Vec<u8>),
}

/// Changes the sequences in `stream` as far as that is necessary. `None` if they break the rules.
fn change(state: &mut Offsets, codes: [&Table; 3], stream: &[u8], count: usize) -> Option<Change> {
    if state.agree() {
        return Some(Change::Nothing);
    }
    let mut reader = Sequences::new(codes, stream, count)?;
    let mut sequences = Vec::new();
    // How many are to be written.
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
    // The next one says the states that the last of these leads to.
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
    let even = Table::new(&[1; 32], 5);
    rewrite(stream, &sequences, None, codes, &even).map(Change::StreamAndCode)
}
