//! Names and spans in the code that is written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::body::Segment;
use crate::names::Binding;

/// The names as one value: `()`, the name itself, or a tuple. Errors in the value point to `span`.
pub(super) fn tuple(names: &[Binding], span: Span) -> TokenStream {
    let idents: Vec<&Ident> = names.iter().map(|name| &name.ident).collect();
    match &idents[..] {
        [] => quote_spanned!(span=> ()),
        [only] => quote!(#only),
        several => quote_spanned!(span=> (#(#several),*)),
    }
}

/// The span of a stage's calls: its annotation, or that of the loop.
pub(super) fn stage_span(segment: &Segment, default: Span) -> Span {
    segment.options.as_ref().map_or(default, |options| options.span).resolved_at(Span::mixed_site())
}
