//! The user's file, and what is said about it.

use std::fmt::Write as _;
use std::ops::Range;

/// A stretch of the text, in bytes.
pub type Span = Range<usize>;

/// The text of a C++ file.
#[derive(Debug, Clone)]
pub struct Source {
    /// As messages and `#line` name it.
    pub name: String,
    /// What is in it.
    pub text: String,
    line_starts: Vec<usize>,
}

impl Source {
    /// A file with this text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// The line and the column of a byte, both from 1 on; a column is a byte, as compilers count.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= at);
        (line, at + 1 - self.line_starts[line - 1])
    }

    /// The text of a line, counted from 1.
    fn line(&self, line: usize) -> &str {
        let start = self.line_starts[line - 1];
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next - 1);
        self.text.get(start..end).unwrap_or("").trim_end_matches('\r')
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file is translated all the same.
    Warning,
    /// The file is not translated.
    Error,
}

/// Something to be said about a place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Diagnostic {
    /// An error: what is wrong, and what to do.
    pub fn error(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span, message: message.into(), help: help.into() }
    }

    /// A warning: what is strange, and what to do.
    pub fn warning(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message, help) }
    }

    /// As compilers show it: the place, the line, and a caret under it.
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
        // Tabs stay tabs, so that the caret stands where it belongs.
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
