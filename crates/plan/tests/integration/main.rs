//! Tests of the promises of this crate, from outside. They are one program, so they are linked once.

mod dot;
mod explain;
mod json;
mod passes;
mod predict;
mod simulation;
mod svg;
mod validate;
