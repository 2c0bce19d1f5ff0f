//! Checks that the pages of the repository agree with it and with each other.

use std::fs;
use std::path::{Path, PathBuf};

/// The files below `folder` with this end of their name, except what was built.
fn files(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let is_link = entry.file_type().unwrap().is_symlink();
        if path.is_dir() && !is_link && !name.starts_with('.') && name != "target" && name != "dist" {
            files(&path, end, found);
        } else if name.ends_with(end) {
            found.push(path);
        }
    }
}

/// The versions of Rust that a page names, such as 1.89 in "Rust 1.89 or later" and "(1.89 or later)".
fn versions(page: &str) -> Vec<&str> {
    let is_version = |word: &&str| {
        let minor = word.strip_prefix("1.").unwrap_or_default();
        minor.len() == 2 && minor.bytes().all(|digit| digit.is_ascii_digit())
    };
    let words: Vec<&str> =
        page.split_whitespace().map(|word| word.trim_matches(['(', ')', '.', ',', '"', '`'])).collect();
    let is_of_rust = |at: usize| {
        let before = &words[at.saturating_sub(4)..at];
        before.contains(&"Rust") || before.contains(&"toolchain") || before.ends_with(&["rust-version", "="])
    };
    (0..words.len()).filter(|&at| is_version(&words[at]) && is_of_rust(at)).map(|at| words[at]).collect()
}

#[test]
fn every_page_and_package_names_the_same_oldest_rust() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    let (mut pages, mut told) = (Vec::new(), 0);
    files(&root, ".md", &mut pages);
    files(&root, "Cargo.toml", &mut pages);
    for page in pages {
        for version in versions(&fs::read_to_string(&page).unwrap()) {
            assert_eq!(version, oldest, "{}", page.display());
            told += 1;
        }
    }
    assert!(told > 8, "{told} places name it");
}
