//! Tools that many tests share: failures that are planted, a watchdog, random cases, and functions that look at the process from
//! outside.

#![allow(dead_code, missing_docs)] // each test file uses a part of it

pub mod planted;
pub mod process;
pub mod random;
pub mod watchdog;
