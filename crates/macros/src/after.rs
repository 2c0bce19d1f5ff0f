//! Finds the names that are evaluated after an annotated loop.
//!
//! It takes the code around the loop and gives the names that this code may use once the loop has ended. A
//! variable among them can show how far an earlier stage has run, so `check` needs to know it. The set is
//! never too small: code that runs in another iteration, call, branch or operand after the loop counts in
//! full.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Stmt, parse_quote};

use crate::body::{attrs_of, is};
use crate::names::Free;

struct FindLoop(bool);

impl<'ast> Visit<'ast> for FindLoop {
    fn visit_attribute(&mut self, attr: &'ast Attribute) {
        self.0 |= is(attr, "to_stream");
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a statement contains an annotated loop.
pub fn is_annotated(stmt: &Stmt) -> bool {
    let mut look = FindLoop(false);
    look.visit_stmt(stmt);
    look.0
}

/// Whether an expression contains an annotated loop.
pub fn has_loop(expr: &Expr) -> bool {
    let mut look = FindLoop(false);
    look.visit_expr(expr);
    look.0
}

/// The names that statements use from outside of themselves.
pub fn names<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut free = Free::new(|ident: &Ident, _| {
        names.insert(ident.to_string());
    });
    stmts.for_each(|stmt| free.stmt(stmt));
    names
}

/// The names that an expression around an annotated loop may use after that loop: in its next iteration or
/// call, in the branch that the loop's value selects, or in other operands.
pub fn evaluated_later(expr: &Expr) -> BTreeSet<String> {
    let is_needless = match expr {
        Expr::If(expr) => !has_loop(&expr.cond),
        Expr::Match(expr) => !has_loop(&expr.expr),
        Expr::ForLoop(expr) if has_loop(&expr.expr) => false,
        Expr::ForLoop(expr) => return names(expr.body.stmts.iter()),
        Expr::Block(_) | Expr::Unsafe(_) | Expr::Async(_) | Expr::Const(_) => true,
        Expr::Loop(_) | Expr::While(_) | Expr::Closure(_) => false,
        other => !has_loop(other),
    };
    if is_needless {
        return BTreeSet::new();
    }
    let mut rest = expr.clone();
    if !matches!(rest, Expr::Loop(_) | Expr::While(_) | Expr::Closure(_)) {
        WithoutLoops.visit_expr_mut(&mut rest);
    }
    names([Stmt::Expr(rest, None)].iter())
}

/// Replaces the annotated loops by `()`.
struct WithoutLoops;

impl VisitMut for WithoutLoops {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if attrs_of(expr).is_some_and(|attrs| attrs.iter().any(|attr| is(attr, "to_stream"))) {
            *expr = parse_quote!(());
        } else {
            visit_mut::visit_expr_mut(self, expr);
        }
    }
}
