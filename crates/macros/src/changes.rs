//! Finds the changes of variables that are plain to see.
//!
//! It takes statements and gives the assignments, the `&mut` borrows and the `ref mut` patterns among them,
//! each with the place that it changes. These are changes whatever the types are, so the messages of the
//! macro may name them. The list may be incomplete. The compiler finds changes by methods, closures and macros, in the code
//! that `lower::ahead` writes.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Macro, Pat, Stmt};

use crate::macros::arguments;
use crate::names::FreeNames;

/// A change of a variable.
pub struct Change {
    /// The variable that is changed.
    pub base: Ident,
    /// The fields that lead from the variable to what is changed, or to the first index or dereference on the way.
    pub fields: Vec<String>,
    /// Whether the variable itself is changed, and not a field, an element or what it points to.
    pub is_whole: bool,
    /// How it is changed.
    pub how: How,
}

/// How a variable is changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// `x = ..`.
    Assigned,
    /// `x += ..`.
    Updated,
    /// `&mut x`, or a pattern with `ref mut`.
    Lent,
}

/// The changes that these statements make to variables from outside of them.
pub fn changes<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> Vec<Change> {
    let stmts: Vec<&Stmt> = stmts.collect();
    let mut find = FindChanges::of(&stmts);
    stmts.iter().for_each(|stmt| find.visit_stmt(stmt));
    find.changes
}

/// Returns two lists of variables from outside of these statements. The statements visibly change those of the first
/// list. They may change those of the second list: they call a method of the variable, call the variable, or pass it to
/// a macro.
pub fn candidates<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> (Vec<Ident>, Vec<Ident>) {
    let stmts: Vec<&Stmt> = stmts.collect();
    let mut find = FindChanges::of(&stmts);
    stmts.iter().for_each(|stmt| find.visit_stmt(stmt));
    (find.changes.into_iter().map(|change| change.base).collect(), find.touched)
}

/// The expressions that an assignment to `left` changes. There are several if `left` is a pattern.
pub fn assigned_places(left: &Expr) -> Vec<&Expr> {
    match left {
        Expr::Tuple(tuple) => tuple.elems.iter().flat_map(assigned_places).collect(),
        Expr::Array(array) => array.elems.iter().flat_map(assigned_places).collect(),
        Expr::Call(call) => call.args.iter().flat_map(assigned_places).collect(),
        Expr::Struct(fields) => fields.fields.iter().flat_map(|field| assigned_places(&field.expr)).collect(),
        Expr::Paren(inner) => assigned_places(&inner.expr),
        place => vec![place],
    }
}

struct FindChanges {
    changes: Vec<Change>,
    /// The variables that may be changed, as far as the syntax shows.
    touched: Vec<Ident>,
    free: FreeNames,
    /// While an argument of a macro is visited: the names in the macro call that come from outside of the statements.
    call: Option<BTreeSet<String>>,
}

impl FindChanges {
    fn of(stmts: &[&Stmt]) -> Self {
        let free = FreeNames::of(stmts.iter().copied());
        Self { changes: Vec::new(), touched: Vec::new(), free, call: None }
    }

    fn counts(&self, name: &Ident) -> bool {
        match &self.call {
            Some(names) => names.contains(&name.to_string()),
            None => self.free.has(name),
        }
    }

    fn assigned(&mut self, left: &Expr, how: How) {
        assigned_places(left).into_iter().for_each(|place| self.place(place, how));
    }

    /// Records the change in matching `pat` against `value`: the pattern may borrow parts of the value
    /// mutably.
    fn matched(&mut self, pat: &Pat, value: &Expr) {
        if borrows_mutably(pat) {
            self.place(value, How::Lent);
        }
    }

    fn place(&mut self, place: &Expr, how: How) {
        if let Some((base, fields, is_whole)) = base(place)
            && self.counts(base)
        {
            self.changes.push(Change { base: base.clone(), fields, is_whole, how });
        }
    }

    fn touch(&mut self, place: &Expr) {
        if let Some((base, ..)) = base(place)
            && self.counts(base)
        {
            self.touched.push(base.clone());
        }
    }
}

/// Returns the variable of a place expression, the fields before the first index or dereference, and whether the place is the
/// variable itself.
fn base(place: &Expr) -> Option<(&Ident, Vec<String>, bool)> {
    let (mut fields, mut is_whole) = (Vec::new(), true);
    let mut place = place;
    loop {
        place = match place {
            Expr::Path(path) => {
                fields.reverse();
                return path.path.get_ident().map(|base| (base, fields, is_whole));
            }
            Expr::Paren(inner) => &inner.expr,
            Expr::Group(inner) => &inner.expr,
            Expr::Field(field) => {
                is_whole = false;
                fields.push(field.member.to_token_stream().to_string());
                &field.base
            }
            Expr::Index(index) => {
                is_whole = false;
                fields.clear();
                &index.expr
            }
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                is_whole = false;
                fields.clear();
                &unary.expr
            }
            _ => return None,
        };
    }
}

impl<'ast> Visit<'ast> for FindChanges {
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let Some(init) = &local.init {
            self.matched(&local.pat, &init.expr);
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_let(&mut self, cond: &'ast syn::ExprLet) {
        self.matched(&cond.pat, &cond.expr);
        visit::visit_expr_let(self, cond);
    }

    fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
        expr.arms.iter().for_each(|arm| self.matched(&arm.pat, &expr.expr));
        visit::visit_expr_match(self, expr);
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.assigned(&assign.left, How::Assigned);
        visit::visit_expr_assign(self, assign);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if changes_left(&binary.op) {
            self.assigned(&binary.left, How::Updated);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
        if reference.mutability.is_some() {
            self.place(&reference.expr, How::Lent);
        }
        visit::visit_expr_reference(self, reference);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        self.touch(&call.func);
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.touch(&call.receiver);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.call = Some(self.free.names_in(call).map(ToString::to_string).collect());
        let mut args = Vec::new();
        if arguments(&call.tokens, |arg| args.push(arg.clone())).is_some() {
            for arg in &args {
                self.touch(arg);
                self.visit_within(arg);
            }
        }
        self.call = None;
    }
}

impl FindChanges {
    /// Visits an argument of a macro. Names that the argument itself binds do not count.
    fn visit_within(&mut self, arg: &Expr) {
        let stmt = Stmt::Expr(arg.clone(), None);
        let mut find = Self::of(&[&stmt]);
        find.visit_stmt(&stmt);
        let (changes, touched) = (find.changes, find.touched);
        self.changes
            .extend(changes.into_iter().filter(|change| self.counts(&change.base)).collect::<Vec<_>>());
        self.touched.extend(touched.into_iter().filter(|name| self.counts(name)).collect::<Vec<_>>());
    }
}

/// Whether a pattern contains `ref mut`.
fn borrows_mutably(pat: &Pat) -> bool {
    struct Look(bool);
    impl<'ast> Visit<'ast> for Look {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            self.0 |= pat.by_ref.is_some() && pat.mutability.is_some();
            visit::visit_pat_ident(self, pat);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut look = Look(false);
    look.visit_pat(pat);
    look.0
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
