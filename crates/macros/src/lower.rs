//! From an annotated loop to calls of the builder.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Error, Expr, Label, Lifetime, Pat, Result, Stmt, parse_quote};

use crate::body::{Segment, cut, find_crossings};
use crate::check::check;
use crate::exits::{Exits, Jump, Place, Rewrite, source_label, support};
use crate::function::Function;
use crate::names::{Binding, bindings, condition_bindings};
use crate::options::{State, StreamOptions};

/// A loop in the making.
struct Loop<'f> {
    head: Head,
    label: Option<Lifetime>,
    options: StreamOptions,
    function: &'f mut Function,
    jumps: Vec<Jump>,
    /// The word `to_stream`.
    span: Span,
}

/// What stands before a loop's body.
enum Head {
    Loop,
    While(Box<Expr>),
    For(Box<Pat>, Box<Expr>),
}

impl Head {
    /// What runs for each item, as far as it may change a variable.
    fn of_each_item(&self) -> Option<Stmt> {
        match self {
            Head::Loop => None,
            Head::While(cond) => Some(Stmt::Expr((**cond).clone(), None)),
            // An iterator is made once; what it borrows to change, it may change for each item.
            Head::For(_, iter) => match &**iter {
                Expr::Reference(_) => Some(Stmt::Expr((**iter).clone(), None)),
                Expr::MethodCall(call) if call.method == "by_ref" => {
                    let of = &call.receiver;
                    Some(parse_quote!(&mut #of;))
                }
                _ => None,
            },
        }
    }
}

/// Lowers the loop that is annotated with `attr`.
pub fn lower(expr: &mut Expr, attr: &Attribute, function: &mut Function) -> Result<Expr> {
    let options = StreamOptions::new(attr)?;
    let span = attr.path().span();
    let (head, label, body) = match expr.clone() {
        Expr::Loop(expr) => (Head::Loop, expr.label, expr.body),
        Expr::While(expr) => (Head::While(expr.cond), expr.label, expr.body),
        Expr::ForLoop(expr) => (Head::For(expr.pat, expr.expr), expr.label, expr.body),
        Expr::Block(mut block) => {
            lower_in(&mut block.block, attr, function)?;
            return Ok(Expr::Block(block));
        }
        other => {
            let text = "expected a loop behind `#[to_stream]`: `loop`, `while`, `for`, or a block around one";
            return Err(Error::new(other.span(), text));
        }
    };
    let label = label.map(|Label { name, .. }| name);
    Loop { head, label, options, function, jumps: Vec::new(), span }.lower(body)
}

/// Lowers the one loop of a block.
fn lower_in(block: &mut Block, attr: &Attribute, function: &mut Function) -> Result<()> {
    let is_loop =
        |stmt: &&mut Stmt| matches!(stmt, Stmt::Expr(Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_), _));
    let mut loops: Vec<&mut Stmt> = block.stmts.iter_mut().filter(is_loop).collect();
    match &mut loops[..] {
        [Stmt::Expr(expr, _)] => {
            *expr = lower(expr, attr, function)?;
            Ok(())
        }
        [] => Err(Error::new(attr.path().span(), "expected a loop in the block behind `#[to_stream]`")),
        [_, second, ..] => {
            let text =
                "a second loop in the block behind `#[to_stream]`: put the annotation before one of them";
            Err(Error::new(second.span(), text))
        }
        _ => unreachable!("only expressions were kept"),
    }
}

/// A name of ours that no name of the user's can meet.
fn ours(name: &str, span: Span) -> Ident {
    Ident::new(name, span.resolved_at(Span::mixed_site()))
}

/// Names as one value, which goes to what `span` stands for.
fn tuple(names: &[Binding], span: Span) -> TokenStream {
    let idents: Vec<&Ident> = names.iter().map(|name| &name.ident).collect();
    match &idents[..] {
        [] => quote_spanned!(span=> ()),
        [only] => quote!(#only),
        several => quote_spanned!(span=> (#(#several),*)),
    }
}

/// Names as a pattern.
fn pattern(names: &[Binding]) -> TokenStream {
    let parts: Vec<TokenStream> = names
        .iter()
        .map(|Binding { ident, is_mut }| if *is_mut { quote!(mut #ident) } else { quote!(#ident) })
        .collect();
    match &parts[..] {
        [] => quote!(()),
        [only] => quote!(#only),
        several => quote!((#(#several),*)),
    }
}

impl Loop<'_> {
    fn lower(mut self, body: Block) -> Result<Expr> {
        // Functions and `use`s in the body are there for all of it.
        let is_item = |stmt: &Stmt| matches!(stmt, Stmt::Item(item) if !crate::body::is_stage(item));
        let (items, stmts): (Vec<Stmt>, Vec<Stmt>) = body.stmts.into_iter().partition(is_item);
        let mut segments = cut(stmts)?;
        if segments.len() == 1 {
            let text =
                "this loop has no stage: put `#[stage(replicate)]` before the statement that does the work";
            return Err(Error::new(self.span, text));
        }
        let bound = match &self.head {
            Head::Loop => Vec::new(),
            Head::While(cond) => condition_bindings(cond),
            Head::For(pat, _) => bindings(pat),
        };
        let before = find_crossings(&mut segments, &bound);
        self.find_states(&mut segments, &before)?;

        let exits: Vec<Exits> = (0..segments.len()).map(|at| self.look(&segments, at)).collect();
        let all = exits.iter().copied().fold(Exits::default(), Exits::and);
        let head = self.head.of_each_item();
        if let Some(error) =
            check(head.as_ref(), &segments, &before, &exits, &self.options, &bound, self.function)
        {
            return Err(error);
        }
        let result = self.result_type(all);
        let (setup, mut chain) = self.source(&mut segments, exits[0], &result);
        for (at, exits) in exits.into_iter().enumerate().skip(1) {
            self.stage(&mut chain, &mut segments, at, exits, &result);
        }
        Ok(self.end(quote!(#(#items)* #setup), chain, all))
    }

    /// How the code of a segment leaves the loop.
    fn look(&mut self, segments: &[Segment], at: usize) -> Exits {
        let mut stmts = segments[at].stmts.clone();
        let mut head = match &self.head {
            Head::While(cond) if at == 0 => Some((**cond).clone()),
            _ => None,
        };
        self.rewrite(&mut stmts, head.as_mut(), at, at + 1 == segments.len(), false)
    }

    fn rewrite(
        &mut self,
        stmts: &mut [Stmt],
        head: Option<&mut Expr>,
        at: usize,
        is_last: bool,
        fails: bool,
    ) -> Exits {
        let mut rewrite = Rewrite {
            place: if at == 0 { Place::Source } else { Place::Stage },
            fails,
            is_last,
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

    /// Finds the variable of each `state = ||..`, and points to the states in the code.
    fn find_states(&mut self, segments: &mut [Segment], before: &[BTreeSet<String>]) -> Result<()> {
        for (segment, before) in segments.iter_mut().zip(before) {
            let Some(options) = &mut segment.options else { continue };
            if let Some(State::Unnamed(span, make)) = &options.state {
                let changes = crate::changes::changes(segment.stmts.iter());
                let is_candidate =
                    |name: &String| !before.contains(name) && self.function.mutable.get(name) == Some(&true);
                let mut names: Vec<Ident> = Vec::new();
                for change in changes {
                    if is_candidate(&change.base.to_string()) && !names.contains(&change.base) {
                        names.push(change.base);
                    }
                }
                let [name] = &names[..] else {
                    let text = "`state = ..` takes the place of the one variable that this stage changes, and there is \
                                not one: write `state(name = ..)`";
                    return Err(Error::new(*span, text));
                };
                options.state = Some(State::Named(vec![(name.clone(), parse_quote!((#make)()))]));
            }
            if let Some(State::Named(states)) = &options.state {
                let mut point = Point(states.iter().map(|(name, _)| name.to_string()).collect());
                segment.stmts.iter_mut().for_each(|stmt| point.visit_stmt_mut(stmt));
            }
        }
        Ok(())
    }

    /// What closures give that leave the loop, up to their items.
    fn result_type(&self, all: Exits) -> TokenStream {
        let support = support(self.span.resolved_at(Span::mixed_site()));
        let never = quote!(::core::convert::Infallible);
        let value = match (all.breaks_with_value, all.breaks) {
            (true, _) => quote!(_),
            (false, true) => quote!(()),
            (false, false) => never.clone(),
        };
        let returned = if all.returns { self.function.returns.clone() } else { never };
        quote!(#support::Exit<'_, #value, #returned>)
    }

    /// What goes before the source; the source, and the settings of the whole.
    fn source(
        &mut self,
        segments: &mut [Segment],
        exits: Exits,
        exit: &TokenStream,
    ) -> (TokenStream, TokenStream) {
        let span = self.span.resolved_at(Span::mixed_site());
        let gives = tuple(&segments[1].takes, stage_span(&segments[1], self.span));
        let mut stmts = std::mem::take(&mut segments[0].stmts);
        let fails = exits.fails();
        let mut head = match &self.head {
            Head::While(cond) => Some((**cond).clone()),
            _ => None,
        };
        self.rewrite(&mut stmts, head.as_mut(), 0, false, fails);
        let (some, none) = if fails {
            (
                quote!(::core::result::Result::Ok(::core::option::Option::Some(#gives))),
                quote!(::core::result::Result::Ok(::core::option::Option::None)),
            )
        } else {
            (quote!(::core::option::Option::Some(#gives)), quote!(::core::option::Option::None))
        };
        let items = ours("items", span);
        let stream = quote_spanned!(span=> ::anabranch::Stream);
        let is_plain = !fails && !exits.skips && !exits.ends;
        let mut setup = self.mentions(segments);
        let mut source = match &self.head {
            Head::For(pat, iter) if is_plain && stmts.is_empty() && is_same(pat, &segments[1].takes) => {
                quote!(#stream::from_iter(#iter))
            }
            Head::For(pat, iter) if is_plain => {
                let iter = quote!(::core::iter::IntoIterator::into_iter(#iter));
                quote_spanned!(span=> #stream::from_iter(::core::iter::Iterator::map(#iter, |#pat| { #(#stmts)* #gives })))
            }
            _ => {
                let body = match &self.head {
                    Head::Loop => quote!(#(#stmts)* return #some;),
                    Head::While(_) => quote!(if #head { #(#stmts)* return #some; } return #none;),
                    Head::For(pat, _) => quote! {
                        let ::core::option::Option::Some(#pat) = ::core::iter::Iterator::next(&mut #items) else {
                            return #none;
                        };
                        #(#stmts)*
                        return #some;
                    },
                };
                let label = source_label(span);
                let body = if exits.skips { quote!(#label: loop { #body }) } else { body };
                let (from, result) = if fails {
                    let result = quote!(-> ::core::result::Result<::core::option::Option<_>, #exit>);
                    (quote_spanned!(span=> try_from_fn), Some(result))
                } else {
                    (quote_spanned!(span=> from_fn), None)
                };
                if let Head::For(_, iter) = &self.head {
                    setup.extend(quote!(let mut #items = ::core::iter::IntoIterator::into_iter(#iter);));
                }
                quote_spanned!(span=> #stream::#from(|| #result { #body }))
            }
        };
        let StreamOptions { window, workers, burst, pool, cancel, title, .. } = &self.options;
        let set = [
            ("window", window),
            ("workers", workers),
            ("burst", burst),
            ("pool", pool),
            ("cancel", cancel),
            ("title", title),
        ];
        if self.options.is_dedicated {
            source.extend(quote_spanned!(span=> .dedicated()));
        }
        for (name, value) in set {
            if let Some(value) = value {
                let name = Ident::new(name, value.span().resolved_at(Span::mixed_site()));
                source.extend(quote!(.#name(#value)));
            }
        }
        if self.options.spins {
            source.extend(quote_spanned!(span=> .spin()));
        }
        if self.options.is_unordered {
            source.extend(quote_spanned!(span=> .unordered()));
        }
        (setup, source)
    }

    /// Uses the variables in whose place workers have states of their own, as the loop would.
    fn mentions(&self, segments: &[Segment]) -> TokenStream {
        let states = segments.iter().filter_map(|segment| match &segment.options.as_ref()?.state {
            Some(State::Named(states)) => Some(states),
            _ => None,
        });
        let mention = |(name, _): &(Ident, Expr)| match self.function.mutable.get(&name.to_string()) {
            Some(true) => quote!(let _ = &mut #name;),
            _ => quote!(let _ = &#name;),
        };
        states.flatten().map(mention).collect()
    }

    /// Adds a stage to the chain.
    fn stage(
        &mut self,
        chain: &mut TokenStream,
        segments: &mut [Segment],
        at: usize,
        exits: Exits,
        exit: &TokenStream,
    ) {
        let is_last = at + 1 == segments.len();
        let fails = exits.fails();
        let mut stmts = std::mem::take(&mut segments[at].stmts);
        self.rewrite(&mut stmts, None, at, is_last, fails);
        if let Some(Stmt::Expr(_, semicolon @ None)) = stmts.last_mut() {
            *semicolon = Some(Default::default());
        }
        let gives = segments.get(at + 1).map(|next| tuple(&next.takes, stage_span(next, self.span)));
        let skips = exits.skips && !is_last;
        let (gives, item) = match (gives, skips) {
            (None, _) => (quote!(()), quote!(())),
            (Some(gives), false) => (gives, quote!(_)),
            (Some(gives), true) => {
                (quote!(::core::option::Option::Some(#gives)), quote!(::core::option::Option<_>))
            }
        };
        let (gives, result) = if fails {
            (
                quote!(::core::result::Result::Ok(#gives)),
                Some(quote!(-> ::core::result::Result<#item, #exit>)),
            )
        } else {
            (gives, None)
        };
        let segment = &segments[at];
        let span = stage_span(segment, self.span);
        let takes = pattern(&segment.takes);
        let body = if is_last && !fails { quote!({ #(#stmts)* }) } else { quote!({ #(#stmts)* #gives }) };
        let method = |name: &str| Ident::new(name, span);
        let options = segment.options.as_ref();
        if options.is_some_and(|options| options.is_unordered) {
            chain.extend(quote_spanned!(span=> .unordered()));
        }
        let replicate = options.and_then(|options| options.replicate.as_ref());
        let Some(replicate) = replicate else {
            // An end has neither a name nor a thread of its own: such a stage comes before it.
            let is_end =
                is_last && options.is_none_or(|options| options.name.is_none() && !options.is_dedicated);
            let name = match (is_end, fails, skips) {
                (true, false, _) => "for_each",
                (true, true, _) => "try_for_each",
                (false, false, false) => "serial",
                (false, false, true) => "serial_filter_map",
                (false, true, false) => "try_serial",
                (false, true, true) => "try_serial_filter_map",
            };
            let name = method(name);
            if is_end {
                if let Some(text) = options.and_then(|options| options.name.as_ref()) {
                    chain.extend(quote_spanned!(span=> .name_end(#text)));
                }
                self.report(chain);
            }
            chain.extend(quote_spanned!(span=> .#name(|#takes| #result #body)));
            if !is_end {
                self.settings(chain, segment);
            }
            if is_last && !is_end {
                self.finish(chain, span);
            }
            return;
        };
        let state = match options.and_then(|options| options.state.as_ref()) {
            Some(State::Named(states)) => {
                let names = states.iter().map(|(name, _)| name);
                let makes = states.iter().map(|(_, make)| make);
                Some(match states.len() {
                    1 => (quote!(|| #(#makes)*), quote!(#(#names)*)),
                    _ => (quote!(|| (#(#makes),*)), quote!((#(#names),*))),
                })
            }
            _ => None,
        };
        let count = replicate.count.as_ref();
        let has_state = state.is_some();
        if self.options.is_dealt {
            let name = method(if fails { "try_map_sharded" } else { "map_sharded" });
            let (make, state) = state.unwrap_or_else(|| (quote!(|| ()), quote!(_)));
            let count = count.map_or_else(|| quote!(::anabranch::default_workers()), |count| quote!(#count));
            let deal = quote_spanned!(span=> ::anabranch::Shards::dealt(#count));
            chain.extend(quote_spanned!(span=> .#name(#deal, #make, |#state, #takes| #result #body)));
            self.settings(chain, segment);
        } else {
            let (make, state) = match state {
                Some((make, state)) => (Some(quote!(#make,)), Some(quote!(#state,))),
                None => (None, None),
            };
            let name = match (has_state, fails, skips) {
                (true, false, _) => "map_with",
                (true, true, _) => "try_map_with",
                (false, false, true) => "filter_map",
                (false, false, false) => "map",
                (false, true, _) => "try_map",
            };
            let name = method(name);
            chain.extend(quote_spanned!(span=> .#name(#make |#state #takes| #result #body)));
            if let Some(count) = count {
                let name = Ident::new("replicate", replicate.span.resolved_at(Span::mixed_site()));
                chain.extend(quote!(.#name(#count)));
            }
            self.settings(chain, segment);
        }
        if skips && (fails || has_state || self.options.is_dealt) {
            let item = ours("item", span);
            chain.extend(quote_spanned!(span=> .filter_map(|#item| #item)));
        }
        if is_last {
            self.finish(chain, span);
        }
    }

    /// The end, where the last stage is none.
    fn finish(&self, chain: &mut TokenStream, span: Span) {
        self.report(chain);
        chain.extend(quote_spanned!(span=> .for_each(|()| ())));
    }

    fn report(&self, chain: &mut TokenStream) {
        if self.options.report.is_some() {
            let span = self.span.resolved_at(Span::mixed_site());
            chain.extend(quote_spanned!(span=> .report()));
        }
    }

    /// The name of a stage, and its thread.
    fn settings(&self, chain: &mut TokenStream, segment: &Segment) {
        let Some(options) = &segment.options else { return };
        let span = options.span.resolved_at(Span::mixed_site());
        if let Some(name) = &options.name {
            chain.extend(quote_spanned!(span=> .name(#name)));
        }
        if options.is_dedicated {
            chain.extend(quote_spanned!(span=> .dedicated()));
        }
    }

    /// What is left of the loop behind its stream.
    fn end(self, setup: TokenStream, chain: TokenStream, all: Exits) -> Expr {
        let span = self.span.resolved_at(Span::mixed_site());
        let support = support(span);
        let allow = quote!(#[allow(
            unused_mut,
            unused_labels,
            unused_parens,
            unused_braces,
            unreachable_code,
            unreachable_patterns,
            clippy::needless_return,
            clippy::never_loop,
            clippy::let_unit_value,
            clippy::unused_unit,
            clippy::redundant_closure,
            clippy::question_mark
        )]);
        let (result, report) = (ours("result", span), ours("report", span));
        let (target, reports) = match &self.options.report {
            Some(call) => (quote!((#result, #report)), Some(quote!((#call)(#report);))),
            None => (quote!(#result), None),
        };
        let ends = match self.head {
            Head::Loop => (all.ends || all.breaks) && !all.breaks_with_value,
            _ => true,
        };
        let normal = if ends {
            quote!(())
        } else {
            quote_spanned!(span=> ::core::panic!("a loop that was cancelled before its `break` has no value"))
        };
        let bind = quote!(#setup #allow let #target = #chain; #reports);
        if !all.fails() {
            let normal = (!ends).then_some(normal);
            return parse_quote!({ #bind let () = #result; #normal });
        }
        let value = ours("value", span);
        let broken =
            all.breaks.then(|| quote!(::core::result::Result::Err(#support::Exit::Break(#value)) => #value,));
        let returned = all.returns.then(|| {
            quote!(::core::result::Result::Err(#support::Exit::Return(#value)) => return #support::give(#value),)
        });
        let jumps = self.jumps.iter().enumerate().map(|(number, Jump { label, is_continue })| {
            let jump = if *is_continue { quote!(continue #label) } else { quote!(break #label) };
            quote!(::core::result::Result::Err(#support::Exit::Jump(#number)) => #jump,)
        });
        let other = quote_spanned!(span=> ::core::unreachable!("a loop that is left in another way"));
        parse_quote!({
            #bind
            match #result {
                ::core::result::Result::Ok(()) => #normal,
                #broken
                #returned
                #(#jumps)*
                ::core::result::Result::Err(_) => #other,
            }
        })
    }
}

/// Where a stage's calls point to: its annotation, or that of the loop.
fn stage_span(segment: &Segment, default: Span) -> Span {
    segment.options.as_ref().map_or(default, |options| options.span).resolved_at(Span::mixed_site())
}

/// Whether a pattern is the one name that is handed on.
fn is_same(pat: &Pat, takes: &[Binding]) -> bool {
    match (pat, takes) {
        (Pat::Ident(pat), [only]) => pat.ident == only.ident && pat.by_ref.is_none() && pat.subpat.is_none(),
        _ => false,
    }
}

/// Writes `(*name)` for the names of states, which a stage has by reference.
struct Point(BTreeSet<String>);

impl VisitMut for Point {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(path) = expr
            && path.path.get_ident().is_some_and(|ident| self.0.contains(&ident.to_string()))
        {
            let name = path.clone();
            *expr = parse_quote!((*#name));
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}
