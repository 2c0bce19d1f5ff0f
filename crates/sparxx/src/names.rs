//! Finds the variables that a piece of code uses, where they are declared, and how the code uses them.
//!
//! It works on the syntax tree of tree-sitter, which leaves out code that it cannot parse. The translation
//! does not rely on a complete result: the lambdas have explicit captures, so the C++ compiler rejects a use
//! that was missed here.

use std::collections::HashMap;

use tree_sitter::{Node, Parser, Point, Range, Tree, TreeCursor};

use crate::source::Span;

/// The way in which a variable is used. Later variants include earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Its value is used.
    Read,
    /// It is passed to a function, or one of its methods is called. This may change it.
    Lent,
    /// A value is assigned to it.
    Written,
}

/// The place where a variable is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// Outside of functions, or as `static`. The program has one such variable.
    Global,
    /// In a function, or as a parameter.
    Local,
}

/// A declaration of a variable.
#[derive(Debug, Clone)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// The place of its name.
    pub span: Span,
    /// The byte at which it is no longer visible.
    pub until: usize,
    /// The place of the declaration: global or local.
    pub home: Home,
    /// Whether the variable is a reference to another one, as in `auto &[a, b] = pair`.
    pub is_alias: bool,
    /// The start of the `for` in whose head it is declared, as in `for (int i = 0; ...)`.
    pub head_of: Option<usize>,
    /// The size of the array, if it is an array whose size does not look like a constant.
    pub variable_size: Option<Span>,
}

/// A use of a name.
#[derive(Debug, Clone)]
pub struct Used {
    /// The name.
    pub name: String,
    /// The place of the use.
    pub span: Span,
    /// The way in which it is used.
    pub access: Access,
}

/// A jump or another statement that a stage may not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jump {
    /// The keyword: `return`, `goto`, `break`, `continue`, `co_await`, ...
    pub word: &'static str,
    /// The place of the statement.
    pub span: Span,
    /// The innermost function or lambda around it.
    pub function: Span,
    /// For a `continue`, its loop. For a `break`, its loop or `switch`.
    pub leaves: Option<Span>,
}

/// A function, a method or a lambda.
#[derive(Debug, Clone)]
pub struct Function {
    /// The text of the whole function.
    pub span: Span,
    /// Whether the function has a `this`.
    pub method: Method,
}

/// Whether a function has a `this`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// It has a `this`.
    Yes,
    /// It has no `this`.
    No,
    /// It is defined as `A::f`, and the file does not show whether `A` is a class or a namespace.
    Unknown,
}

/// The names of a file.
#[derive(Debug, Default)]
pub struct Names {
    declared: Vec<Declared>,
    by_name: HashMap<String, Vec<usize>>,
    used: Vec<Used>,
    /// The jumps, in the order of the file.
    pub jumps: Vec<Jump>,
    /// The loops. An outer loop comes before the loops inside of it.
    pub loops: Vec<Span>,
    functions: Vec<Function>,
    /// The places of the declarations at the top level of the file.
    pub top: Vec<Span>,
}

/// Parses a file without the parts `left_out`, which are in order. The text must have blanks in place of annotations.
pub fn parse(text: &str, left_out: &[Span]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_cpp::LANGUAGE.into()).ok()?;
    let mut places = Places { text, at: 0, point: Point::new(0, 0) };
    let mut read = Vec::with_capacity(left_out.len() + 1);
    let mut start = (0, Point::new(0, 0));
    for end in left_out.iter().map(|span| span.start).chain([text.len()]) {
        let (start_byte, start_point) = start;
        read.push(Range { start_byte, end_byte: end, start_point, end_point: places.move_to(end) });
        if let Some(part) = left_out.get(read.len() - 1) {
            start = (part.end, places.move_to(part.end));
        }
    }
    parser.set_included_ranges(&read).ok()?;
    parser.parse(text, None)
}

/// Finds the row and the column of places in a text, one after another.
struct Places<'t> {
    text: &'t str,
    at: usize,
    point: Point,
}

impl Places<'_> {
    fn move_to(&mut self, place: usize) -> Point {
        let passed = &self.text[self.at..place];
        if let Some(last) = passed.rfind('\n') {
            self.point = Point::new(self.point.row + passed.matches('\n').count(), passed.len() - last - 1);
        } else {
            self.point.column += passed.len();
        }
        self.at = place;
        self.point
    }
}

impl Names {
    /// Finds the names of a file, except for those in the parts `left_out`.
    pub fn of(text: &str, left_out: &[Span]) -> Self {
        let mut names = Self::default();
        let Some(tree) = parse(text, left_out) else { return names };
        let mut walk = tree.root_node().walk();
        names.top = tree.root_node().children(&mut walk).map(|node| node.byte_range()).collect();
        Collector { text, names: &mut names, above: Vec::new() }.walk(tree.walk());
        for (at, declared) in names.declared.iter().enumerate() {
            names.by_name.entry(declared.name.clone()).or_default().push(at);
        }
        names
    }

