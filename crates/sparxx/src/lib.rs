//! spar++: SPar's annotations in C++, on today's compilers.
//!
//! ```cpp
//! [[spar::ToStream]]
//! for (int block = 0; read(input, buffer); block++) {
//!     std::string packed;
//!     [[spar::Stage, spar::Input(buffer), spar::Output(packed), spar::Replicate()]]
//!     packed = compress(buffer);
//!     [[spar::Stage, spar::Input(packed)]]
//!     output << packed;
//! }
//! ```
//!
//! becomes C++ in which the stages are lambdas. An Anabranch stream runs these lambdas, and the loop runs on
//! the caller's thread and sends items to the stream. [`Analysis::translate`] writes this C++, and the
//! program `spar++` compiles it.
//!
//! - `lexer`, `annotation` and `extent` find the annotations and the statements that they mark.
//! - `region` finds the regions and their stages.
//! - `bodies` leaves out the functions without annotations.
//! - `names` finds the variables of the code, and how the code uses them.
//! - `places` decides whether a variable travels in the item or stays where it is.
//! - `rewrite` writes the C++.
//! - `command` is the program.
#![forbid(unsafe_code)]

pub mod annotation;
pub mod bodies;
pub mod command;
pub mod extent;
pub mod jumps;
pub mod lexer;
pub mod names;
pub mod options;
pub mod places;
pub mod plan;
pub mod region;
pub mod rewrite;
pub mod source;

use options::Options;
use places::Places;
use region::Region;
use rewrite::Guess;
use source::{Diagnostic, Severity, Source};

/// The result of analysing a file.
#[derive(Debug)]
pub struct Analysis {
    /// The regions of the file, with the places of their variables.
    pub regions: Vec<(Region, Places)>,
    /// The errors and warnings, in the order of the file.
    pub said: Vec<Diagnostic>,
    names: names::Names,
}

impl Analysis {
    /// Returns whether the file cannot be translated because of errors.
    pub fn has_failed(&self) -> bool {
        self.said.iter().any(|said| said.severity == Severity::Error)
    }

    /// Returns whether the translation depends on a [`Guess`]: the file has a region in a method of a class that it
    /// does not show.
    pub fn has_guesses(&self) -> bool {
        self.regions.iter().any(|(region, _)| self.names.method(region.body.start) == names::Method::Unknown)
    }

    /// Returns the translation, which is the C++ to compile.
    pub fn translate(&self, source: &Source, options: Options, guess: Guess) -> String {
        rewrite::rewrite(source, &self.names, &self.regions, options, guess)
    }
}

/// Finds the regions of a file, and the errors in them.
pub fn analyse(source: &Source) -> Analysis {
    analyse_as(source, None)
}

/// Like [`analyse`]. `is_seen` says for each of the [`lexer::parts`] of the file whether the compiler sees it. If it is `None`, only what
/// no compiler sees is left out.
pub fn analyse_as(source: &Source, is_seen: Option<&[bool]>) -> Analysis {
    let mut said = Vec::new();
    let text = &*source.normal();
    let mut tokens = lexer::tokens(text);
    let not_compiled = lexer::leave_out(text, &mut tokens, is_seen);
    let annotations = annotation::annotations(text, &tokens, &mut said);
    let regions = region::regions(text, &tokens, &annotations, &mut said);
    let names = if regions.is_empty() {
        names::Names::default()
    } else {
        let left_out = bodies::without_annotations(text, &tokens, &annotations);
        let hidden = annotations.iter().map(|annotation| annotation.span.clone()).chain(not_compiled);
        names::Names::of(&blanked(text, hidden.collect()), &left_out)
    };
    let mut placed = Vec::new();
    for region in regions {
        jumps::check(&region, &names, text, &tokens, &mut said);
        let places = places::places(&region, &names, &mut said);
        placed.push((region, places));
    }
    said.sort_by_key(|said| said.span.start);
    Analysis { regions: placed, said, names }
}

/// Returns the text with blanks in place of some parts: annotations, and what the preprocessor leaves out. So the parser does not
/// see them, and all places stay the same.
fn blanked(text: &str, mut parts: Vec<source::Span>) -> String {
    parts.sort_by_key(|part| part.start);
    let mut blank = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        // A part may be inside of another one.
        let part = part.start.max(at)..part.end.max(at);
        blank += &text[at..part.start];
        let bytes = text[part.clone()].bytes();
        blank.extend(bytes.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        at = part.end;
    }
    blank + &text[at..]
}
