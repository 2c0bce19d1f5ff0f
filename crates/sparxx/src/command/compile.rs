//! Translates files and calls the compiler.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use tempfile::TempDir;

use super::arguments::{Arguments, Word};
use super::dependencies;
use super::folders::{Library, library};
use super::headers;
use crate::Analysis;
use crate::rewrite::Guess;
use crate::source::{self, Source};

/// A file of the user that has annotations.
struct Annotated {
    path: PathBuf,
    source: Source,
    analysis: Analysis,
    /// The translated file, which the compiler gets.
    translated: PathBuf,
}

/// Translates the files and calls the compiler. Returns the exit status of the compiler.
pub fn compile(arguments: &Arguments) -> Result<u8, String> {
    let mut annotated = Vec::new();
    let scratch = scratch()?;
    for (number, path) in arguments.files.iter().enumerate() {
        let is_marked = arguments.marked.contains(path);
        // Only files that `-spar_file` names must be readable here. For the others, the compiler reports the
        // error.
        let bytes = std::fs::read(path).unwrap_or_default();
        eprint!("{}", headers::warnings(arguments, path, &String::from_utf8_lossy(&bytes)));
        if !is_marked && !bytes.windows(4).any(|window| window == b"spar") {
            continue;
        }
        let (source, Some(analysis)) = super::analysed(arguments, path, scratch.path())? else {
            return Ok(1);
        };
        if analysis.regions.is_empty() {
            if is_marked {
                eprintln!("{}: warning: the file has no annotation of SPar", source.name);
            }
            continue;
        }
        let name = path.file_name().unwrap_or_default();
        let translated = scratch.path().join(number.to_string()).join(name);
        annotated.push(Annotated { path: path.clone(), source, analysis, translated });
    }
    let links = arguments.has_input() && !arguments.stops_early();
    if annotated.is_empty() && !links {
        return call(arguments, &annotated, None, Stdio::inherit()).map(|output| code(output.status));
    }
    let library = library(scratch.path())?;
    let has_guesses = annotated.iter().any(|file| file.analysis.has_guesses());
    if let Some((old, new)) = raised(arguments).filter(|_| !annotated.is_empty()) {
        eprintln!(
            "spar++: the translated code needs C++17, so it is compiled with {new} and not with {}",
            old.to_string_lossy()
        );
    }
    write(&annotated, arguments, Guess::Method)?;
    let said = if has_guesses { Stdio::piped() } else { Stdio::inherit() };
    let mut output = call(arguments, &annotated, Some(&library), said)?;
    if has_guesses {
        if !output.status.success() {
            // The classes are in another file. The functions that look like methods may be static ones.
            write(&annotated, arguments, Guess::Function)?;
            let second = call(arguments, &annotated, Some(&library), Stdio::piped())?;
            if second.status.success() {
                output = second;
            }
        }
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    for file in &annotated {
        for of in dependencies::files(arguments, &file.path) {
            dependencies::correct(&of, &file.translated, &file.path, scratch.path())?;
        }
    }
    Ok(code(output.status))
}

/// Creates a folder for this run. It is removed when the run ends, even by a signal.
pub(super) fn scratch() -> Result<TempDir, String> {
    let scratch = tempfile::Builder::new().prefix("sparxx-").tempdir();
    let scratch = scratch
        .map_err(|error| format!("cannot make a folder in {}: {error}", std::env::temp_dir().display()))?;
    let folder = scratch.path().to_owned();
    // The compiler gets the signal too, and has ended when this runs.
    let handled = ctrlc::set_handler(move || {
        let _ = std::fs::remove_dir_all(&folder);
        std::process::exit(130);
    });
    handled.map_err(|error| format!("cannot handle signals: {error}"))?;
    Ok(scratch)
}

fn write(annotated: &[Annotated], arguments: &Arguments, guess: Guess) -> Result<(), String> {
    for file in annotated {
        let text = file.analysis.translate(&file.source, arguments.options, guess);
        let folder = file.translated.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&file.translated, source::bytes(&text)));
        written.map_err(|error| format!("cannot write {}: {error}", file.translated.display()))?;
    }
    Ok(())
}

/// Set for the compiler that is called. If this program finds it set, it was called as the compiler.
const CALLED: &str = "SPARXX_CALLED";

