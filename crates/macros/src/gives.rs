//! Builds the values that the closure of a segment returns.
//!
//! It takes an item, the end of the items, or a way out of the loop, and gives the expression that the
//! closure returns for it. The shape depends on what the segment can do: `Option` if it drops items, `Result`
//! if it can leave the loop, and `NoReturnFromMacros` if it calls unknown macros. All returns of one closure
//! are built from one `Gives`, so they have one type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

/// The path of the functions and types that only the expansion uses.
pub fn support(span: Span) -> TokenStream {
    quote_spanned!(span=> ::anabranch::annotation)
}

/// A name for use in the expansion. Hygiene does not protect from a `static` of the user with the same name,
/// hence the prefix.
pub fn ours(name: &str, span: Span) -> Ident {
    Ident::new(&format!("anabranch_{name}"), span.resolved_at(Span::mixed_site()))
}

/// The role of a segment in its loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The segment before the first stage. It may report that there are no more items.
    Source,
    /// A stage that is not the last one.
    Stage,
    /// The last stage. No segment follows it, so it gives no item.
    Last,
}

/// The shape of what a closure returns.
#[derive(Clone, Copy)]
pub struct Gives {
    pub role: Role,
    /// Whether the segment drops items. Its closure then returns an `Option`, as does that of a source that
    /// ends.
    pub skips: bool,
    /// Whether the segment can leave the loop. Its closure then returns a `Result`.
    pub fails: bool,
    /// Whether the segment calls macros that may contain a `return`. The closure's return type is then one
    /// that no user function has, so such a macro does not compile.
    pub is_guarded: bool,
}

impl Gives {
    /// The value that hands an item on.
    pub fn item(&self, item: TokenStream, span: Span) -> TokenStream {
        let is_option = self.role == Role::Source || self.role == Role::Stage && self.skips;
        let value = if is_option { quote_spanned!(span=> ::core::option::Option::Some(#item)) } else { item };
        self.value(value, span)
    }

    /// The value for no item: the item is dropped, or the source has ended.
    pub fn none(&self, span: Span) -> TokenStream {
        match self.role {
            // The closure returns `()` here.
            Role::Last if !self.fails => TokenStream::new(),
            Role::Last => self.value(quote_spanned!(span=> ()), span),
            _ => self.value(quote_spanned!(span=> ::core::option::Option::None), span),
        }
    }

    /// The value that leaves the loop, by the variant or function `exit` of `Exit`.
    pub fn exit(&self, exit: TokenStream, span: Span) -> TokenStream {
        let support = support(span);
        self.error(quote_spanned!(span=> #support::Exit::#exit), span)
    }

    /// The value that leaves the loop with the error `exit`.
    pub fn error(&self, exit: TokenStream, span: Span) -> TokenStream {
        let left = quote_spanned!(span=> ::core::result::Result::Err(#exit));
        if self.is_guarded && self.role == Role::Source { self.guard(left, span) } else { left }
    }

    fn value(&self, value: TokenStream, span: Span) -> TokenStream {
        let ok = |value| quote_spanned!(span=> ::core::result::Result::Ok(#value));
        match (self.is_guarded, self.fails, self.role) {
            (true, _, Role::Source) => self.guard(ok(value), span),
            (true, ..) => ok(self.guard(value, span)),
            (false, true, _) => ok(value),
            (false, false, _) => value,
        }
    }

    fn guard(&self, value: TokenStream, span: Span) -> TokenStream {
        let support = support(span);
        quote_spanned!(span=> #support::NoReturnFromMacros(#value))
    }

    /// The return type of the closure, if it must be written. `exit` is the type of its error.
    pub fn result(&self, exit: &TokenStream, span: Span) -> Option<TokenStream> {
        let support = support(span);
        let item = match self.role {
            Role::Last => quote_spanned!(span=> ()),
            Role::Stage if !self.skips => quote_spanned!(span=> _),
            _ => quote_spanned!(span=> ::core::option::Option<_>),
        };
        let result = |item| quote_spanned!(span=> ::core::result::Result<#item, #exit>);
        match (self.is_guarded, self.role) {
            (true, Role::Source) => {
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
