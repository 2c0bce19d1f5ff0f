//! Finds the names that a piece of code binds, and those that it uses from outside.
//!
//! It takes patterns, statements or expressions and gives names. It follows the scopes of the language, so a
//! name that is bound inside the code does not count as one from outside. In the tokens of a macro, whose
//! scopes are unknown, every identifier counts, and so does every name in a format string.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, Expr, Local, Macro, Pat, Stmt};

use crate::macros::{arguments, is_macro_call};

/// A name that a pattern binds.
#[derive(Clone)]
pub struct Binding {
    pub ident: Ident,
    pub is_mut: bool,
}

/// The names that a refutable pattern binds.
pub fn bindings(pat: &Pat) -> Vec<Binding> {
    // `None` and constants look like bindings, but begin with a capital letter.
    let is_constant: fn(&syn::PatIdent) -> bool = |pat| {
        let is_plain = pat.by_ref.is_none() && pat.mutability.is_none() && pat.subpat.is_none();
        is_plain && pat.ident.to_string().chars().next().is_some_and(char::is_uppercase)
    };
    collect(pat, is_constant)
}

/// The names that a pattern binds if it always matches. Such a pattern contains no constant.
pub fn all_bindings(pat: &Pat) -> Vec<Binding> {
    collect(pat, |_| false)
}

/// The names that a `let` binds.
pub fn local_bindings(local: &Local) -> Vec<Binding> {
    match &local.init {
        Some(init) if init.diverge.is_some() => bindings(&local.pat),
        _ => all_bindings(&local.pat),
    }
}

fn collect(pat: &Pat, is_constant: fn(&syn::PatIdent) -> bool) -> Vec<Binding> {
    struct Collect {
        found: Vec<Binding>,
        is_constant: fn(&syn::PatIdent) -> bool,
    }
    impl<'ast> Visit<'ast> for Collect {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            if !(self.is_constant)(pat) {
                let is_mut = pat.mutability.is_some() && pat.by_ref.is_none();
                self.found.push(Binding { ident: pat.ident.clone(), is_mut });
            }
            visit::visit_pat_ident(self, pat);
        }
        fn visit_pat_or(&mut self, pat: &'ast syn::PatOr) {
            // All cases bind the same names, and each case alone may fail to match.
            self.found.extend(pat.cases.first().map(bindings).into_iter().flatten());
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut collect = Collect { found: Vec::new(), is_constant };
    collect.visit_pat(pat);
    collect.found
}

/// The names that the `let`s of a condition bind, as in `while let Some(x) = a && let Ok(y) = b`.
pub fn condition_bindings(cond: &Expr) -> Vec<Binding> {
    match cond {
        Expr::Let(cond) => bindings(&cond.pat),
        Expr::Binary(both) if matches!(both.op, syn::BinOp::And(_)) => {
            let mut names = condition_bindings(&both.left);
            names.extend(condition_bindings(&both.right));
            names
        }
        Expr::Paren(inner) => condition_bindings(&inner.expr),
        _ => Vec::new(),
    }
}

/// Visits code with its scopes. It calls `found` with each name that the code uses from outside of itself,
/// and with the macro call in which the name is.
pub struct Free<F: FnMut(&Ident, Option<*const Macro>)> {
    scopes: Vec<BTreeSet<String>>,
    call: Option<*const Macro>,
    found: F,
}

impl<F: FnMut(&Ident, Option<*const Macro>)> Free<F> {
    pub fn new(found: F) -> Self {
        Self { scopes: vec![BTreeSet::new()], call: None, found }
    }

    pub fn bind(&mut self, names: &[Binding]) {
        let scope = self.scopes.last_mut().expect("a scope");
        scope.extend(names.iter().map(|name| name.ident.to_string()));
    }

    fn name(&mut self, ident: &Ident) {
        let text = ident.to_string();
        if !self.scopes.iter().any(|scope| scope.contains(&text)) {
            (self.found)(ident, self.call);
        }
    }

    fn scoped(&mut self, f: impl FnOnce(&mut Self)) {
        self.scopes.push(BTreeSet::new());
        f(self);
        self.scopes.pop();
    }

    pub fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Local(local) => {
                if let Some(init) = &local.init {
                    self.visit_expr(&init.expr);
                    if let Some((_, diverge)) = &init.diverge {
                        self.visit_expr(diverge);
                    }
                }
                self.visit_pat(&local.pat);
                self.bind(&local_bindings(local));
            }
            other => self.visit_stmt(other),
        }
    }

    /// Visits the tokens of a macro. Any identifier may be a variable, and so may a name in the braces of a
    /// string.
    fn tokens(&mut self, tokens: &TokenStream) {
        let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let mut after_dot = false;
        for (at, token) in tokens.iter().enumerate() {
            let mut is_dot = false;
            match token {
                TokenTree::Group(group) => self.tokens(&group.stream()),
                TokenTree::Ident(_) if after_dot || is_macro_call(&tokens[at..]) => {}
                TokenTree::Ident(ident) => self.name(ident),
                TokenTree::Punct(punct) => is_dot = punct.as_char() == '.' && !after_dot,
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    if text.starts_with(['"', 'r']) {
                        captured(&text, literal.span()).iter().for_each(|name| self.name(name));
                    }
                }
            }
            after_dot = is_dot;
        }
    }
}

