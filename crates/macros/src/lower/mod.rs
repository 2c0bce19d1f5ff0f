//! Lowers an annotated loop to calls of the stream builder.
//!
//! It takes the loop and gives an expression that builds and runs a stream: `source` writes its beginning,
//! `stage` one call for each stage, and `end` the code that leaves the loop as it would have been left. Each
//! segment becomes the closure of one call, in the order of the body, and the builder runs serial stages in
//! item order. So each stage sees what it would have seen in the loop.

mod ahead;
mod end;
mod source;
mod stage;
mod states;
mod tokens;

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Block, Error, Expr, Label, Lifetime, Pat, Result, Stmt, Type};

use crate::after::After;
use crate::body::{Segment, cut, find_crossings};
use crate::check::{check, may_be_ahead};
use crate::exits::{Exits, Jump, Rewrite};
use crate::function::Function;
use crate::gives::{Gives, Role, support};
use crate::items::{idents, misplaced};
use crate::leftover::nested_stage;
use crate::macros::calls_unknown;
use crate::moves::{HandOver, Moved, moved};
use crate::names::{all_bindings, condition_bindings};
use crate::options::StreamOptions;

/// A loop that is being lowered.
struct Loop<'f> {
    head: Head,
    label: Option<Lifetime>,
    options: StreamOptions,
    function: &'f mut Function,
    jumps: Vec<Jump>,
    /// The type of the value of the loop's `break`, if it is written down.
    broken: Option<Type>,
    /// The closures that create the states of workers.
    makes: TokenStream,
    /// The span of the word `to_stream`.
    span: Span,
    /// Whether the previous stage wraps its result in `NoReturnFromMacros`.
    unwraps: bool,
}

/// The head of a loop.
enum Head {
    Loop,
    While(Box<Expr>),
    For(Box<Pat>, Box<Expr>),
}

impl Head {
    fn pattern(&self) -> Option<&Pat> {
        match self {
            Head::For(pat, _) => Some(pat),
            _ => None,
        }
    }

    fn condition(&self) -> Option<&Expr> {
        match self {
            Head::While(cond) => Some(cond),
            _ => None,
        }
    }

    /// Whether the iterator is this variable itself.
    fn moves(&self, name: &str) -> bool {
        matches!(self, Head::For(_, iter) if matches!(&**iter, Expr::Path(path) if path.path.is_ident(name)))
    }

    /// The part of the head that runs for each item, as far as the syntax shows.
    fn of_each_item(&self) -> Option<Stmt> {
        match self {
            Head::Loop => None,
            Head::While(cond) => Some(Stmt::Expr((**cond).clone(), None)),
            // The iterator is created once, but it may change what it borrows each time it gives an item.
            Head::For(_, iter) => {
                matches!(&**iter, Expr::Reference(_)).then(|| Stmt::Expr((**iter).clone(), None))
            }
        }
    }
}

/// Lowers the loop in `expr`, whose annotation is `attr`.
pub fn lower(expr: &mut Expr, attr: &Attribute, function: &mut Function) -> Result<Expr> {
    let options = StreamOptions::new(attr)?;
    let span = attr.path().span();
    let (head, label, body) = match expr.clone() {
        Expr::Loop(expr) => (Head::Loop, expr.label, expr.body),
        Expr::While(expr) => (Head::While(expr.cond), expr.label, expr.body),
        Expr::ForLoop(expr) => (Head::For(expr.pat, expr.expr), expr.label, expr.body),
        other => {
            let text = "expected a loop after `#[to_stream]`: `loop`, `while`, `for`, or a block around one";
            return Err(Error::new(other.span(), text));
        }
    };
    let label = label.map(|Label { name, .. }| name);
    let broken = function.broken.take();
    Loop {
        head,
        label,
        options,
        function,
        jumps: Vec::new(),
        broken,
        makes: TokenStream::new(),
        span,
        unwraps: false,
    }
    .lower(body)
}

