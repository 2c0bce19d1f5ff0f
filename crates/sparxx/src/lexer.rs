//! Cuts C++ into tokens, as far as annotations and the extents of statements need it. It tells comments,
//! literals and preprocessor directives from code.

use crate::source::Span;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number.
    Number,
    /// A string or a character.
    Literal,
    /// One byte of a bracket or an operator, except for `::`.
    Sign(u8),
    /// `::`.
    Scope,
}

/// A token and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The kind of the token.
    pub kind: Kind,
    /// The place of the token.
    pub span: Span,
    /// Whether the token is in a preprocessor directive, for example in the body of a macro.
    pub in_directive: bool,
    /// Whether the token is the first word of a directive.
    pub begins_line: bool,
}

impl Token {
    /// Returns whether the token is this sign.
    pub fn is(&self, sign: u8) -> bool {
        self.kind == Kind::Sign(sign)
    }
}

/// Returns the tokens that begin in a part of the text.
pub fn in_span<'t>(tokens: &'t [Token], span: &Span) -> &'t [Token] {
    let first = tokens.partition_point(|token| token.span.start < span.start);
    let end = tokens.partition_point(|token| token.span.start < span.end);
    &tokens[first..end.max(first)]
}

/// Returns the tokens of a text.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        text: text.as_bytes(),
        at: 0,
        in_directive: false,
        line_is_new: true,
        begins: false,
        found: Vec::new(),
    };
    while lexer.at < lexer.text.len() {
        lexer.step();
    }
    lexer.found
}

/// A part of a text that the preprocessor may leave out: from one directive of a conditional to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The place of the part, up to the first word of the directive that ends it.
    pub span: Span,
    /// Whether the compiler sees the part if it sees what is around it, whatever is defined. `None` if that depends on macros.
    pub is_seen: Option<bool>,
}

/// Removes the tokens of the parts of a text that the preprocessor leaves out. `is_seen` says for each of the [`parts`] whether the
/// compiler sees it, if that is known. Returns the parts that are left out.
pub fn leave_out(text: &str, tokens: &mut Vec<Token>, is_seen: Option<&[bool]>) -> Vec<Span> {
    let parts = parts(text, tokens);
    let is_seen = is_seen.filter(|is_seen| is_seen.len() == parts.len());
    let is_out = |(at, part): (usize, &Part)| match is_seen {
        Some(is_seen) => !is_seen[at],
        None => part.is_seen == Some(false),
    };
    let left_out: Vec<Span> =
        parts.iter().enumerate().filter(|&part| is_out(part)).map(|(_, part)| part.span.clone()).collect();
    tokens.retain(|token| !left_out.iter().any(|span| span.contains(&token.span.start)));
    left_out
}

/// The value of a whole number in C++.
fn whole(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase().replace('\'', "");
    let digits = text.trim_end_matches(['u', 'l', 'z']);
    match digits.get(..2) {
        Some("0x") => u64::from_str_radix(&digits[2..], 16).ok(),
        Some("0b") => u64::from_str_radix(&digits[2..], 2).ok(),
        _ if digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
        _ => digits.parse().ok(),
    }
}

/// Returns the parts of a text that the preprocessor may leave out, in the order of their ends. Parts of `#if 0`, and those after an
/// `#if 1`, are left out whatever is defined.
pub fn parts(text: &str, tokens: &[Token]) -> Vec<Part> {
    /// A conditional that is open.
    struct Open {
        /// The place at which the part begins.
        from: usize,
        is_seen: Option<bool>,
        /// Whether a part before this one, or this one, is surely seen, so that no other one is.
        taken: bool,
    }
    let word = |token: Option<&Token>| token.map_or("", |token| &text[token.span.clone()]);
    let mut open: Vec<Open> = Vec::new();
    let mut parts = Vec::new();
    let lines = tokens
        .chunk_by(|a, b| a.in_directive && b.in_directive && !b.begins_line)
        .filter(|line| line[0].in_directive);
    for line in lines {
        // The value of a condition, if it is a number.
        let value = || match line {
            [_, number] if number.kind == Kind::Number => whole(word(Some(number))).map(|value| value != 0),
            [_, name] if word(Some(name)) == "false" => Some(false),
            [_, name] if word(Some(name)) == "true" => Some(true),
            _ => None,
        };
        let end = line[line.len() - 1].span.end;
        match word(line.first()) {
            "if" => {
                let value = value();
                open.push(Open { from: end, is_seen: value, taken: value == Some(true) });
            }
            "ifdef" | "ifndef" => open.push(Open { from: end, is_seen: None, taken: false }),
            directive @ ("elif" | "elifdef" | "elifndef" | "else" | "endif") => {
                let Some(last) = open.last_mut() else { continue };
                parts.push(Part { span: last.from..line[0].span.start, is_seen: last.is_seen });
                last.from = end;
                let is_false = directive == "elif" && value() == Some(false);
                if directive == "endif" {
                    open.pop();
                } else if last.taken || is_false {
                    last.is_seen = Some(false);
                } else {
                    last.is_seen = None;
                    last.taken = directive == "elif" && value() == Some(true);
                }
            }
            _ => {}
        }
    }
    parts
}

struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    in_directive: bool,
    /// Whether the line has had only blanks so far.
    line_is_new: bool,
    /// Whether a directive has begun whose first word was not read yet.
    begins: bool,
    found: Vec<Token>,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn step(&mut self) {
        let (byte, next) = (self.peek(0), self.peek(1));
        match byte {
            b'\n' => {
                self.at += 1;
                (self.in_directive, self.line_is_new) = (false, true);
            }
            b'\\' if self.splice(self.at) > 0 => self.at += self.splice(self.at),
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
            b'/' if next == b'/' => self.line_comment(),
            b'/' if next == b'*' => self.block_comment(),
            b'#' if self.line_is_new => {
                self.at += 1;
                (self.in_directive, self.line_is_new, self.begins) = (true, false, true);
            }
            b'"' => self.quoted(b'"'),
            b'\'' => self.quoted(b'\''),
            b'0'..=b'9' => self.number(),
            b'.' if next.is_ascii_digit() => self.number(),
            _ if is_word(byte) => self.word(),
            b':' if next == b':' => self.push(Kind::Scope, 2),
            _ => self.push(Kind::Sign(byte), 1),
        }
    }

    fn push(&mut self, kind: Kind, bytes: usize) {
        let end = (self.at + bytes).min(self.text.len());
        let begins_line = std::mem::take(&mut self.begins) && self.in_directive;
        self.found.push(Token { kind, span: self.at..end, in_directive: self.in_directive, begins_line });
        self.at = end;
        self.line_is_new = false;
    }

    /// Returns the length of a splice: a backslash and the end of its line, which continues in the next line then. It is 0 if there is
    /// none.
    fn splice(&self, at: usize) -> usize {
        match &self.text[at..] {
            [b'\\', b'\n', ..] => 2,
            [b'\\', b'\r', b'\n', ..] => 3,
            _ => 0,
        }
    }

    fn line_comment(&mut self) {
        while self.at < self.text.len() && self.peek(0) != b'\n' {
            self.at += self.splice(self.at).max(1);
        }
    }

    fn block_comment(&mut self) {
        let rest = &self.text[self.at + 2..];
        let end = rest.windows(2).position(|pair| pair == b"*/");
        self.at += end.map_or(rest.len() + 2, |end| end + 4);
    }

    fn quoted(&mut self, quote: u8) {
        let mut end = self.at + 1;
        while let Some(&byte) = self.text.get(end) {
            match byte {
                b'\\' => end += self.splice(end).max(2),
                // A literal that does not end on its line is an error, which the compiler will report.
                b'\n' => break,
                _ if byte == quote => {
                    end += 1;
                    break;
                }
                _ => end += 1,
            }
        }
        self.push(Kind::Literal, end.min(self.text.len()) - self.at);
    }

    fn number(&mut self) {
        let mut end = self.at + 1;
        while let Some(&byte) = self.text.get(end) {
            let is_sign = matches!(byte, b'+' | b'-') && matches!(self.text[end - 1] | 0x20, b'e' | b'p');
            let separates = byte == b'\'' && self.text.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
            if !is_word(byte) && byte != b'.' && !is_sign && !separates {
                break;
            }
            end += 1;
        }
        self.push(Kind::Number, end - self.at);
    }

    fn word(&mut self) {
        let length = self.text[self.at..].iter().take_while(|&&byte| is_word(byte)).count();
        let word = &self.text[self.at..self.at + length];
        match (word, self.peek(length)) {
            (b"R" | b"LR" | b"uR" | b"UR" | b"u8R", b'"') => self.raw_string(length),
            (b"L" | b"u" | b"U" | b"u8", quote @ (b'"' | b'\'')) => {
                self.at += length;
                self.quoted(quote);
            }
            _ => self.push(Kind::Word, length),
        }
    }

    /// Reads a literal `R"delimiter(...)delimiter"`, after a prefix of `prefix` bytes.
    fn raw_string(&mut self, prefix: usize) {
        let open = self.at + prefix + 1;
        let name = self.text[open..].iter().take(17).position(|&byte| byte == b'(');
        let Some(name) = name.map(|length| &self.text[open..open + length]) else {
            self.at += prefix;
            return self.quoted(b'"');
        };
        let closing = [b")", name, b"\""].concat();
        let body = open + name.len() + 1;
        let end = self.text[body..].windows(closing.len()).position(|window| window == closing);
        let end = end.map_or(self.text.len(), |end| body + end + closing.len());
        self.push(Kind::Literal, end - self.at);
    }
}