    /// Returns the declaration to which a name at byte `at` refers.
    pub fn lookup(&self, name: &str, at: usize) -> Option<&Declared> {
        let candidates = self.by_name.get(name)?.iter().map(|&index| &self.declared[index]);
        candidates
            .filter(|found| found.span.start <= at && at < found.until)
            .max_by_key(|found| found.span.start)
    }

    /// Returns the uses of names in a part of the file, in order.
    pub fn used_in(&self, span: &Span) -> impl Iterator<Item = &Used> {
        let first = self.used.partition_point(|used| used.span.start < span.start);
        let end = span.end;
        self.used[first..].iter().take_while(move |used| used.span.start < end)
    }

    /// Returns the declarations in a part of the file.
    pub fn declared_in(&self, span: &Span) -> impl Iterator<Item = &Declared> {
        self.declared.iter().filter(|found| span.contains(&found.span.start))
    }

    /// Returns the innermost function around byte `at`.
    pub fn function(&self, at: usize) -> Option<&Function> {
        self.functions
            .iter()
            .filter(|function| function.span.contains(&at))
            .max_by_key(|function| function.span.start)
    }

    /// Returns whether the code at byte `at` has a `this`.
    pub fn method(&self, at: usize) -> Method {
        self.function(at).map_or(Method::No, |function| function.method)
    }

    /// Returns the innermost loop around byte `at` that is inside of `within`.
    pub fn loop_around(&self, at: usize, within: &Span) -> Option<&Span> {
        let around = self.loops.iter().filter(|span| span.contains(&at));
        around
            .filter(|span| within.start <= span.start && span.end <= within.end)
            .max_by_key(|span| span.start)
    }
}

struct Collector<'a, 't> {
    text: &'a str,
    names: &'a mut Names,
    /// The nodes around the current one, from the root on. They are kept here, because a search for the parent of a
    /// node would begin at the root.
    above: Vec<Node<'t>>,
}

const FUNCTIONS: &[&str] = &["function_definition", "lambda_expression"];
const LOOPS: &[&str] = &["for_statement", "for_range_loop", "while_statement", "do_statement"];
const SCOPES: &[&str] = &[
    "translation_unit",
    "namespace_definition",
    "compound_statement",
    "for_statement",
    "for_range_loop",
    "while_statement",
    "if_statement",
    "switch_statement",
    "catch_clause",
    "lambda_expression",
    "function_definition",
    "field_declaration_list",
    "template_declaration",
    "requires_expression",
];
const CLASSES: &[&str] = &["class_specifier", "struct_specifier", "union_specifier"];