/// The names that statements use from outside, by their positions in the syntax tree.
pub struct FreeNames {
    paths: BTreeSet<*const Ident>,
    in_macros: BTreeMap<*const Macro, BTreeMap<String, Ident>>,
}

impl FreeNames {
    pub fn of<'s>(stmts: impl Iterator<Item = &'s Stmt>) -> Self {
        let (mut paths, mut in_macros) = (BTreeSet::new(), BTreeMap::<_, BTreeMap<String, Ident>>::new());
        let mut free = Free::new(|ident: &Ident, call| match call {
            None => drop(paths.insert(std::ptr::from_ref(ident))),
            Some(call) => {
                let names = in_macros.entry(call).or_default();
                names.entry(ident.to_string()).or_insert_with(|| ident.clone());
            }
        });
        stmts.for_each(|stmt| free.stmt(stmt));
        Self { paths, in_macros }
    }

    /// Whether this occurrence of a name outside of macros refers to a variable from outside.
    pub fn has(&self, name: &Ident) -> bool {
        self.paths.contains(&std::ptr::from_ref(name))
    }

    /// Whether this macro call uses the name from outside.
    pub fn has_in(&self, call: &Macro, name: &Ident) -> bool {
        self.names_in(call).any(|other| name == other)
    }

    /// The names in this macro call.
    pub fn names_in(&self, call: &Macro) -> impl Iterator<Item = &Ident> {
        self.in_macros.get(&std::ptr::from_ref(call)).into_iter().flatten().map(|(_, name)| name)
    }
}

/// The names in the braces of a format string: `{name}`, `{name:?}`, `{:width$}`. A raw identifier is written
/// there without its `r#`.
fn captured(text: &str, span: Span) -> Vec<Ident> {
    let ident = |name: &str| {
        let parsed = syn::parse_str::<Ident>(name).or_else(|_| syn::parse_str(&format!("r#{name}")));
        parsed.ok().map(|mut ident| {
            ident.set_span(span);
            ident
        })
    };
    let mut names = Vec::new();
    for part in text.split('{').skip(1) {
        let inside = part.split('}').next().unwrap_or_default();
        let (name, format) = inside.split_once(':').unwrap_or((inside, ""));
        names.extend(ident(name.trim()));
        for piece in format.split('$') {
            let start = piece.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
            names.extend(ident(&piece[start..]));
        }
    }
    names
}

impl<'ast, F: FnMut(&Ident, Option<*const Macro>)> Visit<'ast> for Free<F> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let (None, Some(ident)) = (&path.qself, path.path.get_ident()) {
            self.name(ident);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let outer = self.call;
        self.call = outer.or(Some(std::ptr::from_ref(call)));
        if arguments(&call.tokens, |arg| self.visit_expr(arg)).is_none() {
            self.tokens(&call.tokens);
        }
        self.call = outer;
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        if self.call.is_some() {
            captured(&text.token().to_string(), text.span()).iter().for_each(|name| self.name(name));
        }
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.scoped(|this| block.stmts.iter().for_each(|stmt| this.stmt(stmt)));
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.scoped(|this| {
            closure.inputs.iter().for_each(|pat| this.bind(&all_bindings(pat)));
            this.visit_expr(&closure.body);
        });
    }

    fn visit_expr_let(&mut self, cond: &'ast syn::ExprLet) {
        self.visit_expr(&cond.expr);
        self.bind(&bindings(&cond.pat));
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.scoped(|this| {
            this.bind(&bindings(&arm.pat));
            if let Some((_, guard)) = &arm.guard {
                this.visit_expr(guard);
            }
            this.visit_expr(&arm.body);
        });
    }

    fn visit_expr_if(&mut self, expr: &'ast syn::ExprIf) {
        self.scoped(|this| {
            this.visit_expr(&expr.cond);
            this.visit_block(&expr.then_branch);
        });
        if let Some((_, other)) = &expr.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_while(&mut self, expr: &'ast syn::ExprWhile) {
        self.scoped(|this| {
            this.visit_expr(&expr.cond);
            this.visit_block(&expr.body);
        });
    }

    fn visit_expr_for_loop(&mut self, expr: &'ast syn::ExprForLoop) {
        self.visit_expr(&expr.expr);
        self.scoped(|this| {
            this.bind(&all_bindings(&expr.pat));
            this.visit_block(&expr.body);
        });
    }
}
