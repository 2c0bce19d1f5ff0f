//! Draws a function with an annotated loop.
//!
//! Its variables are reached in many ways: by name, by fields, through `&mut` and `&`, guards, closures,
//! macros and parameters. Its methods have names that say nothing of what they do, or the contrary. The
//! drawing knows what each part really changes, so it knows whether the loop is right.

use std::fmt::Write;

/// A function, and whether its annotated loop does what the plain one does.
pub struct Program {
    pub text: String,
    pub is_right: bool,
}

/// A small generator of numbers, so that a program depends on its number only.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// How a part reaches a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    List,
    Thing,
    Items,
    /// `&mut` to a number, list or thing, or a closure, guard or macro around one.
    NumberAlias,
    ListAlias,
    ThingAlias,
    Closure,
    Guard,
    Macro,
    /// The same without changes.
    Shared,
    ReadingClosure,
    ReadingMacro,
}

/// A variable, or another way to a value, through which the loop reaches it.
struct Way {
    name: String,
    kind: Kind,
    /// The value to which it leads.
    value: usize,
    /// Whether the variable is used after the loop as well.
    is_used_after: bool,
    /// Whether the variable is overwritten right after the loop.
    is_overwritten: bool,
    /// The variable itself, if it is used after the loop.
    direct: Option<String>,
}

/// A value that may be changed.
#[derive(Default)]
struct Value {
    /// The part that may change it. The others leave it alone, except by chance.
    owner: Option<usize>,
    /// Whether the change is seen after the loop.
    is_needed: bool,
    readers: Vec<usize>,
    writers: Vec<usize>,
}

/// How a part can end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    Break,
    Continue,
    Return,
    Question,
    Label,
}

struct Part {
    is_replicated: bool,
    exit: Option<Exit>,
}

struct Draw {
    dice: Dice,
    parts: Vec<Part>,
    ways: Vec<Way>,
    values: Vec<Value>,
    /// The methods of the type of things: those that read, and those that change.
    readings: Vec<&'static str>,
    writings: Vec<&'static str>,
    /// The last part that may leave the loop so that the function goes on.
    last_exit: usize,
    around: Around,
    /// Whether the variables are declared outside of what is around the loop.
    is_outside: bool,
    text: String,
}

/// The code around the loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    Block,
    Rows,
    Closure,
}

/// Names of methods, most of which the standard library has too.
const METHODS: [&str; 16] = [
    "get",
    "len",
    "push",
    "pop",
    "next",
    "insert",
    "contains",
    "clear",
    "max",
    "iter_mut",
    "to_sum",
    "is_next",
    "take",
    "peek",
    "step",
    "checked_add",
];

/// The function with this number.
pub fn program(number: u64) -> Program {
    let mut dice = Dice(number.wrapping_mul(0xD134_2543_DE82_EF95));
    let count = 2 + dice.below(3);
    let mut parts = vec![Part { is_replicated: false, exit: None }];
    while parts.len() < count {
        let is_replicated = parts.len() == 1 || dice.chance(50);
        parts.push(Part { is_replicated, exit: None });
    }
    if dice.chance(50) {
        parts.push(Part { is_replicated: false, exit: None });
    }
    let around = [Around::Rows, Around::Rows, Around::Closure, Around::Block];
    let around = around.get(dice.below(10)).copied().unwrap_or(Around::Nothing);
    for part in &mut parts {
        let likely = if part.is_replicated { 20 } else { 45 };
        if dice.chance(likely) {
            part.exit = Some(match dice.below(12) {
                0..=5 => Exit::Break,
                6 | 7 => Exit::Continue,
                8 => Exit::Return,
                9 => Exit::Question,
                _ if around == Around::Rows => Exit::Label,
                _ => Exit::Break,
            });
        }
    }
    let leaves = |part: &Part| matches!(part.exit, Some(Exit::Break | Exit::Label));
    let last_exit = parts.iter().rposition(leaves).unwrap_or(0);
    let mut methods = METHODS.to_vec();
    for at in (1..methods.len()).rev() {
        methods.swap(at, dice.below(at + 1));
    }
    let is_outside = dice.chance(50);
    let mut draw = Draw {
        dice,
        parts,
        ways: Vec::new(),
        values: Vec::new(),
        readings: methods[..4].to_vec(),
        writings: methods[4..8].to_vec(),
        last_exit,
        around,
        is_outside,
        text: String::new(),
    };
    draw.function();
    Program { is_right: draw.is_right(), text: draw.text }
}

