//! Collects what the declarations of a function tell about its variables.
//!
//! It takes the function and gives sets of names: variables that can be changed, parameters that point to
//! values of the caller, variables through which others are changed, and numbers. Two variables of the same
//! name are treated as one, which can only make `check` reject more.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Expr, FnArg, ItemFn, Lit, Pat, Type};

use crate::after::has_loop;
use crate::changes::changed_anywhere;
use crate::lends::lenders;
use crate::names::{Binding, all_bindings, bindings, local_bindings};

/// What is known about the variables of a function, by name.
#[derive(Default)]
pub struct Variables {
    /// All variables, and whether they or what they point to can be changed.
    pub mutable: BTreeMap<String, bool>,
    /// The parameters that point to values of the caller, which sees changes to them.
    pub pointers: BTreeSet<String>,
    /// For each variable, the variables that it may change.
    pub lenders: BTreeMap<String, BTreeSet<String>>,
    /// The variables that are declared `mut`.
    pub assignable: BTreeSet<String>,
    /// The variables that something in the function changes, which explains their `mut`.
    pub changed: BTreeSet<String>,
    /// The variables that are declared without a value.
    pub unset: BTreeSet<String>,
    /// The variables that are certainly numbers, `bool`s or `char`s. These types are `Copy`.
    pub numbers: BTreeSet<String>,
    /// The variables of which this is not certain.
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
                    all.declare(names, is_mut_type(&input.ty), is_number_type(&input.ty));
                }
            }
        }
        all.visit_block(&function.block);
        all.numbers = &all.numbers - &all.others;
        all.changed = changed_anywhere(&function.block);
        all.lenders = lenders(function, &all.mutable, &all.pointers);
        all
    }

    fn declare(&mut self, names: Vec<Binding>, points: bool, is_number: bool) {
        for Binding { ident, is_mut } in names {
            let name = ident.to_string();
            *self.mutable.entry(name.clone()).or_default() |= is_mut || points;
            if is_mut {
                self.assignable.insert(name.clone());
            }
            if is_number { &mut self.numbers } else { &mut self.others }.insert(name);
        }
    }
}

impl<'ast> Visit<'ast> for Variables {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let names = local_bindings(local);
        let init = local.init.as_ref().map(|init| &*init.expr);
        if init.is_none() {
            self.unset.extend(names.iter().map(|name| name.ident.to_string()));
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
        self.declare(bindings(&expr.pat), false, false);
        visit::visit_expr_for_loop(self, expr);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        if has_loop(&closure.body) {
            // Parameters of a closure around the loop are like those of a function, but their types are not
            // written.
            for pat in &closure.inputs {
                let names = all_bindings(pat);
                self.pointers.extend(names.iter().map(|name| name.ident.to_string()));
                self.declare(names, false, false);
            }
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
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
