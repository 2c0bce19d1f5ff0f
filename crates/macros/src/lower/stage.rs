//! Writes one stage as a call of the builder.
//!
//! It takes a segment and adds one method call to the chain: `map` or one of its relatives for a replicated
//! stage, `serial_map`, `for_each` or one of their relatives otherwise. The closure takes the variables that come
//! in as one tuple and gives the variables that go on as one tuple. A replicated stage has a closure that is
//! `Fn`, so the compiler rejects one that changes what its replicas share.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Stmt;

use super::Loop;
use super::tokens::{stage_span, tuple};
use crate::body::Segment;
use crate::gives::{Gives, Role, ours, support};
use crate::moves::HandOver;
use crate::names::Binding;
use crate::options::State;

impl Loop<'_> {
    /// Adds the stage `at` to the chain.
    pub(super) fn stage(
        &mut self,
        chain: &mut TokenStream,
        segments: &mut [Segment],
        at: usize,
        gives: Gives,
        hand_over: &HandOver,
        exit: &TokenStream,
    ) {
        let is_last = gives.role == Role::Last;
        let Gives { fails, is_guarded, .. } = gives;
        let skips = gives.skips && !is_last;
        let mut stmts = std::mem::take(&mut segments[at].stmts);
        self.rewrite(&mut stmts, None, gives, hand_over);
        let HandOver { take, put, .. } = hand_over;
        if let Some(Stmt::Expr(_, semicolon @ None)) = stmts.last_mut() {
            *semicolon = Some(Default::default());
        }
        let next = segments.get(at + 1);
        let item = next.map_or_else(|| quote!(()), |next| tuple(&next.takes, stage_span(next, self.span)));
        let segment = &segments[at];
        let span = stage_span(segment, self.span);
        let result = gives.result(exit, span);
        let takes = self.takes(segment, span);
        self.unwraps = is_guarded && !skips;
        let item = if is_last && !fails { TokenStream::new() } else { gives.item(item, span) };
        let body = quote!({ #take #(#stmts)* #put #item });
        let method = |name: &str| Ident::new(name, span);
        let options = segment.options.as_ref();
        if options.is_some_and(|options| options.is_unordered) {
            chain.extend(quote_spanned!(span=> .unordered()));
        }
        let replicate = options.and_then(|options| options.replicate.as_ref());
        let Some(replicate) = replicate else {
            // The end of a stream has no thread of its own and no result type. A stage that needs one of these comes before the
            // end.
            let is_plain = options.is_none_or(|options| !options.is_dedicated);
            let is_end = is_last && is_plain && !is_guarded;
            let name = match (is_end, fails, skips && !is_guarded) {
                (true, false, _) => "for_each",
                (true, true, _) => "try_for_each",
                (false, false, false) => "serial_map",
                (false, false, true) => "serial_filter_map",
                (false, true, false) => "try_serial_map",
                (false, true, true) => "try_serial_filter_map",
            };
            let name = method(name);
            if is_end {
                self.report(chain);
            }
            self.options_of(chain, segment);
            chain.extend(quote_spanned!(span=> .#name(|#takes| #result #body)));
            if is_guarded && skips {
                self.kept(chain, span, true);
            }
            if is_last && !is_end {
                self.finish(chain, span);
            }
            return;
        };
        let state = match options.and_then(|options| options.state.as_ref()) {
            Some(State::Named(states)) => {
                let names = states.iter().map(|(name, _)| name);
                let makes = states.iter().map(|(_, make)| make);
                Some(match states.len() {
                    1 => (quote!(|| #(#makes)*), quote!(#(#names)*)),
                    _ => (quote!(|| (#(#makes),*)), quote!((#(#names),*))),
                })
            }
            _ => None,
        };
        let count = replicate.count.as_ref();
        let has_state = state.is_some();
        if self.options.is_dealt {
            let name = method(if fails { "try_map_sharded" } else { "map_sharded" });
            let (make, state) = state.unwrap_or_else(|| (quote!(|| ()), quote!(_)));
            let count = count.map_or_else(|| quote!(::anabranch::default_workers()), |count| quote!(#count));
            let deal = quote_spanned!(span=> ::anabranch::Shards::dealt(#count));
            self.options_of(chain, segment);
            chain.extend(quote_spanned!(span=> .#name(#deal, #make, |#state, #takes| #result #body)));
        } else {
            let (make, state) = match state {
                Some((make, state)) => (Some(quote!(#make,)), Some(quote!(#state,))),
                None => (None, None),
            };
            let name = match (has_state, fails, skips) {
                (true, false, _) => "map_init",
                (true, true, _) => "try_map_init",
                (false, false, true) => "filter_map",
                (false, false, false) => "map",
                (false, true, _) => "try_map",
            };
            let name = method(name);
            self.options_of(chain, segment);
            if let Some(count) = count {
                let replicas = Ident::new("replicas", replicate.span.resolved_at(Span::mixed_site()));
                chain.extend(quote!(.#replicas(#count)));
            }
            chain.extend(quote_spanned!(span=> .#name(#make |#state #takes| #result #body)));
        }
        if skips && (fails || has_state || self.options.is_dealt) {
            self.kept(chain, span, is_guarded);
        }
        if is_last {
            self.finish(chain, span);
        }
    }

    /// The pattern for what a stage takes.
    fn takes(&self, segment: &Segment, span: Span) -> TokenStream {
        let takes = pattern(&segment.takes);
        if self.unwraps { unguarded(takes, span) } else { takes }
    }

    /// Removes the items that a stage has dropped.
    fn kept(&self, chain: &mut TokenStream, span: Span, is_guarded: bool) {
        let item = ours("item", span);
        let takes = if is_guarded { unguarded(quote!(#item), span) } else { quote!(#item) };
        chain.extend(quote_spanned!(span=> .filter_map(|#takes| #item)));
    }

    /// Ends the chain after a last stage that is not the end itself.
    fn finish(&self, chain: &mut TokenStream, span: Span) {
        self.report(chain);
        let takes = if self.unwraps { unguarded(quote!(()), span) } else { quote!(()) };
        chain.extend(quote_spanned!(span=> .for_each(|#takes| ())));
    }

    fn report(&self, chain: &mut TokenStream) {
        if self.options.report.is_some() {
            let span = self.span.resolved_at(Span::mixed_site());
            let slot = ours("slot", span);
            chain.extend(quote_spanned!(span=> .report_to(&#slot)));
        }
    }

    /// Adds the name of the next stage, and whether it has a thread of its own.
    fn options_of(&self, chain: &mut TokenStream, segment: &Segment) {
        let Some(options) = &segment.options else { return };
        let span = options.span.resolved_at(Span::mixed_site());
        if let Some(name) = &options.name {
            chain.extend(quote_spanned!(span=> .named(#name)));
        }
        if options.is_dedicated {
            chain.extend(quote_spanned!(span=> .dedicated()));
        }
    }
}

/// The pattern for the result of a segment that calls unknown macros.
fn unguarded(pattern: TokenStream, span: Span) -> TokenStream {
    let support = support(span);
    quote_spanned!(span=> #support::NoReturnFromMacros(#pattern))
}

/// A pattern that binds these names.
fn pattern(names: &[Binding]) -> TokenStream {
    let parts: Vec<TokenStream> = names
        .iter()
        .map(|Binding { ident, is_mut }| if *is_mut { quote!(mut #ident) } else { quote!(#ident) })
        .collect();
    match &parts[..] {
        [] => quote!(()),
        [only] => quote!(#only),
        several => quote!((#(#several),*)),
    }
}
