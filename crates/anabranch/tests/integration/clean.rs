//! Programs that the attribute must accept, without a warning of the compiler.

use std::path::Path;

use crate::compiler;

fn is_clean(program: &str) {
    let output =
        compiler::compile_strictly(&Path::new("tests/clean").join(program), &compiler::folder("clean"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn an_annotated_loop_has_no_warning_that_the_loop_does_not_have() {
    is_clean("warnings.rs");
}

#[test]
fn what_a_message_advises_compiles() {
    is_clean("advice.rs");
}
