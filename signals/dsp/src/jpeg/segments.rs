//! The segments of a file between its scans (T.81, annex B).

use crate::{Error, Input, Result};

use super::frame::{Colours, Frame};
use super::huffman::Huffman;
use super::stream::Stream;

/// A scan's part of a component.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// The place of the component in the frame.
    pub(super) component: usize,
    /// Its Huffman tables.
    pub(super) dc: usize,
    pub(super) ac: usize,
}

/// The header of a scan (T.81, B.2.3).
#[derive(Debug, Clone)]
pub(super) struct Scan {
    pub(super) parts: Vec<Part>,
    /// The first and the last coefficient, in the order of the zigzag.
    pub(super) first: usize,
    pub(super) last: usize,
    /// The bit to which earlier scans were exact, 0 in a first scan; and the bit to which this one is exact.
    pub(super) high: u32,
    pub(super) low: u32,
}

/// The tables that segments define.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) quantisers: [Option<[u16; 64]>; 4],
    pub(super) dc: [Option<Huffman>; 4],
    pub(super) ac: [Option<Huffman>; 4],
    /// The number of MCUs between restart markers, or 0.
    pub(super) restart: usize,
    is_jfif: bool,
    /// The colours in a segment of Adobe's programs.
    adobe: Option<u8>,
}

/// For each place in the zigzag, the index in a block.
pub(super) const ZIGZAG: [u8; 64] = {
    let mut order = [0; 64];
    let (mut row, mut column, mut place) = (0_i32, 0_i32, 0);
    while place < 64 {
        order[place] = (8 * row + column) as u8;
        place += 1;
        // Even diagonals go up, odd ones down; at the border the next one begins.
        let (next_row, next_column) =
            if (row + column) % 2 == 0 { (row - 1, column + 1) } else { (row + 1, column - 1) };
        if next_column > 7 {
            row += 1;
        } else if next_row > 7 {
            column += 1;
        } else {
            (row, column) =
                (if next_row < 0 { 0 } else { next_row }, if next_column < 0 { 0 } else { next_column });
        }
    }
    order
};

/// Opens a file, and reads until its first scan.
pub(super) fn open(input: Input<'_>) -> Result<(Stream<'_>, Tables, Frame, Scan)> {
    let mut stream = Stream::new(input);
    if stream.look(2)?.first_chunk() != Some(&[0xff, 0xd8]) {
        return Err(
            stream.error("expected the bytes FF D8 with which a JPEG file begins; choose a JPEG file")
        );
    }
    stream.skip(2);
    let mut tables = Tables {
        quantisers: [None; 4],
        dc: [const { None }; 4],
        ac: [const { None }; 4],
        restart: 0,
        is_jfif: false,
        adobe: None,
    };
    let mut frame = None;
    let Some(scan) = next_scan(&mut stream, &mut tables, &mut frame)? else {
        return Err(stream.error("the file has no picture; it ends before the first scan"));
    };
    let Some(mut frame) = frame else { return Err(stream.error("the file has a scan before its frame")) };
    if frame.components.len() == 3 {
        let ids: Vec<u8> = frame.components.iter().map(|component| component.id).collect();
        let is_rgb = match tables.adobe {
            _ if tables.is_jfif => false,
            Some(transform) => transform == 0,
            None => ids == *b"RGB",
        };
        frame.colours = if is_rgb { Colours::Rgb } else { Colours::YCbCr };
    }
    Ok((stream, tables, frame, scan))
}

