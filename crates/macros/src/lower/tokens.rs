//! Names and spans of what is written.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::body::Segment;
use crate::names::Binding;

/// Names as one value, which goes to what `span` stands for.
pub(super) fn tuple(names: &[Binding], span: Span) -> TokenStream {
    let idents: Vec<&Ident> = names.iter().map(|name| &name.ident).collect();
    match &idents[..] {
        [] => quote_spanned!(span=> ()),
        [only] => quote!(#only),
        several => quote_spanned!(span=> (#(#several),*)),
    }
}

/// Where a stage's calls point to: its annotation, or that of the loop.
pub(super) fn stage_span(segment: &Segment, default: Span) -> Span {
    segment.options.as_ref().map_or(default, |options| options.span).resolved_at(Span::mixed_site())
}
