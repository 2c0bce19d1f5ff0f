//! The undamaged members of a damaged gzip file.

use std::fmt;
use std::io::{self, BufRead, Read, Seek, Write};
use std::ops::Range;

use memchr::memmem;

use super::error::{Fault, HeaderError, Part as Inside};
use super::extent::Extent;
use super::header::{EXTRA_AT, FEXTRA, HEADER_LIMIT, Header, MAGIC};
use super::index::Index;
use super::inflate::Inflater;
use super::mark::{self, MARK_LEN, Mark, find_marks, mark_at};
use super::scan::MAX_BGZF;
use super::sums::Sums;
use super::survey::last_mark;
use super::walk::begins_marked;
use super::{EMPTY_DEFLATE, TRAILER_LEN, u32_at};
use crate::glance::glance;
use crate::parts::CHUNK;
use crate::salvage::{Part, Reason, Salvage, behind_zeros, take};

/// The empty member at the end of each file of BGZF (SAM specification, section 4.1.2).
const BGZF_END: &[u8; 28] = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

/// The number of bytes of a header that are searched for its extent.
const GLANCE: usize = 512;

/// Finds [undamaged parts](crate::salvage) of gzip files: members with the right checksum, size and, if stated, extent.
/// The size of lost contents comes from the headers of damaged members, or from the index at the end.
///
/// A member may contain another gzip file without compression, if it could not be made smaller. Therefore a member is
/// rejected if it lies inside a damaged one whose end is known, if the index lists none there, or if it is of another
/// kind than the member before. In files whose members state no sizes, a member inside a damaged one cannot be told
/// from one behind it.
#[derive(Clone, Copy, Debug)]
pub struct Salvager(());

/// A decoder of members.
#[derive(Default)]
pub struct Tool {
    inflater: Option<Inflater>,
    chunk: Vec<u8>,
}

/// The statements of a member about itself and its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A member of the layout [`Members`](super::Layout::Members), with its subfield `AB`.
    Ours {
        /// Whether another member follows.
        more: bool,
    },
    /// The header of a member with marks. It has no contents itself.
    Marked,
    /// A block in such a member.
    Block {
        /// The start of its contents in those of the member, in bytes, if it is stated.
        start: Option<u64>,
        /// The size of its contents in bytes.
        len: u32,
        /// The number that all marks of the member have.
        member: u32,
    },
    /// A block of BGZF.
    Bgzf {
        /// Set if the block has no contents, as the last block has.
        is_empty: bool,
    },
    /// A member without statements.
    Plain,
}

/// The facts that are known about the file.
#[derive(Debug)]
pub struct State {
    /// The kind that the next member should have.
    next: Kind,
    /// Whether another member must follow.
    expects_more: bool,
    index: Option<Index>,
    /// In a member with marks: the number in its marks, if one was seen, and the end of the contents so far, if it is
    /// known.
    member: Option<u32>,
    end: Option<u64>,
}

impl Salvage for Salvager {
    type Tool = Tool;
    type Note = Kind;
    type State = State;

    const EXPECTED: &'static str = "a member";
    const LOOK: usize = MARK_LEN;
    const LEAST: u64 = 20;
    const HOLD: usize = 16 << 20;

    fn candidates(bytes: &[u8], found: &mut Vec<u64>) {
        let magics = memmem::find_iter(bytes, &MAGIC);
        let headers = magics.filter(|&at| matches!(bytes[at..], [_, _, 8, flags, ..] if flags & 0xe0 == 0));
        found.extend(headers.map(|at| 8 * at as u64));
        let before = found.len();
        found.extend(find_marks(bytes).map(|at| 8 * at as u64));
        if found.len() > before {
            found.sort_unstable();
        }
    }

