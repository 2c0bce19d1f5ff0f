//! Parses the options of the three annotations.
//!
//! It takes the tokens in the parentheses and gives structs of options. It rejects unknown words, words that
//! are given twice, values of the wrong kind, and options that cannot be combined, each at the user's token.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, Lit, Meta, Path, Result, Token, parenthesized, token};

/// The options of `#[stream(..)]`.
#[derive(Default)]
pub struct FunctionOptions {
    pub is_off: bool,
    /// The path under which the user has the crate.
    pub name: Option<Path>,
}

impl Parse for FunctionOptions {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        if input.is_empty() {
            return Ok(options);
        }
        if input.peek(Token![crate]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            options.name = Some(input.call(Path::parse_mod_style)?);
        } else {
            let word: Ident = input.parse()?;
            options.is_off = word == "off";
            if !options.is_off {
                let expected = "expected `#[stream]`, `#[stream(off)]` or `#[stream(crate = path)]`";
                let name = word.to_string();
                let text = match nearest(&name, &STREAM) {
                    Some(option) => format!(
                        "{expected}; `{option}` is an option of the loop: `#[to_stream({option} ..)]`"
                    ),
                    None => format!("{expected}; the options of a stream belong in `#[to_stream(..)]`"),
                };
                return Err(Error::new(word.span(), text));
            }
        }
        if input.is_empty() { Ok(options) } else { Err(input.error("expected nothing more")) }
    }
}

/// The options of `#[to_stream(..)]`.
#[derive(Default)]
pub struct StreamOptions {
    pub is_unordered: bool,
    pub window: Option<Expr>,
    pub workers: Option<Expr>,
    pub burst: Option<Expr>,
    pub pool: Option<Expr>,
    pub cancel_by: Option<Expr>,
    pub report: Option<Expr>,
    pub title: Option<Expr>,
    pub is_dealt: bool,
    pub spins: bool,
    pub is_dedicated: bool,
    pub may_run_ahead: bool,
}

/// The options of `#[stage(..)]`.
pub struct StageOptions {
    /// The span of the word `stage`, for messages.
    pub span: Span,
    pub replicate: Option<Replicate>,
    pub state: Option<State>,
    pub name: Option<Expr>,
    /// The span of the word `ordered`.
    pub ordered: Option<Span>,
    pub is_unordered: bool,
    pub is_dedicated: bool,
    pub may_run_ahead: bool,
    pub input: Option<Vec<Ident>>,
    pub output: Option<Vec<Ident>>,
}

pub struct Replicate {
    pub span: Span,
    /// How many replicas. `None` means as many as there are workers.
    pub count: Option<Expr>,
}

/// The state that each worker creates for itself.
pub enum State {
    /// `state = || ..`, which replaces the one variable that the stage changes.
    Unnamed(Span, Expr),
    /// `state(name = .., ..)`.
    Named(Vec<(Ident, Expr)>),
}

const STREAM: [&str; 13] = [
    "ordered",
    "unordered",
    "window",
    "workers",
    "burst",
    "schedule",
    "wait",
    "pool",
    "cancel_by",
    "report",
    "title",
    "dedicated",
    "may_run_ahead",
];
const STAGE: [&str; 9] =
    ["replicate", "state", "name", "ordered", "unordered", "dedicated", "may_run_ahead", "input", "output"];

/// One option: a word and its value.
struct Given {
    name: Ident,
    value: Value,
}

enum Value {
    Nothing,
    Expr(Expr),
    List(token::Paren, Vec<(Ident, Option<Expr>)>),
}

impl Parse for Given {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        let value = if input.peek(token::Paren) {
            let inside;
            let paren = parenthesized!(inside in input);
            let named = |input: ParseStream<'_>| {
                let name: Ident = input.parse()?;
                let value = input.parse::<Option<Token![=]>>()?.map(|_| input.parse()).transpose()?;
                Ok((name, value))
            };
            let list =
                Punctuated::<_, Token![,]>::parse_terminated_with(&inside, named).map_err(|error| {
                    Error::new(
                        error.span(),
                        format!("expected `{name} = ..`, or names of variables in the parentheses"),
                    )
                })?;
            Value::List(paren, list.into_iter().collect())
        } else if input.parse::<Option<Token![=]>>()?.is_some() {
            if input.is_empty() || input.peek(Token![,]) {
                return Err(Error::new(name.span(), format!("expected a value: `{name} = ..`")));
            }
            Value::Expr(input.parse()?)
        } else if input.peek(Token![:]) {
            return Err(input.error(format!("expected `=`: `{name} = ..`")));
        } else {
            Value::Nothing
        };
        Ok(Self { name, value })
    }
}

