//! Variables of the function that a serial part moves: `acc = add(acc, item)`, `return acc`, `found = item; break`.
//!
//! A closure that is called again cannot move out of what it borrows. So such a variable is handed over: it is kept beside the
//! closure, taken at the beginning of each call and put back at its end.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Macro, Pat, Stmt};

use crate::changes::{assigned_places, changes_left, reads, writes};
use crate::function::Function;
use crate::gives::ours;
use crate::macros::{arguments, only_reads};
use crate::names::{FreeNames, bindings};

/// A variable that is handed over.
pub struct Moved {
    pub name: Ident,
    is_mut: bool,
    /// Whether it has a value before the loop.
    is_full: bool,
    /// Whether it is used behind the loop.
    pub is_used_after: bool,
}

/// How variables are handed over: what is written where.
#[derive(Default, Clone)]
pub struct HandOver {
    /// Before the stream.
    pub before: TokenStream,
    /// At the beginning of a call.
    pub take: TokenStream,
    /// At its end, where the loop goes on.
    pub put: TokenStream,
    /// At its end, where the loop ends.
    pub leave: TokenStream,
    /// Behind the loop.
    pub after: TokenStream,
}

impl HandOver {
    /// For the variables of one part of the function's loop of this `number`.
    pub fn new(moved: &[Moved], number: usize) -> Self {
        let mut all = Self::default();
        for Moved { name, is_mut, is_full, is_used_after } in moved {
            let slot = ours(&format!("kept{number}_{}", name.unraw()), name.span());
            let word = is_mut.then(|| quote!(mut));
            let none = quote!(::core::option::Option::None);
            let put = quote!(#slot = ::core::option::Option::Some(#name););
            let value = if *is_full { quote!(::core::option::Option::Some(#name)) } else { none };
            let taken = quote!(::core::option::Option::expect(#slot.take(), "a loop that was cancelled has no value"));
            all.before.extend(quote!(#[allow(unused_assignments)] let mut #slot = #value;));
            if *is_full {
                all.take.extend(quote!(let #word #name = #taken;));
                all.put.extend(put.clone());
            } else {
                all.take.extend(quote!(let #word #name;));
            }
            if *is_used_after {
                all.leave.extend(put);
                all.after.extend(quote!(#name = #taken;));
            }
        }
        all
    }
}

/// The variables that the statements of a serial part move. `own` are the names that are not the function's, or that others
/// use too.
pub fn moved(stmts: &[Stmt], own: impl Fn(&str) -> bool, function: &Function) -> Vec<Moved> {
    let mut find = Find {
        free: FreeNames::of(stmts.iter()),
        in_exit: false,
        assigned: Vec::new(),
        moved: BTreeSet::new(),
        lost: Vec::new(),
        bound: BTreeSet::new(),
        in_closure: false,
    };
    find.stmts(stmts);
    let Find { assigned, moved, lost, bound, .. } = find;
    let variables = &function.variables;
    let is_moved =
        |name: &&Ident| moved.contains(&name.to_string()) || variables.unset.contains(&name.to_string());
    let mut found: Vec<Moved> = Vec::new();
    for name in assigned.iter().filter(is_moved).chain(&lost) {
        let text = name.to_string();
        if text == "self" || own(&text) || !variables.mutable.contains_key(&text) {
            continue;
        }
        // Where the part is left, the name might be that of another variable.
        if bound.contains(&text) {
            continue;
        }
        let is_mut = variables.assignable.contains(&text);
        let is_full = is_mut || !variables.unset.contains(&text) || !assigned.contains(name);
        let is_used_after = function.seen_after(&text, false).is_some();
        let can_come_back = is_mut || !is_full || !is_used_after;
        let is_number = variables.numbers.contains(&text);
        if can_come_back && !is_number && found.iter().all(|other| other.name != text) {
            found.push(Moved { name: name.clone(), is_mut, is_full, is_used_after });
        }
    }
    found
}

struct Find {
    free: FreeNames,
    /// Whether the loop is left behind what is looked at.
    in_exit: bool,
    assigned: Vec<Ident>,
    moved: BTreeSet<String>,
    /// Moved on the way out of the loop.
    lost: Vec<Ident>,
    /// What the statements bind, anywhere but in closures.
    bound: BTreeSet<String>,
    in_closure: bool,
}

impl Find {
    fn free<'e>(&self, expr: &'e Expr) -> Option<&'e Ident> {
        match expr {
            Expr::Path(path) => path.path.get_ident().filter(|ident| self.free.has(ident)),
            _ => None,
        }
    }

    fn moves(&mut self, name: Ident) {
        self.moved.insert(name.to_string());
        if self.in_exit {
            self.lost.push(name);
        }
    }

    /// What is used where it stands, and not moved.
    fn place(&mut self, expr: &Expr) {
        match expr {
            Expr::Path(_) => {}
            Expr::Paren(inner) => self.place(&inner.expr),
            other => self.visit_expr(other),
        }
    }

    fn assign(&mut self, expr: &Expr) {
        for place in assigned_places(expr) {
            match place {
                Expr::Path(_) => self.assigned.extend(self.free(place).cloned()),
                other => self.place(other),
            }
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        let is_exit = |stmt: &Stmt| matches!(stmt, Stmt::Expr(Expr::Break(_) | Expr::Return(_), _));
        self.exiting(stmts.iter().any(is_exit), |this| stmts.iter().for_each(|stmt| this.visit_stmt(stmt)));
    }

    fn exiting(&mut self, is_exit: bool, f: impl FnOnce(&mut Self)) {
        let before = self.in_exit;
        self.in_exit |= is_exit;
        f(self);
        self.in_exit = before;
    }
}

impl<'ast> Visit<'ast> for Find {
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_block(&mut self, block: &'ast Block) {
        self.stmts(&block.stmts);
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        if !self.in_closure {
            self.bound.extend(bindings(pat).iter().map(|binding| binding.ident.to_string()));
        }
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        // The others borrow their arguments.
        let takes = call.path.segments.last().is_some_and(|last| last.ident == "vec" || last.ident == "dbg");
        let mut given = Vec::new();
        let _ = arguments(&call.tokens, |arg| {
            if let Expr::Path(path) = &*arg {
                given.extend(path.path.get_ident().cloned());
            }
        });
        if !call.path.segments.last().is_some_and(|last| only_reads(&last.ident)) {
            // It may bind what it is given the name of.
            self.bound.extend(self.free.names_in(call).cloned());
        }
        given.retain(|name| takes && self.free.has_in(call, name));
        given.into_iter().for_each(|name| self.moves(name));
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Some(name) = self.free(expr).cloned() {
            return self.moves(name);
        }
        match expr {
            Expr::Return(_) | Expr::Break(_) => self.exiting(true, |this| visit::visit_expr(this, expr)),
            Expr::Closure(inner) => {
                let outer = std::mem::replace(&mut self.in_closure, true);
                visit::visit_expr_closure(self, inner);
                self.in_closure = outer;
            }
            Expr::Reference(inner) => self.place(&inner.expr),
            Expr::Field(inner) => self.place(&inner.base),
            Expr::Unary(inner) if matches!(inner.op, syn::UnOp::Deref(_)) => self.place(&inner.expr),
            Expr::Cast(inner) => self.place(&inner.expr),
            Expr::Call(call) => {
                self.place(&call.func);
                call.args.iter().for_each(|arg| self.visit_expr(arg));
            }
            Expr::Index(inner) => {
                self.place(&inner.expr);
                self.place(&inner.index);
            }
            Expr::Assign(inner) => {
                self.assign(&inner.left);
                self.visit_expr(&inner.right);
            }
            Expr::Binary(inner) if borrows(&inner.op) => {
                self.place(&inner.left);
                self.place(&inner.right);
            }
            Expr::If(inner) => {
                self.place(&inner.cond);
                self.visit_block(&inner.then_branch);
                inner.else_branch.iter().for_each(|(_, other)| self.visit_expr(other));
            }
            Expr::MethodCall(call) if reads(&call.method) || writes(&call.method) => {
                self.place(&call.receiver);
                call.args.iter().for_each(|arg| self.visit_expr(arg));
            }
            other => visit::visit_expr(self, other),
        }
    }
}

/// Whether an operator moves neither side: comparisons, and those of truth values. What changes its left side is for numbers, as
/// far as can be seen.
fn borrows(op: &BinOp) -> bool {
    let is_comparison =
        matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
    let is_logic = matches!(op, BinOp::And(_) | BinOp::Or(_));
    is_comparison || is_logic || changes_left(op)
}
