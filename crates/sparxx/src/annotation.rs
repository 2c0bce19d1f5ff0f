//! Parses annotations such as `[[spar::Stage, spar::Input(a, b), spar::Output(c), spar::Replicate(n)]]`.
//!
//! The grammar is that of the SPar compiler (Griebler, Danelutto, Torquati, Fernandes, 2017, and its manual).
//! The first attribute names the kind of the annotation, and the others follow in any order. `[[using spar:
//! Stage, Input(a)]]` is a shorter form of `[[spar::Stage, spar::Input(a)]]`.

use crate::lexer::{Kind, Token};
use crate::source::{Diagnostic, Span};

/// The kind of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// The annotation marks a region. Each iteration of its loop becomes an item.
    ToStream,
    /// The annotation marks a stage of a region.
    Stage,
}

impl Id {
    /// Returns the kind as it is written in an annotation.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToStream => "spar::ToStream",
            Self::Stage => "spar::Stage",
        }
    }
}

/// A variable in an `Input` or `Output`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// The place of the name in the list.
    pub span: Span,
}

/// The number of calls of a stage that may run at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replicas {
    /// One call at a time: the stage is serial.
    Serial,
    /// `Replicate()`: the value of `SPAR_NUM_WORKERS`, or the number of processors.
    Default(Span),
    /// `Replicate(n)`, with the text of the expression `n`.
    Count(String, Span),
}

impl Replicas {
    /// Returns whether several calls may run at once.
    pub fn is_parallel(&self) -> bool {
        *self != Self::Serial
    }
}

/// An annotation.
#[derive(Debug, Clone)]
pub struct Annotation {
    /// The kind of the annotation.
    pub id: Id,
    /// The text from `[[` to `]]`.
    pub span: Span,
    /// The variables in `Input`. Empty if it was not written.
    pub inputs: Vec<Listed>,
    /// The variables in `Output`. Empty if it was not written.
    pub outputs: Vec<Listed>,
    /// The number of replicas in `Replicate`.
    pub replicas: Replicas,
    /// The index of the first token behind the annotation.
    pub next: usize,
}

/// Finds the annotations of a file. A `[[` with the word `spar` in it that is not a correct annotation is
/// reported.
pub fn annotations(text: &str, tokens: &[Token], said: &mut Vec<Diagnostic>) -> Vec<Annotation> {
    let mut found = Vec::new();
    let mut at = 0;
    while at + 1 < tokens.len() {
        if !opens(tokens, at) {
            at += 1;
            continue;
        }
        let close = closing(tokens, at);
        let end = close.unwrap_or(tokens.len());
        let attributes = &tokens[at + 2..end];
        if !attributes.iter().any(|token| is_spar(text, token)) || !starts_attribute(text, attributes) {
            at += 2;
            continue;
        }
        let mut parser = Parser {
            text,
            tokens: attributes,
            at: 0,
            said,
            all: tokens[at].span.start..tokens[at + 1].span.end,
        };
        if close.is_none() {
            parser.refuse("this annotation does not end", "close it with `]]`");
            return found;
        }
        let is_inner = |at: usize| {
            opens(attributes, at) && attributes.get(at + 2).is_some_and(|token| is_spar(text, token))
        };
        if let Some(inner) = (0..attributes.len()).find(|&at| is_inner(at)) {
            parser.all = attributes[inner].span.start..attributes[inner + 2].span.end;
            parser.refuse("an annotation is inside another", "put each annotation in front of a statement");
            at = end + 2;
            continue;
        }
        let span = tokens[at].span.start..tokens[end + 1].span.end;
        parser.all = span.clone();
        if tokens[at].in_directive {
            parser.refuse(
                "an annotation in a macro is not seen by the compiler's preprocessor",
                "write the annotation where the macro is used, in front of the statement",
            );
        } else if let Some(mut annotation) = parser.annotation() {
            annotation.next = end + 2;
            found.push(annotation);
        }
        at = end + 2;
    }
    found
}

/// Returns whether an attribute begins here with `[[`. In `a[[]{...}()]`, the two signs do not begin one.
fn opens(tokens: &[Token], at: usize) -> bool {
    tokens[at].is(b'[') && tokens.get(at + 1).is_some_and(|next| next.is(b'['))
}

/// Returns whether the tokens are attributes, and not the captures of a lambda in an index. Attributes begin with
/// words.
fn starts_attribute(text: &str, tokens: &[Token]) -> bool {
    let word =
        |at: usize| tokens.get(at).and_then(|token: &Token| text.get(token.span.clone())).unwrap_or("");
    (word(0) == "spar" && word(1).starts_with(':')) || (word(0) == "using" && word(1) == "spar") || {
        // If other attributes come before SPar's, this is an annotation with an error.
        tokens.windows(2).any(|pair| is_spar(text, &pair[0]) && pair[1].kind == Kind::Scope)
    }
}

