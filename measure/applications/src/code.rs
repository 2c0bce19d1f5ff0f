//! How much code a variant has, as the papers on SPar and on Rust-SSP count it.
//!
//! - **Lines** are those with at least one token. Comments have none.
//! - **Tokens** are words, numbers, strings, characters and marks. A mark of several characters, as `>=`, is one.
//! - **Complexity** is McCabe's cyclomatic complexity of the whole file: 1, and 1 for each `if`, `for`, `while`, `loop`,
//!   `case`, `catch`, `=>`, `&&`, `||` and `?`. A closure without parameters begins with `||` in Rust and counts, too.
//! - **Effort** is Halstead's: words that are no keywords, numbers, strings and characters are operands, and all else are
//!   operators. The volume is the number of tokens times the binary logarithm of the number of different ones. The
//!   difficulty is half of the number of different operators times the mean use of an operand. The effort is their
//!   product.
//!
//! Counted is the file of the variant. For the rivals that have no ordered map of their own, the file that writes one is
//! counted too, because a user would have to write it. The programs in C++ have one file for all applications.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::checkouts::source;
use crate::systems::{Home, SEQUENTIAL, home};

/// The rivals without an ordered map of their own.
const BY_HAND: [&str; 3] = ["crossbeam", "threads", "tokio"];

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Code {
    pub lines: usize,
    pub tokens: usize,
    /// McCabe's cyclomatic complexity.
    pub complexity: usize,
    /// Halstead's effort.
    pub effort: f64,
}

impl Code {
    /// The code of a variant. 0 if the sources are not where they were when this program was built.
    pub fn of(application: &str, variant: &str) -> Self {
        let mut files = vec![match home(variant) {
            _ if variant == SEQUENTIAL => format!("programs/src/{application}/sequential.rs"),
            Home::Own => format!("src/variants/{application}/{variant}.rs"),
            Home::Original => format!("src/variants/{application}/ssp.rs"),
            Home::Rivals => format!("../rivals/applications/src/applications/{application}.rs"),
            Home::Cpp => {
                let name = variant.strip_prefix("cpp-").unwrap_or(variant);
                format!("cpp/{}.cpp", name.strip_suffix("-spinning").unwrap_or(name))
            }
        }];
        if BY_HAND.contains(&variant) {
            files.push(format!("../rivals/applications/src/ordered/{variant}.rs"));
        }
        let read = |file: String| std::fs::read_to_string(source(&file)).unwrap_or_default();
        Self::in_text(&files.into_iter().map(read).collect::<String>())
    }

    fn in_text(text: &str) -> Self {
        let (mut lines, mut all) = (0, Vec::new());
        for line in text.lines() {
            let before = all.len();
            tokens(line, &mut all);
            lines += usize::from(all.len() > before);
        }
        let decisions = all.iter().filter(|token| DECISIONS.contains(token)).count();
        let (operands, operators): (Vec<&str>, Vec<&str>) = all.iter().partition(|token| is_operand(token));
        let different = |some: &[&str]| some.iter().collect::<BTreeSet<_>>().len() as f64;
        let (of_operators, of_operands) = (different(&operators), different(&operands).max(1.0));
        let volume = all.len() as f64 * (of_operators + of_operands).log2();
        let difficulty = of_operators / 2.0 * operands.len() as f64 / of_operands;
        Self { lines, tokens: all.len(), complexity: 1 + decisions, effort: volume * difficulty }
    }
}

const DECISIONS: [&str; 10] = ["if", "for", "while", "loop", "case", "catch", "=>", "&&", "||", "?"];

/// The words that are operators: the keywords of Rust and C++ that the variants have.
const KEYWORDS: [&str; 41] = [
    "as",
    "auto",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "constexpr",
    "continue",
    "decltype",
    "else",
    "explicit",
    "fn",
    "for",
    "if",
    "impl",
    "in",
    "inline",
    "let",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "new",
    "override",
    "pub",
    "ref",
    "return",
    "static",
    "struct",
    "template",
    "this",
    "trait",
    "try",
    "type",
    "typename",
    "use",
    "using",
    "where",
    "while",
];

const MARKS: [&str; 22] = [
    "..=", "<<=", ">>=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "%=",
    "^=", "|=", "++", "--", "..",
];

fn is_operand(token: &str) -> bool {
    let first = token.chars().next().unwrap_or(' ');
    (is_word(first) || (first == '"' || first == '\'') && token.len() > 1) && !KEYWORDS.contains(&token)
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The tokens of a line. Strings and comments over several lines do not occur in the variants.
fn tokens<'a>(line: &'a str, into: &mut Vec<&'a str>) {
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            break;
        }
        let word = |text: &str| text.find(|letter| !is_word(letter)).unwrap_or(text.len());
        let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            // A character, or a lifetime.
            '\'' => rest[1..].find('\'').filter(|&end| end <= 2).map_or(1 + word(&rest[1..]), |end| end + 2),
            letter if is_word(letter) => word(rest),
            other => mark.map_or(other.len_utf8(), |mark| mark.len()),
        };
        into.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::{ALL, measures};

    #[test]
    fn comments_and_empty_lines_do_not_count() {
        let text = "//! Text.\n\nfn f(a: u8) -> u8 { // text\n    a >= 12_u8\n}\nf(\"two words\", 'x');\n";
        let code = Code::in_text(text);
        assert_eq!((code.lines, code.tokens), (4, 10 + 3 + 1 + 7));
    }

    #[test]
    fn decisions_make_code_complex() {
        let of = |text| Code::in_text(text).complexity;
        assert_eq!([of("f(x)"), of("if a && b { f()? }"), of("for x in y { while z {} }")], [1, 4, 3]);
    }

    #[test]
    fn the_effort_is_that_of_halstead() {
        // Operators: `=`, `+`, `;`. Operands: a, b, c, and a again.
        let effort = Code::in_text("a = b + c + a;").effort;
        assert!((effort - 8.0 * 6f64.log2() * (3.0 / 2.0) * (4.0 / 3.0)).abs() < 1e-9, "{effort}");
    }

    #[test]
    fn every_variant_has_code_that_is_counted() {
        for about in measure_programs::APPLICATIONS {
            for system in ALL.iter().filter(|system| measures(system.name, about.name)) {
                assert!(Code::of(about.name, system.name).lines > 5, "{} {}", about.name, system.name);
            }
        }
    }
}
