//! What is wrong with an annotation is said at the user's own word, with what to write instead.
//!
//! After a change of the messages: `TRYBUILD=overwrite cargo test -p anabranch --test integration misuse`, and read the difference.

#[test]
fn each_misuse_has_a_message_that_leads_back() {
    trybuild::TestCases::new().compile_fail("tests/misuse/*.rs");
}
