//! Finds what is used after an annotated loop.
//!
//! It takes the code around the loop, level by level, and gives the places (variables and their fields) that
//! this code may use once the loop has ended. A place among them can show how far an earlier stage has run.
//! The set is never too small: code that runs in another iteration, call, branch or operand after the loop
//! counts in full. Only a variable that is certainly overwritten first does not count.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Macro, Member, Stmt, parse_quote};

use crate::body::{attrs_of, is};
use crate::names::{Binding, Free, FreeNames};

struct FindLoop(bool);

impl<'ast> Visit<'ast> for FindLoop {
    fn visit_attribute(&mut self, attr: &'ast Attribute) {
        self.0 |= is(attr, "to_stream");
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a statement contains an annotated loop.
pub fn is_annotated(stmt: &Stmt) -> bool {
    let mut look = FindLoop(false);
    look.visit_stmt(stmt);
    look.0
}

/// Whether an expression contains an annotated loop.
pub fn has_loop(expr: &Expr) -> bool {
    let mut look = FindLoop(false);
    look.visit_expr(expr);
    look.0
}

/// The names that statements use from outside of themselves.
pub fn names<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut free = Free::new(|ident: &Ident, _| {
        names.insert(ident.to_string());
    });
    stmts.for_each(|stmt| free.stmt(stmt));
    names
}

/// A variable, or a field of one.
#[derive(Clone)]
pub struct Place {
    pub base: Ident,
    fields: Vec<Member>,
}

impl Place {
    pub fn whole(base: Ident) -> Self {
        Self { base, fields: Vec::new() }
    }

    /// Whether a change through these fields of the variable may change this place.
    pub fn overlaps(&self, fields: &[String]) -> bool {
        self.fields.iter().zip(fields).all(|(mine, other)| mine.to_token_stream().to_string() == *other)
    }
}

impl ToTokens for Place {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { base, fields } = self;
        tokens.extend(quote!(#base #(.#fields)*));
    }
}

/// Places by their text.
pub type Places = BTreeMap<String, Place>;

/// One level of the code around a loop.
pub enum Level {
    /// Names that the code binds before the loop.
    Binds(BTreeSet<String>),
    /// The code that may run after the loop.
    Uses(Uses),
    /// A closure, or a stage of a stream, that is called again and again. Code inside may mention only these names of
    /// the code outside, because a use of any other name would make the closure borrow one more variable.
    Repeats(BTreeSet<String>),
}

impl Level {
    pub fn binds(names: &[Binding]) -> Self {
        Self::Binds(names.iter().map(|name| name.ident.to_string()).collect())
    }
}

/// The names that a piece of code uses from outside of itself.
#[derive(Default)]
pub struct Uses {
    places: Places,
    /// The variables that the code overwrites before anything else can happen to them.
    overwrites: BTreeSet<String>,
    /// Whether the code may be left before its end.
    may_leave: bool,
    /// Whether to ignore a variable that is shadowed at the loop.
    yields: bool,
}

impl Uses {
    /// Uses of some variables as a whole.
    pub fn names(names: &[Binding]) -> Self {
        let places = names.iter().map(|name| (name.ident.to_string(), Place::whole(name.ident.clone())));
        Self { places: places.collect(), ..Self::default() }
    }

    /// Uses of the items that come into a stage. Each item is the stage's own, but it may lead to something
    /// that is not.
    pub fn items(names: &[Binding]) -> Self {
        Self { yields: true, ..Self::names(names) }
    }

