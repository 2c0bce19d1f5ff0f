//! Finds the variables through which others are changed: `let c = &mut count`, `let mut next = || { count +=
//! 1; .. }`.
//!
//! It takes the body of a function and gives, for each variable, the variables that it may change. A variable
//! may change another one if its value borrows that one mutably, calls a method that may return such a
//! borrow, captures it in a closure that changes it, or is built from a variable that does. A borrow that the
//! syntax does not show (through a type with a hidden `&mut`) is missed; the guide for users says so.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Expr, ItemFn, Pat, Stmt, parse_quote};

use crate::changes::{Change, borrows_mutably, changes, reads};
use crate::names::{Binding, all_bindings, bindings, local_bindings};

/// Methods whose result does not borrow from their receiver.
const OWNED: [&str; 16] = [
    "pop",
    "pop_front",
    "pop_back",
    "remove",
    "swap_remove",
    "insert",
    "push",
    "push_str",
    "push_back",
    "next",
    "nth",
    "take",
    "replace",
    "parse",
    "unwrap",
    "clone",
];

/// The variables that a value may change later on.
///
/// The value borrows them with `&mut`, by a method or in a closure, or it is built from a variable that
/// points to them. `mutable` says which variables can be changed, and `points` says whether a variable points
/// to others.
pub fn lent(
    value: &Expr,
    mutable: &BTreeMap<String, bool>,
    points: impl Fn(&str) -> bool,
) -> BTreeMap<String, Ident> {
    struct FindLent<'m, P> {
        mutable: &'m BTreeMap<String, bool>,
        points: P,
        found: BTreeMap<String, Ident>,
    }
    impl<P: Fn(&str) -> bool> FindLent<'_, P> {
        fn place(&mut self, place: &Expr) {
            if let Some(base) = base(place)
                && self.mutable.get(&base.to_string()) == Some(&true)
            {
                self.found.insert(base.to_string(), base);
            }
        }
    }
    impl<'ast, P: Fn(&str) -> bool> Visit<'ast> for FindLent<'_, P> {
        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            let name = path.path.get_ident().map(|name| (name.to_string(), name.clone()));
            self.found.extend(name.filter(|(name, _)| (self.points)(name)));
        }
        fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
            // A field that is read is assumed not to point to the variable.
            if base(&field.base).is_none() {
                visit::visit_expr_field(self, field);
            }
        }
        fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
            if !matches!(unary.op, syn::UnOp::Deref(_)) {
                visit::visit_expr_unary(self, unary);
            }
        }
        fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
            self.visit_expr(&index.index);
        }
        fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
            if reference.mutability.is_some() {
                self.place(&reference.expr);
            }
            visit::visit_expr_reference(self, reference);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let is_one_of = |names: &[&str]| names.iter().any(|name| call.method == name);
            match base(&call.receiver) {
                // On a string these methods borrow. On a reader they consume what the variable points to.
                Some(base) if is_one_of(&["lines", "bytes", "split"]) => {
                    if (self.points)(&base.to_string()) {
                        self.found.insert(base.to_string(), base);
                    }
                }
                Some(_) if reads(&call.method) => {}
                // A method of a variable that points to others may return something that points to them.
                Some(base) if (self.points)(&base.to_string()) => {
                    self.found.insert(base.to_string(), base);
                }
                Some(_) if is_one_of(&OWNED) => {}
                Some(_) => self.place(&call.receiver),
                None => self.visit_expr(&call.receiver),
            }
            call.args.iter().for_each(|arg| self.visit_expr(arg));
        }
        fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
            let bound: BTreeSet<String> = closure
                .inputs
                .iter()
                .flat_map(all_bindings)
                .map(|binding| binding.ident.to_string())
                .collect();
            let body = Stmt::Expr((*closure.body).clone(), None);
            for change in changes([&body].into_iter()).into_iter().filter(Change::is_likely) {
                let name = change.base.to_string();
                // A `move` closure changes its own copy, or a variable that cannot be used any more.
                let is_outer = closure.capture.is_none() || (self.points)(&name);
                if is_outer && !bound.contains(&name) && self.mutable.get(&name) == Some(&true) {
                    self.found.insert(name, change.base);
                }
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut look = FindLent { mutable, points, found: BTreeMap::new() };
    look.visit_expr(value);
    look.found
}

/// The variable that an expression names, or names a part of.
fn base(place: &Expr) -> Option<Ident> {
    match place {
        Expr::Path(path) => path.path.get_ident().cloned(),
        Expr::Field(field) => base(&field.base),
        Expr::Index(index) => base(&index.expr),
        Expr::Paren(inner) => base(&inner.expr),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => base(&unary.expr),
        _ => None,
    }
}

/// For each variable of a function, the variables that it may change. `pointers` are the parameters that
/// point to values of the caller.
pub fn lenders(
    function: &ItemFn,
    mutable: &BTreeMap<String, bool>,
    pointers: &BTreeSet<String>,
) -> BTreeMap<String, BTreeSet<String>> {
    struct Collect<'m> {
        mutable: &'m BTreeMap<String, bool>,
        pointers: &'m BTreeSet<String>,
        found: BTreeMap<String, BTreeSet<String>>,
    }
    impl Collect<'_> {
        fn matched(&mut self, pat: &Pat, names: Vec<Binding>, value: &Expr) {
            if borrows_mutably(pat) {
                self.add(names, &parse_quote!(&mut #value));
            } else {
                self.add(names, value);
            }
        }
        fn add(&mut self, names: Vec<Binding>, value: &Expr) {
            let lent = lent(value, self.mutable, |name| {
                self.pointers.contains(name) || self.found.contains_key(name)
            });
            if lent.is_empty() {
                return;
            }
            for name in names {
                self.found.entry(name.ident.to_string()).or_default().extend(lent.keys().cloned());
            }
        }
    }
    impl<'ast> Visit<'ast> for Collect<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            if let Some(init) = &local.init {
                self.matched(&local.pat, local_bindings(local), &init.expr);
            }
            visit::visit_local(self, local);
        }
        fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
            if let Expr::Path(path) = &*assign.left
                && let Some(ident) = path.path.get_ident()
            {
                self.add(vec![Binding { ident: ident.clone(), is_mut: false }], &assign.right);
            }
            visit::visit_expr_assign(self, assign);
        }
        fn visit_expr_let(&mut self, cond: &'ast syn::ExprLet) {
            self.matched(&cond.pat, bindings(&cond.pat), &cond.expr);
            visit::visit_expr_let(self, cond);
        }
        fn visit_expr_for_loop(&mut self, expr: &'ast syn::ExprForLoop) {
            self.add(all_bindings(&expr.pat), &expr.expr);
            visit::visit_expr_for_loop(self, expr);
        }
        fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
            for arm in &expr.arms {
                self.matched(&arm.pat, bindings(&arm.pat), &expr.expr);
            }
            visit::visit_expr_match(self, expr);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut collect = Collect { mutable, pointers, found: BTreeMap::new() };
    collect.visit_block(&function.block);
    collect.found
}
