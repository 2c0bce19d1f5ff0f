//! The headings of groups that lie in several files.

/// How the work is done.
pub(super) const HOW: &str = "How";
