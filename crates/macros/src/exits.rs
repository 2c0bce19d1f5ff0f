//! Rewrites the ways out of the loop: `break`, `continue`, `return` and `?`.
//!
//! It takes the statements of a segment, which become the body of a closure, and gives them back with each
//! way out replaced by a `return` of that closure. `Ok` means that the loop goes on, and `Err` says how it is
//! left. This keeps the meaning, because the stream delivers the results of all earlier items and then hands
//! this `Err` to the code after the loop, which leaves it in the same way.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Error, Expr, ExprBreak, ExprContinue, ExprReturn, Lifetime, Stmt, parse_quote_spanned};

use crate::gives::{Gives, Role, ours, support};
use crate::macros::{arguments, way_out};
use crate::moves::HandOver;

/// The ways out that one segment has, or all segments of a loop together.
#[derive(Clone, Copy, Default)]
pub struct Exits {
    /// An item may be dropped (`continue`).
    pub skips: bool,
    /// A stage may end the loop by `break`, or the source by `break` with a value.
    pub breaks: bool,
    /// The source may end the loop by `break`.
    pub ends: bool,
    /// A loop around this one may be left, or may go to its next iteration.
    pub jumps: bool,
    /// A stage or the source may end the loop by `break` with a value.
    pub breaks_with_value: bool,
    /// The function may return.
    pub returns: bool,
    /// The first `break`, or jump to an outer label, after which the function goes on behind the loop. A `break` of the
    /// source without a value is not counted.
    pub leaves: Option<Span>,
}

impl Exits {
    pub fn fails(&self) -> bool {
        self.breaks || self.jumps || self.returns
    }

    pub fn and(self, other: Self) -> Self {
        Self {
            skips: self.skips || other.skips,
            breaks: self.breaks || other.breaks,
            ends: self.ends || other.ends,
            jumps: self.jumps || other.jumps,
            breaks_with_value: self.breaks_with_value || other.breaks_with_value,
            returns: self.returns || other.returns,
            leaves: self.leaves.or(other.leaves),
        }
    }
}

/// A jump to a label outside of the loop.
#[derive(Clone, PartialEq, Eq)]
pub struct Jump {
    pub label: Lifetime,
    pub is_continue: bool,
}

/// Rewrites the ways out of one segment.
pub struct Rewrite<'l> {
    pub gives: Gives,
    /// The return type of the function.
    pub returns: &'l TokenStream,
    /// The type of the value of `break`, if it is written down.
    pub broken: Option<&'l syn::Type>,
    pub hand_over: &'l HandOver,
    pub label: Option<&'l Lifetime>,
    pub jumps: &'l mut Vec<Jump>,
    pub found: Exits,
    pub errors: &'l mut Vec<Error>,
    /// How many loops inside the segment are around the current code. An unlabelled `break` leaves the
    /// innermost.
    pub depth: usize,
    /// The labels inside the segment that are around the current code.
    pub inner: Vec<Lifetime>,
}

