//! The files and signals of the system, below everything else.

pub(crate) mod file_id;
pub(crate) mod holes;
pub(crate) mod interrupt;
pub(crate) mod patient;
pub(crate) mod quote;
pub(crate) mod temporary;
