//! The sequences of a block (RFC 8878, section 3.1.1.3.2).

use super::bits::{Reader, Writer};
use super::table::{HIGHEST_OFFSET_LOG, Table, describe, fit};

/// A kind of number in a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    LiteralLength,
    Offset,
    MatchLength,
}

/// The way in which a block states the code of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Predefined,
    Single,
    Described,
    /// The code of the block before.
    Repeat,
}

impl Mode {
    fn of(bits: u8) -> Mode {
        match bits & 3 {
            0 => Mode::Predefined,
            1 => Mode::Single,
            2 => Mode::Described,
            _ => Mode::Repeat,
        }
    }
}

/// The sequences header of a block, behind its literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The index of the number of sequences.
    pub(super) start: usize,
    pub(super) count: usize,
    /// The index of the byte with the modes.
    pub(super) modes_at: usize,
    /// The modes of literal lengths, offsets and match lengths.
    pub(super) modes: [Mode; 3],
}

impl Header {
    /// Parses the header in `block`; `None` if it breaks the rules.
    pub(super) fn parse(block: &[u8]) -> Option<Header> {
        let start = literals_len(block)?;
        let number = |at: usize| block.get(start + at).map(|&byte| usize::from(byte));
        let first = number(0)?;
        let (count, len) = match first {
            0..128 => (first, 1),
            128..255 => ((first - 128) << 8 | number(1)?, 2),
            _ => ((number(1)? | number(2)? << 8) + 0x7f00, 3),
        };
        let modes_at = start + len;
        let modes = match count {
            0 => 0,
            _ => *block.get(modes_at)?,
        };
        let modes = [modes >> 6, modes >> 4, modes >> 2].map(Mode::of);
        Some(Header { start, count, modes_at, modes })
    }

    /// Returns the byte for these modes.
    pub(super) fn byte(modes: [Mode; 3]) -> u8 {
        let [literals, offsets, matches] = modes.map(|mode| mode as u8);
        literals << 6 | offsets << 4 | matches << 2
    }
}

/// Returns the size of the literals at the start of a block, in bytes.
fn literals_len(block: &[u8]) -> Option<usize> {
    let number = block.iter().take(5).rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    let (kind, format) = (block.first()? & 3, block[0] >> 2 & 3);
    let len = match (kind, format) {
        (0 | 1, _) => {
            let (header, size) = match format {
                0 | 2 => (1, number >> 3 & 0x1f),
                1 => (2, number >> 4 & 0xfff),
                _ => (3, number >> 4 & 0xf_ffff),
            };
            header + if kind == 1 { 1 } else { size as usize }
        }
        (_, 0 | 1) => 3 + (number >> 14 & 0x3ff) as usize,
        (_, 2) => 4 + (number >> 18 & 0x3fff) as usize,
        _ => 5 + (number >> 22 & 0x3_ffff) as usize,
    };
    (len <= block.len()).then_some(len)
}

/// The code in force for a field, with its mode and description.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) mode: Mode,
    pub(super) description: Vec<u8>,
    pub(super) table: Table,
}

impl Code {
    /// Parses the code at the start of `bytes`; `None` if there is none, or if it is the code of the block before.
    pub(super) fn parse(field: Field, mode: Mode, bytes: &[u8]) -> Option<Code> {
        let (highest_log, highest_symbol, (counts, log)): (_, _, (&[i16], _)) = match field {
            Field::LiteralLength => (9, 35, (&LITERAL_LENGTHS, 6)),
            Field::Offset => (HIGHEST_OFFSET_LOG, 31, (&OFFSETS, 5)),
            Field::MatchLength => (9, 52, (&MATCH_LENGTHS, 6)),
        };
        let (table, len) = match mode {
            Mode::Predefined => (Table::new(counts, log), 0),
            Mode::Single => {
                let symbol = *bytes.first().filter(|&&symbol| usize::from(symbol) <= highest_symbol)?;
                (Table::single(symbol), 1)
            }
            Mode::Described => Table::parse(bytes, highest_log, highest_symbol)?,
            Mode::Repeat => return None,
        };
        Some(Code { mode, description: bytes[..len].to_vec(), table })
    }

    /// Returns a code for the offsets of these sequences. It has no other symbols: the format has offsets of up to 4
    /// GiB, and many decoders refuse a code with a symbol of which they know that no offset can have it.
    pub(super) fn for_offsets(sequences: &[Sequence]) -> Code {
        let symbols = sequences.iter().map(|sequence| sequence.offset.ilog2() as usize);
        let highest = symbols.clone().max().expect("a block with a new code has sequences");
        let mut occurrences = vec![0; highest + 1];
        symbols.for_each(|symbol| occurrences[symbol] += 1);
        if occurrences[highest] as usize == sequences.len() {
            let symbol = highest as u8;
            return Code { mode: Mode::Single, description: vec![symbol], table: Table::single(symbol) };
        }
        let (counts, log) = fit(&occurrences);
        Code { mode: Mode::Described, description: describe(&counts, log), table: Table::new(&counts, log) }
    }
}

