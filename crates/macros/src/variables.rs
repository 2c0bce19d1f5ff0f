//! Collects what the declarations of a function tell about its variables.
//!
//! It takes the function and gives sets of names: variables that can be changed, parameters that point to
//! values of the caller, and variables without a value. No set decides whether a loop may run: the compiler
//! rejects the code that is written if a set says too much or too little. Two variables of the same name are
//! treated as one.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, ItemFn, Lit, Pat, Type};

use crate::items::idents;
use crate::names::{Binding, all_bindings, bindings, local_bindings};

/// The known facts about the variables of a function, by name.
#[derive(Default)]
pub struct Variables {
    /// All variables, and whether they or what they point to can be changed.
    pub mutable: BTreeMap<String, bool>,
    /// The parameters that point to values of the caller, which sees changes to them.
    pub pointers: BTreeSet<String>,
    /// The names in `pointers` whose type is a plain `&mut`. `lower` keeps these by another name, since the function may
    /// move them, or have another variable of the name.
    pub kept: BTreeSet<String>,
    /// For each variable, the names in the expressions from which it gets values.
    mentions: BTreeMap<String, BTreeSet<String>>,
    /// The variables that are declared once, as another way to one variable: `let a = &mut b;`, `let Self { a,
    /// .. } = self;`.
    ways: BTreeMap<String, String>,
    /// The names that are declared more than once, or assigned.
    ambiguous: BTreeSet<String>,
    /// The variables that are declared `mut`.
    pub assignable: BTreeSet<String>,
    /// The variables that are declared without a value.
    pub unset: BTreeSet<String>,
    /// The variables that are certainly numbers, `bool`s or `char`s. These types are `Copy`.
    pub numbers: BTreeSet<String>,
    /// The variables that may have another type than those of `numbers`.
    others: BTreeSet<String>,
}

impl Variables {
    pub fn of(function: &ItemFn) -> Self {
        let mut all = Self::default();
        for input in &function.sig.inputs {
            match input {
                FnArg::Receiver(receiver) => {
                    let is_mut = receiver.mutability.is_some() || is_mut_type(&receiver.ty);
                    all.mutable.insert("self".to_owned(), is_mut);
                    if points(&receiver.ty) {
                        all.pointers.insert("self".to_owned());
                    }
                }
                FnArg::Typed(input) => {
                    let names = all_bindings(&input.pat);
                    if points(&input.ty) {
                        all.pointers.extend(names.iter().map(|name| name.ident.to_string()));
                    }
                    if is_mut_type(&input.ty) && is_plain(&input.pat) {
                        all.kept.extend(names.iter().map(|name| name.ident.to_string()));
                    }
                    all.declare(names, is_mut_type(&input.ty), is_number_type(&input.ty));
                }
            }
        }
        all.visit_block(&function.block);
        all.numbers = &all.numbers - &all.others;
        all
    }

    fn declare(&mut self, names: Vec<Binding>, points: bool, is_number: bool) {
        for Binding { ident, is_mut } in names {
            let name = ident.to_string();
            if self.mutable.contains_key(&name) {
                self.ambiguous.insert(name.clone());
            }
            *self.mutable.entry(name.clone()).or_default() |= is_mut || points;
            if is_mut {
                self.assignable.insert(name.clone());
            }
            if is_number { &mut self.numbers } else { &mut self.others }.insert(name);
        }
    }

    fn gets(&mut self, names: impl IntoIterator<Item = String>, value: &Expr) {
        let found = idents(value.to_token_stream());
        for name in names {
            self.mentions.entry(name).or_default().extend(found.iter().cloned());
        }
    }

    /// Notes that a reference reachable from one of these expressions may get into each of the others.
    fn meet<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        let names: Vec<BTreeSet<String>> =
            exprs.into_iter().map(|expr| idents(expr.to_token_stream())).collect();
        for (at, gets) in names.iter().enumerate() {
            let others = names.iter().enumerate().filter(|(other, _)| *other != at);
            let others: BTreeSet<String> = others.flat_map(|(_, names)| names).cloned().collect();
            for name in gets {
                self.mentions.entry(name.clone()).or_default().extend(others.iter().cloned());
            }
        }
    }

    /// Whether a value that leads to the variable `other` may have come into the variable `name`.
    pub fn may_lead_to(&self, name: &str, other: &str) -> bool {
        // A function keeps no references between calls, and a number holds none.
        let may_lead = |name: &str| self.mutable.contains_key(name) && !self.numbers.contains(name);
        if !may_lead(name) {
            return false;
        }
        let (mut seen, mut left) = (BTreeSet::new(), vec![name]);
        while let Some(next) = left.pop() {
            let Some(found) = self.mentions.get(next).filter(|_| seen.insert(next)) else { continue };
            if found.contains(other) {
                return true;
            }
            left.extend(found.iter().map(String::as_str).filter(|name| may_lead(name)));
        }
        false
    }

    /// Whether a variable is just another way to the variable `other`.
    pub fn is_way_to(&self, name: &str, other: &str) -> bool {
        let mut name = name;
        for _ in 0..self.ways.len() {
            match self.ways.get(name).filter(|_| !self.ambiguous.contains(name)) {
                Some(next) if next == other => return true,
                Some(next) => name = next,
                None => return false,
            }
        }
        false
    }
}

