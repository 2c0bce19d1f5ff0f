//! What is evaluated behind an annotated loop.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Stmt, parse_quote};

use crate::body::{attrs_of, is};
use crate::names::Free;

struct Look(bool);

impl<'ast> Visit<'ast> for Look {
    fn visit_attribute(&mut self, attr: &'ast Attribute) {
        self.0 |= is(attr, "to_stream");
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether there is an annotated loop in it.
pub fn is_annotated(stmt: &Stmt) -> bool {
    let mut look = Look(false);
    look.visit_stmt(stmt);
    look.0
}

/// Whether there is an annotated loop in it.
pub fn has_loop(expr: &Expr) -> bool {
    let mut look = Look(false);
    look.visit_expr(expr);
    look.0
}

/// The names that statements take from outside of themselves.
pub fn names<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut free = Free::new(|ident: &Ident, _| {
        names.insert(ident.to_string());
    });
    stmts.for_each(|stmt| free.stmt(stmt));
    names
}

/// The names that an expression around an annotated loop may use behind that loop: those of the next round or call, of the
/// branch that is chosen by it, of the other operands.
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

/// Takes the annotated loops out.
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
