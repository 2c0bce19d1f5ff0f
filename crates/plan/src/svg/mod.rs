//! Pictures in SVG, written without a drawing program.

pub(crate) mod canvas;
mod curve;
pub(crate) mod plan;
mod sketch;

pub use sketch::Sketch;