impl Given {
    /// The option as a word without a value.
    fn flag(self) -> Result<bool> {
        match self.value {
            Value::Nothing => Ok(true),
            Value::Expr(value) => Err(Error::new(value.span(), format!("`{}` takes no value", self.name))),
            Value::List(paren, _) => {
                Err(Error::new(paren.span.join(), format!("`{}` takes no list", self.name)))
            }
        }
    }

    fn value(self, example: &str) -> Result<Expr> {
        match self.value {
            Value::Expr(value) => Ok(value),
            _ => Err(Error::new(self.name.span(), format!("`{}` needs a value: `{example}`", self.name))),
        }
    }

    /// The option as a number. It rejects literals that are not at least 1.
    fn number(self, example: &str) -> Result<Expr> {
        let name = self.name.clone();
        let value = self.value(example)?;
        let mut inner = &value;
        while let Expr::Paren(paren) = inner {
            inner = &paren.expr;
        }
        match inner {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) if number.base10_digits() == "0" => {
                return Err(Error::new(number.span(), format!("`{name}` must be at least 1, not 0")));
            }
            Expr::Lit(ExprLit { lit: Lit::Int(_), .. }) => {}
            Expr::Lit(_) => {
                return Err(Error::new(
                    value.span(),
                    format!("`{name}` must be a number of type `usize`: `{example}`"),
                ));
            }
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => {
                return Err(Error::new(value.span(), format!("`{name}` must be at least 1")));
            }
            _ => {}
        }
        Ok(value)
    }

    fn text(self, example: &str) -> Result<Expr> {
        let name = self.name.clone();
        let value = self.value(example)?;
        match &value {
            Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => Ok(value),
            Expr::Lit(_) => Err(Error::new(value.span(), format!("`{name}` must be a string: `{example}`"))),
            _ => Ok(value),
        }
    }

    /// The option as one of two words. Returns whether it is the second.
    fn choice(self, words: [&str; 2]) -> Result<bool> {
        let Self { name, value } = self;
        let example = format!("`{name} = {}` or `{name} = {}`", words[0], words[1]);
        let Value::Expr(value) = value else {
            return Err(Error::new(name.span(), format!("expected {example}")));
        };
        let word = match &value {
            Expr::Path(path) => path.path.get_ident().map(Ident::to_string),
            _ => None,
        };
        match word {
            Some(word) if word == words[0] => Ok(false),
            Some(word) if word == words[1] => Ok(true),
            _ => Err(Error::new(value.span(), format!("expected {example}"))),
        }
    }

    fn names(self) -> Result<Vec<Ident>> {
        let example = format!("expected the names of variables: `{}(block, size)`", self.name);
        match self.value {
            Value::List(_, list) => list
                .into_iter()
                .map(|(name, value)| match value {
                    None => Ok(name),
                    Some(value) => Err(Error::new(value.span(), &example)),
                })
                .collect(),
            _ => Err(Error::new(self.name.span(), example)),
        }
    }

    fn state(self) -> Result<State> {
        let example = "expected `state = || ..` or `state(name = ..)`, which creates a value for each worker";
        match self.value {
            Value::Expr(value @ Expr::Closure(_)) => Ok(State::Unnamed(self.name.span(), value)),
            Value::Expr(value) => Err(Error::new(value.span(), format!("{example}; this is not a closure"))),
            Value::List(paren, list) if list.is_empty() => Err(Error::new(paren.span.join(), example)),
            Value::List(_, list) => {
                let named = list.into_iter().map(|(name, value)| match value {
                    Some(value) => Ok((name, value)),
                    None => Err(Error::new(name.span(), format!("expected `{name} = ..`"))),
                });
                named.collect::<Result<_>>().map(State::Named)
            }
            Value::Nothing => Err(Error::new(self.name.span(), example)),
        }
    }
}

/// The options in an annotation. Rejects words that are not `known` and words that are given twice.
fn given(attr: &Attribute, known: &[&str]) -> Result<Vec<Given>> {
    let list = match &attr.meta {
        Meta::Path(_) => return Ok(Vec::new()),
        Meta::List(_) => attr.parse_args_with(Punctuated::<Given, Token![,]>::parse_terminated)?,
        Meta::NameValue(meta) => {
            return Err(Error::new(meta.eq_token.span(), "expected options in parentheses"));
        }
    };
    let given: Vec<Given> = list.into_iter().collect();
    for (at, option) in given.iter().enumerate() {
        let name = option.name.to_string();
        if !known.contains(&&*name) {
            return Err(Error::new(option.name.span(), unknown(&name, known)));
        }
        if given[..at].iter().any(|other| other.name == option.name) {
            return Err(Error::new(option.name.span(), format!("`{name}` is given twice")));
        }
    }
    Ok(given)
}

