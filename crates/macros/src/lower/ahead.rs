//! Writes the code by which the compiler rejects a loop whose early end could show how far a part has run.
//!
//! It takes what is used after the loop, and the number of the last segment that may leave the loop early.
//! It gives branches that are never taken, for the point at which the closures of the segments before that one
//! exist and the closures of all others do not. Each branch borrows by `&` one place that is used after the
//! loop, and then uses the closures. It compiles exactly if no closure that may run ahead holds a `&mut` to
//! the place. A branch makes no call and ends in a place that is never reached. So no other use follows it,
//! not even a drop, and what later segments and the function itself have borrowed does not matter.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Error, Result, Stmt};

use super::{Head, Loop};
use crate::after::{After, Place, undeclared};
use crate::body::Segment;
use crate::check::{may_be_ahead, may_run_ahead};
use crate::exits::Exits;
use crate::function::kept_name;
use crate::gives::{ours, support};
use crate::names::Free;

/// The places that must stay unchanged by the segments before the last one that may leave the loop early.
pub(super) struct Unchanged {
    /// The last segment that may leave the loop early.
    pub before: usize,
    /// The places that must not change, each with the span for messages.
    places: Vec<(TokenStream, Span)>,
    /// The `break` or `continue` that leaves the loop.
    leaves: Span,
}

