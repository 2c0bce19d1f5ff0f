//! Gives each worker a state of its own in place of a variable: the option `state`.
//!
//! It takes the segments and writes a closure that creates each state, and `(*name)` for each use of the
//! variable, since a stage has its state by reference. The closure also mentions the variable, in code that
//! never runs, so the compiler checks that state and variable have one type.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, Expr, FieldValue, Macro, Result, Stmt, parse_quote};

use super::Loop;
use crate::body::Segment;
use crate::changes::candidates;
use crate::gives::ours;
use crate::macros::arguments;
use crate::names::Free;
use crate::options::State;

impl Loop<'_> {
    /// Finds the variable of each `state = || ..`, writes the closures that create the states, and makes the
    /// stage use them.
    pub(super) fn find_states(
        &mut self,
        segments: &mut [Segment],
        before: &[BTreeSet<String>],
    ) -> Result<()> {
        for (at, (segment, before)) in segments.iter_mut().zip(before).enumerate() {
            let Some(options) = &mut segment.options else { continue };
            if let Some(State::Unnamed(span, make)) = &options.state {
                let (changed, touched) = candidates(segment.stmts.iter());
                let is_candidate = |name: &String| {
                    !before.contains(name) && self.function.variables.mutable.get(name) == Some(&true)
                };
                let of = |found: Vec<Ident>| {
                    let mut names: Vec<Ident> = Vec::new();
                    for name in found {
                        if is_candidate(&name.to_string()) && !names.contains(&name) {
                            names.push(name);
                        }
                    }
                    names
                };
                // If the stage changes another one of them too, its closure does not compile.
                let names =
                    Some(of(changed)).filter(|names| !names.is_empty()).unwrap_or_else(|| of(touched));
                let [name] = &names[..] else {
                    let text = "`state = ..` stands for the one variable that this stage changes, but the stage does not \
                                change exactly one: write `state(name = ..)`";
                    return Err(Error::new(*span, text));
                };
                options.state = Some(State::Named(vec![(name.clone(), parse_quote!((#make)()))]));
            }
            if let Some(State::Named(states)) = &mut options.state {
                for (name, make) in states.iter_mut() {
                    let maker = ours(&format!("make{at}_{}", name.unraw()), name.span());
                    // The state has the type of the variable that it replaces.
                    let is_mut = self.function.variables.mutable.get(&name.to_string()) == Some(&true);
                    let tie = match is_mut {
                        // A replicated stage around this loop may change nothing.
                        true if self.function.around > 0 => quote!(let _ = || [&#name, &#maker()].len();),
                        true => quote!(let _ = || #name = #maker();),
                        false => quote!(let _ = &#name;),
                    };
                    if self.function.around > 0 {
                        self.function.mut_by_user.insert(name.to_string());
                    }
                    self.makes
                        .extend(quote!(#[allow(clippy::redundant_closure)] let #maker = || #make; #tie));
                    *make = parse_quote!(#maker());
                }
                let names = states.iter().map(|(name, _)| name.to_string()).collect();
                point_to(&names, &mut segment.stmts);
            }
        }
        Ok(())
    }
}

/// Writes `(*name)` for each use of a state. A stage has its states by reference.
fn point_to(names: &BTreeSet<String>, stmts: &mut [Stmt]) {
    // Each occurrence is looked up by its position, because the same name may mean another variable elsewhere.
    let (mut paths, mut calls) = (BTreeSet::new(), BTreeMap::<_, BTreeSet<String>>::new());
    let mut free = Free::new(|ident: &Ident, call| {
        let name = ident.to_string();
        match call.filter(|_| names.contains(&name)) {
            Some(call) => drop(calls.entry(call).or_default().insert(name)),
            None if names.contains(&name) => drop(paths.insert(std::ptr::from_ref(ident))),
            None => {}
        }
    });
    stmts.iter().for_each(|stmt| free.stmt(stmt));
    let mut point = Point { paths, calls };
    stmts.iter_mut().for_each(|stmt| point.visit_stmt_mut(stmt));
}

struct Point {
    paths: BTreeSet<*const Ident>,
    /// The macro calls that have names of states among their tokens, and these names.
    calls: BTreeMap<*const Macro, BTreeSet<String>>,
}

impl VisitMut for Point {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(path) = expr
            && path.path.get_ident().is_some_and(|ident| self.paths.contains(&std::ptr::from_ref(ident)))
        {
            let name = path.clone();
            *expr = parse_quote!((*#name));
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_field_value_mut(&mut self, field: &mut FieldValue) {
        self.visit_expr_mut(&mut field.expr);
        // The short form `Point { x }` needs its colon now.
        if !matches!(field.expr, Expr::Path(_)) {
            field.colon_token.get_or_insert_default();
        }
    }

    fn visit_macro_mut(&mut self, call: &mut Macro) {
        let Some(names) = self.calls.get(&std::ptr::from_ref(call)) else { return };
        let within = |expr: &mut Expr| {
            let mut stmt = [Stmt::Expr(expr.clone(), None)];
            point_to(names, &mut stmt);
            if let [Stmt::Expr(pointed, _)] = stmt {
                *expr = pointed;
            }
        };
        call.tokens =
            arguments(&call.tokens, within).unwrap_or_else(|| tokens_to(names, call.tokens.clone()));
    }
}

/// As `point_to`, for tokens that are not expressions.
fn tokens_to(names: &BTreeSet<String>, tokens: TokenStream) -> TokenStream {
    let mut after_dot = false;
    let pointed = tokens.into_iter().map(|token| {
        let is_after_dot =
            std::mem::replace(&mut after_dot, matches!(&token, TokenTree::Punct(p) if p.as_char() == '.'));
        match token {
            TokenTree::Ident(name) if !is_after_dot && names.contains(&name.to_string()) => quote!((*#name)),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), tokens_to(names, group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner).into()
            }
            other => other.into(),
        }
    });
    pointed.collect()
}
