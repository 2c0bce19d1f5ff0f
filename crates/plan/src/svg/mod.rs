//! Pictures in SVG, written without a drawing program.

mod canvas;
mod curve;
mod network;
mod plan;
mod sketch;

pub use sketch::Sketch;
