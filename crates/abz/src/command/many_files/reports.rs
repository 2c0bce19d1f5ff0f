//! The output of `--report` and `--trace`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use abz::program::Report;
use abz::program::descriptors::close;
use anabranch::{ReportFormat, ReportWriter};

use crate::command::arguments::Reported;
use crate::command::messages::problem::Problem;
use crate::command::messages::progress::Progress;
use crate::command::output::target::Target;
use crate::command::request::{Inputs, Reporting};
use crate::command::system::patient::Patient;

/// A report or trace that is being written.
struct Document {
    writer: ReportWriter<Destination>,
    /// The name of its destination, for messages.
    name: String,
    /// The first error, after which nothing more is written.
    error: Option<io::Error>,
}

/// The destination of a document.
enum Destination {
    File(BufWriter<File>),
    StandardError,
}

impl Destination {
    fn close(self) -> io::Result<()> {
        match self {
            Destination::File(file) => close(file.into_inner()?),
            Destination::StandardError => Ok(()),
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Destination::File(file) => file.write(bytes),
            Destination::StandardError => Patient(io::stderr()).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::File(file) => file.flush(),
            Destination::StandardError => Patient(io::stderr()).flush(),
        }
    }
}

/// Writes the reports of all runs to their documents.
pub(crate) struct Reports {
    documents: Mutex<Vec<Document>>,
    progress: Progress,
    pub(crate) is_wanted: bool,
    pub(crate) traces: bool,
}

impl Reports {
    /// Opens the requested files before any work, so that an error is found early.
    pub(crate) fn open(reporting: &Reporting, inputs: &Inputs, progress: &Progress) -> Result<Self, Problem> {
        let mut documents = Vec::new();
        if let Some(form) = reporting.report {
            let format = match form {
                Reported::Text => ReportFormat::Text,
                Reported::Json => ReportFormat::Json,
                Reported::Html => ReportFormat::Html,
            };
            let (out, name) = match &reporting.report_file {
                Some(path) => create(path, inputs, reporting.force)?,
                None => (Destination::StandardError, "standard error".to_owned()),
            };
            documents.push(Document { writer: ReportWriter::new(out, format), name, error: None });
        }
        if let Some(path) = &reporting.trace {
            let (out, name) = create(path, inputs, reporting.force)?;
            documents.push(Document {
                writer: ReportWriter::new(out, ReportFormat::Trace),
                name,
                error: None,
            });
        }
        let (is_wanted, traces) = (!documents.is_empty(), reporting.trace.is_some());
        Ok(Reports { documents: Mutex::new(documents), progress: progress.clone(), is_wanted, traces })
    }

    /// Writes the report of a run. Errors are returned by [`end`](Self::end).
    pub(crate) fn tell(&self, report: &Report) {
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        self.progress.aside(|| {
            for document in documents.iter_mut().filter(|document| document.error.is_none()) {
                document.error = document.writer.write(report).err();
            }
        });
    }

    /// Ends the documents, and returns their errors.
    pub(crate) fn end(self) -> Vec<Problem> {
        let documents = self.documents.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ended = documents.into_iter().filter_map(|Document { writer, name, error }| {
            let error = match error {
                Some(error) => error,
                None => writer.finish().and_then(Destination::close).err()?,
            };
            Some(Problem::of_file(name, "cannot be written to", &error))
        });
        ended.collect()
    }
}

/// Opens a file that is new or may be replaced, or one that is not regular, such as a pipe or a terminal.
fn create(path: &Path, inputs: &Inputs, force: bool) -> Result<(Destination, String), Problem> {
    let name = path.display().to_string();
    if !force && is_regular(path) {
        let text = "exists already; name another file for the report or the trace, or use -f to replace it";
        return Err(Problem::error(name, text));
    }
    Target::File(path.to_owned()).spare_named(inputs)?;
    let opened = OpenOptions::new().write(true).create(true).truncate(true).open(path);
    let file = opened.map_err(|error| Problem::of_file(&name, "cannot be written to", &error))?;
    Ok((Destination::File(BufWriter::new(file)), name))
}

fn is_regular(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}
