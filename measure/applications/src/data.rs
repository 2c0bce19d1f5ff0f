//! The folder of real data that `--data` or `SUITE_DATA` names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dsp::{Executor, Input, Output, Run, jpeg};
use measure_programs::{Data, GENERATED, PICTURES, PIXELS, VARIABLE};

/// Which data the applications have.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// `None` if all data are generated.
    folder: Option<PathBuf>,
    /// What the results say about the data: other data have another text.
    pub identity: String,
}

impl Chosen {
    /// Generated data.
    pub fn generated() -> Self {
        Self { folder: None, identity: GENERATED.into() }
    }

    /// The folder that an argument or the environment names. All its files are looked at, and its photographs are decoded, so
    /// that no process of a variant decodes.
    ///
    /// # Errors
    /// If a file is missing or cannot be read.
    pub fn of(argument: Option<&Path>) -> Result<Self, String> {
        let Some(data) = argument.map(Data::new).or_else(Data::of_environment) else {
            return Ok(Self::generated());
        };
        let identity = data.identity()?;
        for folder in PICTURES {
            decode(&data, folder)?;
        }
        Ok(Self { folder: Some(data.folder().to_owned()), identity })
    }

    /// The real data, if there are any.
    pub fn data(&self) -> Option<Data> {
        self.folder.as_ref().map(Data::new)
    }

    /// Tells a process which data to take.
    pub fn tell(&self, command: &mut Command) {
        match &self.folder {
            Some(folder) => command.env(VARIABLE, folder),
            None => command.env_remove(VARIABLE),
        };
    }
}

/// Decodes the photographs of a folder that are not decoded yet or have changed since.
fn decode(data: &Data, folder: &str) -> Result<(), String> {
    let into = data.folder().join(PIXELS).join(folder);
    let problem = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(&into).map_err(|error| problem(&into, error))?;
    let mut wanted: Vec<PathBuf> = Vec::new();
    for name in data.files(folder, "jpg")? {
        let path = data.folder().join(folder).join(&name);
        let pixels = into.join(&name).with_extension("ppm");
        let changed = |path: &Path| fs::metadata(path).and_then(|about| about.modified());
        let is_new = match (changed(&path), changed(&pixels)) {
            (Ok(photograph), Ok(decoded)) => photograph > decoded,
            _ => true,
        };
        if is_new {
            let ppm = decoded(&path)?;
            // Written whole: if this is interrupted, the next command decodes it again.
            let part = pixels.with_extension("part");
            fs::write(&part, ppm)
                .and_then(|()| fs::rename(&part, &pixels))
                .map_err(|error| problem(&pixels, error))?;
        }
        wanted.push(pixels);
    }
    for entry in fs::read_dir(&into).map_err(|error| problem(&into, error))?.flatten() {
        if !wanted.contains(&entry.path()) {
            fs::remove_file(entry.path()).map_err(|error| problem(&entry.path(), error))?;
        }
    }
    Ok(())
}

/// A photograph as a portable pixmap.
fn decoded(path: &Path) -> Result<Vec<u8>, String> {
    let mut pixels = Vec::new();
    let mut output = Output::from_writer("the pixels", &mut pixels);
    let run = Run::new(Executor::Inline);
    Input::open(path, false)
        .and_then(|input| jpeg::decode(input, &mut output, jpeg::DEFAULT_BURST, &run))
        .and_then(|()| output.finish())
        .map_err(|error| {
            format!("{error}; `sh measure/applications/data.sh DIR` fetches the photographs again, or remove this one")
        })?;
    Ok(pixels)
}

/// The data of results that say nothing about them: of versions that had no others.
pub fn generated() -> String {
    GENERATED.into()
}
