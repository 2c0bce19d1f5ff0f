//! Blanks the functions that have no annotation. The parser needs most of the translator's time, and nothing that
//! such a function contains has an influence on the regions of other functions.

use crate::annotation::Annotation;
use crate::lexer::{Kind, Token};
use crate::source::Span;

/// Returns the text with blanks in place of annotations. So the parser does not see them, and all places stay
/// the same.
pub fn without_annotations(text: &str, annotations: &[Annotation]) -> String {
    blanked(text, annotations.iter().map(|annotation| annotation.span.clone()))
}

/// Returns the text with blanks in place of the bodies of functions without annotations.
///
/// A function is found by its brackets. Where preprocessor directives keep these from matching, less is blanked.
pub fn with_bodies_of_regions(text: &str, tokens: &[Token], annotations: &[Annotation]) -> String {
    blanked(text, bodies_without(text, tokens, annotations).into_iter())
}

fn blanked(text: &str, spans: impl Iterator<Item = Span>) -> String {
    let mut blank = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        blank += &text[at..span.start];
        blank.extend(text[span.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        at = span.end;
    }
    blank + &text[at..]
}

/// The bodies, without their braces, of the outermost functions that have no annotation.
fn bodies_without(text: &str, tokens: &[Token], annotations: &[Annotation]) -> Vec<Span> {
    let closing = closing_braces(tokens);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(close) = closing[at].filter(|_| begins_body(text, tokens, at)) else {
            at += 1;
            continue;
        };
        let body = tokens[at].span.end..tokens[close].span.start;
        let next = annotations.partition_point(|annotation| annotation.span.start < body.start);
        if annotations.get(next).is_none_or(|annotation| annotation.span.start >= body.end) {
            found.push(body);
        }
        at = close + 1;
    }
    found
}

/// For each `{`, the index of the `}` that closes it.
fn closing_braces(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut closing = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| !token.in_directive) {
        if token.is(b'{') {
            open.push(at);
        } else if token.is(b'}')
            && let Some(opened) = open.pop()
        {
            closing[opened] = Some(at);
        }
    }
    closing
}

/// Whether the `{` at `at` begins the body of a function: it follows a list of parameters and what may stand
/// between this and a body.
fn begins_body(text: &str, tokens: &[Token], at: usize) -> bool {
    let code = tokens[..at].iter().rev().filter(|token| !token.in_directive);
    for token in code {
        match token.kind {
            Kind::Sign(b')') => return true,
            Kind::Sign(b'&') => {}
            Kind::Word
                if matches!(&text[token.span.clone()], "const" | "noexcept" | "override" | "final") => {}
            _ => return false,
        }
    }
    false
}
