//! Cuts the body of an annotated loop into segments.
//!
//! It takes the statements of the body and gives a list of segments: the source first, then one for each
//! stage. For each segment it also finds the variables that come in from earlier segments. The cut is right
//! because the statements keep their order, each is in exactly one segment, and a variable crosses a border
//! exactly if it is bound before the border and used after it.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use syn::{Attribute, Error, Expr, Result, Stmt};

use crate::names::{Binding, Free, all_bindings, local_bindings};
use crate::options::StageOptions;

/// Statements that run together: the source, or one stage.
#[derive(Default)]
pub struct Segment {
    /// `None` for the source, and for the statements without an annotation after a replicated stage.
    pub options: Option<StageOptions>,
    pub stmts: Vec<Stmt>,
    /// The variables that come in from earlier segments, in the order in which they were bound.
    pub takes: Vec<Binding>,
}

impl Segment {
    pub fn is_replicated(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.replicate.is_some())
    }

    /// The names that the segment uses and does not bind itself.
    pub fn uses(&self, bound_before: &[Binding]) -> BTreeMap<String, Ident> {
        let mut uses = BTreeMap::new();
        let mut free = Free::new(|ident: &Ident, _| {
            uses.entry(ident.to_string()).or_insert_with(|| ident.clone());
        });
        free.bind(bound_before);
        self.stmts.iter().for_each(|stmt| free.stmt(stmt));
        uses
    }

    /// The names that its statements bind for later statements.
    pub fn binds(&self) -> Vec<Binding> {
        self.stmts
            .iter()
            .filter_map(|stmt| match stmt {
                Stmt::Local(local) => Some(local_bindings(local)),
                _ => None,
            })
            .flatten()
            .collect()
    }
}

