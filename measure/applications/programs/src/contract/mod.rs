//! The contract, and who keeps it: the same small experiments with every system.
//!
//! A system runs a source, a parallel stage and a serial sink that both can fail, as its documentation recommends it. Each
//! [`Experiment`] gives it another source, stage or sink, and looks at what comes out. An experiment runs in a process of
//! its own, because a system may hang in it or end the process.

mod experiments;
mod latency;
mod watch;

use std::io;

pub use experiments::{Experiment, Finding, WORKERS};
pub use latency::Quantiles;

/// Why a run ended early: the item that failed.
pub type Failure = u64;

/// A library, or a way to use it.
pub trait System {
    /// The name of the variant.
    const NAME: &'static str;

    /// Runs `stage` on the items of `source` with this many workers, and gives the results to `sink` in their order.
    ///
    /// # Errors
    /// The first error in the order of the items, as the plain loop returns it.
    fn run(
        source: impl Iterator<Item = u64> + Send + 'static,
        workers: usize,
        stage: impl Fn(u64) -> Result<u64, Failure> + Send + Sync + Copy + 'static,
        sink: impl FnMut(u64) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure>;

    /// Like [`run`](Self::run), for a source that waits most of the time. A system that has another form for this uses it.
    ///
    /// # Errors
    /// As `run`.
    fn live(
        source: impl Iterator<Item = u64> + Send + 'static,
        workers: usize,
        stage: impl Fn(u64) -> Result<u64, Failure> + Send + Sync + Copy + 'static,
        sink: impl FnMut(u64) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        Self::run(source, workers, stage, sink)
    }
}

/// The plain loop, which all others are compared with.
#[derive(Debug)]
pub struct Loop;

impl System for Loop {
    const NAME: &'static str = "sequential";

    fn run(
        source: impl Iterator<Item = u64> + Send + 'static,
        _workers: usize,
        stage: impl Fn(u64) -> Result<u64, Failure> + Send + Sync + Copy + 'static,
        mut sink: impl FnMut(u64) -> Result<(), Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        for item in source {
            sink(stage(item)?)?;
        }
        Ok(())
    }
}

/// A system, as something that can be asked.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations)] // it is a function
pub struct Subject {
    /// The name of the system.
    pub name: &'static str,
    /// Makes an experiment with it.
    pub examine: fn(Experiment) -> Finding,
    /// Measures its latency with so many workers, for so many seconds.
    pub latency: fn(usize, f64) -> Option<Quantiles>,
}

impl Subject {
    /// Makes experiments with a system.
    pub fn of<S: System>() -> Self {
        Self { name: S::NAME, examine: experiments::examine::<S>, latency: latency::latency::<S> }
    }
}

/// Makes the experiment that the arguments `SYSTEM EXPERIMENT` name, and prints what it has shown. With
/// `SYSTEM latency WORKERS SECONDS` it prints the quantiles of the latency.
///
/// # Errors
/// If the arguments are not understood, or results are missing.
pub fn answer(subjects: &[Subject], arguments: &[String]) -> io::Result<()> {
    let subject = arguments.first().and_then(|system| subjects.iter().find(|subject| subject.name == system));
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    let said = match (subject, &words[..]) {
        (Some(subject), [experiment]) => {
            Experiment::of_word(experiment).map(|experiment| (subject.examine)(experiment).to_string())
        }
        (Some(subject), ["latency", workers, seconds]) => match (workers.parse(), seconds.parse()) {
            (Ok(workers), Ok(seconds)) => {
                let quantiles = (subject.latency)(workers, seconds);
                Some(quantiles.ok_or_else(|| io::Error::other("results are missing"))?.to_string())
            }
            _ => None,
        },
        _ => None,
    };
    let Some(said) = said else {
        let asked = arguments.join(" ");
        return Err(io::Error::other(format!(
            "expected `SYSTEM EXPERIMENT` or `SYSTEM latency WORKERS SECONDS`, not `{asked}`"
        )));
    };
    println!("{said}");
    Ok(())
}
