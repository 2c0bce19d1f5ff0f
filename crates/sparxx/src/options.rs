//! SPar's flags.

/// The flags that determine how regions run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// `-spar_ordered`, which is the default. `-spar_unordered` gives up the order of the items.
    pub is_ordered: bool,
    /// `-spar_ondemand n`: at most `n` items wait for each replica.
    pub on_demand: Option<u32>,
    /// `-spar_blocking`: waiting threads sleep. They do so without the flag, too.
    pub is_blocking: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { is_ordered: true, on_demand: None, is_blocking: false }
    }
}