/// A sequence in its coded form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sequence {
    /// The states of literal length, offset and match length.
    states: [u16; 3],
    /// The bits that follow the symbols, and their numbers.
    more: [(u32, u32); 3],
    /// The coded offset: 1 to 3 for one of the last offsets, or the offset plus 3.
    pub(super) offset: u32,
    /// Set if the sequence has no literals.
    pub(super) is_bare: bool,
    /// The number of bits of the stream that are left behind it.
    left: usize,
}

/// A reader of the sequences of a block.
pub(super) struct Sequences<'a> {
    codes: [&'a Table; 3],
    reader: Reader<'a>,
    states: [u16; 3],
    /// The number of sequences that are left.
    count: usize,
}

impl<'a> Sequences<'a> {
    /// Creates a reader of the sequences in `stream`.
    pub(super) fn new(codes: [&'a Table; 3], stream: &'a [u8], count: usize) -> Option<Self> {
        let mut reader = Reader::new(stream)?;
        let mut states = [0; 3];
        for (state, code) in states.iter_mut().zip(codes) {
            *state = code.begin(&mut reader)?;
        }
        Some(Sequences { codes, reader, states, count })
    }

    /// Reads the next sequence; `None` if the stream breaks the rules.
    pub(super) fn read(&mut self) -> Option<Sequence> {
        let states = self.states;
        let [literals, offsets, matches] = self.codes;
        let symbols = [literals.symbol(states[0]), offsets.symbol(states[1]), matches.symbol(states[2])];
        let mut more =
            [(0, literal_bits(symbols[0])), (0, u32::from(symbols[1])), (0, match_bits(symbols[2]))];
        for field in [1, 2, 0] {
            more[field].0 = self.reader.read(more[field].1)?;
        }
        self.count -= 1;
        if self.count > 0 {
            for field in [0, 2, 1] {
                self.states[field] = self.codes[field].next(states[field], &mut self.reader)?;
            }
        }
        let offset = 1u32.checked_shl(symbols[1].into())?.checked_add(more[1].0)?;
        Some(Sequence { states, more, offset, is_bare: symbols[0] == 0, left: self.reader.left() })
    }
}

/// Writes the first sequences of a stream, with the code `offsets` for offsets. The sequences behind them stay
/// unchanged. `None` if the code lacks a symbol or a state that is needed.
pub(super) fn rewrite(
    stream: &[u8],
    sequences: &[Sequence],
    behind: Option<&Sequence>,
    codes: [&Table; 3],
    offsets: &Table,
) -> Option<Vec<u8>> {
    let kept = sequences.last()?.left;
    let mut writer = Writer::behind(stream, kept);
    let mut next = behind.map(|sequence| sequence.states);
    for sequence in sequences.iter().rev() {
        let symbol = sequence.offset.ilog2();
        let offset = offsets.state(symbol as u8, next.map(|next| next[1]))?;
        let states = [sequence.states[0], offset, sequence.states[2]];
        if let Some(next) = next {
            for field in [1, 2, 0] {
                let code = if field == 1 { offsets } else { codes[field] };
                let (bits, count) = code.bits_between(states[field], next[field]);
                writer.write(bits, count);
            }
        }
        let [literals, _, matches] = sequence.more;
        for (bits, count) in [literals, matches, (sequence.offset - (1 << symbol), symbol)] {
            writer.write(bits, count);
        }
        next = Some(states);
    }
    let states = next?;
    for (field, log) in [(2, codes[2].log()), (1, offsets.log()), (0, codes[0].log())] {
        writer.write(states[field].into(), log);
    }
    Some(writer.finish())
}

/// Returns the number of bits that follow the symbol of a literal length.
fn literal_bits(symbol: u8) -> u32 {
    match symbol {
        0..16 => 0,
        16..20 => 1,
        20..22 => 2,
        22..24 => 3,
        24 => 4,
        _ => u32::from(symbol) - 19,
    }
}

/// Returns the number of bits that follow the symbol of a match length.
fn match_bits(symbol: u8) -> u32 {
    match symbol {
        0..32 => 0,
        32..36 => 1,
        36..38 => 2,
        38..40 => 3,
        40..42 => 4,
        42 => 5,
        _ => u32::from(symbol) - 36,
    }
}

static LITERAL_LENGTHS: [i16; 36] = [
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1,
    -1, -1,
];

static MATCH_LENGTHS: [i16; 53] = [
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
];

static OFFSETS: [i16; 29] =
    [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1];