impl<'a, 't> Collector<'a, 't> {
    /// Visits every node. It does not use recursion, because a tree can be deep.
    fn walk(&mut self, mut cursor: TreeCursor<'t>) {
        loop {
            let node = cursor.node();
            self.enter(node);
            self.above.push(node);
            if cursor.goto_first_child() {
                continue;
            }
            loop {
                self.above.pop();
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn word(&self, node: Node<'_>) -> &'a str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    fn enter(&mut self, node: Node<'_>) {
        let kind = node.kind();
        match kind {
            "declaration" | "parameter_declaration" | "optional_parameter_declaration" | "for_range_loop" => {
                self.declare(node);
            }
            "lambda_capture_initializer" => {
                if let Some(left) = node.child_by_field_name("left") {
                    self.add(node, left, false, None);
                }
            }
            "identifier" | "type_identifier" => self.using(node),
            "return_statement" => self.jump(node, "return"),
            "goto_statement" => self.jump(node, "goto"),
            "break_statement" => self.jump(node, "break"),
            "continue_statement" => self.jump(node, "continue"),
            "co_return_statement" => self.jump(node, "co_return"),
            "co_yield_statement" => self.jump(node, "co_yield"),
            "co_await_expression" => self.jump(node, "co_await"),
            _ if LOOPS.contains(&kind) => self.names.loops.push(node.byte_range()),
            _ if FUNCTIONS.contains(&kind) => {
                let method = self.method_of(node);
                self.names.functions.push(Function { span: node.byte_range(), method });
            }
            _ => {}
        }
    }

    /// Returns the end of the scope around the current node.
    fn scope_end(&self, of: Node<'_>) -> usize {
        if SCOPES.contains(&of.kind()) {
            return of.end_byte();
        }
        let scope = self.above.iter().rev().find(|above| SCOPES.contains(&above.kind()));
        scope.map_or(self.text.len(), |scope| scope.end_byte())
    }

    fn is_in_function(&self) -> bool {
        self.above.iter().any(|above| FUNCTIONS.contains(&above.kind()))
    }

    /// Adds the variables that a declaration declares.
    fn declare(&mut self, node: Node<'_>) {
        let mut cursor = node.walk();
        let specifiers = node.children(&mut cursor).filter(|child| child.kind() == "storage_class_specifier");
        let is_static = specifiers
            .into_iter()
            .any(|child| matches!(self.word(child), "static" | "extern" | "thread_local"));
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators {
            let (mut at, mut is_reference, mut size) = (declarator, false, None);
            loop {
                match at.kind() {
                    "identifier" => {
                        self.add(node, at, false, size.clone());
                        if is_static && let Some(last) = self.names.declared.last_mut() {
                            last.home = Home::Global;
                        }
                        break;
                    }
                    "structured_binding_declarator" => {
                        let mut cursor = at.walk();
                        let parts: Vec<Node<'_>> = at.named_children(&mut cursor).collect();
                        for part in parts {
                            self.add(node, part, is_reference, None);
                        }
                        break;
                    }
                    "reference_declarator" => is_reference = true,
                    "array_declarator" => size = size.or_else(|| self.variable_size(at)),
                    _ => {}
                }
                let inner = at.child_by_field_name("declarator").or_else(|| {
                    let mut cursor = at.walk();
                    at.named_children(&mut cursor)
                        .find(|child| child.kind().contains("declarator") || child.kind() == "identifier")
                });
                match inner {
                    Some(inner) => at = inner,
                    None => break,
                }
            }
        }
    }

    /// Returns the place of an array's size, if the size is a name that does not look like a constant.
    fn variable_size(&self, array: Node<'_>) -> Option<Span> {
        let size = array.child_by_field_name("size")?;
        let name = self.word(size);
        let found = self
            .names
            .declared
            .iter()
            .rev()
            .find(|declared| declared.name == name && size.kind() == "identifier")?;
        let line_start = self.text[..found.span.start].rfind(['\n', ';', '{', '(']).map_or(0, |at| at + 1);
        let before = &self.text[line_start..found.span.start];
        let is_constant =
            before.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "const" | "constexpr"));
        (!is_constant && found.home == Home::Local && self.is_in_function()).then(|| size.byte_range())
    }

    fn add(&mut self, node: Node<'_>, name: Node<'_>, is_alias: bool, variable_size: Option<Span>) {
        let is_parameter = node.kind().ends_with("parameter_declaration");
        let function = self.above.iter().rev().find(|above| FUNCTIONS.contains(&above.kind()));
        let until = match function {
            // A parameter is visible up to the end of its function.
            Some(function) if is_parameter => function.end_byte(),
            _ => self.scope_end(node),
        };
        let home = if self.is_in_function() { Home::Local } else { Home::Global };
        let scope = self.above.iter().rev().find(|above| SCOPES.contains(&above.kind()));
        let head = scope.filter(|scope| scope.kind() == "for_statement" && node.kind() == "declaration");
        let head_of = head.map(|scope| scope.start_byte());
        let (text, span) = (self.word(name).to_owned(), name.byte_range());
        self.names.declared.push(Declared {
            name: text,
            span,
            until,
            home,
            is_alias,
            head_of,
            variable_size,
        });
    }

    fn using(&mut self, node: Node<'_>) {
        let Some(parent) = self.above.last() else { return };
        let is_member_of = parent.kind() == "qualified_identifier";
        let is_own_name = self.names.declared.last().is_some_and(|last| last.span == node.byte_range())
            || self.names.declared.iter().rev().take(8).any(|last| last.span == node.byte_range());
        if is_member_of || is_own_name {
            return;
        }
        let access = access(node, &self.above, self.text);
        self.names.used.push(Used { name: self.word(node).to_owned(), span: node.byte_range(), access });
    }

    fn jump(&mut self, node: Node<'_>, word: &'static str) {
        let function = self.above.iter().rposition(|above| FUNCTIONS.contains(&above.kind()));
        let inner = &self.above[function.map_or(0, |at| at + 1)..];
        let ends = |above: &&Node<'_>| {
            LOOPS.contains(&above.kind()) || (word == "break" && above.kind() == "switch_statement")
        };
        let is_bounded = matches!(word, "break" | "continue");
        let leaves = inner.iter().rev().find(ends).filter(|_| is_bounded).map(|above| above.byte_range());
        let function = function.map_or(0..self.text.len(), |at| self.above[at].byte_range());
        self.names.jumps.push(Jump { word, span: node.byte_range(), function, leaves });
    }

    /// Returns whether a function has a `this`.
    fn method_of(&self, node: Node<'_>) -> Method {
        if node.kind() == "lambda_expression" {
            // A lambda has the `this` of the function around it, if it captures it. If it does not, the
            // compiler reports the error.
            let around =
                self.names.functions.iter().rev().find(|function| function.span.end >= node.end_byte());
            return around.map_or(Method::No, |function| function.method);
        }
        let head = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
        let head = &self.text[node.start_byte()..head];
        let is_static = head
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .any(|word| matches!(word, "static" | "friend"));
        if is_static {
            return Method::No;
        }
        if self.above.iter().rev().any(|above| CLASSES.contains(&above.kind())) {
            return Method::Yes;
        }
        let Some(name) = qualified(node) else { return Method::No };
        let scope = name.child_by_field_name("scope").map_or("", |scope| self.word(scope));
        let scope = scope.split('<').next().unwrap_or("").trim();
        self.scope_is_class(scope, name)
    }

    /// Returns whether the `A` of `A::f` is a class, and `f` one of its methods that has a `this`.
    fn scope_is_class(&self, scope: &str, name: Node<'_>) -> Method {
        let has = |keyword: &str| {
            self.text.match_indices(keyword).any(|(at, _)| {
                let rest = self.text[at + keyword.len()..].trim_start();
                let is_it = rest
                    .strip_prefix(scope)
                    .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
                is_it && self.text[at + keyword.len()..].starts_with(char::is_whitespace)
            })
        };
        if scope.is_empty() || has("namespace") {
            return Method::No;
        }
        if !(has("class") || has("struct")) {
            return Method::Unknown;
        }
        // Only the declaration in the class shows whether a method is static.
        let method = name.child_by_field_name("name").map_or("", |name| self.word(name));
        let is_static = self.text.lines().any(|line| {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            words.contains(&"static") && words.contains(&method)
        });
        if is_static { Method::Unknown } else { Method::Yes }
    }
}

/// Returns the qualified name of a function that is defined as `A::f`.
fn qualified(function: Node<'_>) -> Option<Node<'_>> {
    let mut at = function.child_by_field_name("declarator")?;
    loop {
        if at.kind() == "qualified_identifier" {
            return Some(at);
        }
        at = at.child_by_field_name("declarator").or_else(|| {
            let mut cursor = at.walk();
            at.named_children(&mut cursor).find(|child| child.kind() == "function_declarator")
        })?;
    }
}

/// Returns the way in which the code uses the variable `name`.
fn access(name: Node<'_>, above: &[Node<'_>], text: &str) -> Access {
    let mut at = name;
    let mut is_part = false;
    for &parent in above.iter().rev() {
        let is_field =
            |field: &str| parent.child_by_field_name(field).is_some_and(|child| child.id() == at.id());
        match parent.kind() {
            "parenthesized_expression" => {}
            "subscript_expression" if is_field("argument") => is_part = true,
            "field_expression" if is_field("argument") => {
                let between = text.get(at.end_byte()..parent.end_byte()).unwrap_or("").trim_start();
                if between.starts_with("->") {
                    return Access::Read;
                }
                is_part = true;
            }
            "assignment_expression" if is_field("left") => return Access::Written,
            "update_expression" => return Access::Written,
            "pointer_expression" => {
                let is_address = text[parent.start_byte()..].starts_with('&');
                return if is_address { Access::Lent } else { Access::Read };
            }
            // `std::cin >> total`
            "binary_expression" if is_field("right") => {
                let left =
                    parent.child_by_field_name("left").map_or(parent.start_byte(), |left| left.end_byte());
                let operator = text.get(left..at.start_byte()).unwrap_or("").trim();
                return if operator == ">>" { Access::Lent } else { Access::Read };
            }
            "binary_expression" if is_field("left") => {
                let operator =
                    parent.child_by_field_name("operator").and_then(|node| text.get(node.byte_range()));
                return if operator == Some("<<") { Access::Lent } else { Access::Read };
            }
            "argument_list" | "initializer_list" => return Access::Lent,
            "call_expression" if is_field("function") => {
                return if is_part { Access::Lent } else { Access::Read };
            }
            "init_declarator" if is_field("value") => {
                let declarator = parent.child_by_field_name("declarator").map_or("", |node| node.kind());
                return if declarator == "reference_declarator" { Access::Lent } else { Access::Read };
            }
            "for_range_loop" if is_field("right") => {
                let declarator = parent.child_by_field_name("declarator").map_or("", |node| node.kind());
                return if declarator == "reference_declarator" { Access::Lent } else { Access::Read };
            }
            "lambda_capture_specifier" => {
                let before = text.get(..name.start_byte()).unwrap_or("").trim_end();
                return if before.ends_with('&') { Access::Lent } else { Access::Read };
            }
            _ => return Access::Read,
        }
        at = parent;
    }
    Access::Read
}
