//! Writes the source of the stream, and the settings of the whole stream.
//!
//! It takes the head of the loop and the statements before the first stage, and gives the beginning of a
//! chain of builder calls. The closure of the source runs the head and these statements once for each item,
//! in the order of the loop, until the head or a `break` ends it. So it gives the items that the loop would
//! have had.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Pat;
use syn::spanned::Spanned;

use super::tokens::{stage_span, tuple};
use super::{Head, Loop};
use crate::body::Segment;
use crate::exits::{Exits, source_label};
use crate::gives::{Gives, ours, support};
use crate::moves::HandOver;
use crate::names::Binding;
use crate::options::StreamOptions;

/// The beginning of a stream.
pub(super) struct Source {
    /// The iterator of a `for`. It is created first and kept until the end, as in the loop.
    pub iter: Option<TokenStream>,
    pub chain: TokenStream,
}

impl Loop<'_> {
    /// The source, and the settings of the whole stream.
    pub(super) fn source(
        &mut self,
        segments: &mut [Segment],
        exits: Exits,
        gives: Gives,
        hand_over: &HandOver,
        exit: &TokenStream,
    ) -> Source {
        let span = self.span.resolved_at(Span::mixed_site());
        // An error in the type of an item is reported at the stage that takes the item.
        let at = stage_span(&segments[1], self.span);
        let item = tuple(&segments[1].takes, at);
        let mut stmts = std::mem::take(&mut segments[0].stmts);
        let Gives { fails, is_guarded, .. } = gives;
        let mut head = self.head.condition().cloned();
        self.rewrite(&mut stmts, head.as_mut(), gives, hand_over);
        let HandOver { take, put, leave, .. } = hand_over;
        let is_plain = !fails && !exits.skips && !exits.ends;
        let (some, none) = (gives.item(quote!(#item), at), gives.none(span));
        let items = ours("items", span);
        let begin = |fails: bool, items: TokenStream| {
            if self.options.is_dedicated {
                let new = Ident::new(if fails { "try_new" } else { "new" }, span);
                quote_spanned!(span=> ::anabranch::Source::#new(#items).dedicated().into_stream())
            } else {
                let from_iter = Ident::new(if fails { "try_from_iter" } else { "from_iter" }, span);
                quote_spanned!(span=> ::anabranch::Stream::#from_iter(#items))
            }
        };
        let mut iter = None;
        let mut source = match &self.head {
            Head::For(pat, of) if is_plain && stmts.is_empty() && is_same(pat, &segments[1].takes) => {
                iter = Some(quote!(#of));
                begin(false, quote!(#items))
            }
            Head::For(pat, of) if is_plain => {
                iter = Some(quote!(::core::iter::IntoIterator::into_iter(#of)));
                begin(
                    false,
                    quote_spanned!(span=> ::core::iter::Iterator::map(#items, |#pat| { #take #(#stmts)* #put #item })),
                )
            }
            _ => {
                let body = match &self.head {
                    Head::Loop => quote!(#(#stmts)* #put return #some;),
                    Head::While(_) => quote!(if #head { #(#stmts)* #put return #some; } #leave return #none;),
                    Head::For(pat, _) => quote! {
                        let ::core::option::Option::Some(#pat) = ::core::iter::Iterator::next(&mut #items) else {
                            #leave
                            return #none;
                        };
                        #(#stmts)*
                        #put
                        return #some;
                    },
                };
                let label = source_label(span);
                let body = if exits.skips { quote!(#label: loop { #body }) } else { body };
                let result = gives.result(exit, span).filter(|_| fails);
                if let Head::For(_, of) = &self.head {
                    iter = Some(quote!(::core::iter::IntoIterator::into_iter(#of)));
                }
                let mut next = quote_spanned!(span=> || #result { #take #body });
                if is_guarded {
                    let support = support(span);
                    next = quote_spanned!(span=> #support::guarded(#next));
                }
                let support = support(span);
                match fails {
                    true => begin(true, quote_spanned!(span=> #support::items(#next))),
                    false => begin(false, quote_spanned!(span=> ::core::iter::from_fn(#next))),
                }
            }
        };
        let StreamOptions { window, workers, burst, pool, cancel_by, title, .. } = &self.options;
        let set = [
            ("window", window),
            ("workers", workers),
            ("burst", burst),
            ("pool", pool),
            ("cancel_by", cancel_by),
            ("title", title),
        ];
        for (name, value) in set {
            if let Some(value) = value {
                let name = Ident::new(name, value.span().resolved_at(Span::mixed_site()));
                source.extend(quote!(.#name(#value)));
            }
        }
        if self.options.spins {
            let support = support(span);
            source.extend(quote_spanned!(span=> .with_plan(#support::spin)));
        }
        if self.options.is_unordered {
            source.extend(quote_spanned!(span=> .unordered()));
        }
        Source { iter, chain: source }
    }
}

/// Whether a pattern is just the one name that is handed on.
fn is_same(pat: &Pat, takes: &[Binding]) -> bool {
    match (pat, takes) {
        (Pat::Ident(pat), [only]) => pat.ident == only.ident && pat.by_ref.is_none() && pat.subpat.is_none(),
        _ => false,
    }
}
