//! Writes the code around the stream: its result becomes what the loop would have done.
//!
//! It takes the calls of the builder and gives the whole expression that replaces the loop. The stream's
//! result is `Ok` if the loop ended by itself, and otherwise an `Exit` from the first item, in loop order,
//! that left it. A `match` turns this `Exit` into the `break`, `continue` or `return` of the user, at a place
//! where these words mean what they meant in the loop.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, parse_quote};

use super::source::Source;
use super::{Head, Loop};
use crate::exits::{Exits, Jump};
use crate::gives::{ours, support};

impl Loop<'_> {
    /// The error type of the closures that can leave the loop.
    pub(super) fn result_type(&self, all: Exits) -> TokenStream {
        let support = support(self.span.resolved_at(Span::mixed_site()));
        let never = quote!(::core::convert::Infallible);
        let value = match (all.breaks_with_value, all.breaks) {
            (true, _) => self.broken.as_ref().map_or_else(|| quote!(_), |ty| quote!(#ty)),
            (false, true) => quote!(()),
            (false, false) => never.clone(),
        };
        let returned = if all.returns { self.function.returns.clone() } else { never };
        quote!(#support::Exit<'_, #value, #returned>)
    }

    /// The expression that replaces the loop. `back` are the statements that give moved variables back to the
    /// function.
    pub(super) fn end(
        self,
        setup: TokenStream,
        source: Source,
        back: TokenStream,
        all: Exits,
        fails: bool,
    ) -> Expr {
        let span = self.span.resolved_at(Span::mixed_site());
        let support = support(span);
        let allow = quote!(#[allow(
            unused_mut,
            unused_labels,
            unused_parens,
            unused_braces,
            unreachable_code,
            unreachable_patterns,
            clippy::needless_return,
            clippy::never_loop,
            clippy::let_unit_value,
            clippy::unused_unit,
            clippy::redundant_closure,
            clippy::question_mark
        )]);
        let (result, slot) = (ours("result", span), ours("slot", span));
        let (begin, reports) = match &self.options.report {
            Some(call) => (
                Some(quote!(let #slot = ::anabranch::ReportSlot::new();)),
                Some(quote!(#slot.take().into_iter().for_each(#call);)),
            ),
            None => (None, None),
        };
        let ends = match self.head {
            Head::Loop => (all.ends || all.breaks) && !all.breaks_with_value,
            _ => true,
        };
        let normal = (!ends).then(|| {
            quote_spanned!(span=> ::core::panic!("the loop was cancelled before its `break`, so it has no value"))
        });
        let Source { iter, chain } = source;
        let bind = quote!(#setup #begin #allow let #result = #chain; #reports);
        let whole = |code: TokenStream| match iter {
            None => parse_quote!({ #code }),
            Some(iter) => {
                let items = ours("items", span);
                parse_quote!(match #iter { #[allow(unused_mut)] mut #items => { #code } })
            }
        };
        if !fails {
            return whole(quote!(#bind let () = #result; #back #normal));
        }
        let value = ours("value", span);
        let broken = all
            .breaks
            .then(|| quote!(::core::result::Result::Err(#support::Exit::Break(#value)) => { #back #value }));
        let returned = all.returns.then(|| {
            quote!(::core::result::Result::Err(#support::Exit::Return(#value)) => return #support::give(#value),)
        });
        let jumps = self.jumps.iter().enumerate().map(|(number, Jump { label, is_continue })| {
            let jump = if *is_continue { quote!(continue #label) } else { quote!(break #label) };
            quote!(::core::result::Result::Err(#support::Exit::Jump(#number)) => { #back #jump })
        });
        let other =
            quote_spanned!(span=> ::core::unreachable!("the loop was left in a way that it does not have"));
        whole(quote! {
            #bind
            match #result {
                ::core::result::Result::Ok(()) => { #back #normal }
                #broken
                #returned
                #(#jumps)*
                ::core::result::Result::Err(_) => #other,
            }
        })
    }
}
