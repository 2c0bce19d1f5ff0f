//! Functions, constants and the like in a loop's body. They are there for all stages, so they stand around the stages in what
//! is written: that must not give a name another meaning.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, Item, Stmt, UseTree};

/// What is wrong with the items among the statements of a body. `outside` are the tokens of the loop that do not belong to the
/// body, `bound` the names that the loop binds.
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
                    "this macro has a `{used}` in it, and the loop binds one: give it to the macro as an argument, \
                     and put the macro before the loop"
                );
                return Some(Error::new(name.span(), text));
            }
            if idents(before()).contains(&name.to_string()) {
                let text = format!("`{name}` is used before this macro is written: put the macro first");
                return Some(Error::new(name.span(), text));
            }
        }
        let (defined, takes_all) = defined(item);
        let text = |what: &str| {
            format!("{what} in the loop's head or options, which are outside of the body: put this before the loop, or rename it")
        };
        if let Some(name) = defined.iter().find(|name| outside.contains(&name.to_string())) {
            return Some(Error::new(name.span(), text(&format!("`{name}` means something else"))));
        }
        (takes_all && !outside.is_empty())
            .then(|| Error::new(item.span(), text("the names of this `use` may mean something else")))
    })
}

/// The names that an item defines, and whether there may be others.
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
            let takes_all = leaves(&item.tree, &mut names);
            return (names, takes_all);
        }
        _ => return (Vec::new(), false),
    };
    (vec![one.clone()], false)
}

/// The names that a `use` brings in; gives whether it brings in all that there is.
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

/// The names among tokens.
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
