//! Checks the jumps in stages. A stage runs on another thread than the loop, so a jump cannot leave it.

use crate::lexer::{Kind, Token, in_span};
use crate::names::{Jump, Names};
use crate::region::{Region, Stage};
use crate::source::{Diagnostic, Span};

/// Returns the `continue`s of a stage that end the current iteration of the region's loop. They drop the item.
pub fn drops<'n>(region: &Region, stage: &Stage, names: &'n Names) -> Vec<&'n Jump> {
    let leaves = |jump: &&Jump| jump.word == "continue" && leaves_stage(region, stage, jump);
    names.jumps.iter().filter(leaves).collect()
}

/// Returns whether a jump in the stage leaves it.
fn leaves_stage(region: &Region, stage: &Stage, jump: &Jump) -> bool {
    let is_inside = stage.body.contains(&jump.span.start);
    let is_of_lambda = jump.function.start > region.body.start;
    let stays = jump.leaves.as_ref().is_some_and(|target| within(target, &stage.body));
    is_inside && !(is_of_lambda && within(&jump.function, &stage.body)) && !stays
}

fn within(inner: &Span, outer: &Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Reports the jumps and statements that cannot be in a stage.
pub fn check(region: &Region, names: &Names, text: &str, tokens: &[Token], said: &mut Vec<Diagnostic>) {
    let staged = region.staged();
    let round = names.loop_around(staged.start, &region.body).unwrap_or(&region.body);
    let follows = in_span(tokens, &(staged.end..round.end)).iter().any(|token| {
        let is_code = !token.in_directive && !token.is(b'}') && !token.is(b';');
        is_code && token.span.end < round.end && !is_do_condition(text, tokens, token, round)
    });
    for stage in &region.stages {
        for jump in names.jumps.iter().filter(|jump| leaves_stage(region, stage, jump)) {
            let (message, help) = match jump.word {
                "return" => (
                    "`return` cannot leave a stage: the loop may be some iterations ahead".to_owned(),
                    "end the loop in the source part, or throw an exception",
                ),
                "break" => (
                    "`break` cannot leave a stage: the loop may be some iterations ahead".to_owned(),
                    "end the loop in the source part, or throw an exception",
                ),
                "goto" if stays(text, stage, jump) => continue,
                "goto" => ("`goto` cannot leave a stage".to_owned(), "jump to a label in the same stage"),
                "continue" if follows => (
                    "`continue` cannot leave a stage if statements follow the last stage: they would run nevertheless".to_owned(),
                    "move those statements into the last stage",
                ),
                "continue" => continue,
                _ => (format!("`{}` cannot be in a stage", jump.word), "move it into the source part"),
            };
            said.push(Diagnostic::error(jump.span.clone(), message, help));
        }
        for token in in_span(tokens, &stage.body).iter().filter(|token| token.kind == Kind::Word) {
            let word = &text[token.span.clone()];
            if matches!(word, "setjmp" | "longjmp" | "sigsetjmp" | "siglongjmp") {
                said.push(Diagnostic::error(
                    token.span.clone(),
                    format!("`{word}` cannot be in a stage: it would jump from one thread to another"),
                    "throw an exception",
                ));
            }
            if word == "pthread_exit" {
                said.push(Diagnostic::error(
                    token.span.clone(),
                    "`pthread_exit` would end a thread of the library",
                    "end the loop in the source part, or throw an exception",
                ));
            }
        }
    }
}

/// Returns whether a token belongs to the `while (...)` of a `do` loop.
fn is_do_condition(text: &str, tokens: &[Token], token: &Token, round: &Span) -> bool {
    if !text[round.clone()].starts_with("do") {
        return false;
    }
    let mut depth = 0usize;
    let close = in_span(tokens, round).iter().find(|other| {
        if other.is(b'{') {
            depth += 1;
        } else if other.is(b'}') {
            depth -= 1;
        }
        other.is(b'}') && depth == 0
    });
    close.is_some_and(|close| token.span.start > close.span.start)
}

/// Returns whether the label of a `goto` is in the same stage.
fn stays(text: &str, stage: &Stage, jump: &Jump) -> bool {
    let label = text[jump.span.clone()].trim_start_matches("goto").trim_end_matches(';').trim();
    let body = &text[stage.body.clone()];
    body.match_indices(label).any(|(at, _)| {
        let before = body[..at].trim_end();
        let rest = body[at + label.len()..].trim_start();
        rest.starts_with(':') && !rest.starts_with("::") && before.ends_with(['{', '}', ';'])
    })
}