/// Reads segments until the next scan. `None` at the end of the picture.
pub(super) fn next_scan(
    stream: &mut Stream<'_>,
    tables: &mut Tables,
    frame: &mut Option<Frame>,
) -> Result<Option<Scan>> {
    loop {
        // Bytes before a marker are ignored.
        while stream.byte()? != 0xff {}
        let marker = loop {
            match stream.byte()? {
                0xff => {}
                marker => break marker,
            }
        };
        match marker {
            // Stuffed bytes, and markers without a segment.
            0x00 | 0x01 | 0xd0..=0xd7 => continue,
            0xd8 => return Err(stream.error("the file begins again within the picture; the file is damaged")),
            0xd9 => return Ok(None),
            _ => {}
        }
        let begin = stream.offset();
        let length = usize::from(stream.number()?);
        let Some(length) = length.checked_sub(2) else {
            return Err(stream.error_at(begin, "a segment has a length below 2; the file is damaged"));
        };
        let bytes = stream.look(length)?;
        let Some(bytes) = bytes.get(..length) else { return Err(stream.ended()) };
        let bytes = bytes.to_vec();
        let read = match marker {
            0xc0..=0xc2 if frame.is_some() => Err("the file has a second frame; the file is damaged"),
            0xc0..=0xc2 => read_frame(&bytes, marker == 0xc2).map(|read| *frame = Some(read)),
            0xc3 | 0xc5..=0xc7 => Err("lossless and hierarchical JPEG files are not supported"),
            0xc9..=0xcb | 0xcd..=0xcf => Err("JPEG files with arithmetic coding are not supported"),
            0xc4 => read_huffman(&bytes, tables),
            0xdb => read_quantisers(&bytes, tables),
            0xdd => match bytes[..] {
                [high, low] => {
                    tables.restart = usize::from(u16::from_be_bytes([high, low]));
                    Ok(())
                }
                _ => Err("a restart interval must have 2 bytes; the file is damaged"),
            },
            0xda => match frame.as_ref().map(|frame| read_scan(&bytes, frame)) {
                Some(Ok(scan)) => {
                    stream.skip(length);
                    return Ok(Some(scan));
                }
                Some(Err(what)) => Err(what),
                None => Err("the file has a scan before its frame; the file is damaged"),
            },
            0xe0 => {
                tables.is_jfif |= bytes.starts_with(b"JFIF\0");
                Ok(())
            }
            0xee => {
                if bytes.starts_with(b"Adobe") && bytes.len() >= 12 {
                    tables.adobe = Some(bytes[11]);
                }
                Ok(())
            }
            _ => Ok(()),
        };
        read.map_err(|what| stream.error_at(begin, what))?;
        stream.skip(length);
    }
}

type Read<T> = std::result::Result<T, &'static str>;

fn read_frame(bytes: &[u8], is_progressive: bool) -> Read<Frame> {
    let [bits, h0, h1, w0, w1, count, rest @ ..] = bytes else { return Err("a frame is too short") };
    let (height, width) = (u16::from_be_bytes([*h0, *h1]).into(), u16::from_be_bytes([*w0, *w1]).into());
    if *bits != 8 {
        return Err("only 8 bits a sample are supported");
    }
    if height == 0 {
        return Err("a picture whose height follows its first scan is not supported");
    }
    if width == 0 {
        return Err("the picture has the width 0; the file is damaged");
    }
    if !matches!(count, 1 | 3) {
        return Err("only pictures with 1 or 3 components are supported");
    }
    if rest.len() != 3 * usize::from(*count) {
        return Err("a frame has another length than its components; the file is damaged");
    }
    let mut sampled: Vec<(u8, usize, usize, usize)> = Vec::new();
    for component in rest.chunks_exact(3) {
        let (across, down) = (usize::from(component[1] >> 4), usize::from(component[1] & 15));
        if !(1..=4).contains(&across) || !(1..=4).contains(&down) || component[2] > 3 {
            return Err("a component has an impossible factor or table; the file is damaged");
        }
        if sampled.iter().any(|(id, ..)| *id == component[0]) {
            return Err("two components have the same number; the file is damaged");
        }
        sampled.push((component[0], across, down, component[2].into()));
    }
    Frame::new((width, height), is_progressive, &sampled)
}

