//! A stage, as a call of the builder.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Stmt;

use super::Loop;
use super::tokens::{ours, stage_span, tuple};
use crate::body::Segment;
use crate::exits::Exits;
use crate::names::Binding;
use crate::options::State;

impl Loop<'_> {
    /// Adds a stage to the chain.
    pub(super) fn stage(
        &mut self,
        chain: &mut TokenStream,
        segments: &mut [Segment],
        at: usize,
        exits: Exits,
        exit: &TokenStream,
    ) {
        let is_last = at + 1 == segments.len();
        let fails = exits.fails();
        let mut stmts = std::mem::take(&mut segments[at].stmts);
        self.rewrite(&mut stmts, None, at, is_last, fails);
        if let Some(Stmt::Expr(_, semicolon @ None)) = stmts.last_mut() {
            *semicolon = Some(Default::default());
        }
        let gives = segments.get(at + 1).map(|next| tuple(&next.takes, stage_span(next, self.span)));
        let skips = exits.skips && !is_last;
        let (gives, item) = match (gives, skips) {
            (None, _) => (quote!(()), quote!(())),
            (Some(gives), false) => (gives, quote!(_)),
            (Some(gives), true) => {
                (quote!(::core::option::Option::Some(#gives)), quote!(::core::option::Option<_>))
            }
        };
        let (gives, result) = if fails {
            (
                quote!(::core::result::Result::Ok(#gives)),
                Some(quote!(-> ::core::result::Result<#item, #exit>)),
            )
        } else {
            (gives, None)
        };
        let segment = &segments[at];
        let span = stage_span(segment, self.span);
        let takes = pattern(&segment.takes);
        let body = if is_last && !fails { quote!({ #(#stmts)* }) } else { quote!({ #(#stmts)* #gives }) };
        let method = |name: &str| Ident::new(name, span);
        let options = segment.options.as_ref();
        if options.is_some_and(|options| options.is_unordered) {
            chain.extend(quote_spanned!(span=> .unordered()));
        }
        let replicate = options.and_then(|options| options.replicate.as_ref());
        let Some(replicate) = replicate else {
            // An end has neither a name nor a thread of its own: such a stage comes before it.
            let is_end =
                is_last && options.is_none_or(|options| options.name.is_none() && !options.is_dedicated);
            let name = match (is_end, fails, skips) {
                (true, false, _) => "for_each",
                (true, true, _) => "try_for_each",
                (false, false, false) => "serial",
                (false, false, true) => "serial_filter_map",
                (false, true, false) => "try_serial",
                (false, true, true) => "try_serial_filter_map",
            };
            let name = method(name);
            if is_end {
                if let Some(text) = options.and_then(|options| options.name.as_ref()) {
                    chain.extend(quote_spanned!(span=> .name_end(#text)));
                }
                self.report(chain);
            }
            chain.extend(quote_spanned!(span=> .#name(|#takes| #result #body)));
            if !is_end {
                self.settings(chain, segment);
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
            chain.extend(quote_spanned!(span=> .#name(#deal, #make, |#state, #takes| #result #body)));
            self.settings(chain, segment);
        } else {
            let (make, state) = match state {
                Some((make, state)) => (Some(quote!(#make,)), Some(quote!(#state,))),
                None => (None, None),
            };
            let name = match (has_state, fails, skips) {
                (true, false, _) => "map_with",
                (true, true, _) => "try_map_with",
                (false, false, true) => "filter_map",
                (false, false, false) => "map",
                (false, true, _) => "try_map",
            };
            let name = method(name);
            chain.extend(quote_spanned!(span=> .#name(#make |#state #takes| #result #body)));
            if let Some(count) = count {
                let name = Ident::new("replicate", replicate.span.resolved_at(Span::mixed_site()));
                chain.extend(quote!(.#name(#count)));
            }
            self.settings(chain, segment);
        }
        if skips && (fails || has_state || self.options.is_dealt) {
            let item = ours("item", span);
            chain.extend(quote_spanned!(span=> .filter_map(|#item| #item)));
        }
        if is_last {
            self.finish(chain, span);
        }
    }

    /// The end, where the last stage is none.
    fn finish(&self, chain: &mut TokenStream, span: Span) {
        self.report(chain);
        chain.extend(quote_spanned!(span=> .for_each(|()| ())));
    }

    fn report(&self, chain: &mut TokenStream) {
        if self.options.report.is_some() {
            let span = self.span.resolved_at(Span::mixed_site());
            chain.extend(quote_spanned!(span=> .report()));
        }
    }

    /// The name of a stage, and its thread.
    fn settings(&self, chain: &mut TokenStream, segment: &Segment) {
        let Some(options) = &segment.options else { return };
        let span = options.span.resolved_at(Span::mixed_site());
        if let Some(name) = &options.name {
            chain.extend(quote_spanned!(span=> .name(#name)));
        }
        if options.is_dedicated {
            chain.extend(quote_spanned!(span=> .dedicated()));
        }
    }
}

/// Names as a pattern.
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
