//! The attribute behind `anabranch::stream`. Its guide is there; here is how it works.
//!
//! `function` finds the annotated loops; `options` reads the annotations; `body` cuts a loop's body into its source
//! and its stages and finds what crosses the borders, with `names` and `changes`; `check` refuses what would not be
//! the loop; `exits` turns `break`, `continue`, `return` and `?` into what a stage gives back; `lower` writes the
//! calls of the builder.

mod after;
mod body;
mod changes;
mod check;
mod exits;
mod function;
mod gives;
mod items;
mod lends;
mod lower;
mod macros;
mod names;
mod options;
mod plain;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;
use quote::quote;
use syn::ItemFn;

/// Runs the annotated loops of a function on all cores: see the module `annotation`.
///
/// `#[stream(off)]` takes the annotations away.
#[proc_macro_attribute]
pub fn stream(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = TokenStream2::from(options);
    let tokens = TokenStream2::from(item);
    let is_off = match &*options.to_string() {
        "" => false,
        "off" => true,
        _ => {
            let text = "expected `#[stream]`, or `#[stream(off)]` for the loop as it is; options of a stream are \
                        those of `#[to_stream(..)]`";
            let error = syn::Error::new_spanned(options, text).into_compile_error();
            return quote!(#error #tokens).into();
        }
    };
    match syn::parse2::<ItemFn>(tokens.clone()) {
        Ok(_) if is_off => plain::without_annotations(tokens).into(),
        Ok(function) => function::expand(function).into(),
        Err(error) => {
            let error = match syn::parse2::<syn::Item>(tokens.clone()) {
                Ok(item) => syn::Error::new_spanned(item, "`#[stream]` is for a function with a body")
                    .into_compile_error(),
                Err(_) => error.into_compile_error(),
            };
            let tokens = plain::without_annotations(tokens);
            quote!(#error #tokens).into()
        }
    }
}
