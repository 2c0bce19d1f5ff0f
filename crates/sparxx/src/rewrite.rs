//! Writes the C++ that is compiled. The stages become lambdas in their places, and the loop stays a loop.
//!
//! Every statement stays on its line, and insertions add no lines. So messages and debuggers show the lines
//! of the user's file.

use std::fmt::Write as _;

use crate::annotation::Replicas;
use crate::jumps;
use crate::names::{Method, Names};
use crate::options::Options;
use crate::places::Places;
use crate::region::{Region, Stage};
use crate::source::{Source, Span, line_ends};

/// A part of the text, and the text that replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    span: Span,
    text: String,
}

/// Whether lambdas capture `this` in a function `A::f` if the file does not show whether it is a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guess {
    /// The lambdas capture `this`.
    Method,
    /// The lambdas do not capture `this`.
    Function,
}

/// Returns the text with its regions translated.
pub fn rewrite(
    source: &Source,
    names: &Names,
    regions: &[(Region, Places)],
    options: Options,
    guess: Guess,
) -> String {
    let mut edits = Vec::new();
    for (number, (region, places)) in regions.iter().enumerate() {
        let writer = Writer { source, names, region, places, number, options, guess };
        writer.write(&mut edits);
    }
    if let Some((first, _)) = regions.first() {
        edits.push(include(source, names, first));
    }
    // Insertions at one place keep the order in which they were made.
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut text = format!("#line 1 \"{}\"\n", quoted(&source.name));
    let mut at = 0;
    for edit in edits {
        text += &source.text[at..edit.span.start];
        text += &edit.text;
        at = edit.span.end;
    }
    text += &source.text[at..];
    text
}

/// Returns a path, escaped for use between quotes.
fn quoted(path: &str) -> String {
    path.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Includes the header in front of the declaration that contains the first region. There, all macros that the
/// headers depend on have been defined.
fn include(source: &Source, names: &Names, region: &Region) -> Edit {
    let at = region.annotation.span.start;
    let top = names.top.iter().find(|top| top.contains(&at)).map_or(0, |top| top.start);
    let (line, column) = source.position(top);
    let lead = if column > 1 { "\n" } else { "" };
    let blanks = " ".repeat(column - 1);
    let text =
        format!("{lead}#include <anabranch/spar.hpp>\n#line {line} \"{}\"\n{blanks}", quoted(&source.name));
    Edit { span: top..top, text }
}

struct Writer<'a> {
    source: &'a Source,
    names: &'a Names,
    region: &'a Region,
    places: &'a Places,
    number: usize,
    options: Options,
    guess: Guess,
}

impl Writer<'_> {
    /// Replaces an annotation `[[...]]` by `text`, and keeps the number of lines.
    fn replace(&self, span: &Span, text: String) -> Edit {
        let lines = line_ends(&self.source.text[span.clone()]);
        Edit { span: span.clone(), text: text + &"\n".repeat(lines) }
    }

    fn write(&self, edits: &mut Vec<Edit>) {
        let region = self.region;
        edits.push(self.replace(&region.annotation.span, self.opening()));
        let end = region.body.end;
        for (at, stage) in region.stages.iter().enumerate() {
            let head = if at == 0 { self.first_stage() } else { String::new() };
            edits.push(self.replace(&stage.annotation.span, head + &self.stage(at, stage)));
            let last = if at + 1 == region.stages.len() { self.send() } else { String::new() };
            edits.push(Edit { span: stage.body.end..stage.body.end, text: format!(" }});{last}") });
            for jump in jumps::drops(region, stage, self.names) {
                let word = jump.span.start..jump.span.start + "continue".len();
                edits.push(Edit { span: word, text: "return ::anabranch::spar::drop(spar_it)".to_owned() });
            }
        }
        let number = self.number;
        let text = format!(" }} catch (...) {{ spar_r{number}.failed(); }} spar_r{number}.finish(); }}");
        edits.push(Edit { span: end..end, text });
    }

    /// Returns the text in front of the loop.
    fn opening(&self) -> String {
        let (number, options) = (self.number, self.options);
        let (line, _) = self.source.position(self.region.annotation.span.start);
        let mut text = format!(
            "{{ ::anabranch::spar::region spar_r{number}({{{}, {}, {line}}}); ",
            options.is_ordered,
            options.on_demand.unwrap_or(0),
        );
        for listed in self.region.annotation.inputs.iter().chain(&self.region.annotation.outputs) {
            let _ = write!(text, "(void){}; ", listed.name);
        }
        for shared in &self.places.shared {
            let constant = if shared.is_const { "const " } else { "" };
            let _ = write!(text, "[[maybe_unused]] {constant}auto &spar_o{number}_{0} = {0}; ", shared.name);
        }
        text + "try { "
    }

    /// Returns the text in front of the first stage. It has the type of the item, which is known there.
    fn first_stage(&self) -> String {
        let fields = self.places.fields.iter().map(|field| format!("decltype({})", field.name));
        let fields: Vec<String> = fields.collect();
        let number = self.number;
        format!(
            "{{ using spar_i{number} = ::anabranch::spar::item<{}>; if (spar_r{number}.is_new()) {{ ",
            fields.join(", ")
        )
    }

    /// Returns the text in front of a stage's statement.
    fn stage(&self, at: usize, stage: &Stage) -> String {
        let number = self.number;
        let replicas = match &stage.annotation.replicas {
            Replicas::Serial => "::anabranch::spar::serial()".to_owned(),
            Replicas::Default(_) => "::anabranch::spar::replicate()".to_owned(),
            Replicas::Count(count, span) => {
                let (line, _) = self.source.position(span.start);
                format!("::anabranch::spar::replicate({count}, \"{}\", {line})", quoted(&self.source.name))
            }
        };
        let mut captures: Vec<String> = Vec::new();
        for shared in self.places.shared.iter().filter(|shared| shared.stages.contains(&at)) {
            captures.push(format!("&{0} = spar_o{number}_{0}", shared.name));
        }
        let place = stage.body.start;
        let captures_this = match self.names.method(place) {
            Method::Yes => true,
            Method::No => false,
            Method::Unknown => self.guess == Guess::Method,
        };
        if captures_this {
            captures.push("this".to_owned());
        }
        let mut text = format!(
            "spar_r{number}.stage<spar_i{number}>({replicas}, [{}]([[maybe_unused]] spar_i{number} &spar_it) {{ ",
            captures.join(", ")
        );
        if captures_this {
            text += "(void)this; ";
        }
        for &field in &self.places.needs[at] {
            let Some(of) = self.places.fields.get(field) else { continue };
            let constant = if of.is_const { "const " } else { "" };
            let _ = write!(
                text,
                "[[maybe_unused]] {constant}auto &{} = ::anabranch::spar::get<{field}>(spar_it); ",
                of.name
            );
        }
        text
    }

    /// Returns the text behind the last stage, which sends the item.
    fn send(&self) -> String {
        let number = self.number;
        let give = |field: &crate::places::Field| {
            let how = if field.is_moved { "give" } else { "copy" };
            format!("::anabranch::spar::{how}<decltype({0})>({0})", field.name)
        };
        let given: Vec<String> = self.places.fields.iter().map(give).collect();
        format!(
            " spar_r{number}.start<spar_i{number}>(); }} spar_r{number}.send<spar_i{number}>({}); }}",
            given.join(", ")
        )
    }
}
