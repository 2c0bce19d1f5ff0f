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
//! becomes C++ in which the stages are lambdas that an Anabranch stream runs, and the loop is a loop on the caller's thread
//! that sends it items. [`translate`] does that; the program compiles what it gives.
//!
//! `lexer`, `annotation` and `extent` find what is annotated, `region` puts it together, `names` says which variables
//! are used how, `places` what becomes of each, `rewrite` writes the C++. `command` is the program.
#![forbid(unsafe_code)]

pub mod annotation;
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

/// What a file holds.
#[derive(Debug)]
pub struct Analysis {
    /// Its regions, with the places of their variables.
    pub regions: Vec<(Region, Places)>,
    /// What has to be said about it, in the order of the file.
    pub said: Vec<Diagnostic>,
    names: names::Names,
}

impl Analysis {
    /// Whether the file cannot be translated.
    pub fn has_failed(&self) -> bool {
        self.said.iter().any(|said| said.severity == Severity::Error)
    }

    /// Whether a second translation, in which methods of unknown classes do not capture `this`, is another one.
    pub fn has_guesses(&self) -> bool {
        self.regions.iter().any(|(region, _)| self.names.method(region.body.start) == names::Method::Unknown)
    }

    /// The C++ that is compiled.
    pub fn translate(&self, source: &Source, options: Options, guess: Guess) -> String {
        rewrite::rewrite(source, &self.names, &self.regions, options, guess)
    }
}

/// Finds the regions of a file, and what is wrong with them.
pub fn analyse(source: &Source) -> Analysis {
    let mut said = Vec::new();
    let tokens = lexer::tokens(&source.text);
    let annotations = annotation::annotations(&source.text, &tokens, &mut said);
    let regions = region::regions(&source.text, &tokens, &annotations, &mut said);
    let names = if regions.is_empty() {
        names::Names::default()
    } else {
        names::Names::of(&blanked(&source.text, &annotations))
    };
    let mut placed = Vec::new();
    for region in regions {
        jumps::check(&region, &names, &source.text, &tokens, &mut said);
        let places = places::places(&region, &names, &mut said);
        placed.push((region, places));
    }
    said.sort_by_key(|said| said.span.start);
    Analysis { regions: placed, said, names }
}

/// The text with blanks for annotations: a parser need not know them, and every place stays where it is.
fn blanked(text: &str, annotations: &[annotation::Annotation]) -> String {
    let mut blank = String::with_capacity(text.len());
    let mut at = 0;
    for annotation in annotations {
        blank += &text[at..annotation.span.start];
        let bytes = text[annotation.span.clone()].bytes();
        blank.extend(bytes.map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        at = annotation.span.end;
    }
    blank + &text[at..]
}