impl Unchanged {
    /// Takes the beginning of the stream out of `chain`, and gives the statements that check it.
    pub fn code(&self, chain: &mut TokenStream, span: Span) -> TokenStream {
        let span = span.resolved_at(Span::mixed_site());
        let (support, never) = (support(span), ours("never", span));
        let ahead = ours("ahead", self.leaves);
        let begun = std::mem::replace(chain, ahead.to_token_stream());
        let used = quote_spanned!(self.leaves=> let _ = &#ahead;);
        // Each place has a branch of its own, since a use of one may be a use of a borrow of another.
        let checks = self.places.iter().map(|(place, span)| {
            // As if the user had written it, so that a message shows no expansion.
            let read = quote_spanned!(*span=> let _ = &#place;);
            quote! {
                if let ::core::option::Option::Some(#never) = #support::never() {
                    #read
                    #used
                    match *#never {}
                }
            }
        });
        quote! {
            #[allow(unused_mut, unused_parens, unused_braces, unreachable_code, clippy::all)]
            let #ahead = #begun;
            #[allow(unused, clippy::all)]
            {
                #(#checks)*
            }
        }
    }
}

impl Loop<'_> {
    /// Returns the variables through which the segments can reach `name`, if one of these is a plain `&mut` to it.
    /// `counts_itself` says whether `name` is such a `&mut` too.
    ///
    /// The existing `&mut` keeps `name` from being borrowed, even if the segments only read through it. So the check
    /// borrows these variables instead. If none of them is changed, neither is `name`.
    fn ways(
        &self,
        used: &BTreeMap<String, Ident>,
        name: &str,
        counts_itself: bool,
        after: &After,
    ) -> Option<Vec<Ident>> {
        let variables = &self.function.variables;
        let own = self.function.in_macros.keys();
        let leads = |other: &&String| *other != name && variables.may_lead_to(other, name);
        let mut found: BTreeSet<&str> = used.keys().chain(own).filter(leads).map(String::as_str).collect();
        let has_way = found.iter().any(|other| variables.is_way_to(other, name));
        let is_used = used.contains_key(name);
        if is_used && !counts_itself || !is_used && !has_way {
            return None;
        }
        found.extend(is_used.then_some(name));
        let can_be_named = |other: &str| after.scope.contains(other) && used.contains_key(other);
        if !found.iter().all(|other| can_be_named(other)) {
            return None;
        }
        Some(found.into_iter().map(|other| used[other].clone()).collect())
    }

    /// The places that the segments which may run ahead must not change. `moved` are the variables that segments hand
    /// over.
    pub(super) fn unchanged(
        &mut self,
        segments: &[Segment],
        before: &[BTreeSet<String>],
        exits: &[Exits],
        after: After,
        moved: &BTreeSet<String>,
    ) -> Result<Option<Unchanged>> {
        let Some((last, leaves)) =
            exits.iter().enumerate().rev().find_map(|(at, exits)| Some((at, exits.leaves?)))
        else {
            return Ok(None);
        };
        let head = match &self.head {
            Head::Loop => None,
            Head::While(head) | Head::For(_, head) => Some(Stmt::Expr((**head).clone(), None)),
        };
        let stmts = |at: usize| head.iter().filter(move |_| at == 0).chain(&segments[at].stmts);
        let serial = (0..last).filter(|&at| !segments[at].is_replicated());
        let (free, bound): (Vec<usize>, Vec<usize>) =
            serial.partition(|&at| may_run_ahead(&segments[at], at, &self.options));
        debug_assert!(bound.iter().all(|&at| may_be_ahead(exits, at)));
        if bound.is_empty() {
            return Ok(None);
        }
        let names = |segments: &[usize]| -> BTreeMap<String, Ident> {
            segments.iter().flat_map(|&at| outer(stmts(at), &before[at])).collect()
        };
        let (by_bound, by_free) = (names(&bound), names(&free));
        // Replicated segments change nothing, but they read.
        let ahead: Vec<usize> = (0..last).filter(|at| !free.contains(at)).collect();
        let by_ahead = names(&ahead);
        let variables = &self.function.variables;
        let leads = |from: &BTreeMap<String, Ident>, name: &str| {
            from.keys().any(|other| other == name || variables.may_lead_to(other, name))
        };
        // If a variable at the loop shadows one that must be checked, the check cannot name the shadowed one.
        let hidden = after.hidden.iter().find(|hidden| {
            let name = hidden.to_string();
            variables.mutable.get(&name) == Some(&true)
                && by_bound.keys().any(|other| variables.may_lead_to(other, &name))
                && !leads(&by_free, &name)
        });
        if let Some(hidden) = hidden {
            let text = format!(
                "`{hidden}` is used after the loop, and there is another `{hidden}` at the loop, so it is not clear \
                 whether a stage that may run ahead changes the first one\n\
                 help: give one of the two another name"
            );
            return Err(Error::new(hidden.span(), text));
        }
        let assigns = |name: &str| segments.iter().any(|segment| assigns(&segment.stmts, name));
        let is_checked = |place: &&Place| {
            let name = place.base.to_string();
            let has_value = !variables.unset.contains(&name)
                || variables.assignable.contains(&name) && (by_bound.contains_key(&name) || !assigns(&name));
            has_value && !moved.contains(&name) && !leads(&by_free, &name)
        };
        let macros: BTreeSet<String> =
            ahead.iter().flat_map(|&at| &undeclared(stmts(at)) - &before[at]).collect();
        let is_variable = |place: &&Place| {
            let name = place.base.to_string();
            after.scope.contains(&name) || !variables.mutable.contains_key(&name) && macros.contains(&name)
        };
        // Nothing is known of a variable that a macro declares.
        let is_known = macros.iter().all(|name| variables.mutable.contains_key(name));
        let ways = |name: &str, counts_itself: bool| {
            self.ways(&by_ahead, name, counts_itself, &after).filter(|_| is_known)
        };
        let mut places: Vec<(TokenStream, Span)> = Vec::new();
        for place in after.visible.values().filter(is_variable).filter(is_checked) {
            match ways(&place.base.to_string(), false) {
                Some(ways) => places.extend(ways.into_iter().map(|way| moved_to(way, place.base.span()))),
                None => places.push((place.to_token_stream(), place.base.span())),
            }
        }
        let mut kept = BTreeSet::new();
        for name in variables.pointers.iter().filter(|name| !leads(&by_free, name)) {
            let place = self.function.parameters.get(name).expect("a parameter");
            let is_itself = !after.inner.contains(name);
            if let Some(ways) = ways(name, is_itself && !self.head.moves(name)) {
                places.extend(ways.into_iter().map(|way| moved_to(way, place.span())));
            } else if variables.kept.contains(name) && after.known.is_none() {
                let name_kept = kept_name(place);
                places.push((quote_spanned!(place.span()=> *#name_kept), place.span()));
                kept.insert(name.clone());
            } else if is_itself && after.may_mention(name) && !moved.contains(name) {
                places.push((place.to_token_stream(), place.span()));
            }
        }
        self.function.kept.extend(kept);
        Ok(Some(Unchanged { before: last, places, leaves }))
    }
}

/// A variable in messages about another place.
fn moved_to(mut name: Ident, span: Span) -> (TokenStream, Span) {
    name.set_span(span.resolved_at(name.span()));
    (name.to_token_stream(), span)
}

/// The variables of the function that statements use, where `bound` are those of the loop.
fn outer<'s>(stmts: impl Iterator<Item = &'s Stmt>, bound: &BTreeSet<String>) -> BTreeMap<String, Ident> {
    let mut names = BTreeMap::new();
    let mut free = Free::new(|ident: &Ident, _| {
        if !bound.contains(&ident.to_string()) {
            names.entry(ident.to_string()).or_insert_with(|| ident.clone());
        }
    });
    stmts.for_each(|stmt| free.stmt(stmt));
    names
}

/// Whether statements assign a variable as a whole.
fn assigns(stmts: &[Stmt], name: &str) -> bool {
    let changes = crate::changes::changes(stmts.iter());
    changes.iter().any(|change| change.is_whole && change.base == name)
}
