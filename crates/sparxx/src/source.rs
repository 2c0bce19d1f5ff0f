//! The user's file, and the errors and warnings about it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

/// A part of the text, in bytes.
pub type Span = Range<usize>;

/// The text of a C++ file.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name of the file, as in messages and in `#line`.
    pub name: String,
    /// The content of the file. A private character stands for each byte that is not UTF-8: see [`bytes`].
    pub text: String,
    line_starts: Vec<usize>,
}

/// The characters that stand for bytes that are not UTF-8, such as those of Latin-1 in comments and strings: private ones, which no
/// file is expected to have.
const STRAY: std::ops::RangeInclusive<u32> = 0x10_fe80..=0x10_feff;
/// The length of such a character in bytes.
const STRAY_BYTES: usize = 4;

fn is_stray(character: char) -> bool {
    STRAY.contains(&u32::from(character))
}

/// Returns the bytes of a text of a [`Source`], or of its translation: those that are not UTF-8 are as they were in the file.
pub fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u32::from(character) {
            code if STRAY.contains(&code) => bytes.push((code & 0xff) as u8),
            _ => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// Returns how many lines end in a text. Lines end with LF, CR LF or CR, as for compilers.
pub fn line_ends(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n' || byte == b'\r').count() - text.matches("\r\n").count()
}

impl Source {
    /// Creates a file with this text. A byte order mark at its beginning is left out, as compilers do.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        let mut source = Self { name: name.into(), text, line_starts: vec![0] };
        source.line_starts =
            std::iter::once(0).chain(source.normal().match_indices('\n').map(|(at, _)| at + 1)).collect();
        source
    }

    /// Creates a file with these bytes, in any encoding that has the characters of ASCII at their places.
    ///
    /// # Errors
    /// A message, if the text has a character that stands for other bytes.
    pub fn of_bytes(name: impl Into<String>, bytes: &[u8]) -> Result<Self, String> {
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            if let Some(found) = chunk.valid().chars().find(|&character| is_stray(character)) {
                return Err(format!(
                    "the file has the private character U+{:X}, which spar++ needs itself",
                    u32::from(found)
                ));
            }
            text += chunk.valid();
            let stray = |&byte| char::from_u32(0x10_fe00 + u32::from(byte)).unwrap_or_default();
            text.extend(chunk.invalid().iter().map(stray));
        }
        Ok(Self::new(name, text))
    }

    /// Returns the text as compilers read its lines: with LF in place of each CR without LF, which ends a line too, and without blanks
    /// between a backslash and the end of its line. All places stay the same.
    pub fn normal(&self) -> Cow<'_, str> {
        let text = self.text.as_bytes();
        let is_lone = |at: usize| text[at] == b'\r' && text.get(at + 1) != Some(&b'\n');
        let mut normal = None;
        for at in (0..text.len()).filter(|&at| is_lone(at)) {
            normal.get_or_insert_with(|| text.to_vec())[at] = b'\n';
        }
        for at in (0..text.len()).filter(|&at| text[at] == b'\\') {
            let blanks =
                text[at + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)).count();
            let end = at + 1 + blanks;
            if blanks > 0 && matches!(text.get(end), Some(b'\n' | b'\r')) {
                let normal = normal.get_or_insert_with(|| text.to_vec());
                normal.swap(at, end - 1);
            }
        }
        match normal {
            None => Cow::Borrowed(&self.text),
            // Only bytes of ASCII were exchanged for others.
            Some(normal) => String::from_utf8(normal).map_or(Cow::Borrowed(&self.text), Cow::Owned),
        }
    }

    /// Returns the line and the column of a byte, both counted from 1. Columns are counted in bytes of the file, as compilers do.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= at);
        let before = self.text.get(self.line_starts[line - 1]..at).unwrap_or("");
        let stray = before.chars().filter(|&character| is_stray(character)).count();
        (line, at + 1 - self.line_starts[line - 1] - stray * (STRAY_BYTES - 1))
    }

    /// Returns the text of a line, counted from 1.
    fn line(&self, line: usize) -> &str {
        let start = self.line_starts[line - 1];
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next - 1);
        self.text.get(start..end).unwrap_or("").trim_end_matches('\r')
    }
}

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file is translated nevertheless.
    Warning,
    /// The file is not translated.
    Error,
}

/// An error or a warning about a place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity: an error or a warning.
    pub severity: Severity,
    /// The place in the file.
    pub span: Span,
    /// The message, which states the fault.
    pub message: String,
    /// The help, which states the remedy.
    pub help: String,
}

impl Diagnostic {
    /// Creates an error with its message and help.
    pub fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span, message: message.into(), help: help.into() }
    }

    /// Creates a warning with its message and help.
    pub fn warning(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message, help) }
    }

    /// Returns the diagnostic in the form of compilers: the place, the line, and a caret under the place.
    pub fn render(&self, source: &Source) -> String {
        let (line, column) = source.position(self.span.start);
        let before = self.span.start - source.line_starts[line - 1];
        let kind = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let mut shown = String::new();
        let _ = writeln!(shown, "{}:{line}:{column}: {kind}: {}", source.name, self.message);
        let text = source.line(line);
        let as_shown = |character| if is_stray(character) { char::REPLACEMENT_CHARACTER } else { character };
        let _ = writeln!(shown, "{line:>5} | {}", text.chars().map(as_shown).collect::<String>());
        // Tabs stay tabs, so that the caret is at the right position.
        let lead = text.get(..before).unwrap_or("");
        let lead: String = lead.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let rest = text.get(before..).unwrap_or("");
        let marked = source.text.get(self.span.clone()).unwrap_or("").lines().next().unwrap_or("");
        let tail = marked.chars().count().min(rest.chars().count()).saturating_sub(1);
        let _ = writeln!(shown, "      | {lead}^{}", "~".repeat(tail));
        if !self.help.is_empty() {
            let _ = writeln!(shown, "      = help: {}", self.help);
        }
        shown
    }
}
