//! The shared parts of the tests of the contract: items that are counted, random pipelines that run in three
//! ways (as a plain loop, inline, and with threads), a watchdog, and functions that look at the process from
//! outside.
//!
//! Nothing here uses internals of the crate: everything is seen as a user sees it.

#![allow(dead_code, missing_docs)] // each test file uses a part of it

pub mod case;
pub mod check;
pub mod model;
pub mod pipeline;
pub mod process;
pub mod random;
pub mod watchdog;
pub mod world;
