//! States of workers, in the place of variables.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, Expr, Result, parse_quote};

use super::Loop;
use crate::body::Segment;
use crate::options::State;

impl Loop<'_> {
    /// Finds the variable of each `state = ||..`, and points to the states in the code.
    pub(super) fn find_states(
        &mut self,
        segments: &mut [Segment],
        before: &[BTreeSet<String>],
    ) -> Result<()> {
        for (segment, before) in segments.iter_mut().zip(before) {
            let Some(options) = &mut segment.options else { continue };
            if let Some(State::Unnamed(span, make)) = &options.state {
                let changes = crate::changes::changes(segment.stmts.iter());
                let is_candidate =
                    |name: &String| !before.contains(name) && self.function.mutable.get(name) == Some(&true);
                let mut names: Vec<Ident> = Vec::new();
                for change in changes {
                    if is_candidate(&change.base.to_string()) && !names.contains(&change.base) {
                        names.push(change.base);
                    }
                }
                let [name] = &names[..] else {
                    let text = "`state = ..` takes the place of the one variable that this stage changes, and there is \
                                not one: write `state(name = ..)`";
                    return Err(Error::new(*span, text));
                };
                options.state = Some(State::Named(vec![(name.clone(), parse_quote!((#make)()))]));
            }
            if let Some(State::Named(states)) = &options.state {
                let mut point = Point(states.iter().map(|(name, _)| name.to_string()).collect());
                segment.stmts.iter_mut().for_each(|stmt| point.visit_stmt_mut(stmt));
            }
        }
        Ok(())
    }

    /// Uses the variables in whose place workers have states of their own, as the loop would.
    pub(super) fn mentions(&self, segments: &[Segment]) -> TokenStream {
        let states = segments.iter().filter_map(|segment| match &segment.options.as_ref()?.state {
            Some(State::Named(states)) => Some(states),
            _ => None,
        });
        let mention = |(name, _): &(Ident, Expr)| match self.function.mutable.get(&name.to_string()) {
            Some(true) => quote!(let _ = &mut #name;),
            _ => quote!(let _ = &#name;),
        };
        states.flatten().map(mention).collect()
    }
}

/// Writes `(*name)` for the names of states, which a stage has by reference.
struct Point(BTreeSet<String>);

impl VisitMut for Point {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(path) = expr
            && path.path.get_ident().is_some_and(|ident| self.0.contains(&ident.to_string()))
        {
            let name = path.clone();
            *expr = parse_quote!((*#name));
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}