fn read_huffman(mut bytes: &[u8], tables: &mut Tables) -> Read<()> {
    const DAMAGED: &str = "a Huffman table is not possible; the file is damaged";
    while let [class, rest @ ..] = bytes {
        let (counts, rest) = rest.split_first_chunk::<16>().ok_or(DAMAGED)?;
        let total: usize = counts.iter().map(|count| usize::from(*count)).sum();
        let (symbols, rest) = rest.split_at_checked(total).ok_or(DAMAGED)?;
        let table = Huffman::new(counts, symbols).ok_or(DAMAGED)?;
        let tables = if class >> 4 == 0 { &mut tables.dc } else { &mut tables.ac };
        if class >> 4 > 1 {
            return Err(DAMAGED);
        }
        *tables.get_mut(usize::from(class & 15)).ok_or(DAMAGED)? = Some(table);
        bytes = rest;
    }
    Ok(())
}

fn read_quantisers(mut bytes: &[u8], tables: &mut Tables) -> Read<()> {
    const DAMAGED: &str = "a table of quantisers is not possible; the file is damaged";
    while let [class, rest @ ..] = bytes {
        let size = match class >> 4 {
            0 => 1,
            1 => 2,
            _ => return Err(DAMAGED),
        };
        let (values, rest) = rest.split_at_checked(64 * size).ok_or(DAMAGED)?;
        let mut table = [0; 64];
        for (value, place) in values.chunks_exact(size).zip(ZIGZAG) {
            table[usize::from(place)] = value.iter().fold(0, |value, byte| value << 8 | u16::from(*byte));
        }
        *tables.quantisers.get_mut(usize::from(class & 15)).ok_or(DAMAGED)? = Some(table);
        bytes = rest;
    }
    Ok(())
}

fn read_scan(bytes: &[u8], frame: &Frame) -> Read<Scan> {
    const DAMAGED: &str = "a scan's header is not possible; the file is damaged";
    let (&count, rest) = bytes.split_first().ok_or(DAMAGED)?;
    let (chosen, rest) = rest.split_at_checked(2 * usize::from(count)).ok_or(DAMAGED)?;
    let &[first, last, exact] = rest else { return Err(DAMAGED) };
    let mut parts: Vec<Part> = Vec::new();
    for chosen in chosen.chunks_exact(2) {
        let component =
            frame.components.iter().position(|component| component.id == chosen[0]).ok_or(DAMAGED)?;
        // Components are in the order of the frame.
        if parts.last().is_some_and(|part| part.component >= component) {
            return Err(DAMAGED);
        }
        let (dc, ac) = (usize::from(chosen[1] >> 4), usize::from(chosen[1] & 15));
        if dc > 3 || ac > 3 {
            return Err(DAMAGED);
        }
        parts.push(Part { component, dc, ac });
    }
    let (first, last) = (usize::from(first), usize::from(last));
    let (high, low) = (u32::from(exact >> 4), u32::from(exact & 15));
    let is_possible = match frame.is_progressive {
        false => first == 0 && last == 63 && exact == 0,
        true if first == 0 => last == 0 && low <= 13 && (high == 0 || high == low + 1),
        true => {
            first <= last && last <= 63 && parts.len() == 1 && low <= 13 && (high == 0 || high == low + 1)
        }
    };
    if parts.is_empty() || !is_possible {
        return Err(DAMAGED);
    }
    Ok(Scan { parts, first, last, high, low })
}

impl Tables {
    /// Returns the error for a table that a scan needs and the file does not have.
    pub(super) fn missing(stream: &Stream<'_>, what: &str) -> Error {
        stream.error(format!("the file does not have the {what} that this scan uses; the file is damaged"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zigzag_is_that_of_the_standard() {
        // T.81, figure A.6, its first and last diagonals.
        assert_eq!(ZIGZAG[..15], [0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4]);
        assert_eq!(ZIGZAG[58..], [61, 54, 47, 55, 62, 63]);
        let mut places = ZIGZAG;
        places.sort_unstable();
        assert!(places.iter().copied().eq(0..64));
    }
}
