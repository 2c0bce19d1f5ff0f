//! The program `spar++`: it turns its arguments into an exit status.

pub mod arguments;
mod compile;
mod conditions;
mod dependencies;
mod folders;
mod headers;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::rewrite::Guess;
use crate::source::{self, Severity, Source};
use crate::{Analysis, analyse_as};
use arguments::{Action, Arguments};

/// Runs the program, and returns its exit status.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match arguments::parse(words) {
        Ok(arguments) => arguments,
        Err(wrong) => return complain(&wrong),
    };
    let done = match &arguments.action {
        Action::Help => print(arguments::HELP),
        Action::Version => print(&format!("spar++ {}\n", env!("CARGO_PKG_VERSION"))),
        Action::Check => check(&arguments),
        Action::Print => show(&arguments),
        Action::Plan(format) => plan(&arguments, *format),
        Action::InstallLinks(folder) => folders::install_links(folder).map(|()| 0),
        Action::Compile => compile::compile(&arguments),
    };
    done.unwrap_or_else(|wrong| complain(&wrong))
}

fn complain(wrong: &str) -> u8 {
    eprintln!("spar++: error: {wrong}");
    1
}

fn print(text: &str) -> Result<u8, String> {
    match std::io::stdout().lock().write_all(&source::bytes(text)) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(0),
    }
}

/// Reads a file.
fn read(path: &Path) -> Result<Source, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Source::of_bytes(path.display().to_string(), &bytes)
        .map_err(|wrong| format!("{}: {wrong}", path.display()))
}

/// Reads and analyses a file, and prints the errors and warnings. The result is `None` if it cannot be
/// translated. The compiler says which parts of the file it sees; `scratch` is a folder for that.
fn analysed(
    arguments: &Arguments,
    path: &Path,
    scratch: &Path,
) -> Result<(Source, Option<Analysis>), String> {
    let source = read(path)?;
    let is_seen = conditions::are_seen(arguments, path, &source, scratch);
    let analysis = analyse_as(&source, is_seen.as_deref());
    let mut shown = String::new();
    for said in &analysis.said {
        shown += &said.render(&source);
    }
    let errors = analysis.said.iter().filter(|said| said.severity == Severity::Error).count();
    if errors > 0 {
        shown += &format!(
            "spar++: {errors} {} in {}\n",
            if errors == 1 { "error" } else { "errors" },
            source.name
        );
    }
    eprint!("{shown}");
    let is_sound = !analysis.has_failed();
    Ok((source, is_sound.then_some(analysis)))
}

/// Returns the files that a command names.
fn files(arguments: &Arguments) -> Result<&[PathBuf], String> {
    if arguments.files.is_empty() {
        return Err("no C++ file was named: spar++ -spar_file FILE.cpp ...".to_owned());
    }
    Ok(&arguments.files)
}

fn check(arguments: &Arguments) -> Result<u8, String> {
    let mut status = 0;
    let scratch = compile::scratch()?;
    for path in files(arguments)? {
        let (source, analysis) = analysed(arguments, path, scratch.path())?;
        eprint!("{}", headers::warnings(arguments, path, &source.text));
        if analysis.is_none() {
            status = 1;
        }
    }
    Ok(status)
}

fn show(arguments: &Arguments) -> Result<u8, String> {
    let scratch = compile::scratch()?;
    for path in files(arguments)? {
        let (source, Some(analysis)) = analysed(arguments, path, scratch.path())? else { return Ok(1) };
        print(&analysis.translate(&source, arguments.options, Guess::Method))?;
    }
    Ok(0)
}

fn plan(arguments: &Arguments, format: arguments::Format) -> Result<u8, String> {
    let scratch = compile::scratch()?;
    for path in files(arguments)? {
        let (source, Some(analysis)) = analysed(arguments, path, scratch.path())? else { return Ok(1) };
        for (region, places) in &analysis.regions {
            let plan = crate::plan::plan(&source, region, places, arguments.options);
            let text = match format {
                arguments::Format::Text => format!("{plan}\n"),
                arguments::Format::Dot => plan.to_dot(),
                arguments::Format::Svg => plan.to_svg(),
            };
            print(&text)?;
        }
    }
    Ok(0)
}
