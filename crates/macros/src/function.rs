//! The facts about a function that lowering its loops needs.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use syn::ext::IdentExt;
use syn::{Error, Type};

use crate::after::{After, Level, Places};
use crate::variables::Variables;

/// The facts about a function that lowering its loops needs.
pub struct Function {
    /// The return type of the function, or `_` if it cannot be written a second time.
    pub returns: TokenStream,
    pub variables: Variables,
    /// The code around the current loop, from the outside to the inside.
    pub levels: Vec<Level>,
    /// The places that the macros which the function defines may use.
    pub in_macros: Places,
    /// The parameters.
    pub parameters: BTreeMap<String, Ident>,
    /// The parameters that are needed under the names that `kept_name` gives.
    pub kept: BTreeSet<String>,
    /// The variables whose `mut` the expansion may not need any more.
    pub mut_by_user: BTreeSet<String>,
    /// The type of the value of the next loop's `break`, if it is written down.
    pub broken: Option<Type>,
    pub errors: Vec<Error>,
    /// How many loops were lowered.
    pub count: usize,
    /// How many annotated loops are around the current code.
    pub around: usize,
}

impl Function {
    /// The names that are used after the current loop. With `is_left`, the loop may go on at a label outside.
    pub fn after(&self, is_left: bool) -> After {
        let mut after = After::of(&self.levels, is_left);
        for (text, place) in &self.in_macros {
            if after.may_mention(text) {
                after.visible.entry(text.clone()).or_insert_with(|| place.clone());
            }
        }
        after
    }
}

/// The name under which the pointer in a parameter is kept. Messages of the compiler show it.
pub fn kept_name(name: &Ident) -> Ident {
    Ident::new(&format!("anabranch_callers_{}", name.unraw()), name.span())
}
