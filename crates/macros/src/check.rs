//! Rejects annotated loops that could behave differently in parallel.
//!
//! It takes the segments of a loop and what is known about the variables, and gives errors that point at the
//! user's code. Three things are errors: a replicated stage that changes a variable of the function, two
//! segments that use a variable which one of them changes, and a change in a segment that may run ahead and
//! whose effect is visible after the loop. As far as the syntax shows, the segments of a loop that passes can
//! see each other's progress only in the values that cross the borders. Where the syntax does not show a
//! change, the borrow checker still rejects the first two cases. What remains of the third is in the guide
//! for users.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::{Error, Expr, Stmt};

use crate::body::Segment;
use crate::changes::{Change, OnlyIf, Unknown, changes};
use crate::exits::Exits;
use crate::function::Function;
use crate::names::Binding;
use crate::options::{State, StreamOptions};

/// The errors of a loop, combined into one. `head` is the part of the loop's head that runs for each item,
/// `iter` is the iterator of a `for`, and `before` are the names that were bound before each segment.
pub fn check(
    head: Option<&Stmt>,
    iter: Option<&Expr>,
    segments: &[Segment],
    before: &[BTreeSet<String>],
    exits: &[Exits],
    options: &StreamOptions,
    function: &Function,
) -> Option<Error> {
    let mut errors = Vec::new();
    let mut reported = BTreeSet::new();
    let mut uses: Vec<_> = segments.iter().map(|segment| segment.uses(&[])).collect();
    errors.extend(out_of_order(segments, options));
    let of_head = Segment { stmts: head.cloned().into_iter().collect(), ..Segment::default() };
    uses[0].extend(of_head.uses(&[]));
    for (at, segment) in segments.iter().enumerate() {
        let states = states(segment);
        let own = &before[at];
        let mut changes = changes(head.filter(|_| at == 0).into_iter().chain(&segment.stmts));
        changes.extend(iter.filter(|_| at == 0).into_iter().flat_map(|iter| function.taken_by(iter)));
        let outer = |change: &&Change| {
            let name = change.base.to_string();
            !own.contains(&name) && !states.contains(&name)
        };
        let variables = &function.variables;
        let is_declared = |name: &str| variables.mutable.get(name) == Some(&true);
        let points = |name: &str| {
            let may_point = variables.pointers.contains(name) || variables.lenders.contains_key(name);
            may_point && !variables.numbers.contains(name)
        };
        for change in changes.iter().filter(outer) {
            let name = change.base.to_string();
            if segment.is_replicated() {
                if !change.is_method || change.is_known && is_declared(&name) {
                    errors.push(shared(&change.base));
                }
                continue;
            }
            if change.is_whole && (!change.is_method || change.is_known && is_declared(&name)) {
                let elsewhere = uses.iter().enumerate().find_map(|(other, uses)| {
                    let used = uses.get(&name)?;
                    (other != at && !before[other].contains(&name)).then_some(used)
                });
                if let Some(used) = elsewhere {
                    // Only one error if both segments change the variable.
                    if reported.insert((segments.len(), name)) {
                        errors.push(used_twice(change, used));
                    }
                    continue;
                }
            }
            let may = segment.options.as_ref().map_or(at == 0 && options.may_run_ahead, |o| o.may_run_ahead);
            let is_changed = match change.only_if {
                OnlyIf::Always => !change.is_method || is_declared(&name) || points(&name),
                OnlyIf::Points => points(&name),
                // The variable is `mut`, and nothing else in the function explains why.
                OnlyIf::NameDeceives => is_declared(&name) && !variables.changed.contains(&name),
            };
            let leaves = exits[at + 1..].iter().any(|exits| exits.breaks || exits.jumps);
            if leaves
                && is_changed
                && !may
                && let Some(seen) = function.seen_after(&name, !change.is_assigned)
                && reported.insert((at, name))
            {
                errors.push(ran_ahead(change, &seen, at == 0));
            }
        }
        if at > 0 {
            errors.extend(inputs(segment));
            errors.extend(outputs(segments, at));
        }
    }
    errors.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    })
}

/// The option `ordered` after `unordered`.
fn out_of_order(segments: &[Segment], options: &StreamOptions) -> Option<Error> {
    let mut is_unordered = options.is_unordered;
    segments.iter().filter_map(|segment| segment.options.as_ref()).find_map(|options| {
        is_unordered |= options.is_unordered;
        let text = "from `unordered` on, items come in the order in which they finish: remove `unordered`, or this `ordered`";
        options.ordered.filter(|_| is_unordered).map(|span| Error::new(span, text))
    })
}