/// The variable of which an expression is a `&mut`, or a part.
fn way(value: &Expr) -> Option<&syn::Ident> {
    let mut place = value;
    if let Expr::Reference(reference) = value {
        reference.mutability?;
        place = &reference.expr;
    }
    loop {
        place = match place {
            Expr::Path(path) => return path.path.get_ident(),
            Expr::Field(field) => &field.base,
            Expr::Paren(inner) => &inner.expr,
            Expr::Index(index) => &index.expr,
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => &unary.expr,
            _ => return None,
        };
    }
}

impl<'ast> Visit<'ast> for Variables {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let names = local_bindings(local);
        let init = local.init.as_ref().map(|init| &*init.expr);
        match init {
            None => self.unset.extend(names.iter().map(|name| name.ident.to_string())),
            Some(init) => {
                self.gets(names.iter().map(|name| name.ident.to_string()), init);
                if let Some(base) = way(init) {
                    let ways = names.iter().map(|name| (name.ident.to_string(), base.to_string()));
                    self.ways.extend(ways);
                }
            }
        }
        let ty = match &local.pat {
            Pat::Type(pat) => Some(&*pat.ty),
            _ => None,
        };
        let is_borrow = matches!(init, Some(Expr::Reference(reference)) if reference.mutability.is_some());
        let is_number = ty.is_some_and(is_number_type) || init.is_some_and(is_number);
        self.declare(names, is_borrow || ty.is_some_and(is_mut_type), is_number);
        visit::visit_local(self, local);
    }

    fn visit_expr_for_loop(&mut self, expr: &'ast syn::ExprForLoop) {
        let names = all_bindings(&expr.pat);
        self.gets(names.iter().map(|name| name.ident.to_string()), &expr.expr);
        self.declare(names, false, false);
        visit::visit_expr_for_loop(self, expr);
    }

    fn visit_expr_let(&mut self, cond: &'ast syn::ExprLet) {
        let names = bindings(&cond.pat);
        self.ambiguous.extend(names.iter().map(|name| name.ident.to_string()));
        self.gets(bindings(&cond.pat).iter().map(|name| name.ident.to_string()), &cond.expr);
        visit::visit_expr_let(self, cond);
    }

    fn visit_expr_match(&mut self, expr: &'ast syn::ExprMatch) {
        for arm in &expr.arms {
            let names = bindings(&arm.pat);
            self.ambiguous.extend(names.iter().map(|name| name.ident.to_string()));
            self.gets(bindings(&arm.pat).iter().map(|name| name.ident.to_string()), &expr.expr);
        }
        visit::visit_expr_match(self, expr);
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        let names = idents(assign.left.to_token_stream());
        self.ambiguous.extend(names.iter().cloned());
        self.gets(names, &assign.right);
        visit::visit_expr_assign(self, assign);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        self.meet(std::iter::once(&*call.func).chain(&call.args));
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.meet(std::iter::once(&*call.receiver).chain(&call.args));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let names = idents(call.tokens.clone());
        for name in &names {
            self.mentions.entry(name.clone()).or_default().extend(names.iter().cloned());
        }
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        for pat in &closure.inputs {
            let ty = if let Pat::Type(pat) = pat { Some(&*pat.ty) } else { None };
            self.declare(all_bindings(pat), ty.is_some_and(is_mut_type), ty.is_some_and(is_number_type));
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The parameters of a closure through which it may change values of its caller: those that are a `&mut`, and
/// those whose type is not written.
pub fn closure_pointers(closure: &syn::ExprClosure) -> Vec<Binding> {
    let may_point = |pat: &&Pat| match pat {
        Pat::Type(pat) => points(&pat.ty),
        _ => true,
    };
    closure.inputs.iter().filter(may_point).flat_map(all_bindings).collect()
}

/// Whether a pattern is a name.
fn is_plain(pat: &Pat) -> bool {
    matches!(pat, Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none())
}

fn is_mut_type(ty: &Type) -> bool {
    matches!(ty, Type::Reference(reference) if reference.mutability.is_some())
}

/// Whether a type contains a `&mut`.
fn points(ty: &Type) -> bool {
    struct Look(bool);
    impl<'ast> Visit<'ast> for Look {
        fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
            self.0 |= reference.mutability.is_some();
            visit::visit_type_reference(self, reference);
        }
    }
    let mut look = Look(false);
    look.visit_type(ty);
    look.0
}

fn is_number_type(ty: &Type) -> bool {
    const NAMES: [&str; 16] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char",
    ];
    matches!(ty, Type::Path(path) if NAMES.iter().any(|name| path.path.is_ident(name)))
}

fn is_number(value: &Expr) -> bool {
    match value {
        Expr::Lit(value) => matches!(value.lit, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Char(_)),
        Expr::Unary(value) => is_number(&value.expr),
        _ => false,
    }
}
