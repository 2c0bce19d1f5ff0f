//! From an annotated loop to calls of the builder.

mod end;
mod source;
mod stage;
mod states;
mod tokens;

use proc_macro2::Span;
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Block, Error, Expr, Label, Lifetime, Pat, Result, Stmt, parse_quote};

use crate::body::{Segment, cut, find_crossings};
use crate::check::check;
use crate::exits::{Exits, Jump, Place, Rewrite};
use crate::function::Function;
use crate::names::{bindings, condition_bindings};
use crate::options::StreamOptions;

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
}
