//! The source: what comes before the first stage, and the settings of the whole.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Pat;
use syn::spanned::Spanned;

use super::tokens::{ours, stage_span, tuple};
use super::{Head, Loop};
use crate::body::Segment;
use crate::exits::{Exits, source_label};
use crate::names::Binding;
use crate::options::StreamOptions;

impl Loop<'_> {
    /// What goes before the source; the source, and the settings of the whole.
    pub(super) fn source(
        &mut self,
        segments: &mut [Segment],
        exits: Exits,
        exit: &TokenStream,
    ) -> (TokenStream, TokenStream) {
        let span = self.span.resolved_at(Span::mixed_site());
        // What is wrong with what a stage takes is said at that stage.
        let at = stage_span(&segments[1], self.span);
        let gives = tuple(&segments[1].takes, at);
        let mut stmts = std::mem::take(&mut segments[0].stmts);
        let fails = exits.fails();
        let mut head = match &self.head {
            Head::While(cond) => Some((**cond).clone()),
            _ => None,
        };
        self.rewrite(&mut stmts, head.as_mut(), 0, false, fails);
        let (some, none) = if fails {
            (
                quote_spanned!(at=> ::core::result::Result::Ok(::core::option::Option::Some(#gives))),
                quote!(::core::result::Result::Ok(::core::option::Option::None)),
            )
        } else {
            (quote_spanned!(at=> ::core::option::Option::Some(#gives)), quote!(::core::option::Option::None))
        };
        let items = ours("items", span);
        let stream = quote_spanned!(span=> ::anabranch::Stream);
        let is_plain = !fails && !exits.skips && !exits.ends;
        let mut setup = self.mentions(segments);
        let mut source = match &self.head {
            Head::For(pat, iter) if is_plain && stmts.is_empty() && is_same(pat, &segments[1].takes) => {
                quote!(#stream::from_iter(#iter))
            }
            Head::For(pat, iter) if is_plain => {
                let iter = quote!(::core::iter::IntoIterator::into_iter(#iter));
                quote_spanned!(span=> #stream::from_iter(::core::iter::Iterator::map(#iter, |#pat| { #(#stmts)* #gives })))
            }
            _ => {
                let body = match &self.head {
                    Head::Loop => quote!(#(#stmts)* return #some;),
                    Head::While(_) => quote!(if #head { #(#stmts)* return #some; } return #none;),
                    Head::For(pat, _) => quote! {
                        let ::core::option::Option::Some(#pat) = ::core::iter::Iterator::next(&mut #items) else {
                            return #none;
                        };
                        #(#stmts)*
                        return #some;
                    },
                };
                let label = source_label(span);
                let body = if exits.skips { quote!(#label: loop { #body }) } else { body };
                let (from, result) = if fails {
                    let result = quote!(-> ::core::result::Result<::core::option::Option<_>, #exit>);
                    (quote_spanned!(span=> try_from_fn), Some(result))
                } else {
                    (quote_spanned!(span=> from_fn), None)
                };
                if let Head::For(_, iter) = &self.head {
                    setup.extend(quote!(let mut #items = ::core::iter::IntoIterator::into_iter(#iter);));
                }
                quote_spanned!(span=> #stream::#from(|| #result { #body }))
            }
        };
        let StreamOptions { window, workers, burst, pool, cancel, title, .. } = &self.options;
        let set = [
            ("window", window),
            ("workers", workers),
            ("burst", burst),
            ("pool", pool),
            ("cancel", cancel),
            ("title", title),
        ];
        if self.options.is_dedicated {
            source.extend(quote_spanned!(span=> .dedicated()));
        }
        for (name, value) in set {
            if let Some(value) = value {
                let name = Ident::new(name, value.span().resolved_at(Span::mixed_site()));
                source.extend(quote!(.#name(#value)));
            }
        }
        if self.options.spins {
            source.extend(quote_spanned!(span=> .spin()));
        }
        if self.options.is_unordered {
            source.extend(quote_spanned!(span=> .unordered()));
        }
        (setup, source)
    }
}

/// Whether a pattern is the one name that is handed on.
fn is_same(pat: &Pat, takes: &[Binding]) -> bool {
    match (pat, takes) {
        (Pat::Ident(pat), [only]) => pat.ident == only.ident && pat.by_ref.is_none() && pat.subpat.is_none(),
        _ => false,
    }
}
