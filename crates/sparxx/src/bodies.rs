//! Finds the functions that have no annotation. The parser leaves them out: it needs most of the translator's time, and
//! nothing in such a function has an influence on the regions of others.

use crate::annotation::Annotation;
use crate::lexer::{Kind, Token};
use crate::source::Span;

/// Returns the bodies, without their braces, of the outermost functions that have no annotation.
///
/// A function is found by its brackets. If preprocessor directives keep the brackets from matching, some are not found.
pub fn without_annotations(text: &str, tokens: &[Token], annotations: &[Annotation]) -> Vec<Span> {
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
        let is_annotated = annotations.get(next).is_some_and(|annotation| annotation.span.start < body.end);
        if !is_annotated && has_whole_conditions(text, &tokens[at + 1..close]) {
            found.push(body);
        }
        at = close + 1;
    }
    found
}

/// Returns, for each `{`, the index of the `}` that closes it.
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

/// Returns whether each `#if` among the tokens has its `#endif` there, and the other way round.
fn has_whole_conditions(text: &str, tokens: &[Token]) -> bool {
    let mut open = 0usize;
    for token in tokens.iter().filter(|token| token.in_directive && token.kind == Kind::Word) {
        match &text[token.span.clone()] {
            "if" | "ifdef" | "ifndef" => open += 1,
            "endif" if open == 0 => return false,
            "endif" => open -= 1,
            _ => {}
        }
    }
    open == 0
}

/// Returns whether the `{` at `at` begins the body of a function: it follows a list of parameters and the words that
/// may be between this and a body.
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
