//! The probabilities of LZMA, and the range coder that reads symbols with them.

/// The length of the shortest match.
pub(super) const SHORTEST_MATCH: u32 = 2;

/// The number of bits of the previous byte that select the probabilities of a literal (lc).
const LITERAL_CONTEXT_BITS: usize = 3;
/// The number of classes of positions: 2 to the power of pb.
const POSITIONS: usize = 4;
const STATES: usize = 12;
/// The number of sets of distance slots: one for each of the three shortest lengths, and one for all others.
const LENGTHS: usize = 4;
/// The first slot that stands for more than one distance.
const FIRST_WIDE_SLOT: u32 = 4;
/// The first slot whose distances have bits of even probability.
const FIRST_DIRECT_SLOT: u32 = 14;
const ALIGN_BITS: u32 = 4;

/// The probability of a zero, in 2048ths.
type Probability = u16;
const BITS: u32 = 11;
const EVEN: Probability = 1 << (BITS - 1);
/// The shift that determines how quickly a probability adapts.
const SHIFT: u32 = 5;

/// The probabilities of all bits.
pub(super) struct Model {
    literals: [[Probability; 0x300]; 1 << LITERAL_CONTEXT_BITS],
    is_match: [[Probability; POSITIONS]; STATES],
    is_repetition: [Probability; STATES],
    is_older: [Probability; STATES],
    is_long: [[Probability; POSITIONS]; STATES],
    is_third: [Probability; STATES],
    is_fourth: [Probability; STATES],
    match_lengths: Lengths,
    repetition_lengths: Lengths,
    slots: [[Probability; 64]; LENGTHS],
    /// The trees of the slots from 4 to 13, which overlap, because no tree uses its entry 0.
    distances: [Probability; 128],
    aligns: [Probability; 1 << ALIGN_BITS],
}

struct Lengths {
    is_above_low: Probability,
    is_high: Probability,
    low: [[Probability; 8]; POSITIONS],
    middle: [[Probability; 8]; POSITIONS],
    high: [Probability; 256],
}

/// The context of a symbol.
pub(super) struct Context<F> {
    pub(super) state: State,
    /// The position in the contents, of which only the last bits matter.
    pub(super) position: usize,
    pub(super) previous: u8,
    /// Returns the byte at the last distance, which is used only behind a match.
    pub(super) matched: F,
}

/// A decoded symbol.
pub(super) enum Symbol {
    Literal(u8),
    /// A copy of one byte from the last distance.
    Byte,
    Match {
        len: u32,
        /// The number of bytes to go back, less one.
        distance: u32,
    },
    /// A match at the distance with the index `which` among the last four.
    Repetition {
        len: u32,
        which: usize,
    },
}

impl Model {
    pub(super) fn new() -> Self {
        let lengths = || Lengths {
            is_above_low: EVEN,
            is_high: EVEN,
            low: [[EVEN; 8]; POSITIONS],
            middle: [[EVEN; 8]; POSITIONS],
            high: [EVEN; 256],
        };
        Model {
            literals: [[EVEN; 0x300]; 1 << LITERAL_CONTEXT_BITS],
            is_match: [[EVEN; POSITIONS]; STATES],
            is_repetition: [EVEN; STATES],
            is_older: [EVEN; STATES],
            is_long: [[EVEN; POSITIONS]; STATES],
            is_third: [EVEN; STATES],
            is_fourth: [EVEN; STATES],
            match_lengths: lengths(),
            repetition_lengths: lengths(),
            slots: [[EVEN; 64]; LENGTHS],
            distances: [EVEN; 128],
            aligns: [EVEN; 1 << ALIGN_BITS],
        }
    }

    /// Reads a symbol.
    #[inline(always)]
    pub(super) fn symbol<const LEARNS: bool>(
        &mut self,
        coder: &mut Coder<'_, LEARNS>,
        context: &Context<impl Fn() -> u8>,
    ) -> Symbol {
        let state = context.state.0;
        let position = context.position % POSITIONS;
        if !coder.bit(&mut self.is_match[state][position]) {
            let literals = &mut self.literals[usize::from(context.previous) >> (8 - LITERAL_CONTEXT_BITS)];
            return Symbol::Literal(match context.state.is_behind_match() {
                true => coder.matched_literal(literals, (context.matched)()),
                false => coder.tree(literals, 8) as u8,
            });
        }
        if !coder.bit(&mut self.is_repetition[state]) {
            let len = self.match_lengths.read(coder, position);
            return Symbol::Match { len, distance: self.distance(coder, len) };
        }
        let which = if !coder.bit(&mut self.is_older[state]) {
            if !coder.bit(&mut self.is_long[state][position]) {
                return Symbol::Byte;
            }
            0
        } else if !coder.bit(&mut self.is_third[state]) {
            1
        } else {
            2 + usize::from(coder.bit(&mut self.is_fourth[state]))
        };
        Symbol::Repetition { len: self.repetition_lengths.read(coder, position), which }
    }

    #[inline(always)]
    fn distance<const LEARNS: bool>(&mut self, coder: &mut Coder<'_, LEARNS>, len: u32) -> u32 {
        let slots = &mut self.slots[(len - SHORTEST_MATCH).min(LENGTHS as u32 - 1) as usize];
        let slot = coder.tree(slots, 6);
        if slot < FIRST_WIDE_SLOT {
            return slot;
        }
        let bits = (slot >> 1) - 1;
        let base = (2 | slot & 1) << bits;
        if slot < FIRST_DIRECT_SLOT {
            let probabilities = &mut self.distances[(base - slot) as usize..];
            return base + coder.reversed_tree(probabilities, bits);
        }
        let direct = coder.direct(bits - ALIGN_BITS) << ALIGN_BITS;
        base + direct + coder.reversed_tree(&mut self.aligns, ALIGN_BITS)
    }
}