fn states(segment: &Segment) -> BTreeSet<String> {
    match segment.options.as_ref().and_then(|options| options.state.as_ref()) {
        Some(State::Named(states)) => states.iter().map(|(name, _)| name.to_string()).collect(),
        _ => BTreeSet::new(),
    }
}

fn shared(name: &Ident) -> Error {
    let text = format!(
        "a replicated stage cannot change `{name}`, because all of its replicas share it\n\
         help: change it in a serial stage after this one: `#[stage] ..`\n\
         help: or give each worker its own `{name}`: `#[stage(replicate, state({name} = ..))]`"
    );
    Error::new(name.span(), text)
}

fn used_twice(change: &Change, other: &Ident) -> Error {
    let name = &change.base;
    let help = if *name == "self" {
        "borrow its fields before the loop, `let Self { .. } = self;`, and use each in one stage only"
            .to_owned()
    } else if change.is_method {
        format!(
            "pass what the other stage needs to it, in a variable of the loop's body: `let now = {name}.len();`"
        )
    } else {
        format!("pass its value to the other stage, in a variable of the loop's body: `let now = {name};`")
    };
    let text = format!(
        "`{name}` is changed here and used in another stage, which runs at the same time\n\
         help: {help}\n\
         help: or make the two stages one"
    );
    let mut error = Error::new(name.span(), text);
    error.combine(Error::new(other.span(), format!("`{name}` is used here too")));
    error
}

fn ran_ahead(change: &Change, seen: &str, is_source: bool) -> Error {
    let name = &change.base;
    let (stage, fix) = if is_source {
        ("the source", "`#[to_stream(may_run_ahead)]`")
    } else {
        ("this stage", "`#[stage(may_run_ahead)]`")
    };
    let mut text = format!(
        "{seen}, but a later stage may leave the loop by `break`: {stage} may have run some items ahead by then\n\
         help: change `{name}` in the stage that has the `break`, or in a later one\n\
         help: or accept the difference: {fix}"
    );
    let (unknown, shown) = match &change.unknown {
        Some(Unknown::Method(method)) => (method.to_string(), format!("(&{name}).{method}(..)")),
        Some(Unknown::Macro(call)) => (format!("{call}!"), format!("{call}!(.. &{name} ..)")),
        None => return Error::new(name.span(), text),
    };
    text += &format!("\nhelp: or, if `{unknown}` changes nothing, pass a shared reference: `{shown}`");
    Error::new(name.span(), text)
}

/// Compares `input(..)` with the variables that come in.
fn inputs(segment: &Segment) -> Vec<Error> {
    let Some(options) = &segment.options else { return Vec::new() };
    let Some(input) = &options.input else { return Vec::new() };
    let uses = segment.uses(&[]);
    let mut errors: Vec<Error> = input
        .iter()
        .filter(|name| !uses.contains_key(&name.to_string()))
        .map(|name| {
            Error::new(name.span(), format!("this stage does not use `{name}`: remove it from `input`"))
        })
        .collect();
    for Binding { ident, .. } in &segment.takes {
        let name = ident.to_string();
        if uses.contains_key(&name) && !input.iter().any(|input| *input == name) {
            let text = format!("`{name}` comes into this stage from an earlier one: add it to `input`");
            errors.push(Error::new(uses[&name].span(), text));
        }
    }
    errors
}

/// Compares `output(..)` with the variables that are bound or changed here and used later.
fn outputs(segments: &[Segment], at: usize) -> Vec<Error> {
    let Some(options) = &segments[at].options else { return Vec::new() };
    let Some(output) = &options.output else { return Vec::new() };
    let goes_on = |name: &Ident| {
        let next = segments.get(at + 1);
        next.is_some_and(|next| next.takes.iter().any(|binding| binding.ident == *name))
    };
    let mut made: Vec<Ident> = segments[at].binds().into_iter().map(|binding| binding.ident).collect();
    let surely = changes(segments[at].stmts.iter()).into_iter().filter(|change| !change.is_method);
    made.extend(surely.map(|change| change.base));
    let mut errors = Vec::new();
    for name in output {
        if !goes_on(name) {
            let text = format!("no later stage uses `{name}`: remove it from `output`");
            errors.push(Error::new(name.span(), text));
        }
    }
    let mut seen = BTreeSet::new();
    for name in made {
        if goes_on(&name) && !output.contains(&name) && seen.insert(name.to_string()) {
            let text = format!("a later stage uses `{name}`: add it to `output`");
            errors.push(Error::new(name.span(), text));
        }
    }
    errors
}
