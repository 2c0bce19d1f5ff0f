//! Finds the variables that a piece of code changes.
//!
//! It takes statements and gives a list of changes, each with the variable and with how certain the change
//! is. Assignments and `&mut` borrows are certain. Method calls are judged by the name of the method and by
//! whether the variable is declared `mut`, since no types are known. The list errs on the side of too many
//! changes: a change that is missed would let a loop run that behaves differently in parallel.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, Macro, Pat, Stmt, parse_quote};

use crate::macros::{arguments, only_reads};
use crate::names::{Free, FreeNames};

/// A change of a variable.
pub struct Change {
    /// The variable that is changed.
    pub base: Ident,
    /// Whether the variable itself is changed, and not a field, an element or what it points to.
    pub is_whole: bool,
    /// Whether the change is an assignment. An assignment changes nothing that the variable points to.
    pub is_assigned: bool,
    /// Whether the change is a method call that may take `&mut self`, or a call of a closure. It is a change
    /// only if the variable is declared so that it can be changed.
    pub is_method: bool,
    /// Whether the method has the name of a method of the standard library that changes its receiver.
    pub is_known: bool,
    /// The method or macro of which it is unknown whether it changes the variable.
    pub unknown: Option<Unknown>,
    /// The condition under which this is a change at all.
    pub only_if: OnlyIf,
}

/// The condition under which a piece of code is a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OnlyIf {
    Always,
    /// The variable points to something that can be changed. It is passed to a function.
    Points,
    /// The method is not the one of the standard library that has this name and changes nothing.
    NameDeceives,
}

/// A method or macro of which it is unknown whether it changes the variable.
#[derive(Clone)]
pub enum Unknown {
    Method(Ident),
    Macro(Ident),
}

impl Change {
    /// Whether this is a change without any condition.
    pub fn is_likely(&self) -> bool {
        self.only_if == OnlyIf::Always
    }

    /// A change of what the variable `base` points to.
    pub fn within(base: Ident) -> Self {
        let (is_whole, is_assigned, is_method, is_known) = (false, false, false, false);
        Self { base, is_whole, is_assigned, is_method, is_known, unknown: None, only_if: OnlyIf::Always }
    }
}

/// Methods of the standard library that change their receiver, if it is declared `mut`.
const WRITES: [&str; 34] = [
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
    "dedup",
    "fill",
    "pop_back",
    "pop_front",
    "reverse",
    "sort_by",
    "sort_by_key",
    "swap",
];

/// Whether a method has the name of one of the standard library that changes its receiver.
pub fn writes(method: &Ident) -> bool {
    let name = method.to_string();
    WRITES.contains(&&*name) || name.ends_with("_mut")
}

/// The changes that these statements make to variables from outside of them.
pub fn changes<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> Vec<Change> {
    let stmts: Vec<&Stmt> = stmts.collect();
    let mut find = FindChanges { changes: Vec::new(), free: Some(FreeNames::of(stmts.iter().copied())) };
    stmts.iter().for_each(|stmt| find.visit_stmt(stmt));
    find.changes
}

