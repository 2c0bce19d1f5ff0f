//! Finds the end of a statement by balancing brackets. It needs no types, macros or includes.

use crate::lexer::{Kind, Token};

/// The shape of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `{ ... }`.
    Block,
    /// A loop. A macro may stand for it.
    Loop,
    /// `if`, `switch` or `try`.
    Choice,
    /// Anything that ends with a semicolon.
    Simple,
}

/// The extent of a statement, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The shape of the statement.
    pub shape: Shape,
    /// The index of its first token.
    pub first: usize,
    /// The index of the first token behind it.
    pub end: usize,
}

/// Finds statements in the tokens of a file.
#[derive(Debug)]
pub struct Statements<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl<'a> Statements<'a> {
    /// Creates a finder for the statements of a file.
    pub fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Self { text, tokens }
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.span.clone()])
    }

    /// Returns the statement that begins at token `at`. `None` if no statement begins there, or if it does not end.
    pub fn at(&self, at: usize) -> Option<Extent> {
        let first = self.code(at)?;
        let (shape, end) = self.statement(first, 0)?;
        Some(Extent { shape, first, end })
    }

    /// Returns the index of the first token from `at` on that is not in a preprocessor directive.
    pub fn code(&self, at: usize) -> Option<usize> {
        (at..self.tokens.len()).find(|&at| !self.tokens[at].in_directive)
    }

    /// Returns the index of the token behind the bracket that closes the one at `at`. `None` if the brackets do not
    /// match.
    pub fn behind_bracket(&self, at: usize) -> Option<usize> {
        let mut open = Vec::new();
        for (index, token) in self.tokens.iter().enumerate().skip(at) {
            let Kind::Sign(sign) = token.kind else { continue };
            if token.in_directive {
                continue;
            }
            match sign {
                b'(' => open.push(b')'),
                b'[' => open.push(b']'),
                b'{' => open.push(b'}'),
                b')' | b']' | b'}' if open.pop() != Some(sign) => return None,
                _ => {}
            }
            if open.is_empty() {
                return Some(index + 1);
            }
        }
        None
    }

    /// Returns the shape of the statement at `at`, and the index of the token behind it.
    fn statement(&self, at: usize, depth: usize) -> Option<(Shape, usize)> {
        // The depth is limited, so that a strange file does not overflow the stack.
        if depth > 200 {
            return None;
        }
        let at = self.code(at)?;
        let inner = |at: usize| Some(self.statement(at, depth + 1)?.1);
        match self.word(at) {
            "{" => Some((Shape::Block, self.behind_bracket(at)?)),
            "for" | "while" => Some((Shape::Loop, inner(self.behind_bracket(self.code(at + 1)?)?)?)),
            "switch" => Some((Shape::Choice, inner(self.behind_bracket(self.code(at + 1)?)?)?)),
            "if" => {
                let mut open = self.code(at + 1)?;
                if self.word(open) == "constexpr" {
                    open = self.code(open + 1)?;
                }
                let end = inner(self.behind_bracket(open)?)?;
                match self.code(end) {
                    Some(next) if self.word(next) == "else" => Some((Shape::Choice, inner(next + 1)?)),
                    _ => Some((Shape::Choice, end)),
                }
            }
            "do" => {
                let condition = self.code(inner(at + 1)?)?;
                if self.word(condition) != "while" {
                    return None;
                }
                let semicolon = self.code(self.behind_bracket(self.code(condition + 1)?)?)?;
                (self.word(semicolon) == ";").then_some((Shape::Loop, semicolon + 1))
            }
            "try" => {
                let mut end = inner(at + 1)?;
                while let Some(next) = self.code(end).filter(|&next| self.word(next) == "catch") {
                    end = inner(self.behind_bracket(self.code(next + 1)?)?)?;
                }
                Some((Shape::Choice, end))
            }
            "[" if self.word(at + 1) == "[" => {
                inner(self.behind_bracket(at)?).map(|end| (Shape::Simple, end))
            }
            _ => self.simple(at),
        }
    }

    /// Finds an expression or a declaration up to its semicolon, or a macro that stands for a loop, as in `FOREACH(x,
    /// list) { ... }` and `FOREVER { ... }`.
    fn simple(&self, at: usize) -> Option<(Shape, usize)> {
        if self.tokens[at].kind == Kind::Word && self.word(at + 1) == "(" {
            let behind = self.code(self.behind_bracket(at + 1)?)?;
            if self.word(behind) == "{" {
                return Some((Shape::Loop, self.behind_bracket(behind)?));
            }
        }
        // `FOREVER { ... }` is a loop. With a semicolon behind it, as in `T{...};`, it is an expression.
        if self.tokens[at].kind == Kind::Word && self.word(at + 1) == "{" {
            let end = self.behind_bracket(at + 1)?;
            if self.code(end).is_none_or(|next| self.word(next) != ";") {
                return Some((Shape::Loop, end));
            }
        }
        let mut next = at;
        loop {
            next = self.code(next)?;
            match self.tokens[next].kind {
                Kind::Sign(b';') => return Some((Shape::Simple, next + 1)),
                Kind::Sign(b'(' | b'[' | b'{') => next = self.behind_bracket(next)?,
                Kind::Sign(b')' | b']' | b'}') => return None,
                _ => next += 1,
            }
        }
    }
}
