//! What a finished run tells of itself.

/// What a finished run tells of itself.
#[derive(Debug, Clone)]
pub struct Report {}