/// Removes the attribute `name` from a statement and returns it.
pub fn take_attr(stmt: &mut Stmt, name: &str) -> Option<Attribute> {
    let attrs = match stmt {
        Stmt::Local(local) => &mut local.attrs,
        Stmt::Macro(call) => &mut call.attrs,
        Stmt::Expr(expr, _) => leading_attrs(expr)?,
        Stmt::Item(item) => return is_stage(item).then(|| syn::parse_quote!(#[stage])),
    };
    let at = attrs.iter().position(|attr| is(attr, name))?;
    Some(attrs.remove(at))
}

/// Whether an item is annotated as a stage. That is an error, since an item does not run.
pub fn is_stage(item: &syn::Item) -> bool {
    let attrs = match item {
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        _ => return false,
    };
    attrs.iter().any(|attr| is(attr, "stage"))
}

/// Whether the attribute is `#[name]` or `#[module::name]`.
pub fn is(attr: &Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == name) && attr.path().segments.len() <= 2
}

/// The attributes that stand before an expression statement. If the expression begins with an operand, they
/// belong to that operand.
fn leading_attrs(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    match expr {
        Expr::Assign(expr) => leading_attrs(&mut expr.left),
        Expr::Binary(expr) => leading_attrs(&mut expr.left),
        Expr::Cast(expr) => leading_attrs(&mut expr.expr),
        other => attrs_of(other),
    }
}

/// The attributes of an expression.
pub fn attrs_of(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    macro_rules! attrs {
        ($($variant:ident),*) => {
            match expr {
                $(Expr::$variant(expr) => Some(&mut expr.attrs),)*
                _ => None,
            }
        };
    }
    attrs!(
        Array, Assign, Async, Await, Binary, Block, Break, Call, Cast, Closure, Const, Continue, Field,
        ForLoop, Group, If, Index, Infer, Let, Lit, Loop, Macro, Match, MethodCall, Paren, Path, Range,
        Reference, Repeat, Return, Struct, Try, TryBlock, Tuple, Unary, Unsafe, While, Yield
    )
}

/// The statements that are in one segment with the statement `at`.
pub fn segment_around(stmts: &[Stmt], at: usize) -> std::ops::Range<usize> {
    let options = |stmt: &Stmt| take_attr(&mut stmt.clone(), "stage").map(|attr| StageOptions::new(&attr));
    let is_replicated = |stmt: &Stmt| {
        options(stmt).is_some_and(|options| options.is_ok_and(|options| options.replicate.is_some()))
    };
    let begins = |at: usize| options(&stmts[at]).is_some() || at > 0 && is_replicated(&stmts[at - 1]);
    let start = (1..=at).rev().find(|&at| begins(at)).unwrap_or(0);
    let end = (at + 1..stmts.len()).find(|&at| begins(at)).unwrap_or(stmts.len());
    start..end
}

/// Cuts the statements into segments.
///
/// The statements before the first stage are the source. Statements after a serial stage belong to that
/// stage. Statements after a replicated stage form a serial stage of their own.
pub fn cut(stmts: Vec<Stmt>) -> Result<Vec<Segment>> {
    let mut segments = vec![Segment::default()];
    for mut stmt in stmts {
        if let Some(attr) = take_attr(&mut stmt, "stage") {
            if let Stmt::Item(item) = &stmt {
                return Err(Error::new_spanned(item, "a stage must be a statement that runs, not an item"));
            }
            let options = StageOptions::new(&attr)?;
            if let Some(twice) = take_attr(&mut stmt, "stage") {
                return Err(Error::new_spanned(
                    twice,
                    "this statement has a `#[stage]` already: put all options into that one",
                ));
            }
            segments.push(Segment { options: Some(options), ..Segment::default() });
        } else if segments.last().is_some_and(Segment::is_replicated) {
            segments.push(Segment::default());
        }
        segments.last_mut().expect("the source").stmts.push(stmt);
    }
    sink_declarations(&mut segments);
    Ok(segments)
}

/// Moves each `let x;` without a value to the first segment that uses `x`.
fn sink_declarations(segments: &mut [Segment]) {
    for at in 0..segments.len() {
        let mut kept = Vec::new();
        let stmts = std::mem::take(&mut segments[at].stmts);
        for (position, stmt) in stmts.iter().enumerate() {
            let declared = match stmt {
                Stmt::Local(local) if local.init.is_none() => {
                    all_bindings(&local.pat).first().map(|b| b.ident.to_string())
                }
                _ => None,
            };
            let rest = |declared: &String| {
                let rest = Segment { stmts: stmts[position + 1..].to_vec(), ..Segment::default() };
                rest.uses(&[]).contains_key(declared)
            };
            let user = declared.filter(|declared| !rest(declared)).and_then(|declared| {
                (at + 1..segments.len()).find(|&later| segments[later].uses(&[]).contains_key(&declared))
            });
            match user {
                Some(later) => segments[later].stmts.insert(0, stmt.clone()),
                None => kept.push(stmt.clone()),
            }
        }
        segments[at].stmts = kept;
    }
}

/// Finds what crosses each border, and writes it to `takes` of each segment: the variables that were bound
/// before the segment and are used in it or later. `bound` are the names that the head of the loop binds.
///
/// Returns for each segment the names that were bound before it.
pub fn find_crossings(segments: &mut [Segment], bound: &[Binding]) -> Vec<BTreeSet<String>> {
    // The names in the order in which they were last bound, and whether that binding is `mut`.
    let mut order: Vec<Binding> = bound.to_vec();
    let mut before: Vec<Vec<Binding>> = Vec::new();
    for segment in segments.iter() {
        before.push(order.clone());
        for binding in segment.binds() {
            order.retain(|known| known.ident != binding.ident);
            order.push(binding);
        }
    }
    let mut live: BTreeSet<String> = BTreeSet::new();
    for (segment, before) in segments.iter_mut().zip(&before).rev() {
        for binding in segment.binds() {
            live.remove(&binding.ident.to_string());
        }
        live.extend(segment.uses(&[]).into_keys());
        segment.takes = before.iter().filter(|b| live.contains(&b.ident.to_string())).cloned().collect();
    }
    segments[0].takes.clear();
    before.iter().map(|before| before.iter().map(|binding| binding.ident.to_string()).collect()).collect()
}
