//! A loop's body, cut into its source and its stages.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;
use syn::{Attribute, Error, Expr, Result, Stmt};

use crate::names::{Binding, Free, all_bindings, local_bindings};
use crate::options::StageOptions;

/// Statements that run together: the source, or a stage.
#[derive(Default)]
pub struct Segment {
    /// None for the source, and for what stands behind a replicated stage.
    pub options: Option<StageOptions>,
    pub stmts: Vec<Stmt>,
    /// What comes in, in the order in which it was bound.
    pub takes: Vec<Binding>,
}

impl Segment {
    pub fn is_replicated(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.replicate.is_some())
    }

    /// The names that it takes from outside of itself.
    pub fn uses(&self, bound_before: &[Binding]) -> BTreeMap<String, Ident> {
        let mut uses = BTreeMap::new();
        let mut free = Free::new(|ident: &Ident, _| {
            uses.entry(ident.to_string()).or_insert_with(|| ident.clone());
        });
        free.bind(bound_before);
        self.stmts.iter().for_each(|stmt| free.stmt(stmt));
        uses
    }

    /// The names that its statements bind for those behind them.
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

/// Takes the attribute called `name` off a statement.
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

/// Whether an item is annotated as a stage, which it cannot be.
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

/// Whether the attribute is called `name`.
pub fn is(attr: &Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|last| last.ident == name) && attr.path().segments.len() <= 2
}

/// Attributes before a statement are at its leftmost part, where that is an operand.
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

/// Cuts the statements. What stands before the first stage is the source; what stands behind a serial stage
/// belongs to it; what stands behind a replicated stage is a serial stage of its own.
pub fn cut(stmts: Vec<Stmt>) -> Result<Vec<Segment>> {
    let mut segments = vec![Segment::default()];
    for mut stmt in stmts {
        if let Some(attr) = take_attr(&mut stmt, "stage") {
            if let Stmt::Item(item) = &stmt {
                return Err(Error::new_spanned(item, "a stage is a statement that runs, not an item"));
            }
            let options = StageOptions::new(&attr)?;
            if let Some(twice) = take_attr(&mut stmt, "stage") {
                return Err(Error::new_spanned(
                    twice,
                    "this statement is a stage already: join the options of both",
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

/// Moves each `let x;` to the first stage that says `x`.
fn sink_declarations(segments: &mut [Segment]) {
    for at in 0..segments.len() {
        let mut kept = Vec::new();
        let stmts = std::mem::take(&mut segments[at].stmts);
        for (place, stmt) in stmts.iter().enumerate() {
            let declared = match stmt {
                Stmt::Local(local) if local.init.is_none() => {
                    all_bindings(&local.pat).first().map(|b| b.ident.to_string())
                }
                _ => None,
            };
            let rest = |declared: &String| {
                let rest = Segment { stmts: stmts[place + 1..].to_vec(), ..Segment::default() };
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

/// Finds what crosses each border: what was bound before it and is used behind it. `bound` is what the loop itself
/// binds. Gives, for each segment, the names that were bound before it.
pub fn find_crossings(segments: &mut [Segment], bound: &[Binding]) -> Vec<BTreeSet<String>> {
    // The names in the order in which they were first bound, and whether they are `mut` where they come in.
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
