//! The attribute macro behind `anabranch::stream`. The guide for users is the module `anabranch::annotation`;
//! this page says how the macro works.
//!
//! The macro turns an annotated loop into calls of the stream builder, in these steps:
//!
//! 1. `options` parses the annotations.
//! 2. `expand` finds the annotated loops, and `variables` collects what the declarations of the function
//!    tell about its variables.
//! 3. `body` cuts the body of a loop into segments: its source and its stages. It finds the variables that
//!    cross the border between two segments. `names` tells it which names a segment binds and uses, and
//!    `changes` which ones it changes.
//! 4. `check` rejects a loop of which the syntax shows that its parallel form could behave differently. It
//!    relies on `items` and on `after` (what is used after the loop).
//! 5. `exits` rewrites `break`, `continue`, `return` and `?` into results of a segment's closure. `gives`
//!    builds these results, `macros` looks for ways out inside macro calls, and `moves` lets a closure move
//!    variables that it can only borrow.
//! 6. `lower` writes the calls of the builder, and `lower::ahead` the code by which the compiler rejects what
//!    only the types can show.
//!
//! # The rule
//!
//! No pass guesses from a name what a method, a function or a macro does. One rule takes the place of such
//! guesses: **each part captures the variables of the function with the borrows that its code needs, and the compiler checks
//! that these borrows do not conflict.**
//!
//! - Each segment is a closure. It captures by `&` what it only reads, and by `&mut` what it changes. Two
//!   segments that run at the same time cannot both have a variable that one of them changes.
//! - The closure of a replicated stage must be `Fn`, so it changes nothing that it captures.
//! - If a stage leaves the loop early, the segments before it may have run ahead. When their closures exist,
//!   and those of the later segments do not exist yet, the expansion has a branch that is never taken. There
//!   it borrows by `&` all that the function uses after the loop, and uses the closures afterwards. This
//!   compiles exactly if none of these closures holds a `&mut` to any of it, be it through another variable, a
//!   field, a closure, an iterator or a value with a lifetime.
//!
//! `changes` knows only changes that are plain to see, such as assignments. They are for messages that say
//! more than the compiler's.

mod after;
mod body;
mod changes;
mod check;
mod exits;
mod expand;
mod function;
mod gives;
mod items;
mod leftover;
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
            let expanded = expand::expand(function);
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
