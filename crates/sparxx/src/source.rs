//! The user's file, and the errors and warnings about it.

use std::fmt::Write as _;
use std::ops::Range;

/// A part of the text, in bytes.
pub type Span = Range<usize>;

/// The text of a C++ file.
#[derive(Debug, Clone)]
pub struct Source {
    /// The name of the file, as in messages and in `#line`.
    pub name: String,
    /// The content of the file.
    pub text: String,
    line_starts: Vec<usize>,
}

impl Source {
    /// Creates a file with this text. A byte order mark at its beginning is left out, as compilers do.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// Returns the line and the column of a byte, both counted from 1. Columns are counted in bytes, as compilers do.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= at);
        (line, at + 1 - self.line_starts[line - 1])
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
        let kind = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let mut shown = String::new();
        let _ = writeln!(shown, "{}:{line}:{column}: {kind}: {}", source.name, self.message);
        let text = source.line(line);
        let _ = writeln!(shown, "{line:>5} | {text}");
        // Tabs stay tabs, so that the caret is at the right position.
        let lead = text.get(..column - 1).unwrap_or("");
        let lead: String = lead.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let rest = text.get(column - 1..).unwrap_or("");
        let marked = source.text.get(self.span.clone()).unwrap_or("").lines().next().unwrap_or("");
        let tail = marked.chars().count().min(rest.chars().count()).saturating_sub(1);
        let _ = writeln!(shown, "      | {lead}^{}", "~".repeat(tail));
        if !self.help.is_empty() {
            let _ = writeln!(shown, "      = help: {}", self.help);
        }
        shown
    }
}
