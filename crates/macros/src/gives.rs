//! What the closure of a part gives: an item, none, or how the loop is left.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

/// The path of what the expansion calls and the user does not.
pub fn support(span: Span) -> TokenStream {
    quote_spanned!(span=> ::anabranch::annotation)
}

/// A name of ours. Hygiene does not keep a user's `static` of the same name away, so nobody else has such names.
pub fn ours(name: &str, span: Span) -> Ident {
    Ident::new(&format!("anabranch_{name}"), span.resolved_at(Span::mixed_site()))
}

/// Where the code stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before the first stage: it may say that there are no more items.
    Source,
    /// In a stage.
    Stage,
    /// In the last stage: nothing comes behind it, so it gives no item.
    Last,
}

/// The shape of what a closure gives.
#[derive(Clone, Copy)]
pub struct Gives {
    pub place: Place,
    /// Whether the code drops items: then its closure gives an `Option`, as does that of a source that has ends.
    pub skips: bool,
    /// Whether the code leaves the loop: then its closure gives a `Result`.
    pub fails: bool,
    /// Whether the code calls macros that may `return`: then the value has a type that no function returns, so that they
    /// do not compile.
    pub is_guarded: bool,
}

impl Gives {
    /// The item goes on.
    pub fn item(&self, item: TokenStream, span: Span) -> TokenStream {
        let is_option = self.place == Place::Source || self.place == Place::Stage && self.skips;
        let value = if is_option { quote_spanned!(span=> ::core::option::Option::Some(#item)) } else { item };
        self.value(value, span)
    }

    /// There is no item: it is dropped, or the source has come to its end.
    pub fn none(&self, span: Span) -> TokenStream {
        match self.place {
            // A closure that gives nothing returns nothing.
            Place::Last if !self.fails => TokenStream::new(),
            Place::Last => self.value(quote_spanned!(span=> ()), span),
            _ => self.value(quote_spanned!(span=> ::core::option::Option::None), span),
        }
    }

    /// The loop is left, by a variant or function of `Exit`.
    pub fn exit(&self, exit: TokenStream, span: Span) -> TokenStream {
        let support = support(span);
        self.error(quote_spanned!(span=> #support::Exit::#exit), span)
    }

    /// The loop is left.
    pub fn error(&self, exit: TokenStream, span: Span) -> TokenStream {
        let left = quote_spanned!(span=> ::core::result::Result::Err(#exit));
        if self.is_guarded && self.place == Place::Source { self.guard(left, span) } else { left }
    }

    fn value(&self, value: TokenStream, span: Span) -> TokenStream {
        let ok = |value| quote_spanned!(span=> ::core::result::Result::Ok(#value));
        match (self.is_guarded, self.fails, self.place) {
            (true, _, Place::Source) => self.guard(ok(value), span),
            (true, ..) => ok(self.guard(value, span)),
            (false, true, _) => ok(value),
            (false, false, _) => value,
        }
    }

    fn guard(&self, value: TokenStream, span: Span) -> TokenStream {
        let support = support(span);
        quote_spanned!(span=> #support::NoReturnFromMacros(#value))
    }

    /// The closure's type, where it has to be said; `exit` is that of how the loop is left.
    pub fn result(&self, exit: &TokenStream, span: Span) -> Option<TokenStream> {
        let support = support(span);
        let item = match self.place {
            Place::Last => quote_spanned!(span=> ()),
            Place::Stage if !self.skips => quote_spanned!(span=> _),
            _ => quote_spanned!(span=> ::core::option::Option<_>),
        };
        let result = |item| quote_spanned!(span=> ::core::result::Result<#item, #exit>);
        match (self.is_guarded, self.place) {
            (true, Place::Source) => {
                let result = result(item);
                Some(quote!(-> #support::NoReturnFromMacros<#result>))
            }
            (true, _) => {
                let result = result(quote!(#support::NoReturnFromMacros<#item>));
                Some(quote!(-> #result))
            }
            (false, _) if self.fails => {
                let result = result(item);
                Some(quote!(-> #result))
            }
            _ => None,
        }
    }
}
