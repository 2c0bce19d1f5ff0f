//! The command `dsp experiments`.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::command::Shared;
use crate::{Error, Output, Result};

use super::{Effort, Part, Rivals, run as measure};

/// Measures all programs, and writes tables and pictures
#[derive(Debug, Args)]
pub struct Arguments {
    /// Measure less: a few minutes in place of some twenty
    #[arg(long)]
    quick: bool,
    /// Do not build and measure the task systems and channels that the synthetic benchmark is compared with
    #[arg(long)]
    no_rivals: bool,
    /// Measure these parts only
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<Part>,
    /// A JPEG file to decode; without one, the decoder is not measured
    #[arg(long, value_name = "FILE")]
    photo: Option<PathBuf>,
    /// The folder for README.md and the pictures
    #[arg(default_value = "crates/dsp/experiments")]
    folder: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// If a network gives another result than its sequential form, or a file cannot be written.
pub fn run(arguments: &Arguments, shared: &Shared) -> Result<()> {
    if shared.is_explained() {
        return Err(Error::new("experiments has no network of its own: show the network of a program"));
    }
    let folder = &arguments.folder;
    let name = folder.display().to_string();
    fs::create_dir_all(folder).map_err(|error| Error::io(&name, "cannot create the folder", error))?;
    let effort = if arguments.quick { Effort::QUICK } else { Effort::FULL };
    let is_shown = io::stderr().is_terminal();
    let all = Part::value_variants();
    let parts = if arguments.only.is_empty() { all } else { &arguments.only };
    let rivals = if arguments.no_rivals {
        Rivals::absent("--no-rivals was given")
    } else if parts.contains(&Part::Rivals) {
        Rivals::build()
    } else {
        Rivals::absent("not asked for")
    };
    let photo = match &arguments.photo {
        Some(path) => Some(
            fs::read(path)
                .map_err(|error| Error::io(&path.display().to_string(), "cannot read the photo", error))?,
        ),
        None => None,
    };
    let report = measure(effort, parts, &rivals, photo.as_deref(), |part| {
        if is_shown {
            eprint!("\r\x1b[K{part}");
        }
    })?;
    if is_shown {
        eprint!("\r\x1b[K");
    }
    let text = ("README.md".to_owned(), report.text);
    for (name, content) in report.pictures.into_iter().chain([text]) {
        let mut output = Output::create(&folder.join(name))?;
        output.put(content.as_bytes())?;
        output.finish()?;
    }
    Ok(())
}
