//! The verbosity, and the outcome of the program.

/// The verbosity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loudness {
    /// Print nothing.
    Silent,
    /// Print errors.
    Quiet,
    /// Print errors and warnings.
    Normal,
    /// Print errors, warnings, and what was done.
    Verbose,
}

/// The outcome of the program: that of the worst problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// No problem occurred.
    Success,
    /// Something was not done or is unusual; no data is at risk.
    Warning,
    /// An operation failed.
    Error,
    /// A compressed file is damaged.
    Damage,
}
