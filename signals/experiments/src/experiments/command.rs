//! The command `experiments`.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;

use dsp::command::Shared;
use dsp::{Error, Output, Result};

use super::{Effort, Needs, Part, Rivals, chosen, merged, run as measure};

/// Measures all programs, and writes tables and pictures
#[derive(Debug, Args)]
pub struct Arguments {
    /// Measure less: a few minutes in place of some twenty
    #[arg(long)]
    quick: bool,
    /// Do not build and measure the task systems and channels to compare with
    #[arg(long)]
    no_rivals: bool,
    /// Measure these parts only, and keep what the folder has of the others
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    only: Vec<Part>,
    /// The JPEG file to decode [default: a picture of 64 x 64 pixels]
    #[arg(long, value_name = "FILE")]
    photo: Option<PathBuf>,
    /// The folder for README.md and the pictures [default: signals/pictures beside the sources of this program]
    #[arg(default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../pictures"), hide_default_value = true)]
    folder: PathBuf,
}

/// The picture that is decoded without a photo. It fits into a cache, so its times do not apply to large pictures.
const SMALL_PICTURE: &[u8] = include_bytes!("../../../dsp/tests/integration/data/jpeg/420.jpg");

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
    let parts = chosen(&arguments.only);
    let rivals =
        if arguments.no_rivals { Rivals::absent("--no-rivals was given") } else { Rivals::build(&parts) };
    let photo = match &arguments.photo {
        Some(path) => fs::read(path)
            .map_err(|error| Error::io(&path.display().to_string(), "cannot read the photo", error))?,
        None => SMALL_PICTURE.to_vec(),
    };
    let needs = Needs { rivals: &rivals, photo: &photo };
    let report = measure(effort, &parts, &needs, |part| {
        if is_shown {
            eprint!("\r\x1b[K{part}");
        }
    })?;
    if is_shown {
        eprint!("\r\x1b[K");
    }
    // Without an old file, there is nothing to keep.
    let old = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let text = ("README.md".to_owned(), merged(&old, &report.parts));
    for (name, content) in report.pictures.into_iter().chain([text]) {
        let mut output = Output::create(&folder.join(name))?;
        output.put(content.as_bytes())?;
        output.finish()?;
    }
    Ok(())
}
