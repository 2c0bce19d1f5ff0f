//! The errors of the translator. `misuses.txt` has a case for each, with its messages.

use sparxx::analyse;
use sparxx::source::Source;

const CASES: &str = include_str!("misuses.txt");

/// Returns the messages for a file, one a line.
fn said(code: &str) -> String {
    let source = Source::new("x.cpp", code);
    let analysis = analyse(&source);
    let heads = analysis.said.iter().map(|said| said.render(&source).lines().next().unwrap_or("").to_owned());
    heads.map(|line| line + "\n").collect()
}

#[test]
fn every_misuse_is_refused_where_it_is() {
    let mut count = 0;
    let mut wrong = String::new();
    for case in CASES.split("=== ").skip(1) {
        let (name, rest) = case.split_once('\n').expect("a case has a name");
        let (code, expected) = rest.split_once("\n---\n").expect("a case has messages");
        let given = said(code);
        if given.trim() != expected.trim() || given.is_empty() {
            wrong += &format!("=== {name}\n{code}\n---\n{given}\n");
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "these give something else:\n{wrong}");
    assert!(count >= 60, "{count}");
}

#[test]
fn every_message_says_what_to_do_and_shows_the_line() {
    for case in CASES.split("=== ").skip(1) {
        let (_, rest) = case.split_once('\n').expect("a case has a name");
        let (code, _) = rest.split_once("\n---\n").expect("a case has messages");
        let source = Source::new("x.cpp", code);
        for said in analyse(&source).said {
            let shown = said.render(&source);
            let lines: Vec<&str> = shown.lines().collect();
            assert!(lines.len() == 4 && lines[2].contains('^') && lines[3].contains("help: "), "{shown}");
            assert!(lines[2].len() <= lines[1].len().max(9) + 1, "{shown}");
        }
    }
}
