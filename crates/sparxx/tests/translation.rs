//! A translation of any file keeps its lines, and translates or reports every annotation.

use std::time::{Duration, Instant};

use fastrand::Rng;
use sparxx::options::Options;
use sparxx::rewrite::Guess;
use sparxx::source::Source;
use sparxx::{analyse, lexer};

const CONSTRUCTS: &str = include_str!("programs/constructs.cpp");
const MISUSES: &str = include_str!("misuses.txt");

/// Translates a file, if it has no errors.
fn translated(code: &str) -> Option<String> {
    let source = Source::new("x.cpp", code);
    let analysis = analyse(&source);
    (!analysis.has_failed()).then(|| analysis.translate(&source, Options::default(), Guess::Method))
}

/// The annotations that a lexer sees, `[[` and a word `spar` and `::`, outside of comments and literals.
fn annotations(code: &str) -> usize {
    let tokens = lexer::tokens(code);
    let word = |at: usize| tokens.get(at).and_then(|token| code.get(token.span.clone())).unwrap_or("");
    (0..tokens.len())
        .filter(|&at| {
            word(at) == "[" && word(at + 1) == "[" && word(at + 2) == "spar" && word(at + 3) == "::"
        })
        .count()
}

/// Returns whether each annotation was translated or reported.
fn is_no_silent_miss(code: &str) -> bool {
    let source = Source::new("x.cpp", code);
    let analysis = analyse(&source);
    if annotations(code) > 0 && analysis.regions.is_empty() {
        return analysis.has_failed();
    }
    let text = analysis.translate(&source, Options::default(), Guess::Function);
    analysis.has_failed() || annotations(&text) == 0
}

#[test]
fn every_statement_stays_on_its_line() {
    let text = translated(CONSTRUCTS).expect("nothing is wrong");
    let head = "#include <anabranch/spar.hpp>\n";
    let at = text.find(head).expect("the header is included");
    let rest = &text[at + head.len()..];
    let (directive, below) = rest.split_once('\n').expect("a line is named");
    let line: usize =
        directive.split(' ').nth(1).and_then(|line| line.parse().ok()).expect("it has a number");
    let users: Vec<&str> = CONSTRUCTS.lines().skip(line - 1).collect();
    let ours: Vec<&str> = below.lines().collect();
    assert_eq!(users.len(), ours.len());
    // Each line of the user is unchanged, except for annotations and for statements that drop an item.
    let kept = users.iter().zip(&ours).filter(|(user, our)| our.contains(user.trim())).count();
    let changed: Vec<&&str> = users
        .iter()
        .zip(&ours)
        .filter(|(user, our)| !our.contains(user.trim()))
        .map(|(user, _)| user)
        .collect();
    assert!(
        changed.iter().all(|line| line.contains("spar") || line.contains("continue") || line.trim() == "]]"),
        "{changed:?}"
    );
    assert!(kept > 250, "{kept}");
    assert!(text.starts_with("#line 1 \"x.cpp\"\n"));
}

#[test]
fn a_file_without_annotations_is_left_alone() {
    let code = "int a[[1]]; // [[spar::Stage]]\nconst char *s = \"[[spar::Stage]]\"; /* [[spar::ToStream]] */\nint x = m[[spar]{ return 1; }()];\n";
    let source = Source::new("x.cpp", code);
    let analysis = analyse(&source);
    assert!(analysis.regions.is_empty() && analysis.said.is_empty(), "{:?}", analysis.said);
}

#[test]
fn every_annotation_is_translated_or_told_of() {
    assert!(is_no_silent_miss(CONSTRUCTS));
    let pieces: Vec<&str> =
        MISUSES.split("=== ").filter_map(|case| case.split_once('\n')).map(|(_, rest)| rest).collect();
    assert!(pieces.iter().all(|piece| is_no_silent_miss(piece)));
}