impl Draw {
    fn line(&mut self, text: impl AsRef<str>) {
        writeln!(self.text, "{}", text.as_ref()).unwrap();
    }

    fn value(&mut self, is_needed: bool) -> usize {
        let serial: Vec<usize> = (0..self.parts.len()).filter(|&at| !self.parts[at].is_replicated).collect();
        let mut owner = (!self.dice.chance(35)).then(|| serial[self.dice.below(serial.len())]);
        // Most programs should be right.
        if is_needed && owner.is_some_and(|owner| owner < self.last_exit) && self.dice.chance(90) {
            owner = None;
        }
        self.values.push(Value { owner, is_needed, ..Value::default() });
        self.values.len() - 1
    }

    /// Whether something is used after the loop. A variable that a part changes which may run ahead seldom is.
    fn used_after(&mut self, value: usize) -> bool {
        let is_early = self.values[value].owner.is_some_and(|owner| owner < self.last_exit);
        self.dice.chance(if is_early { 7 } else { 60 })
    }

    fn way(&mut self, name: String, kind: Kind, value: usize, direct: Option<String>) {
        let is_used_after = self.used_after(value);
        let can_be_overwritten = kind == Kind::Number && self.around != Around::Closure;
        let is_overwritten = can_be_overwritten && self.dice.chance(15);
        let needed = self.values[value].is_needed || is_used_after;
        // A label passes by what is right after the loop.
        let is_passed_by = self.parts.iter().any(|part| part.exit == Some(Exit::Label));
        self.values[value].is_needed = needed && (!is_overwritten || is_passed_by) || direct.is_some();
        self.ways.push(Way { name, kind, value, is_used_after, is_overwritten, direct });
    }

    /// Declares a variable, and perhaps a way to it that takes its place in the loop.
    fn declare(&mut self, at: usize) {
        let kind = [Kind::Number, Kind::List, Kind::Thing, Kind::Items][self.dice.below(4)];
        let runs_again = matches!(self.around, Around::Rows | Around::Closure);
        let value = self.value(runs_again && self.is_outside);
        let name = format!("{}{at}", ["n", "list", "thing", "items"][kind as usize]);
        let start = self.dice.below(9);
        let init = match kind {
            Kind::Number => format!("{start}u64"),
            Kind::List => format!("vec![{start}u64, 7, 40]"),
            Kind::Thing => format!("Thing {{ a: {start}, b: vec![1] }}"),
            _ => format!("{start}..{}u64", start + 60),
        };
        self.line(format!("let mut {name} = {init};"));
        if kind == Kind::Items || self.dice.chance(45) {
            self.way(name, kind, value, None);
            return;
        }
        let is_read_only = self.values[value].owner.is_none();
        let alias = format!("way{at}");
        let (text, way) = match (is_read_only, self.dice.below(5), kind) {
            (true, 0 | 1, Kind::Number) => (format!("let {alias} = &{name};"), Kind::Shared),
            (true, 2, Kind::Number) => {
                (format!("let {alias} = |x: u64| mix({name}, x);"), Kind::ReadingClosure)
            }
            (true, _, Kind::Number) => {
                (format!("macro_rules! {alias} {{ () => {{ {name} }} }}"), Kind::ReadingMacro)
            }
            (_, 0, Kind::Number) => {
                (format!("let mut {alias} = |x: u64| {{ {name} = mix({name}, x); {name} }};"), Kind::Closure)
            }
            (_, 1, Kind::Number) => {
                let body = format!("{{{{ {name} = mix({name}, $x); {name} }}}}");
                (format!("macro_rules! {alias} {{ ($x:expr) => {body} }}"), Kind::Macro)
            }
            (_, _, Kind::Number) => (format!("let {alias} = &mut {name};"), Kind::NumberAlias),
            (false, 0 | 1, Kind::List) if self.values[value].owner >= Some(self.last_exit) => {
                let guard = self.dice.one(&["Guard", "Wrapped"]);
                (format!("let {alias} = {guard}(&mut {name});"), Kind::Guard)
            }
            (_, _, Kind::List) => (format!("let {alias} = &mut {name};"), Kind::ListAlias),
            _ => (format!("let {alias} = &mut {name};"), Kind::ThingAlias),
        };
        self.line(text);
        let direct = self.used_after(value).then(|| read_whole(&name, kind));
        self.way(alias, way, value, direct);
    }

