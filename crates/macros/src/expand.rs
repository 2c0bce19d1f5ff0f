//! Finds the annotated loops of a function and has each of them lowered.
//!
//! It takes the function and gives it back with the lowered loops, or with compile errors and its loops as
//! they were. Inner loops are lowered before outer ones, so a loop inside a stage is ordinary code of that
//! stage. On the way down it records which names the code around each loop uses later, which `check` needs.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Error, Expr, FnArg, ItemFn, Pat, ReturnType, Stmt, Type, parse_quote, parse_quote_spanned,
};

use crate::after::{Level, Uses, evaluated_later, in_own_macros, is_annotated, names};
use crate::body::{attrs_of, is, segment_around};
use crate::function::{Function, kept_name};
use crate::leftover::Leftover;
use crate::lower::lower;
use crate::names::{Binding, all_bindings, bindings, condition_bindings, local_bindings};
use crate::plain::without_annotations;
use crate::variables::{Variables, closure_pointers};

/// Lowers every annotated loop of a function.
pub fn expand(mut function: ItemFn) -> TokenStream {
    let plain = without_annotations(function.to_token_stream());
    let returns = match &function.sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) if can_be_repeated(ty) => ty.to_token_stream(),
        ReturnType::Type(..) => quote!(_),
    };
    let mut context = Function {
        returns,
        variables: Variables::of(&function),
        levels: vec![Level::Binds(parameters(&function).into_keys().collect())],
        in_macros: in_own_macros(&function.block),
        parameters: parameters(&function),
        kept: BTreeSet::new(),
        mut_by_user: BTreeSet::new(),
        broken: None,
        errors: Vec::new(),
        count: 0,
        around: 0,
    };
    if let Some(asyncness) = &function.sig.asyncness {
        let text = "an `async` function cannot run a stream: put the loop into a function that is not `async`, and call it from a blocking task";
        context.errors.push(Error::new(asyncness.span, text));
    }
    if let Some(constness) = &function.sig.constness {
        context.errors.push(Error::new(constness.span, "a `const` function cannot run a stream"));
    }
    context.visit_block_mut(&mut function.block);
    keep(&context.kept, &mut function);
    Quiet(&context.mut_by_user).visit_item_fn_mut(&mut function);
    Leftover(&mut context.errors).visit_block(&function.block);
    if context.count == 0 && context.errors.is_empty() {
        let text = "this function has no loop with `#[to_stream]`";
        context.errors.push(Error::new(function.sig.ident.span(), text));
    }
    match context.errors.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    }) {
        None => function.into_token_stream(),
        Some(errors) => {
            // The loops stay as they are, so editors still understand the function.
            let errors = errors.into_compile_error();
            quote!(#errors #plain)
        }
    }
}

/// The parameters of a function by name.
fn parameters(function: &ItemFn) -> BTreeMap<String, Ident> {
    let names = function.sig.inputs.iter().flat_map(|input| match input {
        FnArg::Receiver(receiver) => vec![Ident::new("self", receiver.self_token.span)],
        FnArg::Typed(input) => all_bindings(&input.pat).into_iter().map(|name| name.ident).collect(),
    });
    names.map(|name| (name.to_string(), name)).collect()
}

/// Allows an unused `mut` where these variables are declared. The loop as it was written needs the `mut`.
struct Quiet<'n>(&'n BTreeSet<String>);

impl Quiet<'_> {
    fn names(&self, pat: &Pat) -> bool {
        bindings(pat).iter().any(|name| name.is_mut && self.0.contains(&name.ident.to_string()))
    }
}