    fn attempt(
        tool: &mut Tool,
        _bit: u32,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> io::Result<Result<Part<Kind>, Reason>> {
        let found = member(tool, input, output)?;
        Ok(found.map(|(len, note)| Part { end: 8 * len, note }).map_err(Into::into))
    }

    /// Looks at the end of the file, which reveals its kind if the start is damaged.
    fn begin<F: Read + Seek>(file: &mut F) -> io::Result<State> {
        let index = Index::read(file);
        let has_index = !matches!(index, Ok(None));
        let size = file.seek(io::SeekFrom::End(0))?;
        let mut end = [0; BGZF_END.len()];
        let is_bgzf = glance(file, size.saturating_sub(end.len() as u64), &mut end)? == BGZF_END;
        let next = match (has_index, is_bgzf) {
            (true, _) => Kind::Ours { more: true },
            (_, true) => Kind::Bgzf { is_empty: false },
            _ => Kind::Plain,
        };
        let member = number_of_marks(file, size)?;
        let next = if member.is_some() || begins_marked(file)? { Kind::Marked } else { next };
        let index = index.ok().flatten();
        Ok(State { next, expects_more: false, index, member, end: Some(0) })
    }

    fn admits(state: &State, start: u64, kind: &Kind) -> bool {
        if let Some(index) = &state.index {
            let (entries, start) = (index.entries(), start / 8);
            let at = entries.partition_point(|entry| entry.offset < start);
            let begins = entries.get(at).is_some_and(|entry| entry.offset == start);
            // The index itself, or a part of it, may follow its members.
            let ends = at > 0 && entries[at - 1].offset + u64::from(entries[at - 1].compressed) == start;
            return begins || ends;
        }
        match (state.next, *kind) {
            // In a member with marks, only later blocks of the same member may follow.
            (Kind::Marked | Kind::Block { .. }, Kind::Block { start, member, .. }) => {
                let is_behind = start.zip(state.end).is_none_or(|(start, end)| start >= end);
                return state.member.is_none_or(|number| number == member) && is_behind;
            }
            (Kind::Marked | Kind::Block { .. }, _) => return false,
            _ => {}
        }
        match state.next {
            Kind::Ours { .. } => matches!(kind, Kind::Ours { .. }),
            Kind::Bgzf { .. } => matches!(kind, Kind::Bgzf { .. }),
            Kind::Plain | Kind::Marked | Kind::Block { .. } => true,
        }
    }

    fn note(state: &mut State, kind: &Kind) {
        match *kind {
            Kind::Marked => state.end = Some(0),
            Kind::Block { start, len, member } => {
                state.member = Some(member);
                state.end = start.or(state.end).map(|start| start + u64::from(len));
            }
            _ => {}
        }
        state.expects_more = matches!(kind, Kind::Ours { more: true } | Kind::Marked | Kind::Block { .. });
        state.next = match kind {
            Kind::Ours { more: false } | Kind::Bgzf { is_empty: true } => Kind::Plain,
            kind => *kind,
        };
    }

    fn note_gap(state: &mut State) {
        state.expects_more = false;
        // The next block states its place, or the place is unknown.
        state.end = None;
    }

    fn pass<F: Read + Seek>(state: &mut State, file: &mut F, at: u64) -> io::Result<u64> {
        let mut at = at;
        if let Kind::Block { .. } = state.next {
            // The end of the member has no contents.
            let mut end = [0; EMPTY_DEFLATE.len() + TRAILER_LEN];
            let found = glance(file, at / 8, &mut end)?;
            let is_end = found.len() == EMPTY_DEFLATE.len() + TRAILER_LEN
                && found.starts_with(&EMPTY_DEFLATE)
                && state.end.is_none_or(|len| u32_at(found, 6) == len as u32);
            if !is_end {
                return Ok(at);
            }
            at += 8 * found.len() as u64;
            (state.next, state.expects_more, state.member) = (Kind::Plain, false, None);
        }
        Ok(if at == 0 { 0 } else { 8 * behind_zeros(file, at / 8)? })
    }

    fn doubt(state: &mut State, is_end: bool) -> Option<Reason> {
        (is_end && state.expects_more).then(|| Fault::MissingMember.into())
    }

    fn extent<F: Read + Seek>(file: &mut F, start: u64) -> io::Result<Option<u64>> {
        let size = file.seek(io::SeekFrom::End(0))?;
        if let Some(mark) = mark_at(file, start / 8)? {
            let end = start / 8 + mark.size() as u64;
            let mut next = [0; EMPTY_DEFLATE.len()];
            let is_confirmed = mark_at(file, end)?.is_some_and(|next| next.member == mark.member)
                || glance(file, end, &mut next)? == EMPTY_DEFLATE;
            return Ok(is_confirmed.then_some(8 * end));
        }
        let Some(extent) = extent_at(file, start / 8)? else { return Ok(None) };
        let end = start / 8 + u64::from(extent.compressed);
        let follows = |next: Extent| next.uncompressed.is_some() == extent.uncompressed.is_some();
        let is_confirmed = match end == size {
            true => !extent.more,
            false => extent_at(file, end)?.is_some_and(follows),
        };
        Ok(is_confirmed.then_some(8 * end))
    }

    fn missing<F: Read + Seek>(state: &State, file: &mut F, gap: &Range<u64>) -> io::Result<Option<u64>> {
        let gap = gap.start / 8..gap.end / 8;
        // The index has a checksum, unlike headers and trailers. So it is preferred.
        if let Some(index) = &state.index {
            let from = index.entries().partition_point(|entry| entry.offset < gap.start);
            let to = index.entries().partition_point(|entry| entry.offset < gap.end);
            let lost = &index.entries()[from..to];
            let begins = lost.first().is_some_and(|first| first.offset == gap.start);
            let ends = lost.last().is_some_and(|last| last.offset + u64::from(last.compressed) <= gap.end);
            let missing = lost.iter().map(|entry| u64::from(entry.uncompressed)).sum();
            return Ok((begins && ends).then_some(missing));
        }
        if let Kind::Marked | Kind::Block { .. } = state.next {
            // The mark behind the gap states where its block begins. Without it, the marks in the gap state their
            // sizes.
            if let Some(next) = mark_at(file, gap.end)? {
                return Ok(next.start.zip(state.end).and_then(|(start, end)| start.checked_sub(end)));
            }
            let (mut at, mut missing) = (gap.start, 0);
            while let Some(mark) = mark_at(file, at)?.filter(|_| at < gap.end) {
                missing += u64::from(mark.len);
                at += mark.size() as u64;
            }
            const END: u64 = (EMPTY_DEFLATE.len() + TRAILER_LEN) as u64;
            if missing > 0 && at + END >= gap.end {
                return Ok(Some(missing));
            }
            // At the end of the file the trailer states the size of all contents, modulo 2^32.
            let (mut end, size) = ([0; END as usize], file.seek(io::SeekFrom::End(0))?);
            let found = glance(file, gap.end.saturating_sub(END), &mut end)?;
            let says = gap.end == size && found.len() as u64 == END && found.starts_with(&EMPTY_DEFLATE);
            let len = state.end.filter(|_| says).map(|end| u32_at(found, 6).wrapping_sub(end as u32));
            return Ok(len.map(u64::from));
        }
        let (mut at, mut missing) = (gap.start, 0);
        while at < gap.end {
            let Some(extent) = extent_at(file, at)? else { return Ok(None) };
            at += u64::from(extent.compressed);
            let mut trailer = [0; 4];
            if at > gap.end || glance(file, at - 4, &mut trailer)?.len() < 4 {
                return Ok(None);
            }
            let size = u32::from_le_bytes(trailer);
            let is_right = match extent.uncompressed {
                Some(expected) => size == expected,
                None => size <= MAX_BGZF,
            };
            if !is_right {
                return Ok(None);
            }
            missing += u64::from(size);
        }
        Ok(Some(missing))
    }
}

/// Returns the number in the marks of a file that ends with a member with marks, or begins with one: the number of its
/// last block, behind which the file ends, or of its first one. Marks elsewhere may belong to another file that is
/// stored in this one.
fn number_of_marks<F: Read + Seek>(file: &mut F, size: u64) -> io::Result<Option<u32>> {
    if let Some((_, mark)) = last_mark(file, size)? {
        return Ok(Some(mark.member));
    }
    let mut bytes = vec![0; HEADER_LIMIT + MARK_LEN];
    let found = glance(file, 0, &mut bytes)?;
    let first = find_marks(found).next().and_then(|at| Mark::parse(&found[at..]));
    Ok(first.filter(|mark| mark.start == Some(0)).map(|mark| mark.member))
}

/// Returns the size of the member that the header at `offset` states, if there is such a header.
fn extent_at<F: Read + Seek>(file: &mut F, offset: u64) -> io::Result<Option<Extent>> {
    let mut bytes = [0; GLANCE];
    let found = glance(file, offset, &mut bytes)?;
    let (header, len) = match Header::parse(found) {
        Ok(Some(found)) => found,
        // The table of an index, or a long name, may follow the extent.
        Ok(None) if found.len() == GLANCE && found[3] & FEXTRA != 0 => {
            (Header { extra: found[EXTRA_AT..].to_vec(), ..Header::default() }, GLANCE)
        }
        _ => return Ok(None),
    };
    Ok(header.extent().filter(|extent| extent.compressed as usize > len))
}

/// Reads a member. Returns its size in bytes and its kind.
fn member(
    tool: &mut Tool,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<Result<(u64, Kind), Fault>> {
    let cut = |inside| Ok(Err(Fault::Truncated { inside }));
    if input.fill_buf()?.first() == Some(&mark::START[0]) {
        return block(tool, input, output);
    }
    let (header, header_len) = match header(input)? {
        Ok(Some(found)) => found,
        Ok(None) => return cut(Inside::Header),
        Err(error) => return Ok(Err(Fault::Header(error))),
    };
    let mut start = Vec::new();
    if header.extent().is_none() && input.fill_buf()?.first() == Some(&mark::START[0]) {
        (&mut *input).take(MARK_LEN as u64).read_to_end(&mut start)?;
    }
    if Mark::parse(&start).is_some() {
        // Its blocks are separate parts.
        return Ok(Ok((header_len as u64, Kind::Marked)));
    }
    let mut input = start.chain(input);
    let inflater = tool.inflater.get_or_insert_with(Inflater::new);
    inflater.reset();
    tool.chunk.resize(CHUNK, 0);
    let (mut sums, mut size) = (Sums::new(), 0);
    loop {
        let given = input.fill_buf()?;
        let is_over = given.is_empty();
        let step = match inflater.step(given, &mut tool.chunk) {
            Ok(step) => step,
            Err(fault) => return Ok(Err(fault)),
        };
        input.consume(step.consumed);
        let data = &tool.chunk[..step.produced];
        sums.add(data);
        size += data.len() as u64;
        output.write_all(data)?;
        if step.ended {
            break;
        }
        if is_over && data.is_empty() {
            return cut(Inside::Data);
        }
    }
    let Some(trailer) = take(&mut input)? else { return cut(Inside::Trailer) };
    if let Err((_, fault)) = sums.check(trailer) {
        return Ok(Err(fault));
    }
    let found = header_len as u64 + inflater.consumed() + trailer.len() as u64;
    // An undamaged member is accepted even if its header states a wrong size.
    let extent = header.extent().filter(|extent| u64::from(extent.compressed) == found);
    let kind = match extent {
        Some(Extent { uncompressed: Some(_), more, .. }) => Kind::Ours { more },
        Some(_) => Kind::Bgzf { is_empty: size == 0 },
        None => Kind::Plain,
    };
    Ok(Ok((found, kind)))
}

/// Reads a block with its mark.
fn block(
    tool: &mut Tool,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> io::Result<Result<(u64, Kind), Fault>> {
    let Some(bytes) = take::<MARK_LEN>(input)? else {
        return Ok(Err(Fault::Truncated { inside: Inside::Data }));
    };
    let Some(mark) = Mark::parse(&bytes) else { return Ok(Err(Fault::Mark)) };
    let inflater = tool.inflater.get_or_insert_with(Inflater::new);
    inflater.reset();
    tool.chunk.resize(CHUNK, 0);
    let (mut sums, mut left) = (Sums::new(), mark.compressed as usize);
    loop {
        let given = input.fill_buf()?;
        let given = &given[..given.len().min(left)];
        let is_over = given.is_empty();
        let step = match inflater.step(given, &mut tool.chunk) {
            Ok(step) => step,
            Err(fault) => return Ok(Err(fault)),
        };
        left -= step.consumed;
        let consumed = step.consumed;
        let data = &tool.chunk[..step.produced];
        sums.add(data);
        output.write_all(data)?;
        input.consume(consumed);
        if step.ended {
            let (expected, found) = (mark.compressed.into(), inflater.consumed());
            return Ok(Err(Fault::BlockSize { expected, found }));
        }
        if is_over && data.is_empty() {
            break;
        }
    }
    if left > 0 {
        return Ok(Err(Fault::Truncated { inside: Inside::Data }));
    }
    if let Err(fault) = sums.check_mark(&mark) {
        return Ok(Err(fault));
    }
    let Mark { start, len, member, .. } = mark;
    Ok(Ok((mark.size() as u64, Kind::Block { start, len, member })))
}

/// Reads a header. Returns it with its length.
fn header(input: &mut dyn BufRead) -> io::Result<Result<Option<(Header, usize)>, HeaderError>> {
    let mut held = Vec::new();
    loop {
        let (had, given) = (held.len(), input.fill_buf()?);
        let new = given.len().min(HEADER_LIMIT);
        held.extend_from_slice(&given[..new]);
        let found = Header::parse(&held);
        let used = match &found {
            Ok(Some((_, len))) => len - had,
            _ => new,
        };
        input.consume(used);
        if new == 0 || !matches!(found, Ok(None)) {
            return Ok(found);
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").finish_non_exhaustive()
    }
}
