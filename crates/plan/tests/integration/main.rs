//! What this crate promises, checked from outside: all tests are one program, which is linked once.

mod dot;
mod explain;
mod json;
mod passes;
mod predict;
mod simulation;
mod svg;
mod validate;
