//! How much code a variant has.
//!
//! A line counts if it has a token. Comments have none. A token is a name, a number, a string, a character or a
//! single mark, so `>=` is two. Counted is the file of the variant. For the rivals that have no ordered map of
//! their own, the file that writes one is counted too, because a user would have to write it.

use std::path::Path;

use crate::choice::{RIVALS, SEQUENTIAL};

/// The rivals without an ordered map of their own.
const BY_HAND: [&str; 3] = ["crossbeam", "threads", "tokio"];

/// Lines and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Code {
    pub lines: usize,
    pub tokens: usize,
}

impl Code {
    /// The code of a variant. 0 if the sources are not where they were when this program was built.
    pub fn of(application: &str, variant: &str) -> Self {
        let mut files = vec![match variant {
            SEQUENTIAL => format!("applications/src/{application}/sequential.rs"),
            rival if RIVALS.contains(&rival) => format!("rivals/src/applications/{application}.rs"),
            own => format!("src/variants/{application}/{own}.rs"),
        }];
        if BY_HAND.contains(&variant) {
            files.push(format!("rivals/src/ordered/{variant}.rs"));
        }
        let read = |file| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file));
        files.iter().map(|file| Self::in_text(&read(file).unwrap_or_default())).fold(
            Self::default(),
            |sum, code| Self { lines: sum.lines + code.lines, tokens: sum.tokens + code.tokens },
        )
    }

    fn in_text(text: &str) -> Self {
        let lines = text.lines().map(tokens).filter(|&tokens| tokens > 0);
        lines.fold(Self::default(), |sum, tokens| Self { lines: sum.lines + 1, tokens: sum.tokens + tokens })
    }
}

/// The tokens of a line. Strings and comments over several lines do not occur in the variants.
fn tokens(line: &str) -> usize {
    let mut tokens = 0;
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            break;
        }
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            letter if is_word(letter) => rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()),
            mark => mark.len_utf8(),
        };
        tokens += 1;
        rest = rest[length..].trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_do_not_count() {
        let text = "//! Text.\n\nfn f(a: u8) -> u8 { // text\n    a >= 12_u8\n}\nf(\"two words\");\n";
        assert_eq!(Code::in_text(text), Code { lines: 4, tokens: 11 + 4 + 1 + 5 });
    }

    #[test]
    fn every_variant_has_code_that_is_counted() {
        for about in anabranch_applications::APPLICATIONS {
            for variant in [SEQUENTIAL].into_iter().chain(crate::variants::OWN).chain(RIVALS) {
                assert!(Code::of(about.name, variant).lines > 5, "{} {variant}", about.name);
            }
        }
    }
}
