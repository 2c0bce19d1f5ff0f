//! The preprocessor's view of a file: what the compiler leaves out is left out, in any encoding and with any ends of lines.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use sparxx::options::Options;
use sparxx::rewrite::Guess;
use sparxx::source::{self, Source};
use sparxx::{analyse, lexer};

use crate::compiler::{compiler, sparxx};
use fastrand::Rng;

const CONSTRUCTS: &str = include_str!("programs/constructs.cpp");

/// A word of which the compiler sees some, and an annotation on the same line that is an error wherever it is compiled.
const WRONG: &str = "[[spar::Stage, spar::Nothing]] seen";

/// Draws nested conditionals. Each part has lines with [`WRONG`], so the lines of the errors are the parts that were seen.
struct Conditionals {
    random: Rng,
    text: String,
}

impl Conditionals {
    fn condition(&mut self) -> String {
        let name = ["A", "B", "C", "NUMBER", "__cplusplus", "HERE"][self.random.usize(..6)];
        match self.random.usize(..9) {
            0 => "0".to_owned(),
            1 => "1".to_owned(),
            2 => format!("defined({name})"),
            3 => format!("!defined {name} // why"),
            4 => format!("{name} > {}", self.random.usize(..4)),
            5 => format!("{name} && \\\n    defined(B)"),
            6 => "__has_include(<vector>)".to_owned(),
            7 => "__has_include(\"beside.h\")".to_owned(),
            _ => name.to_owned(),
        }
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..1 + self.random.usize(..3) {
            match self.random.usize(..8) {
                _ if depth > 3 => _ = writeln!(self.text, "{WRONG};"),
                0 => {
                    _ = writeln!(
                        self.text,
                        "#define {} {}",
                        ["A", "B"][self.random.usize(..2)],
                        self.random.usize(..3)
                    )
                }
                1 => _ = writeln!(self.text, "#undef {}", ["A", "C"][self.random.usize(..2)]),
                2 => _ = writeln!(self.text, "/* #if 0\n   #else */"),
                3 => _ = writeln!(self.text, "#include \"beside.h\""),
                4 | 5 => _ = writeln!(self.text, "{WRONG};"),
                _ => self.conditional(depth),
            }
        }
    }

    fn conditional(&mut self, depth: usize) {
        let condition = self.condition();
        let word = ["A", "B", "HERE"][self.random.usize(..3)];
        let sign = ["#", "  # ", "/* first */ #", "#\t"][self.random.usize(..4)];
        _ = match self.random.usize(..4) {
            0 => writeln!(self.text, "{sign}ifdef {word}"),
            1 => writeln!(self.text, "{sign}ifndef {word}"),
            _ => writeln!(self.text, "{sign}if {condition}"),
        };
        self.block(depth + 1);
        for _ in 0..self.random.usize(..3) {
            let condition = self.condition();
            _ = writeln!(self.text, "#elif {condition}");
            self.block(depth + 1);
        }
        if self.random.usize(..2) == 0 {
            _ = writeln!(self.text, "#else /* other */");
            self.block(depth + 1);
        }
        _ = writeln!(self.text, "#endif");
    }
}

/// The lines of the word `seen` in the output of the preprocessor, which names the lines of the file (`# 12 "x.cpp"`).
fn seen_lines(preprocessed: &str) -> Vec<usize> {
    let (mut line, mut is_in_file, mut lines) = (0, false, Vec::new());
    for text in preprocessed.lines() {
        if let Some((number, rest)) = text.strip_prefix("# ").and_then(|text| text.split_once(' ')) {
            line = number.parse().unwrap_or(0);
            is_in_file = rest.contains("x.cpp");
            continue;
        }
        if is_in_file && text.contains("seen") {
            lines.push(line);
        }
        line += 1;
    }
    lines
}