impl VisitMut for Quiet<'_> {
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        if self.names(&local.pat) {
            local.attrs.push(parse_quote!(#[allow(unused_mut)]));
        }
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_signature_mut(&mut self, signature: &mut syn::Signature) {
        for input in &mut signature.inputs {
            if let FnArg::Typed(input) = input
                && self.names(&input.pat)
            {
                input.attrs.push(parse_quote!(#[allow(unused_mut)]));
            }
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The names that a statement binds for later statements. Bindings with a `#[cfg(..)]` are left out, because they may
/// be compiled away.
fn bindings_of(stmt: &Stmt) -> Vec<Binding> {
    match stmt {
        Stmt::Local(local) if !local.attrs.iter().any(|attr| is(attr, "cfg")) => local_bindings(local),
        _ => Vec::new(),
    }
}

/// Binds each of these `&mut` parameters to a new name, and rebinds the old name to a reborrow. Borrows that the
/// function makes through the old name are then borrows of the new one, so the compiler can check them.
fn keep(kept: &BTreeSet<String>, function: &mut ItemFn) {
    let mut lets = Vec::new();
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(input) = input
            && let Pat::Ident(pat) = &mut *input.pat
            && kept.contains(&pat.ident.to_string())
        {
            let (name, word) = (&pat.ident, pat.mutability.take());
            let (kept, span) = (kept_name(name), name.span());
            lets.push(parse_quote_spanned!(span=> let #kept = #name;));
            lets.push(parse_quote_spanned!(span=> let #word #name = &mut *#kept;));
        }
    }
    function.block.stmts.splice(..0, lets);
}

/// Whether a type may also be written in a closure. `impl Trait` may not.
fn can_be_repeated(ty: &Type) -> bool {
    struct Impl(bool);
    impl<'ast> Visit<'ast> for Impl {
        fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut found = Impl(false);
    found.visit_type(ty);
    !found.0
}

impl Function {
    /// Visits code that is within a level.
    fn within(&mut self, levels: impl IntoIterator<Item = Level>, f: impl FnOnce(&mut Self)) {
        let before = self.levels.len();
        self.levels.extend(levels);
        f(self);
        self.levels.truncate(before);
    }

    fn binding(&mut self, names: &[Binding], f: impl FnOnce(&mut Self)) {
        self.within([Level::binds(names)], f);
    }

    /// Visits the body of a loop. `head` are the names that the head of an annotated loop binds, and those that
    /// it uses.
    fn body(&mut self, block: &mut syn::Block, head: Option<(&[Binding], &BTreeSet<String>)>) {
        let mut bound = Vec::new();
        for at in 0..block.stmts.len() {
            if is_annotated(&block.stmts[at]) {
                // In `let .. = LOOP else { .. }`, the `else` block runs after the loop.
                let diverges = match &block.stmts[at] {
                    Stmt::Local(syn::Local { init: Some(init), .. }) => init.diverge.as_ref(),
                    _ => None,
                };
                let diverges = diverges.map(|(_, other)| Stmt::Expr((**other).clone(), None));
                let rest = diverges.iter().chain(&block.stmts[at + 1..]);
                let mut levels = vec![Level::binds(&bound), Level::Uses(Uses::of(rest))];
                if let Some((items, head)) = head {
                    let segment = segment_around(&block.stmts, at);
                    let before: Vec<Binding> =
                        block.stmts[..segment.start].iter().flat_map(bindings_of).collect();
                    let mut known = names(block.stmts[segment].iter());
                    let is_used = |name: &&Binding| known.contains(&name.ident.to_string());
                    let items: Vec<Binding> = items.iter().chain(&before).filter(is_used).cloned().collect();
                    known.extend(bound.iter().map(|name| name.ident.to_string()));
                    known.extend(head.iter().cloned());
                    levels.push(Level::Repeats(known));
                    levels.push(Level::Uses(Uses::items(&items)));
                }
                self.broken = match &block.stmts[at] {
                    Stmt::Local(syn::Local { pat: Pat::Type(pat), init: Some(init), .. })
                        if matches!(*init.expr, Expr::Loop(_)) && can_be_repeated(&pat.ty) =>
                    {
                        Some((*pat.ty).clone())
                    }
                    _ => None,
                };
                self.within(levels, |this| this.visit_stmt_mut(&mut block.stmts[at]));
            }
            bound.extend(bindings_of(&block.stmts[at]));
        }
    }

    /// Visits the parts of an expression, each with the names that are in scope there.
    fn parts(&mut self, expr: &mut Expr, is_stream: bool) {
        match expr {
            Expr::Closure(closure) => {
                // The return type of a closure is left to the compiler.
                let returns = std::mem::replace(&mut self.returns, quote!(_));
                let inputs: Vec<Binding> = closure.inputs.iter().flat_map(all_bindings).collect();
                let pointers = closure_pointers(closure);
                let body = Stmt::Expr((*closure.body).clone(), None);
                let known = names([&body].into_iter());
                let levels =
                    [Level::Repeats(known), Level::binds(&inputs), Level::Uses(Uses::names(&pointers))];
                self.within(levels, |this| this.visit_expr_mut(&mut closure.body));
                self.returns = returns;
            }
            Expr::ForLoop(inner) => {
                self.visit_expr_mut(&mut inner.expr);
                let bound = all_bindings(&inner.pat);
                let head = bound.iter().map(|name| name.ident.to_string()).collect();
                let head = is_stream.then_some((&bound[..], &head));
                self.binding(&bound, |this| this.body(&mut inner.body, head));
            }
            Expr::While(inner) => {
                self.visit_expr_mut(&mut inner.cond);
                let head = names([&Stmt::Expr((*inner.cond).clone(), None)].into_iter());
                let bound = condition_bindings(&inner.cond);
                let head = head.into_iter().chain(bound.iter().map(|name| name.ident.to_string())).collect();
                let head = is_stream.then_some((&bound[..], &head));
                self.binding(&bound, |this| this.body(&mut inner.body, head));
            }
            Expr::Loop(inner) => {
                let head = BTreeSet::new();
                self.body(&mut inner.body, is_stream.then_some((&[], &head)));
            }
            Expr::If(inner) => {
                self.visit_expr_mut(&mut inner.cond);
                let bound = condition_bindings(&inner.cond);
                self.binding(&bound, |this| this.visit_block_mut(&mut inner.then_branch));
                inner.else_branch.iter_mut().for_each(|(_, other)| self.visit_expr_mut(other));
            }
            Expr::Match(inner) => {
                self.visit_expr_mut(&mut inner.expr);
                for arm in &mut inner.arms {
                    self.binding(&bindings(&arm.pat), |this| this.visit_arm_mut(arm));
                }
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }
}

impl VisitMut for Function {
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        self.body(block, None);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let attrs = attrs_of(expr);
        let mut annotation = attrs.and_then(|attrs| {
            let at = attrs.iter().position(|attr| is(attr, "to_stream"))?;
            Some(attrs.remove(at))
        });
        if let (Expr::Block(block), Some(attr)) = (&mut *expr, &annotation) {
            self.count += 1;
            let moved = hand_on(&mut block.block, attr);
            annotation = None;
            self.errors.extend(moved.err());
        }
        // Loops inside this one come first. They become ordinary code of its stages.
        let broken = self.broken.take();
        let (later, is_stream) = (evaluated_later(expr), annotation.is_some());
        self.around += usize::from(is_stream);
        self.within(later.map(Level::Uses), |this| this.parts(expr, is_stream));
        if let Some(annotation) = annotation {
            self.around -= 1;
            self.count += 1;
            self.broken = broken;
            match lower(expr, &annotation, self) {
                Ok(lowered) => *expr = lowered,
                Err(error) => self.errors.push(error),
            }
        }
    }
}

/// Moves the annotation of a block to the one loop in it.
fn hand_on(block: &mut syn::Block, attr: &Attribute) -> Result<(), Error> {
    fn loop_in(expr: &mut Expr) -> Option<&mut Expr> {
        match expr {
            Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => Some(expr),
            Expr::Assign(assign) => loop_in(&mut assign.right),
            Expr::Binary(binary) => loop_in(&mut binary.right),
            Expr::Paren(inner) => loop_in(&mut inner.expr),
            _ => None,
        }
    }
    let found = block.stmts.iter_mut().filter_map(|stmt| match stmt {
        Stmt::Expr(expr, _) => loop_in(expr),
        Stmt::Local(local) => loop_in(&mut local.init.as_mut()?.expr),
        _ => None,
    });
    match &mut found.collect::<Vec<_>>()[..] {
        [found] => {
            attrs_of(found).expect("a loop has attributes").push(attr.clone());
            Ok(())
        }
        [] => Err(Error::new(attr.path().span(), "expected a loop in the block after `#[to_stream]`")),
        [_, second, ..] => {
            let text = "the block after `#[to_stream]` has a second loop: put the annotation before one of the loops";
            Err(Error::new(second.span(), text))
        }
    }
}