    /// A number that part `at` reads from a way, with the number in `x`.
    fn reading(&mut self, way: usize, at: usize, x: &str) -> String {
        self.values[self.ways[way].value].readers.push(at);
        let method = self.readings[self.dice.below(self.readings.len())];
        let choice = self.dice.below(4);
        let name = self.ways[way].name.clone();
        match (self.ways[way].kind, choice) {
            (Kind::Number, 0) => format!("peek!({name})"),
            (Kind::Number, 1) => format!("look(&{name})"),
            (Kind::Number, 2) => format!("(format!(\"{{{name}}}\").len() as u64)"),
            (Kind::Number, _) => name,
            (Kind::List | Kind::ListAlias, 0) => format!("(*{name}.last().unwrap_or(&{x}))"),
            (Kind::List | Kind::ListAlias, 1) => format!("({name}.iter().fold(0, |all, n| mix(all, *n)))"),
            (Kind::List | Kind::ListAlias, 2) => format!("({name}.contains(&{x}) as u64)"),
            (Kind::List | Kind::ListAlias, _) => format!("({name}.len() as u64)"),
            (Kind::Thing | Kind::ThingAlias, 0) => format!("mix({name}.a, {x})"),
            (Kind::Thing | Kind::ThingAlias, _) => format!("{name}.{method}({x})"),
            (Kind::Items, _) => format!("{name}.start"),
            (Kind::NumberAlias | Kind::Shared, _) => format!("(*{name})"),
            (Kind::Guard, _) => format!("({name}.0.len() as u64)"),
            (Kind::ReadingClosure, _) => format!("{name}({x})"),
            (Kind::ReadingMacro, _) => format!("{name}!()"),
            // These cannot be read without a change.
            (Kind::Closure | Kind::Macro, _) => self.writing(way, at, x),
        }
    }

    /// A number that part `at` makes by a change.
    fn writing(&mut self, way: usize, at: usize, x: &str) -> String {
        let kind = self.ways[way].kind;
        if matches!(kind, Kind::Shared | Kind::ReadingClosure | Kind::ReadingMacro) {
            return self.reading(way, at, x);
        }
        self.values[self.ways[way].value].writers.push(at);
        let method = self.writings[self.dice.below(self.writings.len())];
        let choice = self.dice.below(5);
        let name = self.ways[way].name.clone();
        match (kind, choice) {
            (Kind::Number, 0) => format!("bump!({name}, {x})"),
            (Kind::Number, 1) => format!("touch(&mut {name}, {x})"),
            (Kind::Number, 2) => format!("{{ {name} ^= {x}; {name} }}"),
            (Kind::Number, _) => format!("{{ {name} = mix({name}, {x}); {name} }}"),
            (Kind::List, 0) => format!("{{ {name} = with({name}, {x}); {x} }}"),
            (Kind::List, 1) => format!("grow(&mut {name}, {x})"),
            (Kind::ListAlias, 0 | 1) => format!("grow({name}, {x})"),
            (Kind::List | Kind::ListAlias, 2) => format!("{name}.pop().unwrap_or({x})"),
            (Kind::List | Kind::ListAlias, 3) => format!("pushed!({name}, {x})"),
            (Kind::List | Kind::ListAlias, _) => format!("{{ {name}.push({x}); {x} }}"),
            (Kind::Thing | Kind::ThingAlias, 0) => format!("{{ {name}.a ^= {x}; {x} }}"),
            (Kind::Thing | Kind::ThingAlias, _) => format!("{name}.{method}({x})"),
            (Kind::Items, _) => format!("{name}.next().unwrap_or({x})"),
            (Kind::NumberAlias, 0) => format!("touch({name}, {x})"),
            (Kind::NumberAlias, _) => format!("{{ *{name} = mix(*{name}, {x}); *{name} }}"),
            (Kind::Guard, _) => format!("{{ {name}.0.push({x}); {x} }}"),
            (Kind::Closure, _) => format!("{name}({x})"),
            (Kind::Macro, _) => format!("{name}!({x})"),
            (Kind::Shared | Kind::ReadingClosure | Kind::ReadingMacro, _) => unreachable!("only read"),
        }
    }

    /// A number that part `at` makes, of the number in `x`.
    fn number(&mut self, at: usize, x: &str) -> String {
        if self.ways.is_empty() || self.dice.chance(15) {
            return match self.dice.below(3) {
                0 => format!("mix({x}, 3)"),
                1 => format!("(0..3).map(|n0| n0 + {x} % 50).sum::<u64>()"),
                _ => format!("{{ let n1 = {x}; let list0 = vec![n1]; list0[0] }}"),
            };
        }
        let way = self.dice.below(self.ways.len());
        let is_chance = self.dice.chance(4);
        match self.values[self.ways[way].value].owner {
            Some(owner) if owner == at || is_chance => self.writing(way, at, x),
            None if is_chance => self.writing(way, at, x),
            None => self.reading(way, at, x),
            Some(_) => format!("mix({x}, 5)"),
        }
    }

