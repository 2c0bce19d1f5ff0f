//! The generator of the streams in Rust, of which these tests use a part.

#![allow(dead_code, missing_docs)]

#[path = "../../anabranch/tests/integration/generator/case.rs"]
pub mod case;
#[path = "../../anabranch/tests/integration/generator/compare.rs"]
pub mod compare;
#[path = "../../anabranch/tests/integration/generator/keys.rs"]
pub mod keys;
#[path = "../../anabranch/tests/integration/generator/model.rs"]
pub mod model;
#[path = "../../anabranch/tests/integration/generator/program.rs"]
pub mod program;