#[test]
fn annotations_are_seen_where_the_compiler_sees_them() {
    let Some(compiler) = compiler() else { return };
    let arguments: [&[&str]; 4] =
        [&[], &["-DA=2"], &["-DB", "-DC=0"], &["-std=c++20", "-UA", "-D", "NUMBER=3"]];
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("beside.h"), "#define HERE 1\n#undef B\n").expect("a file");
    let cases = std::env::var("PROPTEST_CASES").map_or(24, |cases| cases.parse().expect("a number"));
    for seed in 1..=cases {
        let mut drawn = Conditionals { random: Rng::with_seed(seed * 0x9e37_79b9), text: String::new() };
        drawn.block(0);
        drawn.conditional(0);
        let arguments = arguments[drawn.random.usize(..4)];
        let ends = ["\n", "\r\n"][drawn.random.usize(..2)];
        let text = drawn.text.replace('\n', ends);
        fs::write(folder.path().join("x.cpp"), &text).expect("a file");
        let standard: &[&str] = if arguments.contains(&"-std=c++20") { &[] } else { &["-std=gnu++17"] };
        let mut preprocess = Command::new(compiler.get_program());
        preprocess.args(compiler.get_args()).current_dir(folder.path());
        let preprocessed =
            preprocess.args(arguments).args(standard).args(["-E", "x.cpp"]).output().expect("it runs");
        assert!(preprocessed.status.success(), "{text}");
        let expected = seen_lines(&String::from_utf8_lossy(&preprocessed.stdout));
        let checked =
            sparxx(folder.path()).arg("--check").args(arguments).arg("x.cpp").output().expect("it runs");
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        let line = |text: &str| text.strip_prefix("x.cpp:")?.split(':').next()?.parse().ok();
        let mut lines: Vec<usize> =
            said.lines().filter(|text| text.contains("error")).filter_map(line).collect();
        lines.dedup();
        assert_eq!(lines, expected, "seed {seed}, {arguments:?}:\n{text}\n{said}");
    }
}

/// Translates a file of these bytes, which has no errors.
fn translated(bytes: &[u8]) -> Vec<u8> {
    let source = Source::of_bytes("x.cpp", bytes).expect("no private character");
    let analysis = analyse(&source);
    assert!(!analysis.has_failed(), "{:?}", analysis.said);
    source::bytes(&analysis.translate(&source, Options::default(), Guess::Method))
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut made = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(from) {
            made.extend_from_slice(to);
            at += from.len();
        } else {
            made.push(bytes[at]);
            at += 1;
        }
    }
    made
}

/// Compares two texts, and shows where they differ.
#[track_caller]
fn same(left: &[u8], right: &[u8]) {
    let at = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let shown = |text: &[u8]| {
        String::from_utf8_lossy(&text[at.saturating_sub(80)..text.len().min(at + 80)]).into_owned()
    };
    assert!(left == right, "{:?}\n{:?}", shown(left), shown(right));
}

/// A text with `@@` in comments and strings: at their ends, after a part of their words, and on lines of their own.
fn with_places(random: &mut Rng) -> String {
    let tokens = lexer::tokens(CONSTRUCTS);
    let mut text = String::new();
    let mut at = 0;
    for token in tokens {
        let start = token.span.start;
        text += &CONSTRUCTS[at..start];
        at = start;
        if token.kind == lexer::Kind::Literal
            && CONSTRUCTS[token.span.clone()].starts_with('"')
            && !token.in_directive
        {
            text += "\"@@";
            at += 1;
        } else if !token.in_directive && text.trim_end_matches(' ').ends_with('\n') && random.usize(..3) == 0
        {
            text += ["/* @@ */", "/*@@*/ ", "// it's \\\n @@ \"\n"][random.usize(..3)];
        }
    }
    text + &CONSTRUCTS[at..]
}

#[test]
fn bytes_of_any_encoding_and_ends_of_lines_pass_as_they_are() {
    let mut random = Rng::with_seed(7);
    for _ in 0..20 {
        let text = with_places(&mut random);
        let plain = translated(text.as_bytes());
        // As many bytes as they replace, so that columns stay the same.
        let stray = [0, 0].map(|_| 0x80 + random.usize(..0x80) as u8);
        let bytes = translated(&replaced(text.as_bytes(), b"@@", &stray));
        same(&bytes, &replaced(&plain, b"@@", &stray));
        // Ends of lines, with blanks between a backslash and its end.
        for end in ["\r\n", "\r"] {
            let other = text.replace("\\\n", "\\  \n").replace('\n', end);
            let normal = |bytes: &[u8]| replaced(&replaced(bytes, b"\r\n", b"\n"), b"\r", b"\n");
            let blank = replaced(&plain, b"\\\n", b"\\  \n");
            same(&normal(&translated(other.as_bytes())), &normal(&blank));
        }
    }
}

#[test]
fn columns_are_those_of_the_file() {
    let bytes = b"/* caf\xe9 \xff */ void f() { [[spar::ToStream, spar::Nothing]] for (;;) {} }";
    let source = Source::of_bytes("x.cpp", bytes).expect("no private character");
    let said = analyse(&source).said[0].render(&source);
    let column = bytes.windows(7).position(|word| word == b"Nothing").expect("it is there") - 5;
    assert!(
        said.starts_with(&format!("x.cpp:1:{}:", column))
            || said.starts_with(&format!("x.cpp:1:{}:", column + 1)),
        "{said}"
    );
    assert!(said.contains("caf\u{fffd} \u{fffd}"), "{said}");
}