impl Lengths {
    #[inline(always)]
    fn read<const LEARNS: bool>(&mut self, coder: &mut Coder<'_, LEARNS>, position: usize) -> u32 {
        SHORTEST_MATCH
            + if !coder.bit(&mut self.is_above_low) {
                coder.tree(&mut self.low[position], 3)
            } else if !coder.bit(&mut self.is_high) {
                8 + coder.tree(&mut self.middle[position], 3)
            } else {
                16 + coder.tree(&mut self.high, 8)
            }
    }
}

/// The kinds of the last symbols: less than 7 if the last one was a literal.
#[derive(Clone, Copy, Default)]
pub(super) struct State(usize);

impl State {
    fn is_behind_match(self) -> bool {
        self.0 >= 7
    }

    pub(super) fn literal(self) -> Self {
        State([0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 4, 5][self.0])
    }

    pub(super) fn matched(self) -> Self {
        State(if self.is_behind_match() { 10 } else { 7 })
    }

    pub(super) fn repetition(self) -> Self {
        State(if self.is_behind_match() { 11 } else { 8 })
    }

    pub(super) fn byte(self) -> Self {
        State(if self.is_behind_match() { 11 } else { 9 })
    }
}

/// The range coder. If it `LEARNS`, it adapts the probabilities.
pub(super) struct Coder<'a, const LEARNS: bool> {
    pub(super) range: u32,
    pub(super) code: u32,
    /// The bytes that have not been used.
    pub(super) bytes: &'a [u8],
    /// Whether there were too few bytes.
    pub(super) is_starved: bool,
}

impl<const LEARNS: bool> Coder<'_, LEARNS> {
    #[inline(always)]
    pub(super) fn normalize(&mut self) {
        if self.range < 1 << 24 {
            let byte = match self.bytes.split_first() {
                Some((&byte, rest)) => {
                    self.bytes = rest;
                    byte
                }
                None => {
                    self.is_starved = true;
                    0
                }
            };
            self.range <<= 8;
            self.code = self.code << 8 | u32::from(byte);
        }
    }

    #[inline(always)]
    fn bit(&mut self, probability: &mut Probability) -> bool {
        self.normalize();
        let bound = (self.range >> BITS) * u32::from(*probability);
        let is_one = self.code >= bound;
        if is_one {
            self.range -= bound;
            self.code -= bound;
        } else {
            self.range = bound;
        }
        if LEARNS {
            *probability = match is_one {
                true => *probability - (*probability >> SHIFT),
                false => *probability + (((1 << BITS) - *probability) >> SHIFT),
            };
        }
        is_one
    }

    /// Reads a bit as a number, without a branch that the processor would have to predict.
    #[inline(always)]
    fn number(&mut self, probability: &mut Probability) -> usize {
        self.normalize();
        let bound = (self.range >> BITS) * u32::from(*probability);
        let is_one = self.code >= bound;
        let ones = u32::from(is_one).wrapping_neg();
        self.range = bound.wrapping_add(self.range.wrapping_sub(bound << 1) & ones);
        self.code -= bound & ones;
        if LEARNS {
            let towards = !ones as i32 & ((1 << SHIFT) - 1 - (1 << BITS));
            *probability = (i32::from(*probability) - ((i32::from(*probability) + towards) >> SHIFT)) as u16;
        }
        usize::from(is_one)
    }

    /// Reads bits of even probability.
    #[inline(always)]
    fn direct(&mut self, bits: u32) -> u32 {
        let mut value = 0;
        for _ in 0..bits {
            self.normalize();
            self.range >>= 1;
            let is_one = self.code >= self.range;
            self.code -= self.range & u32::from(is_one).wrapping_neg();
            value = value << 1 | u32::from(is_one);
        }
        value
    }

    /// Reads `bits` bits, the highest first.
    #[inline(always)]
    fn tree(&mut self, probabilities: &mut [Probability], bits: u32) -> u32 {
        let probabilities = &mut probabilities[..1 << bits];
        let mut node = 1;
        for _ in 0..bits {
            node = node << 1 | self.number(&mut probabilities[node]);
        }
        node as u32 - (1 << bits)
    }

    /// Reads `bits` bits, the lowest first.
    #[inline(always)]
    fn reversed_tree(&mut self, probabilities: &mut [Probability], bits: u32) -> u32 {
        let (mut node, mut value) = (1, 0);
        for bit in 0..bits {
            let one = self.number(&mut probabilities[node]);
            node = node << 1 | one;
            value |= (one as u32) << bit;
        }
        value
    }

    /// Reads a literal behind a match. Its probabilities depend on the bits of `matched`, up to the first bit that
    /// differs.
    #[inline(always)]
    fn matched_literal(&mut self, probabilities: &mut [Probability; 0x300], matched: u8) -> u8 {
        let (mut matched, mut same, mut node) = (usize::from(matched), 0x100, 1);
        while node < 0x100 {
            matched <<= 1;
            let expected = matched & same;
            let one = self.number(&mut probabilities[same + expected + node]);
            node = node << 1 | one;
            same &= matched ^ one.wrapping_sub(1);
        }
        node as u8
    }
}
