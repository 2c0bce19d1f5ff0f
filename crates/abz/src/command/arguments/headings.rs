//! Help headings that several modules use.

/// The heading of compression settings.
pub(super) const HOW: &str = "Settings";
