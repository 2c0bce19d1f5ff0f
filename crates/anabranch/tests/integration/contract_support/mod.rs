//! What the tests of the contract share: items that are counted, random pipelines in three readings (a plain
//! loop, the inline executor, threads), a watchdog, and a look at the process from outside.
//!
//! Nothing here uses internals of the crate: everything is seen as a user sees it.

#![allow(dead_code, missing_docs)] // each test file uses a part of it

pub mod case;
pub mod check;
pub mod model;
pub mod pipeline;
pub mod process;
pub mod watchdog;
pub mod world;
