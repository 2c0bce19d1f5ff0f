//! Which variables a piece of code surely changes: those it assigns to or borrows with `&mut`.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Stmt};

use crate::names::bindings;

/// A change that was found.
pub struct Change {
    /// The variable.
    pub base: Ident,
    /// Whether the variable as a whole is changed, not a field or element of it or what it points to.
    pub is_whole: bool,
    /// Whether it is assigned to, which changes nothing that it points to.
    pub is_assigned: bool,
    /// Whether it is a method that may take `&mut self`, or a call of a closure: a change only if the variable is declared so.
    pub is_method: bool,
    /// Whether that method is one of the standard library that changes what it is called on.
    pub is_known: bool,
    /// The method, where it is none of those.
    pub unknown: Option<Ident>,
}

impl Change {
    /// Of what a variable points to.
    pub fn within(base: Ident) -> Self {
        let (is_whole, is_assigned, is_method, is_known) = (false, false, false, false);
        Self { base, is_whole, is_assigned, is_method, is_known, unknown: None }
    }
}

/// Methods of the standard library that change what they are called on, if it is declared `mut`.
pub const WRITES: [&str; 26] = [
    "next",
    "nth",
    "read_exact",
    "read_line",
    "read_to_end",
    "swap_remove",
    "push",
    "push_str",
    "push_back",
    "push_front",
    "pop",
    "insert",
    "remove",
    "extend",
    "extend_from_slice",
    "append",
    "clear",
    "truncate",
    "resize",
    "drain",
    "retain",
    "sort",
    "sort_unstable",
    "entry",
    "write_all",
    "write_str",
];

/// The changes in these statements to variables that the statements do not bind themselves.
pub fn changes<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> Vec<Change> {
    let mut find = Find { changes: Vec::new(), bound: BTreeSet::new() };
    stmts.for_each(|stmt| find.visit_stmt(stmt));
    let Find { changes, bound } = find;
    changes.into_iter().filter(|change| !bound.contains(&change.base.to_string())).collect()
}

/// Methods of the standard library that change nothing, so that no variable is suspected for them.
pub const READS: [&str; 43] = [
    "iter",
    "len",
    "is_empty",
    "lines",
    "chars",
    "bytes",
    "chunks",
    "chunks_exact",
    "windows",
    "as_str",
    "as_bytes",
    "as_ref",
    "as_slice",
    "as_deref",
    "get",
    "contains",
    "contains_key",
    "clone",
    "cloned",
    "copied",
    "to_string",
    "to_owned",
    "to_vec",
    "keys",
    "values",
    "first",
    "last",
    "starts_with",
    "ends_with",
    "split",
    "split_whitespace",
    "trim",
    "is_some",
    "is_none",
    "is_ok",
    "is_err",
    "load",
    "borrow",
    "lock",
    "path",
    "display",
    "eq",
    "cmp",
];

struct Find {
    changes: Vec<Change>,
    /// Names bound anywhere inside: too many rather than too few, as a change that is missed here is the compiler's.
    bound: BTreeSet<String>,
}

impl Find {
    fn assigned(&mut self, place: &Expr) {
        let from = self.changes.len();
        self.place(place, None);
        self.changes[from..].iter_mut().for_each(|change| change.is_assigned = change.is_whole);
    }

    fn place(&mut self, place: &Expr, method: Option<&Ident>) {
        let is_method = method.is_some();
        let is_known = method.is_some_and(|method| WRITES.iter().any(|name| method == name));
        let unknown = method.filter(|_| !is_known);
        let mut is_whole = true;
        let mut place = place;
        loop {
            place = match place {
                Expr::Path(path) => {
                    if let Some(base) = path.path.get_ident() {
                        let (unknown, within) = (unknown.cloned(), Change::within(base.clone()));
                        self.changes.push(Change { is_whole, is_method, is_known, unknown, ..within });
                    }
                    return;
                }
                Expr::Paren(inner) => &inner.expr,
                Expr::Tuple(tuple) => {
                    return tuple.elems.iter().for_each(|place| self.place(place, method));
                }
                Expr::Field(field) => {
                    is_whole = false;
                    &field.base
                }
                Expr::Index(index) => {
                    is_whole = false;
                    &index.expr
                }
                Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                    is_whole = false;
                    &unary.expr
                }
                _ => return,
            };
        }
    }
}

impl<'ast> Visit<'ast> for Find {
    fn visit_pat(&mut self, pat: &'ast syn::Pat) {
        self.bound.extend(bindings(pat).iter().map(|binding| binding.ident.to_string()));
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.assigned(&assign.left);
        visit::visit_expr_assign(self, assign);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if changes_left(&binary.op) {
            self.assigned(&binary.left);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
        if reference.mutability.is_some() {
            self.place(&reference.expr, None);
        }
        visit::visit_expr_reference(self, reference);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        // A closure that changes something is declared `mut`.
        if let Expr::Path(path) = &*call.func
            && let Some(base) = path.path.get_ident().cloned()
        {
            self.changes.push(Change { is_whole: true, is_method: true, ..Change::within(base) });
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        // `write!` changes what it writes to.
        let writes = ["write", "writeln"];
        if call.path.segments.last().is_some_and(|last| writes.iter().any(|name| last.ident == name))
            && let Some(proc_macro2::TokenTree::Ident(base)) = call.tokens.clone().into_iter().next()
        {
            let (is_whole, is_method, is_known) = (true, true, true);
            self.changes.push(Change { is_whole, is_method, is_known, ..Change::within(base) });
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if !READS.iter().any(|name| call.method == name) {
            self.place(&call.receiver, Some(&call.method));
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// Whether an operator changes its left side.
pub fn changes_left(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}