fn unknown(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(word) => format!("unknown option `{name}`: did you mean `{word}`?"),
        None => format!("unknown option `{name}`: expected one of `{}`", known.join("`, `")),
    }
}

/// The known word that the user probably meant.
fn nearest<'w>(name: &str, known: &[&'w str]) -> Option<&'w str> {
    let (distance, word) = known.iter().map(|word| (distance(name, word), *word)).min()?;
    (3 * distance <= word.len()).then_some(word)
}

/// The edit distance of two words: how many letters must be changed, inserted or removed to turn one into the
/// other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

/// Rejects two options that contradict each other.
fn opposed(given: &[Given], words: [&str; 2]) -> Result<()> {
    let find = |word| given.iter().find(|option| option.name == word);
    match (find(words[0]), find(words[1])) {
        (Some(_), Some(second)) => {
            let text = format!("`{}` and `{}` cannot be combined", words[0], words[1]);
            Err(Error::new(second.name.span(), text))
        }
        _ => Ok(()),
    }
}

impl StreamOptions {
    /// The values of the options, as tokens.
    pub fn values(&self) -> TokenStream {
        let Self { window, workers, burst, pool, cancel_by, report, title, .. } = self;
        quote!(#window #workers #burst #pool #cancel_by #report #title)
    }

    pub fn new(attr: &Attribute) -> Result<Self> {
        let mut options = Self::default();
        let mut dealt = None;
        let given = given(attr, &STREAM)?;
        opposed(&given, ["ordered", "unordered"])?;
        for option in given {
            match &*option.name.to_string() {
                "ordered" => drop(option.flag()?),
                "unordered" => options.is_unordered = option.flag()?,
                "window" => options.window = Some(option.number("window = 64")?),
                "workers" => options.workers = Some(option.number("workers = 4")?),
                "burst" => options.burst = Some(option.number("burst = 1")?),
                "schedule" => {
                    let span = option.name.span();
                    options.is_dealt = option.choice(["on_demand", "dealt"])?;
                    dealt = options.is_dealt.then_some(span);
                }
                "wait" => options.spins = option.choice(["park", "spin"])?,
                "pool" => options.pool = Some(option.value("pool = &pool")?),
                "cancel_by" => options.cancel_by = Some(option.value("cancel_by = &token")?),
                "report" => options.report = Some(option.value("report = |report| println!(\"{report}\")")?),
                "title" => options.title = Some(option.text("title = \"compress\"")?),
                "dedicated" => options.is_dedicated = option.flag()?,
                _ => options.may_run_ahead = option.flag()?,
            }
        }
        if let Some(span) = dealt.filter(|_| options.is_unordered) {
            return Err(Error::new(span, "`unordered` and `schedule = dealt` exclude each other"));
        }
        Ok(options)
    }
}

impl StageOptions {
    pub fn new(attr: &Attribute) -> Result<Self> {
        let mut options = Self {
            span: attr.path().span(),
            replicate: None,
            state: None,
            name: None,
            ordered: None,
            is_unordered: false,
            is_dedicated: false,
            may_run_ahead: false,
            input: None,
            output: None,
        };
        let given = given(attr, &STAGE)?;
        opposed(&given, ["ordered", "unordered"])?;
        opposed(&given, ["replicate", "dedicated"])?;
        opposed(&given, ["replicate", "may_run_ahead"])?;
        for option in given {
            match &*option.name.to_string() {
                "replicate" => {
                    let span = option.name.span();
                    let count = match option.value {
                        Value::Nothing => None,
                        _ => Some(option.number("replicate = 4")?),
                    };
                    options.replicate = Some(Replicate { span, count });
                }
                "state" => options.state = Some(option.state()?),
                "name" => options.name = Some(option.text("name = \"compress\"")?),
                "ordered" => {
                    options.ordered = Some(option.name.span());
                    option.flag()?;
                }
                "unordered" => options.is_unordered = option.flag()?,
                "dedicated" => options.is_dedicated = option.flag()?,
                "may_run_ahead" => options.may_run_ahead = option.flag()?,
                "input" => options.input = Some(option.names()?),
                _ => options.output = Some(option.names()?),
            }
        }
        if let (Some(state), None) = (&options.state, &options.replicate) {
            let span = match state {
                State::Unnamed(span, _) => *span,
                State::Named(names) => names[0].0.span(),
            };
            let text = "`state` needs `replicate`: add `replicate`, or remove `state`, since a serial stage may change \
                        the variables of the function";
            return Err(Error::new(span, text));
        }
        Ok(options)
    }
}
