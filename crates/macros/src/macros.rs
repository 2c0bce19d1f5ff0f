//! Looks into macro calls in the body of a loop.
//!
//! It takes the tokens of a macro call and gives its arguments, if they parse as expressions, and the ways
//! out among the tokens. A macro of the standard library is known not to leave the function. Any other macro
//! may contain a `return`, so a segment that calls one gets a return type that makes such a `return` a
//! compile error.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Lifetime, Pat, Token};

/// Macros of the standard library that statements call. None of them leaves the function, except by a panic.
const KNOWN: [&str; 32] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "column",
    "concat",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "file",
    "format",
    "format_args",
    "include_bytes",
    "include_str",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "print",
    "println",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Whether a macro has the name of one of the standard library.
pub fn is_known(name: &Ident) -> bool {
    KNOWN.iter().any(|known| name == known)
}

/// Whether the tokens begin with a macro call `name!(..)`. `name != ..` is not one.
pub fn is_macro_call(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [TokenTree::Ident(_), TokenTree::Punct(punct), TokenTree::Group(_), ..] if punct.as_char() == '!')
}

/// Whether the tokens call an unknown macro, which may contain a `return`.
pub fn calls_unknown(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(name) => is_macro_call(&tokens[at..]) && !is_known(name),
        TokenTree::Group(group) => calls_unknown(group.stream()),
        _ => false,
    })
}

/// Calls `f` with each argument of a macro and returns the changed tokens.
///
/// The arguments must be expressions separated by commas, as in `format!`, or those of `vec![item; count]` or
/// `matches!`. Otherwise the result is `None`.
pub fn arguments(tokens: &TokenStream, mut f: impl FnMut(&mut Expr)) -> Option<TokenStream> {
    let mut f = |expr: &mut Expr| match expr {
        // The left side is the name of an argument.
        Expr::Assign(named) if matches!(*named.left, Expr::Path(_)) => f(&mut named.right),
        other => f(other),
    };
    if let Ok(mut exprs) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()) {
        exprs.iter_mut().for_each(&mut f);
        return Some(exprs.into_token_stream());
    }
    let repeated = |input: ParseStream<'_>| {
        Ok((input.parse::<Expr>()?, input.parse::<Token![;]>()?, input.parse::<Expr>()?))
    };
    if let Ok((mut item, semicolon, mut count)) = repeated.parse2(tokens.clone()) {
        f(&mut item);
        f(&mut count);
        return Some(quote!(#item #semicolon #count));
    }
    let matched = |input: ParseStream<'_>| {
        let (value, comma) = (input.parse::<Expr>()?, input.parse::<Token![,]>()?);
        let pat = Pat::parse_multi_with_leading_vert(input)?;
        let guard = match input.parse::<Option<Token![if]>>()? {
            Some(word) => Some((word, input.parse::<Expr>()?)),
            None => None,
        };
        Ok((value, comma, pat, guard, input.parse::<Option<Token![,]>>()?))
    };
    let (mut value, comma, pat, mut guard, end) = matched.parse2(tokens.clone()).ok()?;
    f(&mut value);
    let guard = guard.as_mut().map(|(word, guard)| {
        f(guard);
        quote!(#word #guard)
    });
    Some(quote!(#value #comma #pat #guard #end))
}

/// The first way out among the tokens of a macro. `depth` is the number of loops around the macro inside the
/// annotated loop, and `inner` are their labels.
pub fn way_out(tokens: &TokenStream, depth: usize, inner: &[Lifetime]) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.iter().enumerate().find_map(|(at, token)| match token {
        TokenTree::Group(group) => way_out(&group.stream(), depth, inner),
        // A `?` is a way out only after a value. Some macros use `?name` as a format specifier.
        TokenTree::Punct(punct) if punct.as_char() == '?' => {
            let is_behind_value = match at.checked_sub(1).map(|before| &tokens[before]) {
                Some(TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Literal(_)) => true,
                Some(TokenTree::Punct(punct)) => punct.as_char() == '?',
                None => false,
            };
            is_behind_value.then(|| punct.span())
        }
        TokenTree::Ident(ident) if ident == "return" => Some(ident.span()),
        TokenTree::Ident(ident) if ident == "break" || ident == "continue" => {
            let leaves = match &tokens[at + 1..] {
                [TokenTree::Punct(quote), TokenTree::Ident(label), ..] if quote.as_char() == '\'' => {
                    !inner.iter().any(|known| known.ident == *label)
                }
                _ => depth == 0,
            };
            leaves.then(|| ident.span())
        }
        _ => None,
    })
}
