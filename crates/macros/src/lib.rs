//! The attribute behind `anabranch::stream`. Its guide is there; here is how it works.
//!
//! `function` finds the annotated loops; `options` reads the annotations; `body` cuts a loop's body into its source
//! and its stages and finds what crosses the borders, with `names` and `changes`; `check` refuses what would not be
//! the loop, with `items`, `variables`, `lends` and `after`, which say what is used behind it; `exits` turns `break`,
//! `continue`, `return` and `?` into what a stage gives back (`gives`), `macros` looks for them in macros, `moves` hands
//! over what a stage moves; `lower` writes the calls of the builder.

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
mod moves;
mod names;
mod options;
mod plain;
mod variables;

use proc_macro::TokenStream;
use proc_macro2::TokenStream as TokenStream2;
use quote::{ToTokens, quote};
use syn::ItemFn;

use crate::options::FunctionOptions;

/// Runs the annotated loops of a function on all cores: see the module `annotation`.
///
/// `#[stream(off)]` takes the annotations away. `#[stream(crate = name)]` is for those who call the crate by another name.
#[proc_macro_attribute]
pub fn stream(options: TokenStream, item: TokenStream) -> TokenStream {
    let tokens = TokenStream2::from(item);
    let options = match syn::parse::<FunctionOptions>(options) {
        Ok(options) => options,
        Err(error) => {
            let (error, plain) = (error.into_compile_error(), plain::without_annotations(tokens));
            return quote!(#error #plain).into();
        }
    };
    match syn::parse2::<ItemFn>(tokens.clone()) {
        Ok(_) if options.is_off => plain::without_annotations(tokens).into(),
        Ok(function) => {
            let expanded = function::expand(function);
            match options.name {
                Some(name) => plain::with_crate(expanded, &name.to_token_stream()).into(),
                None => expanded.into(),
            }
        }
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
