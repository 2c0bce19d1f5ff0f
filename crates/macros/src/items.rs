//! Checks the functions, constants and other items in the body of a loop.
//!
//! Items of the body are visible in all stages, so the expansion puts them before the stages. It takes the
//! statements of the body and gives an error if this move would change the meaning of a name: in the loop's
//! head, in its options, or in a macro that is defined in the body.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Item, Stmt, UseTree};

/// The error in the items among the statements of a body, if there is one.
///
/// `outside` are the tokens of the loop that are not in its body, and `bound` the names that the loop binds.
pub fn misplaced(stmts: &[Stmt], outside: TokenStream, bound: &BTreeSet<String>) -> Option<Error> {
    let outside = idents(outside);
    stmts.iter().enumerate().find_map(|(at, stmt)| {
        let Stmt::Item(item) = stmt else { return None };
        let before = || stmts[..at].iter().map(ToTokens::to_token_stream).collect();
        if let Item::Macro(item) = item {
            let uses = idents(item.mac.tokens.clone());
            let name = item.ident.as_ref()?;
            if let Some(used) = bound.iter().find(|name| uses.contains(*name)) {
                let text = format!(
                    "this macro uses `{used}`, which the loop binds: pass it to the macro as an argument, and put the \
                     macro before the loop"
                );
                return Some(Error::new(name.span(), text));
            }
            if idents(before()).contains(&name.to_string()) {
                let text = format!("`{name}` is used before this macro is defined: put the macro first");
                return Some(Error::new(name.span(), text));
            }
        }
        let (defined, may_define_more) = defined(item);
        if let Some(name) = defined.iter().find(|name| outside.contains(&name.to_string())) {
            let text = format!(
                "the loop's head or options use the name `{name}`, which means another item there, because they are outside of the \
                 body: put this item before the loop, or rename it"
            );
            return Some(Error::new(name.span(), text));
        }
        let text = "this may bring in names that the loop's head or options use, which are outside of the body: put it \
                    before the loop";
        (may_define_more && !outside.is_empty()).then(|| Error::new(item.span(), text))
    })
}

/// The names that an item defines, and whether it may define others.
fn defined(item: &Item) -> (Vec<Ident>, bool) {
    let one = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Mod(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Macro(item) => return (item.ident.iter().cloned().collect(), item.ident.is_none()),
        Item::ExternCrate(item) => item.rename.as_ref().map_or(&item.ident, |(_, name)| name),
        Item::Use(item) => {
            let mut names = Vec::new();
            let has_glob = leaves(&item.tree, &mut names);
            return (names, has_glob);
        }
        _ => return (Vec::new(), false),
    };
    (vec![one.clone()], false)
}

/// Collects the names that a `use` brings in. Returns whether it contains a `*`.
fn leaves(tree: &UseTree, names: &mut Vec<Ident>) -> bool {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, names),
        UseTree::Name(name) => {
            names.push(name.ident.clone());
            false
        }
        UseTree::Rename(name) => {
            names.push(name.rename.clone());
            false
        }
        UseTree::Glob(_) => true,
        UseTree::Group(group) => group.items.iter().fold(false, |all, tree| leaves(tree, names) | all),
    }
}

/// All identifiers among the tokens.
pub fn idents(tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => drop(found.insert(ident.to_string())),
            TokenTree::Group(group) => found.extend(idents(group.stream())),
            _ => {}
        }
    }
    found
}