/// The annotated programs of `examples/cpp`.
const EXAMPLES: [&str; 6] = [
    include_str!("../../../examples/cpp/bunzip2_annotated.cpp"),
    include_str!("../../../examples/cpp/bzip2_annotated.cpp"),
    include_str!("../../../examples/cpp/frames_annotated.cpp"),
    include_str!("../../../examples/cpp/log_annotated.cpp"),
    include_str!("../../../examples/cpp/lunzip_annotated.cpp"),
    include_str!("../../../examples/cpp/lzip_annotated.cpp"),
];

/// `SPARXX_FUZZ_SECONDS` sets the time in seconds. The default is 2 seconds. `SPARXX_FUZZ_SEED` sets the number with
/// which the random numbers begin, so that another run has other mutations.
#[test]
fn mutated_files_neither_panic_nor_hang_nor_hide_an_annotation() {
    let seconds = std::env::var("SPARXX_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let (began, limit) = (Instant::now(), Duration::from_secs(seconds));
    let snippets: Vec<&str> = "[[spar::Stage]] | [[spar::ToStream]] | { | } | ( | ) | ; | [[ | ]] | for (;;) | do | while (x) \
        | R\"( | \" | ' | // | /* | */ | # | \\\n | else | switch (i) | lambda = [&](int i) { | spar:: | template <class T> | \u{e9}"
        .split(" | ")
        .collect();
    let seed: Option<u64> = std::env::var("SPARXX_FUZZ_SEED").ok().and_then(|text| text.parse().ok());
    let mut random =
        Rng::with_seed(seed.map_or(0x5eed_5eed_5eed, |seed| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1));
    let functions = CONSTRUCTS.split("\n}\n").map(|function| function.to_owned() + "\n}\n");
    let misuses =
        MISUSES.split("=== ").filter_map(|case| case.split_once('\n')).map(|(_, case)| case.to_owned());
    let pieces: Vec<String> = functions.chain(misuses).chain(EXAMPLES.map(String::from)).collect();
    let mut cases = 0u64;
    while began.elapsed() < limit {
        cases += 1;
        let mut code = pieces[random.usize(..pieces.len())].clone();
        // Several functions in one file: those without a region are not parsed.
        for _ in 0..random.usize(..3) {
            code += &pieces[random.usize(..pieces.len())];
        }
        for _ in 0..=random.usize(..4) {
            let place = |random: &mut Rng, code: &str| {
                let at = random.usize(..code.len() + 1);
                (at..=code.len()).find(|&at| code.is_char_boundary(at)).unwrap_or(code.len())
            };
            let (a, b) = (place(&mut random, &code), place(&mut random, &code));
            let (first, last) = (a.min(b), a.max(b));
            match random.usize(..4) {
                0 => code.insert_str(a, snippets[random.usize(..snippets.len())]),
                1 => {
                    let few = (first..last.min(first + 40)).rev().find(|&at| code.is_char_boundary(at));
                    code.replace_range(first..few.unwrap_or(first), "");
                }
                2 => code.truncate(a),
                _ => {
                    let copied = code[first..last].to_owned();
                    code.insert_str(a, &copied);
                }
            }
            while !code.is_empty() && code.len() > 20_000 {
                code.pop();
            }
        }
        // A machine may stall for a while. A file that really takes too long does so again.
        let takes_long = (0..3).all(|_| {
            let started = Instant::now();
            let done = std::panic::catch_unwind(|| is_no_silent_miss(&code));
            let is_told = done.unwrap_or_else(|_| panic!("the translator panics:\n{code}"));
            assert!(is_told, "an annotation is neither translated nor told of:\n{code}");
            started.elapsed() > Duration::from_secs(20)
        });
        assert!(!takes_long, "it takes too long:\n{code}");
    }
    println!("{cases} mutated files in {} s", began.elapsed().as_secs());
}

/// The translation of a function with a region does not depend on the code around it.
#[test]
fn functions_without_annotations_do_not_matter() {
    let region = "int sum(int limit) {\n    int sum = 0;\n    [[spar::ToStream]] for (int i = 0; i < limit; i++) {\n        int twice = 0;\n        \
        [[spar::Stage, spar::Replicate()]] { twice = 2 * i; }\n        [[spar::Stage]] sum += twice;\n    }\n    return sum;\n}\n";
    let alone = translated(region).expect("nothing is wrong");
    let lambda = |text: &str| text[text.find("spar_r0").expect("a region")..].to_owned();
    let others = [
        "int sum = 3, twice = 4;\nint f(int i) const noexcept { return i; }\n",
        "class A { int i; int f() { if (i) { return 1; } return 0; } static int sum(int); };\n",
        "namespace n { void f() { int sum; auto g = [&](int i) { sum = i; }; } }\n",
        "void f() {\n#if A\n    if (a) {\n#else\n    if (b) {\n#endif\n        g();\n    }\n}\n",
        "#if A\nvoid f(int i) {\n#else\nvoid f() {\n#endif\n    g();\n}\n",
        "void f() {}\nvoid g() { /* } */ const char *s = \"}\"; }\n",
    ];
    for other in others {
        let before = translated(&format!("{other}{region}")).expect("nothing is wrong");
        assert_eq!(
            lambda(&before).replace(&format!(", {}}}", 3 + other.matches('\n').count()), ", 3}"),
            lambda(&alone),
            "{other}"
        );
        let behind = translated(&format!("{region}{other}")).expect("nothing is wrong");
        assert_eq!(lambda(&behind), lambda(&alone) + other, "{other}");
    }
}

#[test]
fn deep_and_huge_files_end() {
    let region = "void f() { [[spar::ToStream]] for (;;) { [[spar::Stage]] { g(); } } }\n";
    for deep in ["(", "{", "[", "[[", "if (x) ", "for (;;) ", "a.", "f(", "[[spar::Stage]] "] {
        let code = format!("{region}void g() {{ {} }}\n", deep.repeat(5_000));
        assert!(is_no_silent_miss(&code), "{deep}");
    }
    let code = format!("{region}{}", "int x = f(1, 2) + y; // words\n".repeat(5_000));
    assert!(translated(&code).is_some());
}

#[test]
fn a_byte_order_mark_and_parts_that_are_not_compiled_change_nothing() {
    let plain = translated(CONSTRUCTS).expect("nothing is wrong");
    assert_eq!(translated(&format!("\u{feff}{CONSTRUCTS}")).as_ref(), Some(&plain));
    // In each form, the marked line is left out. It would be an error.
    let wrong = "[[spar::Stage, spar::Nothing]] x = don't;";
    let forms = [
        "#if 0\n@\n#endif\n",
        "#if 0\n@\n#else\nint a;\n#endif\n",
        "#if 1\nint b;\n#else\n@\n#endif\n",
        "#if 1\nint b;\n#elif OTHER\n@\n#else\n@\n#endif\n",
        "#if 0\n#if OTHER\n@\n#else\n@\n#endif\n@\n#endif\n",
        "#if OTHER\n#elif 0\n@\n#endif\n",
        "  #  if 0 // why\r\n@\r\n  #  endif\r\n",
        "#if 0x0u\n@\n#endif\n",
        "#ifdef OTHER\n#if 0\n@\n#endif\n#endif\n",
    ];
    for form in forms {
        let code = format!("{}{CONSTRUCTS}", form.replace('@', wrong));
        let text = translated(&code).unwrap_or_else(|| panic!("{form}"));
        assert!(text.contains(wrong), "{form}");
        let bodies = |text: &str| {
            text[text.find("#include <cstdio>").unwrap_or(0)..].matches("anabranch::spar").count()
        };
        assert_eq!(bodies(&text), bodies(&plain), "{form}");
        // The same lines are an error where they are compiled.
        let compiled = code
            .replacen("#if 0", "#if OTHER", 9)
            .replacen("#if 1", "#if OTHER", 9)
            .replacen("#elif 0", "#else", 9);
        assert!(translated(&compiled).is_none() || form.contains("0x0u") || form.contains("#  if"), "{form}");
    }
}
