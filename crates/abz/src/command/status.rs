//! How much is told, and how the program ended.

/// How much to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loudness {
    /// Nothing.
    Silent,
    /// Errors.
    Quiet,
    /// Errors and warnings.
    Normal,
    /// These, and what was done.
    Verbose,
}

/// How it ended; the worst that happened counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All is well.
    Success,
    /// Something was not done or not as expected, and no data is at stake.
    Warning,
    /// Something failed.
    Error,
    /// A compressed file is not what it should be.
    Damage,
}
