//! A variant of an application, as something that can be run.

use crate::{
    Output, Scale, Workload, bunzip2, bzip2, dedup, farm, fastq, files, gzip, images, lanes, log, lunzip,
    lzip, matmul, micro, similarity, words,
};

/// How a variant treats the order and the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The plain loop.
    Sequential,
    /// Results are written in order, while later items are still being processed. Memory is bounded.
    Streams,
    /// Results are in order, but none is written before all are there. Memory grows with the items.
    Collects,
}

impl Kind {
    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Streams => "streams",
            Self::Collects => "collects",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Sequential, Self::Streams, Self::Collects].into_iter().find(|kind| kind.name() == name)
    }
}

/// A prepared program: runs once with this number of workers, and writes to the output.
pub(crate) type Run = Box<dyn Fn(usize, Output) -> Output>;

type Prepare = Box<dyn Fn(&str, Scale) -> Option<(f64, Run)>>;

/// A variant of an application.
#[allow(missing_debug_implementations)] // it is a closure
pub struct Program {
    /// The name of the application.
    pub application: &'static str,
    /// The name of the variant.
    pub variant: &'static str,
    /// How it treats order and memory.
    pub kind: Kind,
    /// Generates a workload. Returns the amount of work, and the program that does it.
    pub(crate) prepare: Prepare,
}

impl Program {
    /// A variant that `run` runs. Its second argument is the number of workers.
    pub fn new<W: Workload>(
        variant: &'static str,
        kind: Kind,
        run: fn(&'static W, usize, Output) -> Output,
    ) -> Self {
        let prepare = move |name: &str, scale| {
            // The data live as long as the process, because some libraries borrow nothing shorter.
            let input: &'static W = Box::leak(Box::new(W::generate(name, scale)?));
            let run: Run = Box::new(move |workers, output| run(input, workers, output));
            Some((input.amount(), run))
        };
        Self { application: W::ABOUT.name, variant, kind, prepare: Box::new(prepare) }
    }
}

/// The sequential programs.
pub fn sequential() -> Vec<Program> {
    fn of<W: Workload>(run: fn(&'static W, usize, Output) -> Output) -> Program {
        Program::new("sequential", Kind::Sequential, run)
    }
    vec![
        of(micro::sequential),
        of(images::sequential),
        of(bzip2::sequential),
        of(dedup::sequential),
        of(log::sequential),
        of(fastq::sequential),
        of(gzip::sequential),
        of(lzip::sequential),
        of(similarity::sequential),
        of(matmul::sequential),
        of(farm::sequential),
        of(bunzip2::sequential),
        of(lunzip::sequential),
        of(files::sequential),
        of(words::sequential),
        of(lanes::sequential),
    ]
}
