//! The options that all programs have.

use std::num::NonZeroUsize;
use std::path::Path;

use clap::{Args, ValueEnum};

use crate::{Executor, Explain, Input, Output, Result, Run};

/// The options that all programs have.
#[derive(Debug, Args)]
pub struct Shared {
    /// Run the network on N threads [default: as many as there are processors]
    #[arg(long, value_name = "N", global = true, conflicts_with = "inline")]
    workers: Option<NonZeroUsize>,
    /// Run the sequential form, without a network
    #[arg(long, global = true)]
    inline: bool,
    /// Print the network to standard output in place of running it
    #[arg(long, value_name = "FORM", global = true, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    explain: Option<Form>,
    /// Print the time of each stage to standard error at the end
    #[arg(long, global = true)]
    report: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// Lines of text
    Text,
    /// A picture in the format SVG
    Svg,
}

impl Shared {
    /// The run that the options ask for.
    pub fn run(&self) -> Run {
        let executor = match self.workers {
            _ if self.inline => Executor::Inline,
            Some(workers) => Executor::Workers(workers.get()),
            None => Executor::Workers(anabranch::default_workers()),
        };
        let run = Run::new(executor);
        let run = if self.report { run.measured() } else { run };
        match self.explain {
            None => run,
            Some(Form::Text) => run.explained(Explain::Text),
            Some(Form::Svg) => run.explained(Explain::Svg),
        }
    }

    /// The number of threads that the user asked for.
    pub fn workers(&self) -> Option<NonZeroUsize> {
        self.workers
    }

    /// Whether the network is only shown.
    pub fn is_explained(&self) -> bool {
        self.explain.is_some()
    }

    /// Opens the input of a program. `-` is standard input. If the network is only shown, the input is empty.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn input(&self, path: &Path) -> Result<Input<'static>> {
        if self.explain.is_some() {
            return Ok(Input::from_reader("no input", std::io::empty()));
        }
        Input::open(path, true)
    }

    /// Creates the output of a program. `-` is standard output. If the network is only shown, nothing is
    /// created.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn output(&self, path: &Path) -> Result<Output<'static>> {
        if self.explain.is_some() {
            return Ok(Output::from_writer("no output", std::io::sink()));
        }
        Output::create(path)
    }

    /// Prints the measurements, if they are asked for.
    pub fn report(&self, run: &Run) {
        if self.report {
            eprint!("{}", run.report());
        }
    }
}