    /// The statements of part `at`. The number that goes through the loop is in `x`.
    fn part(&mut self, at: usize, x: &mut String, fresh: &mut usize) {
        let Part { is_replicated, exit } = self.parts[at];
        let exit = exit.map(|exit| {
            let rarely = format!("mix({x}, {}) % {} == 1", self.dice.below(100), 7 + self.dice.below(12));
            match exit {
                Exit::Break => format!("if {rarely} {{ break; }}"),
                Exit::Continue => format!("if {rarely} {{ continue; }}"),
                Exit::Return => format!("if {rarely} {{ return Err({x}); }}"),
                Exit::Question => format!("check({rarely}, {x})?;"),
                Exit::Label => {
                    format!("if {rarely} {{ {} 'rows; }}", ["break", "continue"][self.dice.below(2)])
                }
            }
        });
        let exit = exit.unwrap_or_default();
        if is_replicated {
            let number = self.number(at, x);
            let name = self.next(x, fresh);
            self.line(format!("#[stage(replicate)]\nlet {name} = {{ {exit} work({number}) }};"));
            *x = name;
            return;
        }
        if at > 0 {
            self.line("#[stage]");
        }
        for turn in 0..self.dice.below(3) + usize::from(at > 0) {
            let number = self.number(at, x);
            if turn > 0 && self.dice.chance(30) {
                self.line(format!("{{ let y = {number}; drop(y); }}"));
            } else {
                let name = self.next(x, fresh);
                self.line(format!("let {name} = {number};"));
                *x = name;
            }
        }
        self.line(exit);
    }

    /// The name of the next variable of the body: a new one, or the old one again.
    fn next(&mut self, x: &str, fresh: &mut usize) -> String {
        if self.dice.chance(40) {
            return x.to_owned();
        }
        *fresh += 1;
        format!("x{fresh}")
    }

    /// The head of the loop, and what makes the number `x0`.
    fn head(&mut self) -> (String, String) {
        let lists: Vec<usize> = (0..self.ways.len())
            .filter(|&at| matches!(self.ways[at].kind, Kind::Number | Kind::List | Kind::Items))
            .collect();
        let count = 12 + self.dice.below(50);
        let range = (format!("for x0 in 0..{count}u64"), String::new());
        if lists.is_empty() || self.dice.chance(40) {
            return range;
        }
        let way = lists[self.dice.below(lists.len())];
        let Way { name, kind, value, .. } = &self.ways[way];
        let (name, kind, value) = (name.clone(), *kind, *value);
        let may_write = match self.values[value].owner {
            Some(owner) => owner == 0,
            None => self.dice.chance(5),
        };
        let may_read = may_write || self.values[value].owner.is_none();
        if kind == Kind::List && may_read && self.dice.chance(50) {
            self.values[value].readers.push(0);
            return (format!("for x0 in {name}.iter().copied()"), String::new());
        }
        if !may_write {
            return range;
        }
        self.values[value].writers.push(0);
        // Whatever the parts do to the variables, the loop ends.
        let turn = format!("turns += 1; if turns > {count} {{ break; }}");
        match (kind, self.dice.below(3)) {
            (Kind::Number, 0) => {
                (format!("while {name} < {count}"), format!("{turn} {name} += 1; let x0 = {name};"))
            }
            (Kind::Number, _) => (
                "loop".to_owned(),
                format!("{turn} {name} += 1; let x0 = {name}; if {name} > {count} {{ break; }}"),
            ),
            (Kind::List, 0) => (format!("while let Some(x0) = {name}.pop()"), turn),
            (Kind::List, 1) => (
                format!("for item in {name}.iter_mut()"),
                "*item = mix(*item, 2); let x0 = *item;".to_owned(),
            ),
            (Kind::List, _) => (format!("for x0 in {name}.drain(..)"), String::new()),
            (_, 0) => (format!("while let Some(x0) = {name}.next()"), String::new()),
            (_, 1) => (format!("for x0 in {name}.by_ref()"), String::new()),
            _ => (format!("for x0 in &mut {name}"), String::new()),
        }
    }