    pub fn of<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> Self {
        let stmts: Vec<&Stmt> = stmts.collect();
        let free = FreeNames::of(stmts.iter().copied());
        let mut find = FindUses { free, skips_callees: false, found: Places::new() };
        let mut uses = Self::default();
        for stmt in stmts {
            find.visit_stmt(stmt);
            uses.may_leave |= may_leave(stmt);
            for (text, place) in std::mem::take(&mut find.found) {
                if !uses.overwrites.contains(&place.base.to_string()) {
                    uses.places.entry(text).or_insert(place);
                }
            }
            if let Stmt::Expr(Expr::Assign(assign), _) = stmt
                && let Expr::Path(path) = &*assign.left
                && let Some(name) = path.path.get_ident()
                && find.free.has(name)
                && !uses.may_leave
                && !uses.places.values().any(|place| place.base == *name)
            {
                uses.overwrites.insert(name.to_string());
            }
        }
        uses
    }
}

/// The names that are used after a loop.
#[derive(Default)]
pub struct After {
    /// The places whose variables have their names at the loop too.
    pub visible: Places,
    /// The variables whose names mean another variable at the loop.
    pub hidden: Vec<Ident>,
    /// The names that code inside the closures and stages around the loop may mention. `None` if there are
    /// none of these, and the loop may mention all names.
    pub known: Option<BTreeSet<String>>,
    /// The variables that have a name at the loop.
    pub scope: BTreeSet<String>,
    /// The names among them that the function declares in its body, and not as parameters.
    pub inner: BTreeSet<String>,
}

impl After {
    /// Looks through the levels, the innermost of which comes last. With `is_left`, the loop may go on at a
    /// label outside, so that nothing is certain to be overwritten.
    pub fn of(levels: &[Level], is_left: bool) -> Self {
        let mut after = Self::default();
        let mut bound: BTreeSet<String> = BTreeSet::new();
        let mut overwritten = BTreeSet::new();
        let mut may_leave = is_left;
        for level in levels.iter().rev() {
            match level {
                Level::Binds(names) => {
                    after.inner.clone_from(&bound);
                    bound.extend(names.iter().cloned());
                }
                Level::Repeats(names) => {
                    let known = after.known.take();
                    let both = |known: BTreeSet<String>| known.intersection(names).cloned().collect();
                    after.known = Some(known.map_or_else(|| names.clone(), both));
                }
                Level::Uses(uses) => {
                    for (text, place) in &uses.places {
                        let name = place.base.to_string();
                        if after.known.as_ref().is_some_and(|known| !known.contains(&name)) {
                            continue;
                        }
                        if bound.contains(&name) && uses.yields {
                            continue;
                        }
                        if bound.contains(&name) {
                            after.hidden.push(place.base.clone());
                        } else if !overwritten.contains(&name) {
                            after.visible.entry(text.clone()).or_insert_with(|| place.clone());
                        }
                    }
                    if !may_leave {
                        let seen = uses.overwrites.iter().filter(|name| !bound.contains(*name));
                        overwritten.extend(seen.cloned());
                    }
                    may_leave |= uses.may_leave;
                }
            }
        }
        after.scope = bound;
        after
    }

    /// Whether code at the loop may mention a variable.
    pub fn may_mention(&self, name: &str) -> bool {
        self.known.as_ref().is_none_or(|known| known.contains(name))
    }

    /// Whether a variable is used after the loop.
    pub fn uses(&self, name: &str) -> bool {
        self.visible.values().any(|place| place.base == name)
    }
}

/// Finds the places that code uses.
struct FindUses {
    free: FreeNames,
    /// Whether the names of called functions do not count.
    skips_callees: bool,
    found: Places,
}

impl FindUses {
    fn add(&mut self, place: Place) {
        self.found.entry(place.to_token_stream().to_string()).or_insert(place);
    }
}

impl<'ast> Visit<'ast> for FindUses {
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if !(self.skips_callees && matches!(&*call.func, Expr::Path(_))) {
            self.visit_expr(&call.func);
        }
        call.args.iter().for_each(|arg| self.visit_expr(arg));
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.visit_expr(&assign.right);
        // An assignment to the whole variable does not use its old value.
        let is_whole = matches!(&*assign.left, Expr::Path(path) if path.path.get_ident().is_some());
        if !is_whole {
            self.visit_expr(&assign.left);
        }
    }

    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        let mut fields = vec![field.member.clone()];
        let mut base = &*field.base;
        loop {
            base = match base {
                Expr::Field(field) => {
                    fields.push(field.member.clone());
                    &field.base
                }
                Expr::Paren(inner) => &inner.expr,
                _ => break,
            };
        }
        if let Expr::Path(path) = base
            && let Some(base) = path.path.get_ident()
            && self.free.has(base)
        {
            fields.reverse();
            self.add(Place { base: base.clone(), fields });
        } else {
            visit::visit_expr_field(self, field);
        }
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(name) = path.path.get_ident().filter(|name| self.free.has(name)) {
            self.add(Place::whole(name.clone()));
        }
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let names: Vec<Ident> = self.free.names_in(call).cloned().collect();
        names.into_iter().for_each(|name| self.add(Place::whole(name)));
    }
}

