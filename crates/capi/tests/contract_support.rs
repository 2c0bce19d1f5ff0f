//! The planted failures, which the generator needs.

#![allow(dead_code, missing_docs)]

#[path = "../../anabranch/tests/integration/contract_support/planted.rs"]
pub mod planted;