fn is_spar(text: &str, token: &Token) -> bool {
    token.kind == Kind::Word && text.get(token.span.clone()) == Some("spar")
}

/// Returns the index of the first `]` of the `]]` that closes the `[[` at `at`.
fn closing(tokens: &[Token], at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.kind {
            Kind::Sign(b'[' | b'(' | b'{') => depth += 1,
            Kind::Sign(b']' | b')' | b'}') => depth = depth.checked_sub(1)?,
            Kind::Sign(b';') => return None,
            // An attribute does not nest more than 64 brackets.
            _ if depth > 64 => return None,
            _ => {}
        }
        if depth == 1
            && token.is(b']')
            && tokens.get(index + 1).is_some_and(|next| next.is(b']'))
            && index > at + 1
        {
            return Some(index);
        }
    }
    None
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    said: &'a mut Vec<Diagnostic>,
    /// The text of the whole annotation.
    all: Span,
}

impl Parser<'_> {
    fn refuse(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.said.push(Diagnostic::error(self.all.clone(), message, help));
    }

    fn refuse_at(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.said.push(Diagnostic::error(span, message, help));
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &self.text[token.span.clone()])
    }

    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.all.end - 2..self.all.end, |token| token.span.clone())
    }

    fn annotation(&mut self) -> Option<Annotation> {
        let all_spar = self.word(0) == "using" && self.word(1) == "spar" && self.word(2) == ":";
        if all_spar {
            self.at = 3;
        }
        let (mut id, mut inputs, mut outputs, mut replicas) = (None, None, None, None);
        loop {
            let start = self.here();
            if !all_spar || self.word(self.at) == "spar" {
                if self.word(self.at) != "spar" {
                    self.refuse_at(
                        start,
                        format!("`{}` is no attribute of SPar", self.word(self.at)),
                        "give other attributes an annotation of their own: `[[likely]] [[spar::Stage]]`",
                    );
                    return None;
                }
                if self.word(self.at + 1) != "::" {
                    self.refuse_at(start, "`spar` needs `::` and an attribute", "as in `spar::Stage`");
                    return None;
                }
                self.at += 2;
            }
            let name = self.word(self.at).to_owned();
            let span = start.start..self.here().end;
            self.at += 1;
            let arguments = self.arguments()?;
            let is_first = id.is_none();
            match (&*name, is_first) {
                ("ToStream", true) => id = Some(self.bare(Id::ToStream, arguments, &span)?),
                ("Stage", true) => id = Some(self.bare(Id::Stage, arguments, &span)?),
                ("ToStream" | "Stage", false) => {
                    self.refuse_at(
                        span,
                        "an annotation has one of `spar::ToStream` and `spar::Stage`",
                        "annotate two statements: the loop, and the stage in it",
                    );
                    return None;
                }
                ("Input" | "Output" | "Replicate", true) => {
                    self.refuse_at(
                        span,
                        format!("`spar::{name}` cannot be the first attribute"),
                        "begin with `spar::ToStream` or `spar::Stage`",
                    );
                    return None;
                }
                ("Input", _) => self.list(&mut inputs, &name, arguments, &span)?,
                ("Output", _) => self.list(&mut outputs, &name, arguments, &span)?,
                ("Replicate", _) if id == Some(Id::ToStream) => {
                    self.refuse_at(
                        span,
                        "a region has no replicas",
                        "write `spar::Replicate` in the annotation of a stage",
                    );
                    return None;
                }
                ("Replicate", _) => self.replicate(&mut replicas, arguments, span)?,
                _ => {
                    self.refuse_at(
                        span,
                        format!("SPar has no attribute `{name}`"),
                        "there are ToStream, Stage, Input, Output and Replicate",
                    );
                    return None;
                }
            }
            if self.at == self.tokens.len() {
                break;
            }
            if self.word(self.at) != "," {
                let (span, found) = (self.here(), self.word(self.at).to_owned());
                self.refuse_at(
                    span,
                    format!("expected `,` or `]]`, and found `{found}`"),
                    "separate attributes by commas",
                );
                return None;
            }
            self.at += 1;
            if self.at == self.tokens.len() {
                let span = self.here();
                self.refuse_at(span, "an attribute is missing behind the comma", "take the comma away");
                return None;
            }
        }
        Some(Annotation {
            id: id?,
            span: self.all.clone(),
            inputs: inputs.unwrap_or_default(),
            outputs: outputs.unwrap_or_default(),
            replicas: replicas.unwrap_or(Replicas::Serial),
            next: 0,
        })
    }

    /// Returns the tokens between parentheses. `Some(None)` if there are no parentheses, and `None` after an error.
    #[allow(clippy::option_option, reason = "missing parentheses are not an error")]
    fn arguments(&mut self) -> Option<Option<Vec<Token>>> {
        if self.word(self.at) != "(" {
            return Some(None);
        }
        let open = self.at;
        let mut depth = 0;
        while let Some(token) = self.tokens.get(self.at) {
            match token.kind {
                Kind::Sign(b'(' | b'[' | b'{') => depth += 1,
                Kind::Sign(b')' | b']' | b'}') => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(Some(self.tokens[open + 1..self.at - 1].to_vec()));
            }
        }
        let span = self.tokens[open].span.clone();
        self.refuse_at(span, "this parenthesis is not closed", "close it with `)`");
        None
    }

    /// Parses an attribute without arguments. Empty parentheses are allowed.
    fn bare(&mut self, id: Id, arguments: Option<Vec<Token>>, span: &Span) -> Option<Id> {
        if arguments.is_some_and(|arguments| !arguments.is_empty()) {
            self.refuse_at(
                span.clone(),
                format!("`{}` takes nothing", id.name()),
                "list variables in `spar::Input` and `spar::Output`",
            );
            return None;
        }
        Some(id)
    }

    /// Parses the variables of `Input` or `Output`.
    fn list(
        &mut self,
        into: &mut Option<Vec<Listed>>,
        name: &str,
        arguments: Option<Vec<Token>>,
        span: &Span,
    ) -> Option<()> {
        if into.is_some() {
            self.refuse_at(
                span.clone(),
                format!("`spar::{name}` was written before"),
                "put all variables into one list",
            );
            return None;
        }
        let arguments = arguments.unwrap_or_default();
        if arguments.is_empty() {
            self.refuse_at(
                span.clone(),
                format!("`spar::{name}` needs a variable"),
                format!("name one, as in `spar::{name}(x)`, or leave `spar::{name}` out"),
            );
            return None;
        }
        let mut listed: Vec<Listed> = Vec::new();
        let mut depth = 0;
        let mut expects = true;
        for token in &arguments {
            let word = &self.text[token.span.clone()];
            match token.kind {
                Kind::Sign(b'[' | b'(') => depth += 1,
                Kind::Sign(b']' | b')') => depth -= 1,
                _ if depth > 0 => {}
                Kind::Sign(b',') if !expects => expects = true,
                Kind::Word if expects && !is_keyword(word) => {
                    if listed.iter().any(|other| other.name == word) {
                        let message = format!("`{word}` is listed twice");
                        self.said.push(Diagnostic::warning(token.span.clone(), message, "once is enough"));
                    } else {
                        listed.push(Listed { name: word.to_owned(), span: token.span.clone() });
                    }
                    expects = false;
                }
                _ => {
                    let message = format!("`spar::{name}` lists variables, and `{word}` is none");
                    let help =
                        "name variables only; give an expression a variable of its own in front of the stage";
                    self.said.push(Diagnostic::error(token.span.clone(), message, help));
                    return None;
                }
            }
        }
        if expects {
            self.refuse_at(span.clone(), "a variable is missing behind the comma", "take the comma away");
            return None;
        }
        *into = Some(listed);
        Some(())
    }

    fn replicate(
        &mut self,
        into: &mut Option<Replicas>,
        arguments: Option<Vec<Token>>,
        span: Span,
    ) -> Option<()> {
        let Some(arguments) = arguments else {
            self.refuse_at(
                span,
                "`spar::Replicate` needs parentheses",
                "write `spar::Replicate()`, or `spar::Replicate(n)` for n at once",
            );
            return None;
        };
        if into.is_some() {
            self.refuse_at(
                span,
                "`spar::Replicate` was written before",
                "a stage has one number of replicas",
            );
            return None;
        }
        let (Some(first), Some(last)) = (arguments.first(), arguments.last()) else {
            *into = Some(Replicas::Default(span));
            return Some(());
        };
        let whole = first.span.start..last.span.end;
        let expression = self.text[whole.clone()].to_owned();
        let number = expression.replace('\'', "").parse::<i64>();
        if arguments.iter().any(|token| token.is(b',')) {
            self.refuse_at(whole, "`spar::Replicate` takes one number", "a stage has one number of replicas");
            return None;
        }
        if first.kind == Kind::Literal || number.is_ok_and(|number| number < 1) {
            self.refuse_at(
                whole,
                format!("a stage has 1 replica or more, not {expression}"),
                "write `spar::Replicate()` for one on each processor, or leave it out for a serial stage",
            );
            return None;
        }
        *into = Some(Replicas::Count(expression, whole));
        Some(())
    }
}

/// Returns whether a word is a keyword, and so cannot be a variable.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "auto", "bool", "break", "case", "catch", "char", "class", "const", "continue", "default", "delete",
        "do", "double", "else", "enum", "false", "float", "for", "goto", "if", "int", "long", "new",
        "nullptr", "operator", "return", "short", "signed", "sizeof", "static", "struct", "switch",
        "template", "this", "throw", "true", "try", "typename", "union", "unsigned", "using", "void",
        "while",
    ];
    KEYWORDS.contains(&word)
}