/// Whether control may leave a statement before its end, other than by a panic.
fn may_leave(stmt: &Stmt) -> bool {
    struct Look(bool);
    impl<'ast> Visit<'ast> for Look {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= matches!(
                expr,
                Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) | Expr::Try(_) | Expr::Macro(_)
            );
            visit::visit_expr(self, expr);
        }
        fn visit_macro(&mut self, _: &'ast Macro) {
            self.0 = true;
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut look = Look(false);
    look.visit_stmt(stmt);
    look.0
}

/// The names that an expression around an annotated loop may use after that loop: in its next iteration or call, in the
/// branch that the loop's value selects, or in other operands.
pub fn evaluated_later(expr: &Expr) -> Option<Uses> {
    let is_needless = match expr {
        Expr::If(expr) => !has_loop(&expr.cond),
        Expr::Match(expr) => !has_loop(&expr.expr),
        Expr::Block(_) | Expr::Unsafe(_) | Expr::Async(_) | Expr::Const(_) => true,
        Expr::ForLoop(_) | Expr::Loop(_) | Expr::While(_) | Expr::Closure(_) => false,
        other => !has_loop(other),
    };
    if is_needless {
        return None;
    }
    let mut rest = expr.clone();
    match &mut rest {
        // The iterator is created once, before the first iteration.
        Expr::ForLoop(rest) if !has_loop(&rest.expr) => rest.expr = parse_quote!(()),
        Expr::Loop(_) | Expr::While(_) | Expr::Closure(_) => {}
        other => WithoutLoops.visit_expr_mut(other),
    }
    Some(Uses::of([Stmt::Expr(rest, None)].iter()))
}

/// Replaces the annotated loops by `()`.
struct WithoutLoops;

impl VisitMut for WithoutLoops {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if attrs_of(expr).is_some_and(|attrs| attrs.iter().any(|attr| is(attr, "to_stream"))) {
            *expr = parse_quote!(());
        } else {
            visit_mut::visit_expr_mut(self, expr);
        }
    }
}

/// The names in statements that may be variables which the function does not declare, but a macro does.
pub fn undeclared<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> BTreeSet<String> {
    let stmts: Vec<&Stmt> = stmts.collect();
    let free = FreeNames::of(stmts.iter().copied());
    let mut find = FindUses { free, skips_callees: true, found: Places::new() };
    stmts.iter().for_each(|stmt| find.visit_stmt(stmt));
    let names = find.found.into_values().map(|place| place.base.to_string());
    names.filter(|name| !name.starts_with(char::is_uppercase)).collect()
}

/// The identifiers in the macros that a function defines. Such a macro may use a variable that its call does
/// not name.
pub fn in_own_macros(block: &syn::Block) -> Places {
    struct Look(Places);
    impl Look {
        fn tokens(&mut self, tokens: TokenStream) {
            for token in tokens {
                match token {
                    TokenTree::Group(group) => self.tokens(group.stream()),
                    TokenTree::Ident(name) => {
                        self.0.entry(name.to_string()).or_insert_with(|| Place::whole(name));
                    }
                    _ => {}
                }
            }
        }
    }
    impl<'ast> Visit<'ast> for Look {
        fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
            self.tokens(item.mac.tokens.clone());
        }
    }
    let mut look = Look(Places::new());
    look.visit_block(block);
    look.0
}
