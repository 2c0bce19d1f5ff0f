//! No two files of a crate import each other, directly or by way of others: what a reader must know to understand a file has an end.
//!
//! A file imports another one if it names something that is defined there, by a path that begins with `crate`, `super` or `self`. A
//! module that only passes a name on (`pub use`) is not meant by that name. Tests within a file are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of a crate, by the paths of their modules. The path of the root is empty.
type Files = BTreeMap<Vec<String>, String>;

#[test]
fn no_files_import_each_other() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies beside others");
    let mut found = String::new();
    for folder in fs::read_dir(crates).expect("the crates can be listed") {
        let source = folder.expect("an entry").path().join("src");
        let mut files = Files::new();
        read(&source, &mut Vec::new(), &mut files);
        let imports = imports(&files);
        for circle in circles(&imports) {
            found += &format!("in {}:\n", source.display());
            for module in &circle {
                let within = imports[module].iter().filter(|other| circle.contains(other));
                let others: Vec<String> = within.map(|other| other.join("::")).collect();
                found += &format!("    {} imports {}\n", module.join("::"), others.join(", "));
            }
        }
    }
    assert!(found.is_empty(), "these files import each other:\n{found}");
}

#[test]
fn circles_are_found_and_names_that_are_passed_on_are_none() {
    let files = |list: &[(&str, &str)]| -> Files {
        let module =
            |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        list.iter().map(|(name, text)| (module(name), (*text).to_owned())).collect()
    };
    let passed_on = files(&[
        ("", "mod a; mod b;"),
        ("a", "mod c; mod d; pub use c::C;"),
        ("a::c", "pub struct C;"),
        ("a::d", "use super::C;"),
        ("b", "use crate::a::{C, d::{self, D}};"),
    ]);
    assert!(circles(&imports(&passed_on)).is_empty());
    let circle = files(&[
        ("", "mod a; mod b;"),
        ("a", "mod c; pub(crate) use c::C; pub struct A;"),
        ("a::c", "fn f() { crate::b::g::<super::A>(\"// no comment\") }"),
        ("b", "/* use crate::b; */ use crate::a::C; // use crate::a"),
    ]);
    let found = circles(&imports(&circle));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].len(), 2, "{found:?}");
}

/// Reads the files of a module and of those in it.
fn read(folder: &Path, module: &mut Vec<String>, files: &mut Files) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            module.push(name);
            read(&path, module, files);
            module.pop();
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let is_folder = matches!(&*name, "mod" | "lib" | "main");
            let mut own = module.clone();
            own.extend((!is_folder).then_some(name));
            let text = fs::read_to_string(&path).expect("a source file");
            files.entry(own).or_default().push_str(&without_tests(&code_of(&text)));
        }
    }
}

/// The text without comments and without the contents of strings.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|letter| {
                let ends = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |at| at + 2)
        } else if rest.starts_with("'\"'") {
            3
        } else {
            code.push(first);
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    code
}

/// The code before the tests of the file.
fn without_tests(code: &str) -> String {
    let cfg = ["#[cfg(test)]\nmod ", "#[cfg(all(test"];
    let end = cfg.iter().filter_map(|cfg| code.find(cfg)).min().unwrap_or(code.len());
    code[..end].to_owned()
}

/// The modules that each module imports.
fn imports(files: &Files) -> BTreeMap<&[String], BTreeSet<&[String]>> {
    let names = |module: &[String]| {
        let code = &files[module];
        let mut paths: Vec<(bool, Vec<String>)> = Vec::new();
        let mut from = 0;
        while let Some(at) =
            ["crate::", "super::", "self::"].iter().filter_map(|root| code[from..].find(root)).min()
        {
            let start = from + at;
            from = start + 6;
            let before = code[..start].chars().next_back();
            if before.is_some_and(|letter| letter.is_alphanumeric() || "_:$".contains(letter)) {
                continue;
            }
            let statement = code[..start].rfind([';', '{', '}']).map_or(0, |at| at + 1);
            let passes_on = code[statement..start].trim_start().starts_with("pub")
                && code[statement..start].contains("use ");
            let mut found = Vec::new();
            tree(&code[start..], &mut Vec::new(), &mut found);
            from = start + found.iter().map(|(_, length)| *length).max().unwrap_or(6);
            paths.extend(found.into_iter().map(|(path, _)| (passes_on, path)));
        }
        paths
    };
    let mut all = BTreeMap::new();
    for module in files.keys() {
        let mut own = BTreeSet::new();
        for (passes_on, path) in names(module) {
            if !passes_on
                && let Some(target) = target(files, &absolute(module, &path), 0)
                && target != module.as_slice()
            {
                own.insert(target);
            }
        }
        // A module that names its children without `self`.
        for path in uses(&files[module]) {
            let mut full = module.clone();
            full.extend(path);
            if files.contains_key(&full[..=module.len()])
                && let Some(target) = target(files, &full, 0)
            {
                own.insert(target);
            }
        }
        all.insert(module.as_slice(), own);
    }
    all
}