impl Rewrite<'_> {
    pub fn stmts(&mut self, stmts: &mut [Stmt]) {
        stmts.iter_mut().for_each(|stmt| self.visit_stmt_mut(stmt));
    }

    /// The replacement of `continue`.
    fn skip(&mut self, span: Span) -> Expr {
        self.found.skips = true;
        if self.gives.role == Role::Source {
            return parse_quote_spanned!(span=> continue);
        }
        give(&self.hand_over.put, self.gives.none(span), span)
    }

    /// Leaves the loop, after which the function goes on.
    fn leave(&mut self, span: Span, exit: TokenStream) -> Expr {
        give(&self.hand_over.leave, self.gives.exit(exit, span), span)
    }

    fn end(&mut self, span: Span) -> Expr {
        if self.gives.role == Role::Source {
            // The items before this one will be finished all the same, so the source may end like an
            // iterator.
            self.found.ends = true;
            return give(&self.hand_over.leave, self.gives.none(span), span);
        }
        self.found.breaks = true;
        self.found.leaves.get_or_insert(span);
        self.leave(span, quote_spanned!(span=> Break(())))
    }

    fn end_with(&mut self, value: &Expr, span: Span) -> Expr {
        self.found.breaks = true;
        self.found.leaves.get_or_insert(span);
        self.found.breaks_with_value = true;
        let (support, broken, leave) = (support(span), self.broken, &self.hand_over.leave);
        let kept = ours("value", span);
        let ty = broken.map_or_else(|| quote_spanned!(span=> _), |ty| quote_spanned!(span=> #ty));
        let (before, value) = match leave.is_empty() {
            true => (None, quote_spanned!(span=> #value)),
            false => (Some(quote_spanned!(span=> let #kept: #ty = #value;)), quote_spanned!(span=> #kept)),
        };
        let exit = self.gives.error(quote_spanned!(span=> #support::Exit::<#ty, _>::Break(#value)), span);
        give(&quote_spanned!(span=> #before #leave), exit, span)
    }

    fn jump(&mut self, label: &Lifetime, is_continue: bool, span: Span) -> Expr {
        self.found.jumps = true;
        self.found.leaves.get_or_insert(span);
        let jump = Jump { label: label.clone(), is_continue };
        let number = self.jumps.iter().position(|other| *other == jump).unwrap_or_else(|| {
            self.jumps.push(jump);
            self.jumps.len() - 1
        });
        self.leave(span, quote_spanned!(span=> Jump(#number)))
    }

    fn is_ours(&self, label: Option<&Lifetime>) -> bool {
        match label {
            None => self.depth == 0,
            Some(label) => !self.inner.contains(label) && self.label == Some(label),
        }
    }

    fn is_inner(&self, label: Option<&Lifetime>) -> bool {
        match label {
            None => self.depth > 0,
            Some(label) => self.inner.contains(label),
        }
    }

    fn breaks(&mut self, expr: ExprBreak) -> Expr {
        let span = expr.break_token.span;
        if self.is_inner(expr.label.as_ref()) {
            return Expr::Break(expr);
        }
        if self.is_ours(expr.label.as_ref()) {
            return match expr.expr {
                None => self.end(span),
                Some(value) => self.end_with(&value, span),
            };
        }
        let label = expr.label.as_ref().expect("an unlabelled break is ours or inner");
        if let Some(value) = &expr.expr {
            let text = "`break` with a value cannot leave an outer loop from here: keep the value in a variable of the \
                        function, leave this loop with `break`, and `break` the outer loop with the value after it";
            self.errors.push(Error::new(value.span(), text));
        }
        self.jump(label, false, span)
    }

    fn continues(&mut self, expr: ExprContinue) -> Expr {
        let span = expr.continue_token.span;
        if self.is_inner(expr.label.as_ref()) {
            Expr::Continue(expr)
        } else if self.is_ours(expr.label.as_ref()) {
            if self.depth > 0 && self.gives.role == Role::Source {
                // This `continue` is inside an inner loop of the source. The next item is the next iteration of a loop
                // around it, in the same closure.
                self.found.skips = true;
                let label = source_label(span);
                return parse_quote_spanned!(span=> continue #label);
            }
            self.skip(span)
        } else {
            let label = expr.label.as_ref().expect("an unlabelled continue is ours or inner");
            self.jump(label, true, span)
        }
    }

    fn returns(&mut self, expr: ExprReturn) -> Expr {
        let span = expr.return_token.span;
        self.found.returns = true;
        let (support, returns, value) = (support(span), self.returns, ours("value", span));
        let (given, made) = match expr.expr.map(|value| *value) {
            None => (None, quote_spanned!(span=> ())),
            // The `return` of a nested annotated loop, which leaves this loop in the same way.
            Some(Expr::Call(call)) if is_call_to(&call, "give") => {
                let exit = &call.args[0];
                let exit = self.gives.exit(quote_spanned!(span=> Return(#exit)), span);
                return parse_quote_spanned!(span=> return #exit);
            }
            // Only the value inside the variant crosses threads. The type around it need not be `Send`.
            Some(Expr::Call(call)) if call.args.len() == 1 && is_variant(&call) => {
                let variant = &call.func;
                let given = call.args.first().map(|given| self.kept(variant, given));
                (given, quote_spanned!(span=> #variant(#value)))
            }
            Some(given) => (Some(given.to_token_stream()), quote_spanned!(span=> #value)),
        };
        let given = given.map(|given| quote_spanned!(span=> let #value = #given;));
        let exit = quote_spanned!(span=> #support::Exit::<_, #returns>::returns(move || #made));
        let exit = self.gives.error(exit, span);
        parse_quote_spanned!(span=> { #given return #exit })
    }

    /// The part of a returned value that crosses threads. The value in `Err(value)` is converted to a type that is
    /// `Send`.
    fn kept(&self, variant: &Expr, given: &Expr) -> TokenStream {
        let (span, returns) = (given.span(), self.returns);
        if !is_named(variant, "Err") || returns.to_string() == "_" {
            return given.to_token_stream();
        }
        let support = support(span);
        let keep = quote_spanned! {span=> {
            #[allow(unused_imports)]
            use #support::Keep as _;
            #support::Fails::<#returns>::new().keep()
        }};
        quote_spanned!(span=> (#keep)(#given))
    }

    fn asks(&mut self, value: &Expr, question: Span) -> Expr {
        self.found.returns = true;
        let support = support(question);
        let (inside, residual) = (ours("value", question), ours("residual", question));
        let exit = self.gives.exit(quote_spanned!(question=> asks(#residual)), question);
        parse_quote_spanned!(question=> match #support::Ask::ask(#value) {
            ::core::ops::ControlFlow::Continue(#inside) => #inside,
            ::core::ops::ControlFlow::Break(#residual) => return #exit,
        })
    }

    fn inside(&mut self, label: Option<&syn::Label>, is_loop: bool, f: impl FnOnce(&mut Self)) {
        self.depth += usize::from(is_loop);
        self.inner.extend(label.map(|label| label.name.clone()));
        f(self);
        if label.is_some() {
            self.inner.pop();
        }
        self.depth -= usize::from(is_loop);
    }
}

/// Returns `value` from the closure, after the statements `before`.
fn give(before: &TokenStream, value: TokenStream, span: Span) -> Expr {
    if before.is_empty() {
        parse_quote_spanned!(span=> return #value)
    } else {
        parse_quote_spanned!(span=> { #before return #value })
    }
}

/// The label of the loop around a source's statements.
pub fn source_label(span: Span) -> Lifetime {
    Lifetime::new("'anabranch_source", span.resolved_at(Span::mixed_site()))
}

fn is_call_to(call: &syn::ExprCall, name: &str) -> bool {
    let Expr::Path(path) = &*call.func else { return false };
    let mut segments = path.path.segments.iter().rev();
    segments.next().is_some_and(|last| last.ident == name)
        && segments.next().is_some_and(|module| module.ident == "annotation")
}

/// Whether a call is `Ok(..)`, `Err(..)` or `Some(..)`.
fn is_variant(call: &syn::ExprCall) -> bool {
    ["Ok", "Err", "Some"].iter().any(|name| is_named(&call.func, name))
}

fn is_named(expr: &Expr, name: &str) -> bool {
    let Expr::Path(path) = expr else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == name)
}

impl VisitMut for Rewrite<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // Closures, `async` blocks and the like have their own ways out.
        match expr {
            Expr::Closure(_) | Expr::Async(_) | Expr::Const(_) | Expr::TryBlock(_) => return,
            Expr::While(inner) => {
                // A `break` in the condition leaves the inner loop too.
                let label = inner.label.clone();
                self.inside(label.as_ref(), true, |this| visit_mut::visit_expr_while_mut(this, inner));
                return;
            }
            Expr::Loop(inner) => {
                let label = inner.label.clone();
                self.inside(label.as_ref(), true, |this| this.visit_block_mut(&mut inner.body));
                return;
            }
            Expr::ForLoop(inner) => {
                self.visit_expr_mut(&mut inner.expr);
                let label = inner.label.clone();
                self.inside(label.as_ref(), true, |this| this.visit_block_mut(&mut inner.body));
                return;
            }
            Expr::Block(inner) => {
                let label = inner.label.clone();
                self.inside(label.as_ref(), false, |this| this.visit_block_mut(&mut inner.block));
                return;
            }
            _ => visit_mut::visit_expr_mut(self, expr),
        }
        let taken = std::mem::replace(expr, Expr::Verbatim(TokenStream::new()));
        *expr = match taken {
            Expr::Break(exit) => self.breaks(exit),
            Expr::Continue(exit) => self.continues(exit),
            Expr::Return(exit) => self.returns(exit),
            Expr::Try(exit) => self.asks(&exit.expr, exit.question_token.span()),
            other => other,
        };
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_macro_mut(&mut self, call: &mut syn::Macro) {
        let Some(exit) = way_out(&call.tokens, self.depth, &self.inner) else {
            let hidden = ["bail", "ensure", "try", "r#try"];
            if let Some(last) = call.path.segments.last()
                && hidden.iter().any(|name| last.ident == name)
            {
                let text = format!(
                    "`{}!` returns from the function, which a stage cannot see: write `return Err(..)` instead",
                    last.ident
                );
                self.errors.push(Error::new(last.ident.span(), text));
            }
            return;
        };
        match arguments(&call.tokens, |expr| self.visit_expr_mut(expr)) {
            Some(tokens) => call.tokens = tokens,
            None => {
                let text = "`break`, `continue`, `return` or `?` inside the arguments of this macro cannot be rewritten: \
                            put the value into a variable before, with `let`";
                self.errors.push(Error::new(exit, text));
            }
        }
    }
}
