//! Finds the annotated loops of a function and has each of them lowered.
//!
//! It takes the function and gives it back with the lowered loops, or with compile errors and its loops as
//! they were. Inner loops are lowered before outer ones, so a loop inside a stage is ordinary code of that
//! stage. On the way down it records which names the code around each loop uses later, which `check` needs.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Error, Expr, ItemFn, Pat, ReturnType, Stmt, Type};

use crate::after::{evaluated_later, is_annotated, names};
use crate::body::{attrs_of, is};
use crate::changes::Change;
use crate::lends::lent;
use crate::lower::lower;
use crate::plain::without_annotations;
use crate::variables::Variables;

/// What lowering a loop needs to know about its function.
pub struct Function {
    /// The return type of the function, or `_` if it cannot be written a second time.
    pub returns: TokenStream,
    pub variables: Variables,
    /// For each block and expression around the current loop, the names that it uses after the loop.
    after: Vec<BTreeSet<String>>,
    /// The type of the value of the next loop's `break`, if it is written down.
    pub broken: Option<Type>,
    pub errors: Vec<Error>,
    /// How many loops were lowered.
    pub count: usize,
    /// How many annotated loops are around the current code.
    pub around: usize,
}

impl Function {
    /// Why a change of a variable is visible after the loop, by this function or by its caller. `None` if it
    /// is not.
    ///
    /// With `through`, a change of what the variable points to counts as well.
    pub fn seen_after(&self, name: &str, through: bool) -> Option<String> {
        let mut seen = BTreeSet::new();
        let mut names = vec![name];
        while let Some(other) = names.pop() {
            let changes = if other == name {
                format!("`{name}`")
            } else {
                format!("`{name}` may change `{other}`, which")
            };
            if self.after.iter().any(|names| names.contains(other)) {
                return Some(format!("{changes} is used after the loop"));
            }
            if through && self.variables.pointers.contains(other) {
                return Some(format!("{changes} points to a value that the caller sees after the loop"));
            }
            if through && seen.insert(other) {
                names.extend(self.variables.lenders.get(other).into_iter().flatten().map(String::as_str));
            }
        }
        None
    }

    /// The changes that the iterator of a loop makes each time it is asked for an item.
    pub fn taken_by(&self, iter: &Expr) -> Vec<Change> {
        let Variables { mutable, pointers, lenders, .. } = &self.variables;
        let points = |name: &str| pointers.contains(name) || lenders.contains_key(name);
        let taken = lent(iter, mutable, points).into_values();
        taken.map(Change::within).collect()
    }
}

/// Lowers every annotated loop of a function.
pub fn expand(mut function: ItemFn) -> TokenStream {
    let plain = without_annotations(function.to_token_stream());
    let returns = match &function.sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, ty) if can_be_repeated(ty) => ty.to_token_stream(),
        ReturnType::Type(..) => quote!(_),
    };
    let (variables, after, errors) = (Variables::of(&function), Vec::new(), Vec::new());
    let mut context = Function { returns, variables, after, errors, broken: None, count: 0, around: 0 };
    if let Some(asyncness) = &function.sig.asyncness {
        let text = "an `async` function cannot run a stream: put the loop into a function that is not `async`, and call it from a blocking task";
        context.errors.push(Error::new(asyncness.span, text));
    }
    if let Some(constness) = &function.sig.constness {
        context.errors.push(Error::new(constness.span, "a `const` function cannot run a stream"));
    }
    context.visit_block_mut(&mut function.block);
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

impl VisitMut for Function {
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        for at in 0..block.stmts.len() {
            if is_annotated(&block.stmts[at]) {
                self.after.push(names(block.stmts[at + 1..].iter()));
                self.broken = match &block.stmts[at] {
                    Stmt::Local(syn::Local { pat: Pat::Type(pat), init: Some(init), .. })
                        if matches!(*init.expr, Expr::Loop(_)) && can_be_repeated(&pat.ty) =>
                    {
                        Some((*pat.ty).clone())
                    }
                    _ => None,
                };
                self.visit_stmt_mut(&mut block.stmts[at]);
                self.after.pop();
            }
        }
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
        self.after.push(evaluated_later(expr));
        self.around += usize::from(annotation.is_some());
        if let Expr::Closure(closure) = expr {
            // The return type of a closure is left to the compiler.
            let returns = std::mem::replace(&mut self.returns, quote!(_));
            self.visit_expr_mut(&mut closure.body);
            self.returns = returns;
        } else {
            visit_mut::visit_expr_mut(self, expr);
        }
        self.after.pop();
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

/// The error for a `#[stage]` that is nested inside a statement.
pub fn nested_stage(stmts: &[Stmt]) -> Option<Error> {
    let mut errors = Vec::new();
    stmts.iter().for_each(|stmt| Leftover(&mut errors).visit_stmt(stmt));
    errors.pop()
}

/// Finds annotations in places where they have no meaning.
struct Leftover<'e>(&'e mut Vec<Error>);

impl<'ast> Visit<'ast> for Leftover<'_> {
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_attribute(&mut self, attr: &'ast Attribute) {
        // An error in the loop itself is more useful.
        if !self.0.is_empty() {
            return;
        }
        if is(attr, "stage") {
            let text = "`#[stage]` belongs before a statement of the body of a loop with `#[to_stream]`: not inside \
                        another statement, and not outside of such a loop";
            self.0.push(Error::new(attr.path().span(), text));
        } else if is(attr, "to_stream") {
            let text = "expected a loop after `#[to_stream]`: `loop`, `while`, `for`, or a block around one";
            self.0.push(Error::new(attr.path().span(), text));
        }
    }
}
