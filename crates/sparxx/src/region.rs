//! Finds the regions and their stages: the statements that annotations mark. It checks that they are nested
//! correctly.

use crate::annotation::{Annotation, Id};
use crate::extent::{Extent, Shape, Statements};
use crate::lexer::{Token, in_span};
use crate::source::{Diagnostic, Severity, Span};

/// A stage of a region.
#[derive(Debug, Clone)]
pub struct Stage {
    /// Its annotation.
    pub annotation: Annotation,
    /// Its statement.
    pub body: Span,
}

/// A region.
#[derive(Debug, Clone)]
pub struct Region {
    /// Its annotation.
    pub annotation: Annotation,
    /// Its statement.
    pub body: Span,
    /// Its stages, in order.
    pub stages: Vec<Stage>,
    /// The block that contains the stages.
    pub block: Span,
}

impl Region {
    /// Returns the text from the annotation of the first stage to the end of the last stage.
    pub fn staged(&self) -> Span {
        let first = self.stages.first().map_or(self.body.start, |stage| stage.annotation.span.start);
        first..self.stages.last().map_or(self.body.end, |stage| stage.body.end)
    }
}

/// An annotation, and the statement that it marks.
struct Marked {
    annotation: Annotation,
    extent: Extent,
    body: Span,
}

/// Builds the regions of a file from its annotations.
pub fn regions(
    text: &str,
    tokens: &[Token],
    annotations: &[Annotation],
    said: &mut Vec<Diagnostic>,
) -> Vec<Region> {
    let statements = Statements::new(text, tokens);
    let marked: Vec<Marked> =
        annotations.iter().filter_map(|of| mark(&statements, tokens, of, said)).collect();
    let mut regions = Vec::new();
    let mut belongs = vec![false; marked.len()];
    for (at, region) in marked.iter().enumerate().filter(|(_, marked)| marked.annotation.id == Id::ToStream) {
        let inside = |other: &Marked| region.body.contains(&other.annotation.span.start);
        let mut is_sound = true;
        for (other, inner) in marked.iter().enumerate().filter(|(other, inner)| *other != at && inside(inner))
        {
            belongs[other] = true;
            if inner.annotation.id == Id::ToStream {
                said.push(Diagnostic::error(
                    inner.annotation.span.clone(),
                    "a region cannot be inside another",
                    "put the inner loop into a function of its own, and call that from a stage",
                ));
                is_sound = false;
            }
        }
        let nested = marked.iter().filter(|outer| {
            outer.annotation.id == Id::ToStream && outer.annotation.span != region.annotation.span
        });
        if nested.clone().any(|outer| outer.body.contains(&region.annotation.span.start)) {
            continue;
        }
        let stages: Vec<&Marked> =
            marked.iter().filter(|other| other.annotation.id == Id::Stage && inside(other)).collect();
        if is_sound && let Some(region) = assemble(text, tokens, region, &stages, annotations, said) {
            regions.push(region);
        }
    }
    for (stage, _) in marked
        .iter()
        .zip(&belongs)
        .filter(|(marked, belongs)| marked.annotation.id == Id::Stage && !**belongs)
    {
        // The error reported before may be that of the stage's region.
        let is_error_before = |said: &Diagnostic| {
            said.severity == Severity::Error && said.span.start < stage.annotation.span.start
        };
        if said.iter().any(is_error_before) {
            continue;
        }
        said.push(Diagnostic::error(
            stage.annotation.span.clone(),
            "a stage is outside of every region",
            "annotate the loop around it with `[[spar::ToStream]]`",
        ));
    }
    regions
}

