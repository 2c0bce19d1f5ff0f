//! `core --against COMMIT`: rows of the core, for this state and for an earlier commit in turn.
//!
//! The rows are small programs in `measure/rivals/against/rows`. They are built twice, with the library of this state and with that of
//! the commit. Each is a process of its own, and both run the same calls. A row that the commit cannot compile is not measurable: write
//! it in the names of both, or compare with a later commit.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::process::Command;

use measure_harness::builds;
use measure_harness::rival::Rival;
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Work;

use crate::look::{Look, Measured};

/// The rows, the largest grain of each in nanoseconds, and the most items of a round.
const ROWS: [(&str, f64, u64); 6] = [
    ("pipeline", 1e5, 4_000_000),
    ("blocks", 1e3, 4_000_000),
    ("serial", 1e3, 4_000_000),
    ("state", 1e3, 4_000_000),
    ("branches", 1e3, 1_000_000),
    ("runs", 1e4, 60_000),
];
const GRAINS: [(&str, f64); 6] =
    [("grain 0", 0.0), ("55 ns", 55.0), ("100 ns", 100.0), ("1 us", 1e3), ("10 us", 1e4), ("100 us", 1e5)];
const WORKERS: [usize; 3] = [1, 2, 4];

/// The largest ratio of the times, new : old, that counts as no loss.
const LOSS: f64 = 1.03;

/// The names that `--only` accepts.
pub fn names() -> Vec<String> {
    ROWS.iter().map(|(name, ..)| (*name).to_owned()).collect()
}

/// Builds both states and measures the rows.
pub fn measure_against(commit: &str, look: &Look) -> Measured {
    let sides = [side(look, "this state", None), side(look, commit, Some(commit))];
    let [new, old] = match sides {
        [Ok(new), Ok(old)] => [new, old].map(RefCell::new),
        [Err(why), _] | [_, Err(why)] => return Measured::impossible("against", why),
    };
    let (wanted, seconds, time) = if look.quick { (9, 0.05, 20) } else { (21, 0.1, 60) };
    let budget = Budget { wanted, least: 5, time: std::time::Duration::from_secs(time) };
    let mut rows = Vec::new();
    for (name, most, most_items) in ROWS.into_iter().filter(|(name, ..)| look.at(name)) {
        let is_there = [&new, &old].map(|side| side.borrow().versions.contains_key(name));
        for (grain, nanos) in GRAINS.into_iter().filter(|(_, nanos)| *nanos <= most) {
            let work = Work::of(nanos);
            let items = work.items(seconds).clamp(64, most_items) & !7;
            for workers in WORKERS {
                let what = format!("{name}, {grain}, {workers} workers: time, new : old");
                if is_there != [true, true] {
                    let why = format!("{commit} cannot compile it");
                    let row = Row::without(
                        "against",
                        what,
                        (Target::AtMost(LOSS), Unit::Times),
                        Unmeasured::Impossible(why),
                    );
                    rows.push(row);
                    continue;
                }
                let request = format!("{name} {workers} {} {items}", work.calibration().0);
                let contenders = [("new", &new), ("old", &old)].map(|(side, rival)| {
                    let request = request.clone();
                    Contender::sampled(side, work.fold(0..items), move || rival.borrow_mut().sample(&request))
                });
                let rounds = measure(budget, None, contenders.into());
                rows.push(Row::new(
                    "against",
                    what,
                    (Target::AtMost(LOSS), Unit::Times),
                    &rounds,
                    |rounds| {
                        let each =
                            [0, 1].map(|at| 1e9 * rounds.median(|round| round.samples[at]) / items as f64);
                        let remark = format!("{:.1} ns an item, before {:.1}", each[0], each[1]);
                        (rounds.summary(|round| round.samples[0] / round.samples[1]), remark)
                    },
                ));
            }
        }
    }
    Measured { rows, notes: vec![format!("new is this state, old is {commit}")], ..Measured::default() }
}