/// The variables of a function for which the code gives a reason to be `mut`.
pub fn changed_anywhere(body: &Block) -> BTreeSet<String> {
    let mut find = FindChanges { changes: Vec::new(), free: None };
    find.visit_block(body);
    let likely = find.changes.into_iter().filter(Change::is_likely);
    likely.map(|change| change.base.to_string()).collect()
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

/// Methods of the standard library that change nothing.
const READS: [&str; 68] = [
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
    "abs",
    "abs_diff",
    "binary_search",
    "char_indices",
    "difference",
    "div_ceil",
    "intersection",
    "max",
    "min",
    "partition_point",
    "pow",
    "powi",
    "range",
    "rchunks",
    "rem_euclid",
    "rsplit",
    "sin",
    "split_at",
    "split_once",
    "split_terminator",
    "sqrt",
    "strip_prefix",
    "strip_suffix",
    "symmetric_difference",
    "union",
];

/// Prefixes of further method names of the standard library that change nothing.
const READING: [&str; 7] = ["is_", "to_", "checked_", "count_", "overflowing_", "saturating_", "wrapping_"];

/// Whether a method has the name of one of the standard library that changes nothing.
pub fn reads(method: &Ident) -> bool {
    let name = method.to_string();
    READS.contains(&&*name) || READING.iter().any(|begin| name.starts_with(begin))
}

struct FindChanges {
    changes: Vec<Change>,
    /// The names that count. `None` if all names count.
    free: Option<FreeNames>,
}

impl FindChanges {
    fn counts(&self, name: &Ident) -> bool {
        self.free.as_ref().is_none_or(|free| free.has(name))
    }

    fn assigned(&mut self, left: &Expr) {
        let from = self.changes.len();
        assigned_places(left).into_iter().for_each(|place| self.place(place, None));
        self.changes[from..].iter_mut().for_each(|change| change.is_assigned = change.is_whole);
    }

    /// Records variables that are passed to a function.
    fn given<'e>(&mut self, args: impl IntoIterator<Item = &'e Expr>) {
        for arg in args.into_iter().flat_map(assigned_places) {
            let from = self.changes.len();
            if matches!(arg, Expr::Path(_)) {
                self.place(arg, None);
            }
            for change in &mut self.changes[from..] {
                (change.is_whole, change.is_method, change.only_if) = (false, true, OnlyIf::Points);
            }
        }
    }

    /// Records the change in matching `pat` against `value`: the pattern may borrow parts of the value
    /// mutably.
    fn matched(&mut self, pat: &Pat, value: &Expr) {
        if borrows_mutably(pat) {
            self.place(value, None);
        }
    }

    fn place(&mut self, place: &Expr, method: Option<&Ident>) {
        let is_method = method.is_some();
        let is_known = method.is_some_and(writes);
        let unknown = method.filter(|_| !is_known).cloned().map(Unknown::Method);
        let mut is_whole = true;
        let mut place = place;
        loop {
            place = match place {
                Expr::Path(path) => {
                    let base = path.path.get_ident();
                    if let Some(base) = base.filter(|base| self.counts(base)) {
                        let (unknown, within) = (unknown.clone(), Change::within(base.clone()));
                        self.changes.push(Change { is_whole, is_method, is_known, unknown, ..within });
                    }
                    return;
                }
                Expr::Paren(inner) => &inner.expr,
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

impl<'ast> Visit<'ast> for FindChanges {
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
            && let Some(base) = path.path.get_ident()
            && self.counts(base)
        {
            let base = Change::within(base.clone());
            self.changes.push(Change { is_whole: true, is_method: true, ..base });
        } else if !matches!(&*call.func, Expr::Path(_)) {
            let from = self.changes.len();
            self.place(&call.func, None);
            self.changes[from..].iter_mut().for_each(|change| change.is_method = true);
        }
        if !makes_value(&call.func) {
            self.given(&call.args);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let counts = |name: &Ident| self.free.as_ref().is_none_or(|free| free.has_in(call, name));
        let found = in_macro(call).into_iter().filter(|change| counts(&change.base));
        self.changes.extend(found);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let from = self.changes.len();
        self.place(&call.receiver, Some(&call.method));
        if reads(&call.method) {
            self.changes[from..].iter_mut().for_each(|change| change.only_if = OnlyIf::NameDeceives);
        }
        self.given(&call.args);
        visit::visit_expr_method_call(self, call);
    }
}

/// Whether a call has the name of a tuple struct or variant, and so only creates a value.
fn makes_value(func: &Expr) -> bool {
    let Expr::Path(path) = func else { return false };
    let last = path.path.segments.last().map(|last| last.ident.to_string());
    last.is_some_and(|last| last.starts_with(char::is_uppercase))
}

/// The changes in the arguments of a macro.
fn in_macro(call: &Macro) -> Vec<Change> {
    let mut found = Vec::new();
    let name = call.path.segments.last().map(|last| &last.ident);
    let only_reads = name.is_some_and(only_reads);
    let is_write = name.is_some_and(|name| name == "write" || name == "writeln");
    let mut is_first = true;
    let are_exprs = arguments(&call.tokens, |arg| {
        if is_write && std::mem::take(&mut is_first) {
            *arg = parse_quote!((#arg).write_str());
        } else if !only_reads && assigned_places(arg).len() == 1 {
            let as_method: Expr = parse_quote!((#arg).unknown());
            let places = changes([&Stmt::Expr(as_method, None)].into_iter());
            let by_macro = |change| Change { unknown: name.cloned().map(Unknown::Macro), ..change };
            found.extend(places.into_iter().filter(|change| change.unknown.is_some()).map(by_macro));
        }
        found.extend(changes([&Stmt::Expr(arg.clone(), None)].into_iter()));
    });
    if are_exprs.is_none() && !only_reads {
        let mut names = Free::new(|ident: &Ident, _| found.push(by_macro(ident.clone(), name)));
        names.visit_macro(call);
    }
    found
}

/// A macro may change a variable like a method.
fn by_macro(base: Ident, call: Option<&Ident>) -> Change {
    let unknown = call.cloned().map(Unknown::Macro);
    Change { is_whole: true, is_method: true, unknown, ..Change::within(base) }
}

/// Whether a pattern contains `ref mut`.
pub fn borrows_mutably(pat: &Pat) -> bool {
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
