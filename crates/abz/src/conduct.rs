//! How a run is carried out and watched.

use std::fmt;

use anabranch::{Pool, Report};

/// How a run is carried out and watched. Nothing of it changes what comes out.
#[derive(Clone, Copy, Default)]
pub struct Conduct<'a> {
    /// Takes the threads from here instead of starting them.
    pub pool: Option<&'a Pool>,
    /// Gets a report when the run is over, whether it failed or not.
    pub report: Option<&'a dyn Fn(&Report)>,
    /// The report has what each thread did and when, for [`Report::to_trace`].
    pub traces: bool,
}

impl fmt::Debug for Conduct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conduct")
            .field("pool", &self.pool)
            .field("report", &self.report.is_some())
            .field("traces", &self.traces)
            .finish()
    }
}