/// Builds the rows with the library of a commit, or of this state, and starts their process.
fn side(look: &Look, name: &str, commit: Option<&str>) -> Result<Rival, String> {
    look.say(&format!("building {name}"));
    let root = builds::source("..").canonicalize().map_err(|error| error.to_string())?;
    let folder = builds::folder().join("against").join(commit.unwrap_or("this"));
    let library = match commit {
        None => root.clone(),
        Some(commit) => {
            let tree = folder.join("tree");
            if !tree.exists() {
                let mut git = Command::new("git");
                git.arg("-C")
                    .arg(&root)
                    .args(["worktree", "add", "--quiet", "--detach"])
                    .arg(&tree)
                    .arg(commit);
                builds::run(&mut git)?;
            }
            tree
        }
    };
    let package = folder.join("package");
    let all = names();
    let compile = |rows: &[String], check: bool| -> Result<(), String> {
        write(&package, &library, rows).map_err(|error| format!("{}: {error}", package.display()))?;
        let mut build = builds::cargo(&package.join("Cargo.toml"), &folder.join("target"));
        if check {
            build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
            build.args(["check", "--quiet", "--manifest-path"]).arg(package.join("Cargo.toml"));
            build.arg("--target-dir").arg(folder.join("target"));
        }
        builds::run(&mut build)
    };
    if compile(&all, true).is_err() {
        let known: Vec<String> =
            all.into_iter().filter(|row| compile(std::slice::from_ref(row), true).is_ok()).collect();
        if known.is_empty() {
            return compile(&names(), true).and(Err(format!("{name}: no row compiles")));
        }
        compile(&known, false)?;
    } else {
        compile(&all, false)?;
    }
    Rival::start(Command::new(folder.join("target").join(builds::PROFILE).join("against")))
}

/// Methods that rows call, and their names before. A row calls what the library of its commit has.
const RENAMED: [(&str, &str); 2] = [("serial_map", "serial"), ("map_init", "map_with")];

/// The methods that the sources in a folder have under their names before.
fn old_names(folder: &Path) -> std::io::Result<Vec<(&'static str, &'static str)>> {
    let mut old = RENAMED.to_vec();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(path)?;
                old.retain(|(new, _)| !text.contains(&format!("pub fn {new}<")));
            }
        }
    }
    Ok(old)
}

/// Writes the package of these rows. It keeps the lock file of the library's commit.
fn write(package: &Path, library: &Path, rows: &[String]) -> std::io::Result<()> {
    fs::create_dir_all(package.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"against\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         anabranch = {{ path = {:?} }}\nmeasure-harness = {{ path = {:?}, default-features = false }}\n\n\
         [profile.release]\nlto = \"thin\"\ncodegen-units = 1\n",
        library.join("crates/anabranch"),
        builds::source("harness").canonicalize()?,
    );
    builds::put(&package.join("Cargo.toml"), &manifest)?;
    if !package.join("Cargo.lock").exists() {
        fs::copy(library.join("Cargo.lock"), package.join("Cargo.lock"))?;
    }
    let (mut modules, mut forms, mut arms) = (String::new(), String::new(), String::new());
    let old = old_names(&library.join("crates/anabranch/src"))?;
    for row in rows {
        let source = builds::source("rivals/against/rows").join(row).with_extension("rs");
        let text = old.iter().fold(fs::read_to_string(source)?, |text, (new, old)| {
            text.replace(&format!(".{new}("), &format!(".{old}("))
        });
        builds::put(&package.join("src").join(row).with_extension("rs"), &text)?;
        modules += &format!("mod {row};\n");
        forms += &format!("({row:?}, \"1\".to_owned()), ");
        arms += &format!("            {row:?} => {row}::run,\n");
    }
    let main = format!(
        "{modules}
use measure_harness::rival::{{Answer, number, serve}};
use measure_harness::work::{{Digest, Work}};

fn main() -> std::io::Result<()> {{
    serve(&[{forms}], \"\", |words| {{
        let run: fn(Work, u64, usize) -> Digest = match words[0] {{
{arms}            other => return Err(format!(\"there is no row {{other}}\")),
        }};
        let (workers, work, items) = (number(words, 1)?, Work::calibrated(number(words, 2)?, false), number(words, 3)?);
        Ok(Answer::timed(|| run(work, items, workers).number()))
    }})
}}
"
    );
    builds::put(&package.join("src/main.rs"), &main)
}