fn mark(
    statements: &Statements<'_>,
    tokens: &[Token],
    annotation: &Annotation,
    said: &mut Vec<Diagnostic>,
) -> Option<Marked> {
    let name = annotation.id.name();
    let Some(extent) = statements.at(annotation.next) else {
        said.push(Diagnostic::error(
            annotation.span.clone(),
            format!("no statement follows `{name}`, or its brackets do not match"),
            "put the annotation in front of a loop or a block",
        ));
        return None;
    };
    if annotation.id == Id::ToStream && matches!(extent.shape, Shape::Choice | Shape::Simple) {
        said.push(Diagnostic::error(
            annotation.span.clone(),
            "`spar::ToStream` marks a loop or a block, and this is neither",
            "put the annotation in front of `for`, `while`, `do` or `{`",
        ));
        return None;
    }
    let body = tokens[extent.first].span.start..tokens[extent.end - 1].span.end;
    Some(Marked { annotation: annotation.clone(), extent, body })
}

fn assemble(
    text: &str,
    tokens: &[Token],
    region: &Marked,
    stages: &[&Marked],
    annotations: &[Annotation],
    said: &mut Vec<Diagnostic>,
) -> Option<Region> {
    let before = said.len();
    if stages.is_empty() {
        // A stage that was rejected has been reported already.
        let is_refused =
            annotations.iter().any(|other| other.id == Id::Stage && region.body.contains(&other.span.start))
                || said
                    .iter()
                    .any(|said| said.severity == Severity::Error && region.body.contains(&said.span.start));
        if !is_refused {
            said.push(Diagnostic::error(
                region.annotation.span.clone(),
                "the region has no stage",
                "annotate at least one statement in it with `[[spar::Stage]]`; annotations in macros are not seen",
            ));
        }
        return None;
    }
    for pair in stages.windows(2) {
        let (one, next) = (pair[0], pair[1]);
        if one.body.contains(&next.annotation.span.start) {
            said.push(Diagnostic::error(
                next.annotation.span.clone(),
                "a stage cannot be inside another",
                "end the first stage before the second one begins",
            ));
            continue;
        }
        let between = in_span(tokens, &(one.body.end..next.annotation.span.start));
        if let Some(first) = between.iter().find(|token| !token.in_directive) {
            let (message, help) = if between.iter().any(|token| token.is(b'{') || token.is(b'}')) {
                (
                    "the stages of a region are in different blocks",
                    "let one stage follow the other in the same block",
                )
            } else {
                ("code between two stages", "move it into the stage before it or behind it")
            };
            said.push(Diagnostic::error(first.span.clone(), message, help));
        }
    }
    if said.len() > before {
        return None;
    }
    // If no block is found, the brackets of the file do not match.
    let block = block_around(tokens, stages[0].extent.first, &region.body).unwrap_or_default();
    let stages =
        stages.iter().map(|stage| Stage { annotation: stage.annotation.clone(), body: stage.body.clone() });
    let region = Region {
        annotation: region.annotation.clone(),
        body: region.body.clone(),
        stages: stages.collect(),
        block,
    };
    if !text[region.block.clone()].starts_with('{')
        || region.stages[0].annotation.span.start <= region.body.start
    {
        said.push(Diagnostic::error(
            region.stages[0].annotation.span.clone(),
            "the stages of a region must be in a block",
            "put braces around the body of the loop",
        ));
        return None;
    }
    Some(region)
}

/// Returns the innermost `{ ... }` around a token. If it begins before the region, returns the whole statement of the
/// region.
fn block_around(tokens: &[Token], at: usize, region: &Span) -> Option<Span> {
    let mut depth = 0usize;
    let open = tokens[..at].iter().rev().filter(|token| !token.in_directive).find(|token| {
        if token.is(b'}') {
            depth += 1;
        } else if token.is(b'{') {
            if depth == 0 {
                return true;
            }
            depth -= 1;
        }
        false
    })?;
    if open.span.start < region.start {
        return Some(region.clone());
    }
    let mut depth = 0usize;
    let inside = in_span(tokens, &(open.span.start..usize::MAX)).iter();
    for token in inside.filter(|token| !token.in_directive) {
        if token.is(b'{') {
            depth += 1;
        } else if token.is(b'}') {
            depth -= 1;
            if depth == 0 {
                return Some(open.span.start..token.span.end);
            }
        }
    }
    None
}
