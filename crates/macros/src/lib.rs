//! The attribute macro behind `anabranch::stream`. The guide for users is the module `anabranch::annotation`;
//! this page says how the macro works.
//!
//! The macro turns an annotated loop into calls of the stream builder, in these steps:
//!
//! 1. `options` parses the annotations.
//! 2. `function` finds the annotated loops, and `variables` collects what the declarations of the function
//!    tell about its variables.
//! 3. `body` cuts the body of a loop into segments: its source and its stages. It finds the variables that
//!    cross the border between two segments. `names` tells it which names a segment binds and uses, and
//!    `changes` which ones it changes.
//! 4. `check` rejects a loop whose parallel form could behave differently. It relies on `items`, on `lends`
//!    (which variables can change which others) and on `after` (which variables are used after the loop).
//! 5. `exits` rewrites `break`, `continue`, `return` and `?` into results of a segment's closure. `gives`
//!    builds these results, `macros` looks for ways out inside macro calls, and `moves` lets a closure move
//!    variables that it can only borrow.
//! 6. `lower` writes the calls of the builder.
//!
//! Every pass works on syntax alone, without types. Where the syntax leaves a doubt, the pass either assumes
//! the case that keeps the loop's behaviour, or writes code that the compiler rejects if the assumption is
//! wrong.

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

/// Runs the annotated loops of a function on all cores. The module `anabranch::annotation` is the guide.
///
/// `#[stream(off)]` removes the annotations, so the loop runs as it is written. `#[stream(crate = path)]`
/// tells the macro under which path the crate `anabranch` is available, if it was renamed.
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
                Ok(item) => {
                    syn::Error::new_spanned(item, "`#[stream]` applies only to functions with a body")
                        .into_compile_error()
                }
                Err(_) => error.into_compile_error(),
            };
            let tokens = plain::without_annotations(tokens);
            quote!(#error #tokens).into()
        }
    }
}
