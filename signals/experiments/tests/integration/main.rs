//! The experiments from outside, with little work.

mod experiments;
mod exploration;
mod rivals;
