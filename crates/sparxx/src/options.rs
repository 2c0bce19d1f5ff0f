//! SPar's flags.

/// How regions run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `-spar_ordered`, which is how it is without a flag; `-spar_unordered` gives order up.
    pub is_ordered: bool,
    /// `-spar_ondemand q`: so many items wait for each replica.
    pub on_demand: Option<u32>,
    /// `-spar_blocking`: waiting threads sleep, which they do anyway.
    pub is_blocking: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { is_ordered: true, on_demand: None, is_blocking: false }
    }
}