/// Returns the command of the compiler: the words of `CXX`, or `c++` if that is not set.
///
/// CMake and `make CXX=spar++` set `CXX` to this program. The compiler is `c++` then, too.
fn compiler() -> Vec<OsString> {
    let usual = || vec![OsString::from("c++")];
    let Some(named) = std::env::var_os("CXX").filter(|named| !named.is_empty()) else { return usual() };
    let words: Vec<OsString> = if Path::new(&named).exists() {
        vec![named]
    } else {
        named.to_string_lossy().split_whitespace().map(OsString::from).collect()
    };
    let is_this = words.first().is_none_or(|program| is_this_program(program));
    if is_this || std::env::var_os(CALLED).is_some() { usual() } else { words }
}

/// Returns whether a word of a command line is this program.
fn is_this_program(word: &OsStr) -> bool {
    let path = Path::new(word);
    let found = if path.components().count() > 1 {
        path.canonicalize().ok()
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).find_map(|folder| folder.join(path).canonicalize().ok())
    };
    let this = std::env::current_exe().and_then(|program| program.canonicalize()).ok();
    found.is_some() && found == this
}

/// Returns the standard that an option of the compiler names.
fn standard(word: &Word) -> Option<Cow<'_, str>> {
    let Word::Option(option) = word else { return None };
    let text = option.to_string_lossy();
    match text.strip_prefix("--").or(text.strip_prefix('-'))? {
        "ansi" => Some("c++98".into()),
        option => option.strip_prefix("std=").map(|standard| standard.to_owned().into()),
    }
}

/// If the last option for a standard names one before C++17, returns that option, and the one to use instead.
fn raised(arguments: &Arguments) -> Option<(&OsStr, &'static str)> {
    let of_word = |word| Some((word, standard(word)?));
    let (word, standard) = arguments.words.iter().filter_map(of_word).next_back()?;
    let Word::Option(option) = word else { return None };
    let year = standard.strip_prefix("c++").or(standard.strip_prefix("gnu++"))?;
    let is_old = ["98", "03", "0x", "11", "1y", "14"].contains(&year);
    is_old.then_some((option, if standard.starts_with("gnu") { "-std=gnu++17" } else { "-std=c++17" }))
}

/// Returns the option for a standard that translated code needs after those of the user: the last of several options counts.
pub(super) fn needed_standard(arguments: &Arguments) -> Option<&'static str> {
    let names_standard = arguments.words.iter().any(|word| standard(word).is_some());
    let unnamed = (!names_standard).then_some("-std=gnu++17");
    unnamed.or(raised(arguments).map(|(_, new)| new))
}

/// Returns the command that calls the compiler, without its arguments.
pub(super) fn compiler_command() -> Command {
    let mut words = compiler().into_iter();
    let mut command = Command::new(words.next().unwrap_or_else(|| "c++".into()));
    command.args(words).env(CALLED, "1");
    command
}

/// Returns the folder of a file. Headers there are found by a file elsewhere, after `-iquote`.
pub(super) fn beside(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn call(
    arguments: &Arguments,
    annotated: &[Annotated],
    library: Option<&Library>,
    said: Stdio,
) -> Result<Output, String> {
    let mut command = compiler_command();
    for word in &arguments.words {
        match word {
            Word::Option(word) | Word::Input(word) => command.arg(word),
            Word::Source(path) => {
                let file = annotated.iter().find(|file| file.path == *path);
                if let Some(file) = file {
                    // Headers in the folder of the user's file are found first, as if the translated file
                    // were there.
                    command.arg("-iquote").arg(beside(&file.path));
                }
                command.arg(file.map_or(path, |file| &file.translated))
            }
        };
    }
    if let Some(library) = library {
        if !annotated.is_empty() {
            command.arg("-isystem").arg(&library.headers);
        }
        if !annotated.is_empty() {
            command.args(needed_standard(arguments));
        }
        if !arguments.stops_early() {
            command.arg(&library.archive).args(["-pthread", "-ldl", "-lm", "-Wl,--gc-sections"]);
        }
    }
    let output = command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(said).output();
    output.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!(
            "there is no compiler `{}`: install one (Debian's package g++), or name one in CXX",
            command.get_program().to_string_lossy()
        ),
        _ => format!("cannot run {}: {error}", command.get_program().to_string_lossy()),
    })
}

/// Returns the exit status that corresponds to the compiler's.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128u8.wrapping_add(u8::try_from(signal).unwrap_or(0));
    }
    status.code().map_or(1, |code| u8::try_from(code & 0xff).unwrap_or(1))
}