    fn function(&mut self) {
        let methods = |names: &[&str], taken: &str, body: &str| -> String {
            let one = |name: &&str| format!("pub fn {name}({taken}, n: u64) -> u64 {{ {body} }}\n");
            names.iter().map(one).collect()
        };
        let reads = methods(&self.readings, "&self", "mix(self.a, n)");
        let writes = methods(&self.writings, "&mut self", "self.a = mix(self.a, n); self.b.push(n); self.a");
        self.line(format!(
            "pub struct Thing {{ pub a: u64, pub b: Vec<u64> }}\nimpl Thing {{\n{reads}{writes}}}"
        ));
        self.line("FUNCTION(start: u64, p: &mut u64, q: &mut Vec<u64>, r: &mut std::ops::Range<u64>) -> Result<u64, u64> {");
        self.line("let mut out = start;");
        for (name, kind) in [("p", Kind::NumberAlias), ("q", Kind::ListAlias), ("r", Kind::Items)] {
            let value = self.value(true);
            if self.dice.chance(60) {
                continue;
            }
            match self.dice.below(4) {
                0 if kind != Kind::Items => {
                    self.line(format!("let {name} = {name};"));
                }
                1 if kind == Kind::ListAlias && self.values[value].owner.is_some() => {
                    self.line(format!("let {name} = Guard({name});"));
                    self.way(name.to_owned(), Kind::Guard, value, None);
                    continue;
                }
                _ => {}
            }
            self.way(name.to_owned(), kind, value, None);
        }
        let count = 1 + self.dice.below(5);
        let declare = |this: &mut Self| (0..count).for_each(|at| this.declare(at));
        if self.is_outside {
            declare(self);
        }
        match self.around {
            Around::Nothing => {}
            Around::Block => self.line("{"),
            Around::Rows => self.line("'rows: for row in 0..3u64 {"),
            Around::Closure => {
                self.line("let mut go = |row: u64| -> Result<u64, u64> {\nlet mut out = row;");
            }
        }
        if !self.is_outside {
            declare(self);
        }
        let value = self.value(true);
        self.values[value].owner = Some(self.parts.len() - 1);
        self.ways.push(Way {
            name: "out".to_owned(),
            kind: Kind::Number,
            value,
            is_used_after: true,
            is_overwritten: false,
            direct: None,
        });
        let (head, begin) = self.head();
        if begin.starts_with("turns") {
            self.line("let mut turns = 0;");
        }
        self.line("#[to_stream]");
        self.line(format!("{head} {{"));
        self.line(begin);
        let (mut x, mut fresh) = ("x0".to_owned(), 0);
        for at in 0..self.parts.len() {
            self.part(at, &mut x, &mut fresh);
        }
        self.line("}");
        self.after();
        match self.around {
            Around::Nothing => self.line("Ok(out)"),
            Around::Block | Around::Rows => self.line("}\nOk(out)"),
            Around::Closure => self.line("Ok(out)\n};\nlet first = go(1)?;\nOk(mix(first, go(2)?))"),
        }
        self.line("}");
    }

    /// The variables that are used after the loop.
    fn after(&mut self) {
        for way in 0..self.ways.len() {
            if self.ways[way].is_overwritten {
                let name = self.ways[way].name.clone();
                self.line(format!("{name} = 4;"));
            }
        }
        for way in 0..self.ways.len() {
            if self.ways[way].is_used_after {
                let before = self.values[self.ways[way].value].writers.len();
                let number = self.reading(way, 0, "start");
                let value = self.ways[way].value;
                // This is no part of the loop.
                self.values[value].writers.truncate(before);
                self.values[value].readers.pop();
                self.line(format!("out = mix(out, {number});"));
            }
            if self.ways[way].kind == Kind::Guard {
                let name = self.ways[way].name.clone();
                self.line(format!("drop({name});"));
            }
            if let Some(direct) = self.ways[way].direct.clone() {
                self.line(format!("out = mix(out, {direct});"));
            }
        }
    }

    /// Whether the parts do not disturb each other, and none that may run ahead changes what is seen after the
    /// loop.
    fn is_right(&self) -> bool {
        self.values.iter().all(|value| {
            value.writers.iter().all(|&at| {
                let is_alone = value.writers.iter().chain(&value.readers).all(|&other| other == at);
                let is_ahead = at < self.last_exit && value.is_needed;
                is_alone && !is_ahead && !self.parts[at].is_replicated
            })
        })
    }
}

/// A number of a whole value.
fn read_whole(name: &str, kind: Kind) -> String {
    match kind {
        Kind::Number => name.to_owned(),
        Kind::List => format!("{name}.iter().fold(0, |all, n| mix(all, *n))"),
        Kind::Thing => format!("mix({name}.a, {name}.b.len() as u64)"),
        _ => format!("{name}.start"),
    }
}