/// The paths of the statements `use child::..` that are not public.
fn uses(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for line in code.split('\n').filter_map(|line| line.strip_prefix("use ")) {
        let start = line.as_ptr() as usize - code.as_ptr() as usize;
        let mut found = Vec::new();
        tree(&code[start..], &mut Vec::new(), &mut found);
        paths.extend(found.into_iter().map(|(path, _)| path).filter(|path| {
            path.first().is_some_and(|first| !matches!(&**first, "crate" | "super" | "self"))
        }));
    }
    paths
}

/// Adds the paths of a tree of imports, or of one path, at the start of `code`, each with the length of what was read.
fn tree(code: &str, before: &mut Vec<String>, found: &mut Vec<(Vec<String>, usize)>) -> usize {
    let depth = before.len();
    let mut at = 0;
    loop {
        let rest = &code[at..];
        if rest.starts_with('{') {
            at += 1;
            while !code[at..].starts_with('}') && at < code.len() {
                let space = code[at..].len() - code[at..].trim_start_matches([' ', '\n', ',']).len();
                at += space;
                if code[at..].starts_with('}') {
                    break;
                }
                let read = tree(&code[at..], before, found);
                if read == 0 {
                    break;
                }
                at += read;
            }
            at = (at + 1).min(code.len());
            break;
        }
        let length =
            rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        if length == 0 {
            // All names of a module, or a path that goes on with types in angle brackets.
            at += usize::from(rest.starts_with('*'));
            if before.len() > depth || rest.starts_with('*') {
                found.push((before.clone(), at));
            }
            break;
        }
        before.push(rest[..length].to_owned());
        at += length;
        if code[at..].starts_with("::") {
            at += 2;
            continue;
        }
        if code[at..].starts_with(" as ") {
            at += 4;
            at += code[at..].find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(0);
        }
        found.push((before.clone(), at));
        break;
    }
    before.truncate(depth);
    at
}

/// The path from the root of the crate.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let mut full = module.to_vec();
    for (at, name) in path.iter().enumerate() {
        match (&**name, at) {
            ("crate", 0) => full.clear(),
            ("super", _) => drop(full.pop()),
            ("self", _) => {}
            _ => full.push(name.clone()),
        }
    }
    full
}

/// The module in which the item of a path is defined. `None` if no file is known for it.
fn target<'f>(files: &'f Files, path: &[String], depth: u32) -> Option<&'f [String]> {
    let (module, code) = (0..=path.len()).rev().find_map(|length| files.get_key_value(&path[..length]))?;
    let Some(name) = path.get(module.len()) else { return Some(module) };
    // The name may be passed on from another module.
    for line in code.split(';').filter(|line| line.trim_start().starts_with("pub")) {
        let Some((_, paths)) = line.split_once("use ") else { continue };
        let mut found = Vec::new();
        tree(paths, &mut Vec::new(), &mut found);
        for (inner, _) in found {
            if depth < 8 && inner.last() == Some(name) && inner.len() > 1 {
                let is_rooted = matches!(&*inner[0], "crate" | "super" | "self");
                let full =
                    if is_rooted { absolute(module, &inner) } else { [module.as_slice(), &inner].concat() };
                if let Some(found) = target(files, &full, depth + 1) {
                    return Some(found);
                }
            }
        }
    }
    Some(module)
}

/// The sets of modules that import each other.
fn circles<'f>(imports: &BTreeMap<&'f [String], BTreeSet<&'f [String]>>) -> Vec<Vec<&'f [String]>> {
    let reached = |from: &'f [String]| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(module) = left.pop() {
            left.extend(imports.get(module).into_iter().flatten().filter(|next| seen.insert(**next)));
        }
        seen
    };
    let all: BTreeMap<&[String], BTreeSet<&[String]>> =
        imports.keys().map(|from| (*from, reached(from))).collect();
    let mut found: BTreeSet<Vec<&[String]>> = BTreeSet::new();
    for (from, reaches) in &all {
        if reaches.contains(from) {
            found.insert(
                all.iter()
                    .filter(|(to, back)| reaches.contains(*to) && back.contains(from))
                    .map(|(to, _)| *to)
                    .collect(),
            );
        }
    }
    found.into_iter().collect()
}