impl Loop<'_> {
    fn lower(mut self, body: Block) -> Result<Expr> {
        let options = self.options.values();
        let bound = match &self.head {
            Head::Loop => Vec::new(),
            Head::While(cond) => condition_bindings(cond),
            Head::For(pat, _) => all_bindings(pat),
        };
        let binds = Segment { stmts: body.stmts.clone(), ..Segment::default() }.binds();
        let names = bound.iter().chain(&binds).map(|binding| binding.ident.to_string()).collect();
        let (cond, pat) = (self.head.condition(), self.head.pattern());
        if let Some(error) = misplaced(&body.stmts, quote!(#cond #pat #options), &names) {
            return Err(error);
        }
        // Functions, `use`s and other items of the body are visible in all of it.
        let is_item = |stmt: &Stmt| matches!(stmt, Stmt::Item(item) if !crate::body::is_stage(item));
        let (items, stmts): (Vec<Stmt>, Vec<Stmt>) = body.stmts.into_iter().partition(is_item);
        let mut segments = cut(stmts)?;
        if segments.len() == 1 {
            if let Some(error) = nested_stage(&segments[0].stmts) {
                return Err(error);
            }
            let text =
                "this loop has no stage: put `#[stage(replicate)]` before the statement that does the work";
            return Err(Error::new(self.span, text));
        }
        let before = find_crossings(&mut segments, &bound);
        self.find_states(&mut segments, &before)?;

        let count = segments.len();
        let role = |at: usize| match at {
            0 => Role::Source,
            at if at + 1 == count => Role::Last,
            _ => Role::Stage,
        };
        let gives = |at: usize, Exits { skips, .. }: Exits, fails: bool, is_guarded: bool| Gives {
            role: role(at),
            skips,
            fails: fails || is_guarded,
            is_guarded,
        };
        let exits: Vec<Exits> = (0..count)
            .map(|at| {
                let mut stmts = segments[at].stmts.clone();
                let mut head = self.head.condition().filter(|_| at == 0).cloned();
                let gives = gives(at, Exits::default(), false, false);
                self.rewrite(&mut stmts, head.as_mut(), gives, &HandOver::default())
            })
            .collect();
        let all = exits.iter().copied().fold(Exits::default(), Exits::and);
        let head = self.head.of_each_item();
        let after = self.function.after(all.jumps);
        if let Some(error) =
            check(head.as_ref(), &segments, &before, &exits, &self.options, self.function, &after)
        {
            return Err(error);
        }
        let gives: Vec<Gives> = (0..count)
            .map(|at| {
                let stmts = &segments[at].stmts;
                let head = self.head.condition().filter(|_| at == 0);
                gives(at, exits[at], exits[at].fails(), calls_unknown(quote!(#head #(#stmts)*)))
            })
            .collect();
        let (moved, hand_over) = self.hand_over(&segments, &before, &exits, options, &after);
        let unchanged = self.unchanged(&segments, &before, &exits, after, &moved)?;
        let result = self.result_type(all);
        let setup = std::mem::take(&mut self.makes);
        let mut source = self.source(&mut segments, exits[0], gives[0], &hand_over[0], &result);
        let mut checks = TokenStream::new();
        // Without an order, a failure drops what is in flight. A part that leaves the loop has finished the items before.
        let leaves = gives[..count - 1].iter().any(|gives| gives.fails) && {
            let mut options = segments.iter().filter_map(|segment| segment.options.as_ref());
            self.options.is_unordered || options.any(|options| options.is_unordered)
        };
        for (at, &gives) in gives.iter().enumerate().skip(1) {
            if let Some(unchanged) = unchanged.as_ref().filter(|unchanged| unchanged.before == at) {
                checks = unchanged.code(&mut source.chain, self.span);
            }
            if at + 1 == count && leaves {
                let (support, chain) = (support(self.span.resolved_at(Span::mixed_site())), source.chain);
                source.chain = quote!(#support::leaving(#chain, |_| true));
            }
            self.stage(&mut source.chain, &mut segments, at, gives, &hand_over[at], &result);
        }
        let fails = gives.iter().any(|gives| gives.fails);
        let moved_out = hand_over.iter().map(|hand_over| &hand_over.before);
        let moved_back = hand_over.iter().map(|hand_over| &hand_over.after);
        let setup = quote!(#(#items)* #setup #(#moved_out)* #checks);
        Ok(self.end(setup, source, quote!(#(#moved_back)*), all, fails))
    }

    /// How each serial segment hands over the variables that it moves, and the names of all these variables.
    fn hand_over(
        &mut self,
        segments: &[Segment],
        before: &[BTreeSet<String>],
        exits: &[Exits],
        options: TokenStream,
        after: &After,
    ) -> (BTreeSet<String>, Vec<HandOver>) {
        let head = Segment {
            stmts: self.head.condition().map(|cond| Stmt::Expr(cond.clone(), None)).into_iter().collect(),
            ..Segment::default()
        };
        let mut uses: Vec<_> = segments.iter().map(|segment| segment.uses(&[])).collect();
        uses[0].extend(head.uses(&[]));
        let options = idents(options);
        let (mut names, mut muts) = (BTreeSet::new(), BTreeSet::new());
        let of_segment = |(at, segment): (usize, &Segment)| {
            if segment.is_replicated() {
                return HandOver::default();
            }
            let own = |name: &str| {
                let elsewhere = |other: usize| {
                    other != at && uses[other].contains_key(name) && !before[other].contains(name)
                };
                before[at].contains(name) || options.contains(name) || (0..segments.len()).any(elsewhere)
            };
            let mut moved = moved(&segment.stmts, own, self.function, after);
            // If a later segment ends the loop, this one may have run ahead and moved the variable away for
            // good.
            let is_needed = |moved: &Moved| {
                let is_pointer = self.function.variables.pointers.contains(&moved.name.to_string());
                moved.is_used_after || is_pointer
            };
            moved.retain(|moved| !(may_be_ahead(exits, at) && is_needed(moved)));
            names.extend(moved.iter().map(|moved| moved.name.to_string()));
            let is_mut = moved.iter().filter(|moved| moved.is_mut);
            muts.extend(is_mut.map(|moved| moved.name.to_string()));
            HandOver::new(&moved, self.function.count)
        };
        let hand_over = segments.iter().enumerate().map(of_segment).collect();
        self.function.mut_by_user.extend(muts);
        (names, hand_over)
    }

    fn rewrite(
        &mut self,
        stmts: &mut [Stmt],
        head: Option<&mut Expr>,
        gives: Gives,
        hand_over: &HandOver,
    ) -> Exits {
        let mut rewrite = Rewrite {
            gives,
            returns: &self.function.returns,
            broken: self.broken.as_ref(),
            hand_over,
            label: self.label.as_ref(),
            jumps: &mut self.jumps,
            found: Exits::default(),
            errors: &mut self.function.errors,
            depth: 0,
            inner: Vec::new(),
        };
        head.into_iter().for_each(|head| rewrite.visit_expr_mut(head));
        rewrite.stmts(stmts);
        rewrite.found
    }
}
