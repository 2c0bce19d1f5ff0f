//! Finds annotations in places where they have no meaning.

use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Attribute, Error, Stmt};

use crate::body::is;

/// The error for a `#[stage]` that is nested inside a statement.
pub fn nested_stage(stmts: &[Stmt]) -> Option<Error> {
    let mut errors = Vec::new();
    stmts.iter().for_each(|stmt| Leftover(&mut errors).visit_stmt(stmt));
    errors.pop()
}

/// Finds annotations in places where they have no meaning.
pub struct Leftover<'e>(pub &'e mut Vec<Error>);

impl<'ast> Visit<'ast> for Leftover<'_> {
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_attribute(&mut self, attr: &'ast Attribute) {
        // An error in the loop itself is more useful.
        if !self.0.is_empty() {
            return;
        }
        if is(attr, "stage") {
            let text = "`#[stage]` belongs before a statement of the body of a loop with `#[to_stream]`: not inside \
                        another statement, and not outside of such a loop";
            self.0.push(Error::new(attr.path().span(), text));
        } else if is(attr, "to_stream") {
            let text = "expected a loop after `#[to_stream]`: `loop`, `while`, `for`, or a block around one";
            self.0.push(Error::new(attr.path().span(), text));
        }
    }
}
