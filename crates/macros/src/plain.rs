//! Gives a function back with its loops as they are.
//!
//! It takes the tokens of a function and gives the same tokens without the annotations. It works on tokens
//! and not on syntax trees, so it also works on code that does not parse, and editors keep understanding the
//! rest of a half-written function.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Removes the annotations `#[stage..]` and `#[to_stream..]` from the tokens, which need not parse.
pub fn without_annotations(tokens: TokenStream) -> TokenStream {
    let is_annotation = |group: &Group| {
        let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
        // The name may be `stage` or `anabranch::stage`.
        let name = match &tokens[..] {
            [_, TokenTree::Punct(first), TokenTree::Punct(_), name, ..] if first.as_char() == ':' => {
                Some(name)
            }
            [name, ..] => Some(name),
            [] => None,
        };
        group.delimiter() == Delimiter::Bracket
            && matches!(name, Some(TokenTree::Ident(ident)) if ident == "stage" || ident == "to_stream")
    };
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let is_attr = matches!(kept.last(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#');
                if is_attr && is_annotation(&group) {
                    kept.pop();
                    continue;
                }
                let mut inner = Group::new(group.delimiter(), without_annotations(group.stream()));
                inner.set_span(group.span());
                kept.push(TokenTree::Group(inner));
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

/// Replaces `::anabranch` in the tokens by the path under which the user has the crate.
pub fn with_crate(tokens: TokenStream, path: &TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match (&kept[..], token) {
            ([.., TokenTree::Punct(first), TokenTree::Punct(second)], TokenTree::Ident(name))
                if name == "anabranch" && first.as_char() == ':' && second.as_char() == ':' =>
            {
                kept.truncate(kept.len() - 2);
                kept.extend(path.clone());
            }
            (_, TokenTree::Group(group)) => {
                let mut inner = Group::new(group.delimiter(), with_crate(group.stream(), path));
                inner.set_span(group.span());
                kept.push(TokenTree::Group(inner));
            }
            (_, other) => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    use super::without_annotations;

    #[test]
    fn a_body_that_is_half_typed_keeps_all_but_the_annotations() {
        let typed = "fn work(items: Vec<u32>) { #[to_stream(window = 4)] for item in items { let a = item + 1; \
                     #[anabranch::stage(replicate)] let b = a. #[allow(unused)] let c = 3; } }";
        let left = "fn work(items: Vec<u32>) { for item in items { let a = item + 1; \
                    let b = a. #[allow(unused)] let c = 3; } }";
        let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
        assert_eq!(without_annotations(tokens(typed)).to_string(), tokens(left).to_string());
    }
}
