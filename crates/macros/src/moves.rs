//! Lets serial segments move variables of the function: `acc = add(acc, item)`, `return acc`, `found = item;
//! break`.
//!
//! A closure that is called for each item cannot move out of a variable that it borrows. This pass takes a
//! serial segment and gives the statements that hand its variables over: the value is kept in an `Option`
//! next to the closure, taken out at the start of each call and put back at its end. A variable is handed
//! over only if no other segment uses it, so nothing can see it while it is away.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Macro, Pat, Stmt};

use crate::after::After;
use crate::changes::{assigned_places, changes_left};
use crate::function::Function;
use crate::gives::ours;
use crate::macros::{arguments, is_known};
use crate::names::{FreeNames, bindings};

/// A variable that is handed over.
pub struct Moved {
    pub name: Ident,
    pub is_mut: bool,
    /// Whether the variable has a value before the loop.
    is_full: bool,
    /// Whether the variable is used after the loop.
    pub is_used_after: bool,
}

/// The statements that hand variables over, by where they are written.
#[derive(Default, Clone)]
pub struct HandOver {
    /// Before the stream.
    pub before: TokenStream,
    /// At the start of each call.
    pub take: TokenStream,
    /// At the end of a call after which the loop goes on.
    pub put: TokenStream,
    /// At the end of a call that ends the loop.
    pub leave: TokenStream,
    /// After the loop.
    pub after: TokenStream,
}

impl HandOver {
    /// The statements for the variables of one segment. `number` is that of the loop within the function.
    pub fn new(moved: &[Moved], number: usize) -> Self {
        let mut all = Self::default();
        for Moved { name, is_mut, is_full, is_used_after } in moved {
            let slot = ours(&format!("kept{number}_{}", name.unraw()), name.span());
            let word = is_mut.then(|| quote!(mut));
            let none = quote!(::core::option::Option::None);
            let put = quote!(#slot = ::core::option::Option::Some(#name););
            let value = if *is_full { quote!(::core::option::Option::Some(#name)) } else { none };
            let taken = quote!(::core::option::Option::expect(#slot.take(), "the loop was cancelled, so this variable has no value"));
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

/// The variables that the statements of a serial segment move.
///
/// `own` says whether a name is bound in the loop, or used by another segment as well. Such variables are not
/// handed over.
pub fn moved(stmts: &[Stmt], own: impl Fn(&str) -> bool, function: &Function, after: &After) -> Vec<Moved> {
    let mut find = FindMoves {
        free: FreeNames::of(stmts.iter()),
        in_exit: false,
        assigned: Vec::new(),
        moved: BTreeSet::new(),
        lost: Vec::new(),
        bound: BTreeSet::new(),
        in_closure: false,
    };
    find.stmts(stmts);
    let FindMoves { assigned, moved, lost, bound, .. } = find;
    let variables = &function.variables;
    let is_moved =
        |name: &&Ident| moved.contains(&name.to_string()) || variables.unset.contains(&name.to_string());
    let mut found: Vec<Moved> = Vec::new();
    for name in assigned.iter().filter(is_moved).chain(&lost) {
        let text = name.to_string();
        if text == "self" || own(&text) || !variables.mutable.contains_key(&text) {
            continue;
        }
        // At the end of the segment the name could mean another variable.
        if bound.contains(&text) {
            continue;
        }
        let is_mut = variables.assignable.contains(&text);
        let is_full = is_mut || !variables.unset.contains(&text) || !assigned.contains(name);
        let is_used_after = after.uses(&text);
        let can_come_back = is_mut || !is_full || !is_used_after;
        let is_number = variables.numbers.contains(&text);
        if can_come_back && !is_number && found.iter().all(|other| other.name != text) {
            found.push(Moved { name: name.clone(), is_mut, is_full, is_used_after });
        }
    }
    found
}

struct FindMoves {
    free: FreeNames,
    /// Whether the loop is left after the current code.
    in_exit: bool,
    assigned: Vec<Ident>,
    moved: BTreeSet<String>,
    /// The variables that are moved on the way out of the loop.
    lost: Vec<Ident>,
    /// The names that the statements bind, except in closures.
    bound: BTreeSet<String>,
    in_closure: bool,
}

impl FindMoves {
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

    /// Visits an expression whose value is used in place and not moved.
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

impl<'ast> Visit<'ast> for FindMoves {
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
        // All other macros borrow their arguments.
        let takes = call.path.segments.last().is_some_and(|last| last.ident == "vec" || last.ident == "dbg");
        let mut given = Vec::new();
        let _ = arguments(&call.tokens, |arg| {
            if let Expr::Path(path) = &*arg {
                given.extend(path.path.get_ident().cloned());
            }
        });
        if !call.path.segments.last().is_some_and(|last| is_known(&last.ident)) {
            // An unknown macro may bind a name that it is given.
            self.bound.extend(self.free.names_in(call).map(ToString::to_string));
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
            other => visit::visit_expr(self, other),
        }
    }
}

/// Whether an operator moves neither of its sides: comparisons and logic do not. Compound assignments are
/// taken to be on numbers, which are copied.
fn borrows(op: &BinOp) -> bool {
    let is_comparison =
        matches!(op, BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_));
    let is_logic = matches!(op, BinOp::And(_) | BinOp::Or(_));
    is_comparison || is_logic || changes_left(op)
}
